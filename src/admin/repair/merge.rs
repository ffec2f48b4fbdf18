//! A merge of all recovered data, page by page in SURT order, without forgotten data.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::find::{RecoveredComponent, RecoveredPart, open_file};
use super::found::{FoundSalvage, RecoveredUrl};
use super::options::{Loss, Repaired};
use crate::admin::load::{LoadItem, Loadable};
use crate::bug::OrBug;
use crate::disk::{Disk, FileName};
use crate::engine::memtable::Memtable;
use crate::error::{Error, Result};
use crate::page::{Changes, Entry, Epoch, Found, drop_superseded, surt};
use crate::segment::{
    FoundFacts, LostPages, PageMerge, PagePart, PageSalvage, PageStream, PlainSegment,
    SegmentFrame, Tombstones, count_visits, page_across,
};

/// A component, and its uncertainties.
#[derive(Clone)]
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
    /// What is known of a found URL, which has no entries.
    found: Option<FoundFacts>,
}

/// An item of the new store.
pub(super) enum RepairedItem {
    Entry((Arc<str>, Entry)),
    Found(Arc<str>, FoundFacts),
}

impl Loadable for RepairedItem {
    fn item(&self) -> LoadItem<'_> {
        match self {
            RepairedItem::Entry(entry) => entry.item(),
            RepairedItem::Found(url, facts) => {
                LoadItem::Found(Found::new(url, facts.time()).weight(facts.weight()))
            }
        }
    }
}

enum ComponentReader<'f> {
    Segment { frame: &'f SegmentFrame, salvage: Box<PageSalvage<'f>>, visits: u64, has_holes: bool },
    Memory { memtable: &'f Memtable, order: std::vec::IntoIter<u32> },
    FoundInSegment { frame: &'f SegmentFrame, salvage: Box<FoundSalvage<'f>> },
    FoundInMemory { memtable: &'f Memtable, order: std::vec::IntoIter<u32> },
}

/// The sound pages of a component, or its found URLs.
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
        !self.stream.is_of_found()
            && self.saved.is_none()
            && *in_hole
            && input.resets_lost
            && !self.keep_forgotten
    }
}

impl PagePart for PageInComponent<'_> {
    fn record_ends(&self) -> Option<bool> {
        self.saved.map(|saved| saved.ends)
    }

    fn covers<'k>(&self, key: impl FnOnce() -> &'k [u8]) -> bool {
        // Found URLs come after the tombstones of their own component.
        !self.stream.is_of_found()
            && (self.may_be_forgotten() || self.stream.input.tombstones.cover(key()))
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
    found: Option<FoundFacts>,
    failed: bool,
}

impl<'f> RepairMerge<'f> {
    /// Creates a merge of components, oldest first.
    pub(super) fn new(
        (from, to): (&Arc<dyn Disk>, &Arc<dyn Disk>),
        inputs: Vec<RepairInput<'f>>,
        keep_forgotten: bool,
        epochs: Vec<Epoch>,
    ) -> Result<Self> {
        let mut streams = Vec::with_capacity(2 * inputs.len());
        for input in inputs {
            // A URL that is in both lists was found after its page was forgotten, so the found URLs
            // of a component count as newer.
            let found = ComponentStream::of_found((from, to), input.clone())?;
            streams.push(ComponentStream::new(from, input)?);
            streams.push(found);
        }
        Ok(RepairMerge {
            pages: PageMerge::new(streams),
            keep_forgotten,
            epochs,
            lost_visits: 0,
            withheld_pages: 0,
            url: Arc::from(""),
            entries: Vec::new().into_iter(),
            found: None,
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
            repaired.lost_found += own.lost_found;
        }
        repaired
    }

    /// The next URL of any component, with its remaining entries, and what is known of it as a found
    /// URL.
    fn next_page(&mut self) -> Result<Option<RepairedPage>> {
        if !self.pages.advance()? {
            return Ok(None);
        }
        let (url, here, keep_forgotten) =
            (self.pages.url()?, self.pages.here(), self.keep_forgotten);
        let asked = self.pages.newest_first();
        let asked =
            asked.map(|(stream, saved)| Ok(PageInComponent { stream, saved, keep_forgotten }));
        let (mut entries, mut counted, mut found) = (Vec::new(), 0, None::<FoundFacts>);
        let end = page_across(
            || self.pages.key(),
            asked,
            |asked| {
                let own = asked.saved.map_or(&[][..], |saved| &saved.entries);
                entries.extend_from_slice(own);
                let facts = asked.saved.and_then(|saved| saved.found);
                found = found.into_iter().chain(facts).reduce(FoundFacts::join);
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
        Ok(Some(RepairedPage { url: Arc::from(url), entries, found }))
    }
}

/// A URL with its remaining data.
struct RepairedPage {
    url: Arc<str>,
    entries: Vec<Entry>,
    found: Option<FoundFacts>,
}

impl Iterator for RepairMerge<'_> {
    type Item = Result<RepairedItem>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(Ok(RepairedItem::Entry((Arc::clone(&self.url), entry))));
            }
            if let Some(found) = self.found.take() {
                return Some(Ok(RepairedItem::Found(Arc::clone(&self.url), found)));
            }
            if self.failed {
                return None;
            }
            match self.next_page() {
                Ok(None) => return None,
                Ok(Some(RepairedPage { url, entries, found })) => {
                    self.url = url;
                    self.entries = entries.into_iter();
                    self.found = found;
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
        stream.advance()?;
        Ok(stream)
    }

    /// The found URLs of a component.
    fn of_found(
        (from, to): (&Arc<dyn Disk>, &Arc<dyn Disk>),
        input: RepairInput<'f>,
    ) -> Result<ComponentStream<'f>> {
        let reader = match &input.component.part {
            RecoveredPart::Segment(frame) => {
                let salvage = Box::new(FoundSalvage::new(from, to, frame)?);
                ComponentReader::FoundInSegment { frame, salvage }
            }
            RecoveredPart::Memory(memtable) => {
                let order = memtable.read().found_order(None).into_iter();
                ComponentReader::FoundInMemory { memtable, order }
            }
        };
        let repaired = Repaired::default();
        let mut stream = ComponentStream { input, reader, next: None, in_hole: false, repaired };
        stream.advance()?;
        Ok(stream)
    }

    /// Whether the stream has found URLs, not pages.
    fn is_of_found(&self) -> bool {
        match self.reader {
            ComponentReader::FoundInSegment { .. } | ComponentReader::FoundInMemory { .. } => true,
            ComponentReader::Segment { .. } | ComponentReader::Memory { .. } => false,
        }
    }

    /// Moves to the next page, and records losses before it.
    fn advance(&mut self) -> Result<()> {
        let ComponentStream { input, reader, repaired, .. } = self;
        match reader {
            ComponentReader::Segment { frame, salvage, visits, has_holes } => {
                // After the last page there is neither a hole nor a page.
                let (hole, page) = salvage.next().unwrap_or_default();
                self.in_hole = hole.is_some();
                *has_holes |= self.in_hole;
                if let Some(hole) = hole {
                    repaired.lost_pages += hole.pages;
                    repaired.lost.push(loss(input, frame, hole, "these pages"));
                }
                *visits += page.as_ref().map_or(0, |page| count_visits(&page.entries) as u64);
                if page.is_none() && *has_holes {
                    repaired.lost_visits += frame.numbers().visits.saturating_sub(*visits);
                }
                self.next = page.map(|page| {
                    let ends = page.reset || !page.earlier;
                    (page.key, page.url, RecoveredPage { ends, entries: page.entries, found: None })
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
                    let ends = reset || !earlier;
                    Some((key, url, RecoveredPage { ends, entries, found: None }))
                });
            }
            ComponentReader::FoundInSegment { frame, salvage } => {
                let (hole, url) = salvage.next()?;
                self.in_hole = hole.is_some();
                if let Some(hole) = hole {
                    repaired.lost_found += hole.pages;
                    repaired.lost.push(loss(input, frame, hole, "these found URLs"));
                }
                self.next = url.map(|RecoveredUrl { key, url, facts }| {
                    let found = Some(facts);
                    (key, url, RecoveredPage { ends: false, entries: Vec::new(), found })
                });
            }
            ComponentReader::FoundInMemory { memtable, order } => {
                let inner = memtable.read();
                self.next = order.by_ref().find_map(|number| {
                    let (_, url, facts) = inner.found(number, u64::MAX)?;
                    let found = Some(facts);
                    let page = RecoveredPage { ends: false, entries: Vec::new(), found };
                    Some((surt::key_of(url), url.to_owned(), page))
                });
            }
        }
        Ok(())
    }
}

/// The loss of the URLs in a hole.
fn loss(input: &RepairInput<'_>, frame: &SegmentFrame, hole: LostPages, what: &str) -> Loss {
    let (first, last) = input.component.operations;
    Loss {
        file: FileName::Segment(frame.id()).to_string(),
        bytes: Some(hole.bytes),
        operations: Some((first, Some(last))),
        pages: Some(hole.pages),
        after_url: hole.after,
        before_url: hole.before,
        why: format!("{what} have no valid checksum"),
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
        self.advance()?;
        Ok(saved)
    }
}
