//! A visit to a page, in the form in which a crawler reports it.

use std::ffi::c_char;

use simkeep::{Content, Digest, Epoch, Observation, Seen, Time, Visit as CrateVisit};

use crate::abi::{self, plain};
use crate::argument::{status, time};
use crate::failure::{Failure, Result};

/// `has`: the fingerprint. Content without a fingerprint is a text that is too short to be
/// distinguished.
pub const SIMKEEP_HAS_FINGERPRINT: u32 = 1;
/// `has`: the digest.
pub const SIMKEEP_HAS_DIGEST: u32 = 2;
/// `has`: the HTTP status.
pub const SIMKEEP_HAS_STATUS: u32 = 4;
/// `has`: the server's time of the page's last modification.
pub const SIMKEEP_HAS_MODIFIED: u32 = 8;
/// `has`: the weight.
pub const SIMKEEP_HAS_WEIGHT: u32 = 16;
/// `has`: the class.
pub const SIMKEEP_HAS_CLASS: u32 = 32;
/// `has`: the content was also fingerprinted in another epoch.
pub const SIMKEEP_HAS_ALSO: u32 = 64;
/// `has`: the fingerprint in the other epoch.
pub const SIMKEEP_HAS_ALSO_FINGERPRINT: u32 = 128;
/// `has`: content, and the epoch of the content.
pub const SIMKEEP_HAS_CONTENT: u32 = 256;
/// `has`: a distance, with its epoch and its meaning.
pub const SIMKEEP_HAS_DISTANCE: u32 = 512;

/// `has`: accept the time unchanged, even if it looks like seconds since 1970.
pub const SIMKEEP_HAS_EARLY_TIME: u32 = 1024;

/// `has`: the number of bytes of the content as transferred.
pub const SIMKEEP_HAS_BYTES: u32 = 2048;
/// `has`: the request was conditional, with `If-None-Match` or `If-Modified-Since`.
pub const SIMKEEP_HAS_CONDITIONAL: u32 = 4096;
/// `has`: the entity tag.
pub const SIMKEEP_HAS_ETAG: u32 = 8192;
/// `has`: the target.
pub const SIMKEEP_HAS_TARGET: u32 = 16384;

/// The supported bits of a visit.
const KNOWN: u32 = (SIMKEEP_HAS_CONTENT - 1)
    | SIMKEEP_HAS_EARLY_TIME
    | SIMKEEP_HAS_BYTES
    | SIMKEEP_HAS_CONDITIONAL
    | SIMKEEP_HAS_ETAG
    | SIMKEEP_HAS_TARGET;

/// The result of a visit.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum SeenCode {
    /// Not a visit.
    Nothing = 0,
    /// Content.
    Content = 1,
    /// The server reported unchanged content (304).
    NotModified = 2,
    /// The page is gone (404, 410).
    Gone = 3,
    /// The visit failed. A failed visit neither confirms nor changes the content.
    Failed = 4,
    /// The page redirects: the digest, from `simkeep_redirect_digest`, identifies the target.
    Redirect = 5,
}

/// A visit to a page. Set all fields to 0, then set the required fields, with their bits in `has`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Visit {
    /// The URL of the page in UTF-8. The bytes of the URL identify the page. Read only during a
    /// call.
    pub url: *const c_char,
    /// The length of `url` in bytes: at most 8192.
    pub url_len: usize,
    /// The time, in milliseconds since 1970. Without `SIMKEEP_HAS_EARLY_TIME`, a number is rejected
    /// if it is before 1990 as milliseconds, and after 1990 as seconds.
    pub time_ms: i64,
    /// The result of the visit, a `simkeep_seen`.
    pub seen: i32,
    /// The optional fields that are set: `SIMKEEP_HAS_...`.
    pub has: u32,
    /// The fingerprint of the content.
    pub fingerprint: u64,
    /// The epoch of the content. Mandatory for visits with content, and ignored for other visits.
    /// See `simkeep_change_epoch`.
    pub epoch: u32,
    /// The HTTP status.
    pub status: u32,
    /// A digest of the exact content.
    pub digest: [u8; 16],
    /// The server's time of the page's last modification, in milliseconds since 1970.
    pub modified_ms: i64,
    /// The weight of the page from now on: finite and positive.
    pub weight: f64,
    /// The fingerprint in the other epoch.
    pub also_fingerprint: u64,
    /// The other epoch.
    pub also_epoch: u32,
    /// The class of the page from now on.
    pub page_class: u32,
    /// The number of bytes of the content as transferred.
    pub bytes: u64,
    /// The value of the header `ETag`, with its quotes. A value of more than 128 bytes is not kept,
    /// and a value with a line end or a NUL is rejected. Read only during a call.
    pub etag: *const c_char,
    /// The length of `etag` in bytes.
    pub etag_len: usize,
    /// The URL to which the content points, in UTF-8: the target of a redirect, or the canonical
    /// URL that the content declares. The URL may be relative to the page. It is kept if it is the
    /// `http` or `https` URL of another page. Read only during a call.
    pub target: *const c_char,
    /// The length of `target` in bytes.
    pub target_len: usize,
}

plain!(Visit, up to has);

impl Visit {
    /// Returns a visit that saw content in an epoch, without further fields.
    pub(crate) fn at_epoch(epoch: u32) -> Visit {
        Visit { seen: SeenCode::Content as i32, epoch, ..abi::zeroed() }
    }

    /// Whether a field is set, by its bit.
    fn has(&self, bit: u32) -> bool {
        self.has & bit != 0
    }

    /// Converts the visit for the crate.
    pub(crate) fn observation<'a>(&self) -> Result<Observation<'a>> {
        let url = abi::text(self.url, self.url_len, "url")?;
        if self.has & !KNOWN != 0 {
            return Err(Failure::argument("has", "a bit without a SIMKEEP_HAS_ constant is set"));
        }
        let digest = self.has(SIMKEEP_HAS_DIGEST).then_some(Digest(self.digest));
        let fingerprint = self.has(SIMKEEP_HAS_FINGERPRINT).then_some(self.fingerprint);
        let epoch = Epoch::from_number(self.epoch);
        let seen = match self.seen {
            seen if seen == SeenCode::Content as i32 => {
                Seen::Content(Content { fingerprint, digest, epoch })
            }
            seen if seen == SeenCode::Redirect as i32 => {
                let digest = digest.filter(Digest::is_redirect).ok_or_else(|| {
                    Failure::argument(
                        "digest",
                        "for a redirect it must come from simkeep_redirect_digest",
                    )
                })?;
                Seen::Content(Content::redirect(digest))
            }
            seen if seen == SeenCode::NotModified as i32 => Seen::NotModified { digest },
            seen if seen == SeenCode::Gone as i32 => Seen::Gone,
            seen if seen == SeenCode::Failed as i32 => Seen::Failed,
            _ => {
                return Err(Failure::argument(
                    "seen",
                    "it must be a simkeep_seen, and not SIMKEEP_SEEN_NOTHING",
                ));
            }
        };
        let status = if self.has(SIMKEEP_HAS_STATUS) { Some(status(self.status)?) } else { None };
        let time = if self.has(SIMKEEP_HAS_EARLY_TIME) {
            Time::from_ms_unchecked(self.time_ms)
        } else {
            time(self.time_ms)?
        };
        let conditional = self.has(SIMKEEP_HAS_CONDITIONAL);
        let visit = CrateVisit { status, conditional, ..CrateVisit::new(time, seen) };
        self.with_fields(Observation::of(url, visit))
    }

    /// Adds the optional fields that are set.
    fn with_fields<'a>(&self, mut observation: Observation<'a>) -> Result<Observation<'a>> {
        if self.has(SIMKEEP_HAS_MODIFIED) {
            observation = observation.modified(Time::from_ms_unchecked(self.modified_ms));
        }
        if self.has(SIMKEEP_HAS_WEIGHT) {
            observation = observation.weight(self.weight);
        }
        if self.has(SIMKEEP_HAS_CLASS) {
            observation = observation.class(self.page_class);
        }
        if self.has(SIMKEEP_HAS_ALSO) {
            let also = self.has(SIMKEEP_HAS_ALSO_FINGERPRINT).then_some(self.also_fingerprint);
            observation = observation.also(also, Epoch::from_number(self.also_epoch));
        }
        if self.has(SIMKEEP_HAS_BYTES) {
            observation = observation.bytes(self.bytes);
        }
        if self.has(SIMKEEP_HAS_ETAG) {
            observation = observation.etag(abi::bytes(self.etag, self.etag_len, "etag")?);
        }
        if self.has(SIMKEEP_HAS_TARGET) {
            let target = abi::text(self.target, self.target_len, "target")?;
            let is_redirect = |content: &Content| content.is_redirect();
            match observation.visit.seen.content().is_some_and(is_redirect) {
                true => observation.target = Some(target),
                false => observation = observation.canonical(target),
            }
        }
        Ok(observation)
    }
}

/// Returns the code of a visit's result.
pub(crate) fn seen_code(seen: &Seen) -> SeenCode {
    match seen {
        Seen::Content(content) if content.is_redirect() => SeenCode::Redirect,
        Seen::Content(_) => SeenCode::Content,
        Seen::NotModified { .. } => SeenCode::NotModified,
        Seen::Gone => SeenCode::Gone,
        Seen::Failed => SeenCode::Failed,
    }
}

/// Returns the visits of an array.
pub(crate) fn array(visits: *const Visit, count: usize, size: usize) -> Result<Vec<Visit>> {
    abi::structures(visits, count, size, "visits")
}

/// Converts visits for the crate.
pub(crate) fn all<'a>(visits: &[Visit]) -> Result<Vec<Observation<'a>>> {
    let one = |(nth, visit): (usize, &Visit)| visit.observation().map_err(|e| e.at(nth));
    visits.iter().enumerate().map(one).collect()
}
