//! The rows of the catalog's tables.

use redb::{ReadTransaction, TableError};

use super::{
    Contents, Database, EPOCHS, Error, Journal, Name, ReadableDatabase, ReadableTable, Result,
    SEGMENTS, SETTINGS, WriteTransaction, guarded,
};
use crate::layout::Cursor;

/// The format version of a catalog that this build writes, and the newest that it reads.
const VERSION: u64 = 1;

const FORMAT: &str = "format";
const URL_SEED: &str = "url_seed";
const URL_HASH_BITS: &str = "url_hash_bits";
pub(super) const NEXT_SEGMENT: &str = "next_segment";

/// What a store is made with and keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Seed of the URL hash.
    pub(crate) url_seed: u64,
    /// The number of the next segment.
    pub(crate) next_segment: u64,
}

/// Bits of the URL hash in this build.
pub(super) fn url_hash_bits() -> u64 {
    if cfg!(feature = "narrow-hash") { 8 } else { 64 }
}

/// Whether this build reads a store whose URL hashes have so many bits.
pub(super) fn check_url_hash_bits(bits: u64) -> Result<()> {
    let own = url_hash_bits();
    if bits == own {
        return Ok(());
    }
    Err(Error::Option(format!(
        "this store was made by a build with URL hashes of {bits} bits, and this build has {own}"
    )))
}

/// A live segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentRow {
    pub(crate) id: u64,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    /// Bytes of the file.
    pub(crate) bytes: u64,
}

impl SegmentRow {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut out: Vec<u8> = self.words().iter().flat_map(|w| w.to_le_bytes()).collect();
        out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
        out
    }

    pub(super) fn words(self) -> [u64; 4] {
        [self.id, self.first_sequence, self.last_sequence, self.bytes]
    }

    pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<SegmentRow> {
        Some(SegmentRow {
            id: cursor.u64()?,
            first_sequence: cursor.u64()?,
            last_sequence: cursor.u64()?,
            bytes: cursor.u64()?,
        })
    }

    fn parse(id: u64, bytes: &[u8]) -> Option<SegmentRow> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let mut cursor = Cursor::new(body);
        let row = Self::take(&mut cursor)?;
        let sound = crc32fast::hash(body) == u32::from_le_bytes(*sum);
        (sound && cursor.is_empty() && row.id == id).then_some(row)
    }
}

/// Operations that were committed together: one frame of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    /// Sequence number of the first operation.
    pub(crate) first_sequence: u64,
    /// How many operations.
    pub(crate) count: u32,
    /// The operations, packed.
    pub(crate) bytes: Vec<u8>,
}

type JournalTable<'t> = redb::Table<'t, (u64, u32), &'static [u8]>;

impl Blob {
    /// Bytes of a part: with redb's own overhead it fills 64 KiB, a size that redb allocates.
    const PART_BYTES: usize = (64 << 10) - 256;
    const HEADER_BYTES: usize = 20;

    /// The frame: sequence, count, length, checksum of those and of the operations; then the
    /// operations. It is stored in parts of [`PART_BYTES`](Self::PART_BYTES).
    fn frame(&self) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.bytes.len() + Self::HEADER_BYTES);
        frame.extend_from_slice(&self.first_sequence.to_le_bytes());
        frame.extend_from_slice(&self.count.to_le_bytes());
        let len = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        frame.extend_from_slice(&len.to_le_bytes());
        let mut sum = crc32fast::Hasher::new();
        sum.update(&frame);
        sum.update(&self.bytes);
        frame.extend_from_slice(&sum.finalize().to_le_bytes());
        frame.extend_from_slice(&self.bytes);
        frame
    }

    /// Stores the frame in a journal's table.
    pub(super) fn insert_into(&self, table: &mut JournalTable<'_>) -> Result<(), redb::Error> {
        for (part, bytes) in (0u32..).zip(self.frame().chunks(Self::PART_BYTES)) {
            table.insert((self.first_sequence, part), bytes)?;
        }
        Ok(())
    }

    pub(super) fn parse(key: u64, frame: &[u8]) -> Option<Blob> {
        let (header, bytes) = frame.split_at_checked(Self::HEADER_BYTES)?;
        let mut cursor = Cursor::new(header);
        let (first_sequence, count) = (cursor.u64()?, cursor.u32()?);
        let (len, expected) = (cursor.u32()?, cursor.u32()?);
        let mut sum = crc32fast::Hasher::new();
        sum.update(header.get(..Self::HEADER_BYTES - 4)?);
        sum.update(bytes);
        let sound =
            sum.finalize() == expected && first_sequence == key && len as usize == bytes.len();
        sound.then(|| Blob { first_sequence, count, bytes: bytes.to_vec() })
    }
}

fn damaged(what: impl Into<String>) -> Error {
    Error::corrupt(Name::Catalog, 0, what)
}

/// Whether each segment goes on where the one before it ends.
pub(super) fn check_rows(segments: &[SegmentRow]) -> Result<(), String> {
    let mut next = 1;
    for row in segments {
        if row.first_sequence != next || row.last_sequence < next {
            return Err(format!("segment {} does not begin at operation {next}", row.id));
        }
        next = row.last_sequence.saturating_add(1);
    }
    Ok(())
}

/// Reads the whole catalog into memory.
pub(super) fn read(database: &Database) -> Result<Contents> {
    let transaction = guarded(|| Ok(database.begin_read()?))?;
    let settings = settings(&transaction)?;

    let mut segments = Vec::new();
    for (id, row) in rows(&transaction, SEGMENTS, |k, v| (k, v.to_vec()))? {
        let row = SegmentRow::parse(id, &row);
        segments.push(row.ok_or_else(|| damaged(format!("the row of segment {id}")))?);
    }
    segments.sort_unstable_by_key(|row| row.first_sequence);
    check_rows(&segments).map_err(damaged)?;
    if let Some(row) = segments.iter().find(|row| row.id >= settings.next_segment) {
        let what =
            format!("the next segment would be {}, {} is live", settings.next_segment, row.id);
        return Err(damaged(what));
    }

    let mut epochs = Vec::new();
    for (number, name) in rows(&transaction, EPOCHS, |k, v| (k, v.to_owned()))? {
        if number as usize != epochs.len() {
            return Err(damaged("the epochs are not numbered one after another"));
        }
        epochs.push(name);
    }

    let mut journals = [(Journal::A, Vec::new()), (Journal::B, Vec::new())];
    for (journal, blobs) in &mut journals {
        let parts = rows(&transaction, journal.table(), |k, v| (k, v.to_vec()))?;
        for frame in parts.chunk_by(|a, b| a.0.0 == b.0.0) {
            let key = frame.first().map_or(0, |(k, _)| k.0);
            let whole = frame.iter().zip(0u32..).all(|((k, _), part)| k.1 == part);
            let parts: Vec<&[u8]> = frame.iter().map(|(_, bytes)| bytes.as_slice()).collect();
            let bytes = parts.concat();
            let blob = Blob::parse(key, &bytes).filter(|_| whole);
            blobs.push(blob.ok_or_else(|| damaged(format!("the journal at operation {key}")))?);
        }
    }
    Ok(Contents { settings, segments, epochs, journals })
}

fn settings(transaction: &ReadTransaction) -> Result<Settings> {
    let rows = rows(transaction, SETTINGS, |k, v| (k.to_owned(), v))?;
    let get = |name: &str| {
        let row = rows.iter().find(|(k, _)| k == name);
        row.map(|(_, v)| *v).ok_or_else(|| damaged(format!("the setting {name} is not there")))
    };
    let version = get(FORMAT)?;
    if version > VERSION {
        let (found, newest) = (u32::try_from(version).unwrap_or(u32::MAX), 1);
        return Err(Error::Version { file: Name::Catalog.to_string(), found, newest });
    }
    if version == 0 {
        return Err(damaged("there is no format version 0"));
    }
    check_url_hash_bits(get(URL_HASH_BITS)?)?;
    Ok(Settings { url_seed: get(URL_SEED)?, next_segment: get(NEXT_SEGMENT)? })
}

/// All rows of a table, which may be missing.
fn rows<K, V, T>(
    transaction: &ReadTransaction,
    table: redb::TableDefinition<'_, K, V>,
    take: impl Fn(K::SelfType<'_>, V::SelfType<'_>) -> T,
) -> Result<Vec<T>>
where
    K: redb::Key + 'static,
    V: redb::Value + 'static,
{
    guarded(|| {
        let table = match transaction.open_table(table) {
            Ok(table) => table,
            Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(e) => return Err(e.into()),
        };
        let mut out = Vec::new();
        for row in table.iter()? {
            let (key, value) = row?;
            out.push(take(key.value(), value.value()));
        }
        Ok(out)
    })
}

/// Writes all of a catalog into an empty database.
pub(super) fn write(
    transaction: &WriteTransaction,
    contents: &Contents,
) -> Result<(), redb::Error> {
    let mut settings = transaction.open_table(SETTINGS)?;
    settings.insert(FORMAT, VERSION)?;
    settings.insert(URL_SEED, contents.settings.url_seed)?;
    settings.insert(URL_HASH_BITS, url_hash_bits())?;
    settings.insert(NEXT_SEGMENT, contents.settings.next_segment)?;
    let mut segments = transaction.open_table(SEGMENTS)?;
    for row in &contents.segments {
        segments.insert(row.id, row.to_bytes().as_slice())?;
    }
    let mut epochs = transaction.open_table(EPOCHS)?;
    for (number, name) in (0u32..).zip(&contents.epochs) {
        epochs.insert(number, name.as_str())?;
    }
    for (journal, blobs) in &contents.journals {
        let mut table = transaction.open_table(journal.table())?;
        for blob in blobs {
            blob.insert_into(&mut table)?;
        }
    }
    Ok(())
}
