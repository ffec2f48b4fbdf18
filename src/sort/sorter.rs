//! Sorts any number of items in bounded memory.

use std::ops::Range;
use std::sync::Arc;

use super::{FrameReader, FrameWriter, Tournament};
use crate::disk::{Disk, FileName, ScratchFile, ScratchMap};
use crate::error::Result;

/// A small item of a fixed encoded length.
pub(crate) trait FixedSizeItem: Copy + Ord {
    /// The encoded length in bytes.
    const BYTES: usize;

    /// Appends the encoding of the item.
    fn put(&self, out: &mut Vec<u8>);

    /// Decodes an item.
    fn take(bytes: &[u8]) -> Option<Self>;

    /// Sorts items in memory.
    fn sort(items: &mut Vec<Self>);
}

impl FixedSizeItem for u64 {
    const BYTES: usize = size_of::<u64>();

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(bytes: &[u8]) -> Option<u64> {
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    fn sort(items: &mut Vec<u64>) {
        items.sort_unstable();
    }
}

/// Takes items in any order, and returns them sorted.
///
/// Items up to the memory limit stay in memory. When the memory is full, its items are sorted and
/// written to a scratch file as a run. The runs are merged at the end.
#[derive(Debug)]
pub(crate) struct Sorter<T> {
    disk: Arc<dyn Disk>,
    name: FileName,
    items: Vec<T>,
    items_max: usize,
    scratch: Option<ScratchFile>,
    runs: Vec<Range<u64>>,
}

impl<T: FixedSizeItem> Sorter<T> {
    /// Creates a sorter that takes about `memory_bytes`; `name` is the name of the scratch file.
    pub(crate) fn new(disk: &Arc<dyn Disk>, name: FileName, memory_bytes: usize) -> Self {
        /// The minimum capacity in items, whatever the memory limit.
        const ITEMS_MIN: usize = 64;
        Sorter {
            disk: Arc::clone(disk),
            name,
            items: Vec::new(),
            items_max: (memory_bytes / size_of::<T>()).max(ITEMS_MIN),
            scratch: None,
            runs: Vec::new(),
        }
    }

    /// Adds an item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) -> Result<()> {
        // The check precedes the push, so items that just fit need no file.
        if self.items.len() >= self.items_max {
            self.write_run()?;
        }
        self.items.push(item);
        Ok(())
    }

    fn write_run(&mut self) -> Result<()> {
        T::sort(&mut self.items);
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            none => none.insert(ScratchFile::create(Arc::clone(&self.disk), self.name)?),
        };
        let start = scratch.position();
        let mut frames = FrameWriter::default();
        // A writer for each run: a frame never crosses the border of two runs.
        for item in &self.items {
            frames.item(scratch, |out| item.put(out))?;
        }
        frames.flush(scratch)?;
        self.runs.push(start..scratch.position());
        self.items.clear();
        Ok(())
    }

    /// Finishes the input.
    pub(crate) fn finish(mut self) -> Result<SortedItems<T>> {
        if self.scratch.is_some() {
            // The remaining items become a run as well, so merging has one kind of input. The
            // memory of the items is freed.
            self.write_run()?;
            self.items = Vec::new();
        }
        // All items fit: no file was made, and no item was packed.
        let Some(scratch) = self.scratch else {
            T::sort(&mut self.items);
            return Ok(SortedItems::Memory(self.items.into_iter()));
        };
        let map = scratch.into_map()?;
        let mut runs = Vec::with_capacity(self.runs.len());
        for place in self.runs {
            // All runs share one map and read it front to end, each in its own range.
            let mut run =
                SortedRun { frames: FrameReader::new(self.name, place), frame: 0..0, next: None };
            run.advance(&map)?;
            runs.push(run);
        }
        let tournament = Tournament::new(runs.len(), &mut |a, b| before(&runs, a, b));
        Ok(SortedItems::Runs(RunMerger { map, runs, tournament }))
    }
}

/// Sorted items.
#[derive(Debug)]
pub(crate) enum SortedItems<T> {
    Memory(std::vec::IntoIter<T>),
    Runs(RunMerger<T>),
}

#[derive(Debug)]
pub(crate) struct RunMerger<T> {
    map: ScratchMap,
    runs: Vec<SortedRun<T>>,
    tournament: Tournament,
}

#[derive(Debug)]
struct SortedRun<T> {
    frames: FrameReader,
    /// The unread rest of the current frame.
    frame: Range<usize>,
    next: Option<T>,
}

impl<T: FixedSizeItem> SortedRun<T> {
    #[inline]
    fn advance(&mut self, file: &[u8]) -> Result<()> {
        if self.frame.is_empty() {
            let Some(frame) = self.frames.next(file)? else {
                self.next = None;
                return Ok(());
            };
            self.frame = frame;
        }
        let end = self.frame.start + T::BYTES;
        let item = file.get(self.frame.start..end).and_then(T::take);
        let item =
            item.ok_or_else(|| self.frames.damaged("it ends within an item that was written"))?;
        // The checksum protects bytes. The comparison protects the merge, which would otherwise be
        // wrong without notice.
        if self.next.is_some_and(|before| before > item) {
            return Err(self.frames.damaged("items that were written in order are out of order"));
        }
        self.next = Some(item);
        self.frame.start = end;
        Ok(())
    }
}

/// Whether run `a` comes before run `b`; an exhausted run comes last.
#[expect(clippy::indexing_slicing, reason = "contestants are numbers of runs")]
fn before<T: FixedSizeItem>(runs: &[SortedRun<T>], a: usize, b: usize) -> bool {
    match (runs[a].next, runs[b].next) {
        (Some(a), Some(b)) => a < b,
        // An exhausted run loses to every other run. Two exhausted runs are equal.
        (a, _) => a.is_some(),
    }
}

impl<T> SortedItems<T> {
    /// Returns no items.
    pub(crate) fn none() -> SortedItems<T> {
        SortedItems::Memory(Vec::new().into_iter())
    }
}

impl<T: FixedSizeItem> SortedItems<T> {
    /// Returns the next item.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "contestants are numbers of runs, at least one")]
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        let RunMerger { map, runs, tournament } = match self {
            SortedItems::Memory(items) => return Ok(items.next()),
            SortedItems::Runs(runs) => runs,
        };
        let run = &mut runs[tournament.winner()];
        // If the winner is exhausted, all runs are.
        let Some(item) = run.next else { return Ok(None) };
        run.advance(map)?;
        tournament.replay(|a, b| before(runs, a, b));
        Ok(Some(item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;
    use proptest::prelude::*;

    const NAME: FileName = FileName::Scratch(1, 0);

    fn sorted(disk: &Arc<dyn Disk>, items: &[u64], memory_bytes: usize) -> Result<Vec<u64>> {
        let mut sorter = Sorter::new(disk, NAME, memory_bytes);
        items.iter().try_for_each(|item| sorter.push(*item))?;
        let (mut sorted, mut found) = (sorter.finish()?, Vec::new());
        while let Some(item) = sorted.next()? {
            found.push(item);
        }
        Ok(found)
    }

    proptest! {
        #[test]
        fn items_are_sorted(
            items in prop::collection::vec(0u64..5000, 0..3000),
            memory_bytes in 0usize..30_000,
        ) {
            let disk = SimDisk::new();
            let mut expected = items.clone();
            expected.sort_unstable();
            let on: Arc<dyn Disk> = Arc::new(disk.clone());
            prop_assert_eq!(sorted(&on, &items, memory_bytes).unwrap(), expected);
            prop_assert_eq!(disk.contents().len(), 0, "a scratch file is left");
        }
    }

    #[test]
    fn byte_flipped_on_disk_is_an_error() {
        let place = 0..1000;
        for flipped in [0, 5, 8, 500, 1007] {
            let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
            let mut scratch = ScratchFile::create(Arc::clone(&disk), NAME).unwrap();
            let mut writer = FrameWriter::default();
            for item in place.clone().step_by(8) {
                writer.item(&mut scratch, |out| (item as u64).put(out)).unwrap();
            }
            writer.flush(&mut scratch).unwrap();
            let end = scratch.position();
            let mut bytes = scratch.into_map().unwrap().to_vec();
            let whole = FrameReader::new(NAME, 0..end).next(&bytes).unwrap();
            assert_eq!(whole, Some(8..1008));
            bytes[flipped] ^= 4;
            let error = FrameReader::new(NAME, 0..end).next(&bytes).unwrap_err();
            assert!(error.to_string().contains("0000000001.00.tmp"), "{error}");
        }
    }
}
