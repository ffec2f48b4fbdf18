//! The rows of the catalog's tables.

use byteorder::{ByteOrder, LittleEndian};

use crate::disk::FileName;
use crate::error::{Error, Result};
use crate::fingerprint::Bands;
use crate::layout::{Cursor, PutInteger, url_hash_bits};
use crate::page::{Epoch, EpochInfo, Role, in_use};

/// An exclusive upper bound of the numbers of operations, segments and changes of any store.
pub(super) const SEQUENCES_END: u64 = 1 << 62;

/// The format version of a catalog that this build writes and reads.
pub(super) const VERSION: u32 = 6;

pub(super) const FORMAT: &str = "format";
pub(super) const STORE_ID: &str = "store_id";
pub(super) const URL_SEED: &str = "url_seed";
pub(super) const URL_HASH_BITS: &str = "url_hash_bits";
pub(super) const NEXT_SEGMENT: &str = "next_segment";
pub(super) const CHANGES: &str = "changes";
/// The key of a setting that is present while the store is unfinished.
pub(super) const UNFINISHED: &str = "unfinished";

/// The settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// A random number that identifies the store. Copies of the store share it.
    pub(crate) store: u64,
    /// Seed of the URL hash.
    pub(crate) url_seed: u64,
    /// The number of the next segment.
    pub(crate) next_segment: u64,
    /// The number of commits that changed more than the journal.
    pub(crate) changes: u64,
    /// Whether the load that creates the store is incomplete.
    pub(crate) unfinished: bool,
}

/// Checks that this build can read a store whose URL hashes have `bits` bits, according to the file
/// `name`.
pub(super) fn check_url_hash_bits(name: FileName, bits: u64) -> Result<()> {
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
    /// The checksum of the segment's trailer, which identifies the file.
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

    pub(super) fn parse(id: u64, bytes: &[u8]) -> Option<SegmentRow> {
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        let mut cursor = Cursor::new(body);
        let row = Self::take(&mut cursor)?;
        let sound = crc32fast::hash(body) == LittleEndian::read_u32(sum);
        (sound && cursor.is_empty() && row.id == id).then_some(row)
    }
}

/// The maximum number of epochs of a store: as many as fit into a `SNAPSHOT`.
pub(crate) const EPOCHS_MAX: usize = 1 << 15;

/// The maximum length of an epoch's name in bytes.
const EPOCH_NAME_MAX: usize = 256;

/// Whether an epoch may have the given name.
pub(crate) fn is_epoch_name(name: &str) -> bool {
    (1..=EPOCH_NAME_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// Flags of an epoch: ended; detects changes only; finds near-duplicates only.
const ENDED: u32 = 1;
const CHANGE: u32 = 1 << 1;
const NEAR: u32 = 1 << 2;

fn role_flags(role: Role) -> u32 {
    match role {
        Role::Both => 0,
        Role::Change => CHANGE,
        Role::Near => NEAR,
    }
}

/// Appends an epoch, packed.
pub(super) fn put_epoch(out: &mut Vec<u8>, epoch: &EpochInfo) {
    out.put_u32(epoch.epoch.0);
    let ended = if epoch.ended { ENDED } else { 0 };
    out.put_u32(role_flags(epoch.role) | ended);
    out.put_u64(epoch.begun);
    out.put_u32(epoch.bands.minor);
    out.put_u32(epoch.bands.moderate);
    out.extend_from_slice(epoch.name.as_bytes());
}

/// Parses the epoch with number `count` from exactly the given bytes.
pub(super) fn take_epoch(count: usize, bytes: &[u8]) -> Option<EpochInfo> {
    let mut cursor = Cursor::new(bytes);
    let (epoch, flags, begun) = (Epoch(cursor.u32()?), cursor.u32()?, cursor.u64()?);
    let bands = Bands { minor: cursor.u32()?, moderate: cursor.u32()? };
    let name = str::from_utf8(cursor.rest()).ok()?;
    let mut roles = [Role::Both, Role::Change, Role::Near].into_iter();
    let role = roles.find(|role| role_flags(*role) == flags & !ENDED)?;
    let fits = epoch.count() as usize == count
        && count < EPOCHS_MAX
        && epoch.is_possible()
        && begun < SEQUENCES_END
        && bands.are_possible()
        && is_epoch_name(name);
    let ended = flags & ENDED != 0;
    fits.then(|| EpochInfo { epoch, name: name.to_owned(), begun, role, bands, ended })
}

/// Checks that epoch names are unique, and that each use has an epoch that has not ended. The error
/// describes the problem.
pub(super) fn check_epochs(epochs: &[EpochInfo]) -> Result<(), String> {
    let mut names: Vec<&str> = epochs.iter().map(|epoch| epoch.name.as_str()).collect();
    names.sort_unstable();
    match names.array_windows().find(|[one, other]| one == other) {
        Some([name, _]) => Err(format!("two epochs are called {name}")),
        None if epochs.is_empty() => Err("there is no epoch".to_owned()),
        None if Role::USES.iter().any(|is_for| in_use(epochs, *is_for).is_none()) => {
            Err("no living epoch detects changes, or no living epoch finds near-duplicates"
                .to_owned())
        }
        None => Ok(()),
    }
}

/// Encodes the row of an epoch.
pub(super) fn of_epoch(epoch: &EpochInfo) -> Vec<u8> {
    let mut row = Vec::new();
    put_epoch(&mut row, epoch);
    row.put_u32(crc32fast::hash(&row));
    row
}

/// Parses the epoch with number `count`; `None` if its row is damaged.
pub(super) fn parse_epoch(count: usize, row: &[u8]) -> Option<EpochInfo> {
    let (body, sum) = row.split_last_chunk::<4>()?;
    let sound = crc32fast::hash(body) == LittleEndian::read_u32(sum);
    take_epoch(count, body).filter(|_| sound)
}

/// The operations of one commit: one frame of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JournalFrame {
    /// Sequence number of the first operation.
    pub(crate) first_sequence: u64,
    /// The number of operations.
    pub(crate) count: u32,
    /// The operations, packed.
    pub(crate) bytes: Vec<u8>,
}

type JournalTable<'t> = redb::Table<'t, (u64, u32), &'static [u8]>;

impl JournalFrame {
    /// The length of a part in bytes: with redb's own overhead a part fills 64 KiB, a size that
    /// redb allocates.
    pub(super) const PART_BYTES: usize = (64 << 10) - 256;
    /// The maximum number of parts in a frame. Another frame is started at 16 MiB.
    pub(super) const PARTS_MAX: u32 = 512;
    const HEADER_BYTES: usize = 20;

    pub(crate) fn last_sequence(&self) -> u64 {
        self.first_sequence + u64::from(self.count) - 1
    }

    /// Encodes the frame: sequence, count, length, a checksum of these three and of the operations;
    /// then the operations. The frame is stored in parts of [`PART_BYTES`](Self::PART_BYTES).
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

    /// The length of the frame that starts with these bytes, according to the frame's header.
    pub(super) fn frame_bytes(frame: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(frame.get(12..)?);
        usize::try_from(cursor.u32()?).ok()?.checked_add(Self::HEADER_BYTES)
    }

    pub(super) fn parse(key: u64, frame: &[u8]) -> Option<JournalFrame> {
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
        sound.then(|| JournalFrame { first_sequence, count, bytes: bytes.to_vec() })
    }
}

/// Checks that each segment starts immediately after the last operation of the previous segment.
pub(super) fn check_rows(segments: &[SegmentRow]) -> Result<(), String> {
    let mut next = 1;
    for row in segments {
        if row.first_sequence != next || !(next..SEQUENCES_END).contains(&row.last_sequence) {
            let SegmentRow { id, first_sequence, last_sequence, .. } = row;
            return Err(format!(
                "segment {id} has operations {first_sequence} to {last_sequence}, but operation \
                 {next} must come next"
            ));
        }
        next = row.last_sequence + 1;
    }
    Ok(())
}
