//! The scope of a forget.

use pyo3::prelude::*;
use simkeep::Prefix;

use crate::convert::arg::{self, Arg, optional};
use crate::search::query;

/// A page, or all pages under a prefix.
pub(crate) enum ForgetScope {
    Url(String),
    Prefix(Prefix),
}

impl ForgetScope {
    pub(crate) fn new(
        call: &str,
        url: Option<&Bound<'_, PyAny>>,
        under: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ForgetScope> {
        let url = optional(url, |url| arg::url(Arg::new("url"), url).map(str::to_owned))?;
        let under = optional(under, |under| arg::prefix(Arg::new("under"), under))?;
        match (url, under) {
            (Some(url), None) => Ok(ForgetScope::Url(url)),
            (None, Some(under)) => Ok(ForgetScope::Prefix(under)),
            _ => Err(query::one_of(call, "url and under")),
        }
    }

    pub(crate) fn of(&self) -> simkeep::Scope<'_> {
        match self {
            ForgetScope::Url(url) => simkeep::Scope::Url(url),
            ForgetScope::Prefix(prefix) => simkeep::Scope::Prefix(prefix.clone()),
        }
    }
}
