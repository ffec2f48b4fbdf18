//! One visit to one page, as a crawler reports it.

use std::ffi::c_char;

use simkeep::{Content, Digest, Epoch, Observation, Seen, Time, Visit as CrateVisit};

use crate::abi::{self, plain};
use crate::argument::{status, time};
use crate::failure::{Failure, Result};

/// `has`: there is a fingerprint. Content without one is of a text too short to tell from others.
pub const SIMKEEP_HAS_FINGERPRINT: u32 = 1;
/// `has`: there is a digest.
pub const SIMKEEP_HAS_DIGEST: u32 = 2;
/// `has`: there is an HTTP status.
pub const SIMKEEP_HAS_STATUS: u32 = 4;
/// `has`: there is a time when the page was last modified, as the server said.
pub const SIMKEEP_HAS_MODIFIED: u32 = 8;
/// `has`: there is a weight.
pub const SIMKEEP_HAS_WEIGHT: u32 = 16;
/// `has`: there is a class.
pub const SIMKEEP_HAS_CLASS: u32 = 32;
/// `has`: the content was looked at in another epoch, too.
pub const SIMKEEP_HAS_ALSO: u32 = 64;
/// `has`: there is a fingerprint in that other epoch.
pub const SIMKEEP_HAS_ALSO_FINGERPRINT: u32 = 128;
/// `has`: there is content, and the epoch that it was looked at in.
pub const SIMKEEP_HAS_CONTENT: u32 = 256;
/// `has`: there is a distance, the epoch of it, and what it means.
pub const SIMKEEP_HAS_DISTANCE: u32 = 512;

/// `has`: the time is taken as it is, even if it looks like seconds since 1970.
pub const SIMKEEP_HAS_EARLY_TIME: u32 = 1024;

/// What a visit can have.
const KNOWN: u32 = (SIMKEEP_HAS_CONTENT - 1) | SIMKEEP_HAS_EARLY_TIME;

/// What a visit found.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum SeenCode {
    /// No visit.
    Nothing = 0,
    /// Content.
    Content = 1,
    /// The server said that the content has not changed (304).
    NotModified = 2,
    /// The page is gone (404, 410).
    Gone = 3,
    /// The visit failed. It confirms nothing and changes nothing.
    Failed = 4,
    /// The page leads elsewhere: the digest, from `simkeep_redirect_digest`, names the target.
    Redirect = 5,
}

/// One visit to one page. Set all to 0, then what there is, with the bits of it in `has`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Visit {
    /// The page: UTF-8, and its identity is these bytes. Read only by the call that is given it.
    pub url: *const c_char,
    /// Its length in bytes: at most 8192.
    pub url_len: usize,
    /// When, in milliseconds since 1970. A number that lies before 1990, and after 1990 as seconds, is
    /// refused without `SIMKEEP_HAS_EARLY_TIME`.
    pub time_ms: i64,
    /// What was seen, a `simkeep_seen`.
    pub seen: i32,
    /// Which of the following there are: `SIMKEEP_HAS_...`.
    pub has: u32,
    /// The fingerprint of the content.
    pub fingerprint: u64,
    /// The epoch that the content was looked at in. It matters for content only, and is not optional
    /// there: `simkeep_change_epoch`.
    pub epoch: u32,
    /// The HTTP status.
    pub status: u32,
    /// A digest of the exact content.
    pub digest: [u8; 16],
    /// When the page was last modified, as the server said, in milliseconds since 1970.
    pub modified_ms: i64,
    /// How important the page is from now on: finite and positive.
    pub weight: f64,
    /// The fingerprint in the other epoch.
    pub also_fingerprint: u64,
    /// The other epoch.
    pub also_epoch: u32,
    /// The class that the page is of from now on.
    pub page_class: u32,
}

plain!(Visit, up to has);

impl Visit {
    /// A visit that saw content in an epoch, of which nothing else is known yet.
    pub(crate) fn at_epoch(epoch: u32) -> Visit {
        Visit { seen: SeenCode::Content as i32, epoch, ..abi::zeroed() }
    }

    /// Whether there is something, by its bit.
    fn has(&self, bit: u32) -> bool {
        self.has & bit != 0
    }

    /// The visit as simkeep takes it.
    pub(crate) fn observation<'a>(&self) -> Result<Observation<'a>> {
        let url = abi::text(self.url, self.url_len, "url")?;
        if self.has & !KNOWN != 0 {
            return Err(Failure::argument(
                "has",
                "it has a bit that stands for nothing of a visit",
            ));
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
                    Failure::argument("digest", "it must be one of simkeep_redirect_digest")
                })?;
                Seen::Content(Content::redirect(digest))
            }
            seen if seen == SeenCode::NotModified as i32 => Seen::NotModified { digest },
            seen if seen == SeenCode::Gone as i32 => Seen::Gone,
            seen if seen == SeenCode::Failed as i32 => Seen::Failed,
            _ => return Err(Failure::argument("seen", "it must be a simkeep_seen of a visit")),
        };
        let status = if self.has(SIMKEEP_HAS_STATUS) { Some(status(self.status)?) } else { None };
        let time = if self.has(SIMKEEP_HAS_EARLY_TIME) {
            Time::from_ms_unchecked(self.time_ms)
        } else {
            time(self.time_ms)?
        };
        let visit = CrateVisit { time, seen, status, modified: None };
        let mut observation = Observation::of(url, visit);
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
        Ok(observation)
    }
}

/// What was seen, as a number.
pub(crate) fn seen_code(seen: &Seen) -> SeenCode {
    match seen {
        Seen::Content(content) if content.is_redirect() => SeenCode::Redirect,
        Seen::Content(_) => SeenCode::Content,
        Seen::NotModified { .. } => SeenCode::NotModified,
        Seen::Gone => SeenCode::Gone,
        Seen::Failed => SeenCode::Failed,
    }
}

/// The visits of an array.
pub(crate) fn array(visits: *const Visit, count: usize, size: usize) -> Result<Vec<Visit>> {
    abi::structures(visits, count, size, "visits")
}

/// All of some visits as simkeep takes them.
pub(crate) fn all<'a>(visits: &[Visit]) -> Result<Vec<Observation<'a>>> {
    let one = |(nth, visit): (usize, &Visit)| visit.observation().map_err(|e| e.at(nth));
    visits.iter().enumerate().map(one).collect()
}
