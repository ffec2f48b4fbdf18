//! CDXJ, the index format of web archives: a line for each visit, by SURT and time.

use std::io::Write;

use serde_json::{Map, Value};
use simkeep::inspect::surt;
use simkeep_formats::escape;

use super::buffered_output::BufferedOutput;
use super::format::{ExportRow, RowWriter};
use crate::exit::VerbError;
use crate::output::visit;
use crate::time;

/// An index that is being written.
pub(super) struct CdxjWriter<'w> {
    gathered: BufferedOutput<'w>,
    /// The last page that was written, and its key.
    url: String,
    key: String,
}

impl<'w> CdxjWriter<'w> {
    pub(super) fn begin(to: &'w mut (impl Write + Send)) -> CdxjWriter<'w> {
        CdxjWriter { gathered: BufferedOutput::new(to), url: String::new(), key: String::new() }
    }
}

impl RowWriter for CdxjWriter<'_> {
    fn row(&mut self, row: &ExportRow<'_>) -> Result<bool, VerbError> {
        let Some(conditional) = row.conditional else { return Ok(false) };
        if self.url != row.url {
            row.url.clone_into(&mut self.url);
            self.key = key(&self.url);
        }
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("url", row.url.into());
        if let Some(digest) = row.digest {
            put("digest", digest.to_string().into());
        }
        if let Some(status) = row.status {
            // Indexes store the status as a string.
            put("status", status.to_string().into());
        }
        if let Some(fingerprint) = row.fingerprint {
            put("fingerprint", visit::fingerprint(fingerprint).into());
        }
        put("verdict", row.verdict.into());
        if let Some(distance) = row.distance {
            put("distance", distance.into());
        }
        if let Some(modified) = row.modified {
            put("modified", modified.to_string().into());
        }
        if let Some(bytes) = row.bytes {
            put("bytes", bytes.into());
        }
        if conditional {
            put("conditional", true.into());
        }
        if let Some(etag) = row.response.etag {
            put("etag", etag.to_latin1().into());
        }
        if let Some(target) = row.response.target.and_then(|target| target.resolve(row.url)) {
            put("target", target.into());
        }
        let json = Value::from(object).to_string();
        let line = format!("{} {} {}\n", self.key, time::digits(row.time), escape::json(&json));
        self.gathered.bytes.extend_from_slice(line.as_bytes());
        self.gathered.flush_if_full()?;
        Ok(true)
    }

    fn end(mut self: Box<Self>) -> Result<(), VerbError> {
        Ok(self.gathered.flush_all()?)
    }
}

/// The SURT of a page, in ASCII and without spaces, since a space ends the key.
fn key(url: &str) -> String {
    let mut key = String::new();
    for byte in surt(url).bytes() {
        match byte {
            0x21..0x7f => key.push(char::from(byte)),
            _ => key.push_str(&format!("%{byte:02X}")),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cdxj_key_contains_no_space() {
        assert_eq!(key("https://www.example.com/a b?é"), "com,example,www)/a%20b?%C3%A9");
        assert_eq!(key("urn:isbn:1"), "urn:isbn:1");
    }
}
