//! The pages that have one fingerprint, in SURT order over all components, some at a time: however many
//! they are, a few are in memory.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Hit;
use super::resolve::{Search, listed};
use crate::bug::{Bug, OrBug};
use crate::engine::component::Component;
use crate::error::Result;
use crate::page::surt;
use crate::progress::Progress;

/// Pages looked up together, once the first one is not enough.
const TOGETHER: usize = 32;

/// How many postings without a page to show are passed over before someone is asked whether to go on.
const ASKED: u32 = 1 << 10;

/// The pages that have a fingerprint, from some place on. A clone goes on from the same place.
#[derive(Clone)]
pub(crate) struct PagesOfFingerprint {
    /// What each component has; those that have no more are gone.
    parts: Vec<Part>,
    /// Whether pages of several components are put in order.
    is_merged: bool,
}

/// The pages that one component has, in SURT order.
#[derive(Clone)]
struct Part {
    hit: Hit,
    after: After,
    /// Those that are next, with their keys if there are other components.
    next: VecDeque<(Vec<u8>, Arc<str>)>,
}

/// Up to where pages of a component were looked at.
#[derive(Clone, Copy)]
enum After {
    /// The next one is this one in SURT order, or one behind it.
    Segment(u32),
    /// The last one, and a place in the list at or before which it stands.
    Memtable(Option<u32>, usize),
}

impl PagesOfFingerprint {
    /// All pages of a fingerprint that these components have. Looks up the first of each component;
    /// none if there is none.
    pub(crate) fn of<'h>(
        hits: impl Iterator<Item = &'h Hit>,
        search: &mut Search<'_, '_>,
        progress: &Progress,
    ) -> Result<Option<PagesOfFingerprint>> {
        let mut parts: Vec<Part> = Vec::new();
        for hit in hits {
            let after = match search.view.component(hit.component)? {
                Component::Segment(..) => After::Segment(0),
                Component::Memtable(..) => After::Memtable(None, 0),
            };
            parts.push(Part { hit: *hit, after, next: VecDeque::new() });
        }
        let is_merged = parts.len() > 1;
        for part in &mut parts {
            // One page shows whether the fingerprint is visible
            // at all. More are looked up when they are asked for.
            part.fill(1, is_merged, search, progress)?;
        }
        parts.retain(|part| !part.next.is_empty());
        Ok(Some(PagesOfFingerprint { parts, is_merged }).filter(|all| !all.parts.is_empty()))
    }

    /// The first page, of those that no page was taken of.
    pub(crate) fn first(&self) -> Result<&Arc<str>, Bug> {
        let firsts = self.parts.iter().filter_map(|part| part.next.front());
        firsts.min().map(|(_, url)| url).or_bug("there is a page, and it was looked up")
    }

    /// The next page.
    pub(crate) fn next(
        &mut self,
        search: &mut Search<'_, '_>,
        progress: &Progress,
    ) -> Result<Option<Arc<str>>> {
        // At most one part is empty: the one whose last page the previous call took.
        if let Some(at) = self.parts.iter().position(|part| part.next.is_empty()) {
            let part = self.parts.get_mut(at).or_bug("it is one of the parts")?;
            part.fill(TOGETHER, self.is_merged, search, progress)?;
            if part.next.is_empty() {
                self.parts.swap_remove(at);
            }
        }
        let first = self.parts.iter_mut().min_by(|a, b| a.next.front().cmp(&b.next.front()));
        Ok(first.and_then(|part| part.next.pop_front()).map(|(_, url)| url))
    }
}

impl Part {
    /// Looks up the next pages, up to so many: none if there are no more.
    fn fill(
        &mut self,
        most: usize,
        keyed: bool,
        search: &mut Search<'_, '_>,
        progress: &Progress,
    ) -> Result<()> {
        let mut passed = 0_u32;
        // Cancelling is checked every 1,024 postings: hidden
        // pages yield no result at which a caller could stop.
        let mut pass = || {
            passed += 1;
            if passed.is_multiple_of(ASKED) { progress.check() } else { Ok(()) }
        };
        let (candidate, component) = (self.hit.candidate, self.hit.component);
        match (search.view.component(component)?, self.after) {
            (Component::Segment(number, live), After::Segment(from)) => {
                let epoch = search.wanted.epoch;
                let tables = live.tables(epoch).or_bug("a hit was found by tables of its epoch")?;
                let under = search.under(number, live)?;
                // Postings are in SURT order like the pages, so the walk can resume at a page number.
                let (start, end) = (under.start.max(from), under.end);
                let of = candidate.ordinal;
                let postings = tables
                    .postings_ahead(of, start, None, most, move |p| p.page < end && p.in_force);
                // Assumes that the list ends here; corrected below if the batch is full first.
                self.after = After::Segment(end);
                for posting in postings? {
                    let posting = posting?;
                    if posting.page >= end {
                        break;
                    }
                    // Postings of past versions are stepped over: only
                    // pages that show the fingerprint now are wanted.
                    if posting.in_force {
                        search.page(number, live, posting.page, &candidate)?;
                    }
                    if search.findings.near.len() >= most {
                        self.after = After::Segment(posting.page.saturating_add(1));
                        break;
                    }
                    pass()?;
                }
            }
            (Component::Memtable(id, memtable), After::Memtable(mut last, mut at)) => {
                // Several batches of the list may be needed, since pages
                // of later snapshots or other prefixes give no result.
                while search.findings.near.len() < most {
                    let list = (search.wanted.epoch, candidate.ordinal);
                    let pages = listed(memtable, list, (&mut last, &mut at), most)?;
                    if pages.is_empty() {
                        break;
                    }
                    for page in pages {
                        search.memory_page(id, memtable, page, &candidate)?;
                        pass()?;
                    }
                }
                self.after = After::Memtable(last, at);
            }
            _ => return Err(Bug::new("a part goes on as its component does").into()),
        }
        // Each component yields its pages in SURT order already, so the locations are not needed.
        search.order.clear();
        let key = |url: &str| {
            let mut key = Vec::new();
            // Keys are needed to merge components. A single one is in order without them.
            if keyed {
                surt::key(url, &mut key);
            }
            key
        };
        let found = search.findings.near.drain(..);
        self.next.extend(found.map(|near| (key(&near.url), Arc::from(near.url))));
        Ok(())
    }
}
