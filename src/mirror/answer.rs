//! The results of a search for mirrors.

use crate::page::Prefix;

/// The sites that mirror each other; from [`Mirroring::run`](crate::mirror::Mirroring::run).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirrors {
    /// The pairs: mirrors first, those with the most near pages at the front.
    pub pairs: Vec<Mirror>,
    /// The number of mirror pairs, including those beyond the limit.
    pub mirrors: u64,
    /// The number of other pairs with at least a quarter of the required share, which are listed,
    /// too.
    pub partial: u64,
    /// The number of paths.
    pub paths: u64,
    /// The number of pages with content but without a fingerprint of the epoch. They count for no
    /// path.
    pub without_fingerprint: u64,
    /// The number of sites with the required number of paths.
    pub sites: u64,
    /// The number of pairs of sites whose samples had enough in common to compare them.
    pub compared: u64,
}

/// Two sites with near pages at many paths.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirror {
    /// The site that leads: it had the common version first on most paths. Paths on which both are
    /// known to have changed decide; if there are none, SURT order decides.
    pub leader: MirrorSite,
    /// The other site.
    pub follower: MirrorSite,
    /// Whether the share reaches the required one.
    pub is_mirror: bool,
    /// The number of paths that both have.
    pub common: u64,
    /// The number of those with near pages: the version in force on one side is near a version, in
    /// force or earlier, on the other side.
    pub near: u64,
    /// The share of near paths among all paths of either site, from 0 to 1.
    pub share: f64,
    /// The lag of the follower, in milliseconds. It is the median time by which the follower saw
    /// the common version later, over up to 1,000 paths on which both sites were seen to change to
    /// it. `None` without such a path.
    pub lag: Option<i64>,
    /// A random sample of up to ten paths that both have.
    pub examples: Vec<MirrorExample>,
}

impl Mirror {
    /// The number of common paths whose pages are not near each other.
    #[must_use]
    pub fn differing(&self) -> u64 {
        // Near paths are counted among common ones (`Met::meet`), so this cannot underflow.
        self.common - self.near
    }
}

/// A site: a host, or a folder of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorSite {
    /// The prefix of its pages; it ends with `/`.
    pub site: Prefix,
    /// The number of its paths.
    pub paths: u64,
    /// The number of near paths on which its version in force is an earlier version of the other
    /// site.
    pub outdated: u64,
}

/// The pages of a path that both sites have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorExample {
    /// The page on the leading site.
    pub leader: String,
    /// The page on the other site.
    pub follower: String,
    /// The number of differing bits between the version in force on one side and the nearest
    /// version on the other.
    pub distance: u32,
}
