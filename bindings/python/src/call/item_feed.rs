//! Passes the items of a caller's iterable to a call of the crate.
//!
//! The caller's thread runs the iterable, and another thread runs the call. So the call works
//! without the interpreter's lock, and an exception of the iterable ends the call.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use pyo3::prelude::*;
use simkeep::{Error, Progress, Result};

use crate::call::long::{PAUSE, thread_error};
use crate::convert::error::OrRaise;

/// The number of items in a chunk.
const ITEMS: usize = 1024;
/// The maximum number of waiting chunks.
const LOTS: usize = 4;

/// A message to the call.
enum FeedMessage<T> {
    Items(Vec<T>),
    /// The end of the items. Without the message [`FeedMessage::End`], a call would accept
    /// a part of the items as all items if the caller failed.
    End,
}

/// Runs a call in another thread, and passes it the items as they arrive.
pub(crate) fn feed_items<T: Send, R: Send>(
    py: Python<'_>,
    name: &str,
    items: impl Iterator<Item = PyResult<T>>,
    progress: &Progress,
    call: impl FnOnce(ItemReceiver<T>) -> Result<R> + Send,
) -> PyResult<R> {
    thread::scope(|scope| {
        let (send, lots) = sync_channel(LOTS);
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn_scoped(scope, move || call(ItemReceiver::new(lots)))
            .map_err(thread_error)
            .or_raise(py)?;
        let given = send_items(py, items, &send);
        if given.is_err() {
            progress.cancel();
        }
        // If the items ended early, the channel closes without the message
        // [`FeedMessage::End`].
        drop(send);
        let mut signal = Ok(());
        while !thread.is_finished() {
            py.detach(|| thread::park_timeout(PAUSE / 10));
            if signal.is_ok() {
                signal = py.check_signals();
                if signal.is_err() {
                    progress.cancel();
                }
            }
        }
        let answer = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        given?;
        signal?;
        answer.or_raise(py)
    })
}

/// Passes on all items and the end; stops early if the receiver is gone.
fn send_items<T: Send>(
    py: Python<'_>,
    items: impl Iterator<Item = PyResult<T>>,
    send: &SyncSender<FeedMessage<T>>,
) -> PyResult<()> {
    let mut lot = Vec::with_capacity(ITEMS);
    for item in items {
        lot.push(item?);
        if lot.len() == ITEMS
            && !send_chunk(py, send, FeedMessage::Items(std::mem::take(&mut lot)))?
        {
            return Ok(());
        }
    }
    if send_chunk(py, send, FeedMessage::Items(lot))? {
        send_chunk(py, send, FeedMessage::End)?;
    }
    Ok(())
}

/// Passes on a chunk. Returns whether the chunk was received.
fn send_chunk<T: Send>(
    py: Python<'_>,
    send: &SyncSender<FeedMessage<T>>,
    mut lot: FeedMessage<T>,
) -> PyResult<bool> {
    loop {
        lot = match send.try_send(lot) {
            Ok(()) => return Ok(true),
            Err(TrySendError::Disconnected(_)) => return Ok(false),
            Err(TrySendError::Full(lot)) => lot,
        };
        py.detach(|| thread::park_timeout(PAUSE / 50));
        py.check_signals()?;
    }
}

/// The items for the call. Yields `Cancelled` if their source was stopped.
pub(crate) struct ItemReceiver<T> {
    lots: Receiver<FeedMessage<T>>,
    items: std::vec::IntoIter<T>,
    ended: bool,
}

impl<T> ItemReceiver<T> {
    fn new(lots: Receiver<FeedMessage<T>>) -> ItemReceiver<T> {
        ItemReceiver { lots, items: Vec::new().into_iter(), ended: false }
    }
}

impl<T> Iterator for ItemReceiver<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(item) = self.items.next() {
                return Some(Ok(item));
            }
            if self.ended {
                return None;
            }
            match self.lots.recv() {
                Ok(FeedMessage::Items(items)) => self.items = items.into_iter(),
                Ok(FeedMessage::End) => self.ended = true,
                Err(_) => {
                    self.ended = true;
                    return Some(Err(Error::Cancelled));
                }
            }
        }
    }
}
