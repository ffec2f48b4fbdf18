//! Learns priors from many pages.

use std::sync::OnceLock;

use pyo3::prelude::*;
use simkeep::recrawl;

use crate::convert::arg::{self, Arg, each, optional};
use crate::convert::value::no_pickle;
use crate::recrawl::belief::{Likelihood, Prior};

/// Returns the priors to compare, created once.
fn priors() -> &'static recrawl::Priors {
    static PRIORS: OnceLock<recrawl::Priors> = OnceLock::new();
    PRIORS.get_or_init(recrawl::Priors::default)
}

/// The evidence of many pages' comparisons about the spread of rates: how well each of 64 priors
/// explains the comparisons.
///
/// Pages are represented by their likelihoods, in any order. Leave out pages without comparisons,
/// which carry no evidence. Takes some microseconds a page, while other threads run.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct Fit(recrawl::Fit);

#[pymethods]
impl Fit {
    #[new]
    #[pyo3(signature = (pages: "Iterable[Likelihood] | None" = None))]
    fn new(py: Python<'_>, pages: Option<&Bound<'_, PyAny>>) -> PyResult<Fit> {
        let pages = optional(pages, |given| {
            each(Arg::new("pages"), given, "an iterable of Likelihoods", |arg, page| {
                Ok(arg::of::<Likelihood>(arg, "a Likelihood", page)?.unbind())
            })
        })?;
        let pages = pages.unwrap_or_default();
        Ok(Fit(py.detach(|| {
            let mut fit = recrawl::Fit::default();
            pages.iter().for_each(|page| fit.add(&priors().evidence(&page.get().0)));
            fit
        })))
    }

    /// The number of pages.
    #[getter]
    fn pages(&self) -> u64 {
        self.0.pages()
    }

    /// The evidence without a page that was added. The page is represented by its likelihood.
    fn without(&self, page: &Bound<'_, Likelihood>) -> Fit {
        Fit(self.0.without(&priors().evidence(&page.get().0)))
    }

    /// The mixture of the priors, each weighted by how well it explains the pages.
    ///
    /// For fewer than 20 pages the result is the default prior. Takes some microseconds.
    fn prior(&self) -> Prior {
        Prior(self.0.prior(priors()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Fit>().is_ok_and(|other| self.0 == other.get().0)
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.recrawl.Fit of {} pages>", self.0.pages())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Fit", "make it from likelihoods again"))
    }
}

/// Priors for the pages of a host, learned from many hosts.
///
/// The differences between hosts, and within them, determine how much a page indicates about other
/// pages of its host. Each host is represented by the `Fit` of its pages. A few thousand hosts are
/// enough. Takes some 10 microseconds a host, while other threads run.
#[pyclass(frozen, module = "simkeep.recrawl")]
pub(crate) struct HostPriors(recrawl::HostPriors);

#[pymethods]
impl HostPriors {
    #[new]
    #[pyo3(signature = (hosts: "Iterable[Fit]"))]
    fn new(py: Python<'_>, hosts: &Bound<'_, PyAny>) -> PyResult<HostPriors> {
        let hosts = each(Arg::new("hosts"), hosts, "an iterable of Fits", |arg, host| {
            Ok(arg::of::<Fit>(arg, "a Fit", host)?.unbind())
        })?;
        Ok(HostPriors(
            py.detach(|| recrawl::HostPriors::new(hosts.iter().map(|host| &host.get().0))),
        ))
    }

    /// The prior of a page of a host. `host` is the `Fit` of the other pages of the host.
    ///
    /// An empty `Fit` represents a new host. Takes some microseconds.
    fn prior(&self, host: &Bound<'_, Fit>) -> Prior {
        Prior(self.0.prior(&host.get().0))
    }

    fn __repr__(&self) -> &'static str {
        "<simkeep.recrawl.HostPriors>"
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("HostPriors", "make it again"))
    }
}
