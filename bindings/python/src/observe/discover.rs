//! URLs that were found and that nobody has visited yet, in the form of the caller's arguments.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simkeep::{Found, Time, Weight};

use crate::convert::arg::{self, Arg, each};

/// A link of a page.
#[derive(Debug)]
pub(crate) struct Link {
    url: String,
    weight: Weight,
}

impl Link {
    /// Returns the URL as found at a time in a page, if the page is known.
    pub(crate) fn found<'a>(&'a self, time: Time, page: Option<&'a str>) -> Found<'a> {
        let found = Found::new(&self.url, time).weight(self.weight);
        if let Some(page) = page { found.from(page) } else { found }
    }
}

/// Converts links, which are URLs, or pairs of a URL and a weight.
pub(crate) fn links(given: &Bound<'_, PyAny>) -> PyResult<Vec<Link>> {
    let arg = Arg::new("urls");
    let expected = "an iterable of URLs, or of pairs of a URL and a weight";
    // Iterating over a dictionary would lose its values.
    if given.is_instance_of::<PyDict>() {
        return Err(arg.type_error(expected, given));
    }
    each(arg, given, expected, |arg, given| {
        if given.is_instance_of::<PyString>() {
            return Ok(Link { url: arg::url(arg, given)?.to_owned(), weight: Weight::ONE });
        }
        let (url, weight) = arg::pair(arg, given, "a URL, or a pair of a URL and a weight")?;
        Ok(Link { url: arg::url(arg, &url)?.to_owned(), weight: arg::weight(arg, &weight)? })
    })
}
