//! Items that a thread of their own finds, read as it finds them.
//!
//! A join calls back from several threads, and what clusters list borrows them. Here such work runs in a
//! thread of its own, which keeps what it needs, and hands on what it finds through a channel of few
//! places: it waits for whoever reads, and ends when nobody does any more.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use simkeep::{Error, Progress, Result};

use crate::call::fork::Birth;
use crate::call::long::{PAUSE, thread_error};
use crate::streams::source::{Source, Step};

/// How many lots of items may wait to be read.
const LOTS: usize = 8;
/// The most items of a lot.
const LOT_MAX: usize = 1024;
/// How long whoever reads no further waits for the thread to end, so that as a rule what it holds is let
/// go of by then. One that looks at nothing for longer, such as while it sorts, ends by itself.
const LEAVE: Duration = Duration::from_millis(100);

/// Work that goes on in a thread.
pub(crate) struct Threaded<T> {
    found: Option<Receiver<Result<Vec<T>>>>,
    /// Its other side goes when the work is over.
    over: Option<Receiver<()>>,
    progress: Progress,
    thread: Option<JoinHandle<()>>,
    birth: Birth,
}

/// Where the thread hands on what it finds. Other threads that it starts may do so, too.
pub(crate) struct Out<T>(SyncSender<Result<Vec<T>>>);

impl<T> Out<T> {
    /// Hands items on, unless nobody reads any more.
    pub(crate) fn give(&self, items: Vec<T>) -> ControlFlow<()> {
        match self.0.send(Ok(items)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Hands on all of these: at first one by one, so that the first does not wait for others.
    pub(crate) fn all(&self, items: impl Iterator<Item = Result<T>>) -> Result<()> {
        let (mut lot, mut most) = (Vec::new(), 1);
        for item in items {
            match item {
                Ok(item) => lot.push(item),
                Err(e) => {
                    // What came before the error is read before it is heard of.
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
    /// Begins work in a thread with this name, which whoever reads no further stops by the progress.
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

    /// Begins to go through items that need no progress to be stopped.
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
            // There is no thread to wait for, and what it had locked stays locked.
            std::mem::forget((self.found.take(), self.over.take(), self.thread.take()));
            return;
        }
        // It has ended already if it was read to the end.
        let (Some(thread), Some(over)) = (self.thread.take(), self.over.take()) else { return };
        self.progress.cancel();
        self.found = None;
        if over.recv_timeout(LEAVE) != Err(RecvTimeoutError::Timeout) {
            // Whoever reads no further does not hear of a panic.
            let _ = thread.join();
        }
    }
}
