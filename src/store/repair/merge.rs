//! Everything that was saved, page by page in SURT order, with what was forgotten left out.

use std::sync::Arc;

use super::find::{Component, Part, open_file};
use super::options::{Loss, Repaired};
use crate::bug::OrBug;
use crate::disk::{Disk, Name};
use crate::error::Result;
use crate::page::{Epoch, Visit, surt};
use crate::segment::{Frame, PageSalvage, PlainSegment, Tombstones, count_visits};
use crate::store::memtable::Memtable;
use crate::store::verify::Pace;

/// A component, and what is doubtful about it.
pub(super) struct Input<'f> {
    pub(super) component: &'f Component,
    pub(super) tombstones: Tombstones,
    /// Whether pages of it that are lost may have been forgotten by it.
    pub(super) resets_lost: bool,
}

/// What a component has of a page.
struct Current {
    key: Vec<u8>,
    url: String,
    /// Whether older components have nothing to say.
    ends: bool,
    visits: Vec<Visit>,
}

enum Reader<'f> {
    Segment { frame: &'f Frame, salvage: Box<PageSalvage<'f>>, visits: u64, has_holes: bool },
    Memory { memtable: &'f Memtable, order: std::vec::IntoIter<u32> },
}

/// A component that stands at a page.
struct Stream<'f> {
    input: Input<'f>,
    reader: Reader<'f>,
    current: Option<Current>,
    /// Whether pages are lost between the one before and this one.
    in_hole: bool,
}

/// Reads all components at once. Takes the memory of a few hundred KiB for each segment, and of one
/// page's visits.
pub(super) struct Merge<'f, 'p, 'w> {
    /// Oldest first.
    streams: Vec<Stream<'f>>,
    keep_forgotten: bool,
    epochs: Vec<Epoch>,
    pace: &'p mut Pace<'w>,
    pub(super) repaired: Repaired,
    url: Arc<str>,
    visits: std::vec::IntoIter<Visit>,
    failed: bool,
}

impl<'f, 'p, 'w> Merge<'f, 'p, 'w> {
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        inputs: Vec<Input<'f>>,
        keep_forgotten: bool,
        epochs: Vec<Epoch>,
        pace: &'p mut Pace<'w>,
    ) -> Result<Self> {
        let mut merge = Merge {
            streams: Vec::with_capacity(inputs.len()),
            keep_forgotten,
            epochs,
            pace,
            repaired: Repaired::default(),
            url: Arc::from(""),
            visits: Vec::new().into_iter(),
            failed: false,
        };
        for input in inputs {
            let reader = match &input.component.part {
                Part::Segment(frame) => {
                    let plain = PlainSegment::new(frame, open_file(disk, frame.id())?);
                    let salvage = Box::new(PageSalvage::new(plain));
                    Reader::Segment { frame, salvage, visits: 0, has_holes: false }
                }
                Part::Memory(memtable) => {
                    let order = memtable.read().order(None).into_iter();
                    Reader::Memory { memtable, order }
                }
            };
            let mut stream = Stream { input, reader, current: None, in_hole: false };
            stream.advance(&mut merge.repaired);
            merge.streams.push(stream);
        }
        Ok(merge)
    }

    /// The next page that any component has, and what is left of it.
    fn next_page(&mut self) -> Result<Option<(Arc<str>, Vec<Visit>)>> {
        let place = |current: &Current| (current.key.clone(), current.url.clone());
        let least = self.streams.iter().filter_map(|stream| stream.current.as_ref().map(place));
        let Some((key, url)) = least.min() else { return Ok(None) };
        let stands = |stream: &Stream<'_>| {
            stream.current.as_ref().is_some_and(|c| c.key == key && c.url == url)
        };
        let (mut visits, mut read) = (Vec::new(), url.len());
        let (mut over, mut doubtful, mut withheld) = (false, false, false);
        for stream in self.streams.iter_mut().rev() {
            if stands(stream) {
                let current = stream.current.take();
                stream.advance(&mut self.repaired);
                let current = current.or_bug("it stands at this page")?;
                read += current.visits.len() * 16;
                if !over {
                    visits.extend(current.visits);
                    over = current.ends;
                } else {
                    withheld |= doubtful;
                }
            } else if !over && stream.in_doubt() && !self.keep_forgotten {
                // A record of it may be among those that are lost, and may have forgotten it.
                (over, doubtful) = (true, true);
            }
            over |= stream.input.tombstones.cover(&key);
        }
        self.repaired.withheld_pages += u64::from(withheld);
        self.pace.pass(read as u64)?;
        let before = count_visits(&visits);
        let epochs = &self.epochs;
        let is_known = |epoch: Epoch| {
            usize::try_from(epoch.count()).is_ok_and(|at| epochs.get(at) == Some(&epoch))
        };
        visits.retain(|visit| visit.seen.content().is_none_or(|c| is_known(c.epoch)));
        self.repaired.lost_visits += (before - count_visits(&visits)) as u64;
        visits.sort_unstable();
        visits.dedup();
        Ok(Some((Arc::from(url), visits)))
    }
}

impl Iterator for Merge<'_, '_, '_> {
    type Item = Result<(Arc<str>, Visit)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(visit) = self.visits.next() {
                return Some(Ok((Arc::clone(&self.url), visit)));
            }
            if self.failed {
                return None;
            }
            match self.next_page() {
                Ok(None) => return None,
                Ok(Some((url, visits))) => {
                    self.url = url;
                    self.visits = visits.into_iter();
                }
                Err(e) => {
                    self.failed = true;
                    return Some(Err(e));
                }
            }
        }
    }
}

impl Stream<'_> {
    /// Whether a page that it does not stand at may have been forgotten by it.
    fn in_doubt(&self) -> bool {
        self.in_hole && self.input.resets_lost
    }

    /// Goes to the next page. What is lost on the way is told.
    fn advance(&mut self, repaired: &mut Repaired) {
        let component = self.input.component;
        match &mut self.reader {
            Reader::Segment { frame, salvage, visits, has_holes } => {
                // Past the last there is neither.
                let (hole, page) = salvage.next().unwrap_or_default();
                self.in_hole = hole.is_some();
                *has_holes |= self.in_hole;
                if let Some(hole) = hole {
                    repaired.lost_pages += hole.pages;
                    let (first, last) = component.operations;
                    repaired.lost.push(Loss {
                        file: Name::Segment(frame.id()).to_string(),
                        bytes: Some(hole.bytes),
                        operations: Some((first, Some(last))),
                        pages: Some(hole.pages),
                        after: hole.after,
                        before: hole.before,
                        why: "pages that no checksum vouches for".to_owned(),
                    });
                }
                *visits += page.as_ref().map_or(0, |page| count_visits(&page.visits) as u64);
                if page.is_none() && *has_holes {
                    repaired.lost_visits += frame.numbers().visits.saturating_sub(*visits);
                }
                self.current = page.map(|page| Current {
                    key: page.key,
                    url: page.url,
                    ends: page.reset || !page.earlier,
                    visits: page.visits,
                });
            }
            Reader::Memory { memtable, order } => {
                let inner = memtable.read();
                self.current = order.by_ref().find_map(|number| {
                    let page = inner.page(number);
                    let mut visits = Vec::new();
                    let record = page.record(&mut visits);
                    let (reset, earlier) = (record.reset, record.earlier);
                    if !reset && record.visits.is_empty() {
                        return None;
                    }
                    let mut key = Vec::new();
                    surt::key(page.url(), &mut key);
                    let url = page.url().to_owned();
                    Some(Current { key, url, ends: reset || !earlier, visits })
                });
            }
        }
    }
}
