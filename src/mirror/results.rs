//! The results of a search for mirrors.

use crate::page::Prefix;

/// The sites that mirror each other; from [`MirrorQuery::run`](crate::mirror::MirrorQuery::run).
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::mirror::MirrorQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// for host in ["example.com", "mirror.example.org"] {
///     for page in 0..20 {
///         let url = format!("https://{host}/{page}");
///         store.observe(Observation::content(&url, Time::now(), page << 40, epoch))?;
///     }
/// }
/// let found = MirrorQuery::new().run(&store.snapshot(), &Progress::default())?;
/// assert_eq!((found.mirrors, found.pairs.len(), found.sites), (1, 1, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirrors {
    /// The pairs: mirrors come first. Mirrors, and then other pairs, are in descending order of
    /// near pages.
    pub pairs: Vec<Mirror>,
    /// The number of mirror pairs, including pairs beyond the limit.
    pub mirrors: u64,
    /// The number of pairs that are no mirrors but have at least a quarter of the required share.
    /// These pairs are listed, too.
    pub partial: u64,
    /// The number of paths.
    pub paths: u64,
    /// The number of pages with content but without a fingerprint of the epoch. Such pages count
    /// for no path.
    pub without_fingerprint: u64,
    /// The number of sites with the required number of paths.
    pub sites: u64,
    /// The number of pairs of sites whose samples had enough in common to compare them.
    pub compared: u64,
}

/// Two sites with near pages at many paths.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::mirror::MirrorQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// // The mirror lacks five of twenty pages.
/// for (host, pages) in [("example.com", 0..20), ("mirror.example.org", 5..20)] {
///     for page in pages {
///         let url = format!("https://{host}/{page}");
///         store.observe(Observation::content(&url, Time::now(), page << 40, epoch))?;
///     }
/// }
/// let query = MirrorQuery::new().share(0.7);
/// let mirror = &query.run(&store.snapshot(), &Progress::default())?.pairs[0];
/// assert_eq!((mirror.common, mirror.near, mirror.share), (15, 15, 0.75));
/// assert!(mirror.is_mirror && mirror.differing() == 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirror {
    /// The leading site, which had the common version first on more paths than the other site.
    /// Paths on which both sites are known to have changed decide; after a tie all near paths
    /// decide, and then SURT order.
    pub leader: MirrorSite,
    /// The following site.
    pub follower: MirrorSite,
    /// Whether the share of near paths reaches the required share.
    pub is_mirror: bool,
    /// The number of paths that both sites have.
    pub common: u64,
    /// The number of common paths with near pages. The pages of a path are near if the current
    /// version on one site is near a version on the other site, current or earlier.
    pub near: u64,
    /// The share of near paths in the union of both sites' paths, from 0 to 1.
    pub share: f64,
    /// The lag of the follower, in milliseconds. The lag is the median time by which the follower
    /// saw the common version later, over up to 1,000 paths on which both sites were seen to change
    /// to the common version. `None` without such a path.
    pub lag: Option<i64>,
    /// A random sample of up to ten common paths.
    pub examples: Vec<MirrorExample>,
}

impl Mirror {
    /// The number of common paths whose pages are not near each other.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::mirror::MirrorQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// // One of twenty pages differs.
    /// for (host, first) in [("example.com", 0), ("mirror.example.org", !0)] {
    ///     for page in 0..20 {
    ///         let (url, fingerprint) = (format!("https://{host}/{page}"), page << 40);
    ///         let fingerprint = if page == 0 { first } else { fingerprint };
    ///         store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
    ///     }
    /// }
    /// let found = MirrorQuery::new().run(&store.snapshot(), &Progress::default())?;
    /// assert_eq!((found.pairs[0].near, found.pairs[0].differing()), (19, 1));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn differing(&self) -> u64 {
        // `CommonPaths::add_path` counts each near path as a common path, so this cannot underflow.
        self.common - self.near
    }
}

/// A site: a host, or a folder of a host.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::mirror::MirrorQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// for (ms, host) in [(1_000, "example.com"), (2_000, "mirror.example.org")] {
///     for page in 0..20 {
///         let url = format!("https://{host}/{page}");
///         store.observe(Observation::content(&url, Time::from_ms(ms)?, page << 40, epoch))?;
///     }
/// }
/// let mirror = &MirrorQuery::new().run(&store.snapshot(), &Progress::default())?.pairs[0];
/// assert_eq!(mirror.leader.site.to_string(), "example.com/"); // had the pages first
/// assert_eq!((mirror.follower.paths, mirror.follower.outdated), (20, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorSite {
    /// The prefix of the site's pages, which ends with `/`.
    pub site: Prefix,
    /// The number of paths of the site.
    pub paths: u64,
    /// The number of near paths on which the site is outdated: its current version is an earlier
    /// version of the other site.
    pub outdated: u64,
}

/// The two pages of a path that both sites have.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::mirror::MirrorQuery;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # for (ms, host) in [(1_000, "example.com"), (2_000, "mirror.example.org")] {
/// #     for page in 0..20 {
/// #         let url = format!("https://{host}/{page}");
/// #         store.observe(Observation::content(&url, Time::from_ms(ms)?, page << 40, epoch))?;
/// #     }
/// # }
/// let mirror = &MirrorQuery::new().run(&store.snapshot(), &Progress::default())?.pairs[0];
/// for example in &mirror.examples {
///     println!("{} and {}", example.leader, example.follower);
///     assert_eq!(example.distance, 0);
/// }
/// # assert_eq!(mirror.examples.len(), 10);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorExample {
    /// The page on the leading site.
    pub leader: String,
    /// The page on the following site.
    pub follower: String,
    /// The number of differing bits between the current version on one site and the nearest
    /// version on the other site.
    pub distance: u32,
}
