//! What a page held.

use std::fmt;

use ::url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::Epoch;

/// 128 bits that name exact content, such as the first half of the SHA-256 of a payload. What it is of
/// is for the crawler to decide; it should be one thing in all of a store, since equal digests count as
/// equal content.
///
/// The tool takes the first 128 bits of the SHA-1 of what came: of the payload that a server sent, as
/// web archives have it (`WARC-Payload-Digest`: without the chunks of a transfer, and packed if the
/// server packed it), of a file, or of the text of a line of JSON. It is not of the visible text: pages
/// that differ in their markup alone have different digests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
// Visits are copied often: aligned, a digest that may be absent is copied in whole words.
#[repr(align(8))]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// The first bytes of the digest of a redirect. The digest of content begins with them once in 2^64.
    const REDIRECT: [u8; 8] = *b"redirect";

    /// Returns the digest of a redirect from a page to a target, which may be relative to the page.
    ///
    /// Its first 8 bytes mark a redirect. The others are a hash of both URLs, so a page has the same
    /// digest until it leads elsewhere, and shares it with no other page. The target is read as browsers
    /// do (WHATWG URL, "basic URL parser"), without its fragment; one that cannot be read counts as it
    /// stands.
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
        // No URL of a page has a line end in it.
        let hash = xxh3_64(format!("{page}\n{target}").as_bytes());
        let mut bytes = [0; 16];
        let (mark, rest) = bytes.split_at_mut(Self::REDIRECT.len());
        mark.copy_from_slice(&Self::REDIRECT);
        rest.copy_from_slice(&hash.to_be_bytes());
        Digest(bytes)
    }

    /// Whether it is the digest of a redirect: what [`Digest::redirect`] returns.
    pub fn is_redirect(&self) -> bool {
        self.0.starts_with(&Self::REDIRECT)
    }
}

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
    /// The fingerprint; `None` for content that has none, such as a text too short to tell from others.
    /// A page with such content has a history and verdicts by digest; no search finds it.
    pub fingerprint: Option<u64>,
    /// The digest of the exact content, if the crawler gives one: of its bytes, not of its visible text,
    /// if the tool made it.
    pub digest: Option<Digest>,
    /// What made the fingerprint, or found that there is none.
    pub epoch: Epoch,
}

impl Content {
    /// The content of a page that redirects: no fingerprint, and the [digest](Digest::redirect) that
    /// names the target. It belongs to no epoch, since nothing was made of a text; its number is 0.
    pub fn redirect(digest: Digest) -> Content {
        Content { fingerprint: None, digest: Some(digest), epoch: Epoch::NONE }
    }

    /// Whether the page redirected. Such content is a copy of nothing and near nothing, and says nothing
    /// of whether two pages are alike.
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

    /// The epoch that made the fingerprint, or found that there is none; `None` for a redirect, of which
    /// no epoch makes anything.
    pub fn made_in(&self) -> Option<Epoch> {
        let of_none = self.epoch == Epoch::NONE && self.is_redirect();
        (!of_none).then_some(self.epoch)
    }

    /// The bits of the fingerprint that are compared: all but those reserved for metadata.
    pub fn compared(&self) -> Option<u64> {
        self.fingerprint.map(|fingerprint| fingerprint & self.epoch.mask())
    }
}
