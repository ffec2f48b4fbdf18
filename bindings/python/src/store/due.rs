//! Queries for the pages to visit next, and for the changes of pages.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use simkeep::due::Due;

use super::Store;
use super::view::View;
use crate::call::item_feed::feed_items;
use crate::call::long::run_uncancellable;
use crate::convert::arg::{self, Arg, optional};
use crate::convert::error::OrRaise;
use crate::convert::value::FromRust;
use crate::recrawl::comparison::{Comparison, RecentComparisons, share};
use crate::recrawl::due::{self, Decision};
use crate::recrawl::hints::{self, Hints};
use crate::recrawl::learned_priors::LearnedPriors;
use crate::recrawl::plan::Plan;
use crate::recrawl::replay::Replay;
use crate::recrawl::survey::Survey;
use crate::streams::source::Iterated;
use crate::streams::stream::StreamOf;

#[pymethods]
impl View {
    /// The most valuable pages to visit now, the best first, each with its decision.
    ///
    /// Returns at most `budget` pages; `None` means no limit. Reads lazily.
    ///
    /// Keywords: `policy`, the order of pages ("value"); `under`, a prefix; `per_host`, the maximum
    /// number of pages of each host; `largest_interval`, the time after which an unvisited page
    /// comes first (365 days); `rules` for the pages under prefixes; `hints` about changes; `plan`,
    /// which adds due times; `learned`, the priors for change rates; `memory_bytes`, for selected
    /// pages (64 MiB).
    #[pyo3(signature = (
        now: "Time", budget: "int | None", **like: "Unpack[_types.Due]"
    ))]
    fn due<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        budget: &Bound<'py, PyAny>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<StreamOf<Decision>> {
        let snapshot = self.now(py)?;
        let asked = due::asked(py, (now, budget), like)?;
        let pages = py.detach(|| snapshot.due(&asked));
        Ok(StreamOf::new(Iterated::new(pages), self.birth()))
    }

    /// Plans the use of a number of visits a day in the long run.
    ///
    /// Without `per_day`, the plan uses the recent number of visits a day, as `pace` returns it.
    ///
    /// Computes the value threshold for a visit, and the resulting freshness. Uses `policy`,
    /// `under`, `rules`, `largest_interval` and `learned`; the other keywords of `due` are ignored.
    /// Passed to `due`, `lease_due` or `decide`, a plan adds due times to decisions.
    ///
    /// Reads 28 bytes for each page, or for a sample of a million pages in larger stores. Takes up
    /// to a second and 100 MB. Raises `InvalidOptionError` unless `per_day` is positive and finite.
    #[pyo3(signature = (now: "Time", per_day: "float | None" = None, **like: "Unpack[_types.Due]"))]
    fn plan<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        per_day: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Plan> {
        let snapshot = self.now(py)?;
        let asked = Due::new(arg::time(Arg::new("now"), now)?, 0);
        let per_day = optional(per_day, |per_day| arg::float(Arg::new("per_day"), per_day))?;
        let asked = due::with(py, asked, like)?;
        run_uncancellable(py, move || {
            let per_day = per_day.map_or_else(|| asked.pace(&snapshot), Ok)?;
            simkeep::due::Plan::of(&snapshot, &asked, per_day)
        })
        .map(Plan)
    }

    /// The decision about a page by a plan; `None` for an unknown page.
    ///
    /// The decision equals the decision in the result of `due` with this plan. Costs reading one
    /// record, and a search for the page's leader. Raises `UrlError` for an invalid URL.
    #[pyo3(signature = (url: "str", plan))]
    fn decide<'py>(
        &self,
        py: Python<'py>,
        url: &Bound<'py, PyAny>,
        plan: &Bound<'py, Plan>,
    ) -> PyResult<Option<Decision>> {
        let snapshot = self.now(py)?;
        let (url, plan) = (arg::url(Arg::new("url"), url)?, &plan.get().0);
        let decision = py.detach(|| plan.decide(&snapshot, url)).or_raise(py)?;
        FromRust::from_rust(py, decision)
    }

    /// Collects hints: times when pages changed, for example from sitemaps.
    ///
    /// Hints are pairs of a URL and a time, in any order. `trust` is the probability that a hint is
    /// true, from 0 to 1 (0.8). Reads no data of the store, and takes up to 48 bytes for each
    /// change while the hints are built.
    ///
    /// Raises `UrlError` or `TimeError` for a URL or a time that no visit can have,
    /// `InvalidOptionError` for an invalid trust, `LimitError` above a hundred million changes, and
    /// exceptions of the iterable.
    #[pyo3(signature = (changes: "Iterable[tuple[str, Time]]", *, trust: "float | None" = None))]
    fn hints<'py>(
        &self,
        py: Python<'py>,
        changes: &Bound<'py, PyAny>,
        trust: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Hints> {
        let snapshot = self.now(py)?;
        let trust = optional(trust, |v| arg::float(Arg::new("trust"), v))?;
        let changes = hints::each(changes)?;
        let progress = simkeep::Progress::default();
        let hints = feed_items(py, "simkeep-hints", changes, &progress, |changes| {
            // If the iterable failed, the result is not needed.
            let hints = simkeep::due::Hints::of(&snapshot, changes.map_while(Result::ok))?;
            match trust {
                Some(trust) => hints.trust(trust),
                None => Ok(hints),
            }
        })?;
        Ok(Hints(hints))
    }

    /// Estimates a change-rate prior for each host from all pages.
    ///
    /// Reads 28 bytes for each page, or for a sample of a million pages in larger stores; takes
    /// some 50 ms and 30 MB for a million. Runs once for a snapshot.
    fn learn(&self, py: Python<'_>) -> PyResult<LearnedPriors> {
        let snapshot = self.now(py)?;
        run_uncancellable(py, move || simkeep::due::LearnedPriors::of(&snapshot)).map(LearnedPriors)
    }

    /// Summarizes the changes of the pages: the number of changed pages, and the deciles of change
    /// rates.
    ///
    /// Reads the data of `learn` once more, and reads no pages. Takes up to a second, and 20 MB for
    /// a million pages.
    fn survey(&self, py: Python<'_>) -> PyResult<Survey> {
        let snapshot = self.now(py)?;
        Survey::of(py, run_uncancellable(py, move || simkeep::due::Survey::of(&snapshot))?)
    }

    /// Returns the recent number of visits a day, as input for a `plan`.
    ///
    /// Counts the visits of the 28 days up to the latest visit, divided by 28, or by the number of
    /// days since the first visit in the store if there are fewer, but at least by 1. Visits after
    /// `now` count as visits at `now`. Exact up to 65,536 pages; in larger stores, a sample is
    /// read.
    #[pyo3(signature = (now: "Time", *, under: "str | None" = None))]
    fn pace<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        under: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<f64> {
        let snapshot = self.now(py)?;
        let mut asked = Due::new(arg::time(Arg::new("now"), now)?, 0);
        if let Some(under) = optional(under, |v| arg::prefix(Arg::new("under"), v))? {
            asked = asked.under(under);
        }
        run_uncancellable(py, move || asked.pace(&snapshot))
    }

    /// The comparisons of a page's visits, which determine its change rate.
    ///
    /// Each comparison has a count. `None` for an unknown page. Several intervals of similar length
    /// are represented by their mean. A return to an earlier version counts as `return_share` of a
    /// change (0.5). Costs as much as `latest`.
    #[pyo3(signature = (url: "str", *, return_share: "float | None" = None))]
    fn comparisons(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
        return_share: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Vec<(Comparison, f64)>>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let share = share(return_share)?;
        let page = py.detach(|| snapshot.latest(url)).or_raise(py)?;
        Ok(page.map(|page| {
            let counted = page.changes.counted(share);
            counted.map(|(one, times)| (Comparison(one), times)).collect()
        }))
    }

    /// The last comparisons of a page in order, for policies that depend on the order.
    ///
    /// `None` for an unknown page. Costs as much as `latest`.
    #[pyo3(signature = (url: "str"))]
    fn recent(
        &self,
        py: Python<'_>,
        url: &Bound<'_, PyAny>,
    ) -> PyResult<Option<RecentComparisons>> {
        let (snapshot, url) = (self.now(py)?, arg::url(Arg::new("url"), url)?);
        let page = py.detach(|| snapshot.latest(url)).or_raise(py)?;
        Ok(page.map(|page| RecentComparisons(page.changes.recent(page.first, page.last.time))))
    }

    /// The pages that have had content, with their histories, to simulate crawls.
    ///
    /// For `simkeep.recrawl.crawl`. `under` restricts the result to the pages under a prefix. Of
    /// more than `pages_max` (1,000,000) pages, the pages with the lowest URL hashes are selected.
    /// A return to an earlier version counts as `return_share` of a change (0.5). Takes the time of
    /// a scan with all visits, and some 100 bytes for each visit of a selected page. Ctrl-C
    /// abandons the call.
    #[pyo3(signature = (
        under: "str | None" = None, *, pages_max: "int | None" = None,
        return_share: "float | None" = None
    ))]
    fn replay<'py>(
        &self,
        py: Python<'py>,
        under: Option<&Bound<'py, PyAny>>,
        pages_max: Option<&Bound<'py, PyAny>>,
        return_share: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Replay> {
        let snapshot = self.now(py)?;
        let under = optional(under, |v| arg::prefix(Arg::new("under"), v))?;
        let most = optional(pages_max, |v| arg::size(Arg::new("pages_max"), v))?;
        let (most, share) = (most.unwrap_or(1_000_000), share(return_share)?);
        run_uncancellable(py, move || snapshot.replay(under.as_ref(), most, share))
            .map(Replay::from)
    }
}

#[pymethods]
impl Store {
    /// Leases the most valuable due pages. Takes the keywords of `due`.
    ///
    /// Leaves out pages already leased and pages with no value. A lease ends when its page is
    /// observed in any way or released, or when the `now` of a later call is past its end. Threads
    /// may call this method concurrently. Leases are in memory only: after the store is reopened,
    /// no page is leased. At most `leases_max` pages are leased.
    #[pyo3(signature = (
        now: "Time", budget: "int | None", lease: "_types.Seconds", **like: "Unpack[_types.Due]"
    ))]
    fn lease_due<'py>(
        &self,
        py: Python<'py>,
        now: &Bound<'py, PyAny>,
        budget: &Bound<'py, PyAny>,
        lease: &Bound<'py, PyAny>,
        like: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Decision>> {
        let asked = due::asked(py, (now, budget), like)?;
        let lease = arg::interval(Arg::new("lease"), lease)?;
        let leased = self.call(py, |store| store.lease_due(&asked, lease))?;
        FromRust::from_rust(py, leased)
    }

    /// Ends the lease of a page that was not visited, so that it can be leased again.
    ///
    /// Returns whether the page was leased.
    #[pyo3(signature = (url: "str"))]
    fn release(&self, py: Python<'_>, url: &Bound<'_, PyAny>) -> PyResult<bool> {
        let url = arg::url(Arg::new("url"), url)?;
        self.call(py, |store| store.release(url))
    }
}
