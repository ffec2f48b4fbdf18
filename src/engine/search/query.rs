//! Searches: what can be asked, and what is answered.

use std::time::Duration;

use crate::page::{Classes, Epoch, Prefix};
use crate::search::DISTANCE_MAX;
use crate::time::Time;

/// How many fingerprints of a crowd are compared by default.
pub(crate) const FINGERPRINTS: u32 = 1 << 12;

/// Another page near a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Near {
    /// The page.
    pub url: String,
    /// The Hamming distance of its fingerprint.
    pub distance: u32,
    /// The page's fingerprint, with reserved bits set to 0.
    pub fingerprint: u64,
}

/// Which versions of pages a search looks at. Times are in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Versions {
    /// Those in force now.
    #[default]
    InForce,
    /// Those that were in force at a time, as [`Snapshot::as_of`](crate::Snapshot::as_of) says.
    At(Time),
    /// Those that a visit saw between two times, both included.
    Seen(Time, Time),
    /// Every version ever seen.
    Ever,
}

impl Versions {
    /// Whether a page's fingerprint says by itself that it is one of these.
    pub(crate) fn need_no_visits(self) -> bool {
        // The other two ask when a page showed a fingerprint, which only its history says.
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
#[non_exhaustive]
pub struct Query {
    /// The fingerprint to search for.
    pub fingerprint: u64,
    /// Largest Hamming distance, 0 to 64.
    pub k: u32,
    /// The epoch of the fingerprints; `None` for the one that near-duplicates are
    /// [sought by](crate::Snapshot::near_epoch). Bits that the epoch reserves
    /// for metadata are neither compared nor returned.
    pub epoch: Option<Epoch>,
    /// The most pages to name. `usize::MAX` asks for all, whatever that takes.
    pub limit: usize,
    /// How many fingerprints of a crowd to compare; see [`Query::fingerprints`].
    pub fingerprints: u32,
    /// Which versions of pages.
    pub versions: Versions,
    /// Only pages under this prefix.
    pub under: Option<Prefix>,
    /// All pages but this one.
    pub exclude: Option<String>,
    /// Only pages of these classes; see [`Query::classes`].
    pub classes: Option<Classes>,
    /// How long the search may go on widening; see [`Query::budget`].
    pub budget: Option<Duration>,
    /// How many threads many searches, or work with all fingerprints, may run on; see
    /// [`Query::threads`].
    pub threads: usize,
}

impl Query {
    /// A search among the versions in force, in the epoch that near-duplicates are
    /// [sought by](crate::Snapshot::near_epoch), for at most 16 pages.
    pub fn new(fingerprint: u64, k: u32) -> Query {
        Query {
            fingerprint,
            k,
            epoch: None,
            limit: 16,
            fingerprints: FINGERPRINTS,
            versions: Versions::InForce,
            under: None,
            exclude: None,
            classes: None,
            budget: None,
            // `up_to` lowers this to the number of cores.
            threads: usize::MAX,
        }
    }

    /// A search for the `count` nearest pages, however far away they are.
    ///
    /// It searches in ever wider circles. So it costs as much as a search within the distance of
    /// the farthest page, and some of the smaller circles: up to three times as much in all. Takes
    /// memory for a few times `count` pages.
    pub fn nearest(fingerprint: u64, count: usize) -> Query {
        // A limit below `usize::MAX` sets bounds, and these let the search widen step by step.
        Query::new(fingerprint, DISTANCE_MAX).limit(count)
    }

    /// Sets what is searched for.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: u64) -> Query {
        self.fingerprint = fingerprint;
        self
    }

    /// Sets the largest Hamming distance.
    #[must_use]
    pub fn k(mut self, k: u32) -> Query {
        self.k = k;
        self
    }

    /// Searches fingerprints of this epoch. Default: the one that near-duplicates are
    /// [sought by](crate::Snapshot::near_epoch).
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

    /// Bounds how many fingerprints of a crowd are compared. Default: 4,096.
    ///
    /// A template, or an attacker, can produce many thousand different fingerprints so close
    /// together that no table separates the near ones from the others. If a search within up to 12
    /// bits meets such a crowd in a segment or in memory, and comparing it would cost several times
    /// as much as evenly spread fingerprints, the search cuts it short. It finds everything that
    /// differs in one bit at most, compares this many of the others (and 16 for each page that it
    /// may name), and says that it is not [complete](Matches::complete). A search for all pages (a
    /// [`limit`](Query::limit) of `usize::MAX`) and a search under a prefix compare everything.
    #[must_use]
    pub fn fingerprints(mut self, fingerprints: u32) -> Query {
        self.fingerprints = fingerprints;
        self
    }

    /// Sets which versions of a page are searched. Past versions cost reading a page's history for
    /// each hit.
    #[must_use]
    pub fn versions(mut self, versions: Versions) -> Query {
        self.versions = versions;
        self
    }

    /// Searches only pages under a prefix, such as those of a host.
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> Query {
        self.under = prefix.into();
        self
    }

    /// Leaves a page out, such as the one whose own fingerprint is searched for.
    #[must_use]
    pub fn exclude(mut self, url: impl Into<String>) -> Query {
        self.exclude = Some(url.into());
        self
    }

    /// Searches only pages that are of these classes now, whichever versions are searched. Pages of
    /// other classes are neither named nor counted: the answer is that of a store without them.
    ///
    /// Costs a look at each page near enough, which is passed over if it is of another class. Two
    /// things may hint at such pages: how long a search takes, and that it ended early, so that it is
    /// not [complete](Matches::complete): because so many had to be passed over, or since it does not
    /// look up of which classes the pages beyond its limit are. What
    /// [`Explanation::of`](crate::query::Explanation::of) says of fingerprints and costs is of all
    /// pages, which the operator of the store may see; its hits are those of pages of these classes.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Classes, Observation, Options, Query, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// store.observe(Observation::content("https://a.example/", Time::from_ms(0)?, 0x1234, epoch).class(7))?;
    /// store.observe(Observation::content("https://b.example/", Time::from_ms(0)?, 0x1234, epoch))?;
    /// let named = |classes: Classes| -> simkeep::Result<Vec<String>> {
    ///     let found = store.snapshot().search(&Query::new(0x1234, 0).classes(classes))?;
    ///     Ok(found.near.into_iter().map(|near| near.url).collect())
    /// };
    /// assert_eq!(named(Classes::of([7]))?, ["https://a.example/"]);
    /// assert_eq!(named(Classes::of([]).and_unclassed())?, ["https://b.example/"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> Query {
        self.classes = classes.into();
        self
    }

    /// Sets how long the search may take. It looks for equal fingerprints first, then in ever wider
    /// circles as long as the next one is expected to fit in the remaining time, and then scans
    /// outward until the time is up. [`Matches::within`] says how far everything was searched.
    #[must_use]
    pub fn budget(mut self, time: Duration) -> Query {
        self.budget = Some(time);
        self
    }

    /// Bounds how many threads many searches, or work with all fingerprints, run on. Default: as many
    /// as the processor has cores. One search runs on the thread that asks. Whoever runs such work for
    /// others at the same time, a core for each, asks for 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Query {
        self.threads = threads;
        self
    }
}

/// The answer of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matches {
    /// The pages, nearest first, then in SURT order. If past versions are searched, a page is
    /// listed once for each of its fingerprints.
    pub near: Vec<Near>,
    /// Whether these are all pages. If not, one of these cut the answer short: the budget; the
    /// limit; the number of pages that a search looks at (256 and twice the limit); or a crowd of
    /// fingerprints of which not all were compared ([`Query::fingerprints`]). After the limit on
    /// pages, it is not determined which pages at the last distance are named, and if hundreds of
    /// pages once had a fingerprint, one that still has it may be missing. After a crowd, any page
    /// that differs in two bits or more may be missing. A higher limit looks at more.
    pub complete: bool,
    /// The distance up to which `near` has every page: that of the query if the answer is complete. It
    /// is less if the budget ran out, the limit was reached, not all pages of a fingerprint were looked
    /// at, or too many fingerprints crowd together. Of the pages beyond this distance, the answer names
    /// only some. `None` if pages with the very fingerprint may be missing, too.
    pub within: Option<u32>,
}
