//! What a crawler tells the store of one page.

use super::{Content, Digest, Entry, Epoch, Restated, Seen, Visit};

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
        Self::new(
            url,
            time,
            Seen::Content(Content { fingerprint: Some(fingerprint), digest: None, epoch }),
        )
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
    pub(crate) fn restated(&self) -> Option<Restated> {
        let (Seen::Content(content), Some((fingerprint, epoch))) = (self.visit.seen, self.also)
        else {
            return None;
        };
        Some(Restated { time: self.visit.time, fingerprint, digest: content.digest, epoch })
    }

    /// Adds the digest of the content. A page that is gone or failed has none, and stays as it is.
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

    /// Adds the HTTP status.
    #[must_use]
    pub fn status(mut self, value: u16) -> Self {
        self.visit.status = Some(value);
        self
    }
}

/// What a crawler says of content that a page had: that it has this fingerprint in another epoch.
///
/// ```
/// use simkeep::{Digest, Epoch, Restatement};
/// let seen = 1_700_000_000_000;
/// let again = Restatement::new("https://example.com/", seen, 0x4321, Epoch(1));
/// assert_eq!(again.digest(Digest([7; 16])).restated.digest, Some(Digest([7; 16])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restatement<'a> {
    /// The page: its identity is these bytes.
    pub url: &'a str,
    /// The content, by when it was seen, and its fingerprint.
    pub restated: Restated,
}

impl<'a> Restatement<'a> {
    /// The content that the page had at this time has this fingerprint in this epoch. `time` in
    /// milliseconds since 1970.
    ///
    /// It takes the place of the fingerprint that the visit came with, unless that is of a newer
    /// epoch, and is no change of the page. In the epoch of that one it corrects it; of several
    /// corrections in one epoch the greatest counts.
    pub fn new(url: &'a str, time: i64, fingerprint: u64, epoch: Epoch) -> Self {
        Restatement { url, restated: Restated { time, fingerprint, digest: None, epoch } }
    }

    /// Says which content it was, if there were several at that time. Without this it is one without
    /// a digest, or else the last.
    #[must_use]
    pub fn digest(mut self, value: Digest) -> Self {
        self.restated.digest = Some(value);
        self
    }
}

/// What a store is to keep: an [`Observation`] or a [`Restatement`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// A visit to a page.
    Observe(Observation<'a>),
    /// A fingerprint, in another epoch, of what a visit saw.
    Restate(Restatement<'a>),
}

impl<'a> Request<'a> {
    /// What makes an entry of the history of a page.
    pub fn of(url: &'a str, entry: Entry) -> Self {
        match entry {
            Entry::Visit(visit) => Request::Observe(Observation::of(url, visit)),
            Entry::Restated(restated) => Request::Restate(Restatement { url, restated }),
        }
    }

    /// The page.
    pub fn url(&self) -> &'a str {
        match self {
            Request::Observe(observation) => observation.url,
            Request::Restate(restatement) => restatement.url,
        }
    }

    /// The entry that it makes.
    pub fn entry(&self) -> Entry {
        match self {
            Request::Observe(observation) => Entry::Visit(observation.visit),
            Request::Restate(restatement) => Entry::Restated(restatement.restated),
        }
    }

    /// What is restated of a visit in the same breath.
    pub(crate) fn also(&self) -> Option<Restated> {
        match self {
            Request::Observe(observation) => observation.restated(),
            Request::Restate(_) => None,
        }
    }

    /// The content that was seen; none if there was none, or it is restated.
    pub(crate) fn seen(&self) -> Option<&Content> {
        match self {
            Request::Observe(observation) => observation.visit.seen.content(),
            Request::Restate(_) => None,
        }
    }
}

impl<'a> From<Observation<'a>> for Request<'a> {
    fn from(observation: Observation<'a>) -> Self {
        Request::Observe(observation)
    }
}

impl<'a> From<Restatement<'a>> for Request<'a> {
    fn from(restatement: Restatement<'a>) -> Self {
        Request::Restate(restatement)
    }
}
