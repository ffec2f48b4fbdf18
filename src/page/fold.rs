//! The fold of a page's entries, in order, into its change statistics; and the content in force.
//!
//! Unlike a [`PageHead`], the statistics depend on the order: a late visit splits an interval, and may
//! turn a later change into a return.

use smallvec::SmallVec;

use super::changes::{Changes, VisitComparison};
use super::{Content, Digest, Entry, EpochInfo, PageHead, Properties, PropertyEntry, Seen, Visit};
use crate::time::Time;

impl Changes {
    /// Computes the change statistics of a page from all its entries, in the order of
    /// [`Snapshot::history`]. `epochs` are the [epochs of the store](crate::Snapshot::epochs).
    /// Takes time linear in the entries.
    ///
    /// - Each visit that did not fail is compared with the previous visit that did not fail. Visits
    ///   at the same time count as one visit. A restatement is not a visit, but its fingerprint is
    ///   compared.
    /// - Equal digests, a distance that is at most minor in its epoch, and a server's "not
    ///   modified" count as *unchanged*. The distance comes from the newest epoch that
    ///   [detects changes](crate::Role) and has fingerprints of both contents.
    /// - A larger distance is a *change*. The change is a *return* if one of the last versions is
    ///   at most a minor change away or has the same digest. A page that is gone has changed. When
    ///   the page comes back, it has changed or returned.
    /// - Without a distance, digests decide for contents that both have no fingerprint in the same
    ///   epoch, for example texts that are too short. Other pairs are no evidence: fingerprints of
    ///   different epochs, and visits before any content.
    /// - A change has a date if the server reported a modification time after the previous visit
    ///   and more than 2 s before the visit that found the change. A later modification time is
    ///   ignored: pages generated on each request have such times.
    ///
    /// [`Snapshot::history`]: crate::Snapshot::history
    ///
    /// ```
    /// use simkeep::{Changes, Observation, Options, Store, Time};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = tempfile::tempdir()?;
    /// let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// for (day, fingerprint) in [(0, 0x0f), (1, 0x0f), (3, 0xf0)] {
    ///     let time = Time::from_ms(1_700_000_000_000 + day * 86_400_000)?;
    ///     store.observe(Observation::content(url, time, fingerprint, epoch))?;
    /// }
    /// let view = store.snapshot();
    /// let entries: Vec<_> = view.history(url)?.iter().map(|entry| entry.entry()).collect();
    /// let changes = Changes::of(&entries, view.epochs());
    /// assert_eq!((changes.comparisons(), changes.changes()), (2, 1));
    /// assert_eq!(changes.last_change().unwrap().distance, Some(8));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(entries: &[Entry], epochs: &[EpochInfo]) -> Changes {
        Fold::of(entries, epochs).changes
    }
}

/// The state of a page while its entries are added in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    pub(super) head: Option<PageHead>,
    pub(super) changes: Changes,
}

/// Fingerprints in other epochs of the content that one visit saw.
type ExtraFingerprints = SmallVec<[Content; 1]>;

impl Fold {
    fn of(entries: &[Entry], epochs: &[EpochInfo]) -> Fold {
        let (mut fold, mut rest) = (Fold::default(), entries);
        while let [entry, following @ ..] = rest {
            fold.take(entry, || restatements_of(entry, following).collect(), epochs);
            rest = following;
        }
        fold
    }

    /// Adds the next entry; `also` returns the restatements of a visit.
    pub(super) fn take(
        &mut self,
        entry: &Entry,
        also: impl FnOnce() -> ExtraFingerprints,
        epochs: &[EpochInfo],
    ) {
        let comparing = compare(self.head.as_ref(), entry, also, epochs);
        comparing.into_iter().for_each(|comparing| self.changes.push(comparing));
        PageHead::absorb_into(&mut self.head, entry);
    }
}

/// Compares a visit with the state of the page before it; `None` if the entry is no visit or no
/// evidence.
fn compare(
    head: Option<&PageHead>,
    entry: &Entry,
    also: impl FnOnce() -> ExtraFingerprints,
    epochs: &[EpochInfo],
) -> Option<VisitComparison> {
    let (head, visit) = (head?, entry.visit().filter(|visit| visit.seen != Seen::Failed)?);
    let before = head.last_successful.as_ref().map(|before| before.time)?;
    if before >= visit.time {
        return None;
    }
    let also = if visit.seen.content().is_some() { also() } else { ExtraFingerprints::new() };
    let found = head.compare_visit(visit, &also, epochs)?;
    Some(VisitComparison {
        times: (before.as_ms(), visit.time.as_ms()),
        found,
        modified: visit.modified.map(Time::as_ms),
    })
}

/// The restatements of a visit. These restatements have the visit's time and digest, and are among
/// the following entries, up to the first entry with another time or digest. Another visit with the
/// same time and digest may come between, and has the same restatements.
pub(crate) fn restatements_of<'e>(
    visit: &Entry,
    following: &'e [Entry],
) -> impl Iterator<Item = Content> + use<'e> {
    let of_visit = of(visit);
    // In order of arrival, properties with other times may come between.
    let others = following.iter().filter(|other| other.property().is_none());
    let same = others.take_while(move |other| of(other) == of_visit);
    same.filter(|other| other.is_restated()).filter_map(Entry::content)
}

/// The time and digest of an entry. For a restatement, they identify the visit.
fn of(entry: &Entry) -> (Time, Option<Digest>) {
    (entry.time(), entry.digest())
}

/// The head and the change statistics of a page, as far as known without reading the page's entries
/// again.
#[derive(Clone, Debug)]
pub(crate) struct PageHistory {
    pub(crate) head: Option<PageHead>,
    /// `None` after a late entry, because the statistics must be computed [again](Changes::of).
    pub(crate) changes: Option<Changes>,
}

impl Default for PageHistory {
    /// An unknown page.
    fn default() -> PageHistory {
        PageHistory { head: None, changes: Some(Changes::default()) }
    }
}

impl PageHistory {
    /// The history of a page with exactly these `entries`, in order.
    pub(crate) fn of(entries: &[Entry], epochs: &[EpochInfo]) -> PageHistory {
        let Fold { mut head, changes } = Fold::of(entries, epochs);
        // A property may be older than the first visit; the property takes effect with the first
        // visit.
        let given = entries.iter().filter(|entry| entry.property().is_some());
        given.for_each(|entry| PageHead::absorb_into(&mut head, entry));
        PageHistory { head, changes: Some(changes) }
    }

    /// Adds entries in order of arrival. A visit is in order if it comes after all visits that did
    /// not fail. A restatement is in order if it directly follows its visit.
    pub(crate) fn follow(&mut self, arrivals: &[Entry], epochs: &[EpochInfo]) {
        let PageHistory { head, changes } = self;
        // The time and digest of the visit that was the first of its time and was compared.
        let mut opened = None;
        let mut rest = arrivals;
        while let [entry, following @ ..] = rest {
            opened = opened.filter(|opened| *opened == of(entry) || entry.property().is_some());
            let settled = head.as_ref().and_then(|head| head.last_successful.as_ref());
            let in_order = match entry {
                Entry::Visit(visit) if visit.seen == Seen::Failed => true,
                Entry::Visit(visit) => {
                    if settled.is_none_or(|before| before.time < visit.time) {
                        opened = Some(of(entry));
                    }
                    settled < Some(visit)
                }
                Entry::Restated(_) => opened.is_some(),
                Entry::Property(_) => true,
            };
            if !in_order {
                *changes = None;
            }
            if let Some(changes) = changes {
                let also = || restatements_of(entry, following).collect();
                let comparing = compare(head.as_ref(), entry, also, epochs);
                comparing.into_iter().for_each(|comparing| changes.push(comparing));
            }
            PageHead::absorb_into(head, entry);
            rest = following;
        }
    }

    /// The number of leading arrivals that can be [added](Self::follow) before later arrivals are
    /// known. The leading arrivals end before the last entry whose time or digest differs from the
    /// entry before it. No later entry restates a visit among the leading arrivals.
    pub(crate) fn settled<'e>(arrivals: impl Iterator<Item = &'e Entry>) -> usize {
        let (mut before, mut settled) = (None, 0);
        for (place, entry) in arrivals.enumerate().filter(|(_, entry)| entry.property().is_none()) {
            if before.replace(of(entry)).is_some_and(|before| before != of(entry)) {
                settled = place;
            }
        }
        settled
    }
}

/// Finds the visit whose content is in force, among visits in any order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InForceVisit {
    /// The last visit that did not fail.
    settled: Option<Visit>,
    saw: Option<Visit>,
}

impl InForceVisit {
    /// Adds a visit.
    pub(crate) fn take(&mut self, visit: Visit) {
        if visit.seen != Seen::Failed {
            self.settled = self.settled.max(Some(visit));
        }
        if matches!(visit.seen, Seen::Content(_)) {
            self.saw = self.saw.max(Some(visit));
        }
    }

    /// The last visit that saw content; `None` if a later visit found the page gone.
    pub(crate) fn visit(self) -> Option<Visit> {
        self.saw.filter(|_| self.settled.is_some_and(|visit| visit.seen != Seen::Gone))
    }
}

/// The visit whose content is in force, among a page's entries.
pub(crate) fn version_of(entries: &[Entry]) -> Option<Visit> {
    version_among(entries.iter().filter_map(Entry::visit).copied())
}

fn version_among(visits: impl Iterator<Item = Visit>) -> Option<Visit> {
    let mut found = InForceVisit::default();
    visits.for_each(|visit| found.take(visit));
    found.visit()
}

/// Keeps only the items in force: the items of the content in force, and the page's properties in
/// force. Removes all items if no content is in force.
pub(crate) fn retain_in_force<T>(items: &mut Vec<T>, entry: impl Fn(&T) -> Entry) {
    let visits = items.iter().filter_map(|item| entry(item).visit().copied());
    let Some(visit) = version_among(visits) else { return items.clear() };
    let given = items.iter().filter_map(|item| entry(item).property().cloned());
    let mut properties: Properties = given.collect();
    properties.end_before(visit.time);
    let of = (visit.time, visit.seen.digest());
    items.retain(|item| {
        let entry = entry(item);
        let is_of_it = entry.content().is_some() && (entry.time(), entry.digest()) == of;
        let is_given =
            |given: &PropertyEntry| properties.of_kind(&given.property).as_ref() == Some(given);
        is_of_it || entry.property().is_some_and(is_given)
    });
}
