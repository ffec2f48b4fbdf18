//! One entry of a page's history: a visit, a restatement of a visit, or a property.

use std::cmp::Ordering;

use super::{Content, Digest, ETag, Epoch, Property, PropertyEntry, Seen, Target, Visit, Weight};
use crate::time::Time;

/// Restated content: the fingerprint in another epoch for content seen by an earlier visit. A
/// restatement can also record that the content has no fingerprint in the epoch.
///
/// A restatement is neither a visit nor a change of the page. A restatement replaces the visit's
/// own fingerprint, unless the visit's fingerprint belongs to a newer epoch.
///
/// ```
/// # use simkeep::{Observation, Options, Restatement, Role, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, monday) = ("https://example.com/", Time::from_ms(1_000)?);
/// store.observe(Observation::content(url, monday, 7, store.change_epoch()))?;
/// let epoch = store.register_epoch("my own hashes", Role::Both)?;
/// store.restate(Restatement::new(url, monday, 0xff, epoch))?;
/// let entry = store.history(url)?[1].entry();
/// assert!(entry.is_restated());
/// assert_eq!((entry.time(), entry.epoch()), (monday, Some(epoch)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Restated {
    /// The time when the visit saw the content.
    pub time: Time,
    /// The fingerprint; `None` if the epoch produces no fingerprint for the content, for example
    /// for a text that is too short.
    pub fingerprint: Option<u64>,
    /// The digest of the content, if the page had several contents at the time of the visit.
    pub digest: Option<Digest>,
    /// The epoch of the fingerprint. For content without a fingerprint, the epoch that produces
    /// none.
    pub epoch: Epoch,
}

impl Restated {
    /// The content, with the restated fingerprint.
    ///
    /// ```
    /// use simkeep::{Epoch, Restatement, Time};
    /// let restatement = Restatement::new("https://example.com/", Time::now(), 7, Epoch::from_number(1));
    /// assert_eq!(restatement.restated.content().fingerprint, Some(7));
    /// ```
    pub fn content(&self) -> Content {
        let Restated { fingerprint, digest, epoch, .. } = *self;
        Content { fingerprint, digest, epoch }
    }
}

/// One entry of a page's history.
///
/// Entries are ordered by time, then by digest. Restatements come after all visits of their time
/// and digest, in order of epochs. Properties come last among the entries of their time. [`Visit`]
/// documents the order of visits.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch).weight(2.0))?;
/// let entries: Vec<_> = store.history(url)?.iter().map(|entry| entry.entry()).collect();
/// assert!(entries[0].is_visit());
/// assert_eq!(entries[1].weight().map(|weight| weight.get()), Some(2.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// A visit.
    Visit(Visit),
    /// A restatement of a visit.
    Restated(Restated),
    /// A property that was set.
    Property(PropertyEntry),
}

impl Entry {
    /// The time of the entry.
    ///
    /// ```
    /// use simkeep::{Entry, Observation, Time};
    /// let time = Time::from_ms(1_700_000_000_000)?;
    /// let entry = Entry::from(Observation::gone("https://example.com/", time).visit);
    /// assert_eq!(entry.time(), time);
    /// # Ok::<(), simkeep::TimeError>(())
    /// ```
    pub fn time(&self) -> Time {
        match self {
            Entry::Visit(visit) => visit.time,
            Entry::Restated(restated) => restated.time,
            Entry::Property(given) => given.time,
        }
    }

    /// The visit, if the entry is a visit.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, PropertyUpdate, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::from_ms(1_000)?).status(404))?;
    /// store.set_property(PropertyUpdate::class(url, Time::from_ms(2_000)?, 7))?;
    /// for item in store.snapshot().observations(None) {
    ///     let (url, entry) = item?;
    ///     match entry.visit() {
    ///         Some(visit) => assert_eq!(visit.status, Some(404)),
    ///         None => assert_eq!(entry.class(), Some(7)),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn visit(&self) -> Option<&Visit> {
        match self {
            Entry::Visit(visit) => Some(visit),
            Entry::Restated(_) | Entry::Property(_) => None,
        }
    }

    /// Whether the entry is a visit.
    pub fn is_visit(&self) -> bool {
        matches!(self, Entry::Visit(_))
    }

    /// Whether the entry is a restatement.
    pub fn is_restated(&self) -> bool {
        matches!(self, Entry::Restated(_))
    }

    /// The property entry, if the entry sets a property.
    ///
    /// ```
    /// use simkeep::{Entry, Property, PropertyEntry, Time};
    /// let set = PropertyEntry { time: Time::from_ms(1_000)?, property: Property::Class(7) };
    /// let entry = Entry::from(set.clone());
    /// assert_eq!((entry.property(), entry.class(), entry.weight()), (Some(&set), Some(7), None));
    /// # Ok::<(), simkeep::TimeError>(())
    /// ```
    pub fn property(&self) -> Option<&PropertyEntry> {
        match self {
            Entry::Property(given) => Some(given),
            Entry::Visit(_) | Entry::Restated(_) => None,
        }
    }

    /// The weight, if the entry sets a weight.
    pub fn weight(&self) -> Option<Weight> {
        match self.property()?.property {
            Property::Weight(weight) => Some(weight),
            _ => None,
        }
    }

    /// The class, if the entry sets a class.
    pub fn class(&self) -> Option<u32> {
        match self.property()?.property {
            Property::Class(class) => Some(class),
            _ => None,
        }
    }

    /// The entity tag, if the entry has one.
    pub fn etag(&self) -> Option<&ETag> {
        match &self.property()?.property {
            Property::ETag(etag) => Some(etag),
            _ => None,
        }
    }

    /// The target of the page, if the entry has one.
    pub fn target(&self) -> Option<&Target> {
        match &self.property()?.property {
            Property::Target(target) => Some(target),
            _ => None,
        }
    }

    /// The content of the entry, seen by a visit or restated.
    ///
    /// ```
    /// use simkeep::{Entry, Epoch, Observation, Time};
    /// let url = "https://example.com/";
    /// let seen = Observation::content(url, Time::now(), 7, Epoch::from_number(0));
    /// assert_eq!(Entry::from(seen.visit).content().unwrap().fingerprint, Some(7));
    /// assert_eq!(Entry::from(Observation::gone(url, Time::now()).visit).content(), None);
    /// ```
    pub fn content(&self) -> Option<Content> {
        match self {
            Entry::Visit(visit) => visit.seen.content().copied(),
            Entry::Restated(restated) => Some(restated.content()),
            Entry::Property(_) => None,
        }
    }

    /// The digest of the entry's content.
    pub fn digest(&self) -> Option<Digest> {
        match self {
            Entry::Visit(visit) => visit.seen.digest(),
            Entry::Restated(restated) => restated.digest,
            Entry::Property(_) => None,
        }
    }

    /// The epoch of the entry's content. `None` for a redirect, which belongs to no epoch, and for
    /// an entry without content.
    ///
    /// ```
    /// use simkeep::{Entry, Epoch, Observation, Time};
    /// let (url, time) = ("https://example.com/", Time::from_ms(1_700_000_000_000)?);
    /// let content = Observation::content(url, time, 0x1234, Epoch::from_number(3));
    /// assert_eq!(Entry::from(content.visit).epoch(), Some(Epoch::from_number(3)));
    /// assert_eq!(Entry::from(Observation::redirect(url, time, "/x").visit).epoch(), None);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn epoch(&self) -> Option<Epoch> {
        match self {
            Entry::Visit(visit) => visit.epoch(),
            Entry::Restated(restated) => Some(restated.epoch),
            Entry::Property(_) => None,
        }
    }

    /// The epoch of the entry, mutable; `None` if [`epoch`](Self::epoch) returns `None`.
    pub(crate) fn epoch_mut(&mut self) -> Option<&mut Epoch> {
        self.epoch()?;
        match self {
            Entry::Visit(Visit { seen: Seen::Content(content), .. }) => Some(&mut content.epoch),
            Entry::Visit(_) | Entry::Property(_) => None,
            Entry::Restated(restated) => Some(&mut restated.epoch),
        }
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |visit: &Visit, restated: &Restated| {
            let of = (visit.time, visit.seen.digest());
            of.cmp(&(restated.time, restated.digest)).then(Ordering::Less)
        };
        match (self, other) {
            (Entry::Visit(visit), Entry::Visit(other)) => visit.cmp(other),
            (Entry::Restated(restated), Entry::Restated(other)) => {
                let key =
                    |r: &Restated| (r.time, r.digest, r.epoch.count(), r.fingerprint, r.epoch);
                key(restated).cmp(&key(other))
            }
            (Entry::Visit(visit), Entry::Restated(restated)) => place(visit, restated),
            (Entry::Restated(restated), Entry::Visit(visit)) => place(visit, restated).reverse(),
            (Entry::Property(given), Entry::Property(other)) => given.cmp(other),
            (Entry::Property(given), other) => {
                given.time.cmp(&other.time()).then(Ordering::Greater)
            }
            (other, Entry::Property(given)) => other.time().cmp(&given.time).then(Ordering::Less),
        }
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Visit> for Entry {
    fn from(visit: Visit) -> Entry {
        Entry::Visit(visit)
    }
}

impl From<PropertyEntry> for Entry {
    fn from(given: PropertyEntry) -> Entry {
        Entry::Property(given)
    }
}

impl From<Restated> for Entry {
    fn from(restated: Restated) -> Entry {
        Entry::Restated(restated)
    }
}

/// Chooses, by digest, the content to restate among the contents that a page had at one time. If a
/// digest is given, chooses the content with the digest. Without a digest, chooses the content that
/// has none, or else the last content.
#[expect(clippy::option_option, reason = "no content and none with a digest are two things")]
pub(crate) fn restated_digest(
    wanted: Option<Digest>,
    there: impl Iterator<Item = Option<Digest>> + Clone,
) -> Option<Option<Digest>> {
    let exact = there.clone().find(|digest| *digest == wanted);
    exact.or_else(|| if wanted.is_none() { there.max() } else { None })
}
