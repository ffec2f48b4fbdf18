//! One visit to a page.

use std::cmp::Ordering;

use super::{Content, Digest, Epoch};
use crate::time::Time;

/// The result of a visit.
///
/// ```
/// use simkeep::{Observation, Seen, Time};
/// let visit = Observation::gone("https://example.com/", Time::now()).visit;
/// let text = match visit.seen {
///     Seen::Content(content) => format!("fingerprint {:?}", content.fingerprint),
///     Seen::NotModified { .. } => "not modified".to_owned(),
///     Seen::Gone => "gone".to_owned(),
///     Seen::Failed => "failed".to_owned(),
/// };
/// assert_eq!(text, "gone");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seen {
    /// The page had content.
    Content(Content),
    /// The server or an archive reported that the content has not changed. The digest only records
    /// the content that the report is about.
    NotModified {
        /// The digest in the report.
        digest: Option<Digest>,
    },
    /// The page is gone (404, 410).
    Gone,
    /// The visit failed. A failed visit confirms nothing and changes nothing.
    Failed,
}

impl Seen {
    /// The content, if the visit saw content.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// let seen = store.snapshot().latest(url)?.unwrap().last.seen;
    /// assert_eq!(seen.content().unwrap().fingerprint, Some(7));
    /// # Ok(())
    /// # }
    /// ```
    pub fn content(&self) -> Option<&Content> {
        match self {
            Seen::Content(content) => Some(content),
            _ => None,
        }
    }

    /// The digest of the visit.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Seen::Content(content) => content.digest,
            Seen::NotModified { digest } => *digest,
            Seen::Gone | Seen::Failed => None,
        }
    }

    /// The rank of the result, which orders visits that are otherwise equal.
    fn rank(&self) -> u8 {
        match self {
            Seen::Failed => 0,
            Seen::NotModified { .. } => 1,
            Seen::Gone => 2,
            Seen::Content(_) => 3,
        }
    }
}

/// One visit in a page's history: its time and result.
///
/// Visits are ordered by time, then digest, then fingerprint. Ties are broken by the kind of
/// result, the epoch, the status, the modification time, the length and whether the request was
/// conditional, so two different visits always have an order. An absent value comes first.
///
/// ```
/// use simkeep::{Observation, Seen, Time};
/// # fn main() -> simkeep::Result<()> {
/// let first = Observation::failed("https://example.com/", Time::from_ms(1_000)?).status(503).visit;
/// let later = Observation::gone("https://example.com/", Time::from_ms(2_000)?).status(404).visit;
/// assert!(first < later);
/// assert_eq!((later.seen, later.status), (Seen::Gone, Some(404)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visit {
    /// The time of the visit.
    pub time: Time,
    /// The result of the visit.
    pub seen: Seen,
    /// The HTTP status, if known.
    pub status: Option<u16>,
    /// The time when the page was last modified, as the server reported in `Last-Modified`. The
    /// time need not be plausible.
    pub modified: Option<Time>,
    /// The number of bytes of the content as transferred, if known.
    pub bytes: Option<u64>,
    /// Whether the request was conditional: it had `If-None-Match` or `If-Modified-Since`.
    pub conditional: bool,
}

impl Visit {
    /// Creates a visit of which only the result is known.
    ///
    /// ```
    /// use simkeep::{Seen, Time, Visit};
    /// let visit = Visit::new(Time::from_ms(1_000)?, Seen::Gone);
    /// assert_eq!((visit.status, visit.modified, visit.bytes), (None, None, None));
    /// # Ok::<(), simkeep::TimeError>(())
    /// ```
    pub fn new(time: Time, seen: Seen) -> Visit {
        Visit { time, seen, status: None, modified: None, bytes: None, conditional: false }
    }

    /// The epoch of the content that the visit saw; `None` without content, and for a redirect.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        self.seen.content()?.made_in()
    }
}

impl Ord for Visit {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |visit: &Visit| {
            let content = visit.seen.content();
            (
                visit.seen.digest(),
                content.map(|content| content.fingerprint),
                visit.seen.rank(),
                content.map(|content| content.epoch),
                visit.status,
                visit.modified,
                visit.bytes,
                visit.conditional,
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
