//! The digest of a record is that of its content, whatever the record declares.

use super::archive::{md5, of, response, sha1, sha256};
use super::*;

const TEXT: &str = "some text of a page with some words in it";

fn ingest(place: &TestFolder, archive: impl AsRef<[u8]>) -> (Value, String) {
    let path = place.write("crawl.warc", archive);
    let ran = place.run(&["ingest", &path, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    (ran.objects().remove(0), ran.err)
}

/// The digests of a page's visits.
fn digests(place: &TestFolder, url: &str) -> Vec<String> {
    let objects = place.run(&["history", url, "--json"]).objects();
    objects.iter().map(|object| object["digest"].as_str().unwrap().to_owned()).collect()
}

/// In the form in which it is stored.
fn kept(content: impl AsRef<[u8]>) -> String {
    sha1(content)["sha1:".len()..][..32].to_owned()
}

#[test]
fn wrong_declared_digest_is_named_and_replaced() {
    let other = "completely different words are standing here, one after the other";
    for declared in [sha1(TEXT), sha256(TEXT), md5(TEXT)] {
        let place = TestFolder::new();
        let archive =
            response("http://p/", 1, &declared, TEXT) + &response("http://p/", 2, &declared, other);
        let (summary, err) = ingest(&place, &archive);
        assert_eq!((&summary["wrong_digests"], &summary["changed"]), (&1.into(), &1.into()));
        assert!(err.contains("http://p/: ") && err.contains("byte 2"), "{err}");
        assert!(err.contains(&format!("the declared digest {declared} does not match")), "{err}");
        assert_eq!(digests(&place, "http://p/"), [kept(TEXT), kept(other)]);
        let shown = TestFolder::new();
        let path = shown.write("crawl.warc", &archive);
        let ToolRun { out, err, .. } = shown.run(&["ingest", &path]);
        let said = err.strip_prefix("simkeep: ").unwrap().trim_end();
        assert!(
            out.contains("wrong digests                        1  the computed digests are used"),
            "{out}"
        );
        let ran = TestFolder::new().run(&["load", &path, "--json"]);
        assert_eq!(
            (&ran.objects()[0]["wrong_digests"], ran.said()),
            (&1.into(), vec![said.into()])
        );
    }
}

#[test]
fn only_some_wrong_digests_are_named() {
    let place = TestFolder::new();
    let wrong = sha1("another text");
    let archive: String =
        (0..25).map(|n| response(&format!("http://p/{n}"), 1, &wrong, TEXT)).collect();
    let (summary, err) = ingest(&place, &archive);
    assert_eq!((&summary["wrong_digests"], err.lines().count()), (&25.into(), 21));
    assert!(err.ends_with("{\"message\":\"5 more digests were wrong\"}\n"), "{err}");
}

/// Tools compute the digest of a payload with or without its transfer encoding, or after decompression.
#[test]
fn digest_of_any_payload_encoding_is_accepted() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(TEXT.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let chunked =
        [format!("{:x}\r\n", packed.len()).as_bytes(), &packed, b"\r\n0\r\n\r\n"].concat();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\
                 Transfer-Encoding: chunked\r\n\r\n";
    let block = [head.as_slice(), &chunked].concat();
    let record = |declared: &str| {
        let header = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://p/\r\nWARC-Date: 2020\r\n\
             WARC-Payload-Digest: {declared}\r\nContent-Length: {}\r\n\r\n",
            block.len()
        );
        [header.as_bytes(), &block, b"\r\n\r\n"].concat()
    };
    for content in [&chunked[..], &packed, TEXT.as_bytes()] {
        for (declared, shown) in [
            (sha1(content), kept(content)),
            (sha256(content), kept(&packed)),
            (md5(content), kept(&packed)),
        ] {
            let place = TestFolder::new();
            let (summary, err) = ingest(&place, record(&declared));
            assert_eq!((&summary["wrong_digests"], err.as_str()), (&0.into(), ""));
            assert_eq!(digests(&place, "http://p/"), [shown]);
        }
    }
    let place = TestFolder::new();
    assert_eq!(ingest(&place, record(&sha1(&block))).0["wrong_digests"], 1);
    assert_eq!(digests(&place, "http://p/"), [kept(&packed)]);
}

#[test]
fn truncated_record_is_not_checked_against_its_digest() {
    let place = TestFolder::new();
    let more = [("WARC-Payload-Digest", sha1("the whole")), ("WARC-Truncated", "length".into())];
    let more = more.each_ref().map(|(name, value)| (*name, value.as_str()));
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{TEXT}");
    let (summary, err) = ingest(&place, of("response", "http://p/", 1, &more, &block));
    assert_eq!((&summary["wrong_digests"], err.as_str()), (&0.into(), ""));
    assert_eq!(digests(&place, "http://p/"), [kept(TEXT)]);
}

#[test]
fn block_digest_counts_when_the_block_is_the_document() {
    let place = TestFolder::new();
    let text = ("Content-Type", "text/plain");
    let (right, wrong) = (sha1(TEXT), sha1("another text"));
    let archive = [
        of("resource", "http://p/1", 1, &[text, ("WARC-Block-Digest", &right)], TEXT),
        of("conversion", "http://p/2", 1, &[text, ("WARC-Block-Digest", &wrong)], TEXT),
        of("resource", "http://p/3", 1, &[text, ("WARC-Payload-Digest", &wrong)], TEXT),
    ];
    let (summary, err) = ingest(&place, archive.concat());
    assert_eq!((&summary["wrong_digests"], err.lines().count()), (&2.into(), 2));
    for url in ["http://p/1", "http://p/2", "http://p/3"] {
        assert_eq!(digests(&place, url), [kept(TEXT)]);
    }
}

#[test]
fn equal_bytes_have_equal_digests_in_all_inputs() {
    let place = TestFolder::new();
    let file = place.write("pages/page.txt", TEXT);
    let html = "<!doctype html><p>The same text, in other marks";
    place.write("pages/page.html", html);
    let lines = format!("{{\"url\":\"http://line/\",\"t\":1,\"text\":\"{TEXT}\"}}\n");
    let lines = place.write("lines.jsonl", lines);
    let archive = response("http://warc/", 1, "none", TEXT)
        + &of("response", "http://html/", 1, &[], &format!("HTTP/1.1 200 OK\r\n\r\n{html}"));
    let archive = place.write("crawl.warc", archive);
    let block = format!("HTTP/1.1 200 OK\r\n\r\n{TEXT}");
    let old = format!(
        "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 8\n1 0 Me\nX\n\n\
         http://arc/ 192.0.2.1 20200101000000 text/plain {}\n{block}\n",
        block.len()
    );
    let old = place.write("old.arc", old);
    place.done(&["ingest", "pages", &lines, &archive, &old]);
    for url in [&format!("file://{file}"), "http://line/", "http://warc/", "http://arc/"] {
        assert_eq!(digests(&place, url), [kept(TEXT)], "{url}");
    }
    let page = format!("file://{}", place.file("pages/page.html"));
    for url in [page.as_str(), "http://html/"] {
        assert_eq!(digests(&place, url), [kept(html)], "{url}");
    }
}

/// A page is read with a header of any length.
#[test]
fn pages_with_long_headers_and_odd_status_lines_are_read() {
    let place = TestFolder::new();
    let lines = "X-More: y\r\n".repeat(600);
    let long = format!("X-More: {}\r\n", "y".repeat(100_000));
    let heads = [
        format!("HTTP/1.1 200 OK\r\n{lines}"),
        format!("HTTP/1.1 200 OK\r\n{long}"),
        "HTTP/1.1 200\r\n".into(),
        "\r\nHTTP/2 200\n".into(),
        "ICY 200 OK\r\n".into(),
        "HTTP/1.1 200OK\r\n".into(),
    ];
    let record = |(n, head): (usize, &String)| {
        let block = format!("{head}Content-Type: text/plain\r\n\r\n{TEXT}");
        of("response", &format!("http://p/{n}"), 1, &[("WARC-Payload-Digest", &sha1(TEXT))], &block)
    };
    let archive: String = heads.iter().enumerate().map(record).collect();
    let (summary, err) = ingest(&place, archive);
    assert_eq!((&summary["new"], err.as_str()), (&heads.len().into(), ""));
    assert_eq!(summary["exact_copies"], heads.len() - 1);
}
