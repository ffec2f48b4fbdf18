//! The list of sites that are large enough to be mirrors, by number, in a scratch file.

use std::ops::Range;

use crate::bug::{Bug, OrBug};
use crate::disk::{FileName, ScratchFile, ScratchMap};
use crate::error::{Error, Result};
use crate::layout::{Cursor, put_varint};
use crate::sort::{FrameReader, FrameWriter, Workspace};

/// A listed site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedSite {
    /// The common prefix of the keys of the site's pages.
    pub(super) key: Vec<u8>,
    /// The number of the site's selected paths.
    pub(super) paths: u64,
}

impl ListedSite {
    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.paths);
        put_varint(out, self.key.len() as u64);
        out.extend_from_slice(&self.key);
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<ListedSite> {
        let paths = cursor.varint()?;
        let len = cursor.count()?;
        Some(ListedSite { key: cursor.take(len)?.to_vec(), paths })
    }
}

/// The start of a frame of the list.
#[derive(Clone, Copy, Debug)]
struct FrameStart {
    /// The number of the first site in the frame.
    number: u32,
    position: u64,
}

/// Writes the list.
#[derive(Debug)]
pub(super) struct SitesWriter {
    name: FileName,
    scratch: ScratchFile,
    frames: FrameWriter,
    begins: Vec<FrameStart>,
    /// The depth of each site.
    deep: Vec<u8>,
}

impl SitesWriter {
    pub(super) fn new(work: &Workspace) -> Result<SitesWriter> {
        let (name, scratch) = work.file()?;
        let begins = vec![FrameStart { number: 0, position: 0 }];
        let (frames, deep) = (FrameWriter::default(), Vec::new());
        Ok(SitesWriter { name, scratch, frames, begins, deep })
    }

    /// Adds a site with its depth in folders. Returns the number of the site.
    pub(super) fn push(&mut self, site: &ListedSite, deep: u8) -> Result<u32> {
        let SitesWriter { scratch, frames, begins, deep: all, .. } = self;
        let limit = |_| Error::Limit {
            what: "sites that may be mirrors",
            max: u32::MAX.into(),
            instead: "restrict the query to a prefix, require more paths, or reduce the depth",
        };
        let number = u32::try_from(all.len()).map_err(limit)?;
        // The depth stays in memory, one byte for each site: candidates read depths in random
        // order.
        all.push(deep);
        let before = scratch.position();
        frames.item(scratch, |out| site.put(out))?;
        // The frame was written with the current site in it, so the next site starts another frame.
        if scratch.position() > before {
            let next = u32::try_from(all.len()).map_err(limit)?;
            begins.push(FrameStart { number: next, position: scratch.position() });
        }
        Ok(number)
    }

    /// Completes the list.
    pub(super) fn finish(self) -> Result<Sites> {
        let SitesWriter { name, mut scratch, mut frames, begins, deep } = self;
        frames.flush(&mut scratch)?;
        let end = scratch.position();
        Ok(Sites { name, end, map: scratch.into_map()?, begins, deep })
    }
}

/// The list of sites. Takes a byte of memory for each site, and 16 bytes for every 32 KiB of keys.
#[derive(Debug)]
pub(super) struct Sites {
    name: FileName,
    map: ScratchMap,
    end: u64,
    begins: Vec<FrameStart>,
    deep: Vec<u8>,
}

impl Sites {
    /// The number of sites.
    pub(super) fn len(&self) -> u64 {
        self.deep.len() as u64
    }

    /// The depth of a site, in folders.
    pub(super) fn deep(&self, number: u32) -> Result<u8, Bug> {
        self.deep.get(number as usize).copied().or_bug("each numbered site is in the list")
    }

    /// Returns the site with a number. Reads the frame that contains it.
    pub(super) fn get(&self, number: u32) -> Result<ListedSite> {
        // A sparse index: a binary search for the frame, and then a scan within 32 KiB.
        let at = self.begins.partition_point(|begin| begin.number <= number);
        let begin = at.checked_sub(1).and_then(|at| self.begins.get(at));
        let begin = begin.or_bug("the index of frames has an entry for the first site")?;
        let mut frames = FrameReader::new(self.name, begin.position..self.end);
        // The end of the list bounds the frame. `next` checks the frame's checksum.
        let place: Option<Range<usize>> = frames.next(&self.map)?;
        let frame = place.and_then(|place| self.map.get(place));
        let mut cursor = Cursor::new(frame.or_bug("each numbered site is in the list")?);
        let mut site = None;
        for _ in begin.number..=number {
            site = ListedSite::take(&mut cursor);
        }
        site.ok_or_else(|| frames.damaged("it ends within an item that was written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_found_by_number() {
        let work = Workspace::new(None, 0);
        let mut writer = SitesWriter::new(&work).unwrap();
        let site = |n: u32| ListedSite {
            key: vec![7; (n as usize * 7919) % 5000],
            paths: u64::from(n) << 20,
        };
        for n in 0..500 {
            assert_eq!(writer.push(&site(n), (n % 7) as u8).unwrap(), n);
        }
        let sites = writer.finish().unwrap();
        assert!(sites.begins.len() > 10 && sites.len() == 500);
        for n in (0..500).rev() {
            assert_eq!(sites.get(n).unwrap(), site(n), "{n}");
            assert_eq!(u32::from(sites.deep(n).unwrap()), n % 7);
        }
        let empty = SitesWriter::new(&work).unwrap().finish().unwrap();
        assert_eq!(empty.len(), 0);
    }
}
