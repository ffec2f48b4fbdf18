//! A page as it stands.

use std::ffi::c_char;

use simkeep::{Digest, Time};

use crate::abi::plain;
use crate::visit::{
    SIMKEEP_HAS_CLASS, SIMKEEP_HAS_CONTENT, SIMKEEP_HAS_DIGEST, SIMKEEP_HAS_FINGERPRINT,
    SIMKEEP_HAS_MODIFIED, SIMKEEP_HAS_STATUS, seen_code,
};

/// The current state of a page. `has` says by `SIMKEEP_HAS_...` which of the fields there are whose
/// absence nothing else tells; the others are 0 then.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Page {
    /// The page. No NUL ends it. The call that gave this says how long it lives.
    pub url: *const c_char,
    /// Its length in bytes.
    pub url_len: usize,
    /// How many visits are known.
    pub visits: u64,
    /// The earliest, in milliseconds since 1970.
    pub first_ms: i64,
    /// The latest.
    pub last_ms: i64,
    /// What the latest saw, a `simkeep_seen`.
    pub last_seen: i32,
    /// Which of the other fields there are. Without `SIMKEEP_HAS_CONTENT` the page is gone, or no
    /// content was ever seen.
    pub has: u32,
    /// The fingerprint of the content in force, of the newest epoch that tells of changes.
    pub fingerprint: u64,
    /// Its epoch.
    pub epoch: u32,
    /// The HTTP status of the latest visit.
    pub status: u32,
    /// The digest of the content in force.
    pub digest: [u8; 16],
    /// When that content was last seen.
    pub content_seen_ms: i64,
    /// When the content last seen was last modified, as the server said: what to send as
    /// `If-Modified-Since`.
    pub modified_ms: i64,
    /// How important it is: the weight that was given last, or 1.
    pub weight: f64,
    /// The class that was given last.
    pub page_class: u32,
    /// Whether the page is gone, 1 or 0.
    pub gone: u32,
    /// How many pairs of neighbouring visits tell whether the page changed.
    pub comparisons: u32,
    /// Of these, how many say that it did.
    pub changes: u32,
}

plain!(Page, up to visits);

#[cfg(test)]
impl Default for Page {
    fn default() -> Page {
        crate::abi::zeroed()
    }
}

impl Page {
    /// A page, whose URL is at a place that lives long enough.
    pub(crate) fn new(page: &simkeep::Page, (url, url_len): (*const c_char, usize)) -> Page {
        let mut has = 0;
        let mut given = |bit, is_there| {
            if is_there {
                has |= bit
            }
        };
        let content = page.content;
        let fingerprint = content.and_then(|content| content.fingerprint);
        let digest = content.and_then(|content| content.digest);
        given(SIMKEEP_HAS_CONTENT, content.is_some());
        given(SIMKEEP_HAS_FINGERPRINT, fingerprint.is_some());
        given(SIMKEEP_HAS_DIGEST, digest.is_some());
        given(SIMKEEP_HAS_STATUS, page.last.status.is_some());
        given(SIMKEEP_HAS_MODIFIED, page.modified.is_some());
        given(SIMKEEP_HAS_CLASS, page.class.is_some());
        let absent = Digest([0; 16]);
        Page {
            url,
            url_len,
            visits: page.visits,
            first_ms: page.first.as_ms(),
            last_ms: page.last.time.as_ms(),
            last_seen: seen_code(&page.last.seen) as i32,
            has,
            fingerprint: fingerprint.unwrap_or(0),
            epoch: content.map_or(0, |content| content.epoch.number()),
            status: u32::from(page.last.status.unwrap_or(0)),
            digest: digest.unwrap_or(absent).0,
            content_seen_ms: page.content_seen.map_or(0, Time::as_ms),
            modified_ms: page.modified.map_or(0, Time::as_ms),
            weight: page.weight.to_f64(),
            page_class: page.class.unwrap_or(0),
            gone: u32::from(page.gone),
            comparisons: page.changes.comparisons(),
            changes: page.changes.changes(),
        }
    }
}
