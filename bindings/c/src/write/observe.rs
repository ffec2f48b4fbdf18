//! Reports visits to a store.

use std::ffi::c_char;

use simkeep::{Digest, Epoch, Observation, Operation, Response, ResponseMeaning, Store, Time};

use crate::abi;
use crate::argument;
use crate::call::{done, make};
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::write::fingerprint::{FingerprinterHandle, content};
use crate::write::outcomes::Outcomes;
use crate::write::visit::{SeenCode, Visit, all, array};

/// Observes many visits, and returns outcomes column by column. Each verdict takes the earlier
/// visits into account. If one visit is invalid, no visit is stored, and `simkeep_error_row` is its
/// index. `size` is `sizeof *visits`. Free the result with `simkeep_outcomes_free`. Any thread;
/// concurrent calls share commits.
///
/// The visits are durable when the call returns, unless the options of the store defer durability.
/// Costs a lookup and a search in every segment for each visit, some microseconds, and one or a few
/// commits: much less than single calls.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_observe_batch(
    store: *mut StoreHandle,
    visits: *const Visit,
    count: usize,
    size: usize,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    make("simkeep_observe_batch", error, || {
        let store = open(store)?;
        batch(store, &array(visits, count, size)?)
    })
}

/// Observes visits. An error that refers to a visit has its row.
pub(crate) fn batch(store: &Store, visits: &[Visit]) -> Result<Outcomes> {
    let visits = all(visits)?;
    let outcomes = store.observe_batch(&visits).map_err(|error| {
        let requests: Vec<_> = visits.iter().copied().map(Operation::from).collect();
        at_row(store, error, requests.iter().enumerate())
    })?;
    Ok(Outcomes::new(&outcomes))
}

/// Returns the error of rejected requests, with the row of the first invalid request, if any.
pub(crate) fn at_row<'a>(
    store: &Store,
    error: simkeep::Error,
    mut requests: impl Iterator<Item = (usize, &'a Operation<'a>)>,
) -> Failure {
    let view = store.snapshot();
    let at_fault = requests.find(|(_, request)| request.check(&view).is_err());
    let failure = Failure::from(error);
    if let Some((row, _)) = at_fault { failure.at(row) } else { failure }
}

/// Observes a single visit. The outcomes are the outcomes of a batch with one visit.
fn observed<'a>(
    function: &'static str,
    store: *mut StoreHandle,
    error: *mut *mut Failure,
    observation: impl FnOnce() -> Result<Observation<'a>>,
) -> Option<Box<Outcomes>> {
    make(function, error, || {
        let store = open(store)?;
        Ok(Outcomes::new(&[store.observe(observation()?)?]))
    })
}

/// Returns a visit without content. A status of 0 means no status.
fn without<'a>(
    (url, url_len, time_ms): (*const c_char, usize, i64),
    status_code: u32,
    make: impl FnOnce(&'a str, Time) -> Observation<'a>,
) -> Result<Observation<'a>> {
    let observation = make(abi::text(url, url_len, "url")?, argument::time(time_ms)?);
    let status_code = argument::status(status_code)?;
    Ok(if status_code == 0 { observation } else { observation.status(status_code) })
}

/// Observes a visit that saw content with this fingerprint. `digest` points to 16 bytes, or is
/// NULL; `status` is the HTTP status, or 0. For further fields use `simkeep_observe_batch`. Free
/// the result with `simkeep_outcomes_free`. Any thread. Costs some microseconds, and a share of a
/// commit.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_observe(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    fingerprint: u64,
    epoch: u32,
    digest: *const u8,
    status: u32,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    observed("simkeep_observe", store, error, || {
        let digest = argument::digest(digest)?;
        let seen = without((url, url_len, time_ms), status, |url, time| {
            Observation::content(url, time, fingerprint, Epoch::from_number(epoch))
        })?;
        Ok(digest.map_or(seen, |digest| seen.digest(digest)))
    })
}

/// Observes a visit that saw this HTML page. The fingerprinter determines the fingerprint and its
/// epoch, and must be made for an epoch of this store. `encoding` may be NULL; see
/// `simkeep_fingerprinter_html`. `digest` points to 16 bytes, or is NULL; `status` is the HTTP
/// status, or 0. A text of fewer than eight words is observed without a fingerprint. Free the
/// result with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_fingerprinter_html`
/// and `simkeep_observe`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_observe_html(
    store: *mut StoreHandle,
    fingerprinter: *const FingerprinterHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    html: *const c_char,
    html_len: usize,
    encoding: *const c_char,
    encoding_len: usize,
    digest: *const u8,
    status: u32,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    observed("simkeep_observe_html", store, error, || {
        let digest = argument::digest(digest)?;
        let (fingerprint, epoch) =
            content(fingerprinter, (html, html_len), (encoding, encoding_len))?;
        let seen = without((url, url_len, time_ms), status, |url, time| {
            Observation::content(url, time, fingerprint, epoch)
        })?;
        Ok(digest.map_or(seen, |digest| seen.digest(digest)))
    })
}

/// Observes a visit with unchanged content (304). `status` is the HTTP status, or 0. Free the
/// result with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_not_modified(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    status: u32,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    observed("simkeep_not_modified", store, error, || {
        without((url, url_len, time_ms), status, Observation::not_modified)
    })
}

/// Returns the target of a redirect.
fn target<'a>(to: *const c_char, to_len: usize) -> Result<&'a str> {
    let to = abi::text(to, to_len, "to")?;
    let is_empty = to.trim_ascii().is_empty();
    if is_empty { Err(Failure::argument("to", "it is empty")) } else { Ok(to) }
}

/// Observes a redirect of the page to `to`, which may be relative to the page. `status` is the HTTP
/// status, or 0. Free the result with `simkeep_outcomes_free`. Any thread. Costs as much as
/// `simkeep_observe`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_redirect(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    to: *const c_char,
    to_len: usize,
    status: u32,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    observed("simkeep_redirect", store, error, || {
        let to = target(to, to_len)?;
        without((url, url_len, time_ms), status, |url, time| Observation::redirect(url, time, to))
    })
}

/// Writes the digest of a redirect from a page to `to`, which may be relative to the page, into 16
/// bytes. The digest is for visits with `SIMKEEP_SEEN_REDIRECT`. Returns 0, or a
/// `simkeep_error_code`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_redirect_digest(
    url: *const c_char,
    url_len: usize,
    to: *const c_char,
    to_len: usize,
    digest: *mut u8,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_redirect_digest", error, || {
        let (url, to) = (abi::text(url, url_len, "url")?, target(to, to_len)?);
        abi::put(digest.cast::<[u8; 16]>(), Digest::redirect(url, to).0, "digest")
    })
}

/// Returns the meaning of an HTTP response to a GET for its page, a `simkeep_seen`;
/// `SIMKEEP_SEEN_NOTHING` if the response is not final (below 200). `location` and `content_range`
/// are the values of these headers, or NULL; `length` is the Content-Length if no Transfer-Encoding
/// delimits the body, `received` is the number of received bytes of the body. `length` and
/// `received` are -1 if unknown. `is_encoded` is 1 if there is a Content-Encoding. `is_cut` is 1 if
/// the body is known to be truncated. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_response_meaning(
    status_code: u32,
    location: *const c_char,
    location_len: usize,
    content_range: *const c_char,
    content_range_len: usize,
    length: i64,
    received: i64,
    is_encoded: i32,
    is_cut: i32,
    seen: *mut i32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_response_meaning", error, || {
        let response = Response {
            status: argument::status(status_code)?,
            location: abi::optional_text(location, location_len, "location")?,
            content_range: abi::optional_text(content_range, content_range_len, "content_range")?,
            length: u64::try_from(length).ok(),
            received: u64::try_from(received).ok(),
            is_encoded: is_encoded != 0,
            is_cut: is_cut != 0,
        };
        let code = match response.meaning() {
            ResponseMeaning::Content => SeenCode::Content,
            ResponseMeaning::Redirect => SeenCode::Redirect,
            ResponseMeaning::NotModified => SeenCode::NotModified,
            ResponseMeaning::Gone => SeenCode::Gone,
            ResponseMeaning::Failed(_) => SeenCode::Failed,
            _ => SeenCode::Nothing,
        };
        abi::put(seen, code as i32, "seen")
    })
}

/// Observes that the page is gone (404, 410). `status` is the HTTP status, or 0. Free the result
/// with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_gone(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    status: u32,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    observed("simkeep_gone", store, error, || {
        without((url, url_len, time_ms), status, Observation::gone)
    })
}

/// Observes a failed visit. `status` is the HTTP status, or 0. Free the result with
/// `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_failed(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    status: u32,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    observed("simkeep_failed", store, error, || {
        without((url, url_len, time_ms), status, Observation::failed)
    })
}
