//! URL aliases: differences between URLs that do not matter, site by site.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::{Progress, Snapshot, alias};

use crate::call::fork::ForkCheck;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::keywords::{each, unknown};
use crate::convert::typed::Tuple;
use crate::convert::value::{FromRust, value};
use crate::sites::alias_rule::AliasRule;
use crate::streams::columns::{BatchFunction, Boolean, Int64, Utf8, Word, columns};
use crate::streams::stream::{Stream, StreamItem};
use crate::streams::threaded::ThreadedItems;

value! {
    /// A site with its alias rules.
    AliasSite from site: simkeep::alias::AliasSite {
        site: String,
        pages: u64,
        sampled: f64,
        skipped: u64,
        rules: Tuple<AliasCount>,
        declared: Py<DeclaredUrls>,
    }
}

value! {
    /// The URLs to which pages of a site point.
    DeclaredUrls from of: simkeep::alias::DeclaredUrls {
        canonicals: u64,
        near: u64,
        different: u64,
        redirects: u64,
        wrong: Tuple<AliasPair>,
    }
}

value! {
    AliasCount from of: simkeep::alias::AliasCount {
        rule: Py<AliasRule>,
        holds: bool,
        pairs: u64,
        near: u64,
        redirects: u64,
        canonicals: u64,
        contradicted: u64,
        share: f64 = of.share(),
        visits: u64,
        examples: Tuple<AliasPair>,
        exceptions: Tuple<AliasPair>,
    }
}

value! {
    AliasPair from pair: simkeep::alias::AliasPair {
        first: String,
        other: String,
        distance: u32,
    }
}

value! {
    /// The totals of a search for aliases.
    AliasTotals from aliases: simkeep::alias::AliasTotals {
        sites: u64,
        sites_with_rules: u64,
        sampled: u64,
        pages: u64,
        without_fingerprint: u64,
        skipped: u64,
        rules: u64,
        pairs: u64,
        visits: u64,
        canonicals: u64,
        canonicals_near: u64,
        canonicals_different: u64,
        redirects: u64,
    }
}

/// As a table, a site has a row for each of its rules.
impl StreamItem for alias::AliasSite {
    type Object = AliasSite;
    const TABLE: Option<BatchFunction<Self>> = Some(|sites, signed| {
        let rules = sites.iter().flat_map(|of| of.rules.iter().map(move |count| (&of.site, count)));
        columns! {
            for (site, count) in rules, signed;
            site: Utf8 = site,
            kind: Word = count.rule.kind(),
            value: Option<Utf8> = count.rule.value(),
            holds: Boolean = count.holds,
            pairs: Int64 = count.pairs,
            near: Int64 = count.near,
            visits: Int64 = count.visits,
        }
    });
}

/// The sites with a rule to report, in SURT order. The search runs while the sites are read.
///
/// As Arrow data, the stream has a row for each rule: `site`, `kind`, `value`, `holds`, `pairs`,
/// `near` and `visits`.
#[pyclass(frozen, extends = Stream, module = "simkeep")]
pub(crate) struct AliasSites {
    totals: Arc<OnceLock<alias::AliasTotals>>,
}

impl AliasSites {
    /// Begins the search.
    pub(crate) fn find(
        py: Python<'_>,
        snapshot: Snapshot,
        asked: alias::AliasQuery,
        progress: Progress,
    ) -> PyResult<Py<AliasSites>> {
        let totals = Arc::new(OnceLock::new());
        let end = Arc::clone(&totals);
        let found = ThreadedItems::begin("simkeep-aliases", progress, move |progress, out| {
            let mut left = false;
            let totals = asked.run(&snapshot, progress, |site| {
                let given = out.send(vec![site]);
                left = given.is_break();
                given
            })?;
            // The totals of an aborted search are not final.
            if !left {
                end.get_or_init(|| totals);
            }
            Ok(())
        });
        let stream = Stream::new(found.or_raise(py)?, Some(ForkCheck::now()));
        Py::new(py, PyClassInitializer::from(stream).add_subclass(AliasSites { totals }))
    }
}

#[pymethods]
impl AliasSites {
    /// The totals of the search; `None` while the search continues, and if the stream was closed
    /// early.
    #[getter]
    fn totals(&self, py: Python<'_>) -> PyResult<Option<AliasTotals>> {
        FromRust::from_rust(py, self.totals.get().copied())
    }
}

/// Returns the options for these keywords.
pub(crate) fn asked(
    k: Option<&Bound<'_, PyAny>>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<alias::AliasQuery> {
    let mut asked = alias::AliasQuery::default();
    asked.k = optional(k, |k| arg::distance(Arg::new("k"), k))?;
    each(keywords, |key, value| {
        let given = Some(value);
        match key {
            "epoch" => asked.epoch = optional(given, |v| arg::epoch(Arg::new("epoch"), v))?,
            "under" => asked.under = optional(given, |v| arg::prefix(Arg::new("under"), v))?,
            "share" => asked.share = arg::float(Arg::new("share"), value)?,
            "pairs" => asked.pairs = arg::count(Arg::new("pairs"), value)?,
            "all" => asked.all = arg::flag(Arg::new("all"), value)?,
            "examples" => asked.examples = arg::size(Arg::new("examples"), value)?,
            "memory_bytes" => asked.memory_bytes = arg::size(Arg::new("memory_bytes"), value)?,
            other => return Err(unknown(other)),
        }
        Ok(())
    })?;
    Ok(asked)
}
