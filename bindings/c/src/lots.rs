//! What a thread of its own finds, lot by lot, for a caller that comes for it.

use std::mem;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use simkeep::Progress;

use crate::failure::{Failure, Result};
use crate::fork::Process;

/// How many items a lot has at most.
pub(crate) const LOT: usize = 1024;

/// How many lots wait for the caller at most. Then whoever finds them waits.
const LOTS: usize = 4;

/// A search that goes on as its caller comes for what it finds.
#[derive(Debug)]
pub(crate) struct Lots<T> {
    /// Nothing once the search has ended.
    running: Option<Running<T>>,
    process: Process,
}

#[derive(Debug)]
struct Running<T> {
    lots: Receiver<Vec<T>>,
    thread: JoinHandle<simkeep::Result<()>>,
    progress: Progress,
}

/// Where what is found goes.
pub(crate) struct Sink<T>(SyncSender<Vec<T>>);

impl<T: Clone> Sink<T> {
    /// Hands out what is found; breaks if nobody comes any more.
    pub(crate) fn put(&self, found: &[T]) -> ControlFlow<()> {
        match self.0.send(found.to_vec()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl<T: Send + 'static> Lots<T> {
    /// Begins to find, in a thread of its own.
    pub(crate) fn start(
        progress: Progress,
        find: impl FnOnce(&Progress, &Sink<T>) -> simkeep::Result<()> + Send + 'static,
    ) -> Result<Lots<T>> {
        let process = Process::current()?;
        let (sender, lots) = sync_channel(LOTS);
        let told = progress.clone();
        let run = move || find(&told, &Sink(sender));
        let thread = std::thread::Builder::new().name("simkeep-pairs".to_owned()).spawn(run);
        let thread = thread.map_err(|e| Failure::io("cannot start a thread for pairs", &e))?;
        Ok(Lots { running: Some(Running { lots, thread, progress }), process })
    }

    /// Waits for the next lot, which has something; nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<T>>> {
        self.process.check()?;
        let Some(running) = &self.running else { return Ok(None) };
        if let Ok(lot) = running.lots.recv() {
            return Ok(Some(lot));
        }
        let ended = self.running.take().map(|running| running.thread.join());
        ended.unwrap_or(Ok(Ok(()))).unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(None)
    }
}

impl<T> Drop for Lots<T> {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if !self.process.is_current() {
            // There is no thread here to wait for, or to let go of.
            return mem::forget(running);
        }
        let Running { lots, thread, progress } = running;
        progress.cancel();
        drop(lots);
        // Nobody is left to hear of how it ended.
        let _ = thread.join();
    }
}
