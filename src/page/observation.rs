//! What a crawler tells the store of one visit to one page.

use std::cmp::Ordering;
use std::fmt;

/// The earliest time that can be stored: the start of year 1, in milliseconds since 1970.
pub const TIME_MIN: i64 = -62_135_596_800_000;
/// The latest time that can be stored: the end of year 9999, in milliseconds since 1970.
pub const TIME_MAX: i64 = 253_402_300_799_999;

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

/// The number of an epoch: one extractor, one recipe, one document-frequency table. Fingerprints of
/// different epochs are never compared. A store hands these numbers out for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u32);

/// What a page held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// The simhash.
    pub fingerprint: u64,
    /// The exact content, if the crawler names it.
    pub digest: Option<Digest>,
    /// What made the fingerprint.
    pub epoch: Epoch,
}

/// What a visit found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// Content.
    Content(Content),
    /// The word of the server, or of an archive, that the content is what it was; the digest only
    /// says which, for the record.
    NotModified {
        /// The digest that came with that word.
        digest: Option<Digest>,
    },
    /// The page is gone (404, 410).
    Gone,
    /// The visit failed: it neither confirms nor changes anything.
    Failed,
}

impl Seen {
    /// The content, if that is what was seen.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Seen::Content(content) => Some(content),
            _ => None,
        }
    }

    /// The digest that came with it.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Seen::Content(content) => content.digest,
            Seen::NotModified { digest } => *digest,
            Seen::Gone | Seen::Failed => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Seen::Failed => 0,
            Seen::NotModified { .. } => 1,
            Seen::Gone => 2,
            Seen::Content(_) => 3,
        }
    }
}

/// One visit of a page's history: what was seen, and when.
///
/// Visits are ordered by time, then digest, then fingerprint; ties are broken by what was seen, the
/// epoch and the status, so that any two different visits have an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visit {
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    /// What was seen.
    pub seen: Seen,
    /// The HTTP status, if known.
    pub status: Option<u16>,
}

impl Ord for Visit {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |v: &Visit| {
            let content = v.seen.content();
            (
                v.seen.digest(),
                content.map(|c| c.fingerprint),
                v.seen.rank(),
                content.map(|c| c.epoch),
                v.status,
            )
        };
        self.time.cmp(&other.time).then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Visit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One visit to one page, as a crawler reports it.
///
/// ```
/// use simkeep::{Digest, Epoch, Observation};
/// let seen = Observation::content("https://example.com/", 1_700_000_000_000, 0x1234, Epoch(0))
///     .digest(Digest([7; 16]))
///     .status(200);
/// let word = Observation::not_modified("https://example.com/", 1_700_086_400_000).status(304);
/// assert!(seen.visit < word.visit);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation<'a> {
    /// The page: its identity is these bytes.
    pub url: &'a str,
    /// What was seen, and when.
    pub visit: Visit,
}

impl<'a> Observation<'a> {
    fn new(url: &'a str, time: i64, seen: Seen) -> Self {
        Observation { url, visit: Visit { time, seen, status: None } }
    }

    /// The page held content with this fingerprint. `time` in milliseconds since 1970.
    pub fn content(url: &'a str, time: i64, fingerprint: u64, epoch: Epoch) -> Self {
        Self::new(url, time, Seen::Content(Content { fingerprint, digest: None, epoch }))
    }

    /// The server said that nothing changed (304), or an archive that it saw the same again.
    pub fn not_modified(url: &'a str, time: i64) -> Self {
        Self::new(url, time, Seen::NotModified { digest: None })
    }

    /// The page is gone (404, 410).
    pub fn gone(url: &'a str, time: i64) -> Self {
        Self::new(url, time, Seen::Gone)
    }

    /// The visit failed.
    pub fn failed(url: &'a str, time: i64) -> Self {
        Self::new(url, time, Seen::Failed)
    }

    /// The same with the digest of the content; pages that are gone or failed have none.
    #[must_use]
    pub fn digest(mut self, value: Digest) -> Self {
        match &mut self.visit.seen {
            Seen::Content(Content { digest, .. }) | Seen::NotModified { digest } => {
                *digest = Some(value);
            }
            Seen::Gone | Seen::Failed => {}
        }
        self
    }

    /// The same with an HTTP status.
    #[must_use]
    pub fn status(mut self, value: u16) -> Self {
        self.visit.status = Some(value);
        self
    }
}
