//! Damage in a store, for JSON.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Corruption;

/// A damaged place in a store.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileFlaw<'a> {
    /// The name of the damaged file within the store.
    file: &'a str,
    /// The approximate byte offset at which the damage begins.
    offset: u64,
    /// A description of the damage.
    why: &'a str,
}

impl<'a> From<&'a Corruption> for FileFlaw<'a> {
    fn from(flaw: &'a Corruption) -> FileFlaw<'a> {
        FileFlaw { file: &flaw.file, offset: flaw.offset, why: &flaw.what }
    }
}
