//! Verbs for programs and shells.

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod schema;
