//! The pages that have one fingerprint, in SURT order over all components. Only a few of these
//! pages are in memory at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Hit;
use super::resolve::{HitResolver, listed};
use crate::bug::{Bug, OrBug};
use crate::engine::component::Component;
use crate::error::Result;
use crate::page::surt;
use crate::progress::Progress;

/// The number of pages looked up together, after the first page.
const TOGETHER: usize = 32;

/// The number of skipped postings between two checks for cancellation.
const ASKED: u32 = 1 << 10;

/// The remaining pages of a fingerprint. A clone continues from the position of the original.
#[derive(Clone)]
pub(crate) struct PagesOfFingerprint {
    /// The remaining pages of each component; exhausted components are removed.
    parts: Vec<ComponentPages>,
    /// Whether pages of several components are merged.
    is_merged: bool,
}

/// The pages of one component, in SURT order.
#[derive(Clone)]
struct ComponentPages {
    hit: Hit,
    after: PagePosition,
    /// The next pages, with their keys if there are other components.
    next: VecDeque<(Vec<u8>, Arc<str>)>,
}

/// The position in a component.
#[derive(Clone, Copy)]
enum PagePosition {
    /// The next page is the page with this number, or a later page in SURT order.
    Segment(u32),
    /// The last page, and an index in the list that is not after its position.
    Memtable(Option<u32>, usize),
}

impl PagesOfFingerprint {
    /// Returns all pages of the fingerprint in the components of `hits`. Looks up the first page of
    /// each component; `None` if there is no page.
    pub(crate) fn of<'h>(
        hits: impl Iterator<Item = &'h Hit>,
        search: &mut HitResolver<'_, '_>,
        progress: &Progress,
    ) -> Result<Option<PagesOfFingerprint>> {
        let mut parts: Vec<ComponentPages> = Vec::new();
        for hit in hits {
            let after = match search.view.component(hit.component)? {
                Component::Segment(..) => PagePosition::Segment(0),
                Component::Memtable(..) => PagePosition::Memtable(None, 0),
            };
            parts.push(ComponentPages { hit: *hit, after, next: VecDeque::new() });
        }
        let is_merged = parts.len() > 1;
        for part in &mut parts {
            // One page shows whether the fingerprint is visible at all. More pages are looked up
            // when they are needed.
            part.fill(1, is_merged, search, progress)?;
        }
        parts.retain(|part| !part.next.is_empty());
        Ok(Some(PagesOfFingerprint { parts, is_merged }).filter(|all| !all.parts.is_empty()))
    }

    /// The first page, before any page was taken.
    pub(crate) fn first(&self) -> Result<&Arc<str>, Bug> {
        let firsts = self.parts.iter().filter_map(|part| part.next.front());
        firsts.min().map(|(_, url)| url).or_bug("a fingerprint has a page, which was looked up")
    }

    /// Returns the next page.
    pub(crate) fn next(
        &mut self,
        search: &mut HitResolver<'_, '_>,
        progress: &Progress,
    ) -> Result<Option<Arc<str>>> {
        // At most one part is empty: the part whose last page the previous call returned.
        if let Some(at) = self.parts.iter().position(|part| part.next.is_empty()) {
            let part = self.parts.get_mut(at).or_bug("the index is the index of a part")?;
            part.fill(TOGETHER, self.is_merged, search, progress)?;
            if part.next.is_empty() {
                self.parts.swap_remove(at);
            }
        }
        let first = self.parts.iter_mut().min_by(|a, b| a.next.front().cmp(&b.next.front()));
        Ok(first.and_then(|part| part.next.pop_front()).map(|(_, url)| url))
    }
}

impl ComponentPages {
    /// Looks up the next `most` pages, or fewer if there are no more.
    fn fill(
        &mut self,
        most: usize,
        keyed: bool,
        search: &mut HitResolver<'_, '_>,
        progress: &Progress,
    ) -> Result<()> {
        let mut passed = 0_u32;
        // Cancellation is checked every 1,024 postings: hidden pages yield no result at which a
        // caller could stop.
        let mut pass = || {
            passed += 1;
            if passed.is_multiple_of(ASKED) { progress.check() } else { Ok(()) }
        };
        let (candidate, component) = (self.hit.candidate, self.hit.component);
        match (search.view.component(component)?, self.after) {
            (Component::Segment(number, live), PagePosition::Segment(from)) => {
                let epoch = search.wanted.epoch;
                let tables =
                    live.tables(epoch).or_bug("each hit comes from tables of its epoch")?;
                let under = search.under(number, live)?;
                // Postings are in SURT order like the pages, so the walk can resume at a page
                // number.
                let (start, end) = (under.start.max(from), under.end);
                let of = candidate.ordinal;
                let postings = tables
                    .postings_ahead(of, start, None, most, move |p| p.page < end && p.in_force);
                // Assumes that the list ends here. The position is corrected below if the batch is
                // full before the end.
                self.after = PagePosition::Segment(end);
                for posting in postings? {
                    let posting = posting?;
                    if posting.page >= end {
                        break;
                    }
                    // Postings of past versions are skipped: only pages that have the fingerprint
                    // in force count.
                    if posting.in_force {
                        search.page(number, live, posting.page, &candidate)?;
                    }
                    if search.output.near.len() >= most {
                        self.after = PagePosition::Segment(posting.page.saturating_add(1));
                        break;
                    }
                    pass()?;
                }
            }
            (Component::Memtable(id, memtable), PagePosition::Memtable(mut last, mut at)) => {
                // Several batches of the list may be needed, because pages of later snapshots or
                // other prefixes give no result.
                while search.output.near.len() < most {
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
                self.after = PagePosition::Memtable(last, at);
            }
            _ => {
                return Err(Bug::new("the position in a part has the kind of its component").into());
            }
        }
        // Each component yields its pages in SURT order already, so the locations are not needed.
        search.order.clear();
        let key = |url: &str| {
            let mut key = Vec::new();
            // Keys are needed to merge components. The pages of a single component are in order
            // without keys.
            if keyed {
                surt::key(url, &mut key);
            }
            key
        };
        let found = search.output.near.drain(..);
        self.next.extend(found.map(|near| (key(&near.url), Arc::from(near.url))));
        Ok(())
    }
}
