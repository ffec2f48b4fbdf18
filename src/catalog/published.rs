//! The file `SNAPSHOT`: what a writer publishes for readers in other processes.
//!
//! It copies a part of the catalog, for readers that cannot follow how fast that is written. It is
//! replaced as a whole, so a reader always reads one state. It decides nothing: a store without it is
//! sound.

use byteorder::{ByteOrder, LittleEndian};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::rows::{
    EPOCHS_MAX, SegmentRow, check_epochs, check_rows, check_url_hash_bits, put_epoch, take_epoch,
};
use crate::bug;
use crate::disk::{Access, Disk, Name, NewFile};
use crate::error::{Error, Result};
use crate::layout::{Cursor, Put, in_memory, url_hash_bits};
use crate::page::EpochInfo;

const MAGIC: [u8; 8] = *b"simksnap";
const VERSION: u32 = 5;
/// Magic, version, length, time, store, changes, seed, bits of the hash, two counts.
const HEADER_BYTES: usize = 64;
/// A longer file is not ours: this is enough for some hundred thousand segments.
const BYTES_MAX: u64 = 16 << 20;

/// The contents of `SNAPSHOT`: a copy of the manifest and of the epochs, and what it takes to read
/// the segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Published {
    /// When it was written, by the writer's clock.
    pub(crate) written: SystemTime,
    /// The store that it belongs to.
    pub(crate) store: u64,
    /// How many changes of its lists the catalog had by then.
    pub(crate) changes: u64,
    /// Seed of the URL hash.
    pub(crate) url_seed: u64,
    /// In order of sequence.
    pub(crate) segments: Vec<SegmentRow>,
    /// By number.
    pub(crate) epochs: Vec<EpochInfo>,
}

impl Published {
    /// Replaces the last one, durably. Costs two syncs.
    pub(crate) fn write(&self, disk: &Arc<dyn Disk>) -> Result<()> {
        bug::ensure(check_rows(&self.segments).is_ok(), "segments follow one another")?;
        let numbered = (0..).zip(&self.epochs).all(|(count, e)| e.epoch.count() == count);
        bug::ensure(numbered, "epochs are numbered one after another")?;
        let mut file = NewFile::create(Arc::clone(disk), Name::SnapshotNew)?;
        file.append(&self.to_bytes())?;
        file.finish(Name::Snapshot)?;
        Ok(())
    }

    /// Reads the one that is there; `None` if there is none.
    pub(crate) fn read(disk: &dyn Disk) -> Result<Option<Published>> {
        let name = Name::Snapshot;
        let file = match disk.open(name, Access::Read) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|e| Error::io("open", name, e))?,
        };
        let len = file.size().map_err(|e| Error::io("measure", name, e))?;
        if len > BYTES_MAX {
            let what = format!("expected at most {BYTES_MAX} bytes, found {len}");
            return Err(Error::corrupt(name, 0, what));
        }
        let mut bytes = vec![0; in_memory(len)];
        file.read_at(0, &mut bytes).map_err(|e| Error::io("read", name, e))?;
        Self::parse(&bytes).map(Some)
    }

    #[expect(clippy::expect_used, reason = "a manifest has some hundred segments and epochs")]
    fn to_bytes(&self) -> Vec<u8> {
        let count = |n: usize| u32::try_from(n).expect("fewer than 2^32");
        // A clock that was never set may stand before 1970.
        let since = self.written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let written = since.as_secs() * 1000 + u64::from(since.subsec_millis());
        let mut body = Vec::new();
        body.put_u64(written);
        for word in [self.store, self.changes, self.url_seed, url_hash_bits()] {
            body.put_u64(word);
        }
        body.put_u32(count(self.segments.len()));
        body.put_u32(count(self.epochs.len()));
        self.segments.iter().for_each(|row| row.put(&mut body));
        for epoch in &self.epochs {
            let mut packed = Vec::new();
            put_epoch(&mut packed, epoch);
            body.put_u32(count(packed.len()));
            body.extend_from_slice(&packed);
        }
        let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.put_u32(VERSION);
        bytes.put_u32(count(body.len()));
        bytes.extend_from_slice(&body);
        bytes.put_u32(crc32fast::hash(&bytes));
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<Published> {
        let flaw = |offset: u64, what: &str| Error::corrupt(Name::Snapshot, offset, what);
        let mut cursor = Cursor::new(bytes);
        if cursor.array() != Some(MAGIC) {
            return Err(flaw(0, "it does not begin with the bytes simksnap"));
        }
        let short = || flaw(bytes.len() as u64, "it is cut short");
        let (version, len) = (cursor.u32().ok_or_else(short)?, cursor.u32().ok_or_else(short)?);
        // The checksum is at the end in every version: only a sound file has a version number that
        // can be trusted.
        let (summed, sum) = bytes.split_last_chunk::<4>().ok_or_else(short)?;
        let (expected, found) = (LittleEndian::read_u32(sum), crc32fast::hash(summed));
        if expected != found {
            let what = format!("checksum: expected {expected:08x}, found {found:08x}");
            return Err(flaw(0, &what));
        }
        if version != VERSION {
            let file = Name::Snapshot.to_string();
            return Err(Error::Version { file, found: version, reads: VERSION });
        }
        if len as usize + 20 != bytes.len() {
            return Err(flaw(12, "its length is not that of the file"));
        }
        let (_, body) = summed.split_at(16);
        let body = Cursor::new(body);
        let published = Self::parse_body(body).ok_or_else(|| {
            flaw(16, "its segments or epochs are not as many, or not such, as a store can have")
        })??;
        check_rows(&published.segments).map_err(|what| flaw(64, &what))?;
        check_epochs(&published.epochs).map_err(|what| flaw(60, &what))?;
        Ok(published)
    }

    /// `None` where the bytes do not add up.
    fn parse_body(mut cursor: Cursor<'_>) -> Option<Result<Published>> {
        let written = UNIX_EPOCH.checked_add(Duration::from_millis(cursor.u64()?))?;
        let (store, changes, url_seed) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        if let Err(e) = check_url_hash_bits(Name::Snapshot, cursor.u64()?) {
            return Some(Err(e));
        }
        let (segments, epochs) = (cursor.u32()?, cursor.u32()?);
        if epochs as usize > EPOCHS_MAX {
            let what = format!("expected at most {EPOCHS_MAX} epochs, found {epochs}");
            return Some(Err(Error::corrupt(Name::Snapshot, 60, what)));
        }
        let (rows, names) = (Vec::new(), Vec::new());
        let mut published =
            Published { written, store, changes, url_seed, segments: rows, epochs: names };
        // No memory is reserved by a count from the file: entries are read until they end.
        for _ in 0..segments {
            published.segments.push(SegmentRow::take(&mut cursor)?);
        }
        for _ in 0..epochs {
            let len = cursor.u32()?;
            let packed = cursor.take(usize::try_from(len).ok()?)?;
            published.epochs.push(take_epoch(published.epochs.len(), packed)?);
        }
        cursor.is_empty().then_some(Ok(published))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;
    use crate::fingerprint::Bands;
    use crate::page::{Epoch, Role};

    fn published() -> Published {
        let row = |id, first_sequence, last_sequence| SegmentRow {
            id,
            first_sequence,
            last_sequence,
            bytes: 4096,
            checksum: 0x0102_0304,
        };
        let epoch = |count, name: &str, ended| EpochInfo {
            epoch: Epoch::new(count, 3).unwrap(),
            name: name.to_owned(),
            begun: 7,
            role: Role::Both,
            bands: Bands::READY_MADE,
            ended,
        };
        Published {
            written: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            store: 5,
            changes: 6,
            url_seed: 7,
            segments: vec![row(3, 1, 10), row(9, 11, 11)],
            epochs: vec![epoch(0, "one", true), epoch(1, "zwei", false), epoch(2, "три", false)],
        }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        assert_eq!(Published::read(&*disk).unwrap(), None);
        let empty = Published { segments: vec![], ..published() };
        for published in [published(), empty] {
            published.write(&disk).unwrap();
            assert_eq!(Published::read(&*disk).unwrap(), Some(published));
        }
    }

    #[test]
    fn a_flipped_bit_and_a_missing_end_are_found() {
        let bytes = published().to_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            Published::parse(&bytes).unwrap_err();
        }
        for len in 0..bytes.len() {
            Published::parse(&bytes[..len]).unwrap_err();
        }
    }

    #[test]
    fn counts_that_are_not_true_are_found_behind_a_sound_checksum() {
        let bytes = published().to_bytes();
        // The counts, and the length of the first name.
        for at in [56, 60, 64 + 2 * 36] {
            for wrong in [0, 1, u32::MAX] {
                let mut bytes = bytes.clone();
                bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
                let end = bytes.len() - 4;
                let sum = crc32fast::hash(&bytes[..end]);
                bytes[end..].copy_from_slice(&sum.to_le_bytes());
                Published::parse(&bytes).unwrap_err();
            }
        }
    }

    #[test]
    fn epochs_that_no_store_has_are_found() {
        let sound = published();
        let long = "n".repeat(257);
        for name in ["", "two\nlines", "one", &long] {
            let mut published = sound.clone();
            published.epochs[2].name = name.to_owned();
            Published::parse(&published.to_bytes()).unwrap_err();
        }
        let mut published = sound.clone();
        published.epochs[2].begun = u64::MAX;
        Published::parse(&published.to_bytes()).unwrap_err();
        for (minor, moderate) in [(4, 3), (0, 65), (u32::MAX, u32::MAX)] {
            let mut published = sound.clone();
            published.epochs[2].bands = Bands { minor, moderate };
            Published::parse(&published.to_bytes()).unwrap_err();
        }
        let mut published = sound.clone();
        published.epochs.iter_mut().for_each(|epoch| epoch.ended = true);
        Published::parse(&published.to_bytes()).unwrap_err();
        let epoch = |count: usize| EpochInfo {
            epoch: Epoch::new(count, 0).unwrap(),
            name: format!("{count:0256}"),
            begun: 0,
            role: Role::Both,
            bands: Bands::READY_MADE,
            ended: false,
        };
        let mut published = Published { epochs: (0..EPOCHS_MAX).map(epoch).collect(), ..sound };
        let most = published.to_bytes();
        assert!((most.len() as u64) < BYTES_MAX);
        assert_eq!(Published::parse(&most).unwrap(), published);
        published.epochs.push(epoch(EPOCHS_MAX));
        let error = Published::parse(&published.to_bytes()).unwrap_err().to_string();
        assert!(error.contains("byte 60: expected at most 32768 epochs, found 32769"), "{error}");
    }

    #[test]
    fn a_gap_between_segments_is_found() {
        let mut published = published();
        published.segments[1].first_sequence = 12;
        Published::parse(&published.to_bytes()).unwrap_err();
    }
}
