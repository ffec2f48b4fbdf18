//! Pages whose texts are worth comparing, and clusters of texts that are alike indeed.

use std::sync::Arc;

use parking_lot::Mutex;
use pyo3::prelude::*;
use simkeep::cluster::{self, PageLocation};
use simkeep::fingerprint::BitSketcher;
use simkeep::{Error, Result};

use crate::call::fork::Birth;
use crate::call::long::long;
use crate::call::progress::{self, Progress};
use crate::cluster::clusters::{Clusters, Of};
use crate::convert::arg::{self, Arg};
use crate::convert::error::{OrRaise, raise};
use crate::convert::value::{FromRust, no_pickle, value};
use crate::convert::word::Candidacy;

value! {
    Candidate from of: simkeep::cluster::Candidacy {
        /// Whether it is.
        candidacy: Candidacy = of,
        /// Where the page stands, for `add`, if it is.
        location: Option<u64> = match of {
            cluster::Candidacy::Candidate { location, .. } => Some(location.to_bits()),
            _ => None,
        },
        /// The digest of the content that was compared, if there is one: another text of the page, such
        /// as an older version of it, is not the one that is wanted.
        digest: Option<[u8; 16]> = match of {
            cluster::Candidacy::Candidate { digest, .. } => digest,
            _ => None,
        },
    }
}

/// Pages that have others within k bits of them: those whose texts are worth comparing.
///
/// The store has no texts. Whoever has them asks for each page whether its text is wanted
/// (`candidacy`), adds those that are (`add`), and has clusters of those that are alike
/// (`clusters`). Takes two bits of memory for each page of the store, and in scratch files 68 bytes
/// for each text that is added. Threads may share it. It is of the process that found it.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Candidates {
    /// `None` once its clusters were found. Taken by threads that are attached to the interpreter, and
    /// let go of before they detach.
    of: Mutex<Option<Arc<cluster::Candidates>>>,
    birth: Birth,
}

impl Candidates {
    pub(crate) fn new(of: cluster::Candidates) -> Candidates {
        Candidates { of: Mutex::new(Some(Arc::new(of))), birth: Birth::now() }
    }

    /// Them, where they may be used.
    fn open(&self, py: Python<'_>) -> PyResult<Arc<cluster::Candidates>> {
        self.birth.check(py)?;
        let of = self.of.lock().clone();
        of.ok_or_else(|| raise(py, over()))
    }

    /// Takes them, unless another thread is using them.
    fn take(&self) -> Result<cluster::Candidates> {
        let mut of = self.of.lock();
        Arc::try_unwrap(of.take().ok_or_else(over)?).map_err(|shared| {
            *of = Some(shared);
            let what = "another thread is still adding texts to these candidates";
            Error::InvalidArgument(what.to_owned())
        })
    }
}

/// That there are no candidates any more.
fn over() -> Error {
    Error::InvalidArgument(
        "the clusters of these candidates were found; find candidates anew".to_owned(),
    )
}

#[pymethods]
impl Candidates {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.open(py)?.len())?)
    }

    /// Whether the text of a page is wanted. Costs looking it up; of a candidate, reading its head,
    /// too.
    ///
    /// Raises `UrlError` for what no page can have.
    #[pyo3(signature = (url: "str"))]
    fn candidacy<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Candidate> {
        let (of, url) = (self.open(py)?, arg::url(Arg::new("url"), url)?);
        Candidate::from_rust(py, py.detach(|| of.candidacy(url)).or_raise(py)?)
    }

    /// Adds the text of the page at a `location`, once or more often.
    ///
    /// A page of which different texts are added is compared with none, since it is not known which of
    /// them is the one in force. Linear in the text. Raises `InvalidArgumentError` if no candidate
    /// stands there.
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

    /// Puts all pages into clusters, as `View.clusters` does, of pages whose texts are alike.
    ///
    /// A page is led by one within k bits whose text resembles its own at least so much, from 0 to
    /// 1: by the one that it resembles most. Pages without a text lead clusters of their own. The
    /// candidates are gone then. Costs some joins, and a crowd of fingerprints whose texts are not
    /// alike its square. Ctrl-C ends it.
    ///
    /// Raises `InvalidArgumentError` if it was called before, or while another thread adds texts.
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
        let progress = progress::given(progress);
        let of = self.take().or_raise(py)?;
        let found = long(py, &progress, || of.clusters(resemblance, &progress))?;
        Ok(Clusters::new(Of::One(Arc::new(found)), self.birth))
    }

    fn __repr__(&self) -> String {
        let of = self.of.lock();
        match &*of {
            Some(of) => format!("<simkeep.Candidates: {} pages>", of.len()),
            None => "<simkeep.Candidates, used>".to_owned(),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Candidates", "find them anew"))
    }
}
