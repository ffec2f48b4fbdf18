//! The fold of a page's entries, in their order, into how the page changes; and which content is in
//! force.
//!
//! Unlike a [`Head`] it depends on the order: a late visit splits an interval, and may turn what comes
//! after it from a change into a return.

use smallvec::SmallVec;

use super::changes::{Changes, Comparing};
use super::{Content, Digest, Entry, EpochInfo, Head, Properties, Seen, Visit};
use crate::time::Time;

impl Changes {
    /// What the entries of a page tell, which are in order, as [`Snapshot::history`] has them; `epochs`
    /// are [those of its store](crate::Snapshot::epochs). It takes time in proportion to the entries.
    ///
    /// - Each visit that did not fail is compared with the one before it that did not fail. Visits at
    ///   one time are one. What is restated is no visit, but fingerprints that are restated of a
    ///   version are compared.
    /// - Equal digests, or a distance that is at most minor in its epoch, are *unchanged*, and so is
    ///   what a server says is not modified. The newest epoch that tells of [changes](crate::Role)
    ///   decides in which both have a fingerprint.
    /// - A larger distance is a *change*, or a *return* if one of the last versions is at most a minor
    ///   change away or has the same digest. A page that is gone has changed; when it is there again,
    ///   it has changed or returned.
    /// - Without a distance, digests decide where both have no fingerprint by rule, as of texts too
    ///   short to tell. All else tells nothing: fingerprints of different epochs, and what comes before
    ///   any content.
    /// - A change is dated by what a server says of when the page was last modified, if that is after
    ///   the visit before, and more than 2 s before the visit: a page that is made anew for each visit
    ///   has the time of the visit.
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

/// A page as its entries come in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold {
    pub(super) head: Option<Head>,
    pub(super) changes: Changes,
}

/// Further fingerprints of what one visit saw.
type Also = SmallVec<[Content; 1]>;

impl Fold {
    fn of(entries: &[Entry], epochs: &[EpochInfo]) -> Fold {
        let (mut fold, mut rest) = (Fold::default(), entries);
        while let [entry, following @ ..] = rest {
            fold.take(*entry, || restated(entry, following).collect(), epochs);
            rest = following;
        }
        fold
    }

    /// Takes the next entry; `also` is what is restated of a visit.
    pub(super) fn take(&mut self, entry: Entry, also: impl FnOnce() -> Also, epochs: &[EpochInfo]) {
        let comparing = compare(self.head.as_ref(), &entry, also, epochs);
        comparing.into_iter().for_each(|comparing| self.changes.push(comparing));
        Head::absorb_into(&mut self.head, entry);
    }
}

/// Compares an entry with the page that all entries before it make, if it is a visit that tells.
fn compare(
    head: Option<&Head>,
    entry: &Entry,
    also: impl FnOnce() -> Also,
    epochs: &[EpochInfo],
) -> Option<Comparing> {
    let (head, visit) = (head?, entry.visit().filter(|visit| visit.seen != Seen::Failed)?);
    let before = head.settled.as_ref().map(|before| before.time)?;
    if before >= visit.time {
        return None;
    }
    let also = if visit.seen.content().is_some() { also() } else { Also::new() };
    let found = head.find(visit, &also, epochs)?;
    Some(Comparing {
        times: (before.0, visit.time.0),
        found,
        modified: visit.modified.map(Time::as_ms),
    })
}

/// The contents that are restated of a visit: those of its time and digest among the entries that follow
/// it, up to the first entry of another time or digest. Another visit of that time and digest may stand
/// between, and has the same contents restated.
pub(crate) fn restated<'e>(
    visit: &Entry,
    following: &'e [Entry],
) -> impl Iterator<Item = Content> + use<'e> {
    let of_visit = of(visit);
    // In the order in which they came, what was given at other times may stand between.
    let others = following.iter().filter(|other| other.property().is_none());
    let same = others.take_while(move |other| of(other) == of_visit);
    same.filter(|other| other.is_restated()).filter_map(Entry::content)
}

/// What an entry is about.
fn of(entry: &Entry) -> (Time, Option<Digest>) {
    (entry.time(), entry.digest())
}

/// A page, and how it changes, as far as that is known without looking at its entries again.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    pub(crate) head: Option<Head>,
    /// None once an entry came that was late: then they are to be made [anew](Changes::of).
    pub(crate) changes: Option<Changes>,
}

impl Default for Course {
    /// A page of which nothing is known.
    fn default() -> Course {
        Course { head: None, changes: Some(Changes::default()) }
    }
}

impl Course {
    /// A page of which these are all entries, in order.
    pub(crate) fn of(entries: &[Entry], epochs: &[EpochInfo]) -> Course {
        let Fold { mut head, changes } = Fold::of(entries, epochs);
        // A property may be of a time before the first visit, and counts from that on.
        let given = entries.iter().filter(|entry| entry.property().is_some());
        given.for_each(|entry| Head::absorb_into(&mut head, *entry));
        Course { head, changes: Some(changes) }
    }

    /// Takes entries in the order in which they came. A visit is in its place if it comes after all
    /// that did not fail; what is restated of it, if it comes right behind it.
    pub(crate) fn follow(&mut self, arrivals: &[Entry], epochs: &[EpochInfo]) {
        let Course { head, changes } = self;
        // The visit that was the first of its time, and was compared.
        let mut opened = None;
        let mut rest = arrivals;
        while let [entry, following @ ..] = rest {
            opened = opened.filter(|opened| *opened == of(entry) || entry.property().is_some());
            let settled = head.as_ref().and_then(|head| head.settled.as_ref());
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
                let also = || restated(entry, following).collect();
                let comparing = compare(head.as_ref(), entry, also, epochs);
                comparing.into_iter().for_each(|comparing| changes.push(comparing));
            }
            Head::absorb_into(head, *entry);
            rest = following;
        }
    }

    /// How many of these arrivals, the first ones, can be [followed](Self::follow) before it is known
    /// what comes after them: all before the last entry that is of another time or digest than the one
    /// before it. So no later entry is restated of a visit among them.
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

/// Retains, of the items of a page, each with its entry, those of the content in force, and the
/// properties that are: none if no content is in force.
pub(crate) fn retain_in_force<T>(items: &mut Vec<T>, entry: impl Fn(&T) -> Entry) {
    let Some(visit) = version_among(items.iter().map(&entry)) else { return items.clear() };
    let given = items.iter().filter_map(|item| entry(item).property().copied());
    let properties: Properties = given.collect();
    let of = (visit.time, visit.seen.digest());
    items.retain(|item| {
        let entry = entry(item);
        let is_of_it = entry.content().is_some() && (entry.time(), entry.digest()) == of;
        is_of_it || entry.property().is_some_and(|g| properties.like(g.property) == Some(*g))
    });
}
