//! Tests of headers and bodies as servers and archives write them.

use super::super::gzip::tests::gz;
use super::*;
use proptest::prelude::*;
use std::io::Write;

fn entity(headers: &str, body: &[u8]) -> Result<Vec<u8>, String> {
    let bytes = [format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n").as_bytes(), body].concat();
    let head = head(&bytes, false).unwrap().unwrap();
    assert_eq!(&bytes[head.body..], body);
    head.unpacked(head.joined(&bytes[head.body..])).map(Cow::into_owned)
}

#[test]
fn http_headers_of_all_servers_are_read() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nbody",
        "HTTP/1.0 200\ncontent-type:text/html\n\nbody",
        "HTTP/2 200\r\nCONTENT-TYPE : text/html\r\n\r\nbody",
        "\r\n\nHTTP/1.1 200 OK\nContent-Type: text/html\n\nbody",
        "ICY 200 OK\r\nContent-Type:text/html\r\n\r\nbody",
        "HTTP 200 OK\r\nContent-Type:text/html\r\n\r\nbody",
        "http/1.1\t200\r\ncontent-type: text/html\r\n\r\nbody",
        "HTTP/1.1 200OK\r\r\nContent-Type:\r\n\ttext/html\r\r\n\r\r\nbody",
        "HTTP/1.1 200 é\0\r\nX: \0\r\nContent-Type: text/html\r\n\r\nbody",
        "HTTP/1.1  200  Fine\r\nno colon here\r\nBad\u{1}Name: x\r\ncontent-type: text/html\r\n\r\nbody",
    ] {
        let head = head(text.as_bytes(), false).unwrap().unwrap();
        assert_eq!((head.status, head.content_type.as_str()), (200, "text/html"), "{text}");
        assert_eq!(&text[head.body..], "body");
    }
    assert_eq!(head(b"HTTP/1.1 404 Not Found", true).unwrap().unwrap().status, 404);
    let cut = b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Type: a/b\r\n c";
    assert!(head(cut, false).unwrap().is_none());
    let whole = head(cut, true).unwrap().unwrap();
    assert_eq!((whole.content_type.as_str(), whole.body), ("a/b c", cut.len()));
    for text in ["<html>", "", "HTTPS/1.1 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000", "HTTP/1.1"] {
        assert!(head(text.as_bytes(), true).is_err(), "{text}");
    }
}

#[test]
fn content_types_are_joined() {
    let text = "HTTP/1.1 200 OK\nContent-Type: text/html\nX: y\n\
                content-type:\n text/plain;\n charset=gbk\n\n";
    let head = head(text.as_bytes(), true).unwrap().unwrap();
    assert_eq!(head.content_type, "text/html, text/plain; charset=gbk");
}

#[test]
fn header_may_have_any_number_of_lines() {
    let many = "X-More: and more\r\n".repeat(50_000);
    let text = format!("HTTP/1.1 200 OK\r\n{many}Content-Type: text/html\r\n\r\nbody");
    let head = head(text.as_bytes(), false).unwrap().unwrap();
    assert_eq!((head.content_type.as_str(), &text[head.body..]), ("text/html", "body"));
}

#[test]
fn chunks_are_joined_and_other_bodies_kept() {
    let chunked = "Transfer-Encoding: chunked";
    assert_eq!(entity(chunked, b"4\r\nWiki\r\n5;x=y\r\npedia\r\n0\r\n\r\n").unwrap(), b"Wikipedia");
    assert_eq!(entity(chunked, b"4\r\nWiki\r\n5\r\nped").unwrap(), b"Wikiped");
    assert_eq!(entity(chunked, b"<p>Wiki").unwrap(), b"<p>Wiki");
    assert_eq!(entity(chunked, b"ffffffffffffffff\r\nx").unwrap(), b"x");
    assert_eq!(entity("Transfer-Encoding: gzip, chunked", b"0\r\n\r\n").unwrap(), b"");
}

#[test]
fn content_encodings_are_decoded() {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(b"text").unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    raw.write_all(b"text").unwrap();
    // "text" as an uncompressed brotli stream.
    let brotli = [0x8b, 0x01, 0x80, b't', b'e', b'x', b't', 0x03];
    for (encoding, body) in [
        ("gzip", gz(b"text")),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
        ("zstd", zstd::encode_all(&b"text"[..], 1).unwrap()),
        ("br", brotli.to_vec()),
        ("gzip, zstd", zstd::encode_all(&gz(b"text")[..], 1).unwrap()),
        ("gzip", b"text".to_vec()),
        ("identity", b"text".to_vec()),
        ("made-up", b"text".to_vec()),
    ] {
        let header = format!("Content-Encoding: {encoding}");
        assert_eq!(entity(&header, &body).unwrap(), b"text", "{encoding}");
    }
    assert!(entity("Content-Encoding: br", b"\0\0\0\xff\xff\xff\xff").is_err());
    assert!(entity("Content-Encoding: gzip,gzip,gzip,gzip,gzip", b"x").is_err());
}

#[test]
fn body_that_unpacks_too_large_is_refused() {
    let bomb = gz(&vec![b' '; usize::try_from(RECORD_BYTES_MAX).unwrap() + 1]);
    assert!(entity("Content-Encoding: gzip", &bomb).unwrap_err().contains("64 MiB"));
}

#[test]
fn completeness_follows_length_or_last_chunk() {
    let whole = |headers: &str, body: &[u8]| {
        head(format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n").as_bytes(), true)
            .unwrap()
            .unwrap()
            .whole(body)
            .is_some()
    };
    assert!(whole("Content-Length: 3", b"abc"));
    assert!(!whole("Content-Length: 4", b"abc"));
    assert!(!whole("X: y", b"abc"));
    assert!(whole("Transfer-Encoding: chunked", b"1\r\na\r\n0\r\n\r\n"));
    assert!(!whole("Transfer-Encoding: chunked", b"1\r\na\r\n"));
}

proptest! {
    #[test]
    fn nothing_panics(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        encoding in "(gzip|deflate|br|zstd|chunked)(, (gzip|br|zstd))?",
    ) {
        let _ = head(&bytes, true).map(|h| h.map(|h| h.unpacked(h.joined(&bytes)).map(|_| ())));
        let _ = entity(&format!("Content-Encoding: {encoding}\r\nTransfer-Encoding: chunked"), &bytes);
    }

    #[test]
    fn nothing_panics_after_a_valid_start(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = head(&[b"HTTP/1.1 200 OK\r\n", &bytes[..]].concat(), true);
        for start in [&[0x0b, 0x01, 0x80][..], &[0x1b, 0x03, 0x00], &[0x28, 0xb5, 0x2f, 0xfd]] {
            let body = [start, &bytes].concat();
            let _ = unpacked(&body, "br");
            let _ = unpacked(&body, "zstd");
        }
    }
}
