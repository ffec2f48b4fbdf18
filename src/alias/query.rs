//! The query for alias rules.

use crate::error::{Error, Result};
use crate::page::{Epoch, Prefix};

/// A query for alias rules, with its limits; run it with [`AliasQuery::run`].
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::alias::AliasQuery;
///
/// let query = AliasQuery::default().under(Prefix::parse("example.org")?).share(0.95).pairs(100);
/// assert_eq!((query.k, query.memory_bytes), (None, 512 << 20));
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AliasQuery {
    /// The largest number of differing bits between near pages, 0 to 64; `None` for the
    /// [near distance](crate::Snapshot::near_distance) of the epoch.
    pub k: Option<u32>,
    /// The epoch of the fingerprints; `None` for the
    /// [epoch of near-duplicates](crate::Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// Only pages under this prefix are read. A prefix of a host or path excludes the pages of the
    /// same site with or without `www.`.
    pub under: Option<Prefix>,
    /// The minimum share of near pairs for a rule to hold in a site. Default: 0.9.
    pub share: f64,
    /// The minimum number of pairs for a rule to hold in a site. Default: 10.
    pub pairs: u64,
    /// Whether to report also rules that do not hold but have at least one pair.
    pub all: bool,
    /// The maximum number of near examples, and of other examples, for each rule. Default: 3.
    pub examples: usize,
    /// Memory for the pages of one site, in bytes; a site that exceeds this memory is sampled.
    /// Default: 512 MiB, for about two million pages.
    pub memory_bytes: usize,
}

impl Default for AliasQuery {
    fn default() -> AliasQuery {
        AliasQuery {
            k: None,
            epoch: None,
            under: None,
            share: 0.9,
            pairs: 10,
            all: false,
            examples: 3,
            memory_bytes: 512 << 20,
        }
    }
}

impl AliasQuery {
    /// Sets the largest number of differing bits between near pages.
    #[must_use]
    pub fn k(mut self, k: u32) -> AliasQuery {
        self.k = Some(k);
        self
    }

    /// Sets the epoch whose fingerprints are compared.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> AliasQuery {
        self.epoch = Some(epoch);
        self
    }

    /// Sets a prefix, so that only pages under the prefix are read.
    ///
    /// ```
    /// use simkeep::Prefix;
    /// use simkeep::alias::AliasQuery;
    /// // The domain, with its host `www.example.com`.
    /// let query = AliasQuery::default().under(Prefix::parse("example.com")?);
    /// assert_eq!(query.under.unwrap().to_string(), "example.com");
    /// # Ok::<(), simkeep::PrefixError>(())
    /// ```
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> AliasQuery {
        self.under = prefix.into();
        self
    }

    /// Sets the minimum share of near pairs for a rule to hold: 0 to 1.
    ///
    /// ```
    /// use simkeep::alias::AliasQuery;
    /// // One of 20 pairs may differ.
    /// assert_eq!(AliasQuery::default().share(0.95).share, 0.95);
    /// ```
    #[must_use]
    pub fn share(mut self, share: f64) -> AliasQuery {
        self.share = share;
        self
    }

    /// Sets the minimum number of pairs for a rule to hold.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::alias::AliasQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// // Two pages of a site are known with and without a visitor's number.
    /// for (url, fingerprint) in [("https://example.com/a", 0x00), ("https://example.com/b", !0)] {
    ///     for visitor in ["", "?sid=1"] {
    ///         let url = format!("{url}{visitor}");
    ///         store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
    ///     }
    /// }
    /// let query = AliasQuery::default().pairs(2);
    /// let totals =
    ///     query.run(&store.snapshot(), &Progress::default(), |_| ControlFlow::Continue(()))?;
    /// assert_eq!((totals.rules, totals.pairs), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn pairs(mut self, pairs: u64) -> AliasQuery {
        self.pairs = pairs;
        self
    }

    /// Sets whether to report also rules that do not hold.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use std::ops::ControlFlow;
    ///
    /// use simkeep::alias::AliasQuery;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // One pair of pages is not enough for a rule.
    /// for url in ["https://example.com/a", "https://example.com/a?sid=1"] {
    ///     store.observe(Observation::content(url, Time::now(), 7, store.change_epoch()))?;
    /// }
    /// let mut rules = Vec::new();
    /// AliasQuery::default().all(true).run(&store.snapshot(), &Progress::default(), |site| {
    ///     rules.extend(site.rules);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(!rules.is_empty() && rules.iter().all(|count| !count.holds));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn all(mut self, all: bool) -> AliasQuery {
        self.all = all;
        self
    }

    /// Sets the number of examples for each rule.
    #[must_use]
    pub fn examples(mut self, examples: usize) -> AliasQuery {
        self.examples = examples;
        self
    }

    /// Sets the memory for the pages of one site, in bytes. At least half a MiB is used.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> AliasQuery {
        self.memory_bytes = bytes;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        if (0.0..=1.0).contains(&self.share) {
            return Ok(());
        }
        Err(Error::InvalidOption { name: "share", takes: "from 0 to 1" })
    }
}
