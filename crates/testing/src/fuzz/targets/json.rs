//! Any bytes as JSON lines. The result depends neither on their compression nor on the pieces in
//! which they arrive. Each record that is written again is read back unchanged.
//!
//! The first byte modulo 3 selects the compression: 0 takes the rest as the file, compressed or
//! not; 1 compresses it with gzip, 2 with zstd. The second byte has the sizes: of a compressed part
//! in the low four bits, of a read in the others.

use serde_json::json;

use crate::fuzz::file_delivery::{FileDelivery, FuzzCompression};
use crate::fuzz::input::FuzzInput;
use simkeep_formats::{RecordPayload, SourceItem, VisitRecord};

const MS_PER_DAY: i64 = 86_400_000;

/// The number of bytes up to which records are written again.
const LINES_BYTES: usize = 256 << 10;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let feed = FileDelivery::new(".jsonl", input.u8(), input.u8());
    let mut lines = Vec::new();
    let mut records = Vec::new();
    feed.check(input.0, |item| {
        // Texts that decompress to very much are not written again.
        if let SourceItem::Record(record) = item
            && !matches!(&record.payload, RecordPayload::Text(text) if text.text().len() > input.0.len())
            && lines.len() < LINES_BYTES
        {
            let mut record = record.clone();
            // An export may have a value that a line of another file may not have.
            record.modified = record.modified.filter(|ms| *ms <= record.time + MS_PER_DAY);
            lines.extend(line(&record).into_bytes());
            records.push(record);
        }
    });
    let mut records = records.into_iter();
    let again = FileDelivery { packing: FuzzCompression::None, ..feed };
    again.check(&lines, |item| {
        assert_eq!(records.next().map(SourceItem::Record).as_ref(), Some(item))
    });
    assert_eq!(records.next(), None);
}

fn line(record: &VisitRecord) -> String {
    let mut line = json!({ "url": record.url, "t": crate::ms(record.time).to_string() });
    match &record.payload {
        RecordPayload::Text(text) => line["text"] = json!(text.text()),
        RecordPayload::Ready { fingerprint } => {
            line["fingerprint"] = json!(fingerprint.map(|f| format!("{f:016x}")))
        }
        RecordPayload::Restated { fingerprint } => {
            line["fingerprint"] = json!(fingerprint.map(|f| format!("{f:016x}")));
            line["seen"] = json!("restated");
        }
        RecordPayload::NotModified => line["seen"] = json!("not-modified"),
        RecordPayload::Gone => line["seen"] = json!("gone"),
        RecordPayload::Failed(_) => line["seen"] = json!("failed"),
        RecordPayload::Redirect => line["seen"] = json!("redirect"),
        RecordPayload::Binary => line["seen"] = json!("content"),
        RecordPayload::Properties => {}
        other => panic!("no line says {other:?}"),
    }
    if !matches!(record.payload, RecordPayload::Text(_))
        && let Some(digest) = record.digest
    {
        line["digest"] = json!(digest.to_string());
    }
    if let Some(status) = record.status {
        line["status"] = json!(status);
    }
    if let Some(modified) = record.modified {
        line["modified"] = json!(crate::ms(modified).to_string());
    }
    if let Some(weight) = record.weight {
        line["weight"] = json!(weight.to_f64());
    }
    if let Some(class) = record.class {
        line["class"] = json!(class);
    }
    if let Some(epoch) = &record.epoch {
        line["epoch"] = json!(epoch);
    }
    // The only control character that JSON allows unescaped. Many of them would look like binary
    // content.
    format!("{line}\n").replace('\u{7f}', "\\u007f")
}
