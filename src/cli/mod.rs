//! The command-line tool.

pub(crate) mod escape;
pub(crate) mod input;
