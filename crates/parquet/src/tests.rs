//! Tests that written tables are read back, and that damaged files are harmless.

mod copy;

use std::fs::File;

use super::*;

type TestRow =
    (String, i64, Option<String>, Option<u64>, Option<[u8; 16]>, Option<u16>, Option<u32>);

fn test_rows(count: u32) -> Vec<TestRow> {
    let row = |n: u32| {
        let some = |nth: u32| !n.is_multiple_of(nth);
        let [low, lower, _, _] = n.to_le_bytes();
        let url =
            format!("https://example.com/{}/\u{202e}=\"{}", n / 3, "x".repeat((low % 50).into()));
        let fingerprint = some(4).then_some(u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let digest = some(5).then_some([low; 16]);
        let epoch = some(7).then(|| format!("epoch {}", n % 3));
        let status = some(2).then_some(u16::from_le_bytes([low, lower]));
        let distance = some(3).then_some(n % 65);
        (url, i64::from(n) - 5_000, epoch, fingerprint, digest, status, distance)
    };
    (0..count).map(row).collect()
}

fn written(rows: &[TestRow]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = VisitWriter::new(&mut bytes).unwrap();
    for (url, time, epoch, fingerprint, digest, status, distance) in rows {
        let row = VisitRow {
            url,
            time: *time,
            epoch: epoch.as_deref(),
            fingerprint: *fingerprint,
            digest: *digest,
            status: *status,
            verdict: if *time % 2 == 0 { "same" } else { "changed" },
            distance: *distance,
            weight: None,
            class: class_of(*time),
            modified: distance.map(|bits| i64::from(bits) * -1_000),
            bytes: *fingerprint,
            conditional: status.map(|status| status.is_multiple_of(4)),
            etag: epoch.as_deref(),
            target: distance.and(Some(url)),
        };
        writer.row(&row).unwrap();
    }
    writer.end().unwrap();
    bytes
}

fn opened(bytes: &[u8], columns: [&str; 3]) -> Result<DocumentRows, String> {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    DocumentRows::open(file, columns)
}

fn read(bytes: &[u8], columns: [&str; 3]) -> Result<Vec<[CellValue; 3]>, String> {
    let rows: Result<Vec<_>, _> = opened(bytes, columns)?.collect();
    Ok(rows?.concat())
}

/// Returns a class for some times. The classes use all bits.
fn class_of(time: i64) -> Option<u32> {
    let low = u32::try_from(time & 0xffff).unwrap();
    time.is_positive().then_some(low ^ u32::MAX)
}

#[test]
fn written_rows_are_read_across_row_groups() {
    let expected = test_rows(300_000);
    let bytes = written(&expected);
    let text = |text: &Option<String>| text.clone().map_or(CellValue::Null, CellValue::Text);
    let whole = |number: Option<i64>| number.map_or(CellValue::Null, CellValue::Whole);
    let rows = read(&bytes, ["url", "epoch", "time"]).unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, source) in rows.iter().zip(&expected) {
        let values =
            [CellValue::Text(source.0.clone()), text(&source.2), CellValue::Milliseconds(source.1)];
        assert_eq!(*row, values);
    }
    let rows = read(&bytes, ["fingerprint", "status", "distance"]).unwrap();
    for (row, source) in rows.iter().zip(&expected) {
        let fingerprint = match source.3 {
            Some(great) if i64::try_from(great).is_err() => CellValue::Text(great.to_string()),
            other => whole(other.map(u64::cast_signed)),
        };
        let values = [fingerprint, whole(source.5.map(i64::from)), whole(source.6.map(i64::from))];
        assert_eq!(*row, values);
    }
    let groups =
        parquet::file::reader::SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    use parquet::file::reader::FileReader as _;
    assert_eq!(groups.num_row_groups(), 3);
    let metadata = groups.metadata().row_groups();
    let rows: Vec<i64> = metadata.iter().map(|group| group.num_rows()).collect();
    assert_eq!(rows, [131_072, 131_072, 300_000 - 2 * 131_072]);
}

#[test]
fn columns_have_their_types_and_epochs_a_dictionary() {
    use parquet::file::reader::FileReader as _;
    use parquet::record::Field;
    let expected = test_rows(6000);
    let file =
        parquet::file::reader::SerializedFileReader::new(bytes::Bytes::from(written(&expected)));
    let file = file.unwrap();
    for (row, source) in file.get_row_iter(None).unwrap().zip(&expected) {
        let row = row.unwrap();
        let field = |name: &str| row.get_column_iter().find(|(n, _)| *n == name).unwrap().1.clone();
        let digest = source.4.map_or(Field::Null, |digest| Field::Bytes(digest.to_vec().into()));
        assert_eq!(field("digest"), digest);
        assert_eq!(field("fingerprint"), source.3.map_or(Field::Null, Field::ULong));
        assert_eq!(field("time"), Field::TimestampMillis(source.1));
        let class = class_of(source.1);
        assert_eq!(field("class"), class.map_or(Field::Null, Field::UInt));
        let modified = source.6.map(|bits| Field::TimestampMillis(i64::from(bits) * -1_000));
        assert_eq!(field("modified"), modified.unwrap_or(Field::Null));
        assert_eq!(field("bytes"), field("fingerprint"));
        let conditional = source.5.map(|status| Field::Bool(status.is_multiple_of(4)));
        assert_eq!(field("conditional"), conditional.unwrap_or(Field::Null));
        assert_eq!(field("etag"), field("epoch"));
        let target = source.6.map(|_| field("url"));
        assert_eq!(field("target"), target.unwrap_or(Field::Null));
    }
    let chunk = |column: usize| file.metadata().row_group(0).column(column).clone();
    assert!(chunk(2).dictionary_page_offset().is_some());
    assert!(chunk(0).dictionary_page_offset().is_none());
}

#[test]
fn empty_table_is_valid() {
    assert_eq!(read(&written(&[]), ["url", "text", "time"]), Ok(Vec::new()));
}

#[test]
fn long_urls_end_a_row_group_early() {
    use parquet::file::reader::FileReader as _;
    let mut bytes = Vec::new();
    let mut writer = VisitWriter::new(&mut bytes).unwrap();
    for n in 0..20_000 {
        let url = format!("{n}{}", "x".repeat(8000));
        writer.row(&VisitRow { url: &url, verdict: "new", ..VisitRow::default() }).unwrap();
    }
    writer.end().unwrap();
    let file = parquet::file::reader::SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    assert_eq!(file.num_row_groups(), 3);
}

#[test]
fn missing_and_unsuitable_columns_are_reported() {
    let bytes = written(&test_rows(10));
    let documents = opened(&bytes, ["url", "text", "digests"]).unwrap();
    assert_eq!([0, 1, 2, 3].map(|n| documents.has(n)), [true, false, false, false]);
    assert!(documents.names().contains(&"fingerprint".to_owned()));
    let why = opened(&bytes, ["url", "digest", "time"]).err().unwrap();
    assert!(why.contains("digest"), "{why}");
}

/// A damaged file is refused, or a part of it is read. Reading takes little time and memory.
#[test]
fn damaged_or_truncated_file_is_harmless() {
    let expected = test_rows(300);
    let bytes = written(&expected);
    let columns = ["url", "epoch", "time"];
    let (mut refused, mut seen) = (0, 0);
    for at in 0..bytes.len() {
        for to in [0, 0xff, bytes[at] ^ 1, bytes[at] ^ 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] = to;
            seen += 1;
            match read(&damaged, columns) {
                // For any declared number of rows, no more rows are read than there are values.
                Ok(rows) => assert!(rows.len() <= expected.len()),
                Err(why) => {
                    assert!(!why.is_empty());
                    refused += 1;
                }
            }
        }
    }
    for len in 0..bytes.len() {
        assert!(read(&bytes[..len], columns).is_err(), "{len}");
    }
    assert!(refused > seen / 10, "{refused} of {seen}");
}

#[test]
fn impossible_sizes_are_refused() {
    let mut bytes = written(&test_rows(10));
    let len = bytes.len();
    bytes[len - 8..len - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(read(&bytes, ["url", "text", "time"]).unwrap_err().contains("4294967295"));
    let nothing: File = tempfile::tempfile().unwrap();
    assert!(DocumentRows::open(nothing, ["url", "text", "time"]).is_err());
}
