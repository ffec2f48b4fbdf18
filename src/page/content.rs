//! The content of a page: digest, fingerprint and epoch.

use std::fmt;

use ::url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::Epoch;

/// A 128-bit identifier of exact content, for example the first half of the SHA-1 of a payload.
///
/// The crawler decides which bytes to hash. The crawler should hash the same kind of bytes
/// throughout a store, because equal digests count as equal content.
///
/// The command-line tool uses the first 128 bits of a SHA-1 as the digest. The tool hashes the
/// payload that a server sent, as web archives do for `WARC-Payload-Digest`: without transfer
/// encoding, but still compressed if the server compressed it. For other input the tool hashes the
/// file, or the text in the line of JSON. The tool never hashes the visible text, so pages that
/// differ in their markup alone have different digests.
///
/// ```
/// use simkeep::{Digest, Observation, Time};
/// let sha1: [u8; 16] = *b"a SHA-1's start.";
/// let seen = Observation::not_modified("https://example.com/", Time::now()).digest(Digest(sha1));
/// assert_eq!(seen.visit.seen.digest(), Some(Digest(sha1)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
// Aligned, so that copying an optional digest moves whole words. Visits are copied often.
#[repr(align(8))]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// The first bytes of the digest of a redirect. Another digest begins with these bytes once in
    /// 2^64 times.
    const REDIRECT: [u8; 8] = *b"redirect";

    /// Returns the digest of a redirect from a page to a target, which may be relative to the page.
    ///
    /// The first 8 bytes of the digest mark a redirect. The other 8 bytes are a hash of both URLs,
    /// so the digest changes only when the target changes, and no other page has the same digest.
    /// The target is parsed as browsers do (WHATWG URL, "basic URL parser"), without its fragment.
    /// A target that cannot be parsed is hashed as it is.
    ///
    /// ```
    /// use simkeep::Digest;
    /// let page = "https://example.com/a/";
    /// let digest = Digest::redirect(page, "../b");
    /// assert!(digest.is_redirect());
    /// assert_eq!(digest, Digest::redirect(page, "https://EXAMPLE.com:443/b#top"));
    /// assert_ne!(digest, Digest::redirect(page, "https://example.com/c"));
    /// ```
    pub fn redirect(page: &str, target: &str) -> Digest {
        let target = target.trim_ascii();
        let resolved = match Url::parse(page) {
            Ok(base) => base.join(target),
            Err(_) => Url::parse(target),
        };
        let target = match resolved {
            Ok(mut resolved) => {
                resolved.set_fragment(None);
                resolved.into()
            }
            Err(_) => target.to_owned(),
        };
        // The URL of a page contains no line end.
        let hash = xxh3_64(format!("{page}\n{target}").as_bytes());
        let mut bytes = [0; 16];
        let (mark, rest) = bytes.split_at_mut(Self::REDIRECT.len());
        mark.copy_from_slice(&Self::REDIRECT);
        rest.copy_from_slice(&hash.to_be_bytes());
        Digest(bytes)
    }

    /// Whether the digest was returned by [`Digest::redirect`].
    ///
    /// ```
    /// use simkeep::Digest;
    /// assert!(Digest::redirect("https://example.com/old", "/new").is_redirect());
    /// assert!(!Digest([0xda; 16]).is_redirect());
    /// ```
    pub fn is_redirect(&self) -> bool {
        self.0.starts_with(&Self::REDIRECT)
    }

    /// The key of the digest in the tables of digests: its first 8 bytes. Digests are hashes, so
    /// two of them have one key by accident once in 2^64 times. A digest that is found by its key
    /// is compared as a whole.
    pub(crate) fn key(&self) -> u64 {
        let [first @ .., _, _, _, _, _, _, _, _] = self.0;
        u64::from_be_bytes(first)
    }

    /// The tag of the digest in a posting list: its first four bytes.
    pub(crate) fn tag(&self) -> u32 {
        let [first, second, third, fourth, ..] = self.0;
        u32::from_le_bytes([first, second, third, fourth])
    }
}

impl fmt::Display for Digest {
    /// Formats as 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// The number of the tables of digests, in place of an epoch. A store has far fewer epochs.
pub(crate) const DIGESTS: u32 = (1 << Epoch::COUNT_BITS) - 1;

/// The key under which the tables of a component list a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TableKey {
    /// The number of the epoch, or [`DIGESTS`].
    pub(crate) table: u32,
    /// The compared bits of the fingerprint, or the key of the digest.
    pub(crate) value: u64,
}

/// The content of a page, as seen by one visit.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// store.observe(Observation::content(url, Time::now(), 0xff, store.change_epoch()))?;
/// let content = store.snapshot().latest(url)?.and_then(|page| page.content).unwrap();
/// assert_eq!((content.fingerprint, content.digest), (Some(0xff), None));
/// assert_eq!(content.epoch, store.change_epoch());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// The fingerprint; `None` for content without a fingerprint, for example a text that is too
    /// short. A page with such content has a history, verdicts by digest, and
    /// [copies](crate::Snapshot::by_digest), but no near-duplicates.
    pub fingerprint: Option<u64>,
    /// The digest of the exact content, if the crawler provides one. The command-line tool hashes
    /// the bytes of the content, not its visible text.
    pub digest: Option<Digest>,
    /// The epoch of the fingerprint. For content without a fingerprint, the epoch that produces
    /// none.
    pub epoch: Epoch,
}

impl Content {
    /// Creates the content of a redirect: no fingerprint, and the [digest](Digest::redirect) of the
    /// redirect. A redirect belongs to no epoch, because no text was fingerprinted; its epoch
    /// number is 0.
    ///
    /// ```
    /// use simkeep::{Content, Digest};
    /// let content = Content::redirect(Digest::redirect("https://example.com/old", "/new"));
    /// assert!(content.is_redirect() && content.fingerprint.is_none());
    /// ```
    pub fn redirect(digest: Digest) -> Content {
        Content { fingerprint: None, digest: Some(digest), epoch: Epoch::NONE }
    }

    /// Whether the content is a redirect. A redirect is never a copy or near-duplicate of another
    /// page.
    ///
    /// ```
    /// use simkeep::{Observation, Time};
    /// let seen = Observation::redirect("https://example.com/a", Time::from_ms(1_700_000_000_000)?, "/b");
    /// assert!(seen.visit.seen.content().is_some_and(|content| content.is_redirect()));
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn is_redirect(&self) -> bool {
        self.fingerprint.is_none() && self.digest.is_some_and(|digest| digest.is_redirect())
    }

    /// The epoch of the fingerprint. For content without a fingerprint, the epoch that produces
    /// none; `None` for a redirect, which belongs to no epoch.
    ///
    /// ```
    /// use simkeep::{Content, Digest, Epoch};
    /// let epoch = Epoch::from_number(3);
    /// let content = Content { fingerprint: Some(0x1234), digest: None, epoch };
    /// assert_eq!(content.made_in(), Some(epoch));
    /// let redirect = Content::redirect(Digest::redirect("https://example.com/old", "/new"));
    /// assert_eq!(redirect.made_in(), None);
    /// ```
    pub fn made_in(&self) -> Option<Epoch> {
        let of_none = self.epoch == Epoch::NONE && self.is_redirect();
        (!of_none).then_some(self.epoch)
    }

    /// The compared bits of the fingerprint, without the bits reserved for metadata.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let visit = Observation::content("https://example.com/", Time::now(), 7, store.change_epoch()).visit;
    /// assert_eq!(visit.seen.content().and_then(|content| content.compared()), Some(7));
    /// # Ok(())
    /// # }
    /// ```
    pub fn compared(&self) -> Option<u64> {
        self.fingerprint.map(|fingerprint| fingerprint & self.epoch.mask())
    }

    /// The key under which the tables list the content: its fingerprint, or the
    /// [key](Digest::key) of its digest if it has no fingerprint. `None` for a redirect, and for
    /// content with neither.
    pub(crate) fn table_key(&self) -> Option<TableKey> {
        match (self.compared(), self.digest) {
            (Some(value), _) => Some(TableKey { table: self.epoch.0, value }),
            (None, Some(digest)) if !digest.is_redirect() => {
                Some(TableKey { table: DIGESTS, value: digest.key() })
            }
            (None, _) => None,
        }
    }
}
