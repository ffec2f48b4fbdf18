//! Messages on standard error, as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::StoreState;

/// A line on standard error with --json: the error of a failed verb, or a note about its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StderrMessage<'a> {
    Error(ErrorMessage<'a>),
    Beside(WriterNotice<'a>),
    Note(AnswerNote<'a>),
}

/// The error of a failed verb.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorMessage<'a> {
    /// The exit code of the program; see the table in `simkeep --help`.
    pub(crate) exit_code: u8,
    /// The kind of the failure, such as "damaged", "locked" or "not-a-store".
    pub(crate) kind: &'a str,
    /// The file or directory that the error is about; null if there is none.
    pub(crate) file: Option<&'a str>,
    /// The byte offset in that file; null if unknown.
    pub(crate) offset: Option<u64>,
    /// A description of the failure, with advice on what to do about it.
    pub(crate) message: &'a str,
}

/// A note that a writer is active on the store.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WriterNotice<'a> {
    pub(crate) message: &'a str,
    /// The state of the store that the answer describes.
    pub(crate) saw: StoreState,
}

/// A note about an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AnswerNote<'a> {
    pub(crate) message: &'a str,
}
