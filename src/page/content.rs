//! What a page held.

use std::fmt;

use super::Epoch;

/// 128 bits that name exact content, such as the first half of a SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 16]);

impl fmt::Display for Digest {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// What a page held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// The simhash; `None` for content that has none, such as a text too short to tell from others.
    /// A page with such content has a history and verdicts by digest; no search finds it.
    pub fingerprint: Option<u64>,
    /// The digest of the exact content, if the crawler gives one.
    pub digest: Option<Digest>,
    /// What made the fingerprint, or found that there is none.
    pub epoch: Epoch,
}

impl Content {
    /// The bits of the fingerprint that are compared: all but those reserved for metadata.
    pub fn compared(&self) -> Option<u64> {
        self.fingerprint.map(|fingerprint| fingerprint & self.epoch.mask())
    }
}
