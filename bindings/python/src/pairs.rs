//! Joins, read as they find pairs.
//!
//! A join calls back from several threads. Here it runs in a thread of its own, and hands on what
//! it finds through a channel of few places: it waits for whoever reads, and ends when nobody does
//! any more.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use simkeep::{Error, PairQuery, Progress, Query, Result, Snapshot};

use crate::fork::Birth;
use crate::long::{PAUSE, thread_error};
use crate::stream::{Item, Source, Step};

/// How many chunks of pairs, of up to 1,024 each, may wait to be read.
const CHUNKS: usize = 8;

/// A join that runs.
pub(crate) struct Join {
    found: Option<Receiver<Result<Vec<Item>>>>,
    progress: Progress,
    thread: Option<JoinHandle<()>>,
    birth: Birth,
}

impl Join {
    /// Begins a join in a thread of its own.
    fn begin(
        progress: Progress,
        join: impl FnOnce(&Progress, &SyncSender<Result<Vec<Item>>>) -> Result<()> + Send + 'static,
    ) -> Result<Join> {
        let (send, found) = sync_channel(CHUNKS);
        let of_thread = progress.clone();
        let thread = thread::Builder::new().name("simkeep-pairs".to_owned()).spawn(move || {
            if let Err(e) = join(&of_thread, &send) {
                // If nobody reads any more, nobody wants to know.
                let _ = send.send(Err(e));
            }
        });
        let thread = Some(thread.map_err(thread_error)?);
        Ok(Join { found: Some(found), progress, thread, birth: Birth::now() })
    }

    /// All pairs of fingerprints.
    pub(crate) fn of_fingerprints(
        snapshot: Snapshot,
        like: Query,
        progress: Progress,
    ) -> Result<Join> {
        Join::begin(progress, move |progress, send| {
            snapshot.all_pairs(&like, progress, |pairs| {
                hand_on(send, pairs.iter().copied().map(Item::Pair).collect())
            })
        })
    }

    /// All pairs of pages.
    pub(crate) fn of_pages(
        snapshot: Snapshot,
        asked: PairQuery,
        progress: Progress,
    ) -> Result<Join> {
        Join::begin(progress, move |progress, send| {
            snapshot.page_pairs(&asked, progress, |pairs| {
                hand_on(send, pairs.iter().cloned().map(Item::PagePair).collect())
            })
        })
    }
}

/// Hands pairs on, unless nobody reads any more.
fn hand_on(send: &SyncSender<Result<Vec<Item>>>, pairs: Vec<Item>) -> ControlFlow<()> {
    match send.send(Ok(pairs)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

impl Source for Join {
    fn next(&mut self, _most: usize) -> Result<Step> {
        let Some(found) = &self.found else { return Ok(Step::End) };
        match found.recv_timeout(PAUSE) {
            Ok(found) => found.map(Step::Some),
            Err(RecvTimeoutError::Timeout) => Ok(Step::Waiting),
            Err(RecvTimeoutError::Disconnected) => {
                self.found = None;
                match self.thread.take().map(JoinHandle::join) {
                    Some(Err(_)) => Err(Error::Misuse("the join panicked".to_owned())),
                    _ => Ok(Step::End),
                }
            }
        }
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        if !self.birth.is_here() {
            // There is no thread to wait for, and what it had locked stays locked.
            std::mem::forget((self.found.take(), self.thread.take()));
            return;
        }
        self.progress.cancel();
        self.found = None;
        if let Some(thread) = self.thread.take() {
            // A panic was told by whoever read to the end.
            let _ = thread.join();
        }
    }
}
