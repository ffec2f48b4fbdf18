//! The reports of a crawler to the store about one page.

use arrayvec::ArrayVec;

use super::{
    Content, Digest, ETag, Entry, Epoch, Property, PropertyEntry, Restated, Seen, Target, Visit,
    Weight,
};
use crate::time::Time;

/// One visit to one page, reported by a crawler.
///
/// ```
/// use std::time::Duration;
/// use simkeep::{Digest, Epoch, Observation, Time};
/// let (url, time) = ("https://example.com/", Time::from_ms(1_700_000_000_000)?);
/// let seen = Observation::content(url, time, 0x1234, Epoch::from_number(0))
///     .digest(Digest([7; 16]))
///     .status(200);
/// let word = Observation::not_modified(url, time + Duration::from_secs(86_400)).status(304);
/// assert!(seen.visit < word.visit);
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Observation<'a> {
    /// The URL of the page. The bytes of the URL are the identity of the page.
    pub url: &'a str,
    /// The visit: its time and result.
    pub visit: Visit,
    /// The fingerprint of the same content in another epoch, if the crawler computed one. The
    /// fingerprint is `None` if the other epoch produces none.
    pub also: Option<(Option<u64>, Epoch)>,
    /// The new importance of the page; `None` if it does not change.
    pub weight: Option<Weight>,
    /// The new class of the page; `None` if it does not change.
    pub class: Option<u32>,
    /// The entity tag that the server sent.
    pub etag: Option<&'a [u8]>,
    /// A reference to the URL to which the content points: the target of a redirect, or the
    /// canonical URL that the content declares. The reference may be relative to the page.
    pub target: Option<&'a str>,
}

impl<'a> Observation<'a> {
    fn new(url: &'a str, time: impl Into<Time>, seen: Seen) -> Self {
        Self::of(url, Visit::new(time.into(), seen))
    }

    /// Creates the observation of a visit to a page.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::gone(url, Time::now()))?;
    /// // Repeats the last visit of a page, under another URL.
    /// let last = store.snapshot().latest(url)?.unwrap().last;
    /// let outcome = store.observe(Observation::of("https://example.org/", last))?;
    /// assert_eq!(outcome.verdict, Verdict::Gone);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(url: &'a str, visit: Visit) -> Self {
        let (also, weight, class) = (None, None, None);
        Observation { url, visit, also, weight, class, etag: None, target: None }
    }

    /// Creates an observation: the page had content with a fingerprint.
    ///
    /// `None` is content without a fingerprint, for example a text that is
    /// [too short](crate::fingerprint::Document::is_too_short). No search finds such content, it
    /// has no near-duplicates, and it takes no space in the tables. Only the
    /// [digest](Observation::digest) shows whether the content changed: without a digest, every
    /// visit is a change. There is no distance to or from such content.
    ///
    /// ```
    /// use simkeep::{Digest, Epoch, Observation, Time};
    /// let (time, epoch) = (Time::now(), Epoch::from_number(0));
    /// let seen = Observation::content("https://example.com/", time, 0x1234, epoch);
    /// let short = Observation::content("https://example.com/empty", time, None, epoch)
    ///     .digest(Digest([7; 16]));
    /// assert_ne!(seen.visit.seen, short.visit.seen);
    /// ```
    pub fn content(
        url: &'a str,
        time: impl Into<Time>,
        fingerprint: impl Into<Option<u64>>,
        epoch: Epoch,
    ) -> Self {
        let content = Content { fingerprint: fingerprint.into(), digest: None, epoch };
        Self::new(url, time, Seen::Content(content))
    }

    /// Creates an observation: the server reported that nothing changed (304), or an archive
    /// recorded that it saw the same content again.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 7, epoch))?;
    /// let outcome = store.observe(Observation::not_modified(url, Time::from_ms(2_000)?).status(304))?;
    /// assert_eq!(outcome.verdict.to_string(), "same (not modified)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn not_modified(url: &'a str, time: impl Into<Time>) -> Self {
        Self::new(url, time, Seen::NotModified { digest: None })
    }

    /// Creates an observation: the page redirects to a target, which may be relative to `url`.
    ///
    /// A redirect is content without a fingerprint. The [digest](Digest::redirect) of a redirect
    /// identifies the target. A redirect replaces the previous content, and is unchanged until the
    /// target changes. A redirect is never a copy or near-duplicate of another page. The target is
    /// stored as a [`Target`], if it is another page's URL that can be stored.
    ///
    /// ```
    /// use simkeep::{Observation, Time};
    /// let url = "https://example.com/old";
    /// let first = Observation::redirect(url, Time::now(), "/new").status(301);
    /// let again = Observation::redirect(url, Time::now(), "https://example.com/new").status(308);
    /// assert_eq!(first.visit.seen, again.visit.seen);
    /// ```
    pub fn redirect(url: &'a str, time: impl Into<Time>, to: &'a str) -> Self {
        let content = Content::redirect(Digest::redirect(url, to));
        Self { target: Some(to), ..Self::new(url, time, Seen::Content(content)) }
    }

    /// Creates an observation: the page is gone (404, 410).
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// let outcome = store.observe(Observation::gone(url, Time::now()).status(410))?;
    /// assert_eq!(outcome.verdict, Verdict::Gone);
    /// # Ok(())
    /// # }
    /// ```
    pub fn gone(url: &'a str, time: impl Into<Time>) -> Self {
        Self::new(url, time, Seen::Gone)
    }

    /// Creates an observation: the visit failed.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let outcome = store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// assert_eq!(outcome.verdict, Verdict::Failed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn failed(url: &'a str, time: impl Into<Time>) -> Self {
        Self::new(url, time, Seen::Failed)
    }

    /// Adds the fingerprint of the content in another epoch. With `None`, records that the other
    /// epoch produces no fingerprint.
    ///
    /// The content can be compared with earlier content of both epochs. Does nothing if the visit
    /// saw no content.
    ///
    /// ```
    /// use simkeep::{Epoch, Observation, Time};
    /// let (old, new) = (Epoch::from_number(0), Epoch::from_number(1));
    /// let seen = Observation::content("https://example.com/", Time::now(), 0x1234, new);
    /// assert_eq!(seen.also(0x4321, old).also, Some((Some(0x4321), old)));
    /// ```
    #[must_use]
    pub fn also(mut self, fingerprint: impl Into<Option<u64>>, epoch: Epoch) -> Self {
        if matches!(self.visit.seen, Seen::Content(_)) {
            self.also = Some((fingerprint.into(), epoch));
        }
        self
    }

    /// The fingerprint in the other epoch, as a restatement of the visit.
    pub(crate) fn restated(&self) -> Option<Restated> {
        let (Seen::Content(content), Some((fingerprint, epoch))) = (self.visit.seen, self.also)
        else {
            return None;
        };
        Some(Restated { time: self.visit.time, fingerprint, digest: content.digest, epoch })
    }

    /// The entries that the observation stores besides its visit.
    fn extra_entries(&self) -> ExtraEntries {
        let (time, mut entries) = (self.visit.time, ExtraEntries::new());
        entries.extend(self.restated().map(Entry::Restated));
        // Error pages have validators of their own, which must not replace those of the content. The
        // fields are public, so the methods that set them cannot be the only check.
        let is_of_content = self.visit.seen.content().is_some();
        let has_etag = is_of_content || matches!(self.visit.seen, Seen::NotModified { .. });
        let etag = self.etag.filter(|_| has_etag).and_then(ETag::new).map(Property::ETag);
        let target = self.target.filter(|_| is_of_content);
        let target = target.and_then(|reference| Target::new(self.url, reference));
        let properties = [
            self.weight.map(Property::Weight),
            self.class.map(Property::Class),
            etag,
            target.map(Property::Target),
        ];
        let given = properties.into_iter().flatten();
        entries.extend(given.map(|property| Entry::Property(PropertyEntry { time, property })));
        entries
    }

    /// Adds the [digest](Digest) of the content, preferably of its raw bytes. Does nothing if the
    /// page is gone or redirects, or if the visit failed.
    ///
    /// ```
    /// # use simkeep::{Digest, Observation, Options, SameBy, Store, Time, Verdict};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// let seen = Observation::content(url, Time::from_ms(1_000)?, 7, epoch);
    /// store.observe(seen.digest(Digest([0xda; 16])))?;
    /// let seen = Observation::content(url, Time::from_ms(2_000)?, 7, epoch);
    /// let outcome = store.observe(seen.digest(Digest([0xda; 16])))?;
    /// assert_eq!(outcome.verdict, Verdict::Same(SameBy::Digest));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn digest(mut self, value: Digest) -> Self {
        match &mut self.visit.seen {
            Seen::Content(content) if content.is_redirect() => {}
            Seen::Content(Content { digest, .. }) | Seen::NotModified { digest } => {
                *digest = Some(value);
            }
            Seen::Gone | Seen::Failed => {}
        }
        self
    }

    /// Adds the HTTP status.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::failed(url, Time::now()).status(503))?;
    /// assert_eq!(store.snapshot().latest(url)?.unwrap().last.status, Some(503));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn status(mut self, value: u16) -> Self {
        self.visit.status = Some(value);
        self
    }

    /// Sets the importance of the page from the time of the visit: a finite and positive number,
    /// which is 1 if never set.
    ///
    /// The weight applies until the next weight is set, with a later visit or
    /// [without a visit](PropertyUpdate::weight). If several weights are set for one time, the
    /// greatest applies. A weight is a separate entry of the history; an observation without a
    /// weight costs nothing. A weight is stored as an `f32`; [`Weight`] explains the rounding.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch).weight(2.5))?;
    /// let page = store.snapshot().latest(url)?.unwrap();
    /// assert_eq!(page.weight.get(), 2.5);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn weight(mut self, weight: impl Into<Weight>) -> Self {
        self.weight = Some(weight.into());
        self
    }

    /// Sets the class of the page from the time of the visit: a number whose meaning you define. 0
    /// is an ordinary class.
    ///
    /// A page whose class was never set has no class. Once a page has a class, it always has a
    /// class. A class applies until the next class is set, with a later visit or
    /// [without a visit](PropertyUpdate::class). If several classes are set for one time, the
    /// greatest applies. A class is a separate entry of the history; an observation without a
    /// class costs nothing.
    ///
    /// Searches can be limited to [some classes](crate::Query::classes).
    ///
    /// ```
    /// use simkeep::{Observation, Time};
    /// let seen = Observation::not_modified("https://example.com/", Time::now()).class(7);
    /// assert_eq!(seen.class, Some(7));
    /// ```
    #[must_use]
    pub fn class(mut self, class: u32) -> Self {
        self.class = Some(class);
        self
    }

    /// Sets a weight or a class, in the way of [`weight`](Observation::weight) or
    /// [`class`](Observation::class). Does nothing for another property.
    ///
    /// ```
    /// use simkeep::{Observation, Property, Time};
    /// let seen = Observation::not_modified("https://example.com/", Time::now());
    /// assert_eq!(seen.property(Property::Class(7)), seen.class(7));
    /// ```
    #[must_use]
    pub fn property(self, property: Property) -> Self {
        match property {
            Property::Weight(weight) => self.weight(weight),
            Property::Class(class) => self.class(class),
            Property::ETag(_) | Property::Target(_) => self,
        }
    }

    /// Adds the time when the page was last modified, as the server reports it in `Last-Modified`.
    ///
    /// The time need not be plausible: it is stored unchanged. The time dates a change only if it
    /// lies after the previous visit and more than two seconds before this visit. The time takes
    /// one byte in a file if it equals the modification time of the previous visit, else two to
    /// five bytes.
    ///
    /// Does nothing if the page is gone or the visit failed, because in these cases the server's
    /// header does not describe the content.
    ///
    /// ```
    /// use simkeep::{Epoch, Observation, Time};
    /// let (url, time) = ("https://example.com/", Time::from_ms(1_700_000_000_000)?);
    /// let earlier = Time::from_ms(1_699_990_000_000)?;
    /// let seen = Observation::content(url, time, 0x1234, Epoch::from_number(0));
    /// assert_eq!(seen.modified(earlier).visit.modified, Some(earlier));
    /// assert_eq!(Observation::gone(url, time).modified(time).visit.modified, None);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    #[must_use]
    pub fn modified(mut self, time: impl Into<Time>) -> Self {
        if matches!(self.visit.seen, Seen::Content(_) | Seen::NotModified { .. }) {
            self.visit.modified = Some(time.into());
        }
        self
    }

    /// Adds the value of the header `ETag`, with its quotes. A crawler sends the value back in
    /// `If-None-Match`, see [`Page::etag`](crate::Page::etag).
    ///
    /// Only the last entity tag of a page is kept, and only until a visit sees content without one.
    /// The entity tag of a "not modified" response replaces the entity tag before (RFC 9111,
    /// section 4.3.4). An entity tag of more than [`ETag::BYTES_MAX`] bytes is not kept, and the
    /// metric `simkeep_long_etags_total` counts it.
    ///
    /// Does nothing if the page is gone or the visit failed.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch).etag(b"\"v1\""))?;
    /// let page = store.snapshot().latest(url)?.unwrap();
    /// assert_eq!(page.etag.unwrap().to_string(), "\"v1\"");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn etag(mut self, value: &'a [u8]) -> Self {
        if matches!(self.visit.seen, Seen::Content(_) | Seen::NotModified { .. }) {
            self.etag = Some(value);
        }
        self
    }

    /// Adds the canonical URL that the content declares in `<link rel="canonical">` or in the
    /// header `Link` (RFC 6596). The URL may be relative to the page.
    ///
    /// The canonical URL is stored only if it is the URL of another page with the scheme `http` or
    /// `https`. The canonical URL is a claim of the page: the store never treats both pages as one.
    ///
    /// Does nothing unless the visit saw content that is no redirect.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/shoes?color=red", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch).canonical("/shoes"))?;
    /// let page = store.snapshot().latest(url)?.unwrap();
    /// assert_eq!(page.target.as_deref(), Some("https://example.com/shoes"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn canonical(mut self, reference: &'a str) -> Self {
        if self.visit.seen.content().is_some_and(|content| !content.is_redirect()) {
            self.target = Some(reference);
        }
        self
    }

    /// Adds the number of bytes of the content as transferred. Some three bytes a visit in a file.
    ///
    /// Does nothing unless the visit saw content.
    ///
    /// ```
    /// use simkeep::{Epoch, Observation, Time};
    /// let url = "https://example.com/";
    /// let seen = Observation::content(url, Time::now(), 7, Epoch::from_number(0)).bytes(14_300);
    /// assert_eq!(seen.visit.bytes, Some(14_300));
    /// ```
    #[must_use]
    pub fn bytes(mut self, count: u64) -> Self {
        if matches!(self.visit.seen, Seen::Content(_)) {
            self.visit.bytes = Some(count);
        }
        self
    }

    /// Records that the request was conditional: it had `If-None-Match` or `If-Modified-Since`.
    /// From such visits a store learns which hosts answer conditional requests with 304.
    ///
    /// ```
    /// use simkeep::{Observation, Time};
    /// let seen = Observation::not_modified("https://example.com/", Time::now()).conditional();
    /// assert!(seen.visit.conditional);
    /// ```
    #[must_use]
    pub fn conditional(mut self) -> Self {
        self.visit.conditional = true;
        self
    }
}

/// A restatement of content seen by an earlier visit: the content's fingerprint in another epoch,
/// or the absence of one.
///
/// ```
/// use simkeep::{Digest, Epoch, Restatement, Time};
/// let seen = Time::from_ms(1_700_000_000_000)?;
/// let again = Restatement::new("https://example.com/", seen, 0x4321, Epoch::from_number(1));
/// assert_eq!(again.digest(Digest([7; 16])).restated.digest, Some(Digest([7; 16])));
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restatement<'a> {
    /// The URL of the page. The bytes of the URL are the identity of the page.
    pub url: &'a str,
    /// The time when the content was seen, and its fingerprint in the other epoch.
    pub restated: Restated,
}

impl<'a> Restatement<'a> {
    /// Creates the restatement that the content which the page had at a time has a given
    /// fingerprint in an epoch. With `None`, the content has no fingerprint in the epoch.
    ///
    /// Fingerprints of other epochs stay: queries use the newest epoch of the [role](crate::Role)
    /// that they need. A restatement is no change of the page. In the epoch of the visit's own
    /// fingerprint, a restatement is a correction. If there are several corrections in one epoch,
    /// the greatest fingerprint counts.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, RestateOutcome, Restatement, Role, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, time) = ("https://example.com/", Time::from_ms(1_000)?);
    /// store.observe(Observation::content(url, time, 0x1234, store.change_epoch()))?;
    /// let new = store.register_epoch("another extractor", Role::Both)?;
    /// assert_eq!(store.restate(Restatement::new(url, time, 0x4321, new))?, RestateOutcome::Stored);
    /// // The page had no content at any other time.
    /// let other = Restatement::new(url, Time::from_ms(2_000)?, 0x4321, new);
    /// assert_eq!(store.restate(other)?, RestateOutcome::Missing);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        url: &'a str,
        time: impl Into<Time>,
        fingerprint: impl Into<Option<u64>>,
        epoch: Epoch,
    ) -> Self {
        let fingerprint = fingerprint.into();
        Restatement {
            url,
            restated: Restated { time: time.into(), fingerprint, digest: None, epoch },
        }
    }

    /// Creates a restatement of a page from an entry.
    pub fn of(url: &'a str, restated: Restated) -> Self {
        Restatement { url, restated }
    }

    /// Selects the content by its digest, if the page had several contents at the time. Without a
    /// digest, selects the content that has no digest, or else the last content.
    #[must_use]
    pub fn digest(mut self, value: Digest) -> Self {
        self.restated.digest = Some(value);
        self
    }
}

/// A property that is set without a visit.
///
/// [`Store::set_property`](crate::Store::set_property) stores one property, and
/// [`Store::load`](crate::Store::load) stores any number of properties.
///
/// ```
/// # use simkeep::{Observation, Options, PropertyUpdate, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::failed(url, Time::from_ms(1_000)?))?;
/// store.set_property(PropertyUpdate::class(url, Time::from_ms(2_000)?, 7))?;
/// assert_eq!(store.snapshot().latest(url)?.unwrap().class, Some(7));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PropertyUpdate<'a> {
    /// The URL of the page. The bytes of the URL are the identity of the page.
    pub url: &'a str,
    /// The property, and the time from which it applies.
    pub entry: PropertyEntry,
}

impl<'a> PropertyUpdate<'a> {
    /// Creates an update of a page from an entry.
    pub fn of(url: &'a str, entry: PropertyEntry) -> Self {
        PropertyUpdate { url, entry }
    }

    /// Creates an update that sets the importance of a page from `time` until another weight is
    /// set; see [`Observation::weight`]. A page that was never visited has no weight. Takes six to
    /// eleven bytes in a file.
    ///
    /// ```
    /// use simkeep::{Property, PropertyUpdate, Time, Weight};
    /// let update = PropertyUpdate::weight("https://example.com/", Time::now(), 2.5);
    /// assert_eq!(update.entry.property, Property::Weight(Weight::from(2.5)));
    /// ```
    pub fn weight(url: &'a str, time: impl Into<Time>, weight: impl Into<Weight>) -> Self {
        let property = Property::Weight(weight.into());
        Self::of(url, PropertyEntry { time: time.into(), property })
    }

    /// Creates an update that sets the class of a page from `time` until another class is set; see
    /// [`Observation::class`]. A page that was never visited has no class. Takes three to twelve
    /// bytes in a file.
    ///
    /// ```
    /// use simkeep::{Property, PropertyUpdate, Time};
    /// let update = PropertyUpdate::class("https://example.com/", Time::now(), 7);
    /// assert_eq!(update.entry.property, Property::Class(7));
    /// ```
    pub fn class(url: &'a str, time: impl Into<Time>, class: u32) -> Self {
        Self::of(url, PropertyEntry { time: time.into(), property: Property::Class(class) })
    }
}

/// Entries that are stored together with a visit.
pub(crate) type ExtraEntries = ArrayVec<Entry, 5>;

/// An operation that writes to a store: an [`Observation`], a [`Restatement`] or a
/// [`PropertyUpdate`].
///
/// ```
/// use simkeep::{Observation, Operation, PropertyUpdate, Time};
/// let (url, now) = ("https://example.com/", Time::now());
/// let operations = [
///     Operation::Observe(Observation::gone(url, now)),
///     Operation::SetProperty(PropertyUpdate::weight(url, now, 2.0)),
/// ];
/// assert_ne!(operations[0], operations[1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// A visit to a page.
    Observe(Observation<'a>),
    /// A fingerprint, in another epoch, of content that a visit saw.
    Restate(Restatement<'a>),
    /// A property of a page.
    SetProperty(PropertyUpdate<'a>),
}

impl<'a> Operation<'a> {
    /// Creates the operation that adds an entry to the history of a page.
    pub fn of(url: &'a str, entry: Entry) -> Self {
        match entry {
            Entry::Visit(visit) => Operation::Observe(Observation::of(url, visit)),
            Entry::Restated(restated) => Operation::Restate(Restatement { url, restated }),
            Entry::Property(given) => Operation::SetProperty(PropertyUpdate { url, entry: given }),
        }
    }

    /// The page.
    ///
    /// ```
    /// use simkeep::{Observation, Operation, Time};
    /// let operation = Operation::Observe(Observation::gone("https://example.com/", Time::now()));
    /// assert_eq!(operation.url(), "https://example.com/");
    /// ```
    pub fn url(&self) -> &'a str {
        match self {
            Operation::Observe(observation) => observation.url,
            Operation::Restate(restatement) => restatement.url,
            Operation::SetProperty(update) => update.url,
        }
    }

    /// The entry that the operation creates.
    ///
    /// ```
    /// use simkeep::{Entry, Operation, PropertyUpdate, Time};
    /// let update = PropertyUpdate::class("https://example.com/", Time::now(), 7);
    /// assert_eq!(Operation::SetProperty(update).entry().class(), Some(7));
    /// ```
    pub fn entry(&self) -> Entry {
        match self {
            Operation::Observe(observation) => Entry::Visit(observation.visit),
            Operation::Restate(restatement) => Entry::Restated(restatement.restated),
            Operation::SetProperty(update) => Entry::Property(update.entry.clone()),
        }
    }

    /// The time of the entry that the operation creates.
    pub(crate) fn time(&self) -> Time {
        match self {
            Operation::Observe(observation) => observation.visit.time,
            Operation::Restate(restatement) => restatement.restated.time,
            Operation::SetProperty(update) => update.entry.time,
        }
    }

    /// The [epoch](Entry::epoch) of the entry that the operation creates.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        match self {
            Operation::Observe(observation) => observation.visit.epoch(),
            Operation::Restate(restatement) => Some(restatement.restated.epoch),
            Operation::SetProperty(_) => None,
        }
    }

    /// Whether the operation creates a visit and no other entry.
    pub(crate) fn is_plain_visit(&self) -> bool {
        matches!(
            self,
            Operation::Observe(Observation {
                also: None,
                weight: None,
                class: None,
                etag: None,
                target: None,
                ..
            })
        )
    }

    /// The restatement that the operation stores with a visit.
    pub(crate) fn also(&self) -> Option<Restated> {
        match self {
            Operation::Observe(observation) => observation.restated(),
            Operation::Restate(_) | Operation::SetProperty(_) => None,
        }
    }

    /// The content of the restatement that the operation stores with a visit.
    pub(crate) fn also_content(&self) -> Option<Content> {
        self.also().map(|also| also.content())
    }

    /// The other entries that the operation stores with a visit: a restatement, and at most one
    /// property of each kind.
    pub(crate) fn extra_entries(&self) -> ExtraEntries {
        match self {
            Operation::Observe(observation) => observation.extra_entries(),
            Operation::Restate(_) | Operation::SetProperty(_) => ExtraEntries::new(),
        }
    }

    /// The operation without its entity tag; `None` if nothing remains.
    pub(crate) fn without_etag(&self) -> Option<Self> {
        match self {
            Operation::Observe(observation) => {
                Some(Operation::Observe(Observation { etag: None, ..*observation }))
            }
            Operation::SetProperty(update)
                if matches!(update.entry.property, Property::ETag(_)) =>
            {
                None
            }
            Operation::Restate(_) | Operation::SetProperty(_) => Some(self.clone()),
        }
    }

    /// The content that the visit saw; `None` if the visit saw no content, or for a restatement.
    pub(crate) fn seen(&self) -> Option<&Content> {
        match self {
            Operation::Observe(observation) => observation.visit.seen.content(),
            Operation::Restate(_) | Operation::SetProperty(_) => None,
        }
    }
}

impl<'a> From<Observation<'a>> for Operation<'a> {
    fn from(observation: Observation<'a>) -> Self {
        Operation::Observe(observation)
    }
}

impl<'a> From<PropertyUpdate<'a>> for Operation<'a> {
    fn from(update: PropertyUpdate<'a>) -> Self {
        Operation::SetProperty(update)
    }
}

impl<'a> From<Restatement<'a>> for Operation<'a> {
    fn from(restatement: Restatement<'a>) -> Self {
        Operation::Restate(restatement)
    }
}
