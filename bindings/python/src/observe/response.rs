//! The meaning of a response for its page, and the canonical URL in its header.

use pyo3::prelude::*;
use simkeep::{Response, ResponseMeaning};

use crate::convert::arg::{self, Arg};
use crate::convert::word::Seen;

/// The meaning of an HTTP response to a GET for its page: the kind of visit to report. `None` below
/// 200: not a visit.
///
/// `location` and `content_range` are the headers; `length` is the Content-Length, if no
/// Transfer-Encoding delimits the body, and `received` is the number of received bytes.
/// `is_encoded` means that there is a Content-Encoding. `is_cut` means that the body is known to be
/// truncated.
#[pyfunction]
#[pyo3(signature = (
    status: "int", *, location=None, content_range=None, length: "int | None" = None,
    received: "int | None" = None, is_encoded=false, is_cut=false
))]
pub(crate) fn response_meaning(
    status: &Bound<'_, PyAny>,
    location: Option<&str>,
    content_range: Option<&str>,
    length: Option<u64>,
    received: Option<u64>,
    is_encoded: bool,
    is_cut: bool,
) -> PyResult<Option<Seen>> {
    let status = arg::u16(Arg::new("status"), status)?;
    let response =
        Response { status, location, content_range, length, received, is_encoded, is_cut };
    Ok(match response.meaning() {
        ResponseMeaning::Content => Some(Seen::Content),
        ResponseMeaning::Redirect => Some(Seen::Redirect),
        ResponseMeaning::NotModified => Some(Seen::NotModified),
        ResponseMeaning::Gone => Some(Seen::Gone),
        ResponseMeaning::Failed(_) => Some(Seen::Failed),
        _ => None,
    })
}

/// The canonical URL that the header `Link` of a response declares: the first valid `http` or `https`
/// URL with the relation `canonical`, resolved by the URL of the page. `None` if there is none.
/// Several headers are joined by commas.
#[pyfunction]
pub(crate) fn canonical_in_link(page: &str, link: &str) -> Option<String> {
    simkeep_formats::canonical_in_link(page, link)
}
