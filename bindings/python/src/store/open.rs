//! The lifetime of a store that is open for writing.

use std::path::{Path, PathBuf};
use std::thread::{self, ThreadId};

use parking_lot::Mutex;
use pyo3::exceptions::PyResourceWarning;
use pyo3::prelude::*;
use pyo3::types::PyString;
use simkeep::{Error, Store};

use crate::call::fork::ForkCheck;
use crate::convert::error::{OrRaise, raise};
use crate::observe::fingerprinters::FingerprinterCache;

/// An open store.
///
/// The handle of the store is cloned under a lock, by a thread that is attached to the interpreter.
/// See `fork.rs`.
pub(crate) struct OpenHandle {
    handle: Mutex<Option<Store>>,
    /// Threads whose iterables feed a load.
    feeding_threads: Mutex<Vec<ThreadId>>,
    pub(crate) birth: ForkCheck,
    pub(crate) path: PathBuf,
    /// The makers of the fingerprints of texts.
    pub(crate) makers: FingerprinterCache,
}

impl OpenHandle {
    pub(crate) fn new(store: Store, path: PathBuf) -> OpenHandle {
        let handle = Mutex::new(Some(store));
        let giving = Mutex::default();
        OpenHandle {
            handle,
            feeding_threads: giving,
            birth: ForkCheck::now(),
            path,
            makers: FingerprinterCache::default(),
        }
    }

    /// Returns a handle of the store.
    ///
    /// # Errors
    ///
    /// Raises `ForkedError` in a forked process, and `ClosedError` once the store was closed.
    pub(crate) fn store(&self, py: Python<'_>) -> PyResult<Store> {
        self.birth.check(py)?;
        // The lock is released before an exception is created, since creating an exception may run
        // another thread.
        let handle = self.handle.lock().clone();
        handle.ok_or_else(|| raise(py, Error::Closed))
    }

    /// Checks that this thread does not feed a load, since a thread that feeds a load would wait
    /// for itself.
    ///
    /// # Errors
    ///
    /// Raises `InvalidArgumentError` in a thread whose iterable feeds a load.
    pub(crate) fn check_not_feeding(&self, py: Python<'_>) -> PyResult<()> {
        let is_giving = self.feeding_threads.lock().contains(&thread::current().id());
        let what = "the iterable of a load cannot load into the same store, or close it";
        if is_giving { Err(raise(py, Error::InvalidArgument(what.to_owned()))) } else { Ok(()) }
    }

    /// Records that the iterable of this thread feeds a load, until the result is dropped.
    pub(crate) fn begin_feeding(&self, py: Python<'_>) -> PyResult<FeedGuard<'_>> {
        self.check_not_feeding(py)?;
        self.feeding_threads.lock().push(thread::current().id());
        Ok(FeedGuard(self))
    }

    /// Whether the store was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.handle.lock().is_none()
    }

    /// Closes the store, unless it is already closed.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.birth.check(py)?;
        self.check_not_feeding(py)?;
        let taken = self.handle.lock().take();
        match taken {
            Some(store) => py.detach(|| store.close()).or_raise(py),
            None => Ok(()),
        }
    }

    /// Closes the store at the end of a `with` statement. An exception that ended the statement
    /// takes precedence over errors of closing.
    pub(crate) fn leave(&self, py: Python<'_>, raised: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match (self.close(py), raised) {
            (Err(e), Some(raised)) => {
                let note = format!("closing the store failed, too: {e}");
                raised.call_method1("add_note", (note,)).map(drop)
            }
            (closed, _) => closed,
        }
    }
}

/// A load that the current thread feeds.
pub(crate) struct FeedGuard<'o>(&'o OpenHandle);

impl Drop for FeedGuard<'_> {
    fn drop(&mut self) {
        self.0.feeding_threads.lock().retain(|thread| *thread != thread::current().id());
    }
}

/// Returns the path for display.
pub(crate) fn shown<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyString>> {
    path.display().to_string().into_pyobject(py).map_err(PyErr::from)?.repr()
}

/// A store left to the garbage collector causes a warning, and is closed.
impl Drop for OpenHandle {
    fn drop(&mut self) {
        let Some(store) = self.handle.get_mut().take() else { return };
        if !self.birth.is_current_process() {
            // In a child process the crate drops the store silently.
            return;
        }
        let path = self.path.display().to_string();
        let closed = Python::try_attach(move |py| {
            // An exception that is being raised is preserved.
            let raised = PyErr::take(py);
            let message = format!("unclosed store {path}");
            let warned = std::ffi::CString::new(message).map_err(PyErr::from).and_then(|message| {
                PyErr::warn(py, &py.get_type::<PyResourceWarning>(), &message, 1)
            });
            if let Err(e) = warned {
                e.write_unraisable(py, None);
            }
            py.detach(|| drop(store));
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
        // Without an interpreter, the store was dropped together with the closure.
        let _ = closed;
    }
}
