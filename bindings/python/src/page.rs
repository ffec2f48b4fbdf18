//! A page as it stands.

use pyo3::prelude::*;

use crate::history::Visit;
use crate::time::Time;
use crate::typed::Tuple;
use crate::value::value;

value! {
    /// What a page held.
    Content {
        /// The fingerprint; `None` if the text is too short to tell.
        fingerprint: Option<u64>,
        /// The digest, 16 bytes, if one was given.
        digest: Option<[u8; 16]>,
        /// The epoch of the fingerprint.
        epoch: u32,
    }
}

value! {
    /// The last change of a page.
    LastChange {
        /// When it was, as far as is known: between two visits.
        time: Time,
        /// In how many bits, if that is known.
        distance: Option<u32>,
    }
}

value! {
    /// What the visits of a page tell about how it changes.
    Changes {
        /// How often two visits were compared.
        comparisons: u32,
        /// How often the later one had other content.
        changes: u32,
        /// How often that was content seen before.
        returns: u32,
        /// Of how many changes the server said when they were.
        dated: u32,
        /// How long the page was seen not to change, in milliseconds.
        unchanged_ms: u64,
        /// The last change, if there was one.
        last_change: Option<Py<LastChange>>,
    }
}

value! {
    /// The current state of a page.
    Page {
        /// The page.
        url: String,
        /// How many visits are known.
        visits: u64,
        /// The earliest.
        first: Time,
        /// The latest visit.
        last: Py<Visit>,
        /// The content in force, with its fingerprint of the newest epoch that tells of changes;
        /// `None` if the page is gone, or no content was ever seen.
        content: Option<Py<Content>>,
        /// The content in force with each of its fingerprints, that of the newest epoch first.
        contents: Tuple<Content>,
        /// When that content was last seen.
        content_seen: Option<Time>,
        /// When the content was last modified, as the server said: what to send as `If-Modified-
        /// Since`.
        modified: Option<Time>,
        /// Whether the page is gone.
        gone: bool,
        /// How important it is.
        weight: f64,
        /// The class that it is of, if one was given.
        class_: Option<u32>,
        /// What its visits tell about how it changes.
        changes: Py<Changes>,
    }
}

value! {
    /// A page whose version in force has a fingerprint, but none of the epoch that was asked for.
    StalePage {
        /// The page.
        url: String,
        /// When that version was last seen: the time to restate.
        time: Time,
        /// Its fingerprint of the newest epoch in which it has one.
        content: Py<Content>,
    }
}

impl From<simkeep::Content> for Content {
    fn from(content: simkeep::Content) -> Content {
        Content {
            fingerprint: content.fingerprint,
            digest: content.digest.map(|digest| digest.0),
            epoch: content.epoch.number(),
        }
    }
}

impl Changes {
    fn of(py: Python<'_>, changes: &simkeep::Changes) -> PyResult<Changes> {
        let last_change = changes
            .last_change()
            .map(|last| Py::new(py, LastChange { time: Time(last.time), distance: last.distance }));
        Ok(Changes {
            comparisons: changes.comparisons(),
            changes: changes.changes(),
            returns: changes.returns(),
            dated: changes.dated(),
            unchanged_ms: changes.unchanged_ms(),
            last_change: last_change.transpose()?,
        })
    }
}

impl Page {
    pub(crate) fn of(py: Python<'_>, page: simkeep::Page) -> PyResult<Page> {
        let content = page.content.map(|content| Py::new(py, Content::from(content)));
        Ok(Page {
            url: page.url,
            visits: page.visits,
            first: Time(page.first),
            last: Py::new(py, Visit::from(page.last))?,
            content: content.transpose()?,
            contents: Tuple::of(py, page.contents, |content| Ok(Content::from(content)))?,
            content_seen: page.content_seen.map(Time),
            modified: page.modified.map(Time),
            gone: page.gone,
            weight: page.weight.to_f64(),
            class_: page.class,
            changes: Py::new(py, Changes::of(py, &page.changes)?)?,
        })
    }
}

impl StalePage {
    pub(crate) fn of(py: Python<'_>, page: simkeep::query::StalePage) -> PyResult<StalePage> {
        let content = Py::new(py, Content::from(page.content))?;
        Ok(StalePage { url: page.url, time: Time(page.time), content })
    }
}
