//! Fingerprints by their numbers: more than fit into memory lie in scratch files.

use std::ops::Range;

use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, IntoBytes};

use crate::disk::ScratchMap;
use crate::error::{Error, Result};
use crate::search::Source;
use crate::sort::Workspace;

/// Fingerprints that are checked together when they are read from a file.
const BLOCK: usize = 8192;

/// How many fingerprints become a part, at least and at most.
const PENDING: [usize; 2] = [1 << 16, 1 << 20];

/// Fingerprints in the order in which they were added.
#[derive(Debug)]
pub(super) struct Column {
    work: Workspace,
    /// Bytes that parts may have in memory, and have.
    memory_bytes: usize,
    held_bytes: usize,
    parts: Vec<Part>,
    /// Those behind the parts: many small additions become one file.
    pending: Vec<u64>,
    len: u32,
}

/// Fingerprints side by side.
#[derive(Debug)]
struct Part {
    start: u32,
    len: u32,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Memory(Vec<u64>),
    /// A file of little-endian numbers, and the checksum of each block.
    File(ScratchMap, Vec<u32>),
}

impl Column {
    pub(super) fn new(work: &Workspace, memory_bytes: usize) -> Self {
        let (work, parts, pending) = (work.clone(), Vec::new(), Vec::new());
        Column { work, memory_bytes, held_bytes: 0, parts, pending, len: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Adds these.
    pub(super) fn append(&mut self, mut fingerprints: Vec<u64>) -> Result<()> {
        let more = u32::try_from(fingerprints.len()).ok();
        let end = more.and_then(|more| self.len.checked_add(more));
        self.len = end.ok_or(Error::Limit {
            what: "fingerprints to cluster",
            max: u32::MAX.into(),
            instead: "cluster those under several prefixes",
        })?;
        self.pending.append(&mut fingerprints);
        let [least, most] = PENDING;
        if self.pending.len() >= (self.memory_bytes / size_of::<u64>() / 4).clamp(least, most) {
            self.part()?;
        }
        Ok(())
    }

    /// Makes a part of what is pending.
    fn part(&mut self) -> Result<()> {
        let fingerprints = std::mem::take(&mut self.pending);
        #[expect(clippy::cast_possible_truncation, reason = "a part of fewer than 2^32")]
        let len = fingerprints.len() as u32;
        let bytes = size_of_val(&fingerprints[..]);
        let held = if self.held_bytes + bytes <= self.memory_bytes {
            self.held_bytes += bytes;
            Held::Memory(fingerprints)
        } else {
            let ((_, mut file), mut sums) = (self.work.file()?, Vec::new());
            for block in fingerprints.chunks(BLOCK) {
                let block: Vec<U64> = block.iter().copied().map(U64::new).collect();
                sums.push(crc32fast::hash(block.as_bytes()));
                file.append(block.as_bytes())?;
            }
            Held::File(file.into_map()?, sums)
        };
        self.parts.push(Part { start: self.len - len, len, held });
        Ok(())
    }

    /// Those with these numbers, all of which were added.
    #[expect(clippy::indexing_slicing, reason = "what is behind the parts is pending")]
    pub(super) fn read(&self, range: Range<u32>, buffer: &mut [u64]) -> Result<()> {
        let first = self.parts.partition_point(|part| part.start + part.len <= range.start);
        let mut rest = buffer;
        for part in self.parts.iter().skip(first) {
            let from = range.start.max(part.start) - part.start;
            let end = range.end.min(part.start + part.len).saturating_sub(part.start);
            if from >= end {
                break;
            }
            let (now, later) = rest.split_at_mut((end - from) as usize);
            part.read(from as usize..end as usize, now)?;
            rest = later;
        }
        let behind = self.parts.last().map_or(0, |part| part.start + part.len);
        let from = range.start.max(behind) - behind;
        let end = range.end.max(behind) - behind;
        rest.copy_from_slice(&self.pending[from as usize..end as usize]);
        Ok(())
    }
}

impl Part {
    #[expect(
        clippy::indexing_slicing,
        reason = "places below the length, and a sum for each block"
    )]
    fn read(&self, range: Range<usize>, buffer: &mut [u64]) -> Result<()> {
        let (map, sums) = match &self.held {
            Held::Memory(fingerprints) => {
                buffer.copy_from_slice(&fingerprints[range]);
                return Ok(());
            }
            Held::File(map, sums) => (map, sums),
        };
        let damaged = |what| Error::corrupt("a scratch file", 0, what);
        let Ok(all) = <[U64]>::ref_from_bytes(map) else {
            return Err(damaged("its length is not what was written"));
        };
        if all.len() < self.len as usize {
            return Err(damaged("it ends within what was written there"));
        }
        for block in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            let bytes = &all[block * BLOCK..all.len().min((block + 1) * BLOCK)];
            if crc32fast::hash(bytes.as_bytes()) != sums[block] {
                return Err(damaged("its bytes are not what was written there"));
            }
        }
        for (to, from) in buffer.iter_mut().zip(&all[range]) {
            *to = from.get();
        }
        Ok(())
    }
}

impl Source for Column {
    type Error = Error;

    fn len(&self) -> u32 {
        self.len
    }

    fn read<'a>(&'a self, ordinals: Range<u32>, buffer: &'a mut [u64]) -> Result<&'a [u64]> {
        Column::read(self, ordinals, buffer)?;
        Ok(buffer)
    }
}

/// The fingerprints of all leaders, and behind them others.
pub(super) struct Beside<'c> {
    pub(super) leaders: &'c Column,
    pub(super) others: &'c [u64],
}

impl Source for Beside<'_> {
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
        if ordinals.start >= border {
            let place = |ordinal: u32| (ordinal - border) as usize;
            return Ok(&self.others[place(ordinals.start)..place(ordinals.end)]);
        }
        let leaders = ordinals.start..ordinals.end.min(border);
        let (of_leaders, of_others) = buffer.split_at_mut(leaders.len());
        self.leaders.read(leaders, of_leaders)?;
        of_others.copy_from_slice(&self.others[..of_others.len()]);
        Ok(buffer)
    }
}
