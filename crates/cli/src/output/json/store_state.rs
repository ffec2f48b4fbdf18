//! The state of the store that an answer describes.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Reader;

use super::Time;

/// The state of the store that an answer describes.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct StoreState {
    /// The number of the last operation in this state.
    sequence: u64,
    /// The number of the generation, for a published store; otherwise null.
    generation: Option<u64>,
    /// The time when this was the newest state, if a writer is active; for a generation, the time
    /// when it was published; otherwise null.
    written: Option<Time>,
    /// The number of acknowledged operations that are not in this state.
    behind: u64,
}

impl StoreState {
    /// The state that a reader sees. Counts the operations behind at the time of the call, so it
    /// must be created last.
    pub(crate) fn of(reader: &Reader) -> StoreState {
        let written = reader.written().map(|at| Time(at.into()));
        StoreState {
            sequence: reader.snapshot().sequence(),
            generation: reader.generation(),
            written,
            behind: reader.behind(),
        }
    }
}
