//! Items that a separate thread finds, read as it finds them.
//!
//! A join calls back from several threads, and lists of clusters borrow them. Here such work runs
//! in its own thread, which owns the data it needs, and sends results through a short channel: it
//! waits for the reader, and ends when the reader is gone.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use simkeep::{Error, Progress, Result};

use crate::call::fork::Birth;
use crate::call::long::{PAUSE, thread_error};
use crate::streams::source::{Source, Step};

/// The most chunks of items that may wait.
const LOTS: usize = 8;
/// The most items of a chunk.
const LOT_MAX: usize = 1024;
/// How long a closing reader waits for the thread to end, so that its resources are usually
/// released by then. A thread that does not check for longer, such as during a sort, ends by
/// itself.
const LEAVE: Duration = Duration::from_millis(100);

/// Work in a thread.
pub(crate) struct Threaded<T> {
    found: Option<Receiver<Result<Vec<T>>>>,
    /// Its other side is dropped when the work is over.
    over: Option<Receiver<()>>,
    progress: Progress,
    thread: Option<JoinHandle<()>>,
    birth: Birth,
}

/// The output of the thread. Other threads that it starts may use it, too.
pub(crate) struct Out<T>(SyncSender<Result<Vec<T>>>);

impl<T> Out<T> {
    /// Sends items, unless the reader is gone.
    pub(crate) fn give(&self, items: Vec<T>) -> ControlFlow<()> {
        match self.0.send(Ok(items)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Sends all of these: initially one by one, so that the first is not delayed by others.
    pub(crate) fn all(&self, items: impl Iterator<Item = Result<T>>) -> Result<()> {
        let (mut lot, mut most) = (Vec::new(), 1);
        for item in items {
            match item {
                Ok(item) => lot.push(item),
                Err(e) => {
                    // Items before an error are read before the error is raised.
                    let _: ControlFlow<()> = self.give(lot);
                    return Err(e);
                }
            }
            if lot.len() >= most {
                if self.give(std::mem::take(&mut lot)).is_break() {
                    return Ok(());
                }
                most = (most * 2).min(LOT_MAX);
            }
        }
        if !lot.is_empty() {
            let _: ControlFlow<()> = self.give(lot);
        }
        Ok(())
    }
}

impl<T: Send + 'static> Threaded<T> {
    /// Begins work in a thread with this name; a closing reader cancels it through the progress.
    pub(crate) fn begin(
        name: &str,
        progress: Progress,
        work: impl FnOnce(&Progress, &Out<T>) -> Result<()> + Send + 'static,
    ) -> Result<Threaded<T>> {
        let (send, found) = sync_channel(LOTS);
        let (ends, over) = sync_channel(0);
        let of_thread = progress.clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            // It goes last, even if the work panics.
            let _ends: SyncSender<()> = ends;
            let out = Out(send);
            if let Err(e) = work(&of_thread, &out) {
                // If nobody reads any more, nobody wants to know.
                let _ = out.0.send(Err(e));
            }
        });
        let thread = Some(thread.map_err(thread_error)?);
        Ok(Threaded { found: Some(found), over: Some(over), progress, thread, birth: Birth::now() })
    }

    /// Begins to iterate over items that need no progress to be cancelled.
    pub(crate) fn through(
        name: &str,
        work: impl FnOnce(&Out<T>) -> Result<()> + Send + 'static,
    ) -> Result<Threaded<T>> {
        Threaded::begin(name, Progress::default(), move |_, out| work(out))
    }
}

impl<T: Send> Source<T> for Threaded<T> {
    fn next(&mut self, _most: usize) -> Result<Step<Vec<T>>> {
        let Some(found) = &self.found else { return Ok(Step::End) };
        match found.recv_timeout(PAUSE) {
            Ok(found) => found.map(Step::Some),
            Err(RecvTimeoutError::Timeout) => Ok(Step::Waiting),
            Err(RecvTimeoutError::Disconnected) => {
                self.found = None;
                match self.thread.take().map(JoinHandle::join) {
                    Some(Err(_)) => {
                        Err(Error::InvalidArgument("the thread of a stream panicked".to_owned()))
                    }
                    _ => Ok(Step::End),
                }
            }
        }
    }
}

impl<T> Drop for Threaded<T> {
    fn drop(&mut self) {
        if !self.birth.is_here() {
            // In a child process the thread does not exist, and its locks stay locked.
            std::mem::forget((self.found.take(), self.over.take(), self.thread.take()));
            return;
        }
        // It has ended already if it was read to the end.
        let (Some(thread), Some(over)) = (self.thread.take(), self.over.take()) else { return };
        self.progress.cancel();
        self.found = None;
        if over.recv_timeout(LEAVE) != Err(RecvTimeoutError::Timeout) {
            // A panic is not reported to a reader that has left.
            let _ = thread.join();
        }
    }
}
