//! Damage.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Corruption;

/// Where something is damaged.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Flaw<'a> {
    /// The file, by its name in the store.
    file: &'a str,
    /// From which byte on, about.
    offset: u64,
    /// What is wrong there.
    why: &'a str,
}

impl<'a> From<&'a Corruption> for Flaw<'a> {
    fn from(flaw: &'a Corruption) -> Flaw<'a> {
        Flaw { file: &flaw.file, offset: flaw.offset, why: &flaw.what }
    }
}
