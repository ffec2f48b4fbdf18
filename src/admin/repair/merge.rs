//! A merge of all recovered data, page by page in SURT order, without forgotten data.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::find::{RecoveredComponent, RecoveredPart, open_file};
use super::options::{Loss, Repaired};
use crate::bug::OrBug;
use crate::disk::{Disk, FileName};
use crate::engine::memtable::Memtable;
use crate::error::{Error, Result};
use crate::page::{Changes, Entry, Epoch, drop_superseded, surt};
use crate::segment::{
    PageMerge, PagePart, PageSalvage, PageStream, PlainSegment, SegmentFrame, Tombstones,
    count_visits, page_across,
};

/// A component, and its uncertainties.
pub(super) struct RepairInput<'f> {
    pub(super) component: &'f RecoveredComponent,
    pub(super) tombstones: Tombstones,
    /// Whether the component may have forgotten pages whose records are lost.
    pub(super) resets_lost: bool,
}

/// The data of a page in a component.
struct RecoveredPage {
    /// Whether the component hides the page's data in older components.
    ends: bool,
    entries: Vec<Entry>,
}

enum ComponentReader<'f> {
    Segment { frame: &'f SegmentFrame, salvage: Box<PageSalvage<'f>>, visits: u64, has_holes: bool },
    Memory { memtable: &'f Memtable, order: std::vec::IntoIter<u32> },
}

/// The sound pages of a component.
struct ComponentStream<'f> {
    input: RepairInput<'f>,
    reader: ComponentReader<'f>,
    /// The SURT key and the URL of the next page, and its data.
    next: Option<(Vec<u8>, String, RecoveredPage)>,
    /// Whether pages before the next page are lost.
    in_hole: bool,
    repaired: Repaired,
}

/// The data of the current page in one component.
struct PageInComponent<'s> {
    stream: &'s ComponentStream<'s>,
    saved: Option<&'s RecoveredPage>,
    keep_forgotten: bool,
}

impl PageInComponent<'_> {
    /// Whether a lost record of the component may belong to the page and may have forgotten it.
    fn may_be_forgotten(&self) -> bool {
        let ComponentStream { in_hole, input, .. } = self.stream;
        self.saved.is_none() && *in_hole && input.resets_lost && !self.keep_forgotten
    }
}

impl PagePart for PageInComponent<'_> {
    fn record_ends(&self) -> Option<bool> {
        self.saved.map(|saved| saved.ends)
    }

    fn covers<'k>(&self, key: impl FnOnce() -> &'k [u8]) -> bool {
        self.may_be_forgotten() || self.stream.input.tombstones.cover(key())
    }
}

/// Reads all components at once. Takes a few hundred KiB of memory for each segment, plus one
/// page's visits.
pub(super) struct RepairMerge<'f> {
    pages: PageMerge<ComponentStream<'f>>,
    keep_forgotten: bool,
    epochs: Vec<Epoch>,
    lost_visits: u64,
    withheld_pages: u64,
    url: Arc<str>,
    entries: std::vec::IntoIter<Entry>,
    failed: bool,
}

impl<'f> RepairMerge<'f> {
    /// Creates a merge of components, oldest first.
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        inputs: Vec<RepairInput<'f>>,
        keep_forgotten: bool,
        epochs: Vec<Epoch>,
    ) -> Result<Self> {
        let streams = inputs.into_iter().map(|input| ComponentStream::new(disk, input));
        Ok(RepairMerge {
            pages: PageMerge::new(streams.collect::<Result<_>>()?),
            keep_forgotten,
            epochs,
            lost_visits: 0,
            withheld_pages: 0,
            url: Arc::from(""),
            entries: Vec::new().into_iter(),
            failed: false,
        })
    }

    /// The losses found in the pages read so far.
    pub(super) fn repaired(&self) -> Repaired {
        let RepairMerge { lost_visits, withheld_pages, .. } = *self;
        let mut repaired = Repaired { lost_visits, withheld_pages, ..Repaired::default() };
        for ComponentStream { repaired: own, .. } in self.pages.streams() {
            repaired.lost.extend_from_slice(&own.lost);
            repaired.lost_pages += own.lost_pages;
            repaired.lost_visits += own.lost_visits;
        }
        repaired
    }

    /// The next page of any component, with its remaining entries.
    fn next_page(&mut self) -> Result<Option<(Arc<str>, Vec<Entry>)>> {
        if !self.pages.advance()? {
            return Ok(None);
        }
        let (url, here, keep_forgotten) =
            (self.pages.url()?, self.pages.here(), self.keep_forgotten);
        let asked = self.pages.newest_first();
        let asked =
            asked.map(|(stream, saved)| Ok(PageInComponent { stream, saved, keep_forgotten }));
        let (mut entries, mut counted) = (Vec::new(), 0);
        let end = page_across(
            || self.pages.key(),
            asked,
            |asked| {
                let own = asked.saved.map_or(&[][..], |saved| &saved.entries);
                entries.extend_from_slice(own);
                counted += 1;
                Ok::<_, Error>(ControlFlow::Continue(()))
            },
        )?;
        let is_withheld = end.is_some_and(|end| end.may_be_forgotten()) && counted < here.len();
        self.withheld_pages += u64::from(is_withheld);
        let before = count_visits(&entries);
        let epochs = &self.epochs;
        let is_known = |epoch: Epoch| {
            usize::try_from(epoch.count()).is_ok_and(|at| epochs.get(at) == Some(&epoch))
        };
        entries.retain(|entry| entry.content().is_none_or(|c| is_known(c.epoch)));
        self.lost_visits += (before - count_visits(&entries)) as u64;
        entries.sort_unstable();
        entries.dedup();
        drop_superseded(&mut entries);
        Ok(Some((Arc::from(url), entries)))
    }
}

impl Iterator for RepairMerge<'_> {
    type Item = Result<(Arc<str>, Entry)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(Ok((Arc::clone(&self.url), entry)));
            }
            if self.failed {
                return None;
            }
            match self.next_page() {
                Ok(None) => return None,
                Ok(Some((url, entries))) => {
                    self.url = url;
                    self.entries = entries.into_iter();
                }
                Err(e) => {
                    self.failed = true;
                    return Some(Err(e));
                }
            }
        }
    }
}

impl<'f> ComponentStream<'f> {
    fn new(disk: &Arc<dyn Disk>, input: RepairInput<'f>) -> Result<ComponentStream<'f>> {
        let reader = match &input.component.part {
            RecoveredPart::Segment(frame) => {
                let plain = PlainSegment::new(frame, open_file(disk, frame.id())?);
                let salvage = Box::new(PageSalvage::new(plain));
                ComponentReader::Segment { frame, salvage, visits: 0, has_holes: false }
            }
            RecoveredPart::Memory(memtable) => {
                let order = memtable.read().order(None).into_iter();
                ComponentReader::Memory { memtable, order }
            }
        };
        let repaired = Repaired::default();
        let mut stream = ComponentStream { input, reader, next: None, in_hole: false, repaired };
        stream.advance();
        Ok(stream)
    }

    /// Moves to the next page, and records losses before it.
    fn advance(&mut self) {
        let ComponentStream { input, reader, repaired, .. } = self;
        match reader {
            ComponentReader::Segment { frame, salvage, visits, has_holes } => {
                // After the last page there is neither a hole nor a page.
                let (hole, page) = salvage.next().unwrap_or_default();
                self.in_hole = hole.is_some();
                *has_holes |= self.in_hole;
                if let Some(hole) = hole {
                    repaired.lost_pages += hole.pages;
                    let (first, last) = input.component.operations;
                    repaired.lost.push(Loss {
                        file: FileName::Segment(frame.id()).to_string(),
                        bytes: Some(hole.bytes),
                        operations: Some((first, Some(last))),
                        pages: Some(hole.pages),
                        after_url: hole.after,
                        before_url: hole.before,
                        why: "these pages have no valid checksum".to_owned(),
                    });
                }
                *visits += page.as_ref().map_or(0, |page| count_visits(&page.entries) as u64);
                if page.is_none() && *has_holes {
                    repaired.lost_visits += frame.numbers().visits.saturating_sub(*visits);
                }
                self.next = page.map(|page| {
                    let ends = page.reset || !page.earlier;
                    (page.key, page.url, RecoveredPage { ends, entries: page.entries })
                });
            }
            ComponentReader::Memory { memtable, order } => {
                let inner = memtable.read();
                self.next = order.by_ref().find_map(|number| {
                    let page = inner.page(number);
                    let mut entries = Vec::new();
                    page.take_entries(&mut entries);
                    // The load that reads the pages computes their change statistics.
                    let record = page.record(&entries, Changes::default());
                    let (reset, earlier) = (record.reset, record.earlier);
                    if !reset && entries.is_empty() {
                        return None;
                    }
                    let (key, url) = (surt::key_of(page.url()), page.url().to_owned());
                    Some((key, url, RecoveredPage { ends: reset || !earlier, entries }))
                });
            }
        }
    }
}

impl PageStream for ComponentStream<'_> {
    type Page = RecoveredPage;

    fn next_place(&self) -> Option<(&[u8], &[u8])> {
        self.next.as_ref().map(|(key, url, _)| (key.as_slice(), url.as_bytes()))
    }

    fn take(&mut self) -> Result<RecoveredPage> {
        let (.., saved) =
            self.next.take().or_bug("a page is taken only after the stream returned its place")?;
        self.advance();
        Ok(saved)
    }
}
