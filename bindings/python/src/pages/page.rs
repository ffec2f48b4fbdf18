//! A page as it stands.

use pyo3::prelude::*;

use crate::convert::time::Time;
use crate::convert::typed::Tuple;
use crate::convert::value::value;
use crate::pages::history::Visit;
use crate::streams::columns::{
    Bits, Boolean, Digest, Float64, Int32, Int64, Table, Timestamp, Utf8, columns,
};
use crate::streams::stream::Item;

value! {
    Content from content: simkeep::Content {
        /// The fingerprint; `None` if the text is too short to tell.
        fingerprint: Option<u64>,
        /// The digest, 16 bytes, if one was given.
        digest: Option<[u8; 16]>,
        /// The epoch of the fingerprint.
        epoch: u32,
    }
}

value! {
    LastChange from last: simkeep::LastChange {
        time: Time,
        distance: Option<u32>,
    }
}

value! {
    /// What the visits of a page tell about how it changes.
    Changes from of: simkeep::Changes {
        /// How often two visits were compared.
        comparisons: u32 = of.comparisons(),
        /// How often the later one had other content.
        changes: u32 = of.changes(),
        /// How often that was content seen before.
        returns: u32 = of.returns(),
        /// Of how many changes the server said when they were.
        dated: u32 = of.dated(),
        /// How long the page was seen not to change, in milliseconds.
        unchanged_ms: u64 = of.unchanged_ms(),
        /// The last change, if there was one.
        last_change: Option<Py<LastChange>> = of.last_change(),
    }
}

value! {
    Page from page: simkeep::Page {
        url: String,
        visits: u64,
        first: Time,
        last: Py<Visit>,
        content: Option<Py<Content>>,
        contents: Tuple<Content>,
        content_seen: Option<Time>,
        modified: Option<Time>,
        gone: bool,
        weight: f64,
        /// The class that it is of, if one was given.
        class_: Option<u32> = page.class,
        changes: Py<Changes>,
    }
}

value! {
    /// A page whose version in force has a fingerprint, but none of the epoch that was asked for.
    StalePage from page: simkeep::query::StalePage {
        url: String,
        time: Time,
        content: Py<Content>,
    }
}

impl Item for simkeep::Page {
    type Object = Page;
    const TABLE: Option<Table<Self>> = Some(|pages, signed| {
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
        }
    });
}

impl Item for simkeep::query::StalePage {
    type Object = StalePage;
}
