//! Batches of pages of a load, passed from the merging thread to the writing thread.

use std::iter::repeat_with;
use std::mem::take;
use std::ops::Range;

use super::epochs::ResolvedEpochs;
use super::runs::{MergedPages, RunMerge, sort_tail};
use crate::bug::{Bug, OrBug, ensure};
use crate::engine::lookup::Lookup;
use crate::engine::view::View;
use crate::error::Result;
use crate::layout::PackedRow;
use crate::page::{
    Changes, Entry, EpochInfo, InForceContents, PageHistory, PageState, Restated, in_force_on,
    restated_digest,
};
use crate::segment::{ScheduleRow, count_visits, host_slot_of, put_carried, url_hash};

/// The maximum number of pages in a batch.
const BATCH_PAGES: usize = 2048;

/// A batch with this number of bytes of URLs, or of entries, is passed on early.
const BATCH_URL_BYTES: usize = 512 << 10;
const BATCH_ENTRIES: usize = 8 << 10;

/// Pages that are ready to be written.
#[derive(Debug, Default)]
pub(super) struct LoadBatch {
    pages: Vec<LoadPage>,
    joined: MergedPages,
    heads: Vec<u8>,
}

/// A page of a batch.
#[derive(Debug)]
pub(super) struct LoadPage {
    url: Range<usize>,
    pub(super) hash: u64,
    /// The number of the slot of the page's host.
    host: u16,
    /// The entries of the page that are new to the store.
    entries: Range<usize>,
    /// The head of the page in the store, packed.
    before: Range<usize>,
    /// The change statistics of the page over old and new entries.
    pub(super) changes: Changes,
    /// The page's input to the schedule.
    pub(super) row: PackedRow,
    pub(super) in_force: InForceContents,
    /// Whether any segment has the page.
    pub(super) earlier: bool,
    /// The states of the page before and after the load.
    pub(super) states: (PageState, PageState),
}

impl LoadBatch {
    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.joined.clear();
        self.heads.clear();
    }

    pub(super) fn is_full(&self) -> bool {
        self.pages.len() >= BATCH_PAGES
            || self.joined.urls.len() >= BATCH_URL_BYTES
            || self.joined.entries.len() >= BATCH_ENTRIES
    }

    /// The number of entries that were read for these pages.
    pub(super) fn entries_read(&self) -> u64 {
        self.joined.entries_read
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = &LoadPage> {
        self.pages.iter()
    }

    pub(super) fn url(&self, page: &LoadPage) -> Result<&str, Bug> {
        text(self.joined.urls.get(page.url.clone()))
    }

    /// The entries of a page that are new to the store.
    pub(super) fn entries(&self, page: &LoadPage) -> Result<&[Entry], Bug> {
        let entries = self.joined.entries.get(page.entries.clone());
        entries.or_bug("a page's entries are a range of the batch's entries")
    }

    /// The head of a page in the store, packed.
    pub(super) fn before(&self, page: &LoadPage) -> Result<&[u8], Bug> {
        self.heads.get(page.before.clone()).or_bug("a head is a range of the batch's heads")
    }

    /// Reads the next page, and converts its epoch numbers to the store's epoch numbers. Returns
    /// false after the last page.
    pub(super) fn take(
        &mut self,
        merge: &mut RunMerge<'_>,
        seed: u64,
        epochs: &ResolvedEpochs,
    ) -> Result<bool> {
        let (url, entries) = (self.joined.urls.len(), self.joined.entries.len());
        if !merge.next(&mut self.joined)? {
            return Ok(false);
        }
        let mut renumbered = false;
        for entry in self.joined.entries.iter_mut().skip(entries) {
            renumbered |= epochs.renumber(entry)?;
        }
        if renumbered {
            sort_tail(&mut self.joined.entries, entries);
        }
        let of = text(self.joined.urls.get(url..))?;
        self.pages.push(LoadPage {
            hash: url_hash(of, seed),
            host: host_slot_of(&self.joined.key, seed),
            url: url..self.joined.urls.len(),
            entries: entries..self.joined.entries.len(),
            before: 0..0,
            changes: Changes::default(),
            row: PackedRow::default(),
            in_force: InForceContents::new(),
            earlier: false,
            states: (PageState::Unknown, PageState::Unknown),
        });
        Ok(true)
    }

    /// Looks up the batch's pages in the segments of a view, drops entries that the store has, and
    /// computes the state of the pages with the remaining entries.
    pub(super) fn reconcile(&mut self, view: &View, epochs: &[EpochInfo]) -> Result<()> {
        let known = if view.segments.is_empty() { Vec::new() } else { self.known(view)? };
        let is_of_all = known.is_empty() || known.len() == self.pages.len();
        ensure(is_of_all, "each page of a batch is looked up")?;
        let known = known.into_iter().chain(repeat_with(|| None));
        let mut pages = take(&mut self.pages);
        for (page, known) in pages.iter_mut().zip(known) {
            self.reconcile_page(page, known, view, epochs)?;
        }
        pages.retain(|page| !page.entries.is_empty());
        self.pages = pages;
        Ok(())
    }

    /// The histories of the batch's pages in the segments.
    fn known(&self, view: &View) -> Result<Vec<Option<PageHistory>>> {
        let mut known = vec![None; self.pages.len()];
        let lookup = |page: &LoadPage| Ok(Lookup::of(self.url(page)?, page.hash));
        let lookups = self.pages.iter().map(lookup).collect::<Result<Vec<_>, Bug>>()?;
        view.locate_in_segments(&lookups, |place, _, course| {
            *known.get_mut(place).or_bug("each index is the index of a lookup")? = Some(course);
            Ok(())
        })?;
        Ok(known)
    }

    fn reconcile_page(
        &mut self,
        page: &mut LoadPage,
        known: Option<PageHistory>,
        view: &View,
        epochs: &[EpochInfo],
    ) -> Result<()> {
        page.earlier = known.is_some();
        let mut course = known.unwrap_or_default();
        let before = PageState::of(course.head.as_ref());
        if let Some(head) = &course.head {
            let start = self.heads.len();
            put_carried(&mut self.heads, head, &[]);
            page.before = start..self.heads.len();
        }
        let is_new = |entry: &Entry| match (&course.head, entry) {
            (_, Entry::Restated(_)) | (None, Entry::Property(_)) => false,
            (None, Entry::Visit(_)) => true,
            (Some(head), Entry::Visit(visit)) => *visit > head.last || visit.time < head.first,
            (Some(head), Entry::Property(given)) => {
                !head.is_superseded(given)
                    && Some(given) > head.properties.of_kind(&given.property).as_ref()
            }
        };
        let mut old = None;
        if !self.entries(page)?.iter().all(is_new) {
            let entries = self.entries(page)?;
            let old = old.insert(self.stored(page, view)?);
            let resolved = entries.iter().filter_map(|entry| resolve(entry, entries, old));
            let new: Vec<Entry> =
                resolved.filter(|entry| old.binary_search(entry).is_err()).collect();
            self.replace(page, new)?;
        }
        let entries = self.entries(page)?;
        if course.head.is_none() {
            course = PageHistory::of(entries, epochs);
        } else {
            course.follow(entries, epochs);
        }
        page.changes = match course.changes {
            Some(changes) => changes,
            // A new visit is earlier than a stored visit.
            None => {
                let old = old.map_or_else(|| self.stored(page, view), Ok)?;
                Changes::of(&joined(&old, entries), epochs)
            }
        };
        let head = course.head.as_ref();
        let is_ended = |entry: &Entry| {
            let given = entry.property();
            given.is_some_and(|given| head.is_some_and(|head| head.ends_etag(given)))
        };
        if entries.iter().any(is_ended) {
            let kept = entries.iter().filter(|entry| !is_ended(entry)).cloned().collect();
            self.replace(page, kept)?;
        }
        let entries = self.entries(page)?;
        page.row = ScheduleRow::new(head, &page.changes, count_visits(entries), page.host).pack();
        page.in_force = in_force_on(head);
        page.states = (before, PageState::of(head));
        Ok(())
    }

    /// All entries of a page in the store.
    fn stored(&self, page: &LoadPage, view: &View) -> Result<Vec<Entry>> {
        view.entries(&Lookup::of(self.url(page)?, page.hash), u64::MAX)
    }

    /// Replaces a page's entries by the remaining entries.
    fn replace(&mut self, page: &mut LoadPage, mut entries: Vec<Entry>) -> Result<(), Bug> {
        entries.sort_unstable();
        entries.dedup();
        let is_less = entries.len() <= page.entries.len();
        ensure(is_less, "a page keeps at most the entries that it had")?;
        page.entries.end = page.entries.start + entries.len();
        let place = self.joined.entries.get_mut(page.entries.clone());
        let place = place.or_bug("a page's entries are a range of the batch's entries")?;
        place.clone_from_slice(&entries);
        Ok(())
    }
}

/// The stored and the new entries together, in order.
fn joined(old: &[Entry], new: &[Entry]) -> Vec<Entry> {
    let mut all = [old, new].concat();
    all.sort_unstable();
    all
}

/// Returns a URL of a batch. The URL was valid text when the load received it, and has been covered
/// by a checksum since.
fn text(url: Option<&[u8]>) -> Result<&str, Bug> {
    let url = url.or_bug("a URL is a range of the batch's URLs")?;
    std::str::from_utf8(url).ok().or_bug("a URL is UTF-8")
}

/// Resolves an entry. A visit is unchanged, and so is a property if its page has any visit. A
/// restatement gets the digest of its visit in `entries` or `old`; `None` if there is no such
/// visit.
fn resolve(entry: &Entry, entries: &[Entry], old: &[Entry]) -> Option<Entry> {
    let restated = match entry {
        Entry::Visit(_) => return Some(entry.clone()),
        Entry::Property(_) => {
            let is_known = entries.iter().chain(old).any(Entry::is_visit);
            return is_known.then(|| entry.clone());
        }
        Entry::Restated(restated) => *restated,
    };
    let of_time = |entries: &'_ [Entry]| {
        let start = entries.partition_point(|other| other.time() < restated.time);
        let end = entries.partition_point(|other| other.time() <= restated.time);
        start..end
    };
    let (new, old) = (entries.get(of_time(entries))?, old.get(of_time(old))?);
    let seen = new.iter().chain(old).filter_map(Entry::visit).filter_map(|v| v.seen.content());
    let digest = restated_digest(restated.digest, seen.map(|content| content.digest))?;
    Some(Entry::Restated(Restated { digest, ..restated }))
}
