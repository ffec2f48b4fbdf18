//! Differences between URLs that make none, site by site.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::alias;

use crate::alias_rule::AliasRule;
use crate::arg::{self, Arg, optional};
use crate::columns::Kind;
use crate::error::OrRaise;
use crate::fork::Birth;
use crate::progress::{self, Progress};
use crate::query::{each, unknown};
use crate::stream::{Item, Stream};
use crate::threaded::Threaded;
use crate::typed::Tuple;
use crate::value::value;
use crate::view::View;

value! {
    /// A site, and the rules that were found for it.
    AliasSite {
        /// The host without `www.`, in lower case.
        site: String,
        /// Its pages that took part.
        pages: u64,
        /// What share of the URLs that rules make was looked at: 1, unless the site was beyond the
        /// memory. All that is counted of its rules is of these.
        sampled: f64,
        /// Pages with so many parameters, or in a site with so many names of them, that some were passed
        /// over.
        passed_over: u64,
        /// The rules, in the order in which they are to be applied: none twice.
        rules: Tuple<AliasCount>,
    }
}

value! {
    /// A rule in a site, and what speaks for it.
    AliasCount {
        /// The rule. If it has a direction, that is to what more pages of the site have.
        rule: Py<AliasRule>,
        /// Whether it holds, by the `share` and the `pairs` that were asked for.
        holds: bool,
        /// Pages that it makes one with a page that stands before them in SURT order, and takes
        /// something else from: as many would be spared.
        pairs: u64,
        /// Those of them that are near that page.
        near: u64,
        /// The share of the pairs that are near; 0 without any.
        share: f64,
        /// Visits that these pairs had, without those to the first pages: as many would have been
        /// spared.
        visits: u64,
        /// Pairs that are near, each of another group, drawn by a hash.
        examples: Tuple<AliasPair>,
        /// Pairs that are not near, drawn in the same way.
        exceptions: Tuple<AliasPair>,
    }
}

value! {
    /// Two pages that a rule makes one.
    AliasPair {
        /// The page that stands before all others of the group.
        first: String,
        /// Another one.
        other: String,
        /// In how many bits their fingerprints differ.
        distance: u32,
    }
}

value! {
    /// What was looked at for aliases, in all.
    Aliases {
        /// Sites with a page that took part.
        sites: u64,
        /// Sites that have a rule that holds.
        sites_with_rules: u64,
        /// Sites that were sampled.
        sampled: u64,
        /// Pages that took part: of those whose URLs SURT order does not tell apart, one.
        pages: u64,
        /// Pages with content that has no fingerprint in the epoch: they took no part.
        without_fingerprint: u64,
        /// Pages with parameters that were passed over, whether their sites have rules or not.
        passed_over: u64,
        /// Rules that hold, all sites together.
        rules: u64,
        /// Pairs of these.
        pairs: u64,
        /// Visits of these.
        visits: u64,
    }
}

impl From<alias::Aliases> for Aliases {
    fn from(of: alias::Aliases) -> Aliases {
        let alias::Aliases { sites, sites_with_rules, sampled, pages, .. } = of;
        let alias::Aliases { without_fingerprint, passed_over, rules, pairs, visits, .. } = of;
        Aliases {
            sites,
            sites_with_rules,
            sampled,
            pages,
            without_fingerprint,
            passed_over,
            rules,
            pairs,
            visits,
        }
    }
}

impl AliasSite {
    pub(crate) fn of(py: Python<'_>, of: alias::AliasSite) -> PyResult<AliasSite> {
        let alias::AliasSite { site, pages, sampled, passed_over, rules, .. } = of;
        let rules = Tuple::of(py, rules, |rule| AliasCount::of(py, rule))?;
        Ok(AliasSite { site, pages, sampled, passed_over, rules })
    }
}

impl AliasCount {
    fn of(py: Python<'_>, of: alias::AliasCount) -> PyResult<AliasCount> {
        let share = of.share();
        let alias::AliasCount { rule, holds, pairs, near, visits, examples, exceptions, .. } = of;
        let pairs_of = |all: Vec<alias::AliasPair>| {
            Tuple::of(py, all, |pair| {
                let alias::AliasPair { first, other, distance, .. } = pair;
                Ok(AliasPair { first, other, distance })
            })
        };
        Ok(AliasCount {
            rule: Py::new(py, AliasRule(rule))?,
            holds,
            pairs,
            near,
            share,
            visits,
            examples: pairs_of(examples)?,
            exceptions: pairs_of(exceptions)?,
        })
    }
}

/// The sites that have a rule to be told of, in SURT order: found as they are read.
///
/// For whoever reads Arrow it has a row for each rule: `site`, `kind`, `value`, `holds`, `pairs`,
/// `near` and `visits`.
#[pyclass(frozen, extends = Stream, module = "simkeep")]
pub(crate) struct AliasSites {
    told: Arc<OnceLock<alias::Aliases>>,
}

#[pymethods]
impl AliasSites {
    /// What was looked at in all; `None` as long as there is more to look at, and if the stream was
    /// closed before.
    #[getter]
    fn told(&self) -> Option<Aliases> {
        self.told.get().copied().map(Aliases::from)
    }
}

/// What is asked, with these keywords.
fn asked(
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

#[pymethods]
impl View {
    /// Finds differences between URLs that make none, site by site.
    ///
    /// Such as with `http` and `https`, with and without `www.`, with a number for each visitor. A
    /// site is a host with and without `www.`; those come that have a rule to be told of. Of all
    /// pages that a rule makes one URL, each but the first is a pair with that, which is near if
    /// their fingerprints are within k bits of each other. A rule holds if it has so many `pairs`,
    /// and such a `share` of them is near. `normalised` applies the rules of a site.
    ///
    /// Costs a scan of all pages and up to some microseconds for each, in a thread that waits for
    /// whoever reads and ends when the stream is closed; `memory_bytes` for one site at a time.
    ///
    /// Raises, when it is read, `OptionError` for a share that is none, and `EpochError` for an
    /// epoch that has ended or is not known.
    ///
    /// Keywords: `share` (0.9); `pairs` (10); `all=True` also tells of rules that do not hold;
    /// `examples`, the most of each rule (3); `epoch`; `under`, a prefix; `memory_bytes` for the
    /// pages of one site (512 MiB).
    #[pyo3(signature = (
        k: "int | None" = None, *, progress=None, **like: "Unpack[_types.AliasQuery]"
    ))]
    fn aliases<'py>(
        &self,
        py: Python<'py>,
        k: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, Progress>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<AliasSites>> {
        let snapshot = self.now(py)?;
        let (asked, progress) = (asked(k, like)?, progress::given(progress));
        let told = Arc::new(OnceLock::new());
        let end = Arc::clone(&told);
        let found = Threaded::begin("simkeep-aliases", progress, move |progress, out| {
            let mut left = false;
            let told = asked.run(&snapshot, progress, |site| {
                let given = out.give(vec![Item::AliasSite(Box::new(site))]);
                left = given.is_break();
                given
            })?;
            // What was looked at until somebody stopped reading is not what there is.
            if !left {
                end.get_or_init(|| told);
            }
            Ok(())
        });
        let stream = Stream::new(found.or_raise(py)?, Some(Kind::AliasRules), Some(Birth::now()));
        Py::new(py, PyClassInitializer::from(stream).add_subclass(AliasSites { told }))
    }
}
