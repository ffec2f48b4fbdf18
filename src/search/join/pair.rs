//! What a join finds.

/// Two fingerprints that are near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The smaller ordinal.
    pub left: u32,
    /// The larger ordinal.
    pub right: u32,
    /// The fingerprints with these ordinals.
    pub fingerprints: [u64; 2],
    /// In how many bits the two differ, 0 to 64.
    pub distance: u32,
}
