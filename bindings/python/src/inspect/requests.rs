//! What the requests of a crawl transferred, and what they saved.

use std::ops::ControlFlow;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::inspect::RequestSurvey;
use simkeep::{Progress, Snapshot};

use crate::call::fork::ForkCheck;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::keywords::{each, unknown};
use crate::convert::value::value;
use crate::streams::columns::{BatchFunction, Int64, Utf8, columns};
use crate::streams::stream::{StreamItem, StreamOf};
use crate::streams::threaded::ThreadedItems;

value! {
    Bodies from bodies: simkeep::inspect::Bodies {
        count: u64,
        bytes: u64,
        unknown: u64,
    }
}

value! {
    /// Counts of requests.
    RequestCounts from counts: simkeep::inspect::RequestCounts {
        requests: u64,
        conditional: u64,
        transferred: Py<Bodies>,
        not_modified: Py<Bodies>,
        unchanged: Py<Bodies>,
        conditional_unchanged: u64,
        /// The number of `unchanged` bodies that came with a `Last-Modified`, as did the content
        /// before.
        unchanged_dated: u64,
        unchanged_redated: u64,
        /// The transferred bodies of new versions that were captured before, on any page: not
        /// worth storing either. Counted only with `copies=True`.
        copies: Py<Bodies>,
        /// The share of conditional requests for unchanged content that were answered "not
        /// modified", from 0 to 1; `None` without such requests.
        honored: Option<f64> = counts.honored(),
    }
}

value! {
    HostRequests from of: simkeep::inspect::HostRequests {
        host: String,
        counts: Py<RequestCounts>,
    }
}

impl StreamItem for simkeep::inspect::HostRequests {
    type Object = HostRequests;
    const TABLE: Option<BatchFunction<Self>> = Some(|hosts, signed| {
        columns! {
            for of in hosts, signed;
            host: Utf8 = &of.host,
            requests: Int64 = of.counts.requests,
            conditional: Int64 = of.counts.conditional,
            transferred: Int64 = of.counts.transferred.count,
            transferred_bytes: Int64 = of.counts.transferred.bytes,
            not_modified: Int64 = of.counts.not_modified.count,
            not_modified_bytes: Int64 = of.counts.not_modified.bytes,
            unchanged: Int64 = of.counts.unchanged.count,
            unchanged_bytes: Int64 = of.counts.unchanged.bytes,
            conditional_unchanged: Int64 = of.counts.conditional_unchanged,
            unchanged_dated: Int64 = of.counts.unchanged_dated,
            unchanged_redated: Int64 = of.counts.unchanged_redated,
            copies: Int64 = of.counts.copies.count,
            copies_bytes: Int64 = of.counts.copies.bytes,
        }
    });
}

/// Streams the counts of each host. The survey runs while the hosts are read.
pub(crate) fn by_host(
    py: Python<'_>,
    snapshot: Snapshot,
    asked: RequestSurvey,
    progress: Progress,
) -> PyResult<StreamOf<HostRequests>> {
    let found = ThreadedItems::begin("simkeep-requests", progress, move |progress, out| {
        asked.run(&snapshot, progress, |host| -> ControlFlow<()> { out.send(vec![host]) })
    });
    Ok(StreamOf::new(found.or_raise(py)?, Some(ForkCheck::now())))
}

/// Returns the options for these keywords.
pub(crate) fn asked(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<RequestSurvey> {
    let mut asked = RequestSurvey::default();
    each(keywords, |key, value| {
        let given = Some(value);
        match key {
            "under" => asked.under = optional(given, |v| arg::prefix(Arg::new("under"), v))?,
            "copies" => asked.copies = arg::flag(Arg::new("copies"), value)?,
            "memory_bytes" => {
                asked.memory_bytes = optional(given, |v| arg::size(Arg::new("memory_bytes"), v))?;
            }
            "scratch" => asked.scratch = optional(given, |v| arg::path(Arg::new("scratch"), v))?,
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    Ok(asked)
}
