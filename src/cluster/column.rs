//! Columns of data about nodes, by number. Data that exceeds the memory is in scratch files.

use std::ops::Range;

use crate::bug::OrBug;
use crate::disk::{ScratchFile, ScratchMap};
use crate::error::{Error, Result};
use crate::search::Source;
use crate::sort::{FixedSizeItem, Workspace};

/// The approximate number of bytes under one checksum of a file.
const BLOCK_BYTES: usize = 4 << 10;

/// The minimum and the maximum size of a new part in bytes.
const PENDING_BYTES: [usize; 2] = [512 << 10, 8 << 20];

/// Items, such as fingerprints, in the order in which they were added.
#[derive(Debug)]
pub(super) struct SpillColumn<T> {
    work: Workspace,
    /// The memory limit of the parts, and their current memory, in bytes.
    memory_bytes: usize,
    held_bytes: usize,
    parts: Vec<ColumnChunk<T>>,
    /// The items after the last part. They are collected, so that many small additions become one
    /// file.
    pending: Vec<T>,
    len: u32,
}

/// A contiguous part of the items.
#[derive(Debug)]
struct ColumnChunk<T> {
    start: u32,
    len: u32,
    held: ChunkStorage<T>,
}

#[derive(Debug)]
enum ChunkStorage<T> {
    Memory(Vec<T>),
    /// A file of packed items, and the checksum of each block.
    File(ScratchMap, Vec<u32>),
}

impl<T: FixedSizeItem> SpillColumn<T> {
    pub(super) fn new(work: &Workspace, memory_bytes: usize) -> Self {
        let (work, parts, pending) = (work.clone(), Vec::new(), Vec::new());
        SpillColumn { work, memory_bytes, held_bytes: 0, parts, pending, len: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Appends items.
    pub(super) fn append(&mut self, items: impl IntoIterator<Item = T>) -> Result<()> {
        items.into_iter().try_for_each(|item| self.push(item))
    }

    /// Appends an item.
    #[inline]
    pub(super) fn push(&mut self, item: T) -> Result<()> {
        // A join numbers its entries in 32 bits.
        self.len = self.len.checked_add(1).ok_or(Error::Limit {
            what: "pages to cluster",
            max: u32::MAX.into(),
            instead: "cluster the pages under one prefix at a time",
        })?;
        self.pending.push(item);
        // Without `pending`, each batch of leaders that does not fit
        // in memory would get a file of its own.
        let [least, most] = PENDING_BYTES;
        if size_of_val(&self.pending[..]) >= (self.memory_bytes / 4).clamp(least, most) {
            self.part()?;
        }
        Ok(())
    }

    /// Makes a part from the pending items.
    fn part(&mut self) -> Result<()> {
        let items = std::mem::take(&mut self.pending);
        #[expect(clippy::cast_possible_truncation, reason = "a part of fewer than 2^32")]
        let len = items.len() as u32;
        let bytes = size_of_val(&items[..]);
        // Parts in memory stay there and are never merged. Once the memory is full, parts go to
        // files.
        let held = if self.held_bytes + bytes <= self.memory_bytes {
            self.held_bytes += bytes;
            ChunkStorage::Memory(items)
        } else {
            let mut blocks = ColumnFileWriter::new(&self.work)?;
            items.into_iter().try_for_each(|item| blocks.push(item))?;
            blocks.finish()?
        };
        self.parts.push(ColumnChunk { start: self.len - len, len, held });
        // New parts have one size, so files merge like the digits of a binary counter. So there are
        // few files, and each item is copied a logarithmic number of times.
        while let [.., before, last] = &self.parts[..]
            && before.held.map().is_some()
            && last.held.map().is_some()
            && before.len <= last.len
        {
            let merged = ColumnChunk::merge(before, last, &self.work)?;
            self.parts.truncate(self.parts.len() - 2);
            self.parts.push(merged);
        }
        Ok(())
    }

    /// Reads the items with the numbers in `range`, which must exist.
    #[expect(clippy::indexing_slicing, reason = "what is behind the parts is pending")]
    pub(super) fn read(&self, range: Range<u32>, buffer: &mut [T]) -> Result<()> {
        // Parts are adjacent and in order, so a binary search finds the first part of the range.
        let first = self.parts.partition_point(|part| part.start + part.len <= range.start);
        let mut rest = buffer;
        for part in self.parts.iter().skip(first) {
            let from = range.start.max(part.start) - part.start;
            let end = range.end.min(part.start + part.len).saturating_sub(part.start);
            if from >= end {
                break;
            }
            // The buffer has the length of the range, and `end - from` is at most the length of
            // `rest`.
            let (now, later) = rest.split_at_mut((end - from) as usize);
            part.read(from as usize..end as usize, now)?;
            rest = later;
        }
        // The rest of the range is in `pending`. If nothing is in `pending`, `max` makes both ends
        // equal.
        let behind = self.parts.last().map_or(0, |part| part.start + part.len);
        let from = range.start.max(behind) - behind;
        let end = range.end.max(behind) - behind;
        rest.copy_from_slice(&self.pending[from as usize..end as usize]);
        Ok(())
    }
}

impl<T: FixedSizeItem + Default> SpillColumn<T> {
    /// Reads the item with number `number`, which must exist.
    pub(super) fn get(&self, number: u32) -> Result<T> {
        let mut item = [T::default()];
        self.read(number..number + 1, &mut item)?;
        let [item] = item;
        Ok(item)
    }

    /// Returns the number of the first item for which `is_before` is false, like
    /// `slice::partition_point`. The items must be partitioned by `is_before`.
    pub(super) fn partition_point(&self, is_before: impl Fn(&T) -> bool) -> Result<u32> {
        let (mut from, mut to) = (0, self.len);
        while from < to {
            let middle = from.midpoint(to);
            if is_before(&self.get(middle)?) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        Ok(from)
    }
}

impl<T> ChunkStorage<T> {
    /// The bytes of the file, if the part is in a file.
    fn map(&self) -> Option<&[u8]> {
        match self {
            ChunkStorage::Memory(_) => None,
            ChunkStorage::File(map, _) => Some(map),
        }
    }
}

/// The number of items under one checksum.
fn block<T: FixedSizeItem>() -> usize {
    BLOCK_BYTES / T::BYTES
}

/// Writes items to a file.
struct ColumnFileWriter {
    file: ScratchFile,
    sums: Vec<u32>,
    packed: Vec<u8>,
}

impl ColumnFileWriter {
    fn new(work: &Workspace) -> Result<ColumnFileWriter> {
        let (_, file) = work.file()?;
        Ok(ColumnFileWriter { file, sums: Vec::new(), packed: Vec::new() })
    }

    fn push<T: FixedSizeItem>(&mut self, item: T) -> Result<()> {
        item.put(&mut self.packed);
        // A block contains whole items, so no item lies under two checksums.
        if self.packed.len() < block::<T>() * T::BYTES {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        if self.packed.is_empty() {
            return Ok(());
        }
        self.sums.push(crc32fast::hash(&self.packed));
        self.file.append(&self.packed)?;
        self.packed.clear();
        Ok(())
    }

    fn finish<T>(mut self) -> Result<ChunkStorage<T>> {
        self.flush()?;
        Ok(ChunkStorage::File(self.file.into_map()?, self.sums))
    }
}

impl<T: FixedSizeItem> ColumnChunk<T> {
    /// Merges two adjacent parts into one file.
    fn merge(
        before: &ColumnChunk<T>,
        last: &ColumnChunk<T>,
        work: &Workspace,
    ) -> Result<ColumnChunk<T>> {
        let mut blocks = ColumnFileWriter::new(work)?;
        for part in [before, last] {
            // The part is checked before the copy: new checksums over damaged bytes would hide the
            // damage.
            part.check(0..part.len as usize)?;
            let map = part.held.map().or_bug("only parts in files are merged")?;
            for packed in map.chunks_exact(T::BYTES) {
                blocks.push(T::take(packed).or_bug("a packed item has its full length")?)?;
            }
        }
        Ok(ColumnChunk { start: before.start, len: before.len + last.len, held: blocks.finish()? })
    }

    /// Checks that the written bytes are unchanged.
    #[expect(
        clippy::indexing_slicing,
        reason = "places below the length, and a sum for each block"
    )]
    fn check(&self, range: Range<usize>) -> Result<()> {
        let ChunkStorage::File(map, sums) = &self.held else { return Ok(()) };
        let damaged = |what| Error::corrupt("a scratch file", 0, what);
        // A truncated file would otherwise panic in the slices below.
        if map.len() != self.len as usize * T::BYTES {
            return Err(damaged("its length differs from the length that was written"));
        }
        let bytes = block::<T>() * T::BYTES;
        // Only blocks that the range touches are checked: 4 KiB for one item. The last block may be
        // shorter.
        for block in range.start / block::<T>()..range.end.div_ceil(block::<T>()) {
            let of = &map[block * bytes..map.len().min((block + 1) * bytes)];
            if crc32fast::hash(of) != sums[block] {
                return Err(damaged("its bytes differ from the bytes that were written"));
            }
        }
        Ok(())
    }

    #[expect(clippy::indexing_slicing, reason = "places below the length")]
    fn read(&self, range: Range<usize>, buffer: &mut [T]) -> Result<()> {
        let map = match &self.held {
            ChunkStorage::Memory(items) => {
                buffer.copy_from_slice(&items[range]);
                return Ok(());
            }
            ChunkStorage::File(map, _) => map,
        };
        // Every read checks its blocks again: nothing records which blocks were checked before.
        self.check(range.clone())?;
        let packed = &map[range.start * T::BYTES..range.end * T::BYTES];
        for (to, from) in buffer.iter_mut().zip(packed.chunks_exact(T::BYTES)) {
            *to = T::take(from).or_bug("a packed item has its full length")?;
        }
        Ok(())
    }
}

impl Source for SpillColumn<u64> {
    type Error = Error;

    fn len(&self) -> u32 {
        self.len
    }

    fn read<'a>(&'a self, ordinals: Range<u32>, buffer: &'a mut [u64]) -> Result<&'a [u64]> {
        SpillColumn::read(self, ordinals, buffer)?;
        Ok(buffer)
    }
}

/// The fingerprints of all leaders, followed by other fingerprints.
pub(super) struct LeadersThenOthers<'c> {
    pub(super) leaders: &'c SpillColumn<u64>,
    pub(super) others: &'c [u64],
}

impl Source for LeadersThenOthers<'_> {
    type Error = Error;

    #[expect(
        clippy::expect_used,
        reason = "a batch and the leaders are nodes of fewer than 2^32 pages"
    )]
    fn len(&self) -> u32 {
        let others = u32::try_from(self.others.len()).ok();
        others.and_then(|others| self.leaders.len().checked_add(others)).expect("fewer than 2^32")
    }

    #[expect(clippy::indexing_slicing, reason = "ordinals below the length")]
    fn read<'a>(&'a self, ordinals: Range<u32>, buffer: &'a mut [u64]) -> Result<&'a [u64]> {
        let border = self.leaders.len();
        // The other fingerprints are contiguous in memory, so they are returned without a copy.
        if ordinals.start >= border {
            let place = |ordinal: u32| (ordinal - border) as usize;
            return Ok(&self.others[place(ordinals.start)..place(ordinals.end)]);
        }
        // A range across the border: its leaders are read, and the first of the other fingerprints
        // follow them.
        let leaders = ordinals.start..ordinals.end.min(border);
        let (of_leaders, of_others) = buffer.split_at_mut(leaders.len());
        self.leaders.read(leaders, of_leaders)?;
        of_others.copy_from_slice(&self.others[..of_others.len()]);
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_as_added_from_few_files() {
        let dir = tempfile::tempdir().unwrap();
        let work = Workspace::new(Some(dir.path().to_owned()), 1 << 20);
        for memory_bytes in [0, 3 << 20, 64 << 20] {
            let mut column = SpillColumn::new(&work, memory_bytes);
            let count = 1_300_000_u32;
            column.append((0..count).map(|n| u64::from(n) * 7)).unwrap();
            let files =
                column.parts.iter().filter(|part| matches!(part.held, ChunkStorage::File(..)));
            assert!(files.count() <= 6, "{} parts", column.parts.len());
            for number in (0..count).step_by(1009) {
                assert_eq!(column.get(number).unwrap(), u64::from(number) * 7);
            }
            let mut all = vec![0; 900_000];
            column.read(123_456..1_023_456, &mut all).unwrap();
            assert!((123_456..).map(|n| n * 7).zip(&all).all(|(n, found)| n == *found));
        }
    }
}
