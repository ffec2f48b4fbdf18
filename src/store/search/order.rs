//! Pages found at one distance, in SURT order.

use crate::bug::{Bug, ensure};
use crate::page::surt;
use crate::store::component::{ComponentId, Standing};
use crate::store::query::Near;

/// Where the pages that were found are, in the order in which they were found. A segment's pages
/// are in SURT order, so their numbers tell the order. Most searches find one page, and that needs
/// no memory.
#[derive(Default)]
pub(super) struct Order {
    first: Option<Standing>,
    more: Vec<Standing>,
}

impl Order {
    pub(super) fn clear(&mut self) {
        self.first = None;
        self.more.clear();
    }

    /// Notes where another page is.
    pub(super) fn add(&mut self, standing: Standing) {
        match self.first {
            None => self.first = Some(standing),
            Some(_) => self.more.push(standing),
        }
    }

    /// Sorts what was found from an index on into SURT order, each page once for each fingerprint.
    ///
    /// # Errors
    ///
    /// If not every page that was found was noted.
    pub(super) fn put(&self, found: &mut Vec<Near>, from: usize) -> Result<(), Bug> {
        let noted = usize::from(self.first.is_some()) + self.more.len();
        ensure(from + noted == found.len(), "each page that is found stands somewhere")?;
        let Some(first) = self.first.filter(|_| !self.more.is_empty()) else { return Ok(()) };
        let is_there = |standing: &Standing| standing.component == first.component;
        if !matches!(first.component, ComponentId::Segment(_)) || !self.more.iter().all(is_there) {
            by_surt(found, from);
            return Ok(());
        }
        let pages = || [first].into_iter().chain(self.more.iter().copied()).map(|s| s.page);
        if !pages().is_sorted_by(|a, b| a < b) {
            let new = pages().zip(found.drain(from..));
            let mut new: Vec<(u32, Near)> = new.collect();
            new.sort_unstable_by_key(|(page, near)| (*page, near.fingerprint));
            new.dedup_by(|a, b| (a.0, a.1.fingerprint) == (b.0, b.1.fingerprint));
            found.extend(new.into_iter().map(|(_, near)| near));
        }
        Ok(())
    }
}

/// Sorts what was found from an index on into SURT order by URLs alone, each page once for each
/// fingerprint. Costs a key for each.
pub(super) fn by_surt(found: &mut Vec<Near>, from: usize) {
    if found.len() < from + 2 {
        return;
    }
    let keyed = |near: Near| {
        let mut key = Vec::new();
        surt::key(&near.url, &mut key);
        (key, near)
    };
    let mut new: Vec<(Vec<u8>, Near)> = found.drain(from..).map(keyed).collect();
    new.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
    // Of nearer ones none has the same fingerprint.
    new.dedup_by(|a, b| order(a) == order(b));
    found.extend(new.into_iter().map(|(_, near)| near));
}

/// Joins what two searches found, which have no page in common: nearest first.
pub(in crate::store) fn together(mut one: Vec<Near>, other: Vec<Near>) -> Vec<Near> {
    if one.is_empty() || other.is_empty() {
        one.extend(other);
        return one;
    }
    one.extend(other);
    by_surt(&mut one, 0);
    one.sort_by_key(|near| near.distance);
    one
}

fn order((key, near): &(Vec<u8>, Near)) -> (&[u8], &str, u64) {
    (key, &near.url, near.fingerprint)
}
