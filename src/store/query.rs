//! Searches: what can be asked, and what is answered.

use std::time::Duration;

use crate::page::{Epoch, Prefix};
use crate::search::{Cost, DISTANCE_MAX, Plan, Shape};

/// Fingerprints that are compared where they crowd together, unless something else is said.
pub(super) const FINGERPRINTS: u32 = 1 << 12;

/// Another page near a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Near {
    /// The page.
    pub url: String,
    /// Hamming distance.
    pub distance: u32,
    /// The page's fingerprint, but for bits that are not compared.
    pub fingerprint: u64,
}

/// Which versions of pages a search looks at. Times are in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// Those in force now.
    #[default]
    InForce,
    /// Those that were in force at a time, as by [`Snapshot::as_of`](super::Snapshot::as_of).
    At(i64),
    /// Those that a visit saw from one time to another, both included.
    Seen(i64, i64),
    /// Every version ever seen.
    Ever,
}

impl Versions {
    /// Whether a page's fingerprint says by itself that it is one of these.
    pub(crate) fn need_no_visits(self) -> bool {
        matches!(self, Self::InForce | Self::Ever)
    }
}

/// A search for fingerprints.
///
/// ```
/// use std::time::Duration;
///
/// use simkeep::{Prefix, Query, Versions};
///
/// let query = Query::new(0x0123_4567_89ab_cdef, 7)
///     .limit(100)
///     .under(Prefix::parse("example.org/news/")?)
///     .versions(Versions::Ever)
///     .budget(Duration::from_millis(5));
/// assert_eq!(query.limit, 100);
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What is searched for.
    pub fingerprint: u64,
    /// Largest Hamming distance, 0 to 64.
    pub k: u32,
    /// Only fingerprints of this epoch; `None` for the store's newest. Bits that it reserves for
    /// metadata are neither compared nor told.
    pub epoch: Option<Epoch>,
    /// How many answers at most. `usize::MAX` asks for all, whatever that takes.
    pub limit: usize,
    /// How many fingerprints are compared where they crowd together; see [`Query::fingerprints`].
    pub fingerprints: u32,
    /// Which versions of pages.
    pub versions: Versions,
    /// Only pages under this prefix.
    pub under: Option<Prefix>,
    /// How long the search may go on widening; see [`Query::budget`].
    pub budget: Option<Duration>,
}

impl Query {
    /// A search among versions in force of the newest epoch, for at most 16 answers.
    pub fn new(fingerprint: u64, k: u32) -> Query {
        Query {
            fingerprint,
            k,
            epoch: None,
            limit: 16,
            fingerprints: FINGERPRINTS,
            versions: Versions::InForce,
            under: None,
            budget: None,
        }
    }

    /// A search for the pages that are nearest, `count` of them, however far they are.
    ///
    /// It goes in ever wider circles, so it costs as much as a search within the distance of the
    /// last one, and some of those before: up to three times as much. Memory for a few times `count`.
    pub fn nearest(fingerprint: u64, count: usize) -> Query {
        Query::new(fingerprint, DISTANCE_MAX).limit(count)
    }

    /// Searches fingerprints of this epoch. Default: the newest.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> Query {
        self.epoch = Some(epoch);
        self
    }

    /// Sets how many pages are named at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Query {
        self.limit = limit;
        self
    }

    /// Bounds how many fingerprints that crowd together are compared. Default: 4,096.
    ///
    /// A template, or somebody who means harm, can make many thousand different fingerprints of
    /// which no table tells the near ones from the others. Where a search within up to 12 bits
    /// meets more of them in a segment or in memory than evenly spread ones would cost it several
    /// times over, it ends: it looks up what differs in one bit at most, compares so many of the
    /// others (and 16 for each answer that it may name), and says that it is not
    /// [complete](Matches::complete). A search for all (a [`limit`](Query::limit) of `usize::MAX`)
    /// and one under a prefix do not.
    #[must_use]
    pub fn fingerprints(mut self, fingerprints: u32) -> Query {
        self.fingerprints = fingerprints;
        self
    }

    /// Sets which versions of a page are searched. Those of the past cost a page's history for each hit.
    #[must_use]
    pub fn versions(mut self, versions: Versions) -> Query {
        self.versions = versions;
        self
    }

    /// Searches pages under a prefix only, such as those of a host.
    #[must_use]
    pub fn under(mut self, prefix: Prefix) -> Query {
        self.under = Some(prefix);
        self
    }

    /// Sets how long the search may take: equal fingerprints are searched first, then ever wider
    /// circles as long as the next one is expected to be done in what is left, and for the rest of
    /// it a scan goes outward. How far all was searched says [`Matches::within`].
    #[must_use]
    pub fn budget(mut self, time: Duration) -> Query {
        self.budget = Some(time);
        self
    }
}

/// Answers of a search: nearest first, then in SURT order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The pages. Where versions of the past are searched, a page stands here once for each of its
    /// fingerprints.
    pub near: Vec<Near>,
    /// Whether these are all there are. If not, the budget ended, or they were cut at the limit; or
    /// so many pages had to be looked at that the search ended early (256 and twice the limit).
    /// Then it is not determined which of the pages at the last distance are named, and where
    /// hundreds of pages had a fingerprint and have it no longer, one that still has it may be
    /// missing. Or so many fingerprints crowd together that not all were compared
    /// ([`Query::fingerprints`]): then any may be missing that differs in two bits or more. A higher
    /// limit looks at more.
    pub complete: bool,
    /// The distance up to which all was searched: that of the query, unless its budget ended before,
    /// there were as many answers nearer as it wanted, or too many fingerprints crowd together.
    /// Answers beyond it are some of those that there are.
    pub within: u32,
}

/// Two different fingerprints that are near each other, and that pages have; from
/// [`Snapshot::all_pairs`](super::Snapshot::all_pairs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NearPair {
    /// The smaller one.
    pub left: u64,
    /// The larger one.
    pub right: u64,
    /// In how many bits they differ: 1 to 64.
    pub distance: u32,
}

/// What a search does and costs, from [`Snapshot::explain`](super::Snapshot::explain).
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The instruction set that comparisons use: `avx512`, `avx2`, `popcnt` or `portable`.
    pub instruction_set: &'static str,
    /// What was searched, the oldest first; memtables last.
    pub components: Vec<ComponentSearch>,
    /// What it answered.
    pub matches: Matches,
    /// How long the whole search took, what is near looked up included.
    pub took: Duration,
}

/// How one segment or memtable is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentSearch {
    /// The segment's number; `None` for a memtable.
    pub segment: Option<u64>,
    /// How many distinct fingerprints of the epoch it has.
    pub fingerprints: u32,
    /// The shape of its tables; `None` for a memtable.
    pub shape: Option<Shape>,
    /// The way that the planner chose, and what it expects it to cost.
    pub plan: Plan,
    /// What was met on that way, and how long it took.
    pub counted: Cost,
    /// Distinct fingerprints that are near, as far as they were looked for.
    pub hits: usize,
    /// Where more fingerprints crowd together than the search may compare, how many it did compare; see
    /// [`Query::fingerprints`].
    pub crowded: Option<u32>,
    /// Page faults on the way: those served from memory, and those that waited for the disk. `None`
    /// where the system does not say.
    pub faults: Option<(u64, u64)>,
}
