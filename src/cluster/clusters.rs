//! The resulting clusters, and iterators over them.

use std::fmt;
use std::sync::Arc;

use super::by_digest::add_members;
use super::clustering::Clustering;
use super::gather::{Captures, captures, find_leaders, members, nodes};
use super::items::{ClusterMember, ClusterSummary, OrderedMember};
use crate::bug::OrBug;
use crate::engine::component::PageAddress;
use crate::engine::lookup::Lookup;
use crate::engine::results::OriginalBy;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::fingerprint::BitSketch;
use crate::page::{Digest, Epoch, Weight};
use crate::progress::Progress;
use crate::query::in_force::{InForceFilter, InForcePage};
use crate::sort::{SortedItems, SpoolContent, Workspace};
use crate::time::Time;
use crate::url::check_url;

impl Clustering {
    /// Puts all pages into clusters, each with a page that leads it.
    ///
    /// Pages are processed in the order of the [rules](Clustering::rule); pages with equal
    /// fingerprints count as one page. A page leads if it is not within k of a leader that ranks
    /// before it. Every other page belongs to the nearest of the leaders that rank before it; if
    /// several leaders are equally near, the page belongs to the first. So each page is in one
    /// cluster, within k of its leader, and no two leaders are within k of each other. The clusters
    /// depend only on the pages, the rules and the distance: not on the order of arrival, nor on
    /// how pages are stored.
    ///
    /// Pages whose content has a digest but no fingerprint, such as images and PDFs, are in
    /// clusters of their own: the pages with one digest, led by the first page in the order of the
    /// rules. Redirects are in no cluster.
    ///
    /// The run reads all pages once, sorts about 40 bytes a page several times, and joins about
    /// three times as many fingerprints as there are. If there are more fingerprints than fit into
    /// a 64th of the memory at 8 bytes each, which is a million in 512 MiB, each further part of
    /// this size takes one more join with all leaders so far. A dense bucket costs one pair for
    /// each of its pages.
    ///
    /// ```
    /// use simkeep::cluster::Clustering;
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// // B is 3 bits from A, C is 1 bit from A, and B is 4 bits from C.
    /// for (time, url, fingerprint) in [(1, "a", 0b0000), (2, "b", 0b0111), (3, "c", 0b1000)] {
    ///     store.observe(Observation::content(url, Time::from_ms(time)?, fingerprint, epoch))?;
    /// }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// let pages: Vec<_> = clusters.by_page(1)?.collect::<Result<_, _>>()?;
    /// assert!(pages.iter().all(|page| &*page.leader == "a" && page.pages == 3));
    /// assert_eq!(pages.iter().map(|page| page.distance).collect::<Vec<_>>(), [0, 3, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EndedEpoch`] or [`Error::UnknownEpoch`] for an ended or unknown epoch,
    /// [`Error::Io`] if a scratch file cannot be written, [`Error::Corrupt`] if the data to read is
    /// damaged, [`Error::Cancelled`] if the progress was cancelled, [`Error::Limit`] for 2^32 pages
    /// or more.
    pub fn run(&self, snapshot: &Snapshot, progress: &Progress) -> Result<Clusters> {
        snapshot.poison_on_bug(|| {
            let work = self.workspace();
            let found = Clusters::of(snapshot, self, work.clone(), progress);
            found.map_err(|e| work.named(e))
        })
    }
}

/// The clusters of a snapshot, from [`Clustering::run`].
///
/// The clusters are stored in memory or in scratch files until this value is dropped, and can be
/// iterated several times, in several orders. Each iteration sorts about 100 bytes a page, in the
/// memory that the [`Clustering`] allows. It then reads a URL for each page that it returns, and
/// the heads of pages that have the fingerprint of their leader.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::Clustering;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (url, fingerprint) in [("https://a.example/", 0b0), ("https://b.example/", 0b1), ("https://c.example/", !0)] {
///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
/// }
/// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
/// assert_eq!((clusters.pages(), clusters.len(), clusters.largest()), (3, 2, 2));
/// # Ok(())
/// # }
/// ```
pub struct Clusters {
    pub(super) snapshot: Snapshot,
    pub(super) filter: InForceFilter,
    pub(super) work: Workspace,
    pub(super) members: SpoolContent<ClusterMember>,
    pub(super) rows: SpoolContent<ClusterSummary>,
    k: u32,
    by_text: bool,
    fingerprints: u64,
    without: u64,
    weights_differ: bool,
    multi_page_clusters: u64,
    largest: u32,
    sizes: Vec<u64>,
}

/// The result of the search for leaders.
pub(super) struct MembersByLeader {
    pub(super) members: SortedItems<ClusterMember>,
    pub(super) leaders: u32,
    pub(super) k: u32,
    pub(super) fingerprints: u64,
    /// The number of pages with content but without a fingerprint of the epoch.
    pub(super) without: u64,
    /// Whether two pages have different weights.
    pub(super) weights_differ: bool,
    /// Whether distances to leaders are distances of text sketches.
    pub(super) by_text: bool,
}

/// A cluster: pages within a distance of the page that leads it.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::Clustering;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::content("https://a.example/", Time::now(), 7, store.change_epoch()))?;
/// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
/// for cluster in clusters.by_size(1)? {
///     let cluster = cluster?;
///     assert_eq!((cluster.leader.as_str(), cluster.pages), ("https://a.example/", 1));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cluster {
    /// The page that leads the cluster.
    pub leader: String,
    /// The fingerprint of the leader, with reserved bits set to 0; `None` if the pages have equal
    /// digests and no fingerprints.
    pub fingerprint: Option<u64>,
    /// The time when the leader's content was first seen, in milliseconds since 1970.
    pub first_seen: Time,
    /// The number of pages, including the leader.
    pub pages: u64,
    /// The greatest distance between the fingerprints of a page and the leader.
    pub max_distance: u32,
}

/// A page in its cluster.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::Clustering;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::content("https://a.example/", Time::now(), 7, store.change_epoch()))?;
/// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
/// for page in clusters.by_page(1)? {
///     let page = page?;
///     println!("{} belongs to {}, {} bits away", page.url, page.leader, page.distance);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClusteredPage {
    /// The page.
    pub url: Arc<str>,
    /// The fingerprint of the page, with reserved bits set to 0; `None` for content without a
    /// fingerprint.
    pub fingerprint: Option<u64>,
    /// The current class of the page, even if the clusters are of an earlier time; `None` if the
    /// page has no class.
    pub class: Option<u32>,
    /// The leader of the page's cluster, perhaps the page itself.
    pub leader: Arc<str>,
    /// The current class of the leader.
    pub leader_class: Option<u32>,
    /// The number of bits in which the fingerprints of the page and its leader differ; 0 for
    /// content without a fingerprint, which equals its leader's.
    pub distance: u32,
    /// The resemblance of the texts of the page and its leader, by their
    /// [sketches](BitSketch::resemblance); `None` for the leader, and if the texts were not
    /// compared.
    pub resemblance: Option<f64>,
    /// The number of pages in the cluster.
    pub pages: u64,
    /// The evidence that the page is nearly the same as its leader; `None` for the leader, and in
    /// the results of [`PageCluster::of`](crate::cluster::PageCluster::of).
    pub by: Option<OriginalBy>,
}

impl ClusteredPage {
    /// Whether the page leads its cluster.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
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
    /// let mut leaders = Vec::new();
    /// for page in clusters.by_page(1)? {
    ///     let page = page?;
    ///     if page.is_leader() {
    ///         leaders.push(page.url.to_string());
    ///     }
    /// }
    /// assert_eq!(leaders, ["https://example.com/about", "https://example.com/terms"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_leader(&self) -> bool {
        self.url == self.leader
    }
}

impl Clusters {
    fn of(
        snapshot: &Snapshot,
        asked: &Clustering,
        work: Workspace,
        progress: &Progress,
    ) -> Result<Clusters> {
        let filter = InForceFilter { with_digests: true, ..asked.filter(snapshot)? };
        let k = asked.distance(snapshot, filter.epoch);
        let mut weights: Option<(Weight, Weight)> = None;
        let captures = captures(snapshot, asked, &filter, &work, progress, |_, taken| {
            let (least, greatest) = weights.unwrap_or((taken.weight, taken.weight));
            weights = Some((least.min(taken.weight), greatest.max(taken.weight)));
        })?;
        let Captures { fingerprinted, digested, without } = captures;
        let weights_differ = weights.is_some_and(|(least, greatest)| least < greatest);
        let (nodes, fingerprints, bearers) = nodes(fingerprinted, &work, progress)?;
        let (settled, count) = find_leaders(nodes, fingerprints, k, &work, progress)?;
        let mut members = members(&bearers, settled, &work)?;
        let leaders = add_members(digested, count, &mut members, || progress.check())?;
        // Frees up to a quarter of the memory before rows and members are spooled.
        drop(bearers);
        let found = MembersByLeader {
            members: members.finish()?,
            leaders,
            k,
            fingerprints,
            without,
            weights_differ,
            by_text: false,
        };
        let clusters = Clusters::from_members(snapshot.clone(), filter, work, found)?;
        progress.finish();
        Ok(clusters)
    }

    /// Builds clusters from their members.
    pub(super) fn from_members(
        snapshot: Snapshot,
        filter: InForceFilter,
        work: Workspace,
        found: MembersByLeader,
    ) -> Result<Clusters> {
        let weights_differ = found.weights_differ;
        let MembersByLeader {
            members: mut sorted, leaders, k, fingerprints, without, by_text, ..
        } = found;
        let (mut members, mut rows) = (work.spool(4), work.spool(4));
        let (mut row, mut multi_page_clusters, mut largest): (Option<ClusterSummary>, u64, u32) =
            (None, 0, 0);
        let mut sizes: Vec<u64> = Vec::new();
        let mut done = |row: ClusterSummary| {
            // A row begins with one page, so `ilog2` cannot panic.
            let bin = row.pages.ilog2() as usize;
            sizes.resize(sizes.len().max(bin + 1), 0);
            sizes.iter_mut().skip(bin).take(1).for_each(|clusters| *clusters += 1);
            multi_page_clusters += u64::from(row.pages > 1);
            largest = largest.max(row.pages);
            rows.push(row)
        };
        while let Some(member) = sorted.next()? {
            members.push(member)?;
            // Members come leader by leader, the leader first. So only one row is open, and its
            // fields are the leader's.
            match &mut row {
                Some(row) if row.leader == member.leader => {
                    row.pages += 1;
                    let distance = row.distance_to(&member)?;
                    row.max_distance = row.max_distance.max(distance);
                }
                row => {
                    let ClusterMember { leader, place, fingerprint, class, .. } = member;
                    // `order` is set when rows are sorted (`by_size`).
                    let (order, pages, max_distance) = (0, 1, 0);
                    let new = ClusterSummary {
                        order,
                        leader,
                        pages,
                        max_distance,
                        place,
                        fingerprint,
                        class,
                    };
                    row.replace(new).map_or(Ok(()), &mut done)?;
                }
            }
        }
        row.map_or(Ok(()), done)?;
        let (members, rows) = (members.finish()?, rows.finish()?);
        // Each leader is a member of its own cluster, so fewer rows mean that members were lost.
        crate::bug::ensure(
            rows.len() == u64::from(leaders),
            "each cluster has at least its leader",
        )?;
        Ok(Clusters {
            snapshot,
            filter,
            work,
            members,
            rows,
            k,
            by_text,
            fingerprints,
            without,
            weights_differ,
            multi_page_clusters,
            largest,
            sizes,
        })
    }

    /// The effective distance.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// The epoch whose fingerprints are compared.
    pub fn epoch(&self) -> Epoch {
        self.filter.epoch
    }

    /// The number of pages.
    pub fn pages(&self) -> u64 {
        self.members.len()
    }

    /// The number of distinct fingerprints.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (path, fingerprint) in [("a", 7), ("b", 7), ("c", 8)] {
    ///     let url = format!("https://example.com/{path}");
    ///     store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let clusters = Clustering::within(0).run(&store.snapshot(), &Progress::default())?;
    /// assert_eq!((clusters.pages(), clusters.fingerprints()), (3, 2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn fingerprints(&self) -> u64 {
        self.fingerprints
    }

    /// The number of other pages with content, which are in no cluster: pages that were not
    /// [restated](crate::Store::restate) in the epoch, redirects, and pages without a fingerprint
    /// and without a digest.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time, fingerprint};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // The text is too short to have a fingerprint, and no digest is given.
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), fingerprint::of_text("Loading..."), epoch))?;
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// assert_eq!((clusters.pages(), clusters.without_fingerprint()), (0, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn without_fingerprint(&self) -> u64 {
        self.without
    }

    /// Whether two of the pages have different [weights](crate::Weight). Otherwise the rule
    /// [`Weight`](super::RankingRule::Weight) decides nothing.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::Clustering;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (url, weight) in [("https://a.example/", 1.0), ("https://b.example/", 2.0)] {
    ///     store.observe(Observation::content(url, Time::now(), 7, epoch).weight(weight))?;
    /// }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// assert!(clusters.weights_differ());
    /// # Ok(())
    /// # }
    /// ```
    pub fn weights_differ(&self) -> bool {
        self.weights_differ
    }

    /// The number of clusters.
    pub fn len(&self) -> u64 {
        self.rows.len()
    }

    /// Whether there are no clusters, because there are no pages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of clusters with two or more pages.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
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
    /// assert_eq!((clusters.len(), clusters.multi_page_clusters()), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn multi_page_clusters(&self) -> u64 {
        self.multi_page_clusters
    }

    /// The number of pages in the largest cluster.
    pub fn largest(&self) -> u64 {
        self.largest.into()
    }

    /// The number of clusters with 1 page, 2 to 3, 4 to 7, and so on: size s is in bin log2(s).
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
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
    /// assert_eq!(clusters.sizes(), [1, 1]); // one cluster of 1 page, one of 2 to 3 pages
    /// # Ok(())
    /// # }
    /// ```
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Iterates over the clusters of at least `pages_min` pages, the largest first. Equally large
    /// clusters come in the order of their leaders' ranks, and those without fingerprints last, by
    /// digest.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
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
    /// for cluster in clusters.by_size(2)? {
    ///     let cluster = cluster?;
    ///     assert_eq!((cluster.leader.as_str(), cluster.pages), ("https://example.com/terms", 2));
    /// }
    /// # assert_eq!(clusters.by_size(2)?.count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error if a scratch file cannot be written, or is damaged.
    pub fn by_size(&self, pages_min: u64) -> Result<ClustersBySize<'_>> {
        let sort = || {
            let (mut rows, mut sorter) = (self.rows.read(), self.work.sorter(2));
            while let Some(row) = rows.next()? {
                if u64::from(row.pages) >= pages_min {
                    // The sort ascends, so the complement of the size puts large clusters first.
                    // Clusters of one size are sorted by `leader`, which is the order of rank.
                    sorter.push(ClusterSummary { order: u32::MAX - row.pages, ..row })?;
                }
            }
            sorter.finish()
        };
        let rows = sort().map_err(|e| self.work.named(e))?;
        Ok(ClustersBySize { clusters: self, rows })
    }

    /// Iterates over the pages of clusters of at least `pages_min` pages, in SURT order.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
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
    /// let pages: Vec<_> = clusters.by_page(2)?.collect::<Result<_, _>>()?;
    /// let paths: Vec<_> = pages.iter().map(|page| &page.url["https://example.com".len()..]).collect();
    /// assert_eq!(paths, ["/terms", "/terms?print=1"]); // no page is near `/about`
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error if a scratch file cannot be written, or is damaged.
    pub fn by_page(&self, pages_min: u64) -> Result<ClusteredPages<'_>> {
        // Pages were numbered in SURT order (`each_page`), so sorting reads no URL.
        self.listed(pages_min, |member, _, _| [member.page, 0, 0])
    }

    /// Iterates over the pages of clusters of at least `pages_min` pages, cluster by cluster in the
    /// order of [`by_size`](Clusters::by_size). The leader comes first, then the other pages by
    /// distance (or by resemblance, if texts were compared), and in SURT order.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
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
    /// let pages: Vec<_> = clusters.by_cluster(1)?.collect::<Result<_, _>>()?;
    /// let paths: Vec<_> = pages.iter().map(|page| &page.url["https://example.com".len()..]).collect();
    /// assert_eq!(paths, ["/terms", "/terms?print=1", "/about"]); // the largest cluster first
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error if a scratch file cannot be written, or is damaged.
    pub fn by_cluster(&self, pages_min: u64) -> Result<ClusteredPages<'_>> {
        // `of.leader` separates clusters of one size. `place` is the
        // order in which members were spooled.
        self.listed(pages_min, |_, of, place| [u32::MAX - of.pages, of.leader, place])
    }

    /// Iterates over pages in the order of three numbers that `order` returns. The last argument of
    /// `order` is the page's position in its cluster.
    fn listed(
        &self,
        pages_min: u64,
        order: impl Fn(&ClusterMember, &ClusterSummary, u32) -> [u32; 3],
    ) -> Result<ClusteredPages<'_>> {
        let sort = || {
            let mut sorter = self.work.sorter(2);
            self.each(|member, of, place| {
                if u64::from(of.pages) < pages_min {
                    return Ok(());
                }
                let order = order(member, of, place);
                sorter.push(OrderedMember { order, member: *member, of: *of })
            })?;
            sorter.finish()
        };
        let listed = sort().map_err(|e| self.work.named(e))?;
        Ok(ClusteredPages { clusters: self, listed, leader: None })
    }

    /// Visits all pages, cluster by cluster. `each` gets a page, its cluster, and its position in
    /// the cluster.
    pub(super) fn each(
        &self,
        mut each: impl FnMut(&ClusterMember, &ClusterSummary, u32) -> Result<()>,
    ) -> Result<()> {
        let (mut members, mut rows) = (self.members.read(), self.rows.read());
        while let Some(of) = rows.next()? {
            // Rows and members were spooled in one order, so the next `pages` members belong to
            // this row.
            for place in 0..of.pages {
                let member =
                    members.next()?.or_bug("each cluster has the counted number of pages")?;
                each(&member, &of, place)?;
            }
        }
        Ok(())
    }

    /// The version in force of a page, if the page is in a cluster.
    pub(super) fn in_force(&self, url: &str) -> Result<Option<InForcePage>> {
        self.filter.page(&self.snapshot, url)
    }

    /// The location of a page; `None` if it is unknown.
    pub(super) fn place(&self, url: &str) -> Result<Option<u64>> {
        let view = self.snapshot.view();
        view.check()?;
        check_url(url)?;
        let known = view.locate_page(&Lookup::new(url, view.seed), self.snapshot.sequence())?;
        Ok(known.location.filter(|_| known.head.is_some()).map(|location| location.to_bits()))
    }

    /// The URL of the page at a location.
    pub(super) fn url(&self, place: u64) -> Result<String> {
        let view = self.snapshot.view();
        view.check()?;
        view.url_at(PageAddress::from_bits(place))
    }

    /// The digest of the version in force on a page.
    pub(super) fn digest(&self, url: &str) -> Result<Option<Digest>> {
        self.filter.digest(&self.snapshot, url)
    }

    fn cluster(&self, row: &ClusterSummary) -> Result<Cluster> {
        let leader = self.url(row.place)?;
        let taken = self.in_force(&leader)?;
        let taken = taken.or_bug("a page that passed the filter passes it again")?;
        Ok(Cluster {
            first_seen: taken.since,
            leader,
            fingerprint: row.fingerprint,
            pages: row.pages.into(),
            max_distance: row.max_distance,
        })
    }
}

impl fmt::Debug for Clusters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clusters({} of {} pages, {:?})", self.len(), self.pages(), self.snapshot)
    }
}

/// An iterator over clusters by size, from [`Clusters::by_size`]. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
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
/// let sizes = clusters.by_size(1)?.map(|cluster| Ok(cluster?.pages));
/// assert_eq!(sizes.collect::<simkeep::Result<Vec<_>>>()?, [2, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClustersBySize<'c> {
    clusters: &'c Clusters,
    rows: SortedItems<ClusterSummary>,
}

impl Iterator for ClustersBySize<'_> {
    type Item = Result<Cluster>;

    fn next(&mut self) -> Option<Result<Cluster>> {
        let clusters = self.clusters;
        let next = self.rows.next().map_err(|e| clusters.work.named(e)).transpose()?;
        let cluster = next.and_then(|row| clusters.cluster(&row));
        if cluster.is_err() {
            self.rows = SortedItems::none();
        }
        Some(clusters.snapshot.poison_on_bug(|| cluster))
    }
}

/// An iterator over pages in their clusters, from [`Clusters::by_page`] or
/// [`Clusters::by_cluster`]. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
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
/// let mut pages = clusters.by_cluster(2)?;
/// let (leader, other) = (pages.next().unwrap()?, pages.next().unwrap()?);
/// assert_eq!((other.leader, other.distance), (leader.url, 1));
/// # assert!(pages.next().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClusteredPages<'c> {
    clusters: &'c Clusters,
    listed: SortedItems<OrderedMember>,
    /// The last leader that was read.
    leader: Option<CachedLeader>,
}

/// A leader, with the digest of its version in force once the digest was needed.
#[derive(Debug)]
struct CachedLeader {
    number: u32,
    url: Arc<str>,
    digest: Option<Option<Digest>>,
}

impl CachedLeader {
    /// The digest of the leader's version in force. Reads the leader's head the first time.
    fn digest(&mut self, clusters: &Clusters) -> Result<Option<Digest>> {
        // The outer `None` means that the digest was not read yet. The head of a leader with a
        // million copies is read once.
        match self.digest {
            Some(digest) => Ok(digest),
            None => Ok(*self.digest.insert(clusters.digest(&self.url)?)),
        }
    }
}

impl ClusteredPages<'_> {
    fn page(&mut self, listed: &OrderedMember) -> Result<ClusteredPage> {
        let OrderedMember { member, of, .. } = listed;
        let url: Arc<str> = Arc::from(self.clusters.url(member.place)?);
        // In the order of `by_cluster` a leader comes many times in a row. Its URL is read once.
        let leader = match &mut self.leader {
            Some(leader) if leader.number == of.leader => leader,
            other => {
                let of_leader = match member.follows {
                    true => Arc::from(self.clusters.url(of.place)?),
                    false => Arc::clone(&url),
                };
                other.insert(CachedLeader { number: of.leader, url: of_leader, digest: None })
            }
        };
        let ClusterMember { fingerprint, class, .. } = *member;
        let distance = of.distance_to(member)?;
        // `member.apart` may be a distance of sketches, so the
        // distance of fingerprints is computed here.
        let by = match (member.follows, distance) {
            (false, _) => None,
            (true, _) if fingerprint.is_none() => Some(OriginalBy::Digest),
            (true, 0) => {
                // Equal fingerprints do not prove equal content. Digests do,
                // and two missing digests prove nothing.
                let own = self.clusters.digest(&url)?;
                let is_copy = own.is_some() && own == leader.digest(self.clusters)?;
                Some(if is_copy { OriginalBy::Digest } else { OriginalBy::Fingerprint })
            }
            (true, _) => Some(OriginalBy::Near),
        };
        let is_compared = self.clusters.by_text && member.follows && fingerprint.is_some();
        Ok(ClusteredPage {
            url,
            fingerprint,
            class,
            leader: Arc::clone(&leader.url),
            leader_class: of.class,
            distance,
            resemblance: is_compared.then(|| BitSketch::resemblance_at(member.apart.into())),
            pages: of.pages.into(),
            by,
        })
    }
}

impl Iterator for ClusteredPages<'_> {
    type Item = Result<ClusteredPage>;

    fn next(&mut self) -> Option<Result<ClusteredPage>> {
        let clusters = self.clusters;
        let next = self.listed.next().map_err(|e| clusters.work.named(e)).transpose()?;
        let page = next.and_then(|listed| self.page(&listed));
        if page.is_err() {
            self.listed = SortedItems::none();
        }
        Some(clusters.snapshot.poison_on_bug(|| page))
    }
}
