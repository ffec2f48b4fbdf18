//! Records of web archives, for tests.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Returns a record with this time.
pub(crate) fn at(kind: &str, url: &str, time: &str, more: &[(&str, &str)], block: &str) -> String {
    let mut record =
        format!("WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {time}\r\n");
    for (name, value) in more {
        record += &format!("{name}: {value}\r\n");
    }
    record + &format!("Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
}

/// A record of a day.
pub(crate) fn of(kind: &str, url: &str, day: u32, more: &[(&str, &str)], block: &str) -> String {
    at(kind, url, &format!("2024-01-{day:02}T00:00:00Z"), more, block)
}

/// A plain text.
pub(crate) fn response(url: &str, day: u32, digest: &str, text: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}");
    of("response", url, day, &[("WARC-Payload-Digest", digest)], &block)
}

/// The profile of a revisit record that repeats a content.
pub(crate) const IDENTICAL_PAYLOAD: &str =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// A record that repeats another record, which its headers name.
pub(crate) fn revisit(url: &str, day: u32, more: &[(&str, &str)]) -> String {
    let more = [&[("WARC-Profile", IDENTICAL_PAYLOAD)], more].concat();
    of("revisit", url, day, &more, "HTTP/1.1 200 OK\r\n\r\n")
}

pub(crate) fn sha1(content: impl AsRef<[u8]>) -> String {
    label("sha1", &Sha1::digest(content))
}

pub(crate) fn sha256(content: impl AsRef<[u8]>) -> String {
    label("sha256", &Sha256::digest(content))
}

pub(crate) fn md5(content: impl AsRef<[u8]>) -> String {
    label("md5", &Md5::digest(content))
}

fn label(algorithm: &str, digest: &[u8]) -> String {
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{algorithm}:{digits}")
}
