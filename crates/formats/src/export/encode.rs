//! Writes the lines of an export.

use std::io::{self, Write};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use simkeep::df::FrequencyTable;
use simkeep::{Entry, EpochInfo, Error, Role, Seen};

use super::super::{escape, time};
use super::{ExportScope, PART_BYTES_MAX, VERSION};

/// Writes the lines of an export. Call the methods in the order in which they are listed.
///
/// The encoder buffers its output; [`pass`](ExportEncoder::pass) writes the buffer to a writer.
///
/// ```
/// use simkeep::{Observation, Options, Store, Time};
/// use simkeep_formats::export::{ExportEncoder, ExportScope};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("pages.jsonl");
/// let store = Store::create(folder.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let snapshot = store.snapshot();
/// let mut encoder = ExportEncoder::new(&ExportScope::default());
/// snapshot.epochs().iter().for_each(|info| encoder.epoch(info, None));
/// for item in snapshot.observations(None) {
///     let (url, entry) = item?;
///     encoder.entry(&url, &entry)?;
/// }
/// assert_eq!(encoder.end(), 4); // the first line, an epoch, a visit, and the last line
/// encoder.pass(&mut std::fs::File::create(&path)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExportEncoder {
    out: Vec<u8>,
    lines: u64,
    /// The last page written, as a URL and as JSON.
    url: String,
    quoted: Vec<u8>,
    /// The names of the epochs by number, as JSON.
    names: Vec<Vec<u8>>,
}

impl ExportEncoder {
    /// Creates an encoder, and writes the first line.
    pub fn new(scope: &ExportScope) -> ExportEncoder {
        let (url, quoted, names) = (String::new(), Vec::new(), Vec::new());
        let mut encoder = ExportEncoder { out: Vec::new(), lines: 0, url, quoted, names };
        let out = &mut encoder.out;
        out.extend_from_slice(b"{\"simkeep\":\"export\",\"version\":");
        put_number(out, VERSION);
        if let Some(under) = &scope.under {
            out.extend_from_slice(b",\"under\":");
            put_text(out, under);
        }
        if let Some(since) = scope.since {
            put_time(out, b",\"since\":\"", since);
        }
        if let Some(until) = scope.until {
            put_time(out, b",\"until\":\"", until);
        }
        if scope.in_force {
            out.extend_from_slice(b",\"in_force_only\":true");
        }
        encoder.line();
        encoder
    }

    /// Writes the next epoch, and the checksum of the table that follows for it.
    pub fn epoch(&mut self, info: &EpochInfo, table: Option<u64>) {
        let out = &mut self.out;
        out.extend_from_slice(b"{\"epoch\":");
        let start = out.len();
        put_text(out, &info.name);
        self.names.push(out.get(start..).unwrap_or_default().to_vec());
        if info.role != Role::Both {
            out.extend_from_slice(b",\"role\":");
            put_text(out, &info.role.to_string());
        }
        let reserved = info.epoch.mask().leading_zeros();
        for (key, number) in [
            (&b",\"minor\":"[..], Some(info.bands.minor.into())),
            (b",\"moderate\":", Some(info.bands.moderate.into())),
            (b",\"begun_at_visit\":", Some(info.begun)),
            (b",\"reserved\":", Some(reserved.into()).filter(|_| reserved > 0)),
        ] {
            if let Some(number) = number {
                out.extend_from_slice(key);
                put_number(out, number);
            }
        }
        if info.ended {
            out.extend_from_slice(b",\"ended\":true");
        }
        if let Some(id) = table {
            out.extend_from_slice(b",\"table\":\"");
            put_hexadecimal(out, &id.to_be_bytes());
            out.push(b'"');
        }
        self.line();
    }

    /// Writes a table that was announced with an epoch, part by part, to `to`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
    pub fn table(&mut self, table: &FrequencyTable, to: &mut impl Write) -> io::Result<()> {
        let bytes = table.as_bytes();
        let mut at = 0;
        for part in bytes.chunks(PART_BYTES_MAX) {
            let out = &mut self.out;
            out.extend_from_slice(b"{\"table\":\"");
            put_hexadecimal(out, &table.id().to_be_bytes());
            out.extend_from_slice(b"\",\"offset\":");
            put_number(out, at);
            out.extend_from_slice(b",\"table_bytes\":");
            put_number(out, bytes.len() as u64);
            out.extend_from_slice(b",\"base64\":\"");
            out.extend_from_slice(BASE64_STANDARD.encode(part).as_bytes());
            out.push(b'"');
            self.line();
            self.pass(to)?;
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Writes an entry of a page.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownEpoch`] if the epoch of `entry` was not written.
    pub fn entry(&mut self, url: &str, entry: &Entry) -> simkeep::Result<()> {
        if self.url != url {
            url.clone_into(&mut self.url);
            self.quoted.clear();
            put_text(&mut self.quoted, url);
        }
        let name = match entry.epoch() {
            Some(epoch) => {
                let name = self.names.get(epoch.count() as usize);
                name.ok_or(Error::UnknownEpoch(epoch.number()))?
            }
            None => &Vec::new(),
        };
        put_entry(&mut self.out, url, &self.quoted, entry, name);
        self.line();
        Ok(())
    }

    /// Writes the last line. Returns the number of lines.
    pub fn end(&mut self) -> u64 {
        self.out.extend_from_slice(b"{\"simkeep\":\"end\",\"lines\":");
        put_number(&mut self.out, self.lines + 1);
        self.line();
        self.lines
    }

    /// Returns the number of buffered bytes.
    pub fn gathered(&self) -> usize {
        self.out.len()
    }

    /// Writes the buffered bytes to `to`.
    ///
    /// # Errors
    ///
    /// Returns the errors of the writer.
    pub fn pass(&mut self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Ends an object and the line.
    fn line(&mut self) {
        self.out.extend_from_slice(b"}\n");
        self.lines += 1;
    }
}

/// Encodes an entry of a page as in an export: as an object in a line, without the line end.
/// `epoch` is the name of the epoch of its fingerprint.
///
/// ```
/// use simkeep::{Entry, Seen, Time, Visit};
/// # use simkeep_formats::export;
/// let time = Time::from_ms(1_500)?;
/// let visit = Visit { status: Some(410), ..Visit::new(time, Seen::Gone) };
/// let line = export::entry("https://example.com/", &Entry::Visit(visit), "");
/// let expected =
///     r#"{"url":"https://example.com/","t":"1970-01-01T00:00:01.500Z","status":410,"seen":"gone"}"#;
/// assert_eq!(line, expected);
/// # Ok::<(), simkeep::Error>(())
/// ```
pub fn entry(url: &str, entry: &Entry, epoch: &str) -> String {
    let (mut out, mut quoted, mut name) = (Vec::new(), Vec::new(), Vec::new());
    put_text(&mut quoted, url);
    put_text(&mut name, epoch);
    put_entry(&mut out, url, &quoted, entry, &name);
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes an entry of `page` without the end of its object. `url`, the URL of the page, and `epoch`,
/// the name of the entry's epoch, are JSON. Keys without information are left out.
fn put_entry(out: &mut Vec<u8>, page: &str, url: &[u8], entry: &Entry, epoch: &[u8]) {
    out.extend_from_slice(b"{\"url\":");
    out.extend_from_slice(url);
    put_time(out, b",\"t\":\"", entry.time().as_ms());
    let content = entry.content();
    let is_redirect = content.is_some() && entry.epoch().is_none();
    match content.filter(|_| !is_redirect).map(|content| content.fingerprint) {
        Some(Some(fingerprint)) => {
            out.extend_from_slice(b",\"fingerprint\":\"");
            put_hexadecimal(out, &fingerprint.to_be_bytes());
            out.push(b'"');
        }
        Some(None) => out.extend_from_slice(b",\"fingerprint\":null"),
        None => {}
    }
    if let Some(digest) = entry.digest() {
        out.extend_from_slice(b",\"digest\":\"");
        put_hexadecimal(out, &digest.0);
        out.push(b'"');
    }
    if entry.epoch().is_some() {
        out.extend_from_slice(b",\"epoch\":");
        out.extend_from_slice(epoch);
    }
    if let Some(status) = entry.visit().and_then(|visit| visit.status) {
        out.extend_from_slice(b",\"status\":");
        put_number(out, status.into());
    }
    if let Some(modified) = entry.visit().and_then(|visit| visit.modified) {
        put_time(out, b",\"modified\":\"", modified.as_ms());
    }
    if let Some(bytes) = entry.visit().and_then(|visit| visit.bytes) {
        out.extend_from_slice(b",\"bytes\":");
        put_number(out, bytes);
    }
    if entry.visit().is_some_and(|visit| visit.conditional) {
        out.extend_from_slice(b",\"conditional\":true");
    }
    if let Some(weight) = entry.weight() {
        out.extend_from_slice(b",\"weight\":");
        put_weight(out, weight.to_f64());
    }
    if let Some(class) = entry.class() {
        out.extend_from_slice(b",\"class\":");
        put_number(out, class.into());
    }
    if let Some(etag) = entry.etag() {
        out.extend_from_slice(b",\"etag\":");
        put_text(out, &etag.to_latin1());
    }
    if let Some(target) = entry.target().and_then(|target| target.resolve(page)) {
        out.extend_from_slice(b",\"target\":");
        put_text(out, &target);
    }
    let seen: &[u8] = match entry {
        Entry::Visit(visit) => match visit.seen {
            Seen::Content(_) if is_redirect => b",\"seen\":\"redirect\"",
            Seen::Content(_) => b"",
            Seen::NotModified { .. } => b",\"seen\":\"not-modified\"",
            Seen::Gone => b",\"seen\":\"gone\"",
            Seen::Failed => b",\"seen\":\"failed\"",
        },
        Entry::Restated(_) => b",\"seen\":\"restated\"",
        Entry::Property(_) => b"",
    };
    out.extend_from_slice(seen);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    if text.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b'"' && b != b'\\') {
        out.extend_from_slice(text.as_bytes());
    } else {
        let json = serde_json::Value::from(text).to_string();
        let json = escape::json(&json);
        let inner = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        out.extend_from_slice(inner.unwrap_or_default().as_bytes());
    }
    out.push(b'"');
}

/// Writes a key and a time in quotes.
fn put_time(out: &mut Vec<u8>, key: &[u8], ms: i64) {
    out.extend_from_slice(key);
    time::put(out, ms);
    out.push(b'"');
}

fn put_hexadecimal(out: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |value: u8| if value < 10 { b'0' + value } else { b'a' + value - 10 };
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    // Writing to memory cannot fail.
    let _ = write!(out, "{number}");
}

/// Writes a positive number; an integer is written without decimals.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^53")]
fn put_weight(out: &mut Vec<u8>, weight: f64) {
    if weight.fract() == 0.0 && weight < 9e15 {
        put_number(out, weight as u64);
    } else {
        let _ = serde_json::to_writer(out, &weight);
    }
}
