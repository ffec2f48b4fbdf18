//! Tests with sound and broken records.

use std::sync::Arc;

use super::*;
use crate::RECORD_BYTES_MAX;
use crate::chunk::SourceChunk;
use crate::chunk::tests::items;
use crate::digest::of;
use crate::gzip::tests::gz;
use crate::stream::tests::stream;
use proptest::prelude::*;
use simkeep::{Digest, FetchFailure};

mod responses;

fn record(headers: &str, block: &str) -> String {
    format!("WARC/1.0\r\n{headers}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

fn page(kind: &str, url: &str, more: &str, block: &str) -> String {
    let headers = format!(
        "WARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z{more}"
    );
    record(&headers, block)
}

fn response(url: &str, block: &str) -> String {
    page("response", url, "\r\nContent-Type: application/http;msgtype=response", block)
}

fn ok(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}")
}

fn read(bytes: impl Into<Vec<u8>>) -> Vec<SourceItem> {
    items(ArchiveCutter::<Warc>::new(stream(bytes), Arc::default()))
}

fn texts(items: &[SourceItem]) -> Vec<&str> {
    items
        .iter()
        .map(|item| match item {
            SourceItem::Record(VisitRecord { payload: RecordPayload::Text(document), .. }) => {
                document.text()
            }
            SourceItem::Record(VisitRecord { payload: RecordPayload::Binary, .. }) => "binary",
            SourceItem::Record(VisitRecord { payload: RecordPayload::Redirect, .. }) => "redirect",
            SourceItem::Record(VisitRecord { payload: RecordPayload::Failed(failure), .. }) => {
                failure.key()
            }
            SourceItem::Record(VisitRecord { payload: RecordPayload::Gone, .. }) => "gone",
            SourceItem::Record(VisitRecord { payload: RecordPayload::NotModified, .. }) => {
                "not modified"
            }
            SourceItem::Record(_) | SourceItem::Late(..) => "(other)",
            SourceItem::Question(question) => question.url.as_str(),
            SourceItem::Broken(_) => "(broken)",
            SourceItem::Passed(kind) => kind,
            SourceItem::Epoch(name, _) => name.as_str(),
            SourceItem::Export(line) => line.at.as_str(),
            SourceItem::Refused(broken) => broken.at.as_str(),
        })
        .collect()
}

fn only(bytes: String) -> SourceItem {
    let mut items = read(bytes);
    assert_eq!(items.len(), 1, "{items:?}");
    items.remove(0)
}

#[test]
fn response_is_read_with_all_its_fields() {
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>some<p>text";
    let SourceItem::Record(record) = only(response("<http://a.example/>", html)) else { panic!() };
    assert_eq!(record.url, "http://a.example/");
    assert_eq!(record.time, 1_577_836_800_000);
    assert_eq!(
        record.payload,
        RecordPayload::Text(Box::new(simkeep::fingerprint::Document::new("some\ntext")))
    );
    assert_eq!(record.digest, Some(of(b"<p>some<p>text")));
    assert_eq!(record.status, Some(200));
}

#[test]
fn status_determines_the_payload() {
    for (status, payload) in [
        (404, Some(RecordPayload::Gone)),
        (410, Some(RecordPayload::Gone)),
        (304, Some(RecordPayload::NotModified)),
        (403, Some(RecordPayload::Failed(FetchFailure::ClientError))),
        (503, Some(RecordPayload::Failed(FetchFailure::ServerError))),
        (204, Some(RecordPayload::Failed(FetchFailure::NoContent))),
        (206, Some(RecordPayload::Failed(FetchFailure::Partial))),
        (301, Some(RecordPayload::Failed(FetchFailure::NoTarget))),
        (100, None),
    ] {
        let block = format!("HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n\r\n<p>sorry");
        match (only(response("http://a/", &block)), payload) {
            (SourceItem::Record(record), Some(payload)) => {
                assert_eq!((record.payload, record.status), (payload, Some(status)));
                assert_eq!(record.digest, None);
            }
            (SourceItem::Passed(_), None) => {}
            other => panic!("{status}: {other:?}"),
        }
    }
}

#[test]
fn other_record_types_are_skipped_by_name() {
    let file = [
        record("WARC-Type: warcinfo", "x: y"),
        page("request", "http://a/", "", "GET / HTTP/1.1\r\n\r\n"),
        page("metadata", "http://a/", "", "x"),
        page("response", "dns:a", "\r\nContent-Type: text/dns", "1.2.3.4"),
        page("response", "ftp://a/", "", "x"),
        page("resource", "http://a/x.png", "\r\nContent-Type: image/png", "x"),
        response("http://a/", "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n%PDF"),
        response("http://a/", "HTTP/1.1 200 OK\r\n\r\na\0b"),
        page("resource", "http://a/", "\r\nWARC-Segment-Number: 1", "x"),
        page("conversion", "http://a/", "\r\nContent-Type: text/plain", "converted"),
        page("resource", "urn:x:y", "\r\nContent-Type: text/html", "<b>re</b>source"),
    ]
    .concat();
    let expected = [
        "warcinfo",
        "request",
        "metadata",
        "dns",
        "URL of another scheme",
        "binary",
        "binary",
        "binary",
        "segment",
        "converted",
        "record about a page",
    ];
    assert_eq!(texts(&read(file)), expected);
}

/// 1990-01-01T00:00:07Z.
const MODIFIED: i64 = 631_152_007_000;

#[test]
fn last_modified_is_kept_only_for_content() {
    let date = "Last-Modified: Mon, 01 Jan 1990 00:00:07 GMT";
    let modified = |file: String| {
        let item = only(file);
        let SourceItem::Record(record) = item else { panic!("{item:?}") };
        record.modified
    };
    let answer = |status: &str, lines: &str| {
        response(
            "http://a/",
            &format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{lines}\r\n\r\n<p>text"),
        )
    };
    assert_eq!(modified(answer("200 OK", date)), Some(MODIFIED));
    assert_eq!(modified(answer("304 Not Modified", date)), Some(MODIFIED));
    assert_eq!(modified(answer("404 Not Found", date)), None);
    assert_eq!(modified(answer("503 Busy", date)), None);
    assert_eq!(modified(answer("200 OK", "X: y")), None);
    // The first header with a valid date is used.
    let several = format!("Last-Modified: yesterday\r\nlast-modified:\r\n{date}\r\n{date}8");
    assert_eq!(modified(answer("200 OK", &several)), Some(MODIFIED));
    let long = format!("Last-Modified: {}", "1".repeat(900_000));
    assert_eq!(modified(answer("200 OK", &long)), None);
    let profile = "\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\
         \r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{date}\r\n\r\n");
    assert_eq!(modified(page("revisit", "http://a/", profile, &head)), Some(MODIFIED));
}

#[test]
fn revisit_names_its_original() {
    let profile =
        "\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
    let more = format!(
        "{profile}\r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\
         \r\nWARC-Refers-To-Target-URI: <http://b/>\r\nWARC-Refers-To-Date: 1990-01-01T00:00:07Z"
    );
    let SourceItem::Record(record) = only(page("revisit", "http://a/", &more, &ok(""))) else {
        panic!()
    };
    let refers =
        RecordPayload::Revisit { refers_to: Some("http://b/".into()), refers_time: Some(MODIFIED) };
    assert_eq!((record.payload, record.status), (refers, Some(200)));
    assert_eq!(record.digest, Some(of(b"")));

    let gone = page("revisit", "http://a/", &more, "HTTP/1.1 404 Not Found\r\n");
    assert!(matches!(
        only(gone),
        SourceItem::Record(VisitRecord { payload: RecordPayload::Gone, .. })
    ));

    let more = "\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/server-not-modified\
                \r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
    let SourceItem::Record(record) = only(page("revisit", "http://a/", more, "")) else { panic!() };
    assert_eq!((record.payload, record.digest), (RecordPayload::NotModified, None));

    assert!(matches!(only(page("revisit", "http://a/", profile, "")), SourceItem::Broken(_)));
}

#[test]
fn folded_headers_and_bare_line_feeds_are_read() {
    let file = "WARC/0.18\nwarc-type:resource\nWARC-TARGET-URI: http://a/\n \nWARC-Date: 2020\n\
                Content-Type: text/plain;\n\t charset=latin1\ncontent-LENGTH: 1\n\nx\n\n";
    assert_eq!(texts(&read(file)), ["x"]);
}

#[test]
fn only_relevant_headers_are_kept() {
    let more = "\r\nA: b\r\n\tc\r\nWARC-Date: x\r\n\ty".repeat(1000);
    let page = page("response", "http://a/", &more, &ok("x"));
    let cut = ArchiveCutter::<Warc>::new(stream(page.clone()), Arc::default()).cut().unwrap();
    assert!(page.len() > 20_000 && cut.bytes() < 1000, "{} of {}", cut.bytes(), page.len());
    assert_eq!(texts(&read(page)), ["x"]);
}

#[test]
fn compressed_members_need_not_match_records() {
    let file = [response("http://a/", &ok("one")), response("http://b/", &ok("two"))].concat();
    let pieces: Vec<u8> = file.as_bytes().chunks(37).flat_map(gz).collect();
    assert_eq!(texts(&read(pieces)), ["one", "two"]);
    assert_eq!(texts(&read(zstd::encode_all(file.as_bytes(), 1).unwrap())), ["one", "two"]);
}

#[test]
fn broken_record_costs_only_itself() {
    let (one, two) = (response("http://a/", &ok("one")), response("http://b/", &ok("two")));
    for (broken, count) in [
        ("stray bytes\r\n".to_string(), 1),
        ("WARC/1.0\r\nWARC-Type: response\r\n\r\n".into(), 1),
        ("WARC/1.0\r\nContent-Length: -1\r\n\r\nx\r\n\r\n".into(), 1),
        ("WARC/1.0\r\nWARC-Type: resp\r\n".into(), 1),
        (response("http://x/\u{1}", &ok("x")), 1),
        (response("", &ok("x")), 1),
        (response(&"x".repeat(9000), &ok("x")), 1),
        (response("http://x/", "<p>no response"), 1),
        (response("http://x/", &ok("x")).replace("2020-01", "2020-13"), 1),
        (record("WARC-Target-URI: http://x/", ""), 1),
    ] {
        let items = read([one.as_str(), &broken, &two].concat());
        let expected = [vec!["one"], vec!["(broken)"; count], vec!["two"]].concat();
        assert_eq!(texts(&items), expected, "{broken:?}: {items:?}");
        for item in &items {
            if let SourceItem::Broken(BrokenRecord { at, why }) = item {
                assert!(at.contains("byte"), "{at}");
                assert!(!why.chars().any(char::is_control));
            }
        }
    }
}

#[test]
fn too_short_length_leaves_stray_bytes() {
    let short = response("http://a/", &ok("0123456789"));
    let length = ok("0123456789").len();
    let short = short.replace(&format!("Length: {length}"), &format!("Length: {}", length - 2));
    let items = read([short, response("http://b/", &ok("two"))].concat());
    assert_eq!(texts(&items), ["01234567", "(broken)", "two"]);
}

#[test]
fn damaged_next_member_does_not_harm_a_record() {
    let (one, two) = (response("http://a/", &ok("one")), response("http://b/", &ok("two")));
    let mut bad = gz(b"x");
    bad[3] = 0xff;
    let file = [gz(one.as_bytes()), bad, gz(two.as_bytes())].concat();
    assert_eq!(texts(&read(file)), ["one", "(broken)", "two"]);
}

#[test]
fn damaged_member_costs_its_record() {
    let noise: String = (0..5000u64).map(|i| format!("{:x}", i.pow(3) % 997)).collect();
    let members = ["one", &noise, "two"].map(|t| gz(response("http://a/", &ok(t)).as_bytes()));
    let mut bad = members.clone();
    let middle = bad[1].len() / 2;
    bad[1][middle] ^= 0x55;
    let items = read(bad.concat());
    assert_eq!(texts(&items), ["one", "(broken)", "two"]);
    let SourceItem::Broken(broken) = &items[1] else { panic!() };
    assert!(broken.why.contains("damaged gzip member"), "{broken:?}");
}

#[test]
fn truncated_record_is_broken_unless_http_is_complete() {
    let cut = response("http://a/", &ok("some text"));
    let cut = &cut[..cut.len() - 8];
    assert_eq!(texts(&read(cut)), ["(broken)"]);
    let long = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\ntext";
    let whole = response("http://a/", long).replace("Content-Length: 7", "Content-Length: 9");
    assert_eq!(texts(&read(whole)), ["text"]);
    let passed = page("request", "http://a/", "", "0123456789");
    assert_eq!(texts(&read(&passed[..passed.len() - 9])), ["(broken)"]);
    assert_eq!(texts(&read("WARC/1.0\r\nWARC-Type: x")), ["(broken)"]);
}

#[test]
fn huge_record_is_refused_without_buffering() {
    let size = RECORD_BYTES_MAX + 1;
    let start = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let mut file = response("http://a/", start)
        .replace(&format!("Length: {}", start.len()), &format!("Length: {size}"))
        .into_bytes();
    file.truncate(file.len() - 4);
    file.resize(file.len() + usize::try_from(size).unwrap() - start.len(), b'x');
    file.extend(b"\r\n\r\n");
    file.extend(response("http://b/", &ok("next")).as_bytes());
    let chunks: Vec<SourceChunk> =
        ArchiveCutter::<Warc>::new(stream(gz(&file)), Arc::default()).collect();
    assert!(chunks.iter().map(SourceChunk::bytes).sum::<usize>() < 2 << 20);
    assert_eq!(texts(&items(chunks.into_iter())), ["(broken)", "next"]);
}

proptest! {
    #[test]
    fn no_file_panics_or_hangs(
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..20usize, prop::collection::vec(any::<u8>(), 0..20)),
            0..6,
        ),
        packed in any::<bool>(),
    ) {
        let mut file = [
            response("http://a/", &ok("one")),
            page("revisit", "http://a/", "\r\nWARC-Payload-Digest: sha1:xyz", &ok("")),
            response("http://b/", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"),
        ]
        .concat()
        .into_bytes();
        if packed {
            file = file.chunks(200).flat_map(gz).collect();
        }
        for (at, count, with) in edits {
            let at = at.index(file.len());
            let end = file.len().min(at + count);
            file.splice(at..end, with);
        }
        for item in read(file) {
            if let SourceItem::Broken(BrokenRecord { at, why }) = item {
                prop_assert!(!at.chars().chain(why.chars()).any(char::is_control));
            }
        }
    }
}
