//! What is said on standard error.

use schemars::JsonSchema;
use serde::Serialize;

use super::Saw;

/// A line on standard error with --json: why the verb failed, or a note on its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Message<'a> {
    Error(Error<'a>),
    Beside(Beside<'a>),
    Note(Note<'a>),
}

/// Why a verb failed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Error<'a> {
    /// What the program ends with: see the table in `simkeep --help`.
    pub(crate) exit_code: u8,
    /// What kind of failure it is, such as "damaged", "locked" or "not-a-store".
    pub(crate) kind: &'a str,
    /// The file that it is about.
    pub(crate) file: Option<&'a str>,
    /// Where in that file, in bytes.
    pub(crate) offset: Option<u64>,
    /// What happened, and what to do.
    pub(crate) message: &'a str,
}

/// That a writer is at work on the store.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Beside<'a> {
    pub(crate) message: &'a str,
    /// The state of the store that the answer is of.
    pub(crate) saw: Saw,
}

/// A note on an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Note<'a> {
    pub(crate) message: &'a str,
}
