//! Pages whose texts are worth comparing, and clusters of similar texts.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use simkeep::cluster::{self, PageLocation};
use simkeep::fingerprint::BitSketcher;
use simkeep::{Error, Result};

use crate::call::fork::ForkCheck;
use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::cluster::clusters::Clusters;
use crate::cluster::clusters_source::ClustersSource;
use crate::convert::arg::{self, Arg};
use crate::convert::error::{OrRaise, raise};
use crate::convert::value::{FromRust, no_pickle, value};
use crate::convert::word::Candidacy;

value! {
    PageCandidacy from of: simkeep::cluster::Candidacy {
        /// Whether the page is a candidate.
        candidacy: Candidacy = of,
        /// The location of the page, for `add`, if the page is a candidate.
        location: Option<u64> = match of {
            cluster::Candidacy::Candidate { location, .. } => Some(location.to_bits()),
            _ => None,
        },
        /// The digest of the compared content, if known. Do not add another text of the page, for
        /// example an older version.
        digest: Option<[u8; 16]> = match of {
            cluster::Candidacy::Candidate { digest, .. } => digest,
            _ => None,
        },
    }
}

/// Pages with other pages within k bits. The texts of these pages are worth comparing.
///
/// The store has no texts. Ask for each page whether its text is needed (`candidacy`), add the
/// needed texts (`add`), and get the clusters of similar texts (`clusters`). Takes three bits of
/// memory for each page of the store, and in scratch files 68 bytes for each added text. Threads
/// may share the candidates. Candidates belong to the process that made them.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Candidates {
    /// `None` once the clusters were computed. Threads take the value only while attached to the
    /// interpreter, and put it back before they detach.
    of: Mutex<Option<Arc<cluster::Candidates>>>,
    birth: ForkCheck,
}

impl Candidates {
    pub(crate) fn new(of: cluster::Candidates) -> Candidates {
        Candidates { of: Mutex::new(Some(Arc::new(of))), birth: ForkCheck::now() }
    }

    /// Returns the candidates, if they may be used.
    fn open(&self, py: Python<'_>) -> PyResult<Arc<cluster::Candidates>> {
        self.birth.check(py)?;
        let of = self.of.lock().clone();
        of.ok_or_else(|| raise(py, over()))
    }

    /// Takes the candidates, unless another thread uses them.
    fn take(&self) -> Result<cluster::Candidates> {
        let mut of = self.of.lock();
        Arc::try_unwrap(of.take().ok_or_else(over)?).map_err(|shared| {
            *of = Some(shared);
            let what = "another thread is still adding texts to these candidates";
            Error::InvalidArgument(what.to_owned())
        })
    }
}

/// The error for candidates that no longer exist.
fn over() -> Error {
    Error::InvalidArgument(
        "the clusters of these candidates were already found; find the candidates again".to_owned(),
    )
}

#[pymethods]
impl Candidates {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.open(py)?.len())?)
    }

    /// Whether the text of a page is needed. Costs a lookup; for a candidate, also reading its
    /// head.
    ///
    /// Raises `UrlError` for an invalid URL.
    #[pyo3(signature = (url: "str"))]
    fn candidacy<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<PageCandidacy> {
        let (of, url) = (self.open(py)?, arg::url(Arg::new("url"), url)?);
        PageCandidacy::from_rust(py, py.detach(|| of.candidacy(url)).or_raise(py)?)
    }

    /// Adds the text of the page at a `location`; repeated calls are allowed.
    ///
    /// A page with several different texts is not compared, since the current text is unknown.
    /// Linear in the text. Raises `InvalidArgumentError` if there is no candidate at the location.
    #[pyo3(signature = (location: "int", text: "str"))]
    fn add<'py>(
        &self,
        py: Python<'py>,
        location: &Bound<'py, PyAny>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let of = self.open(py)?;
        let location = PageLocation::from_bits(arg::fingerprint(Arg::new("location"), location)?);
        let text = arg::content(Arg::new("text"), text)?;
        py.detach(|| of.add(location, BitSketcher::new().of_text(&text))).or_raise(py)
    }

    /// Clusters all pages like `View.clusters`, but by the similarity of texts.
    ///
    /// The leader of a page is within k bits, and the texts of both have at least this resemblance,
    /// from 0 to 1. If there are several such leaders, the page belongs to the most similar leader.
    /// A page without a text has the text of a page with the same digest; otherwise it is the only
    /// page of its cluster. The candidates cannot be used afterwards. Costs some joins; many near
    /// fingerprints with dissimilar texts cost quadratic time. Ctrl-C ends the call.
    ///
    /// Raises `InvalidArgumentError` on a second call, or while another thread adds texts.
    #[pyo3(signature = (resemblance: "float", *, progress=None))]
    fn clusters<'py>(
        &self,
        py: Python<'py>,
        resemblance: &Bound<'py, PyAny>,
        progress: Option<&Bound<'py, Progress>>,
    ) -> PyResult<Clusters> {
        self.birth.check(py)?;
        let resemblance = arg::float(Arg::new("resemblance"), resemblance)?;
        if !(0.0..=1.0).contains(&resemblance) {
            let what = format!("must be between 0 and 1, not {resemblance}");
            return Err(Arg::new("resemblance").wrong(what));
        }
        let progress = progress::or_default(progress);
        let of = self.take().or_raise(py)?;
        let found = long(py, &progress, || of.clusters(resemblance, &progress))?;
        Ok(Clusters::new(ClustersSource::One(Arc::new(found)), self.birth))
    }

    fn __repr__(&self) -> String {
        let of = self.of.lock();
        match &*of {
            Some(of) => format!("<simkeep.Candidates: {} pages>", of.len()),
            None => "<simkeep.Candidates, used>".to_owned(),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Candidates", "find them again"))
    }
}
