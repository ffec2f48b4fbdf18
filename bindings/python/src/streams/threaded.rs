//! Runs work in a separate thread, and reads its results as they are found.
//!
//! A join calls back from several threads, and lists of clusters borrow the clusters. In this
//! module, such work runs in its own thread, which owns the required data and sends results through
//! a short channel. The thread waits for the reader, and ends when the reader is dropped.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use simkeep::{Error, Progress, Result};

use crate::call::fork::ForkCheck;
use crate::call::long::{PAUSE, thread_error};
use crate::streams::source::{StreamSource, StreamStep};

/// The maximum number of waiting chunks.
const LOTS: usize = 8;
/// The maximum number of items of a chunk.
const LOT_MAX: usize = 1024;
/// The time that a closing reader waits for the thread to end, so that the resources of the thread
/// are usually released afterwards. A thread that does not check for a longer time, for example
/// during a sort, ends later by itself.
const LEAVE: Duration = Duration::from_millis(100);

/// Work in a thread.
pub(crate) struct ThreadedItems<T> {
    found: Option<Receiver<Result<Vec<T>>>>,
    /// The sender of this channel is dropped when the work is over.
    over: Option<Receiver<()>>,
    progress: Progress,
    thread: Option<JoinHandle<()>>,
    birth: ForkCheck,
}

/// The output of the thread. Further threads that the thread starts may also use the output.
pub(crate) struct ThreadOutput<T>(SyncSender<Result<Vec<T>>>);

impl<T> ThreadOutput<T> {
    /// Sends items, unless the reader was dropped.
    pub(crate) fn send(&self, items: Vec<T>) -> ControlFlow<()> {
        match self.0.send(Ok(items)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Sends all items: initially one by one, so that the first item is not delayed by later items.
    pub(crate) fn all(&self, items: impl Iterator<Item = Result<T>>) -> Result<()> {
        let (mut lot, mut most) = (Vec::new(), 1);
        for item in items {
            match item {
                Ok(item) => lot.push(item),
                Err(e) => {
                    // Items before an error are read before the error is raised.
                    let _: ControlFlow<()> = self.send(lot);
                    return Err(e);
                }
            }
            if lot.len() >= most {
                if self.send(std::mem::take(&mut lot)).is_break() {
                    return Ok(());
                }
                most = (most * 2).min(LOT_MAX);
            }
        }
        if !lot.is_empty() {
            let _: ControlFlow<()> = self.send(lot);
        }
        Ok(())
    }
}

impl<T: Send + 'static> ThreadedItems<T> {
    /// Begins work in a thread with this name; a closing reader cancels it through the progress.
    pub(crate) fn begin(
        name: &str,
        progress: Progress,
        work: impl FnOnce(&Progress, &ThreadOutput<T>) -> Result<()> + Send + 'static,
    ) -> Result<ThreadedItems<T>> {
        let (send, found) = sync_channel(LOTS);
        let (ends, over) = sync_channel(0);
        let of_thread = progress.clone();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            // This sender is dropped last, even if the work panics.
            let _ends: SyncSender<()> = ends;
            let out = ThreadOutput(send);
            if let Err(e) = work(&of_thread, &out) {
                // If the reader was dropped, the error is not needed.
                let _ = out.0.send(Err(e));
            }
        });
        let thread = Some(thread.map_err(thread_error)?);
        Ok(ThreadedItems {
            found: Some(found),
            over: Some(over),
            progress,
            thread,
            birth: ForkCheck::now(),
        })
    }

    /// Begins to iterate over items that need no progress to be cancelled.
    pub(crate) fn through(
        name: &str,
        work: impl FnOnce(&ThreadOutput<T>) -> Result<()> + Send + 'static,
    ) -> Result<ThreadedItems<T>> {
        ThreadedItems::begin(name, Progress::default(), move |_, out| work(out))
    }
}

impl<T: Send> StreamSource<T> for ThreadedItems<T> {
    fn next(&mut self, _most: usize) -> Result<StreamStep<Vec<T>>> {
        let Some(found) = &self.found else { return Ok(StreamStep::End) };
        match found.recv_timeout(PAUSE) {
            Ok(found) => found.map(StreamStep::Some),
            Err(RecvTimeoutError::Timeout) => Ok(StreamStep::Waiting),
            Err(RecvTimeoutError::Disconnected) => {
                self.found = None;
                match self.thread.take().map(JoinHandle::join) {
                    Some(Err(_)) => {
                        Err(Error::InvalidArgument("the thread of a stream panicked".to_owned()))
                    }
                    _ => Ok(StreamStep::End),
                }
            }
        }
    }
}

impl<T> Drop for ThreadedItems<T> {
    fn drop(&mut self) {
        if !self.birth.is_current_process() {
            // In a child process the thread does not exist, and locks that it held stay locked.
            std::mem::forget((self.found.take(), self.over.take(), self.thread.take()));
            return;
        }
        // If the results were read to the end, the thread has already ended.
        let (Some(thread), Some(over)) = (self.thread.take(), self.over.take()) else { return };
        self.progress.cancel();
        self.found = None;
        if over.recv_timeout(LEAVE) != Err(RecvTimeoutError::Timeout) {
            // A panic is not reported, because the reader is being dropped.
            let _ = thread.join();
        }
    }
}
