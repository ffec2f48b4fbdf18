//! What a page held.

use std::fmt;

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
    /// The bits of the fingerprint that are compared: all but those reserved for metadata.
    pub fn compared(&self) -> Option<u64> {
        self.fingerprint.map(|fingerprint| fingerprint & self.epoch.mask())
    }
}
