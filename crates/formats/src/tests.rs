//! Tests of whole sources, and of external archives where available.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use super::chunk::tests::items;
use super::gzip::tests::gz;
use super::*;

fn read(path: &Path) -> Vec<SourceItem> {
    items(InputParts::new([InputSource::Path(path.into())]).flatten())
}

#[test]
fn folder_files_are_pages_and_archives_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        std::io::Write::write_all(&mut &file, bytes).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(1500)).unwrap();
    };
    write("a.html", b"<p>one<p>two");
    write("b.bin", b"\0\x01");
    write("c d.txt", b"<p>as it is");
    write("e", b"<!DOCTYPE html><b>sniffed</b>");
    write("f.json", b"{\"url\":\"x:\",\"t\":1,\"text\":\"not opened\"}\n");
    write("g.jsonl.gz", &gz(b"{\"url\":\"x:\",\"t\":1,\"text\":\"opened\"}\n"));
    write("h.gz", &gz(b"not opened"));
    write("i.warc", b"only by its name");
    write("j.jsonl", b"{\"other\":\"lines\"}\n{}\n");
    let items = read(folder.path());
    let base = url::of_file(&std::path::absolute(folder.path()).unwrap());
    let shown: Vec<String> = items
        .iter()
        .map(|item| match item {
            SourceItem::Record(VisitRecord {
                url,
                time,
                payload: RecordPayload::Text(document) | RecordPayload::File(document),
                ..
            }) => {
                let text = document.text();
                format!("{} {time} {text}", url.strip_prefix(&base).unwrap_or(url))
            }
            SourceItem::Record(VisitRecord { payload: RecordPayload::BinaryFile, .. }) => {
                "passed binary".to_owned()
            }
            SourceItem::Passed(kind) => format!("passed {kind}"),
            SourceItem::Epoch(name, terms) => {
                format!("epoch {name} {} {:?}", terms.role, terms.bands)
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(shown[0], "/a.html 1500 one\ntwo");
    assert_eq!(shown[1], "passed binary");
    assert_eq!(shown[2], "/c%20d.txt 1500 <p>as it is");
    assert_eq!(shown[3], "/e 1500 sniffed");
    assert!(shown[4].starts_with("/f.json 1500 {"));
    assert_eq!(shown[5], "x: 1000 opened");
    assert_eq!(shown[6], "passed binary");
    assert!(shown[7].contains("expected the beginning of a record"), "{}", shown[7]);
    assert!(shown[8].starts_with("/j.jsonl 1500 {"), "{}", shown[8]);
    assert_eq!(shown.len(), 9);
    let SourceItem::Record(record) = &items[0] else { panic!() };
    assert_eq!(record.digest, Some(digest::of(b"<p>one<p>two")));
}

#[test]
fn named_files_are_read_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, gz(b"{\"url\":\"x:\",\"t\":1,\"text\":\"line\"}\n")).unwrap();
    let input = InputParts::new([InputSource::Path(path.clone())]);
    let progress = input.progress();
    assert!(
        matches!(&items(input.flatten())[..], [SourceItem::Record(record)] if record.url == "x:")
    );
    assert_eq!(Some(progress.load(Ordering::Relaxed)), InputSource::Path(path.clone()).bytes());
    fs::write(&path, "plain").unwrap();
    assert!(matches!(&read(&path)[..], [SourceItem::Record(r)] if r.url.starts_with("file:///")));
    assert!(
        matches!(&read(&folder.path().join("none\x1b"))[..], [SourceItem::Broken(b)] if b.at.ends_with("none\\u{1b}"))
    );
    fs::write(&path, [gz(b"page")[..12].to_vec(), vec![]].concat()).unwrap();
    assert!(matches!(&read(&path)[..], [SourceItem::Broken(_)]));
}

#[test]
fn oversized_page_is_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    let bytes = vec![b'x'; usize::try_from(RECORD_BYTES_MAX).unwrap() + 1];
    fs::write(&path, gz(&bytes)).unwrap();
    assert!(matches!(&read(&path)[..], [SourceItem::Broken(b)] if b.why.contains("64 MiB")));
}

/// Returns a data folder next to the project, if it exists.
fn shared(what: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(what);
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return None;
    }
    Some(path)
}

/// Returns kind, start of the digest and URL of each record of a file, and the number of broken
/// records.
fn contents(path: &Path) -> (Vec<String>, usize) {
    let (mut records, mut broken) = (Vec::new(), 0);
    for item in read(path) {
        match item {
            SourceItem::Record(record) => {
                let kind = match &record.payload {
                    RecordPayload::Text(document) | RecordPayload::File(document)
                        if !document.text().is_empty() =>
                    {
                        "text"
                    }
                    RecordPayload::Revisit { .. } => "revisit",
                    RecordPayload::NotModified => "same",
                    RecordPayload::Binary => "binary",
                    RecordPayload::Redirect => "redirect",
                    RecordPayload::Failed(failure) => failure.key(),
                    _ => "other",
                };
                let digest = record.digest.map(|d| d.to_string()).unwrap_or_default();
                records.push(format!("{kind} {} {}", digest.get(..8).unwrap_or("-"), record.url));
            }
            SourceItem::Broken(_) => broken += 1,
            SourceItem::Passed(_) | SourceItem::Epoch(..) => {}
            SourceItem::Export(_)
            | SourceItem::Refused(_)
            | SourceItem::Question(_)
            | SourceItem::Late(..) => {}
        }
    }
    (records, broken)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn real_archives_are_read_as_far_as_sound() {
    let Some(folder) = shared("warc") else { return };
    // Kind, start of the digest and URL of each record, and the number of broken records,
    // determined by hand. Equal digests show that revisits match their originals.
    let example = ["text 37cf167c http://example.com/", "revisit 37cf167c http://example.com/"];
    let spaced = "text 0e973b59 http://example.com/index.cfm?FuseAction=Email&EmailTitle=Examples \
                  From The Live Web&IsPopUp=False";
    let expected: &[(&str, &[&str], usize)] = &[
        (
            "commoncrawl-whirlwind.warc.gz",
            &["text 8e3ef586 https://an.wikipedia.org/wiki/Escopete"],
            0,
        ),
        ("commoncrawl-whirlwind.warc.wat.gz", &[], 0),
        (
            "commoncrawl-whirlwind.warc.wet.gz",
            &["text 88e728f7 https://an.wikipedia.org/wiki/Escopete"],
            0,
        ),
        ("iipc-20130729-heritrix-original.warc.gz", &["text a4a83c17 http://www.bl.uk/"], 0),
        (
            "iipc-20130729-heritrix-revisit-with-http-headers.warc.gz",
            &["revisit a4a83c17 http://www.bl.uk/"],
            0,
        ),
        ("iipc-20141124-heritrix-server-not-modified.warc.gz", &["same - http://www.bl.uk/"], 0),
        (
            "iipc-20141129-heritrix-original.warc.gz",
            &["text 452655b9 http://bl.uk/subjects/news-media/"],
            0,
        ),
        (
            "iipc-20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz",
            &["revisit 452655b9 http://bl.uk/subjects/news-media/"],
            0,
        ),
        // Two invalid lengths, and a record that is only a line end.
        ("warcio-bad.arc", &[], 3),
        ("warcio-example-bad-non-chunked.warc.gz", &example, 0),
        (
            "warcio-example-bad.warc.gz.bad",
            &[
                "text 0e973b59 http://example.com?example=1",
                "revisit 0e973b59 http://example.com?example=1",
                "redirect 72656469 http://www.iana.org/domains/example",
            ],
            0,
        ),
        ("warcio-example-digest.warc", &[], 0),
        ("warcio-example-iana.org-chunked.warc", &["text b1f949b4 http://www.iana.org/"], 0),
        ("warcio-example-resource.warc.gz", &["text c5d67265 http://example.com/"], 0),
        (
            "warcio-example-space-in-target-uri.warc.gz",
            &["binary 0f9ba331 file:///example with spaces.png"],
            0,
        ),
        ("warcio-example-space-in-url.arc", &[spaced], 0),
        // Two bytes follow the declared length, and the digest covers all of them.
        ("warcio-example-trunc.warc", &["text e4d0a7ab http://example.com/"], 1),
        (
            "warcio-example-wget-bad-target-uri.warc.gz",
            // There are also two records of `metadata://` about the crawl.
            &["text 0e973b59 http://example.com/"],
            0,
        ),
        // The body has 1,270 bytes, and its Content-Length is 1,271.
        ("warcio-example-wrong-chunks.warc.gz", &["incomplete - http://example.com/"], 0),
        ("warcio-example.arc", &["text 0e973b59 http://example.com/"], 0),
        ("warcio-example.arc.gz", &["text 0e973b59 http://example.com/"], 0),
        ("warcio-example.warc", &example, 0),
        ("warcio-example.warc.gz", &example, 0),
        // Three answers to POST.
        ("warcio-post-test.warc.gz", &[], 0),
    ];
    for (name, records, broken) in expected {
        let found = contents(&folder.join(name));
        assert_eq!(
            (found.0, found.1),
            (records.iter().map(|r| r.to_string()).collect(), *broken),
            "{name}"
        );
    }
}

#[test]
fn real_json_lines_are_read_completely() {
    let Some(path) = shared("peps.jsonl.zst") else { return };
    let mut kinds = BTreeMap::new();
    for item in read(&path) {
        let kind = match item {
            SourceItem::Record(VisitRecord {
                payload: RecordPayload::Text(_) | RecordPayload::File(_),
                status: None,
                ..
            }) => "text",
            SourceItem::Record(VisitRecord {
                payload: RecordPayload::Gone,
                status: Some(410),
                ..
            }) => "gone",
            _ => "other",
        };
        *kinds.entry(kind).or_insert(0) += 1;
    }
    assert_eq!(kinds, BTreeMap::from([("text", 16_928), ("gone", 1_497)]));
}

/// `cargo test` builds the example together with the tests.
#[test]
fn example_finds_copies_and_near_duplicates_in_archives() {
    let page = |url: &str, html: &str| {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n\
             WARC-Date: 2024-01-10T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n\
             Content-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
    };
    let terms = "<p>You may use this site as long as you behave well towards others.";
    let first = page("https://example.com/terms", terms)
        + &page("https://example.com/terms?print", terms)
        + &page("https://example.com/", "<p>Something else that shares nothing with the rest.");
    let second = page("https://example.org/rules", &terms.replace(" site as", " site, as"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.warc"), first).unwrap();
    fs::write(folder.path().join("2.warc.gz"), gz(second.as_bytes())).unwrap();

    let tests = std::env::current_exe().unwrap();
    let example = tests.ancestors().nth(2).unwrap().join("examples/deduplicate");
    let output = std::process::Command::new(example)
        .arg(folder.path())
        .output()
        .unwrap_or_else(|e| panic!("{e}; `cargo build --release --examples` builds it"));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "https://example.com/terms?print is a copy of https://example.com/terms\n\
         https://example.org/rules is 0 bits away from https://example.com/terms\n\
         pages: 4, copies: 1, near-duplicates: 1\n"
    );
}
