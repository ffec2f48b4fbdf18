//! Items that are written once and read any number of times, in the order of writing.

use std::ops::Range;
use std::sync::Arc;

use super::{FixedSizeItem, FrameReader, FrameWriter};
use crate::disk::{Disk, FileName, ScratchFile, ScratchMap};
use crate::error::Result;

/// Collects items. A few items stay in memory; many items go to a scratch file.
#[derive(Debug)]
pub(crate) struct Spool<T> {
    disk: Arc<dyn Disk>,
    name: FileName,
    items: Vec<T>,
    items_max: usize,
    file: Option<(ScratchFile, FrameWriter)>,
    len: u64,
}

/// Items collected by a [`Spool`].
#[derive(Debug)]
pub(crate) struct SpoolContent<T> {
    held: SpoolStorage<T>,
    /// The number of items.
    len: u64,
}

#[derive(Debug)]
enum SpoolStorage<T> {
    Memory(Arc<[T]>),
    File(FileName, Arc<ScratchMap>),
}

/// Reads items from the first on.
#[derive(Debug)]
pub(crate) struct SpoolReader<T> {
    held: SpoolStorage<T>,
    at: usize,
    frames: Option<FrameReader>,
    /// The unread rest of the current frame.
    frame: Range<usize>,
}

impl<T> Clone for SpoolStorage<T> {
    fn clone(&self) -> Self {
        match self {
            SpoolStorage::Memory(items) => SpoolStorage::Memory(Arc::clone(items)),
            SpoolStorage::File(name, map) => SpoolStorage::File(*name, Arc::clone(map)),
        }
    }
}

impl<T: FixedSizeItem> Spool<T> {
    /// Creates a spool that takes about `memory_bytes`; `name` is the name of the scratch file.
    pub(crate) fn new(disk: &Arc<dyn Disk>, name: FileName, memory_bytes: usize) -> Self {
        let items_max = memory_bytes / size_of::<T>();
        Spool { disk: Arc::clone(disk), name, items: Vec::new(), items_max, file: None, len: 0 }
    }

    /// Adds an item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) -> Result<()> {
        self.len += 1;
        // Once there is a file, all later items go to the file, so that the order stays.
        if self.file.is_none() && self.items.len() < self.items_max {
            self.items.push(item);
            return Ok(());
        }
        let (scratch, frames) = match &mut self.file {
            Some(file) => file,
            none => {
                let scratch = ScratchFile::create(Arc::clone(&self.disk), self.name)?;
                none.insert((scratch, FrameWriter::default()))
            }
        };
        // With the first item that does not fit, all earlier items move to the file. After that,
        // `items` is empty.
        for item in std::mem::take(&mut self.items) {
            frames.item(scratch, |out| item.put(out))?;
        }
        frames.item(scratch, |out| item.put(out))
    }

    /// Finishes the input.
    pub(crate) fn finish(self) -> Result<SpoolContent<T>> {
        let held = match self.file {
            None => SpoolStorage::Memory(self.items.into()),
            Some((mut scratch, mut frames)) => {
                frames.flush(&mut scratch)?;
                SpoolStorage::File(self.name, Arc::new(scratch.into_map()?))
            }
        };
        Ok(SpoolContent { held, len: self.len })
    }
}

impl<T: FixedSizeItem> SpoolContent<T> {
    /// Returns the number of items.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Starts another reader.
    pub(crate) fn read(&self) -> SpoolReader<T> {
        // A reader shares the items or the map, so several can read at the same time.
        let held = self.held.clone();
        let frames = match &held {
            SpoolStorage::Memory(_) => None,
            SpoolStorage::File(name, map) => Some(FrameReader::new(*name, 0..map.len() as u64)),
        };
        SpoolReader { held, at: 0, frames, frame: 0..0 }
    }
}

impl<T: FixedSizeItem> SpoolReader<T> {
    /// Returns the next item.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        let (map, frames) = match (&self.held, &mut self.frames) {
            (SpoolStorage::File(_, map), Some(frames)) => (map, frames),
            (SpoolStorage::Memory(items), _) => {
                let item = items.get(self.at).copied();
                self.at += 1;
                return Ok(item);
            }
            // Not reached: `read` creates frames for every file.
            (SpoolStorage::File(..), None) => return Ok(None),
        };
        if self.frame.is_empty() {
            let Some(frame) = frames.next(map)? else { return Ok(None) };
            self.frame = frame;
        }
        let end = self.frame.start + T::BYTES;
        let item = map.get(self.frame.start..end).and_then(T::take);
        self.frame.start = end;
        item.map(Some).ok_or_else(|| frames.damaged("it ends within an item that was written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;

    #[test]
    fn items_are_returned_in_order_on_every_read() {
        for (count, memory_bytes) in
            [(0, 0), (1, 0), (5, 1 << 20), (50_000, 1 << 10), (50_000, 1 << 20)]
        {
            let disk = SimDisk::new();
            let on: Arc<dyn Disk> = Arc::new(disk.clone());
            let mut spool = Spool::new(&on, FileName::Scratch(1, 0), memory_bytes);
            (0..count).for_each(|item: u64| spool.push(item * 7).unwrap());
            let spooled = spool.finish().unwrap();
            assert_eq!(spooled.len(), count);
            for _ in 0..2 {
                let mut reader = spooled.read();
                let mut found = Vec::new();
                while let Some(item) = reader.next().unwrap() {
                    found.push(item);
                }
                assert_eq!(found, (0..count).map(|item| item * 7).collect::<Vec<_>>());
                assert_eq!(reader.next().unwrap(), None);
            }
            drop(spooled);
            assert_eq!(disk.contents().len(), 0, "a scratch file is left");
        }
    }
}
