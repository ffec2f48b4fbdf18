//! The query for mirrors.

use std::path::PathBuf;

use super::candidates::SHARED;
use super::sample::SAMPLE;
use crate::error::{Error, Result};
use crate::page::{Classes, Epoch, Prefix};
use crate::time::Time;

/// The greatest depth of a site, in folders.
const DEPTH_MAX: u8 = 16;

/// A query for sites that mirror each other; run it with [`MirrorQuery::run`].
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::mirror::MirrorQuery;
///
/// let asked = MirrorQuery::new().paths(50).share(0.9).under(Prefix::parse("example.org")?);
/// assert_eq!((asked.depth, asked.k), (2, None));
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MirrorQuery {
    /// The largest number of differing bits between near pages, 0 to 64; `None` for the
    /// [usual](crate::Snapshot::near_distance) distance of the epoch.
    pub k: Option<u32>,
    /// The minimum number of paths with near pages.
    pub paths: u64,
    /// The minimum share of near paths in the union of both sites' paths, above 0 and at most 1.
    pub share: f64,
    /// The greatest depth of a site in folders: 0 for hosts only.
    pub depth: u8,
    /// The time for which the current versions are compared, in milliseconds since 1970; `None`
    /// for now.
    pub at: Option<Time>,
    /// Limits the query to pages under this prefix.
    pub under: Option<Prefix>,
    /// The epoch of the fingerprints; `None` for the
    /// [epoch of near-duplicates](crate::Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// The maximum number of pairs to list.
    pub limit: usize,
    /// Approximate memory for sorting, in bytes.
    pub memory_bytes: usize,
    /// Limits the query to pages of these classes; see [`MirrorQuery::classes`].
    pub classes: Option<Classes>,
    /// The directory for scratch files; `None` for the system's temporary directory.
    pub scratch: Option<PathBuf>,
}

impl Default for MirrorQuery {
    fn default() -> MirrorQuery {
        MirrorQuery::new()
    }
}

impl MirrorQuery {
    /// Creates a query with default options. The query finds hosts, and folders up to two deep,
    /// whose current pages are near each other on at least ten paths and on 80 % of all paths. The
    /// query lists a thousand pairs, and takes 128 MiB of memory.
    ///
    /// ```
    /// use simkeep::mirror::MirrorQuery;
    /// let query = MirrorQuery::new();
    /// assert_eq!((query.paths, query.share, query.depth, query.limit), (10, 0.8, 2, 1_000));
    /// ```
    #[must_use]
    pub fn new() -> MirrorQuery {
        MirrorQuery {
            k: None,
            paths: 10,
            share: 0.8,
            depth: 2,
            at: None,
            under: None,
            epoch: None,
            limit: 1000,
            memory_bytes: 128 << 20,
            classes: None,
            scratch: None,
        }
    }

    /// Sets the largest number of differing bits between near pages.
    ///
    /// ```
    /// use simkeep::mirror::MirrorQuery;
    /// assert_eq!(MirrorQuery::new().within(0).k, Some(0)); // equal fingerprints only
    /// ```
    #[must_use]
    pub fn within(mut self, k: u32) -> MirrorQuery {
        self.k = Some(k);
        self
    }

    /// Sets the minimum number of paths with near pages; at least two.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::mirror::MirrorQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// // Two small sites, with five equal pages each.
    /// for host in ["example.com", "mirror.example.org"] {
    ///     for page in 0..5 {
    ///         let url = format!("https://{host}/{page}");
    ///         store.observe(Observation::content(&url, Time::now(), page << 40, epoch))?;
    ///     }
    /// }
    /// let mirrors = |query: MirrorQuery| Ok::<_, simkeep::Error>(
    ///     query.run(&store.snapshot(), &Progress::default())?.mirrors);
    /// assert_eq!((mirrors(MirrorQuery::new())?, mirrors(MirrorQuery::new().paths(5))?), (0, 1));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn paths(mut self, paths: u64) -> MirrorQuery {
        self.paths = paths;
        self
    }

    /// Sets the minimum share of near paths in the union of both sites' paths.
    ///
    /// ```
    /// use simkeep::mirror::MirrorQuery;
    /// // Sites with half of their pages in common, which a search finds nearly always.
    /// let query = MirrorQuery::new().share(0.5);
    /// assert!(MirrorQuery::recall(query.share) > 0.99);
    /// ```
    #[must_use]
    pub fn share(mut self, share: f64) -> MirrorQuery {
        self.share = share;
        self
    }

    /// Sets the greatest depth of a site in folders, up to 16. A page belongs to one site for each
    /// level, so the time grows with the depth if folder names repeat, as in `/d/d/d/x`. With depth
    /// 0 only hosts are compared, and each page is read about once.
    ///
    /// ```
    /// use simkeep::mirror::MirrorQuery;
    /// // Compares hosts only.
    /// assert_eq!(MirrorQuery::new().depth(0).depth, 0);
    /// ```
    #[must_use]
    pub fn depth(mut self, folders: u8) -> MirrorQuery {
        self.depth = folders;
        self
    }

    /// Compares the versions that were current at a time.
    ///
    /// ```
    /// use simkeep::{Time, mirror::MirrorQuery};
    /// // The mirrors on 1 May 2024.
    /// let query = MirrorQuery::new().at(Time::from_ms(1_714_521_600_000)?);
    /// # assert!(query.at.is_some());
    /// # Ok::<(), simkeep::TimeError>(())
    /// ```
    #[must_use]
    pub fn at(mut self, time: impl Into<Time>) -> MirrorQuery {
        self.at = Some(time.into());
        self
    }

    /// Compares only pages under a prefix; other pages of a site do not count.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// use simkeep::mirror::MirrorQuery;
    /// // Mirrors among the hosts of a domain.
    /// let query = MirrorQuery::new().under(Prefix::parse("example.com")?);
    /// assert_eq!(query.under.unwrap().to_string(), "example.com");
    /// # Ok::<(), simkeep::PrefixError>(())
    /// ```
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> MirrorQuery {
        self.under = prefix.into();
        self
    }

    /// Compares fingerprints of an epoch.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> MirrorQuery {
        self.epoch = Some(epoch);
        self
    }

    /// Sets the maximum number of pairs to list: mirrors first, then the pairs with the most near
    /// paths.
    #[must_use]
    pub fn limit(mut self, pairs: usize) -> MirrorQuery {
        self.limit = pairs;
        self
    }

    /// Compares only pages that are in these classes now, for example pages that a user may see.
    /// Other pages are neither listed nor counted; see [`Query::classes`](crate::Query::classes).
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> MirrorQuery {
        self.classes = classes.into();
        self
    }

    /// Sets the directory for scratch files, which must exist. Default: the system's temporary
    /// directory.
    #[must_use]
    pub fn scratch(mut self, dir: impl Into<Option<PathBuf>>) -> MirrorQuery {
        self.scratch = dir.into();
        self
    }

    /// Sets the approximate memory for sorting. Data beyond it goes to scratch files.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> MirrorQuery {
        self.memory_bytes = bytes;
        self
    }

    /// Returns a lower bound of the probability that a search compares two large sites with the
    /// given share of common paths in the union of both sites' paths.
    ///
    /// A search compares two sites if their samples share two hashes. Each of the sixteen smallest
    /// hashes of the union is in both samples if both sites have the path. So with probability *s*:
    ///
    /// ```text
    /// 1 - (1 - s)^16 - 16 s (1 - s)^15
    /// ```
    ///
    /// The bound is exact if one site has all paths of the other. If each site has paths that the
    /// other lacks, the samples include larger hashes, and share more.
    ///
    /// ```
    /// use simkeep::mirror::MirrorQuery;
    ///
    /// assert!(MirrorQuery::recall(0.8) > 0.999_999_999);
    /// assert!(MirrorQuery::recall(0.4) > 0.996);
    /// assert!(MirrorQuery::recall(0.1) < 0.5);
    /// ```
    #[must_use]
    pub fn recall(share: f64) -> f64 {
        const { assert!(SAMPLE == 16 && SHARED == 2) }
        // One minus the probabilities of no common hash and of one common hash, in a binomial
        // distribution of 16 draws.
        let s = share.clamp(0.0, 1.0);
        1.0 - (1.0 - s).powi(16) - 16.0 * s * (1.0 - s).powi(15)
    }

    /// Checks the options.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for options out of range.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::InvalidArgument(format!("mirrors: {what}")));
        match self {
            MirrorQuery { k: Some(65..), .. } => wrong("k must be at most 64 bits"),
            MirrorQuery { paths: ..=1, .. } => wrong("paths must be at least 2"),
            MirrorQuery { share, .. } if !(*share > 0.0 && *share <= 1.0) => {
                wrong("share must be above 0 and at most 1")
            }
            MirrorQuery { depth, .. } if *depth > DEPTH_MAX => {
                wrong("depth must be at most 16 folders")
            }
            _ => Ok(()),
        }
    }
}
