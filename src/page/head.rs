//! The fold: a page's visits, in order, into what the page is now.
//!
//! A [`Head`] is all that a verdict needs. It is the same whatever the order in which visits
//! arrive, as long as the set is the same: its counts are sums, its last visit is a maximum, and
//! its versions are the greatest by when they were last seen. So a late visit is absorbed without
//! reading the history again.

use std::cmp::Ordering;

use arrayvec::ArrayVec;

use super::{Content, Digest, Seen, Visit};

/// How many distinct versions of a page are kept at hand to recognise a return to one of them.
pub const HISTORY_WINDOW: usize = 8;

/// How a page is known to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SameBy {
    /// The digests are equal.
    Digest,
    /// The fingerprints are equal (and the digests differ, or are not known).
    Fingerprint,
    /// The server, or the archive, said so.
    Word,
}

/// What a page is now, after an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The first content of this page.
    New,
    /// The version in force is confirmed.
    Same(SameBy),
    /// A version not among the last ones known of this page.
    Changed {
        /// Hamming distance to the version before; `None` across epochs.
        distance: Option<u32>,
    },
    /// A return to an earlier version.
    Reverted {
        /// When that version was last seen.
        to: i64,
        /// Hamming distance to the version just before; `None` across epochs.
        distance: Option<u32>,
    },
    /// The page is gone.
    Gone,
    /// The visit failed; what was in force still is.
    Failed,
    /// Older than the last visit: the history has it, the page's state may not change.
    OutOfOrder,
    /// This very observation was known already; nothing changed.
    Known,
}

/// A version of the page and when it was last seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastSeen {
    pub(crate) content: Content,
    pub(crate) time: i64,
}

impl LastSeen {
    /// The order of those seen at the same time.
    fn key(&self) -> (Option<Digest>, u64, u32) {
        let c = &self.content;
        (c.digest, c.fingerprint, c.epoch.0)
    }
}

/// The state of a page: a fold over its visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// How many visits there are.
    pub(crate) visits: u64,
    /// The earliest time of a visit.
    pub(crate) first: i64,
    /// The last visit in order.
    pub(crate) last: Visit,
    /// The last visit in order that did not fail.
    pub(crate) settled: Option<Visit>,
    /// Distinct contents, the one last seen first, at most [`HISTORY_WINDOW`].
    pub(crate) versions: ArrayVec<LastSeen, HISTORY_WINDOW>,
}

impl Head {
    /// The head of a page with one visit.
    pub(crate) fn of(visit: Visit) -> Head {
        let (settled, versions) = (None, ArrayVec::new());
        let mut head = Head { visits: 0, first: visit.time, last: visit, settled, versions };
        head.absorb(visit);
        head
    }

    /// Takes in a visit that was not in before, in any order.
    pub(crate) fn absorb(&mut self, visit: Visit) {
        self.visits = self.visits.saturating_add(1);
        self.first = self.first.min(visit.time);
        self.last = self.last.max(visit);
        if visit.seen != Seen::Failed {
            self.settled = self.settled.max(Some(visit));
        }
        if let Seen::Content(content) = visit.seen {
            self.see(LastSeen { content, time: visit.time });
        }
    }

    /// The same for a head that need not exist yet.
    pub(crate) fn absorb_into(head: &mut Option<Head>, visit: Visit) {
        match head.as_mut() {
            Some(head) => head.absorb(visit),
            None => *head = Some(Head::of(visit)),
        }
    }

    /// Takes in a version that was seen, if it is among the last ones.
    pub(crate) fn see(&mut self, seen: LastSeen) {
        match self.versions.iter().position(|v| v.content == seen.content) {
            Some(at) if self.versions.get(at).is_some_and(|v| v.time >= seen.time) => return,
            Some(at) => {
                self.versions.remove(at);
            }
            None => {}
        }
        let after = |v: &LastSeen| match v.time.cmp(&seen.time) {
            Ordering::Equal => v.key() > seen.key(),
            order => order.is_gt(),
        };
        let at = self.versions.iter().take_while(|v| after(v)).count();
        if at < HISTORY_WINDOW {
            self.versions.truncate(HISTORY_WINDOW - 1);
            self.versions.insert(at, seen);
        }
    }

    /// Whether the page was gone when last heard of.
    pub(crate) fn gone(&self) -> bool {
        self.settled.is_some_and(|v| v.seen == Seen::Gone)
    }

    /// The version in force: the last content, unless the page is gone.
    pub(crate) fn in_force(&self) -> Option<&LastSeen> {
        if self.gone() { None } else { self.versions.first() }
    }

    /// What a visit that comes after all others means.
    pub(crate) fn judge(&self, visit: &Visit) -> Verdict {
        let content = match &visit.seen {
            Seen::Gone => return Verdict::Gone,
            Seen::Failed => return Verdict::Failed,
            Seen::NotModified { .. } => {
                return match self.versions.first() {
                    None => Verdict::New,
                    Some(v) if self.gone() => Verdict::Reverted { to: v.time, distance: Some(0) },
                    Some(_) => Verdict::Same(SameBy::Word),
                };
            }
            Seen::Content(content) => content,
        };
        let Some(before) = self.versions.first() else { return Verdict::New };
        let distance = distance(&before.content, content);
        if !self.gone()
            && let Some(by) = same(&before.content, content)
        {
            return Verdict::Same(by);
        }
        let known = |by| move |v: &&LastSeen| same(&v.content, content) == Some(by);
        let earlier = self
            .versions
            .iter()
            .find(known(SameBy::Digest))
            .or_else(|| self.versions.iter().find(known(SameBy::Fingerprint)));
        match earlier {
            Some(v) => Verdict::Reverted { to: v.time, distance },
            None => Verdict::Changed { distance },
        }
    }
}

/// How two contents are the same, if they are.
fn same(a: &Content, b: &Content) -> Option<SameBy> {
    if a.digest.is_some() && a.digest == b.digest {
        return Some(SameBy::Digest);
    }
    (a.epoch == b.epoch && a.fingerprint == b.fingerprint).then_some(SameBy::Fingerprint)
}

/// Hamming distance within an epoch; across epochs there is none.
fn distance(a: &Content, b: &Content) -> Option<u32> {
    (a.epoch == b.epoch).then(|| (a.fingerprint ^ b.fingerprint).count_ones())
}
