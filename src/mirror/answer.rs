//! What is said of sites that mirror each other.

use crate::page::Prefix;

/// Which sites mirror each other; from [`Mirroring::run`](crate::mirror::Mirroring::run).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirrors {
    /// The pairs: first those that mirror each other, and of those first the ones with most pages near
    /// each other.
    pub pairs: Vec<Mirror>,
    /// How many pairs mirror each other, those included that are beyond the limit.
    pub mirrors: u64,
    /// How many others have a quarter of the share, so that they are named, too.
    pub partial: u64,
    /// How many paths there are.
    pub paths: u64,
    /// How many pages have content, but no fingerprint of the epoch: they are of no path.
    pub without_fingerprint: u64,
    /// How many sites have as many paths as were asked for.
    pub sites: u64,
    /// How many pairs of them had so much in common in their samples that they were compared.
    pub compared: u64,
}

/// Two sites of which many paths lead to pages near each other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mirror {
    /// The site that leads: on most paths it was first seen with what both have. Where it is known of
    /// some paths that both changed, those decide; where none decide, SURT order does.
    pub leader: MirrorSite,
    /// The other one.
    pub follower: MirrorSite,
    /// Whether the share is as large as was asked for.
    pub is_mirror: bool,
    /// How many paths both have.
    pub common: u64,
    /// How many of those lead to pages near each other: by what is in force on one, and what is in
    /// force or was earlier on the other.
    pub near: u64,
    /// What share of the paths that either has are near, from 0 to 1.
    pub share: f64,
    /// By how long the follower lags, in milliseconds: the median of how much later it was first seen
    /// with what both have, over up to 1,000 paths on which both were seen to change to that. `None` if
    /// there is no such path.
    pub lag: Option<i64>,
    /// Up to ten paths that both have, drawn by lot.
    pub examples: Vec<MirrorExample>,
}

impl Mirror {
    /// How many paths that both have lead to pages that are not near each other.
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
    /// The prefix that its pages are under; it ends with `/`.
    pub site: Prefix,
    /// How many paths it has.
    pub paths: u64,
    /// On how many of those that are near it has in force what the other site had earlier.
    pub outdated: u64,
}

/// The pages of a path that two sites have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirrorExample {
    /// The page of the site that leads.
    pub leader: String,
    /// That of the other one.
    pub follower: String,
    /// In how many bits they differ: of what is in force on one and all versions at hand of the other,
    /// the nearest.
    pub distance: u32,
}
