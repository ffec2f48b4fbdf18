//! Which content of a page is in force.

use super::{Entry, Properties, Seen, Visit};

/// The visit whose content is in force, found among visits in any order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InForceVisit {
    /// The last visit that did not fail, and the last one that saw content.
    settled: Option<Visit>,
    saw: Option<Visit>,
}

impl InForceVisit {
    /// Takes a visit into account.
    pub(crate) fn take(&mut self, visit: Visit) {
        if visit.seen != Seen::Failed {
            self.settled = self.settled.max(Some(visit));
        }
        if matches!(visit.seen, Seen::Content(_)) {
            self.saw = self.saw.max(Some(visit));
        }
    }

    /// The last visit that saw content, unless the page was gone after it.
    pub(crate) fn visit(self) -> Option<Visit> {
        self.saw.filter(|_| self.settled.is_some_and(|visit| visit.seen != Seen::Gone))
    }
}

/// The visit among a page's entries whose content is in force.
pub(crate) fn version_of(entries: &[Entry]) -> Option<Visit> {
    version_among(entries.iter().copied())
}

fn version_among(entries: impl Iterator<Item = Entry>) -> Option<Visit> {
    let mut found = InForceVisit::default();
    entries.filter_map(|entry| entry.visit().copied()).for_each(|visit| found.take(visit));
    found.visit()
}

/// Leaves of what is told of a page, each with its entry, that of the content in force, and the
/// properties that are: none if no content is in force.
pub(crate) fn retain_in_force<T>(told: &mut Vec<T>, entry: impl Fn(&T) -> Entry) {
    let Some(visit) = version_among(told.iter().map(&entry)) else { return told.clear() };
    let given = told.iter().filter_map(|told| entry(told).given().copied());
    let properties: Properties = given.collect();
    let of = (visit.time, visit.seen.digest());
    told.retain(|told| {
        let entry = entry(told);
        let is_of_it = entry.content().is_some() && (entry.time(), entry.digest()) == of;
        is_of_it || entry.given().is_some_and(|g| properties.like(g.property) == Some(*g))
    });
}
