//! The current state of a page.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::time::PyTime;
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::pages::history::Visit;
use crate::streams::columns::{
    BatchFunction, Binary, Bits, Boolean, Digest, Float64, Int32, Int64, Timestamp, Utf8, columns,
};
use crate::streams::stream::StreamItem;

value! {
    Content from content: simkeep::Content {
        /// The fingerprint; `None` if the text is too short to be distinguished.
        fingerprint: Option<u64>,
        /// The digest, 16 bytes; `None` without a digest.
        digest: Option<[u8; 16]>,
        /// The epoch of the fingerprint.
        epoch: u32,
    }
}

value! {
    LastChange from last: simkeep::LastChange {
        time: PyTime,
        distance: Option<u32>,
    }
}

value! {
    /// The changes of a page, from its visits.
    Changes from of: simkeep::Changes {
        /// The number of comparisons of two visits.
        comparisons: u32 = of.comparisons(),
        /// The number of comparisons with other content in the later visit.
        changes: u32 = of.changes(),
        /// The number of changes in which the content of the later visit had been seen before.
        returns: u32 = of.returns(),
        /// The number of changes with a time from the server.
        dated: u32 = of.dated(),
        /// The time for which the page was observed without a change, in milliseconds.
        unchanged_ms: u64 = of.unchanged_ms(),
        /// The last change; `None` without a change.
        last_change: Option<Py<LastChange>> = of.last_change(),
    }
}

value! {
    Page from page: simkeep::Page {
        url: String,
        visits: u64,
        first: PyTime,
        last: Py<Visit>,
        content: Option<Py<Content>>,
        contents: Tuple<Content>,
        content_seen: Option<PyTime>,
        modified: Option<PyTime>,
        gone: bool,
        weight: f64,
        /// The current class; `None` without a class.
        class_: Option<u32> = page.class,
        etag: Option<Py<PyBytes>> = page.etag.as_ref().map(|etag| etag.as_bytes().to_vec()),
        target: Option<String>,
        changes: Py<Changes>,
    }
    also {
        /// The headers that make the next request for the page conditional: `If-None-Match` with
        /// `etag`, and `If-Modified-Since` with `modified`, each if it is known.
        ///
        /// The server answers such a request with 304 and without the content, if the page still
        /// has the content that the store knows. No value has a line end or a NUL. A page that is
        /// gone or was never seen has no such headers. The values are `bytes`, because an entity
        /// tag need not be text.
        fn conditional_headers(&self, py: Python<'_>) -> BTreeMap<&'static str, Py<PyBytes>> {
            let etag = self.etag.as_ref().map(|etag| ("If-None-Match", etag.clone_ref(py)));
            let since = |time: PyTime| PyBytes::new(py, time.0.to_http_date().as_bytes()).unbind();
            let since = self.modified.map(|time| ("If-Modified-Since", since(time)));
            let headers = [etag, since].into_iter().flatten();
            headers.filter(|_| self.content.is_some()).collect()
        }
    }
}

value! {
    /// A page whose current version has a fingerprint, but no fingerprint of the requested epoch.
    StalePage from page: simkeep::query::StalePage {
        url: String,
        time: PyTime,
        content: Py<Content>,
    }
}

impl StreamItem for simkeep::Page {
    type Object = Page;
    const TABLE: Option<BatchFunction<Self>> = Some(|pages, signed| {
        columns! {
            for page in pages, signed;
            url: Utf8 = &page.url,
            visits: Int64 = page.visits,
            first: Timestamp = page.first,
            last: Timestamp = page.last.time,
            status: Option<Int32> = page.last.status,
            gone: Boolean = page.gone,
            fingerprint: Option<Bits> = page.content.and_then(|content| content.fingerprint),
            epoch: Option<Int64> = page.content.map(|content| content.epoch.number()),
            digest: Option<Digest> = page.content.and_then(|content| content.digest),
            content_seen: Option<Timestamp> = page.content_seen,
            modified: Option<Timestamp> = page.modified,
            weight: Float64 = page.weight.to_f64(),
            class_: Option<Int64> = page.class,
            etag: Option<Binary> = page.etag.as_ref().map(simkeep::ETag::as_bytes),
            target: Option<Utf8> = page.target.as_ref(),
        }
    });
}

impl StreamItem for simkeep::query::StalePage {
    type Object = StalePage;
}
