//! What is asked about mirrors.

use std::path::PathBuf;

use super::candidates::SHARED;
use super::sample::SAMPLE;
use crate::error::{Error, Result};
use crate::page::{Classes, Epoch, Prefix};
use crate::time::Time;

/// How many folders deep a site may lie at most.
const DEPTH_MAX: u8 = 16;

/// Which sites are said to mirror each other; for [`Mirroring::run`].
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::mirror::Mirroring;
///
/// let asked = Mirroring::new().paths(50).share(0.9).under(Prefix::parse("example.org")?);
/// assert_eq!((asked.depth, asked.k), (2, None));
/// # Ok::<(), simkeep::PrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirroring {
    /// In how many bits two pages may differ to be near each other, 0 to 64; `None` for the distance
    /// that is [usual](crate::Snapshot::near_distance) in the epoch.
    pub k: Option<u32>,
    /// Of how many paths at least the pages must be near each other.
    pub paths: u64,
    /// What share those must be of the paths that either site has, above 0 and at most 1.
    pub share: f64,
    /// How many folders deep a site may lie: 0 for hosts only.
    pub depth: u8,
    /// The time of which what was in force is compared, in milliseconds since 1970; `None` for now.
    pub at: Option<Time>,
    /// Only pages under this prefix.
    pub under: Option<Prefix>,
    /// The epoch of the fingerprints; `None` for the one that near-duplicates are
    /// [sought by](crate::Snapshot::near_epoch).
    pub epoch: Option<Epoch>,
    /// How many pairs to name.
    pub limit: usize,
    /// How much memory to take for sorting, about.
    pub memory_bytes: usize,
    /// Only pages of these classes; see [`Mirroring::classes`].
    pub classes: Option<Classes>,
    /// Where scratch files are made; `None` for the system's directory for temporary files.
    pub scratch: Option<PathBuf>,
}

impl Default for Mirroring {
    fn default() -> Mirroring {
        Mirroring::new()
    }
}

impl Mirroring {
    /// Hosts and folders up to two deep that have at least ten paths and 80 % of all with pages near
    /// each other, as they are now; a thousand pairs, and 128 MiB of memory.
    #[must_use]
    pub fn new() -> Mirroring {
        Mirroring {
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

    /// Sets in how many bits two pages may differ.
    #[must_use]
    pub fn within(mut self, k: u32) -> Mirroring {
        self.k = Some(k);
        self
    }

    /// Sets of how many paths at least the pages must be near each other; two at least.
    #[must_use]
    pub fn paths(mut self, paths: u64) -> Mirroring {
        self.paths = paths;
        self
    }

    /// Sets what share they must be of the paths that either site has.
    #[must_use]
    pub fn share(mut self, share: f64) -> Mirroring {
        self.share = share;
        self
    }

    /// Sets how many folders deep a site may lie, up to 16. A page is in a site for each, so time grows
    /// with it where folders repeat, as in `/d/d/d/x`; with 0 only hosts are compared, and each page is
    /// read about once.
    #[must_use]
    pub fn depth(mut self, folders: u8) -> Mirroring {
        self.depth = folders;
        self
    }

    /// Compares what was in force at a time.
    #[must_use]
    pub fn at(mut self, time: impl Into<Time>) -> Mirroring {
        self.at = Some(time.into());
        self
    }

    /// Compares only pages under a prefix: what a site has elsewhere does not count.
    #[must_use]
    pub fn under(mut self, prefix: impl Into<Option<Prefix>>) -> Mirroring {
        self.under = prefix.into();
        self
    }

    /// Compares fingerprints of this epoch.
    #[must_use]
    pub fn epoch(mut self, epoch: Epoch) -> Mirroring {
        self.epoch = Some(epoch);
        self
    }

    /// Sets how many pairs are named at most, the largest first.
    #[must_use]
    pub fn limit(mut self, pairs: usize) -> Mirroring {
        self.limit = pairs;
        self
    }

    /// Looks only at pages that are of these classes now, such as what somebody may see: pages of others
    /// are neither named nor counted, as in a [query](crate::Query::classes).
    #[must_use]
    pub fn classes(mut self, classes: impl Into<Option<Classes>>) -> Mirroring {
        self.classes = classes.into();
        self
    }

    /// Sets the directory for scratch files, which must be there. Default: the system's for temporary
    /// files.
    #[must_use]
    pub fn scratch(mut self, dir: impl Into<Option<PathBuf>>) -> Mirroring {
        self.scratch = dir.into();
        self
    }

    /// Sets how much memory is taken for sorting, about. What does not fit goes to scratch files.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> Mirroring {
        self.memory_bytes = bytes;
        self
    }

    /// How likely it is at least that two large sites are compared, if of the paths that either has this
    /// share leads to the same on both.
    ///
    /// They are compared if their samples share two hashes. The sixteen smallest hashes of all paths
    /// that either site has are each in both samples if the path is of both, so with probability *s*:
    ///
    /// ```text
    /// 1 - (1 - s)^16 - 16 s (1 - s)^15
    /// ```
    ///
    /// That is all if one site has all paths of the other. If each has some of its own, the samples
    /// reach further, and share more.
    ///
    /// ```
    /// use simkeep::mirror::Mirroring;
    ///
    /// assert!(Mirroring::recall(0.8) > 0.999_999_999);
    /// assert!(Mirroring::recall(0.4) > 0.996);
    /// assert!(Mirroring::recall(0.1) < 0.5);
    /// ```
    #[must_use]
    pub fn recall(share: f64) -> f64 {
        const { assert!(SAMPLE == 16 && SHARED == 2) }
        // One minus the chances of no hash and of one hash: a binomial of 16 draws.
        let s = share.clamp(0.0, 1.0);
        1.0 - (1.0 - s).powi(16) - 16.0 * s * (1.0 - s).powi(15)
    }

    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for what makes no sense.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::InvalidArgument(format!("mirrors: {what}")));
        match self {
            Mirroring { k: Some(65..), .. } => wrong("two fingerprints differ in at most 64 bits"),
            Mirroring { paths: ..=1, .. } => wrong("two paths are the least to tell mirrors by"),
            Mirroring { share, .. } if !(*share > 0.0 && *share <= 1.0) => {
                wrong("a share is above 0 and at most 1")
            }
            Mirroring { depth, .. } if *depth > DEPTH_MAX => {
                wrong("sites lie at most 16 folders deep")
            }
            _ => Ok(()),
        }
    }
}
