//! The fold of a page's visits into what the page is now.
//!
//! A [`Head`] is all that a verdict needs. It depends on the set of visits, not on the order in
//! which they arrive: its counts are sums, its last visit is a maximum, and its versions are those
//! last seen most recently. So a late visit can be absorbed without reading the history again.

use arrayvec::ArrayVec;

use super::{Content, Digest, Distance, Entry, SameBy, Seen, Verdict, Visit};

/// How many distinct contents of a page the store remembers, to recognise when the page returns to
/// one of them. A content is a fingerprint with its digest and epoch.
pub const HISTORY_WINDOW: usize = 8;

/// A fingerprint of a version of the page, and when it was last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastSeen {
    pub(crate) content: Content,
    pub(crate) time: i64,
    /// Whether it was restated, not seen.
    pub(crate) restated: bool,
}

impl LastSeen {
    /// The order of several fingerprints of one version: that of the newest epoch is the last, and
    /// within an epoch what was restated.
    fn rank(&self) -> (u32, bool, Option<u64>) {
        (self.content.epoch.count(), self.restated, self.content.fingerprint)
    }

    /// The order of versions.
    fn place(&self) -> (i64, Option<Digest>, (u32, bool, Option<u64>)) {
        (self.time, self.content.digest, self.rank())
    }

    /// Whether both are of one version.
    fn is_with(&self, other: &LastSeen) -> bool {
        self.time == other.time && self.content.digest == other.content.digest
    }
}

/// The state of a page: a fold over its visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// How many visits there are; what is restated is none.
    pub(crate) visits: u64,
    /// The earliest time of a visit.
    pub(crate) first: i64,
    /// The last visit in order.
    pub(crate) last: Visit,
    /// The last visit in order that did not fail.
    pub(crate) settled: Option<Visit>,
    /// Distinct contents, the one last seen first, at most [`HISTORY_WINDOW`]. Those of one time and
    /// digest are one version, with a fingerprint in each of several epochs.
    pub(crate) versions: ArrayVec<LastSeen, HISTORY_WINDOW>,
}

impl Head {
    /// The head of a page with one visit.
    fn of(visit: Visit) -> Head {
        let (settled, versions) = (None, ArrayVec::new());
        let mut head = Head { visits: 0, first: visit.time, last: visit, settled, versions };
        head.absorb(visit);
        head
    }

    /// Adds a visit that is not in the head yet, in any order.
    fn absorb(&mut self, visit: Visit) {
        if let Seen::Content(content) = visit.seen {
            self.see(LastSeen { content, time: visit.time, restated: false });
        }
        self.visits += 1;
        self.first = self.first.min(visit.time);
        self.last = self.last.max(visit);
        if visit.seen != Seen::Failed {
            self.settled = self.settled.max(Some(visit));
        }
    }

    /// Adds an entry to a head, in any order. The first visit creates the head; content restated
    /// before any visit is ignored.
    pub(crate) fn absorb_into(head: &mut Option<Head>, entry: Entry) {
        match (head.as_mut(), entry) {
            (Some(head), Entry::Visit(visit)) => head.absorb(visit),
            (None, Entry::Visit(visit)) => *head = Some(Head::of(visit)),
            (Some(head), Entry::Restated(restated)) => {
                let (content, time) = (restated.content(), restated.time);
                head.see(LastSeen { content, time, restated: true });
            }
            (None, Entry::Restated(_)) => {}
        }
    }

    /// Adds a version, if it is among the last ones.
    #[expect(clippy::indexing_slicing, reason = "the position of one of them")]
    pub(crate) fn see(&mut self, seen: LastSeen) {
        if let Some(at) = self.versions.iter().position(|v| v.content == seen.content) {
            if self.versions[at].place() >= seen.place() {
                return;
            }
            self.versions.remove(at);
        }
        let after = |v: &LastSeen| v.place() > seen.place();
        let at = self.versions.iter().take_while(|v| after(v)).count();
        if at < HISTORY_WINDOW {
            self.versions.truncate(HISTORY_WINDOW - 1);
            self.versions.insert(at, seen);
        }
        debug_assert!(self.versions.is_sorted_by(|a, b| a.place() >= b.place()));
    }

    /// Whether the page was gone when last heard of.
    pub(crate) fn gone(&self) -> bool {
        self.settled.is_some_and(|v| v.seen == Seen::Gone)
    }

    /// The fingerprints that count: one for each version and epoch.
    fn counted(&self) -> impl Iterator<Item = &LastSeen> {
        let counts = |v: &&LastSeen| {
            let of_epoch = |w: &&LastSeen| w.is_with(v) && w.content.epoch == v.content.epoch;
            self.versions.iter().filter(of_epoch).all(|w| w.rank() <= v.rank())
        };
        self.versions.iter().filter(counts)
    }

    /// The fingerprints of the version that was last seen.
    fn last_version(&self) -> impl Iterator<Item = &LastSeen> {
        let first = self.versions.first();
        self.counted().take_while(move |v| first.is_some_and(|first| v.is_with(first)))
    }

    /// The version in force: the last content, unless the page is gone; by its fingerprint of the
    /// newest epoch.
    pub(crate) fn in_force(&self) -> Option<&LastSeen> {
        if self.gone() { None } else { self.last_version().max_by_key(|v| v.rank()) }
    }

    /// What a visit that comes after all others means; `also` is what was restated of it.
    pub(crate) fn judge(&self, visit: &Visit, also: &[Content]) -> Verdict {
        let content = match &visit.seen {
            Seen::Gone => return Verdict::Gone,
            Seen::Failed => return Verdict::Failed,
            Seen::NotModified { .. } => {
                return match self.versions.first() {
                    None => Verdict::Unseen,
                    Some(v) if self.gone() => {
                        let distance = Distance { bits: 0, epoch: v.content.epoch };
                        Verdict::Reverted { to: v.time, distance: Some(distance) }
                    }
                    Some(_) => Verdict::Same(SameBy::Word),
                };
            }
            Seen::Content(content) => content,
        };
        if self.versions.is_empty() {
            return Verdict::New;
        }
        let all = || fingerprints(content, also);
        let in_force = !self.gone();
        if in_force && self.last_version().any(|v| have_digest(&v.content, content)) {
            return Verdict::Same(SameBy::Digest);
        }
        // Of several epochs each may tell of a change.
        let distances = self.distances(all());
        let distance = distances.last().copied();
        if in_force && distance.is_some() && distances.iter().all(|of| of.bits == 0) {
            return Verdict::Same(SameBy::Fingerprint);
        }
        let last = self.versions.first().filter(|_| in_force);
        let earlier = || self.counted().filter(|v| last.is_none_or(|last| !v.is_with(last)));
        let by_digest = earlier().find(|v| have_digest(&v.content, content));
        let by_fingerprint =
            || earlier().find(|v| all().any(|c| bits_between(&v.content, c) == Some(0)));
        match by_digest.or_else(by_fingerprint) {
            Some(v) => Verdict::Reverted { to: v.time, distance },
            None => Verdict::Changed { distance },
        }
    }

    /// The Hamming distances of a content to the version last seen, in order of the epochs in which
    /// both have a fingerprint.
    fn distances<'c>(
        &self,
        all: impl Iterator<Item = &'c Content>,
    ) -> ArrayVec<Distance, HISTORY_WINDOW> {
        let mut distances = ArrayVec::<Distance, HISTORY_WINDOW>::new();
        for content in all {
            let bits = self.last_version().find_map(|v| bits_between(&v.content, content));
            // One for each version that is kept is enough, whatever was restated how often.
            if let Some(bits) = bits.filter(|_| !distances.is_full()) {
                distances.push(Distance { bits, epoch: content.epoch });
            }
        }
        distances.sort_unstable_by_key(|of| of.epoch.count());
        distances
    }
}

/// The fingerprints of a content that count, one of an epoch: its own, unless others were restated.
fn fingerprints<'c>(
    content: &'c Content,
    also: &'c [Content],
) -> impl Iterator<Item = &'c Content> + Clone {
    let own = Some(content).filter(|own| also.iter().all(|other| other.epoch != own.epoch));
    let counts = |c: &&Content| {
        let of_epoch = also.iter().filter(|other| other.epoch == c.epoch);
        of_epoch.map(|other| other.fingerprint).max() == Some(c.fingerprint)
    };
    own.into_iter().chain(also.iter().filter(counts))
}

/// Whether two contents are known to be the same exactly.
fn have_digest(a: &Content, b: &Content) -> bool {
    a.digest.is_some() && a.digest == b.digest
}

/// The Hamming distance of two contents; across epochs, or where one has no fingerprint, there is
/// none.
fn bits_between(a: &Content, b: &Content) -> Option<u32> {
    let (a, b) = (a.compared().filter(|_| a.epoch == b.epoch)?, b.compared()?);
    Some((a ^ b).count_ones())
}

/// What a visit after all others of a page means. `head` is `None` for an unknown page.
pub(crate) fn judge(head: Option<&Head>, visit: &Visit, also: &[Content]) -> Verdict {
    match (head, visit.seen) {
        (Some(head), _) => head.judge(visit, also),
        (None, Seen::Gone) => Verdict::Gone,
        (None, Seen::Failed) => Verdict::Failed,
        (None, Seen::Content(_)) => Verdict::New,
        (None, Seen::NotModified { .. }) => Verdict::Unseen,
    }
}
