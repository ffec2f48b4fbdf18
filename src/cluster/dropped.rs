//! Lookup by URL of the pages that are dropped in favour of their leaders.

use std::fmt;

use super::clusters::{ClusteredPage, Clusters};
use super::column::SpillColumn;
use super::items::{ClusterMember, ClusterSummary, Follower};
use super::location_set::{LocationSet, PageLocation};
use crate::bug::OrBug;
use crate::error::Result;
use crate::page::{Classes, Digest};
use crate::query::in_force::InForcePage;

/// The pages that are dropped in favour of their clusters' leaders, from [`Clusters::dropped`].
///
/// Takes a bit of memory for each page of the store, and scratch files of 8 bytes for each dropped
/// page. Any number of threads can use one value.
///
/// ```
/// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, Fate};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (ms, url) in [(1_000, "https://a.example/"), (2_000, "https://b.example/")] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, 7, epoch))?;
/// }
/// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
/// let dropped = clusters.dropped(&Classes::default())?;
/// assert_eq!(dropped.len(), 1);
/// assert_eq!(dropped.fate("https://a.example/")?, Fate::Kept);
/// assert_eq!(dropped.kept_for("https://b.example/")?.unwrap().url, "https://a.example/");
/// # Ok(())
/// # }
/// ```
pub struct DroppedPages<'c> {
    clusters: &'c Clusters,
    pages: LocationSet,
    /// The locations of the leaders of all dropped pages, in the order of the dropped pages'
    /// locations.
    leaders: SpillColumn<u64>,
}

/// The decision whether a page is dropped.
///
/// ```
/// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, Fate};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` are near each other, and `/terms` was seen first.
/// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
/// let dropped = clusters.dropped(&Classes::default())?;
/// assert_eq!(dropped.fate("https://example.com/terms")?, Fate::Kept);
/// assert!(matches!(dropped.fate("https://example.com/terms?print=1")?, Fate::Dropped { .. }));
/// assert_eq!(dropped.fate("https://example.com/contact")?, Fate::Unknown);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The page is not in the store.
    Unknown,
    /// The page stays. It leads its cluster, is in no cluster, or has a leader of another class
    /// that is not open to all.
    Kept,
    /// The page is dropped.
    Dropped {
        /// The digest of the compared content, if it has a digest. Other content of the page, such
        /// as an older version, may be near no page that is kept.
        digest: Option<Digest>,
    },
}

/// The page that is kept in place of a dropped page.
///
/// ```
/// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::Clustering;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` are near each other, and `/terms` was seen first.
/// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
/// let dropped = clusters.dropped(&Classes::default())?;
/// let kept = dropped.kept_for("https://example.com/terms?print=1")?.unwrap();
/// assert_eq!((kept.url.as_str(), kept.distance), ("https://example.com/terms", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptPage {
    /// The page that is kept.
    pub url: String,
    /// The number of bits in which the fingerprints of the two pages differ.
    pub distance: u32,
}

/// Whether a page of one class may be dropped in favour of a page of another class: everyone who
/// may see the first page may see the second, too.
fn may_yield(class: Option<u32>, to: Option<u32>, open: &Classes) -> bool {
    // `open.contains(class)` would be wrong: the page that stays must be visible to all readers of the
    // dropped page.
    class == to || open.contains(to)
}

impl ClusteredPage {
    /// Whether the page may be dropped in favour of its leader. The page may be dropped if it is
    /// not the leader itself, and the leader has the same class or one of the classes in `open`,
    /// which all may see. Pages without a class share one class.
    ///
    /// Clusters ignore classes, so two pages that stay because of their classes may be near each
    /// other. To cluster the pages of one class alone, use
    /// [`Clustering::classes`](super::Clustering::classes).
    ///
    /// ```
    /// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// // The copy may be seen by class 8 only, and the original by class 7.
    /// for (ms, url, class) in [(1, "https://example.com/", 7), (2, "https://example.org/copy", 8)] {
    ///     let seen = Observation::content(url, Time::from_ms(ms)?, 0x1234, epoch);
    ///     store.observe(seen.class(class))?;
    /// }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// let copy = clusters.by_cluster(2)?.nth(1).unwrap()?;
    /// assert!(!copy.yields(&Classes::default()));
    /// assert!(copy.yields(&Classes::of([7]))); // if all may see class 7
    /// # Ok(())
    /// # }
    /// ```
    pub fn yields(&self, open: &Classes) -> bool {
        !self.is_leader() && may_yield(self.class, self.leader_class, open)
    }
}

impl ClusterMember {
    /// Whether the page may be dropped in favour of its leader.
    fn yields(&self, of: &ClusterSummary, open: &Classes) -> bool {
        self.follows && may_yield(self.class, of.class, open)
    }
}

impl Clusters {
    /// Selects the pages that [yield](ClusteredPage::yields) to their leaders, for lookup by URL.
    /// All other pages are kept. `open` are the classes of pages that all may see.
    /// `Classes::default()` is empty: with it, pages yield only to leaders of their own class.
    ///
    /// Costs a sort of 16 bytes for each selected page, in the memory that the
    /// [`Clustering`](super::Clustering) allows.
    ///
    /// ```
    /// use simkeep::cluster::{Clustering, Fate};
    /// use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (time, url, fingerprint, class) in [(1, "a", 0b0000, 7), (2, "b", 0b0111, 7), (3, "c", 0, 0)] {
    ///     let seen = Observation::content(url, Time::from_ms(time)?, fingerprint, epoch);
    ///     store.observe(seen.class(class))?;
    /// }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// let dropped = clusters.dropped(&Classes::default())?;
    /// assert_eq!(dropped.fate("a")?, Fate::Kept);
    /// assert_eq!(dropped.fate("b")?, Fate::Dropped { digest: None });
    /// assert_eq!(dropped.fate("d")?, Fate::Unknown);
    /// let kept = dropped.kept_for("b")?.unwrap();
    /// assert_eq!((kept.url.as_str(), kept.distance), ("a", 3));
    /// // Its leader has another class, so the page is dropped only if all may see this class.
    /// assert_eq!(dropped.fate("c")?, Fate::Kept);
    /// assert_eq!(clusters.dropped(&Classes::of([7]))?.fate("c")?, Fate::Dropped { digest: None });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error if a scratch file cannot be written, or is damaged.
    pub fn dropped(&self, open: &Classes) -> Result<DroppedPages<'_>> {
        let found = DroppedPages::of(self, open).map_err(|e| self.work.named(e));
        self.snapshot.poison_on_bug(|| found)
    }

    /// Counts the pages that [yield](ClusteredPage::yields) to their leaders: as many as
    /// [`dropped`](Clusters::dropped) would select. Costs a pass over the pages, without their
    /// URLs.
    ///
    /// ```
    /// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// assert_eq!(clusters.count_dropped(&Classes::default())?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error if a scratch file is damaged.
    pub fn count_dropped(&self, open: &Classes) -> Result<u64> {
        let mut count = 0;
        // Members and rows have all data that is needed: no sort, no lookup and no URL.
        let counted = self.each(|member, of, _| {
            count += u64::from(member.yields(of, open));
            Ok(())
        });
        let counted = counted.map(|()| count).map_err(|e| self.work.named(e));
        self.snapshot.poison_on_bug(|| counted)
    }
}

impl<'c> DroppedPages<'c> {
    fn of(clusters: &'c Clusters, open: &Classes) -> Result<DroppedPages<'c>> {
        let work = &clusters.work;
        let mut sorter = work.sorter(2);
        clusters.each(|member, of, _| match member.yields(of, open) {
            true => sorter.push(Follower { place: member.place, leader: of.place }),
            false => Ok(()),
        })?;
        // The followers are sorted by location, so `LocationSet` can number the pages, and entry n of
        // `leaders` belongs to page n.
        let mut followers = sorter.finish()?;
        let (mut pages, mut leaders) =
            (LocationSet::default(), SpillColumn::new(work, work.part(8)));
        while let Some(Follower { place, leader }) = followers.next()? {
            pages.push(place)?;
            leaders.push(leader)?;
        }
        Ok(DroppedPages { clusters, pages, leaders })
    }

    /// The number of dropped pages.
    pub fn len(&self) -> u64 {
        self.leaders.len().into()
    }

    /// Whether no page is dropped.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the page at a location is dropped. The location comes from
    /// [`Candidates::candidacy`](super::Candidates::candidacy) of the same snapshot. Costs no
    /// lookup of the URL.
    pub fn has(&self, location: PageLocation) -> bool {
        self.pages.number(location.0).is_some()
    }

    /// Returns the decision on a page. Costs a lookup; for a dropped page, also reading the head of
    /// the page.
    ///
    /// ```
    /// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{Clustering, Fate};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// let dropped = clusters.dropped(&Classes::default())?;
    /// // For each document of a corpus whose texts are elsewhere:
    /// let url = "https://example.com/terms?print=1";
    /// if let Fate::Dropped { .. } = dropped.fate(url)? {
    ///     println!("{url} is a duplicate");
    /// }
    /// # assert!(matches!(dropped.fate(url)?, Fate::Dropped { digest: None }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url) for a URL that no page can have,
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the data to read is damaged.
    pub fn fate(&self, url: &str) -> Result<Fate> {
        self.clusters.snapshot.poison_on_bug(|| {
            let Some(place) = self.clusters.place(url)? else { return Ok(Fate::Unknown) };
            match self.pages.number(place) {
                None => Ok(Fate::Kept),
                Some(_) => Ok(Fate::Dropped { digest: self.clusters.digest(url)? }),
            }
        })
    }

    /// Returns the page that is kept in place of a dropped page; `None` if the page is not dropped.
    ///
    /// ```
    /// # use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// let dropped = clusters.dropped(&Classes::default())?;
    /// let (copy, original) = ("https://example.com/terms?print=1", "https://example.com/terms");
    /// assert_eq!(dropped.kept_for(copy)?.unwrap().url, original);
    /// assert_eq!(dropped.kept_for(original)?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`fate`](DroppedPages::fate), and an error if a scratch file is damaged.
    pub fn kept_for(&self, url: &str) -> Result<Option<KeptPage>> {
        self.clusters.snapshot.poison_on_bug(|| {
            let place = self.clusters.place(url)?;
            let number = place.and_then(|place| self.pages.number(place));
            let Some(number) = number else { return Ok(None) };
            let leader = self.leaders.get(number).map_err(|e| self.clusters.work.named(e))?;
            let kept = self.clusters.url(leader)?;
            // Only locations are kept, 8 bytes for each dropped page. So the two fingerprints are
            // read again.
            let distance = self.in_force_page(url)?.distance_to(&self.in_force_page(&kept)?);
            let distance = distance.filter(|distance| *distance <= self.clusters.k());
            let distance = distance.or_bug("a page is within k of its leader")?;
            Ok(Some(KeptPage { url: kept, distance }))
        })
    }

    fn in_force_page(&self, url: &str) -> Result<InForcePage> {
        let taken = self.clusters.in_force(url)?;
        Ok(taken.or_bug("a page that passed the filter passes it again")?)
    }
}

impl fmt::Debug for DroppedPages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dropped({} of {:?})", self.len(), self.clusters)
    }
}
