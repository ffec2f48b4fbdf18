//! Recovery of a damaged catalog: frames of its journals, epochs, and rows of segments.
//!
//! Every page of the file is read, whether or not it is reachable. Each frame, each epoch and each
//! row of a segment has a checksum of its own. The data may be older than the last commit, or
//! belong to a commit that a crash cut short. Sequence numbers decide between versions: no two
//! operations of a store have equal sequence numbers. For two rows with one number, see
//! [`Salvage::frame`].
//!
//! An operation refers to pages by numbers that start again in each of the two journal tables, so
//! operations must be assigned to tables. [`TableRanges`] assigns them on the basis of the pages,
//! because the sequence numbers of each table are one range.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use redb::TableHandle;
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::frames::part_key;
use super::rows::{JournalFrame, SEQUENCES_END, STORE_ID, SegmentRow, parse_epoch};
use super::runs::{PageCollector, TableRanges};
use super::tables::{JOURNALS, SETTINGS};
use super::tree::{ScannedPage, Widths, scan};
use crate::disk::DiskFile;
use crate::error::Result;
use crate::layout::Cursor;
use crate::page::EpochInfo;

const OF_JOURNALS: Widths = Widths { key: Some(12), value: None };
const OF_EPOCHS: Widths = Widths { key: Some(4), value: None };
const OF_SEGMENTS: Widths = Widths { key: Some(8), value: None };
const OF_SETTINGS: Widths = Widths { key: None, value: Some(8) };

/// The maximum number of versions of a row to keep: a file has one current version, plus the
/// versions that damage and crashes have left.
const VERSIONS_MAX: usize = 16;

/// A part of a frame in the file.
#[derive(Debug)]
struct FramePart {
    offset: u64,
    len: u32,
    /// The hash of the part's bytes.
    hash: u64,
    /// Whether some page has another row of the table after this part.
    is_followed: bool,
}

/// The recoverable contents of a damaged catalog. Frames are read from the file on request.
pub(crate) struct Salvage<'f> {
    file: &'f dyn DiskFile,
    /// The number of the store, if a sound row contains it.
    pub(crate) store: Option<u64>,
    /// The epochs from 0 on, up to the first gap.
    pub(crate) epochs: Vec<EpochInfo>,
    /// The rows of segments, including superseded ones.
    pub(crate) segments: Vec<SegmentRow>,
    /// The parts of frames, by the first operation of the frame and the number of the part.
    parts: BTreeMap<(u64, u32), SmallVec<[FramePart; 1]>>,
    /// The assignment of operations to tables.
    pub(crate) runs: TableRanges,
}

/// The state of a catalog at an operation.
pub(crate) enum SalvagedFrame {
    Frame(JournalFrame),
    /// A frame that begins at the operation has a wrong checksum, or lacks parts.
    Damaged,
    /// Two frames begin at the operation or overlap, and it is unknown which was committed.
    Ambiguous,
}

impl<'f> Salvage<'f> {
    /// Reads a file as far as possible, without changing it. Takes about 50 bytes of memory for
    /// each part of a frame and each page, and costs one read of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if the length of the file cannot be read.
    pub(crate) fn read(file: &'f dyn DiskFile) -> Result<Salvage<'f>> {
        let mut found = SalvageScan::default();
        scan(file, &mut |page| {
            found.see(page);
            Ok(())
        })?;
        found.note_followed();
        let stores = found.stores.iter().filter(|(sum, _)| found.settings.contains(sum));
        Ok(Salvage {
            file,
            store: stores.map(|(_, store)| *store).next(),
            epochs: epochs(&found.epochs),
            segments: found.segments.into_values().flatten().collect(),
            parts: found.parts,
            runs: found.pages.finish(),
        })
    }

    /// The operations from `next` on that begin a frame, damaged or not, in order.
    pub(crate) fn begins(&self, next: u64) -> impl Iterator<Item = u64> {
        let keys = self.parts.range((next, 0)..).map(|(key, _)| *key);
        keys.filter(|(_, part)| *part == 0).map(|(sequence, _)| sequence)
    }

    /// Returns the frame that begins with an operation, if a row of the file starts there.
    ///
    /// Two rows with one number belong to one commit if their bytes are equal. Otherwise one row is
    /// damaged, or a crash cut a commit short and another commit reused the number. A later page
    /// has the committed row followed by another row. So a row that is followed by another row is
    /// the committed one.
    pub(crate) fn frame(&self, sequence: u64) -> SalvagedFrame {
        let parts = self.parts.get(&(sequence, 0)).map_or(&[][..], SmallVec::as_slice);
        let mut sound: Vec<(JournalFrame, bool)> =
            parts.iter().filter_map(|first| self.assemble(sequence, first)).collect();
        if sound.is_empty() {
            return SalvagedFrame::Damaged;
        }
        if parts.len() > 1 {
            sound.retain(|(_, is_followed)| *is_followed);
        }
        match sound.pop() {
            Some((blob, is_followed)) if sound.is_empty() => {
                if !is_followed && self.is_overlapped(&blob) {
                    return SalvagedFrame::Ambiguous;
                }
                SalvagedFrame::Frame(blob)
            }
            _ => SalvagedFrame::Ambiguous,
        }
    }

    /// Whether another frame begins within `blob`.
    fn is_overlapped(&self, blob: &JournalFrame) -> bool {
        let mut within = self.begins(blob.first_sequence + 1);
        within.next().is_some_and(|first| first <= blob.last_sequence())
    }

    /// Returns the frame with the first part `first`, if the frame is sound, and whether a page has
    /// a row after the frame's last part.
    fn assemble(&self, sequence: u64, first: &FramePart) -> Option<(JournalFrame, bool)> {
        let mut frame = self.bytes_of(first)?;
        let whole = JournalFrame::frame_bytes(&frame)?;
        let mut is_followed = first.is_followed;
        let mut number = 1;
        while let Some(rest) = whole.checked_sub(frame.len()).filter(|rest| *rest > 0) {
            let len = rest.min(JournalFrame::PART_BYTES);
            let versions = self.parts.get(&(sequence, number))?;
            let fits = || versions.iter().filter(|part| usize::try_from(part.len) == Ok(len));
            let part = fits().find(|part| part.is_followed).or_else(|| fits().next())?;
            frame.extend_from_slice(&self.bytes_of(part)?);
            is_followed = part.is_followed;
            number += 1;
        }
        Some((JournalFrame::parse(sequence, &frame)?, is_followed))
    }

    fn bytes_of(&self, part: &FramePart) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(part.len).ok()?];
        self.file.read_at(part.offset, &mut bytes).ok()?;
        Some(bytes)
    }
}

/// The data found so far.
#[derive(Default)]
struct SalvageScan {
    /// The roots of settings tables.
    settings: BTreeSet<u128>,
    /// The numbers of stores, each with the checksum of its page.
    stores: BTreeSet<(u128, u64)>,
    epochs: BTreeMap<u32, Vec<EpochInfo>>,
    segments: BTreeMap<u64, Vec<SegmentRow>>,
    parts: BTreeMap<(u64, u32), SmallVec<[FramePart; 1]>>,
    pages: PageCollector,
    /// The last row of each leaf, by the leaf's checksum: the key of the part, and the hash of the
    /// part's bytes.
    last_rows: HashMap<u128, ((u64, u32), u64)>,
}

impl SalvageScan {
    fn see(&mut self, page: &ScannedPage<'_>) {
        let children = page.children(OF_JOURNALS);
        if !children.is_empty() {
            // A branch of another table refers to no leaf of a journal.
            self.pages.branch(page.sum(OF_JOURNALS), children);
            return;
        }
        self.see_journal(page);
        for row in page.rows(OF_EPOCHS) {
            let count = Cursor::new(row.key).u32();
            let at = count.and_then(|count| usize::try_from(count).ok());
            if let Some((count, epoch)) = count.zip(at.and_then(|at| parse_epoch(at, row.value))) {
                add(self.epochs.entry(count).or_default(), epoch);
            }
        }
        for row in page.rows(OF_SEGMENTS) {
            let id = Cursor::new(row.key).u64();
            if let Some(row) = id.and_then(|id| SegmentRow::parse(id, row.value)) {
                add(self.segments.entry(row.id).or_default(), row);
            }
        }
        for row in page.rows(OF_SETTINGS).iter().filter(|row| row.key == STORE_ID.as_bytes()) {
            let store = Cursor::new(row.value).u64();
            self.stores.extend(page.sum(OF_SETTINGS).zip(store));
        }
        for (name, root) in page.tables() {
            let Some(root) = root else { continue };
            if name == SETTINGS.name() {
                self.settings.insert(root);
            } else if JOURNALS.iter().any(|journal| journal.name() == name) {
                self.pages.root(root);
            }
        }
    }

    /// Adds the rows of a journal leaf. Leaves of other tables may look like a journal leaf. For
    /// [`PageCollector`] a row counts only if its frame begins with the number in its key, or if
    /// the row is a full part.
    fn see_journal(&mut self, page: &ScannedPage<'_>) {
        let mut range: Option<(u64, u64)> = None;
        let sum = page.sum(OF_JOURNALS);
        for row in page.rows(OF_JOURNALS) {
            let Some(key @ (sequence, number)) = part_key(row.key) else { continue };
            let begins = number == 0 && Cursor::new(row.value).u64() == Some(sequence);
            let is_whole = row.value.len() == JournalFrame::PART_BYTES;
            let is_part =
                number < JournalFrame::PARTS_MAX && row.value.len() <= JournalFrame::PART_BYTES;
            let is_sequence = (1..SEQUENCES_END).contains(&sequence);
            let len = u32::try_from(row.value.len()).ok().filter(|_| is_sequence && is_part);
            let Some(len) = len.filter(|len| *len > 0 && (begins || number > 0)) else { continue };
            if begins || is_whole {
                let (least, most) = range.unwrap_or((sequence, sequence));
                range = Some((least.min(sequence), most.max(sequence)));
            }
            let hash = xxh3_64(row.value);
            if let Some(sum) = sum.filter(|_| row.is_last) {
                self.last_rows.insert(sum, (key, hash));
            }
            let part = FramePart { offset: row.offset, len, hash, is_followed: !row.is_last };
            let versions = self.parts.entry(key).or_default();
            let is_full = versions.len() == VERSIONS_MAX;
            match versions.iter_mut().find(|same| (same.hash, same.len) == (hash, len)) {
                Some(same) => same.is_followed |= part.is_followed,
                None if is_full => {}
                None => versions.push(part),
            }
        }
        if let Some((least, most)) = range {
            self.pages.leaf(sum, least, most);
        }
    }

    /// Marks the last rows of leaves that are followed by another leaf.
    fn note_followed(&mut self) {
        for sum in self.pages.followed() {
            let Some((key, hash)) = self.last_rows.get(&sum) else { continue };
            let versions = self.parts.get_mut(key).map_or(&mut [][..], SmallVec::as_mut_slice);
            let same = versions.iter_mut().find(|part| part.hash == *hash);
            same.into_iter().for_each(|part| part.is_followed = true);
        }
    }
}

/// Adds a version of a row, unless it is known.
fn add<T: PartialEq>(versions: &mut Vec<T>, version: T) {
    if versions.len() < VERSIONS_MAX && !versions.contains(&version) {
        versions.push(version);
    }
}

/// Returns the epochs from 0 on, up to the first epoch that is missing or has two different rows.
/// An ended epoch may have an older row without the flag.
fn epochs(found: &BTreeMap<u32, Vec<EpochInfo>>) -> Vec<EpochInfo> {
    let mut epochs: Vec<EpochInfo> = Vec::new();
    for (number, (count, versions)) in (0..).zip(found) {
        let ended = versions.iter().find(|epoch| epoch.ended).or_else(|| versions.first());
        let Some(epoch) = ended.filter(|_| *count == number) else { break };
        let same = |other: &EpochInfo| EpochInfo { ended: true, ..other.clone() };
        let is_one = versions.iter().all(|other| same(other) == same(epoch));
        if !is_one || epochs.iter().any(|other| other.name == epoch.name) {
            break;
        }
        epochs.push(epoch.clone());
    }
    epochs
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::catalog::{Catalog, CatalogContents, Journal, StoreLocks};
    use crate::disk::{Access, Disk, FileName, LockMode, SimDisk};
    use crate::fingerprint::Bands;
    use crate::page::Epoch;
    use crate::page::Role;

    /// Returns a catalog after commits of blobs with the given sizes in bytes, with one operation
    /// each.
    fn catalog(sizes: &[usize]) -> (Vec<u8>, Vec<JournalFrame>) {
        let blobs: Vec<JournalFrame> =
            (1..).zip(sizes).map(|(first, size)| blob(first, *size)).collect();
        let commits: Vec<_> = blobs.iter().map(std::slice::from_ref).collect();
        (file(&commits), blobs)
    }

    /// A blob of one operation.
    fn blob(first_sequence: u64, size: usize) -> JournalFrame {
        let byte = u8::try_from(first_sequence % 251).unwrap();
        JournalFrame { first_sequence, count: 1, bytes: vec![byte; size] }
    }

    /// Returns the file of a catalog after the given commits.
    fn file(commits: &[&[JournalFrame]]) -> Vec<u8> {
        file_with(commits, None)
    }

    /// Returns the file of a catalog after the given commits and a commit that lists a segment.
    fn file_with(commits: &[&[JournalFrame]], segment: Option<SegmentRow>) -> Vec<u8> {
        let sim = SimDisk::new();
        let disk: Arc<dyn Disk> = Arc::new(sim.clone());
        disk.create_dirs(crate::disk::Dir::STORE).unwrap();
        let mut locks = StoreLocks::take(&*disk, LockMode::Exclusive).unwrap();
        let epoch = EpochInfo {
            epoch: Epoch(0),
            name: "the only one".to_owned(),
            begun: 0,
            role: Role::Both,
            bands: Bands::EXTERNAL,
            ended: false,
        };
        locks.follow(
            Catalog::create(&disk, &CatalogContents::new(&*disk, vec![epoch], false)).unwrap(),
        );
        let (catalog, _) = Catalog::open(&disk, locks).unwrap();
        for commit in commits {
            let blobs: Vec<_> = commit.iter().map(|blob| (Journal::A, blob.clone())).collect();
            catalog.append(&blobs).unwrap();
        }
        if let Some(row) = segment {
            catalog.seal(&row, Journal::B, row.id + 1).unwrap();
        }
        let mut files = sim.contents().into_iter();
        files.find(|(name, _)| *name == FileName::Catalog).unwrap().1
    }

    /// Returns a file with all pages of the given files, as damage and crashes may leave it.
    fn joined(files: &[Vec<u8>]) -> Vec<u8> {
        let pages = |file: &Vec<u8>| file.len().next_multiple_of(4096);
        let padded = files.iter().flat_map(|file| {
            let padding = std::iter::repeat_n(0, pages(file) - file.len());
            file.iter().copied().chain(padding)
        });
        padded.collect()
    }

    fn saved(found: &Salvage<'_>, sequence: u64) -> Option<JournalFrame> {
        match found.frame(sequence) {
            SalvagedFrame::Frame(blob) => Some(blob),
            SalvagedFrame::Damaged => panic!("{sequence} is damaged"),
            SalvagedFrame::Ambiguous => None,
        }
    }

    fn with_salvage(file: Vec<u8>, run: impl FnOnce(&Salvage<'_>)) {
        let disk = SimDisk::of([(FileName::Catalog, file)]);
        let file = disk.open(FileName::Catalog, Access::Read).unwrap();
        run(&Salvage::read(&*file).unwrap());
    }

    fn sizes() -> impl Strategy<Value = Vec<usize>> {
        prop::collection::vec(prop_oneof![8 => 1..300usize, 1 => 60_000..200_000usize], 1..80)
    }

    #[test]
    fn catalog_without_a_header_yields_frames_and_epochs() {
        let (mut file, blobs) = catalog(&[40; 300]);
        file[..4096].fill(0);
        with_salvage(file, |found| {
            assert_eq!(found.begins(1).count(), 300);
            for blob in &blobs {
                let saved = found.frame(blob.first_sequence);
                assert!(matches!(saved, SalvagedFrame::Frame(saved) if saved == *blob));
            }
            assert!(found.store.is_some() && found.epochs.len() == 1);
            assert!(found.runs.share_table(1, 300) && found.runs.starts_with(1));
            assert!(!found.runs.starts_with(2));
        });
    }

    #[test]
    fn frame_with_successors_wins_over_another_version() {
        let [one, two, three] = [1, 2, 3].map(|first| blob(first, 40));
        let other = blob(2, 41);
        let all = [one.clone(), two.clone(), three.clone()];
        let versions = |another: &[JournalFrame]| joined(&[file(&[&all]), file(&[another])]);
        with_salvage(versions(&[one.clone(), other.clone()]), |found| {
            assert_eq!(saved(found, 2), Some(two.clone()));
        });
        // Both rows are followed by another row, or neither is.
        with_salvage(versions(&[one.clone(), other.clone(), three]), |found| {
            assert_eq!(saved(found, 2), None);
        });
        let ends = [file(&[&[one.clone(), two]]), file(&[&[one, other]])];
        with_salvage(joined(&ends), |found| assert_eq!(saved(found, 2), None));
    }

    #[test]
    fn last_frame_of_a_leaf_continues_in_the_next() {
        let blobs: Vec<JournalFrame> = (1..=200).map(|first| blob(first, 40)).collect();
        let written = file(&[&blobs]);
        for (before, committed) in blobs[..199].iter().enumerate() {
            let sequence = committed.first_sequence;
            let cut = [&blobs[..before], &[blob(sequence, 41)]].concat();
            with_salvage(joined(&[written.clone(), file(&[&cut])]), |found| {
                assert_eq!(saved(found, sequence).as_ref(), Some(committed));
            });
        }
    }

    #[test]
    fn last_frame_overlapping_another_is_ambiguous() {
        let long = JournalFrame { count: 3, ..blob(2, 40) };
        let alone = file(&[&[blob(1, 40), long.clone()]]);
        with_salvage(alone.clone(), |found| assert_eq!(saved(found, 2), Some(long.clone())));
        for (first, expected) in [(3_u64, None), (4, None), (5, Some(&long))] {
            let before = JournalFrame { count: u32::try_from(first - 1).unwrap(), ..blob(1, 40) };
            let other = file(&[&[before, blob(first, 41)]]);
            with_salvage(joined(&[alone.clone(), other]), |found| {
                assert_eq!(saved(found, 2).as_ref(), expected, "{first}");
            });
        }
    }

    #[test]
    fn rows_with_bad_checksums_are_left_out() {
        let bytes = 0x1122_3344_5566;
        let row = SegmentRow { id: 7, first_sequence: 1, last_sequence: 9, bytes, checksum: 5 };
        let written = file_with(&[], Some(row));
        let damaged = |text: &[u8], at: usize| {
            let mut file = written.clone();
            let places: Vec<usize> = (0..file.len() - text.len())
                .filter(|from| file[*from..*from + text.len()] == *text)
                .collect();
            assert!(!places.is_empty());
            places.iter().for_each(|from| file[from + at] ^= 1);
            file
        };
        with_salvage(written.clone(), |found| {
            assert_eq!((&found.segments[..], found.epochs.len()), (&[row][..], 1));
        });
        with_salvage(damaged(b"the only one", 0), |found| {
            assert_eq!((&found.segments[..], found.epochs.len()), (&[row][..], 0));
        });
        with_salvage(damaged(&bytes.to_le_bytes(), 2), |found| {
            assert_eq!((found.segments.len(), found.epochs.len()), (0, 1));
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_damage_makes_a_wrong_frame(
            sizes in sizes(),
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 0..30),
            cut in prop::option::of(any::<prop::sample::Index>()),
        ) {
            let (mut file, blobs) = catalog(&sizes);
            for (at, bit) in &flips {
                *at.get_mut(&mut file) ^= 1 << bit;
            }
            if let Some(cut) = cut {
                file.truncate(cut.index(file.len()));
            }
            with_salvage(file, |found| {
                let mut saved = 0;
                for sequence in found.begins(0) {
                    let SalvagedFrame::Frame(blob) = found.frame(sequence) else { continue };
                    assert!(blobs.contains(&blob));
                    saved += 1;
                }
                let is_whole = flips.is_empty() && cut.is_none();
                assert!(!is_whole || saved == blobs.len());
            });
        }
    }
}
