//! Which pages are dropped in favour of those that lead them.
//!
//! What knows them borrows their clusters. So it stays in a thread of its own, which answers questions
//! until nobody can ask any more.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use pyo3::prelude::*;
use simkeep::cluster::{self, PageLocation};
use simkeep::{Classes, Result};

use crate::call::fork::Birth;
use crate::call::long::{PAUSE, no_answer, thread_error};
use crate::convert::arg::{self, Arg};
use crate::convert::error::{OrRaise, raise};
use crate::convert::value::{FromRust, no_pickle, value};
use crate::convert::word::Fate;

value! {
    Fated from of: simkeep::cluster::Fate {
        /// Whether it is kept or dropped.
        fate: Fate = of,
        /// The digest of the content that was compared, if it is dropped and there is one. Other content
        /// of the page, such as an older version of it, may be near nothing that is kept.
        digest: Option<[u8; 16]> = match of {
            cluster::Fate::Dropped { digest } => digest,
            _ => None,
        },
    }
}

value! {
    KeptFor from kept: simkeep::cluster::KeptFor {
        url: String,
        distance: u32,
    }
}

/// A question, which knows whom to answer.
type Question = Box<dyn FnOnce(&cluster::Dropped<'_>) + Send>;

/// The pages that are dropped in favour of those that lead their clusters, by URL.
///
/// `len` says how many there are. Threads may share it, and are answered one after another. It is
/// of the process that found it.
#[pyclass(frozen, module = "simkeep")]
pub(crate) struct Dropped {
    /// `None` once it is gone.
    ask: Option<Sender<Question>>,
    thread: Option<JoinHandle<()>>,
    len: u64,
    birth: Birth,
}

impl Dropped {
    /// Those of clusters, found while signals are looked for.
    pub(crate) fn new(
        py: Python<'_>,
        of: impl AsRef<cluster::Clusters> + Send + 'static,
        open: Classes,
    ) -> PyResult<Dropped> {
        let (ask, questions) = channel();
        let (found, mut is_found) = sync_channel(1);
        let name = "simkeep-dropped".to_owned();
        let answers = move || answer(of.as_ref(), &open, &found, &questions);
        let thread = thread::Builder::new().name(name).spawn(answers).map_err(thread_error);
        let thread = thread.or_raise(py)?;
        let len = loop {
            let waiting = &mut is_found;
            match py.detach(move || waiting.recv_timeout(PAUSE)) {
                Ok(found) => break found.or_raise(py)?,
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Err(raise(py, no_answer())),
            }
        };
        Ok(Dropped { ask: Some(ask), thread: Some(thread), len, birth: Birth::now() })
    }

    /// Asks the thread.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&cluster::Dropped<'_>) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.birth.check(py)?;
        let (send, answer) = sync_channel(1);
        let question: Question = Box::new(move |of| {
            // Whoever asked waits for it.
            let _ = send.send(question(of));
        });
        py.detach(move || {
            let ask = self.ask.as_ref().ok_or_else(no_answer)?;
            ask.send(question).map_err(|_| no_answer())?;
            answer.recv().map_err(|_| no_answer())?
        })
        .or_raise(py)
    }
}

/// Finds what is dropped, says how many that are, and answers questions until nobody can ask any more.
fn answer(
    of: &cluster::Clusters,
    open: &Classes,
    found: &SyncSender<Result<u64>>,
    questions: &Receiver<Question>,
) {
    let dropped = of.dropped(open);
    let told = dropped.as_ref().map(cluster::Dropped::len).map_err(Clone::clone);
    // Without it nobody asks.
    if found.send(told).is_ok()
        && let Ok(dropped) = &dropped
    {
        questions.iter().for_each(|question| question(dropped));
    }
}

#[pymethods]
impl Dropped {
    fn __len__(&self) -> PyResult<usize> {
        Ok(usize::try_from(self.len)?)
    }

    /// What becomes of a page. Costs looking it up; of one that is dropped, reading its head, too.
    ///
    /// Raises `UrlError` for what no page can have.
    #[pyo3(signature = (url: "str"))]
    fn fate<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Fated> {
        let url = arg::url(Arg::new("url"), url)?.to_owned();
        Fated::from_rust(py, self.ask(py, move |dropped| dropped.fate(&url))?)
    }

    /// The page that is kept for one that is dropped, with the distance of the two.
    ///
    /// `None` if it is not dropped. Costs what `fate` does, and reading the page that is kept.
    #[pyo3(signature = (url: "str"))]
    fn kept_for<'py>(&self, py: Python<'py>, url: &Bound<'py, PyAny>) -> PyResult<Option<KeptFor>> {
        let url = arg::url(Arg::new("url"), url)?.to_owned();
        FromRust::from_rust(py, self.ask(py, move |dropped| dropped.kept_for(&url))?)
    }

    /// Whether the page at a `location` is dropped, which `Candidates.candidacy` named.
    ///
    /// Costs no lookup.
    #[pyo3(signature = (location: "int"))]
    fn has<'py>(&self, py: Python<'py>, location: &Bound<'py, PyAny>) -> PyResult<bool> {
        let location = PageLocation::from_bits(arg::fingerprint(Arg::new("location"), location)?);
        self.ask(py, move |dropped| Ok(dropped.has(location)))
    }

    fn __repr__(&self) -> String {
        format!("<simkeep.Dropped: {} pages>", self.len)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(no_pickle("Dropped", "find it anew"))
    }
}

/// The thread ends when nobody can ask any more. It lets go of the clusters by itself.
impl Drop for Dropped {
    fn drop(&mut self) {
        if !self.birth.is_here() {
            // There is no thread that would hear of it, and what it had locked stays locked.
            std::mem::forget((self.ask.take(), self.thread.take()));
        }
    }
}
