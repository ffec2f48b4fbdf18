//! Sorted runs in a scratch file: pages and their entries in SURT order, run after run.
//!
//! Each page is stored as its entries, packed as in a record, and the parts of its SURT key and URL
//! that differ from the previous page.

use std::ops::Range;
use std::sync::Arc;

use crate::bug::ensure;
use crate::disk::{Disk, FileName, ScratchFile, ScratchMap};
use crate::error::Result;
use crate::layout::{Cursor, put_varint};
use crate::page::Entry;
use crate::segment::{PackedEntries, alike, put_entries};
use crate::sort::{FrameReader, FrameWriter, Tournament};

/// Runs being written.
pub(super) struct RunWriter {
    name: FileName,
    scratch: ScratchFile,
    frames: FrameWriter,
    key: Vec<u8>,
    url: Vec<u8>,
    start: u64,
    places: Vec<Range<u64>>,
}

impl RunWriter {
    pub(super) fn new(disk: &Arc<dyn Disk>, name: FileName) -> Result<RunWriter> {
        Ok(RunWriter {
            name,
            scratch: ScratchFile::create(Arc::clone(disk), name)?,
            frames: FrameWriter::default(),
            key: Vec::new(),
            url: Vec::new(),
            start: 0,
            places: Vec::new(),
        })
    }

    /// Adds the next page of this run, with the number of its visits and the packed visits.
    ///
    /// # Errors
    ///
    /// The errors of the file, and a bug if the page does not follow the previous page in SURT
    /// order.
    pub(super) fn push(
        &mut self,
        key: &[u8],
        url: &[u8],
        count: usize,
        visits: &[u8],
    ) -> Result<()> {
        let RunWriter { scratch, frames, key: last_key, url: last_url, .. } = self;
        let ascends = (last_key.as_slice(), last_url.as_slice()) < (key, url);
        ensure(ascends, "the pages of a run ascend")?;
        frames.item(scratch, |out| {
            put_after(out, last_key, key);
            put_after(out, last_url, url);
            put_varint(out, count as u64);
            put_varint(out, visits.len() as u64);
            out.extend_from_slice(visits);
        })
    }

    /// Ends a run.
    pub(super) fn end_run(&mut self) -> Result<()> {
        self.frames.flush(&mut self.scratch)?;
        let end = self.scratch.position();
        self.places.push(self.start..end);
        self.start = end;
        self.key.clear();
        self.url.clear();
        Ok(())
    }

    /// Maps the runs for reading.
    pub(super) fn finish(self) -> Result<SortedRuns> {
        Ok(SortedRuns { name: self.name, map: self.scratch.into_map()?, places: self.places })
    }
}

/// Appends the part of `bytes` after the prefix shared with `last`, and copies `bytes` to `last`.
#[expect(clippy::indexing_slicing, reason = "the shared prefix is not longer than the text")]
fn put_after(out: &mut Vec<u8>, last: &mut Vec<u8>, bytes: &[u8]) {
    let db = alike(bytes, last);
    let rest = &bytes[db..];
    put_varint(out, db as u64);
    put_varint(out, rest.len() as u64);
    out.extend_from_slice(rest);
    last.truncate(db);
    last.extend_from_slice(rest);
}

/// Reads the bytes that [`put_after`] wrote.
fn take_after(cursor: &mut Cursor<'_>, last: &mut Vec<u8>) -> Option<()> {
    let db = usize::try_from(cursor.varint()?).ok().filter(|db| *db <= last.len())?;
    let len = cursor.count()?;
    let rest = cursor.take(len)?;
    last.truncate(db);
    last.extend_from_slice(rest);
    Some(())
}

/// Runs for reading.
pub(super) struct SortedRuns {
    name: FileName,
    map: ScratchMap,
    places: Vec<Range<u64>>,
}

impl SortedRuns {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Merges the runs into fewer and longer runs, `fan_in` at a time, in another scratch file.
    /// `watch` is called with the number of merged visits.
    pub(super) fn merged(
        self,
        disk: &Arc<dyn Disk>,
        name: FileName,
        fan_in: usize,
        mut watch: impl FnMut(u64) -> Result<()>,
    ) -> Result<SortedRuns> {
        let mut writer = RunWriter::new(disk, name)?;
        let (mut page, mut packed) = (MergedPages::default(), Vec::new());
        for places in self.places.chunks(fan_in.max(2)) {
            let mut merge = RunMerge::new(&self, places)?;
            while merge.next(&mut page)? {
                packed.clear();
                put_entries(&mut packed, &page.entries);
                writer.push(&page.key, &page.urls, page.entries.len(), &packed)?;
                watch(page.entries_read)?;
                page.clear();
            }
            writer.end_run()?;
        }
        writer.finish()
    }

    /// A merge of all runs, in order.
    pub(super) fn merge(&self) -> Result<RunMerge<'_>> {
        RunMerge::new(self, &self.places)
    }
}

/// The entries of one or more pages, each joined from all runs that contain the page.
#[derive(Debug, Default)]
pub(super) struct MergedPages {
    /// The key of the last page.
    pub(super) key: Vec<u8>,
    /// The concatenated URLs.
    pub(super) urls: Vec<u8>,
    /// The distinct entries, in order for each page.
    pub(super) entries: Vec<Entry>,
    /// The number of entries read, including duplicates.
    pub(super) entries_read: u64,
}

impl MergedPages {
    pub(super) fn clear(&mut self) {
        let MergedPages { key, urls, entries, entries_read: taken } = self;
        key.clear();
        urls.clear();
        entries.clear();
        *taken = 0;
    }
}

/// A merge of some runs.
pub(super) struct RunMerge<'r> {
    file: &'r [u8],
    runs: Vec<RunCursor>,
    tournament: Tournament,
}

impl<'r> RunMerge<'r> {
    fn new(all: &'r SortedRuns, places: &[Range<u64>]) -> Result<RunMerge<'r>> {
        let mut runs = Vec::with_capacity(places.len());
        for place in places {
            let mut run = RunCursor::new(FrameReader::new(all.name, place.clone()));
            run.advance(&all.map)?;
            runs.push(run);
        }
        let tournament = Tournament::new(runs.len(), &mut |a, b| before(&runs, a, b));
        Ok(RunMerge { file: &all.map, runs, tournament })
    }

    /// Adds the next page to `out`. Returns false after the last page.
    #[expect(clippy::indexing_slicing, reason = "URLs are only added to")]
    pub(super) fn next(&mut self, out: &mut MergedPages) -> Result<bool> {
        let RunMerge { file, runs, tournament } = self;
        let (url_start, entries_start) = (out.urls.len(), out.entries.len());
        let mut joined = 0;
        while let Some(run) = runs.get_mut(tournament.winner()).filter(|run| !run.ended) {
            if joined == 0 {
                out.key.clone_from(&run.key);
                out.urls.extend_from_slice(&run.url);
            } else if out.urls[url_start..] != run.url {
                break;
            }
            joined += 1;
            out.entries_read += run.count as u64;
            run.append_entries(file, &mut out.entries)?;
            run.advance(file)?;
            tournament.replay(|a, b| before(runs, a, b));
        }
        if joined > 1 {
            sort_tail(&mut out.entries, entries_start);
        }
        Ok(joined > 0)
    }
}

/// Sorts the entries from `start` on, and removes duplicates.
#[expect(clippy::indexing_slicing, reason = "kept pages are at most the pages that were read")]
pub(super) fn sort_tail(entries: &mut Vec<Entry>, start: usize) {
    entries[start..].sort_unstable();
    let mut kept = start;
    for at in start..entries.len() {
        if at == start || entries[at] != entries[kept - 1] {
            entries.swap(kept, at);
            kept += 1;
        }
    }
    entries.truncate(kept);
}

/// A run at its current page.
struct RunCursor {
    frames: FrameReader,
    /// The rest of the current frame.
    frame: Range<usize>,
    key: Vec<u8>,
    url: Vec<u8>,
    count: usize,
    visits: Range<usize>,
    ended: bool,
}

impl RunCursor {
    fn new(frames: FrameReader) -> RunCursor {
        RunCursor {
            frames,
            frame: 0..0,
            key: Vec::new(),
            url: Vec::new(),
            count: 0,
            visits: 0..0,
            ended: false,
        }
    }

    #[expect(clippy::indexing_slicing, reason = "a frame was found to lie in the file")]
    fn advance(&mut self, file: &[u8]) -> Result<()> {
        if self.frame.is_empty() {
            let Some(frame) = self.frames.next(file)? else {
                self.ended = true;
                return Ok(());
            };
            self.frame = frame;
        }
        let mut cursor = Cursor::new(&file[self.frame.clone()]);
        let visits = (|| {
            take_after(&mut cursor, &mut self.key)?;
            take_after(&mut cursor, &mut self.url)?;
            self.count = cursor.count()?;
            let len = cursor.count()?;
            cursor.take(len)
        })();
        let visits =
            visits.ok_or_else(|| self.frames.damaged("a written page cannot be read back"))?;
        self.frame.start = self.frame.end - cursor.rest().len();
        self.visits = self.frame.start - visits.len()..self.frame.start;
        Ok(())
    }

    #[expect(clippy::indexing_slicing, reason = "the range lies in the current frame")]
    fn append_entries(&self, file: &[u8], out: &mut Vec<Entry>) -> Result<()> {
        let packed = Cursor::new(&file[self.visits.clone()]);
        let damaged = || self.frames.damaged("a written entry cannot be read back");
        for entry in PackedEntries::new(packed, self.count) {
            out.push(entry.ok_or_else(damaged)?);
        }
        Ok(())
    }
}

#[expect(clippy::indexing_slicing, reason = "as many take part as there are runs")]
fn before(runs: &[RunCursor], a: usize, b: usize) -> bool {
    let (first, second) = (&runs[a], &runs[b]);
    let place = |run: &RunCursor, number| (run.ended, number);
    if first.ended || second.ended {
        return place(first, a) < place(second, b);
    }
    let order = first.key.cmp(&second.key).then_with(|| first.url.cmp(&second.url));
    order.then(a.cmp(&b)).is_lt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Seen, Visit};
    use crate::time::Time;

    #[test]
    fn equal_tail_entries_merge_and_others_stay() {
        let failed = |time| Entry::Visit(Visit::new(time, Seen::Failed));
        let times = |entries: &[Entry]| {
            entries.iter().map(|entry| entry.time().as_ms()).collect::<Vec<_>>()
        };
        let mut entries: Vec<Entry> =
            [9, 3, 9, 2, 3, 3, 2].map(Time::from_ms_unchecked).map(failed).to_vec();
        sort_tail(&mut entries, 2);
        assert_eq!(times(&entries), [9, 3, 2, 3, 9]);
        sort_tail(&mut entries, 5);
        assert_eq!(times(&entries), [9, 3, 2, 3, 9]);
        sort_tail(&mut entries, 0);
        assert_eq!(times(&entries), [2, 3, 9]);
    }
}
