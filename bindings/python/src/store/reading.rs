//! A store that is open for reading, and can be refreshed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;
use simkeep::{Error, Location, Reader, Snapshot};

use crate::call::fork::ForkCheck;
use crate::convert::error::{OrRaise, raise};

/// The interval between checks whether another thread has finished a refresh.
const PAUSE: Duration = Duration::from_millis(1);

/// An open reader.
///
/// Only threads that are attached to the interpreter hold the lock of the reader: see `fork.rs`. So
/// a refreshing thread takes the reader out, and other threads use the earlier snapshot.
pub(crate) struct OpenReader {
    inner: Mutex<ReaderInner>,
    pub(crate) path: PathBuf,
    pub(crate) plain: bool,
    pub(crate) of: ReaderKind,
}

/// The kind of an open reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderKind {
    Store,
    /// The published generation with this number; without a number, the newest generation.
    Published(Option<u64>),
}

struct ReaderInner {
    /// The last snapshot; `None` once the reader was closed.
    now: Option<Snapshot>,
    /// The reader; `None` while a thread refreshes it.
    reader: Option<Reader>,
    /// The process of the thread that took the reader.
    birth: ForkCheck,
}

/// The result of taking a reader.
enum ReaderCheckout {
    Reader(Reader),
    Closed,
    /// Another thread has the reader.
    Busy,
    /// A thread of another process had the reader.
    Lost,
}

impl OpenReader {
    pub(crate) fn open(
        py: Python<'_>,
        path: &Path,
        plain: bool,
        of: ReaderKind,
    ) -> PyResult<OpenReader> {
        // The path is made absolute, so that a process with another working directory finds the
        // store.
        let path = std::path::absolute(path)?;
        let reader = py.detach(|| open(&path, plain, of)).or_raise(py)?;
        let now = Some(reader.snapshot());
        let inner = ReaderInner { now, reader: Some(reader), birth: ForkCheck::now() };
        Ok(OpenReader { inner: Mutex::new(inner), path, plain, of })
    }

    /// Returns the current snapshot.
    pub(crate) fn snapshot(&self, py: Python<'_>) -> PyResult<Snapshot> {
        // The lock is released before an exception is created, since creating an exception may run
        // another thread.
        let now = self.inner.lock().now.clone();
        now.ok_or_else(|| raise(py, Error::Closed))
    }

    /// Takes the reader; `put` returns it.
    fn take(&self, py: Python<'_>) -> PyResult<Reader> {
        loop {
            match self.try_take() {
                ReaderCheckout::Reader(reader) => return Ok(reader),
                ReaderCheckout::Closed => return Err(raise(py, Error::Closed)),
                ReaderCheckout::Lost => break,
                ReaderCheckout::Busy => {}
            }
            py.detach(|| std::thread::sleep(PAUSE));
            py.check_signals()?;
        }
        let opened = py.detach(|| open(&self.path, self.plain, self.of));
        // If opening fails, another thread of this process may be waiting for the reader.
        opened.or_raise(py).inspect_err(|_| self.inner.lock().birth = ForkCheck::never())
    }

    fn try_take(&self) -> ReaderCheckout {
        let mut inner = self.inner.lock();
        if inner.now.is_none() {
            return ReaderCheckout::Closed;
        }
        let was_here = inner.birth.is_current_process();
        inner.birth = ForkCheck::now();
        match inner.reader.take() {
            Some(reader) => ReaderCheckout::Reader(reader),
            None if was_here => ReaderCheckout::Busy,
            None => ReaderCheckout::Lost,
        }
    }

    fn put(&self, reader: Reader) -> Option<Reader> {
        let mut inner = self.inner.lock();
        if inner.now.is_none() {
            // The reader was closed meanwhile.
            return Some(reader);
        }
        inner.now = Some(reader.snapshot());
        inner.reader = Some(reader);
        None
    }

    /// Runs a call on the reader.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Reader) -> simkeep::Result<T> + Send,
    ) -> PyResult<T> {
        let mut reader = self.take(py)?;
        let (answer, reader) = py.detach(|| {
            let answer = call(&mut reader);
            (answer, reader)
        });
        let left = self.put(reader);
        py.detach(|| drop(left));
        answer.or_raise(py)
    }

    /// Closes the reader, unless it is already closed.
    pub(crate) fn close(&self, py: Python<'_>) {
        let taken = {
            let mut inner = self.inner.lock();
            (inner.now.take(), inner.reader.take())
        };
        py.detach(|| drop(taken));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inner.lock().now.is_none()
    }
}

fn open(path: &Path, plain: bool, of: ReaderKind) -> simkeep::Result<Reader> {
    let location = Location::from(path);
    let location = if plain { location.plain_reads() } else { location };
    match of {
        ReaderKind::Store => Reader::open(location),
        ReaderKind::Published(generation) => Reader::published(location, generation),
    }
}
