//! The results of a store's calls.

use std::cmp::Ordering;
use std::fmt;

use super::component::PageWithChanges;
use super::epochs::Epochs;
use crate::bug::{Bug, OrBug};
use crate::fingerprint::Meaning;
use crate::page::{
    Changes, Content, ETag, Entry, PropertyEntry, PropertyOutcome, RestateOutcome, Restated,
    Verdict, Visit, Weight, surt,
};
use crate::time::Time;

/// Another page with the same digest: an exact copy.
///
/// ```
/// # use simkeep::{Digest, Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// let seen = |url, ms| Ok::<_, simkeep::TimeError>(
///     Observation::content(url, Time::from_ms(ms)?, 7, epoch).digest(Digest([0xda; 16])));
/// store.observe(seen("https://example.com/", 1_000)?)?;
/// let outcome = store.observe(seen("https://example.org/", 2_000)?)?;
/// assert_eq!(outcome.copies[0].url, "https://example.com/");
/// assert_eq!(outcome.copies[0].first, Time::from_ms(1_000)?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExactCopy {
    /// The URL of the page.
    pub url: String,
    /// The time when the page was first seen with this digest, in milliseconds since 1970.
    pub first: Time,
}

/// A visit that saw a content; see [`Outcome::refers_to`].
///
/// Captures are ordered by time, and captures at one time in SURT order of their pages.
///
/// ```
/// # use simkeep::{Digest, Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default().refers_to(true))?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// let seen = |ms| Ok::<_, simkeep::TimeError>(
///     Observation::content(url, Time::from_ms(ms)?, 7, epoch).digest(Digest([0xda; 16])));
/// store.observe(seen(1_000)?)?;
/// let capture = store.observe(seen(2_000)?)?.refers_to.unwrap();
/// assert_eq!((capture.time.as_ms(), capture.url.as_str()), (1_000, url));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Capture {
    /// The time of the visit.
    pub time: Time,
    /// The URL of the page.
    pub url: String,
}

impl Ord for Capture {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |capture: &Capture| (surt::key_of(&capture.url), capture.url.clone());
        self.time.cmp(&other.time).then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for Capture {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A near-duplicate of the content that a visit saw.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// store.observe(Observation::content("https://example.com/", Time::from_ms(1_000)?, 0b01, epoch))?;
/// let seen = Observation::content("https://example.org/", Time::from_ms(2_000)?, 0b11, epoch);
/// let near = &store.observe(seen)?.near[0];
/// assert_eq!((near.url.as_str(), near.distance), ("https://example.com/", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NearDuplicate {
    /// The URL of the page.
    pub url: String,
    /// The Hamming distance between the page's fingerprint and the visit's fingerprint.
    pub distance: u32,
    /// The page's fingerprint, with reserved bits set to 0.
    pub fingerprint: u64,
    /// The time when the page was first seen with its current content, in milliseconds since 1970.
    pub first: Time,
}

/// The first of several pages with nearly the same content; see [`Outcome::original`].
///
/// ```
/// # use simkeep::{Observation, Options, OriginalBy, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// store.observe(Observation::content("https://example.com/", Time::from_ms(1_000)?, 0b01, epoch))?;
/// let seen = Observation::content("https://example.org/", Time::from_ms(2_000)?, 0b11, epoch);
/// let original = store.observe(seen)?.original.unwrap();
/// assert_eq!(original.url, "https://example.com/");
/// assert_eq!(original.by, OriginalBy::Near);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Original {
    /// The URL of the original page.
    pub url: String,
    /// The number of bits in which the fingerprint of the original differs from the page's
    /// fingerprint.
    pub distance: u32,
    /// The evidence that the content of the original is nearly the same.
    pub by: OriginalBy,
}

/// The evidence that the content of two pages is nearly the same.
///
/// ```
/// # use simkeep::{Digest, Observation, Options, OriginalBy, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// let visits = [
///     ("https://example.com/", 1_000, 0b00, Digest([1; 16])),
///     ("https://example.org/", 2_000, 0b00, Digest([1; 16])), // the same bytes
///     ("https://example.net/", 3_000, 0b01, Digest([2; 16])), // other bytes, one bit away
/// ];
/// let mut evidence = Vec::new();
/// for (url, ms, fingerprint, digest) in visits {
///     let seen = Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch);
///     evidence.push(store.observe(seen.digest(digest))?.original.map(|original| original.by));
/// }
/// assert_eq!(evidence, [None, Some(OriginalBy::Digest), Some(OriginalBy::Near)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OriginalBy {
    /// The two pages have equal digests.
    Digest,
    /// The two pages have equal fingerprints, but different or unknown digests.
    Fingerprint,
    /// The fingerprints of the two pages are near each other.
    Near,
}

/// The result of an observation. Its `Display` shows, for people, the verdict, the meaning of the
/// verdict's distance, and the numbers of copies and near pages.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0b0011, epoch))?;
/// let outcome = store.observe(Observation::content(url, Time::from_ms(2_000)?, 0b1100, epoch))?;
/// let text = "changed by 4 bits: moderately, some 0.5 to 6 % of its words";
/// assert_eq!(outcome.to_string(), text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The verdict on the page.
    pub verdict: Verdict,
    /// The meaning of the verdict's distance, if the verdict has a distance, by the recipe of its
    /// epoch. In a text of fewer than [100 words](Meaning::WORDS_MIN) the meaning is unreliable;
    /// the store does not have the length of texts.
    pub meaning: Option<Meaning>,
    /// Whether the visit saw content that is far from all of the page's last versions.
    ///
    /// True for the first content of the page. Also true if the page [changed](Verdict::Changed) by
    /// more than a minor change of its epoch, and is not near an earlier version. Without a
    /// distance, for example to a fingerprint of another epoch, content is far from every version
    /// with another digest. False for a visit that is [out of order](Verdict::OutOfOrder), because
    /// such a visit is not compared.
    pub novel: bool,
    /// The value of processing the content further, relative to other visits. It is between 0 and
    /// the page's [weight](crate::Observation::weight) after the visit:
    ///
    /// | verdict | priority |
    /// |---|---|
    /// | `New` | the weight |
    /// | `Changed` or `Reverted` | the weight times the distance / 32, but not more than the weight |
    /// | either, by an unknown distance | the weight |
    /// | `Same`, `Unseen`, `Gone`, `Failed`, `Known` | 0 |
    /// | `OutOfOrder` | 0, because a later version is current |
    ///
    /// So the priority is 0 for a page that was gone and came back unchanged. Two unrelated texts
    /// are 32 bits apart on average. The idea that priority grows with the distance comes from S.
    /// Seshasai, *Efficient near duplicate document detection for specialized corpora*, MIT 2009,
    /// 2.6.1.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// let seen = Observation::content(url, Time::from_ms(1_000)?, 0x00, epoch);
    /// let first = store.observe(seen.weight(2.0))?;
    /// assert_eq!((first.novel, first.priority), (true, 2.0));
    /// let changed = store.observe(Observation::content(url, Time::from_ms(2_000)?, 0xff, epoch))?;
    /// assert_eq!((changed.novel, changed.priority), (true, 0.5));
    /// let back = store.observe(Observation::content(url, Time::from_ms(3_000)?, 0x00, epoch))?;
    /// assert_eq!((back.novel, back.priority), (false, 0.5));
    /// # Ok(())
    /// # }
    /// ```
    pub priority: f64,
    /// Whether the fingerprint in [another epoch](crate::Observation::also) was stored. A new
    /// fingerprint is stored even if the store had the visit already.
    pub also: bool,
    /// Other pages whose current version has the digest of this content (and its fingerprint, in
    /// the same epoch), in the order in which they were first seen with this digest. The first page
    /// is the original, unless this page had the content earlier. Content without any fingerprint,
    /// such as a PDF, an image or a short text, is found by its digest alone. Empty for redirects
    /// and content without a digest.
    pub copies: Vec<ExactCopy>,
    /// Near-duplicates: other pages whose current version is near, without the copies. The
    /// fingerprints are compared in the newest epoch that finds [near-duplicates](crate::Role) and
    /// has two fingerprints to compare. The nearest page comes first; equally near pages are in
    /// SURT order.
    pub near: Vec<NearDuplicate>,
    /// The page among `copies` and `near` that ranks before this page and all others, by
    /// [`Options::rule`](crate::Options::rule): by default the page that was first seen with its
    /// content. `None` if this page ranks first, or there is no other page.
    ///
    /// An indexer keeps the original in place of this page. Together with `priority`, it shows
    /// which pages need no further processing. The original of a page may itself have an original
    /// that is not near this page. In [clusters](crate::cluster::Clustering::run) such a chain
    /// cannot happen, because pages yield only to leaders.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// store.observe(Observation::content("https://example.org/", Time::from_ms(2_000)?, 0b0111, epoch))?;
    /// let seen = Observation::content("https://example.com/copy", Time::from_ms(3_000)?, 0b0011, epoch);
    /// let original = store.observe(seen)?.original.unwrap();
    /// assert_eq!((original.url.as_str(), original.distance), ("https://example.org/", 1));
    /// // The page seen before all others is the original, even if it is reported later.
    /// let earlier = Observation::content("https://example.net/", Time::from_ms(1_000)?, 0b0011, epoch);
    /// assert_eq!(store.observe(earlier)?.original, None);
    /// # Ok(())
    /// # }
    /// ```
    pub original: Option<Original>,
    /// The first capture of exactly this content, on any page, before this visit. An archive stores
    /// a reference to this capture instead of the content: the WARC headers
    /// `WARC-Refers-To-Target-URI` and `WARC-Refers-To-Date` of a revisit record.
    ///
    /// `None` unless [`Options::refers_to`](crate::Options::refers_to) is set, and for redirects and
    /// content without a digest. Of captures at one time, the first page in SURT order counts. A
    /// fingerprint that finds no [near-duplicates](crate::Role) finds no captures on other pages
    /// either. If hundreds of pages have or had the content, not all of them are read, and the
    /// capture may be a later one.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Digest, Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// let options = Options::default().refers_to(true);
    /// let store = Store::create(dir.path().join("store"), options)?;
    /// // A PDF, which has no fingerprint.
    /// let seen = |url, ms| {
    ///     let epoch = store.change_epoch();
    ///     let visit = Observation::content(url, Time::from_ms(ms)?, None, epoch);
    ///     store.observe(visit.digest(Digest([0xda; 16])))
    /// };
    /// assert_eq!(seen("https://example.com/a.pdf", 1_000)?.refers_to, None);
    /// let capture = seen("https://example.org/b.pdf", 2_000)?.refers_to.unwrap();
    /// assert_eq!((capture.url.as_str(), capture.time.as_ms()), ("https://example.com/a.pdf", 1_000));
    /// # Ok(())
    /// # }
    /// ```
    pub refers_to: Option<Capture>,
    /// Whether `copies` and `near` are complete, so that no other page can be the original. If not,
    /// the lists were cut short for one of the reasons in
    /// [`Matches::complete`](crate::Matches::complete).
    pub complete: bool,
}

/// The result of an [`Operation`](crate::Operation).
///
/// ```
/// # use simkeep::{Observation, Operation, OperationResult, Options, Store, Time, Verdict};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let visit = Observation::gone("https://example.com/", Time::now());
/// for result in store.write_batch(&[Operation::Observe(visit)])? {
///     let OperationResult::Observed(outcome) = result else { panic!("it was a visit") };
///     assert_eq!(outcome.verdict, Verdict::Gone);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum OperationResult {
    /// The result of an observation.
    Observed(Outcome),
    /// The result of a restatement.
    Restated(RestateOutcome),
    /// The result of setting a property without a visit.
    PropertySet(PropertyOutcome),
}

impl OperationResult {
    pub(crate) fn observed(self) -> Result<Outcome, Bug> {
        let outcome = match self {
            OperationResult::Observed(outcome) => Some(outcome),
            OperationResult::Restated(_) | OperationResult::PropertySet(_) => None,
        };
        outcome.or_bug("the result of an observation is an outcome")
    }

    pub(crate) fn restated(self) -> Result<RestateOutcome, Bug> {
        let outcome = match self {
            OperationResult::Restated(outcome) => Some(outcome),
            OperationResult::Observed(_) | OperationResult::PropertySet(_) => None,
        };
        outcome.or_bug("the result of a restatement is a restatement outcome")
    }

    pub(crate) fn property_set(self) -> Result<PropertyOutcome, Bug> {
        let outcome = match self {
            OperationResult::PropertySet(outcome) => Some(outcome),
            OperationResult::Observed(_) | OperationResult::Restated(_) => None,
        };
        outcome.or_bug("the result of a property update is a property outcome")
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_verdict(f, self.verdict, self.meaning)?;
        match self.copies.len() {
            0 => {}
            1 => f.write_str("; a copy of another page")?,
            copies => write!(f, "; a copy of {copies} other pages")?,
        }
        match self.near.len() {
            0 => Ok(()),
            1 => f.write_str("; near another page"),
            near => write!(f, "; near {near} other pages"),
        }
    }
}

/// Writes a verdict, with the meaning of its distance.
fn write_verdict(
    f: &mut fmt::Formatter<'_>,
    verdict: Verdict,
    meaning: Option<Meaning>,
) -> fmt::Result {
    write!(f, "{verdict}")?;
    meaning.map_or(Ok(()), |meaning| write!(f, ": {meaning}"))
}

/// One entry in a page's history. Its `Display` shows, for people, the time and the verdict.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::from_ms(1_714_564_800_000)?))?;
/// let history = store.history("https://example.com/")?;
/// assert_eq!(history[0].to_string(), "2024-05-01T12:00:00Z: gone");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryEntry {
    /// A visit with the verdict on it.
    Visit {
        /// The visit itself.
        visit: Visit,
        /// The verdict on the visit, after all earlier visits.
        verdict: Verdict,
        /// The meaning of the verdict's distance, as in an [`Outcome`].
        meaning: Option<Meaning>,
    },
    /// Restated content of the visit before it.
    Restated(Restated),
    /// A property that was set.
    Property(PropertyEntry),
}

impl HistoryEntry {
    /// The entry, without its verdict.
    ///
    /// ```
    /// # use simkeep::{Entry, Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::from_ms(1_000)?).weight(2.0))?;
    /// // The visit, and the weight that was set with it.
    /// let entries: Vec<Entry> = store.history(url)?.iter().map(|entry| entry.entry()).collect();
    /// assert!(entries[0].is_visit());
    /// assert_eq!(entries[1].weight().map(|weight| weight.get()), Some(2.0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn entry(&self) -> Entry {
        match self {
            HistoryEntry::Visit { visit, .. } => Entry::Visit(*visit),
            HistoryEntry::Restated(restated) => Entry::Restated(*restated),
            HistoryEntry::Property(given) => Entry::Property(given.clone()),
        }
    }

    /// The visit, with its verdict after all earlier visits; `None` for other entries.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::from_ms(1_000)?).status(410))?;
    /// let (visit, verdict) = store.history(url)?[0].visit().unwrap();
    /// assert_eq!((visit.status, verdict), (Some(410), Verdict::Gone));
    /// # Ok(())
    /// # }
    /// ```
    pub fn visit(&self) -> Option<(Visit, Verdict)> {
        match *self {
            HistoryEntry::Visit { visit, verdict, .. } => Some((visit, verdict)),
            HistoryEntry::Restated(_) | HistoryEntry::Property(_) => None,
        }
    }
}

impl fmt::Display for HistoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.entry().time())?;
        match self {
            HistoryEntry::Visit { visit, verdict, meaning } => {
                write_verdict(f, *verdict, *meaning)?;
                let redirects = visit.seen.content().is_some_and(|content| content.is_redirect());
                f.write_str(if redirects { "; it redirects" } else { "" })
            }
            HistoryEntry::Restated(_) => f.write_str("restated in another epoch"),
            HistoryEntry::Property(given) => write!(f, "{}", given.property),
        }
    }
}

/// A page's history in order of time. Visits with equal times are in order of digest,
/// then fingerprint.
/// Restatements follow their visit, and properties come last among the entries of one time.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0xff)] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// }
/// let history: simkeep::History = store.history(url)?;
/// let times: Vec<i64> = history.iter().map(|entry| entry.entry().time().as_ms()).collect();
/// assert_eq!(times, [1_000, 2_000]);
/// # Ok(())
/// # }
/// ```
pub type History = Vec<HistoryEntry>;

/// The current state of a page.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, epoch))?;
/// store.observe(Observation::gone(url, Time::from_ms(2_000)?))?;
/// let page = store.snapshot().latest(url)?.unwrap();
/// assert_eq!((page.visits, page.gone, page.content), (2, true, None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The page.
    pub url: String,
    /// The number of visits, without restatements.
    pub visits: u64,
    /// The time of the earliest visit, in milliseconds since 1970.
    pub first: Time,
    /// The latest visit.
    pub last: Visit,
    /// The current content, with its fingerprint of the newest epoch that [detects
    /// changes](crate::Role). `None` if the page is gone or its content was never seen.
    pub content: Option<Content>,
    /// The current content with each of its fingerprints: one item for each epoch in which the
    /// content has a fingerprint, or is known to have none; the newest epoch first.
    pub contents: Vec<Content>,
    /// The time when the current content was last seen.
    pub content_seen: Option<Time>,
    /// The time when the content seen last was last modified: the value to send as
    /// `If-Modified-Since`. The server [reported](crate::Observation::modified) the time with that
    /// content or later. `None` if no content was ever seen, or the server did not report a time
    /// since.
    pub modified: Option<Time>,
    /// Whether the page is gone.
    pub gone: bool,
    /// The importance of the page: the [weight](crate::Observation::weight) that was set last, or
    /// 1.
    pub weight: Weight,
    /// The [class](crate::Observation::class) that was set last; `None` if no class was ever set.
    pub class: Option<u32>,
    /// The entity tag of the content in force: the value to send as `If-None-Match`. `None` if the
    /// server sent no [entity tag](crate::Observation::etag) with this content or later.
    pub etag: Option<ETag>,
    /// The URL to which the content in force points: the target of a redirect, or the
    /// [canonical URL](crate::Observation::canonical) that the content declares. `None` if it names
    /// no other page.
    pub target: Option<String>,
    /// The change statistics of the page's visits.
    pub changes: Changes,
}

impl Page {
    /// Creates a page from its head, in a store with the epochs `epochs`.
    pub(crate) fn new(
        url: &str,
        PageWithChanges { head, changes }: &PageWithChanges,
        epochs: &Epochs,
    ) -> Page {
        let contents = head.in_force();
        Page {
            url: url.to_owned(),
            visits: head.visits,
            first: head.first,
            last: head.last,
            content: epochs.newest_for_changes(&contents).copied(),
            content_seen: head.in_force_seen(),
            modified: head.content_modified(),
            gone: head.gone(),
            weight: head.properties.weight(),
            class: head.properties.class(),
            etag: head.etag().cloned(),
            target: head.target().and_then(|target| target.resolve(url)),
            changes: *changes,
            contents: contents.into_vec(),
        }
    }

    /// Returns the headers that make the next request for the page conditional: `If-None-Match`
    /// with the [entity tag](Page::etag), and `If-Modified-Since` with the time of the [last
    /// modification](Page::modified), each if it is known.
    ///
    /// The server answers such a request with 304 and without the content, if the page still has
    /// the content that the store knows. With both headers, the server ignores the time (RFC 9110,
    /// section 13.2.2). No value has a carriage return, a line feed or a NUL. A page that is gone
    /// or was never seen has no such headers.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// let seen = Observation::content(url, Time::from_ms(1_000)?, 7, epoch).etag(b"\"v1\"");
    /// store.observe(seen.modified(Time::from_ms(0)?))?;
    /// let page = store.snapshot().latest(url)?.unwrap();
    /// let headers = [
    ///     ("If-None-Match", b"\"v1\"".to_vec()),
    ///     ("If-Modified-Since", b"Thu, 01 Jan 1970 00:00:00 GMT".to_vec()),
    /// ];
    /// assert_eq!(page.conditional_headers(), headers);
    /// # Ok(())
    /// # }
    /// ```
    pub fn conditional_headers(&self) -> Vec<(&'static str, Vec<u8>)> {
        let is_known = self.content.is_some();
        let etag = self.etag.as_ref().map(|etag| ("If-None-Match", etag.as_bytes().to_vec()));
        let since = |time: Time| ("If-Modified-Since", time.to_http_date().into_bytes());
        let headers = [etag, self.modified.map(since)];
        headers.into_iter().flatten().filter(|_| is_known).collect()
    }
}

/// The number of pages and visits hidden by [`Store::forget`](crate::Store::forget).
///
/// ```
/// # use simkeep::{Observation, Options, Scope, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let forgotten = store.forget(Scope::Url("https://example.com/"))?;
/// assert_eq!((forgotten.pages, forgotten.visits), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forgotten {
    /// The number of pages.
    pub pages: u64,
    /// The number of visits to the hidden pages.
    pub visits: u64,
}

/// The result of [`Store::merge`](crate::Store::merge).
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for url in ["https://example.com/", "https://example.org/"] {
///     store.observe(Observation::gone(url, Time::now()))?;
///     store.seal()?;
/// }
/// assert_eq!(store.merge(&Progress::default())?.inputs, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The number of merged segments.
    pub inputs: usize,
    /// The number of bytes written.
    pub bytes: u64,
}
