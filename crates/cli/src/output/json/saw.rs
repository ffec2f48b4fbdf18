//! What an answer is an answer of.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Reader;

use super::Time;

/// The state of the store that an answer is of.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Saw {
    /// The number of the last operation in it.
    sequence: u64,
    /// The number of the generation, if it is what a store has published.
    generation: Option<u64>,
    /// When this was the newest state, if a writer is at work; when a generation was published.
    written: Option<Time>,
    /// How many operations were acknowledged since.
    behind: u64,
}

impl Saw {
    /// What a reader sees. Says how far it is behind by now, so it is made last.
    pub(crate) fn of(reader: &Reader) -> Saw {
        let written = reader.written().map(|at| Time(at.into()));
        Saw {
            sequence: reader.snapshot().sequence(),
            generation: reader.generation(),
            written,
            behind: reader.behind(),
        }
    }
}
