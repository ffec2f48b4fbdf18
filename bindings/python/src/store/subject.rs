//! The subject of a search.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use simkeep::fingerprint::{ContentType, Document, extract};
use simkeep::{Epoch, Error, Origin, Query, Result, Snapshot};

use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::observe::visit_result::HtmlSource;

/// A fingerprint, a document, or a page of the store.
pub(crate) enum SearchSubject {
    Fingerprint(u64),
    Document(Box<Document>),
    Page(String),
}

impl SearchSubject {
    /// Returns the subject from the arguments, of which exactly one must be set.
    pub(crate) fn new(
        fingerprint: Option<&Bound<'_, PyAny>>,
        text: Option<&Bound<'_, PyAny>>,
        html: Option<&Bound<'_, PyAny>>,
        url: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<SearchSubject> {
        let document = |document| SearchSubject::Document(Box::new(document));
        let given = [
            optional(fingerprint, |v| {
                arg::fingerprint(Arg::new("fingerprint"), v).map(SearchSubject::Fingerprint)
            })?,
            optional(text, |v| {
                Ok(document(Document::new(arg::content(Arg::new("text"), v)?.as_ref())))
            })?,
            optional(html, |v| {
                Ok(document(match HtmlSource::of(v, Arg::new("html"))? {
                    HtmlSource::Text(text) => extract(&text),
                    HtmlSource::Bytes(bytes) => extract(&ContentType::of_page(None).decode(&bytes)),
                }))
            })?,
            optional(url, |v| Ok(SearchSubject::Page(arg::url(Arg::new("url"), v)?.to_owned())))?,
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(subject), None) => Ok(subject),
            (None, _) => Err(PyTypeError::new_err("give a fingerprint, or text=, html= or url=")),
            _ => Err(PyTypeError::new_err("fingerprint, text, html and url exclude each other")),
        }
    }

    /// Returns the query for the fingerprint of the subject; `None` if the subject has no
    /// fingerprint, so that the result is empty. A document gets the fingerprint of the searched
    /// epoch. A page is excluded from its own result.
    pub(crate) fn ask(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        mut query: Query,
    ) -> PyResult<Option<Query>> {
        if let SearchSubject::Fingerprint(fingerprint) = self {
            query.fingerprint = *fingerprint;
            return Ok(Some(query));
        }
        let epoch = query.epoch.unwrap_or_else(|| snapshot.near_epoch());
        query.epoch = Some(epoch);
        let fingerprint = match self {
            SearchSubject::Fingerprint(_) => None,
            SearchSubject::Document(document) => {
                py.detach(|| of_document(snapshot, epoch, document)).or_raise(py)?
            }
            SearchSubject::Page(url) => {
                let page = py.detach(|| snapshot.latest(url)).or_raise(py)?;
                let page =
                    page.ok_or_else(|| Arg::new("url").wrong("is not a page of this store"))?;
                query.exclude.get_or_insert_with(|| url.clone());
                let content = page.contents.iter().find(|content| content.epoch == epoch);
                content.and_then(|content| content.fingerprint)
            }
        };
        Ok(fingerprint.map(|fingerprint| {
            query.fingerprint = fingerprint;
            query
        }))
    }
}

/// Computes the fingerprint of a document in an epoch.
fn of_document(snapshot: &Snapshot, epoch: Epoch, document: &Document) -> Result<Option<u64>> {
    let origin = Origin::of(snapshot, epoch)?.ok_or_else(|| {
        let number = epoch.number();
        Error::InvalidArgument(format!(
            "another program makes the fingerprints of epoch {number}: give a fingerprint, not text or html"
        ))
    })?;
    Ok(origin.fingerprinter()?.of_page(document)?)
}
