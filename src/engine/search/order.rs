//! Pages found at one distance, in SURT order.

use super::FromHit;
use crate::bug::{Bug, ensure};
use crate::engine::component::{ComponentId, PageAddress};
use crate::order::sort_few_by;
use crate::order::sort_few_by_key;
use crate::page::surt;

/// The locations of found pages, in the order in which they were found. A segment's pages are in
/// SURT order, so their numbers determine the order. Most searches find one page, which needs no
/// allocation.
#[derive(Default)]
pub(crate) struct HitLocations {
    first: Option<PageAddress>,
    more: Vec<PageAddress>,
}

impl HitLocations {
    pub(crate) fn clear(&mut self) {
        self.first = None;
        self.more.clear();
    }

    /// Adds the location of the next found page.
    pub(crate) fn add(&mut self, location: PageAddress) {
        match self.first {
            None => self.first = Some(location),
            Some(_) => self.more.push(location),
        }
    }

    /// Sorts the results from the index `from` on into SURT order, without duplicates of a page and
    /// fingerprint.
    ///
    /// # Errors
    ///
    /// A bug if a location is missing.
    pub(crate) fn put<F: FromHit>(&self, found: &mut Vec<F>, from: usize) -> Result<(), Bug> {
        let noted = usize::from(self.first.is_some()) + self.more.len();
        // `put` sorts by these locations, so a missing location would attach pages to wrong keys.
        ensure(from + noted == found.len(), "each found page has a location")?;
        let Some(first) = self.first.filter(|_| !self.more.is_empty()) else { return Ok(()) };
        let is_there = |location: &PageAddress| location.component == first.component;
        // Page numbers order only within one segment: a memtable numbers pages by arrival.
        if !matches!(first.component, ComponentId::Segment(_)) || !self.more.iter().all(is_there) {
            by_surt(found, from);
            return Ok(());
        }
        let pages = || [first].into_iter().chain(self.more.iter().copied()).map(|s| s.page);
        // Strictly ascending numbers mean that there are no duplicates either. The pages of one
        // posting list are already in order and are left unchanged.
        if !pages().is_sorted_by(|a, b| a < b) {
            let new = pages().zip(found.drain(from..));
            let mut new: Vec<(u32, F)> = new.collect();
            let of = |(page, found): &(u32, F)| (*page, found.near().fingerprint);
            sort_few_by_key(&mut new, of);
            new.dedup_by(|a, b| of(a) == of(b));
            found.extend(new.into_iter().map(|(_, found)| found));
        }
        Ok(())
    }
}

/// Sorts the results from the index `from` on into SURT order by their URLs, without duplicates of
/// a page and fingerprint. Costs a key for each result.
fn by_surt<F: FromHit>(found: &mut Vec<F>, from: usize) {
    if found.len() < from + 2 {
        return;
    }
    let keyed = |found: F| (surt::key_of(&found.near().url), found);
    let mut new: Vec<(Vec<u8>, F)> = found.drain(from..).map(keyed).collect();
    sort_few_by(&mut new, |a, b| order(a).cmp(&order(b)));
    // Entries before `from` are nearer, so they have other fingerprints and cannot be duplicates of
    // the new entries.
    new.dedup_by(|a, b| order(a) == order(b));
    found.extend(new.into_iter().map(|(_, found)| found));
}

/// Joins the results of two searches without common pages, the nearest first.
pub(crate) fn merge_results<F: FromHit>(mut one: Vec<F>, other: Vec<F>) -> Vec<F> {
    if one.is_empty() || other.is_empty() {
        one.extend(other);
        return one;
    }
    one.extend(other);
    by_surt(&mut one, 0);
    // The sort is stable, so results at one distance stay in SURT order.
    sort_few_by_key(&mut one, |found| found.near().distance);
    one
}

fn order<F: FromHit>((key, found): &(Vec<u8>, F)) -> (&[u8], &str, u64) {
    (key, &found.near().url, found.near().fingerprint)
}
