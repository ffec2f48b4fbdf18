//! Results in chunks on request: columns of items, and a thread that finds the items.

use std::mem;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use simkeep::Progress;

use crate::failure::{Failure, Result};
use crate::fork::ForkGuard;

/// Declares columns of items for a program, the last mandatory field, and the memory of the
/// columns. Each column has a type, and an expression for the value of an item.
macro_rules! chunk {
    (
        $(#[$about:meta])*
        pub struct $Chunk:ident, up to $last:ident, of $item:ident: $Item:ty {
            $($(#[$doc:meta])* $column:ident: $Type:ty = $value:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct $Chunk {
            /// The number of items.
            pub count: usize,
            $($(#[$doc])* pub $column: *const $Type,)*
        }

        $crate::abi::plain!($Chunk, up to $last);

        /// The items that C currently has.
        #[derive(Debug, Default)]
        struct Columns {
            $($column: <$Type as $crate::columns::Element>::Column,)*
        }

        impl Columns {
            fn fill(&mut self, items: &[$Item]) -> $Chunk {
                *self = Columns { $($column: items.iter().map(|$item| $value).collect(),)* };
                $Chunk {
                    count: items.len(),
                    $($column: $crate::columns::Element::pointer(&self.$column),)*
                }
            }
        }
    };
}

pub(crate) use chunk;

/// The maximum number of items in a chunk.
pub(crate) const CHUNK_LEN: usize = 1024;

/// The maximum number of chunks that wait for the caller. At the limit, the search also waits.
const CHUNKS_MAX: usize = 4;

/// A search that continues as its caller requests results.
#[derive(Debug)]
pub(crate) struct ChunkedSearch<T> {
    /// `None` once the search has ended.
    running: Option<SearchThread<T>>,
    process: ForkGuard,
}

#[derive(Debug)]
struct SearchThread<T> {
    chunks: Receiver<Vec<T>>,
    thread: JoinHandle<simkeep::Result<()>>,
    progress: Progress,
}

/// The destination of results.
pub(crate) struct ChunkSink<T>(SyncSender<Vec<T>>);

impl<T: Clone> ChunkSink<T> {
    /// Passes on results; returns `Break` if the caller has stopped the search.
    pub(crate) fn put(&self, found: &[T]) -> ControlFlow<()> {
        match self.0.send(found.to_vec()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl<T: Send + 'static> ChunkedSearch<T> {
    /// Starts a search in a separate thread.
    pub(crate) fn start(
        progress: Progress,
        find: impl FnOnce(&Progress, &ChunkSink<T>) -> simkeep::Result<()> + Send + 'static,
    ) -> Result<ChunkedSearch<T>> {
        let process = ForkGuard::current()?;
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        let of_thread = progress.clone();
        let run = move || find(&of_thread, &ChunkSink(sender));
        let thread = std::thread::Builder::new().name("simkeep-pairs".to_owned()).spawn(run);
        let thread = thread.map_err(|e| Failure::io("cannot start a thread for pairs", &e))?;
        Ok(ChunkedSearch { running: Some(SearchThread { chunks, thread, progress }), process })
    }

    /// Waits for the next chunk, which is not empty; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<T>>> {
        self.process.check()?;
        let Some(running) = &self.running else { return Ok(None) };
        if let Ok(chunk) = running.chunks.recv() {
            return Ok(Some(chunk));
        }
        let ended = self.running.take().map(|running| running.thread.join());
        ended.unwrap_or(Ok(Ok(()))).unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(None)
    }
}

impl<T> Drop for ChunkedSearch<T> {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        if !self.process.is_current() {
            // In a child process the thread does not exist, so it cannot be joined.
            return mem::forget(running);
        }
        let SearchThread { chunks, thread, progress } = running;
        progress.cancel();
        drop(chunks);
        // The result of the thread is not needed any more.
        let _ = thread.join();
    }
}
