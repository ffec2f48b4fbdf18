//! What the command-line tool reads with, from its own sources: it is no part of the library.

#[path = "../../src/cli/escape.rs"]
pub(crate) mod escape;
#[path = "../../src/cli/input/mod.rs"]
pub(crate) mod input;
