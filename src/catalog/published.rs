//! The file `SNAPSHOT`: the state that a writer offers to readers in other processes.
//!
//! `SNAPSHOT` copies a part of the catalog, for readers that cannot keep up with the writer. The
//! file is replaced as a whole, so a reader always reads one state. A store without `SNAPSHOT` is
//! sound.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::envelope;
use super::rows::{
    EPOCHS_MAX, SegmentRow, check_epochs, check_rows, check_url_hash_bits, put_epoch, take_epoch,
};
use crate::bug::{self, OrBug};
use crate::disk::{Disk, FileName, NewFile};
use crate::error::{Error, Result};
use crate::layout::{Cursor, PutInteger, url_hash_bits};
use crate::page::EpochInfo;

const MAGIC: [u8; 8] = *b"simksnap";
const VERSION: u32 = 6;

/// The contents of `SNAPSHOT`: a copy of the manifest and of the epochs, with the data needed to
/// read the segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublishedState {
    /// The time when the contents were written, by the writer's clock.
    pub(crate) written: SystemTime,
    /// The store to which the contents belong.
    pub(crate) store: u64,
    /// The number of changes of the catalog's lists at the time of writing.
    pub(crate) changes: u64,
    /// Seed of the URL hash.
    pub(crate) url_seed: u64,
    /// The live segments in order of sequence.
    pub(crate) segments: Vec<SegmentRow>,
    /// The epochs by number.
    pub(crate) epochs: Vec<EpochInfo>,
}

impl PublishedState {
    /// Replaces `SNAPSHOT` durably. Costs two syncs.
    pub(crate) fn write(&self, disk: &Arc<dyn Disk>) -> Result<()> {
        self.check()?;
        let mut file = NewFile::create(Arc::clone(disk), FileName::SnapshotNew)?;
        file.append(&self.to_bytes()?)?;
        file.finish(FileName::Snapshot)?;
        Ok(())
    }

    /// Reads `SNAPSHOT`; `None` if the file does not exist.
    pub(crate) fn read(disk: &dyn Disk) -> Result<Option<PublishedState>> {
        let name = FileName::Snapshot;
        let Some(bytes) = envelope::read(disk, name)? else { return Ok(None) };
        Self::parse(&bytes).map(Some)
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        self.put(&mut body)?;
        envelope::seal(MAGIC, VERSION, &body)
    }

    fn parse(bytes: &[u8]) -> Result<PublishedState> {
        let name = FileName::Snapshot;
        let mut body = Cursor::new(envelope::open(MAGIC, VERSION, name, bytes)?);
        let published = PublishedState::take(name, &mut body)?;
        if body.is_empty() { Ok(published) } else { Err(impossible_lists(name)) }
    }

    /// The last operation in the segments; 0 without segments.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.segments.last().map_or(0, |row| row.last_sequence)
    }

    /// Checks that readers will accept the contents.
    pub(super) fn check(&self) -> Result<()> {
        bug::ensure(
            check_rows(&self.segments).is_ok(),
            "each segment begins after the last operation of the segment before it",
        )?;
        let numbered = (0..).zip(&self.epochs).all(|(count, e)| e.epoch.count() == count);
        Ok(bug::ensure(numbered, "epochs are numbered consecutively")?)
    }

    /// Encodes the contents as a part of a file.
    pub(super) fn put(&self, body: &mut Vec<u8>) -> Result<()> {
        let count = |n: usize| u32::try_from(n).ok().or_bug("a list has fewer entries than 2^32");
        // A clock that was never set may be before 1970.
        let since = self.written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let written = since.as_secs() * 1000 + u64::from(since.subsec_millis());
        body.put_u64(written);
        for word in [self.store, self.changes, self.url_seed, url_hash_bits()] {
            body.put_u64(word);
        }
        body.put_u32(count(self.segments.len())?);
        body.put_u32(count(self.epochs.len())?);
        self.segments.iter().for_each(|row| row.put(body));
        for epoch in &self.epochs {
            let mut packed = Vec::new();
            put_epoch(&mut packed, epoch);
            body.put_u32(count(packed.len())?);
            body.extend_from_slice(&packed);
        }
        Ok(())
    }

    /// Parses the contents at the start of the body of the file `name`.
    pub(super) fn take(name: FileName, cursor: &mut Cursor<'_>) -> Result<PublishedState> {
        let published = Self::take_some(name, cursor).ok_or_else(|| impossible_lists(name))??;
        check_rows(&published.segments).map_err(|what| Error::corrupt(name, 64, what))?;
        check_epochs(&published.epochs).map_err(|what| Error::corrupt(name, 60, what))?;
        Ok(published)
    }

    /// Parses the contents; `None` if the bytes are impossible for a list of segments and epochs.
    fn take_some(name: FileName, cursor: &mut Cursor<'_>) -> Option<Result<PublishedState>> {
        let written = UNIX_EPOCH.checked_add(Duration::from_millis(cursor.u64()?))?;
        let (store, changes, url_seed) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        if let Err(e) = check_url_hash_bits(name, cursor.u64()?) {
            return Some(Err(e));
        }
        let (segments, epochs) = (cursor.u32()?, cursor.u32()?);
        if epochs as usize > EPOCHS_MAX {
            let what = format!("expected at most {EPOCHS_MAX} epochs, found {epochs}");
            return Some(Err(Error::corrupt(name, 60, what)));
        }
        let (rows, names) = (Vec::new(), Vec::new());
        let mut published =
            PublishedState { written, store, changes, url_seed, segments: rows, epochs: names };
        // The count in the file does not cause a memory reservation: entries are read until the
        // file ends.
        for _ in 0..segments {
            published.segments.push(SegmentRow::take(cursor)?);
        }
        for _ in 0..epochs {
            let len = cursor.u32()?;
            let packed = cursor.take(usize::try_from(len).ok()?)?;
            published.epochs.push(take_epoch(published.epochs.len(), packed)?);
        }
        Some(Ok(published))
    }
}

/// The error for lists of segments and epochs that are impossible.
pub(super) fn impossible_lists(name: FileName) -> Error {
    let what = "its lists of segments and epochs are impossible";
    Error::corrupt(name, 16, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;
    use crate::fingerprint::Bands;
    use crate::page::{Epoch, Role};

    fn published() -> PublishedState {
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
            bands: Bands::EXTERNAL,
            ended,
        };
        PublishedState {
            written: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            store: 5,
            changes: 6,
            url_seed: 7,
            segments: vec![row(3, 1, 10), row(9, 11, 11)],
            epochs: vec![epoch(0, "one", true), epoch(1, "zwei", false), epoch(2, "три", false)],
        }
    }

    #[test]
    fn published_list_round_trips() {
        let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
        assert_eq!(PublishedState::read(&*disk).unwrap(), None);
        let empty = PublishedState { segments: vec![], ..published() };
        for published in [published(), empty] {
            published.write(&disk).unwrap();
            assert_eq!(PublishedState::read(&*disk).unwrap(), Some(published));
        }
    }

    #[test]
    fn bit_flips_and_truncation_are_detected() {
        let bytes = published().to_bytes().unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            PublishedState::parse(&bytes).unwrap_err();
        }
        for len in 0..bytes.len() {
            PublishedState::parse(&bytes[..len]).unwrap_err();
        }
    }

    #[test]
    fn wrong_counts_with_a_valid_checksum_are_detected() {
        let bytes = published().to_bytes().unwrap();
        // The offsets of the counts, and of the length of the first name.
        for at in [56, 60, 64 + 2 * 36] {
            for wrong in [0, 1, u32::MAX] {
                let mut bytes = bytes.clone();
                bytes[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
                let end = bytes.len() - 4;
                let sum = crc32fast::hash(&bytes[..end]);
                bytes[end..].copy_from_slice(&sum.to_le_bytes());
                PublishedState::parse(&bytes).unwrap_err();
            }
        }
    }

    #[test]
    fn impossible_epochs_are_detected() {
        let sound = published();
        let long = "n".repeat(257);
        for name in ["", "two\nlines", "one", &long] {
            let mut published = sound.clone();
            published.epochs[2].name = name.to_owned();
            PublishedState::parse(&published.to_bytes().unwrap()).unwrap_err();
        }
        let mut published = sound.clone();
        published.epochs[2].begun = u64::MAX;
        PublishedState::parse(&published.to_bytes().unwrap()).unwrap_err();
        for (minor, moderate) in [(4, 3), (0, 65), (u32::MAX, u32::MAX)] {
            let mut published = sound.clone();
            published.epochs[2].bands = Bands { minor, moderate };
            PublishedState::parse(&published.to_bytes().unwrap()).unwrap_err();
        }
        let mut published = sound.clone();
        published.epochs.iter_mut().for_each(|epoch| epoch.ended = true);
        PublishedState::parse(&published.to_bytes().unwrap()).unwrap_err();
        let epoch = |count: usize| EpochInfo {
            epoch: Epoch::new(count, 0).unwrap(),
            name: format!("{count:0256}"),
            begun: 0,
            role: Role::Both,
            bands: Bands::EXTERNAL,
            ended: false,
        };
        let mut published =
            PublishedState { epochs: (0..EPOCHS_MAX).map(epoch).collect(), ..sound };
        let most = published.to_bytes().unwrap();
        assert!((most.len() as u64) < envelope::BYTES_MAX);
        assert_eq!(PublishedState::parse(&most).unwrap(), published);
        published.epochs.push(epoch(EPOCHS_MAX));
        let error = PublishedState::parse(&published.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(error.contains("byte 60: expected at most 32768 epochs, found 32769"), "{error}");
    }

    #[test]
    fn gap_between_segments_is_detected() {
        let mut published = published();
        published.segments[1].first_sequence = 12;
        PublishedState::parse(&published.to_bytes().unwrap()).unwrap_err();
    }
}
