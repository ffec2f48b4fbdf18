//! The current state of a page.

use std::ffi::c_char;

use simkeep::{Digest, ETag, Time};

use crate::structure::{bits, structure};
use crate::texts::place;
use crate::write::visit::{
    SIMKEEP_HAS_CLASS, SIMKEEP_HAS_CONTENT, SIMKEEP_HAS_DIGEST, SIMKEEP_HAS_ETAG,
    SIMKEEP_HAS_FINGERPRINT, SIMKEEP_HAS_MODIFIED, SIMKEEP_HAS_STATUS, SIMKEEP_HAS_TARGET,
    seen_code,
};

structure! {
    /// The current state of a page. `has` consists of `SIMKEEP_HAS_...` for the optional fields
    /// that are set; the other optional fields are 0.
    pub struct Page, up to visits, from of: &simkeep::Page, url: (*const c_char, usize) {
        /// The URL, not NUL-terminated. The documentation of each call that returns a page states
        /// how long the URL is valid.
        url: *const c_char = url.0,
        /// The length of `url` in bytes.
        url_len: usize = url.1,
        /// The number of known visits.
        visits: u64,
        /// The time of the earliest visit, in milliseconds since 1970.
        first_ms: i64 = of.first.as_ms(),
        /// The time of the latest visit, in milliseconds since 1970.
        last_ms: i64 = of.last.time.as_ms(),
        /// The result of the latest visit, a `simkeep_seen`.
        last_seen: i32 = seen_code(&of.last.seen) as i32,
        /// The optional fields that are set. Without `SIMKEEP_HAS_CONTENT` the page is gone, or no
        /// visit has seen content.
        has: u32 = bits(&[
            (of.content.is_some(), SIMKEEP_HAS_CONTENT),
            (fingerprint(of).is_some(), SIMKEEP_HAS_FINGERPRINT),
            (digest(of).is_some(), SIMKEEP_HAS_DIGEST),
            (of.last.status.is_some(), SIMKEEP_HAS_STATUS),
            (of.modified.is_some(), SIMKEEP_HAS_MODIFIED),
            (of.class.is_some(), SIMKEEP_HAS_CLASS),
            (of.etag.is_some(), SIMKEEP_HAS_ETAG),
            (of.target.is_some(), SIMKEEP_HAS_TARGET),
        ]),
        /// The fingerprint of the current content, in the newest epoch of verdicts in which the
        /// content has a fingerprint.
        fingerprint: u64 = fingerprint(of).unwrap_or(0),
        /// The epoch of `fingerprint`.
        epoch: u32 = of.content.map_or(0, |content| content.epoch.number()),
        /// The HTTP status of the latest visit.
        status: u32 = of.last.status.unwrap_or(0).into(),
        /// The digest of the current content.
        digest: [u8; 16] = digest(of).map_or([0; 16], |digest| digest.0),
        /// The time when the current content was last seen.
        content_seen_ms: i64 = of.content_seen.map_or(0, Time::as_ms),
        /// The time when the last seen content was last modified, by the server's report. Use this
        /// time for `If-Modified-Since`.
        modified_ms: i64 = of.modified.map_or(0, Time::as_ms),
        /// The current weight; 1 if no weight was set.
        weight: f64 = of.weight.to_f64(),
        /// The current class.
        page_class: u32 = of.class.unwrap_or(0),
        /// Whether the page is gone, 1 or 0.
        gone: u32 = u32::from(of.gone),
        /// The number of pairs of consecutive visits that determine whether the page changed.
        comparisons: u32 = of.changes.comparisons(),
        /// The number of `comparisons` that found a change.
        changes: u32 = of.changes.changes(),
        /// The URL to which the current content points, in UTF-8: the target of a redirect, or the
        /// canonical URL. Valid as long as `url`. Set with `SIMKEEP_HAS_TARGET`.
        target: *const c_char = place(of.target.as_ref()).0,
        /// The length of `target` in bytes.
        target_len: usize = place(of.target.as_ref()).1,
        /// The length of `etag` in bytes.
        etag_len: usize = of.etag.as_ref().map_or(0, |etag| etag.as_bytes().len()),
        /// The entity tag of the current content. Use this value for `If-None-Match`.
        etag: [u8; 128] = etag(of),
    }
}

fn etag(of: &simkeep::Page) -> [u8; ETag::BYTES_MAX] {
    let mut bytes = [0; ETag::BYTES_MAX];
    let etag = of.etag.as_ref().map_or(&[][..], ETag::as_bytes);
    bytes.iter_mut().zip(etag).for_each(|(to, byte)| *to = *byte);
    bytes
}

fn fingerprint(of: &simkeep::Page) -> Option<u64> {
    of.content.and_then(|content| content.fingerprint)
}

fn digest(of: &simkeep::Page) -> Option<Digest> {
    of.content.and_then(|content| content.digest)
}
