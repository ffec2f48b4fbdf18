//! What a crawler tells the store of one visit to one page.

use std::cmp::Ordering;
use std::fmt;

use super::Epoch;

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

impl Content {
    /// The bits of the fingerprint that are compared: all but those reserved for metadata.
    pub fn compared(&self) -> u64 {
        self.fingerprint & self.epoch.mask()
    }
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
    /// No visit of its own: the content that a visit at the same time saw, with the same digest, has
    /// this fingerprint in another epoch.
    Restated(Content),
}

impl Seen {
    /// The content, if that is what was seen or restated.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Seen::Content(content) | Seen::Restated(content) => Some(content),
            _ => None,
        }
    }

    pub(crate) fn content_mut(&mut self) -> Option<&mut Content> {
        match self {
            Seen::Content(content) | Seen::Restated(content) => Some(content),
            _ => None,
        }
    }

    /// Whether it is a fingerprint more of what a visit saw, and no visit.
    pub fn is_restated(&self) -> bool {
        matches!(self, Seen::Restated(_))
    }

    /// The digest that came with it.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Seen::Content(content) | Seen::Restated(content) => content.digest,
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
            Seen::Restated(_) => 4,
        }
    }
}

/// Which content is restated of those that a page had at one time, by their digests: the one with this
/// digest; if none is given, one without any, or else the last.
#[expect(clippy::option_option, reason = "no content and none with a digest are two things")]
pub(crate) fn restated_digest(
    wanted: Option<Digest>,
    there: impl Iterator<Item = Option<Digest>> + Clone,
) -> Option<Option<Digest>> {
    let exact = there.clone().find(|digest| *digest == wanted);
    exact.or_else(|| if wanted.is_none() { there.max() } else { None })
}

/// One visit of a page's history: what was seen, and when.
///
/// Visits are ordered by time, then digest, then fingerprint; ties are broken by what was seen, the
/// epoch and the status, so that any two different visits have an order. What is
/// [restated](Seen::Restated) comes after all visits of that time and digest, in order of epochs.
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
                content.filter(|_| v.seen.is_restated()).map(|c| c.epoch.count()),
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
    /// The fingerprint of the same content in another epoch, if the crawler made that too.
    pub also: Option<(u64, Epoch)>,
}

impl<'a> Observation<'a> {
    fn new(url: &'a str, time: i64, seen: Seen) -> Self {
        Self::of(url, Visit { time, seen, status: None })
    }

    /// A visit to a page.
    pub fn of(url: &'a str, visit: Visit) -> Self {
        Observation { url, visit, also: None }
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

    /// No visit: the content that the page had at this time has this fingerprint in another epoch.
    ///
    /// It takes the place of the one that the visit came with, unless that is of a newer epoch, and
    /// is no change of the page. In the epoch of that one it
    /// corrects it; of several corrections in one epoch the greatest counts. Which content it was, if there were several at the time, the
    /// [`digest`](Self::digest) says; if none is given, it was one without, or else the last.
    pub fn restated(url: &'a str, time: i64, fingerprint: u64, epoch: Epoch) -> Self {
        Self::new(url, time, Seen::Restated(Content { fingerprint, digest: None, epoch }))
    }

    /// Adds the fingerprint of the content in another epoch, so that it can be compared with what is
    /// known of either. A visit that saw no content stays as it is.
    ///
    /// ```
    /// use simkeep::{Epoch, Observation};
    /// let (old, new) = (Epoch(0), Epoch(1));
    /// let seen = Observation::content("https://example.com/", 1_700_000_000_000, 0x1234, new);
    /// assert_eq!(seen.also(0x4321, old).also, Some((0x4321, old)));
    /// ```
    #[must_use]
    pub fn also(mut self, fingerprint: u64, epoch: Epoch) -> Self {
        if matches!(self.visit.seen, Seen::Content(_)) {
            self.also = Some((fingerprint, epoch));
        }
        self
    }

    /// Its other fingerprint, as what was restated of the visit.
    pub(crate) fn restated_also(&self) -> Option<Visit> {
        let (Seen::Content(content), Some((fingerprint, epoch))) = (self.visit.seen, self.also)
        else {
            return None;
        };
        let seen = Seen::Restated(Content { fingerprint, epoch, ..content });
        Some(Visit { seen, status: None, ..self.visit })
    }

    /// Adds the digest of the content. A page that is gone or failed has none, and stays as it is.
    #[must_use]
    pub fn digest(mut self, value: Digest) -> Self {
        match &mut self.visit.seen {
            Seen::Content(Content { digest, .. })
            | Seen::Restated(Content { digest, .. })
            | Seen::NotModified { digest } => {
                *digest = Some(value);
            }
            Seen::Gone | Seen::Failed => {}
        }
        self
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn status(mut self, value: u16) -> Self {
        self.visit.status = Some(value);
        self
    }
}
