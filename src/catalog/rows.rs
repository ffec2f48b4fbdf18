//! The rows of the catalog's tables.

use byteorder::{ByteOrder, LittleEndian};
use redb::{Key, TableHandle, Value};

use super::tree::{Table, Tree, Widths};
use super::{
    Contents, EPOCHS, Error, Journal, Name, Result, SEGMENTS, SETTINGS, WriteTransaction, guarded,
};
use crate::layout::{Cursor, Put};
use crate::page::{Epoch, EpochInfo};

/// No store ever has so many operations, segments or changes.
const SEQUENCES_END: u64 = 1 << 62;

/// The format version of a catalog that this build writes and reads.
const VERSION: u32 = 2;

const FORMAT: &str = "format";
pub(super) const STORE_ID: &str = "store_id";
const URL_SEED: &str = "url_seed";
const URL_HASH_BITS: &str = "url_hash_bits";
pub(super) const NEXT_SEGMENT: &str = "next_segment";
pub(super) const CHANGES: &str = "changes";
/// Present as long as the store is unfinished.
pub(super) const UNFINISHED: &str = "unfinished";

/// The settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// A random number that tells this store from all others. Copies of it have the same.
    pub(crate) store: u64,
    /// Seed of the URL hash.
    pub(crate) url_seed: u64,
    /// The number of the next segment.
    pub(crate) next_segment: u64,
    /// How many commits changed something else than the journal.
    pub(crate) changes: u64,
    /// Whether the load that creates the store is not complete yet.
    pub(crate) unfinished: bool,
}

/// Bits of the URL hash in this build.
pub(super) fn url_hash_bits() -> u64 {
    if cfg!(narrow_hash) { 8 } else { 64 }
}

/// Whether this build reads a store whose URL hashes have so many bits, as a file says.
pub(super) fn check_url_hash_bits(name: Name, bits: u64) -> Result<()> {
    let own = url_hash_bits();
    if bits == own {
        return Ok(());
    }
    Err(Error::UrlHash { file: name.to_string(), found: bits, reads: own })
}

/// A live segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentRow {
    pub(crate) id: u64,
    pub(crate) first_sequence: u64,
    pub(crate) last_sequence: u64,
    /// Bytes of the file.
    pub(crate) bytes: u64,
    /// The checksum of its trailer: no other file has this row.
    pub(crate) checksum: u32,
}

impl SegmentRow {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out.put_u32(crc32fast::hash(&out));
        out
    }

    pub(super) fn put(self, out: &mut Vec<u8>) {
        for word in [self.id, self.first_sequence, self.last_sequence, self.bytes] {
            out.put_u64(word);
        }
        out.put_u32(self.checksum);
    }

    pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<SegmentRow> {
        Some(SegmentRow {
            id: cursor.u64()?,
            first_sequence: cursor.u64()?,
            last_sequence: cursor.u64()?,
            bytes: cursor.u64()?,
            checksum: cursor.u32()?,
        })
    }

    fn parse(id: u64, bytes: &[u8]) -> Option<SegmentRow> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let mut cursor = Cursor::new(body);
        let row = Self::take(&mut cursor)?;
        let sound = crc32fast::hash(body) == LittleEndian::read_u32(sum);
        (sound && cursor.is_empty() && row.id == id).then_some(row)
    }
}

/// The most epochs of a store: this many fit into a `SNAPSHOT`.
pub(crate) const EPOCHS_MAX: usize = 1 << 15;

/// Bytes of an epoch's name at most.
const EPOCH_NAME_MAX: usize = 256;

/// Whether an epoch may have this name.
pub(crate) fn is_epoch_name(name: &str) -> bool {
    (1..=EPOCH_NAME_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// The epoch has ended.
const ENDED: u32 = 1;

/// An epoch, packed.
pub(super) fn put_epoch(out: &mut Vec<u8>, epoch: &EpochInfo) {
    out.put_u32(epoch.epoch.0);
    let flags = if epoch.ended { ENDED } else { 0 };
    out.put_u32(flags);
    out.put_u64(epoch.begun);
    out.extend_from_slice(epoch.name.as_bytes());
}

/// What is packed in all of these bytes: the epoch of this count.
pub(super) fn take_epoch(count: usize, bytes: &[u8]) -> Option<EpochInfo> {
    let mut cursor = Cursor::new(bytes);
    let (epoch, flags, begun) = (Epoch(cursor.u32()?), cursor.u32()?, cursor.u64()?);
    let name = str::from_utf8(cursor.rest()).ok()?;
    let fits = epoch.count() as usize == count
        && count < EPOCHS_MAX
        && epoch.is_possible()
        && flags & !ENDED == 0
        && begun < SEQUENCES_END
        && is_epoch_name(name);
    fits.then(|| EpochInfo { epoch, name: name.to_owned(), begun, ended: flags & ENDED != 0 })
}

/// Checks that no two epochs have the same name; an error says what is wrong.
pub(super) fn check_epoch_names(epochs: &[EpochInfo]) -> Result<(), String> {
    let mut names: Vec<&str> = epochs.iter().map(|epoch| epoch.name.as_str()).collect();
    names.sort_unstable();
    match names.array_windows().find(|[one, other]| one == other) {
        Some([name, _]) => Err(format!("two epochs are called {name}")),
        None => Ok(()),
    }
}

/// The row of an epoch.
pub(super) fn of_epoch(epoch: &EpochInfo) -> Vec<u8> {
    let mut row = Vec::new();
    put_epoch(&mut row, epoch);
    row.put_u32(crc32fast::hash(&row));
    row
}

/// The epoch of this count, if its row is sound.
pub(super) fn parse_epoch(count: usize, row: &[u8]) -> Option<EpochInfo> {
    let (body, sum) = row.split_last_chunk::<4>()?;
    let sound = crc32fast::hash(body) == LittleEndian::read_u32(sum);
    take_epoch(count, body).filter(|_| sound)
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

    pub(crate) fn last_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.count) - 1
    }

    /// The frame: sequence, count, length, checksum of those and of the operations; then the
    /// operations. It is stored in parts of [`PART_BYTES`](Self::PART_BYTES).
    #[expect(clippy::expect_used, reason = "another blob is begun long before")]
    fn frame(&self) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.bytes.len() + Self::HEADER_BYTES);
        frame.put_u64(self.first_sequence);
        frame.put_u32(self.count);
        let len = u32::try_from(self.bytes.len()).expect("a blob has less than 4 GiB");
        frame.put_u32(len);
        let mut sum = crc32fast::Hasher::new();
        sum.update(&frame);
        sum.update(&self.bytes);
        frame.put_u32(sum.finalize());
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
        let (header, bytes) = frame.split_first_chunk::<{ Self::HEADER_BYTES }>()?;
        let (fields, _) = header.split_at(Self::HEADER_BYTES - 4);
        let mut cursor = Cursor::new(header);
        let (first_sequence, count) = (cursor.u64()?, cursor.u32()?);
        let (len, expected) = (cursor.u32()?, cursor.u32()?);
        let mut sum = crc32fast::Hasher::new();
        sum.update(fields);
        sum.update(bytes);
        let sound = sum.finalize() == expected
            && first_sequence == key
            && (1..SEQUENCES_END).contains(&first_sequence)
            && count > 0
            && len as usize == bytes.len();
        sound.then(|| Blob { first_sequence, count, bytes: bytes.to_vec() })
    }
}

fn damaged(what: impl Into<String>) -> Error {
    Error::corrupt(Name::Catalog, 0, what)
}

/// Checks that each segment begins where the one before it ends.
pub(super) fn check_rows(segments: &[SegmentRow]) -> Result<(), String> {
    let mut next = 1;
    for row in segments {
        if row.first_sequence != next || !(next..SEQUENCES_END).contains(&row.last_sequence) {
            let SegmentRow { id, first_sequence, last_sequence, .. } = row;
            return Err(format!(
                "segment {id} has operations {first_sequence} to {last_sequence}, and {next} is the next"
            ));
        }
        next = row.last_sequence + 1;
    }
    Ok(())
}

/// Reads the whole catalog into memory, and all of redb's own pages besides.
pub(super) fn read(tree: &mut Tree<'_>) -> Result<Contents> {
    let tables = tree.tables()?;
    let settings = settings(tree, &tables)?;

    let mut segments = Vec::new();
    rows(tree, &tables, SEGMENTS, |id, row| {
        let row = SegmentRow::parse(id, row);
        segments.push(
            row.ok_or_else(|| damaged(format!("the entry of segment {id} is not readable")))?,
        );
        Ok(())
    })?;
    segments.sort_unstable_by_key(|row| row.first_sequence);
    check_rows(&segments).map_err(damaged)?;
    if let Some(row) = segments.iter().find(|row| row.id >= settings.next_segment) {
        let what =
            format!("the next segment would be {}, {} is live", settings.next_segment, row.id);
        return Err(damaged(what));
    }

    let mut epochs = Vec::new();
    rows(tree, &tables, EPOCHS, |number, row| {
        if number as usize != epochs.len() {
            return Err(damaged("the epochs are not numbered one after another"));
        }
        let epoch = parse_epoch(epochs.len(), row);
        epochs.push(
            epoch.ok_or_else(|| damaged(format!("the entry of epoch {number} is not readable")))?,
        );
        Ok(())
    })?;

    check_epoch_names(&epochs).map_err(damaged)?;

    let mut journals = [(Journal::A, Vec::new()), (Journal::B, Vec::new())];
    for (journal, blobs) in &mut journals {
        let mut frames = Frames::default();
        rows(tree, &tables, journal.table(), |key, part| {
            blobs.extend(frames.push(key, part)?);
            Ok(())
        })?;
        blobs.extend(frames.end()?);
    }
    tree.check_system()?;
    Ok(Contents { settings, segments, epochs, journals })
}

/// Puts the parts of frames together, which come in the order of their keys.
#[derive(Default)]
struct Frames {
    key: u64,
    parts: u32,
    bytes: Vec<u8>,
}

impl Frames {
    /// The frame before, if this is the first part of another.
    fn push(&mut self, (key, part): (u64, u32), bytes: &[u8]) -> Result<Option<Blob>> {
        let before = if part == 0 { self.end()? } else { None };
        if part > 0 && key != self.key || part != self.parts {
            return Err(damaged(format!("the journal is not readable at operation {key}")));
        }
        self.key = key;
        self.parts += 1;
        self.bytes.extend_from_slice(bytes);
        Ok(before)
    }

    fn end(&mut self) -> Result<Option<Blob>> {
        if std::mem::take(&mut self.parts) == 0 {
            return Ok(None);
        }
        let blob = Blob::parse(self.key, &std::mem::take(&mut self.bytes));
        blob.map(Some).ok_or_else(|| {
            damaged(format!("the journal is not readable at operation {}", self.key))
        })
    }
}

fn settings(tree: &mut Tree<'_>, tables: &[Table]) -> Result<Settings> {
    let mut found = Vec::new();
    rows(tree, tables, SETTINGS, |name, value| {
        found.push((name.to_owned(), value));
        Ok(())
    })?;
    let get = |name: &str| {
        let row = found.iter().find(|(k, _)| k == name);
        row.map(|(_, v)| *v).ok_or_else(|| damaged(format!("the setting {name} is not there")))
    };
    let counted = |name: &str| match get(name)? {
        number if number < SEQUENCES_END => Ok(number),
        number => Err(damaged(format!("the setting {name} is {number}, more than any store has"))),
    };
    let version = get(FORMAT)?;
    let number = u32::try_from(version)
        .map_err(|_| damaged(format!("the setting {FORMAT} is {version}, as no version has it")))?;
    if number != VERSION {
        let file = Name::Catalog.to_string();
        return Err(Error::Version { file, found: number, reads: VERSION });
    }
    check_url_hash_bits(Name::Catalog, get(URL_HASH_BITS)?)?;
    Ok(Settings {
        store: get(STORE_ID)?,
        url_seed: get(URL_SEED)?,
        next_segment: counted(NEXT_SEGMENT)?,
        changes: counted(CHANGES)?,
        unfinished: found.iter().any(|(name, _)| name == UNFINISHED),
    })
}

/// All rows of a table, which may be missing.
fn rows<K, V>(
    tree: &mut Tree<'_>,
    tables: &[Table],
    definition: redb::TableDefinition<'_, K, V>,
    mut take: impl FnMut(K::SelfType<'_>, V::SelfType<'_>) -> Result<()>,
) -> Result<()>
where
    K: Key + 'static,
    V: Value + 'static,
{
    let name = definition.name();
    let Some(table) = tables.iter().find(|table| table.name == name) else { return Ok(()) };
    if table.widths != (Widths { key: K::fixed_width(), value: V::fixed_width() }) {
        return Err(damaged(format!("its table {name} is not one that simkeep makes")));
    }
    tree.rows(table, &mut |row| {
        // Where a checksum does not hold, that was told.
        if !row.sound {
            return Ok(());
        }
        // redb panics on a text that is none.
        guarded(|| Ok((K::from_bytes(row.key), V::from_bytes(row.value))))
            .and_then(|(key, value)| take(key, value))
    })
}

/// Writes all of a catalog into an empty database.
pub(super) fn write(
    transaction: &WriteTransaction,
    contents: &Contents,
) -> Result<(), redb::Error> {
    let mut settings = transaction.open_table(SETTINGS)?;
    settings.insert(FORMAT, u64::from(VERSION))?;
    settings.insert(STORE_ID, contents.settings.store)?;
    settings.insert(URL_SEED, contents.settings.url_seed)?;
    settings.insert(URL_HASH_BITS, url_hash_bits())?;
    settings.insert(NEXT_SEGMENT, contents.settings.next_segment)?;
    settings.insert(CHANGES, contents.settings.changes)?;
    if contents.settings.unfinished {
        settings.insert(UNFINISHED, 1)?;
    }
    let mut segments = transaction.open_table(SEGMENTS)?;
    for row in &contents.segments {
        segments.insert(row.id, row.to_bytes().as_slice())?;
    }
    let mut epochs = transaction.open_table(EPOCHS)?;
    for epoch in &contents.epochs {
        epochs.insert(epoch.epoch.count(), of_epoch(epoch).as_slice())?;
    }
    for (journal, blobs) in &contents.journals {
        let mut table = transaction.open_table(journal.table())?;
        for blob in blobs {
            blob.insert_into(&mut table)?;
        }
    }
    Ok(())
}
