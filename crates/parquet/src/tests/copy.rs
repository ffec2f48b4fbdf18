//! Tests that rows are copied with all their columns.

use parquet::basic::Compression;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

/// Columns of all types. Some columns are optional, one is in a group, and one is a list of lists.
const SCHEMA: &str = "
message corpus {
    REQUIRED INT64 id;
    OPTIONAL BYTE_ARRAY text (STRING);
    REQUIRED BOOLEAN flag;
    OPTIONAL INT96 old;
    OPTIONAL FIXED_LEN_BYTE_ARRAY (3) fixed;
    REQUIRED GROUP meta { OPTIONAL FLOAT score; }
    OPTIONAL GROUP tags (LIST) { REPEATED GROUP list {
        OPTIONAL GROUP element (LIST) { REPEATED GROUP list { OPTIONAL INT32 element; } } } }
}";

/// Returns a file with these numbers of rows in its row groups, with the compression `packed`.
fn corpus(groups: &[u32], packed: Compression) -> Vec<u8> {
    let mut bytes = Vec::new();
    let said = KeyValue::new("ARROW:schema".to_owned(), "schema".to_owned());
    let other = KeyValue::new("pandas".to_owned(), "index".to_owned());
    let properties = WriterProperties::builder()
        .set_compression(packed)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(vec![said, other]))
        .build();
    let schema = parse_message_type(SCHEMA).unwrap().into();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties.into()).unwrap();
    let mut first = 0;
    for rows in groups {
        let rows = first..first + rows;
        first = rows.end;
        let mut group = writer.next_row_group().unwrap();
        macro_rules! column {
            ($type:ty, $values:expr, $defined:expr, $repeated:expr) => {
                let mut column = group.next_column().unwrap().unwrap();
                column.typed::<$type>().write_batch($values, $defined, $repeated).unwrap();
                column.close().unwrap();
            };
        }
        let some = |nth: u32, level: i16| -> Vec<i16> {
            rows.clone().map(|n| if n.is_multiple_of(nth) { 0 } else { level }).collect()
        };
        let there = |nth: u32| rows.clone().filter(move |n| !n.is_multiple_of(nth));
        let ids: Vec<i64> = rows.clone().map(i64::from).collect();
        column!(Int64Type, &ids, None, None);
        let text = |n: u32| ByteArray::from(&*"text ".repeat(n as usize % 40));
        let texts: Vec<ByteArray> = there(3).map(text).collect();
        column!(ByteArrayType, &texts, Some(&some(3, 1)), None);
        let flags: Vec<bool> = rows.clone().map(|n| n.count_ones().is_multiple_of(2)).collect();
        column!(BoolType, &flags, None, None);
        let old = there(4).map(|n| Int96::from(vec![n, n + 1, n + 2])).collect::<Vec<_>>();
        column!(Int96Type, &old, Some(&some(4, 1)), None);
        let fixed = there(5).map(|n| FixedLenByteArray::from(n.to_le_bytes()[..3].to_vec()));
        let fixed: Vec<_> = fixed.collect();
        column!(FixedLenByteArrayType, &fixed, Some(&some(5, 1)), None);
        let scores: Vec<f32> = there(2).map(|n| f32::from(u16::try_from(n).unwrap())).collect();
        column!(FloatType, &scores, Some(&some(2, 1)), None);
        // Row n has n % 4 lists of n % 3 numbers, or none at all.
        let (mut numbers, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for n in rows {
            match n % 4 {
                0 => (defined.push(i16::from(n.is_multiple_of(8))), repeated.push(0)),
                lists => {
                    for list in 0..lists {
                        for at in 0..(n % 3).max(1) {
                            let level = if at > 0 { 2 } else { i16::from(list > 0) };
                            repeated.push(level);
                            defined.push(if n.is_multiple_of(3) { 3 } else { 5 });
                            numbers.extend((n % 3 > 0).then_some((n * 7 + at).cast_signed()));
                        }
                    }
                    ((), ())
                }
            };
        }
        column!(Int32Type, &numbers, Some(&defined), Some(&repeated));
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    file
}

/// Returns all rows in their printed form.
fn rows(bytes: &[u8]) -> Vec<String> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

/// Returns a copy of the rows for which `is_kept` returns true.
fn copied(bytes: &[u8], is_kept: impl Fn(usize) -> bool) -> Result<Vec<u8>, CopyError> {
    let mut out = Vec::new();
    let mut copying = FilteringCopy::begin(file(bytes), &mut out, false)?;
    let mut first = 0;
    while let Some(rows) = copying.rows()? {
        let kept: Vec<bool> = (first..first + rows).map(&is_kept).collect();
        first += rows;
        copying.group(GroupEdit::Keep(&kept))?;
    }
    copying.end()?;
    Ok(out)
}

#[test]
fn copied_rows_keep_their_values() {
    let bytes = corpus(&[1000, 1, 700], Compression::SNAPPY);
    let all = rows(&bytes);
    assert_eq!(all.len(), 1701);
    let choices: [&dyn Fn(usize) -> bool; 6] = [
        &|_| true,
        &|_| false,
        &|row| row % 3 == 1,
        &|row| row >= 1000,
        &|row| row != 1000,
        &|row| row.count_ones().is_multiple_of(2),
    ];
    for is_kept in choices {
        let kept: Vec<_> = (0..1701).filter(|row| is_kept(*row)).map(|row| &all[row]).collect();
        let copy = copied(&bytes, is_kept).unwrap();
        assert!(rows(&copy).iter().eq(kept));
    }
}

#[test]
fn copy_keeps_compression_and_metadata() {
    let level = parquet::basic::ZstdLevel::default();
    for packed in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(level)] {
        let bytes = copied(&corpus(&[100, 100], packed), |row| row > 150).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let metadata = reader.metadata();
        // An empty row group is left out.
        assert_eq!(metadata.num_row_groups(), 1);
        assert!(
            metadata.row_group(0).columns().iter().all(|column| column.compression() == packed)
        );
        let said = metadata.file_metadata().key_value_metadata().unwrap();
        assert_eq!(
            said.iter().map(|pair| &pair.key[..]).collect::<Vec<_>>(),
            ["ARROW:schema", "pandas"]
        );
    }
}

#[test]
fn marks_add_two_columns() {
    let bytes = corpus(&[300, 20], Compression::SNAPPY);
    let mark = |row: usize| {
        let mark = || DuplicateMark { duplicate_of: format!("doc {}", row / 2), distance: 3 };
        row.is_multiple_of(5).then(mark)
    };
    let mut out = Vec::new();
    let mut copying = FilteringCopy::begin(file(&bytes), &mut out, true).unwrap();
    let mut first = 0;
    while let Some(rows) = copying.rows().unwrap() {
        let marks: Vec<_> = (first..first + rows).map(mark).collect();
        first += rows;
        copying.group(GroupEdit::Mark(&marks)).unwrap();
    }
    copying.end().unwrap();
    for (row, (before, after)) in rows(&bytes).iter().zip(rows(&out)).enumerate() {
        let (of, distance) = match mark(row) {
            Some(mark) => (format!("{:?}", mark.duplicate_of), mark.distance.to_string()),
            None => ("null".to_owned(), "null".to_owned()),
        };
        let marks = format!(", duplicate_of: {of}, distance: {distance}}}");
        assert_eq!(after, before.strip_suffix('}').unwrap().to_owned() + &marks);
    }
    let reader = SerializedFileReader::new(bytes::Bytes::from(out.clone())).unwrap();
    let said = reader.metadata().file_metadata().key_value_metadata().unwrap();
    assert_eq!(said.iter().map(|pair| &pair.key[..]).collect::<Vec<_>>(), ["pandas"]);
    let twice = FilteringCopy::begin(file(&out), Vec::new(), true).err().unwrap();
    assert!(twice.to_string().contains("already has a column duplicate_of"), "{twice}");
}

#[test]
fn mismatched_choices_are_refused() {
    let bytes = corpus(&[10, 10], Compression::SNAPPY);
    let begin = |marks| FilteringCopy::begin(file(&bytes), Vec::new(), marks).unwrap();
    assert!(begin(false).group(GroupEdit::Keep(&[true; 9])).is_err());
    assert!(begin(false).group(GroupEdit::Mark(&[const { None }; 10])).is_err());
    assert!(begin(true).group(GroupEdit::Keep(&[true; 10])).is_err());
    let mut half = begin(false);
    half.group(GroupEdit::Keep(&[true; 10])).unwrap();
    assert!(half.end().is_err());
}

/// A damaged file is refused, or its copy has as many rows as the metadata of the copy state.
#[test]
fn damaged_files_are_reported_without_harm() {
    let bytes = corpus(&[60], Compression::SNAPPY);
    let (mut refused, mut seen) = (0, 0);
    for at in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        seen += 1;
        refused += usize::from(copied(&damaged, |row| row.is_multiple_of(2)).is_err());
    }
    assert!(refused > seen / 10, "{refused} of {seen}");
}

#[test]
fn full_disk_is_distinguished_from_a_damaged_file() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let bytes = corpus(&[60], Compression::UNCOMPRESSED);
    for room in [0, 100, 1000, 3000] {
        let copy = |bytes: &[u8]| -> Result<(), CopyError> {
            let mut copying = FilteringCopy::begin(file(bytes), Full(room), false)?;
            copying.group(GroupEdit::Keep(&[true; 60]))?;
            copying.end()
        };
        match copy(&bytes) {
            Err(CopyError::Write(e)) => assert_eq!(e.kind(), std::io::ErrorKind::StorageFull),
            other => panic!("{room}: {other:?}"),
        }
    }
}

#[test]
fn plan_is_written_as_a_table() {
    let mut bytes = Vec::new();
    let mut writer = PlanWriter::new(&mut bytes).unwrap();
    let (url, kept, reason) = ("https://a/2", "https://a/1", "near");
    let (distance, size) = (3, 7);
    for (resemblance, fingerprint) in [(None, None), (Some(0.875), Some(u64::MAX))] {
        let row = PlanRow { url, kept, distance, resemblance, reason, size, fingerprint };
        writer.row(&row).unwrap();
    }
    writer.end().unwrap();
    let shown = [("null", "null"), ("0.875", "18446744073709551615")];
    let shown = shown.map(|(resemblance, fingerprint)| {
        format!(
            "{{url: \"https://a/2\", kept: \"https://a/1\", distance: 3, resemblance: {resemblance}, \
             reason: \"near\", size: 7, fingerprint: {fingerprint}}}"
        )
    });
    assert_eq!(rows(&bytes), shown);
}

#[test]
fn clusters_and_pages_are_written_as_tables() {
    let mut bytes = Vec::new();
    let mut writer = ClusterWriter::new(&mut bytes).unwrap();
    let leader = "https://a/1";
    for fingerprint in [None, Some(u64::MAX)] {
        let row = ClusterRow { leader, fingerprint, first_seen: 1_500, size: 7, max_distance: 64 };
        writer.row(&row).unwrap();
    }
    writer.end().unwrap();
    let shown = ["null", "18446744073709551615"].map(|fingerprint| {
        format!(
            "{{leader: \"https://a/1\", fingerprint: {fingerprint}, \
             first_seen: 1970-01-01 00:00:01.500 +00:00, size: 7, max_distance: 64}}"
        )
    });
    assert_eq!(rows(&bytes), shown);
    let mut bytes = Vec::new();
    let mut writer = MemberWriter::new(&mut bytes).unwrap();
    for (class, fingerprint) in [(None, None), (Some(u32::MAX), Some(u64::MAX))] {
        let row =
            MemberRow { url: "https://a/2", fingerprint, class, distance: 3, leader, size: 7 };
        writer.row(&row).unwrap();
    }
    writer.end().unwrap();
    let shown = |class: &str, fingerprint: &str| {
        format!(
            "{{url: \"https://a/2\", fingerprint: {fingerprint}, class: {class}, distance: 3, \
             leader: \"https://a/1\", size: 7}}"
        )
    };
    let shown = [shown("null", "null"), shown("4294967295", "18446744073709551615")];
    assert_eq!(rows(&bytes), shown);
}
