//! The answers of a store.

use std::fmt;

use super::component::Changing;
use super::epochs::Epochs;
use crate::bug::{Bug, OrBug};
use crate::fingerprint::Meaning;
use crate::page::{
    Changes, Content, Entry, PropertyEntry, PropertyOutcome, RestateOutcome, Restated, Verdict,
    Visit, Weight,
};
use crate::time::Time;

/// Another page with the same digest: an exact copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExactCopy {
    /// The page.
    pub url: String,
    /// When that page was first seen with this digest, in milliseconds since 1970.
    pub first: Time,
}

/// A near-duplicate of what a visit saw.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NearDuplicate {
    /// The page.
    pub url: String,
    /// The Hamming distance of its fingerprint.
    pub distance: u32,
    /// The page's fingerprint, with reserved bits set to 0.
    pub fingerprint: u64,
    /// When the page was first seen with what it has in force, in milliseconds since 1970.
    pub first: Time,
}

/// The page that comes first of several with nearly the same content; see [`Outcome::original`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Original {
    /// The page.
    pub url: String,
    /// In how many bits its fingerprint differs.
    pub distance: u32,
    /// How it is known to be nearly the same.
    pub by: OriginalBy,
}

/// How the content of two pages is known to be nearly the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum OriginalBy {
    /// They have one digest.
    Digest,
    /// They have one fingerprint, and not one digest that is known.
    Fingerprint,
    /// Their fingerprints are near each other.
    Near,
}

/// The answer to an observation. For people, its `Display` says the verdict, what its distance means,
/// and how many copies and near pages there are.
///
/// ```
/// # fn main() -> simkeep::Result<()> {
/// # use simkeep::{Observation, Options, Store, Time};
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0b0011, epoch))?;
/// let outcome = store.observe(Observation::content(url, Time::from_ms(2_000)?, 0b1100, epoch))?;
/// let told = "changed by 4 bits: moderately, some 0.5 to 6 % of its words";
/// assert_eq!(outcome.to_string(), told);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// What this page is now.
    pub verdict: Verdict,
    /// What the distance of the verdict means, if it has one: by the recipe of its epoch. In a text of
    /// fewer than [100 words](Meaning::WORDS_MIN), which the store does not know of, it means little.
    pub meaning: Option<Meaning>,
    /// Whether the visit saw content that is far from all of the page's last versions: the first of the
    /// page; or [changed](Verdict::Changed) by more than what is minor in its epoch, and not near an
    /// earlier version. Where there is no distance, as to a fingerprint of another epoch, content is
    /// far from a version that has not its digest. False of a visit that is
    /// [out of order](Verdict::OutOfOrder): of that it is not told.
    pub novel: bool,
    /// How much what the visit saw is worth being processed further, beside what others saw. It goes
    /// from 0 to the page's [weight](crate::Observation::weight), the one in force after the visit:
    ///
    /// | verdict | priority |
    /// |---|---|
    /// | `New` | the weight |
    /// | `Changed` or `Reverted` | the weight times the distance / 32, but not more than the weight |
    /// | either, by a distance that is not known | the weight |
    /// | `Same`, `Unseen`, `Gone`, `Failed`, `Known` | 0 |
    /// | `OutOfOrder` | 0, since what was seen later stands |
    ///
    /// So it is 0 of a page that was gone and is back as it was. Two texts that have nothing to do with
    /// each other are 32 bits apart on average. That a priority grows with the distance is from
    /// S. Seshasai, *Efficient near duplicate document detection for specialized corpora*, MIT 2009,
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
    /// Whether the fingerprint in [another epoch](crate::Observation::also) was stored. This can
    /// happen for a visit that is known: it may come again with a fingerprint that is new.
    pub also: bool,
    /// Other pages whose version in force has the same digest (and fingerprint, in the same epoch),
    /// ordered by when they were first seen with it. The first is the original, unless this page
    /// had the content before that. None of content without a fingerprint.
    pub copies: Vec<ExactCopy>,
    /// Near-duplicates: other pages whose version in force is near, without the copies, by the
    /// newest epoch that finds [near-duplicates](crate::Role) in which there are two fingerprints to
    /// compare. Nearest first, then in SURT order.
    pub near: Vec<NearDuplicate>,
    /// Of `copies` and `near` the page that ranks before this one and before all others, by
    /// [`Options::rule`](crate::Options::rule): as a rule that which was first seen with its content.
    /// `None` if this page comes first, or there is no other.
    ///
    /// It is what an indexer keeps in favour of this page, at once; and with `priority`, it says what
    /// need not be processed at all. A page may yield to one that yields to a third which is not near
    /// this one; [clusters](crate::cluster::Clustering::run) would not let it, as only a page that leads
    /// is yielded to.
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
    /// // What was seen before all others comes first, whenever that is heard of.
    /// let earlier = Observation::content("https://example.net/", Time::from_ms(1_000)?, 0b0011, epoch);
    /// assert_eq!(store.observe(earlier)?.original, None);
    /// # Ok(())
    /// # }
    /// ```
    pub original: Option<Original>,
    /// Whether `copies` and `near` name everything, so that no other can be the original. If not, they
    /// were cut short, for one of the reasons that
    /// [`Matches::complete`](crate::Matches::complete) lists.
    pub complete: bool,
}

/// The answer to a [`Operation`](crate::Operation).
#[derive(Clone, Debug, PartialEq)]
pub enum OperationResult {
    /// To an observation.
    Observed(Outcome),
    /// To a restatement.
    Restated(RestateOutcome),
    /// To a property that came without a visit.
    PropertySet(PropertyOutcome),
}

impl OperationResult {
    pub(crate) fn observed(self) -> Result<Outcome, Bug> {
        let outcome = match self {
            OperationResult::Observed(outcome) => Some(outcome),
            OperationResult::Restated(_) | OperationResult::PropertySet(_) => None,
        };
        outcome.or_bug("an observation is answered as one")
    }

    pub(crate) fn restated(self) -> Result<RestateOutcome, Bug> {
        let outcome = match self {
            OperationResult::Restated(outcome) => Some(outcome),
            OperationResult::Observed(_) | OperationResult::PropertySet(_) => None,
        };
        outcome.or_bug("a restatement is answered as one")
    }

    pub(crate) fn property_set(self) -> Result<PropertyOutcome, Bug> {
        let outcome = match self {
            OperationResult::PropertySet(outcome) => Some(outcome),
            OperationResult::Observed(_) | OperationResult::Restated(_) => None,
        };
        outcome.or_bug("a property update is answered as one")
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

/// A verdict, and what its distance means.
fn write_verdict(
    f: &mut fmt::Formatter<'_>,
    verdict: Verdict,
    meaning: Option<Meaning>,
) -> fmt::Result {
    write!(f, "{verdict}")?;
    meaning.map_or(Ok(()), |meaning| write!(f, ": {meaning}"))
}

/// One entry in a page's history. For people, its `Display` says when it was, and what it meant.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryEntry {
    /// A visit.
    Visit {
        /// The visit.
        visit: Visit,
        /// What it meant after all earlier visits.
        verdict: Verdict,
        /// What the distance of the verdict means, as in an [`Outcome`].
        meaning: Option<Meaning>,
    },
    /// Restated content of the visit before it.
    Restated(Restated),
    /// A property that was given.
    Property(PropertyEntry),
}

impl HistoryEntry {
    /// The entry, without its verdict.
    pub fn entry(&self) -> Entry {
        match *self {
            HistoryEntry::Visit { visit, .. } => Entry::Visit(visit),
            HistoryEntry::Restated(restated) => Entry::Restated(restated),
            HistoryEntry::Property(given) => Entry::Property(given),
        }
    }

    /// The visit, with what it meant after all earlier visits; `None` for all else.
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
        match *self {
            HistoryEntry::Visit { verdict, meaning, .. } => write_verdict(f, verdict, meaning),
            HistoryEntry::Restated(_) => f.write_str("restated in another epoch"),
            HistoryEntry::Property(given) => write!(f, "{}", given.property),
        }
    }
}

/// A page's visits in order of time, then digest, then fingerprint. Restated content follows its
/// visit, and what was given all else of its time.
pub type History = Vec<HistoryEntry>;

/// The current state of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The page.
    pub url: String,
    /// How many visits are known, without restated content.
    pub visits: u64,
    /// The earliest, in milliseconds since 1970.
    pub first: Time,
    /// The latest visit.
    pub last: Visit,
    /// The content in force, with its fingerprint of the newest epoch that tells of
    /// [changes](crate::Role). `None` if the page is gone or no content was ever seen.
    pub content: Option<Content>,
    /// The content in force with each of its fingerprints: one for each epoch in which it has one,
    /// or is known to have none; that of the newest epoch first.
    pub contents: Vec<Content>,
    /// When that content was last seen.
    pub content_seen: Option<Time>,
    /// When the content last seen was last modified, as the server
    /// [said](crate::Observation::modified) with it or after it, in milliseconds since 1970: what to
    /// send as `If-Modified-Since`. `None` if no content was ever seen, or the server did not say since.
    pub modified: Option<Time>,
    /// Whether the page is gone.
    pub gone: bool,
    /// How important it is: the weight that was [given](crate::Observation::weight) last, or 1.
    pub weight: Weight,
    /// The class that was [given](crate::Observation::class) last; `None` if none ever was.
    pub class: Option<u32>,
    /// What its visits tell about how it changes.
    pub changes: Changes,
}

impl Page {
    /// A page of which this is known, in a store with these epochs.
    pub(crate) fn new(url: &str, Changing { head, changes }: &Changing, epochs: &Epochs) -> Page {
        let contents = head.in_force();
        Page {
            url: url.to_owned(),
            visits: head.visits,
            first: head.first,
            last: head.last,
            content: epochs.told_by(&contents).copied(),
            content_seen: head.in_force_seen(),
            modified: head.content_modified(),
            gone: head.gone(),
            weight: head.properties.weight(),
            class: head.properties.class(),
            changes: *changes,
            contents: contents.into_vec(),
        }
    }
}

/// What [`Store::forget`](crate::Store::forget) has hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forgotten {
    /// Pages.
    pub pages: u64,
    /// Visits of those pages.
    pub visits: u64,
}

/// What [`Store::merge`](crate::Store::merge) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Segments that went in.
    pub inputs: usize,
    /// Bytes written.
    pub bytes: u64,
}
