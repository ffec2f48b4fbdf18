//! Which aliases are asked for.

use crate::error::{Error, Result};
use crate::page::{Epoch, Prefix};

/// Which rules to find, and what it may take; for [`AliasQuery::run`].
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
    /// In how many bits near pages differ at most, 0 to 64; `None` for the
    /// [near distance](crate::Snapshot::near_distance) of the epoch.
    pub k: Option<u32>,
    /// The epoch of the fingerprints; `None` for the one that near-duplicates are
    /// [sought by](crate::Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// Only pages under this prefix. Under a host or a path there are no pages of the same site with or
    /// without `www.`.
    pub under: Option<Prefix>,
    /// A rule holds for a site if at least this share of its pairs is near. Default: 0.9.
    pub share: f64,
    /// A rule holds for a site if it has this many pairs there at least, which are counted. Default: 10.
    pub pairs: u64,
    /// Whether rules are told of that do not hold, but have any pair.
    pub all: bool,
    /// The most examples of pairs that are near, and of such that are not, of each rule. Default: 3.
    pub examples: usize,
    /// Memory for the pages of one site; a site that is beyond it is sampled. Default: 512 MiB, for some
    /// two million pages.
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
    /// Sets in how many bits near pages differ at most.
    #[must_use]
    pub fn k(mut self, k: u32) -> AliasQuery {
        self.k = Some(k);
        self
    }

    /// Compares fingerprints of this epoch.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> AliasQuery {
        self.epoch = Some(epoch);
        self
    }

    /// Looks only at pages under a prefix.
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> AliasQuery {
        self.under = prefix.into();
        self
    }

    /// Sets the share of pairs that are near from which on a rule holds: 0 to 1.
    #[must_use]
    pub fn share(mut self, share: f64) -> AliasQuery {
        self.share = share;
        self
    }

    /// Sets the number of pairs from which on a rule may hold.
    #[must_use]
    pub fn pairs(mut self, pairs: u64) -> AliasQuery {
        self.pairs = pairs;
        self
    }

    /// Sets whether rules that do not hold are told of, too.
    #[must_use]
    pub fn all(mut self, all: bool) -> AliasQuery {
        self.all = all;
        self
    }

    /// Sets how many examples are given of each rule.
    #[must_use]
    pub fn examples(mut self, examples: usize) -> AliasQuery {
        self.examples = examples;
        self
    }

    /// Sets the memory for the pages of one site. It takes half a MiB at least.
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
