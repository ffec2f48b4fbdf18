//! What backups and generations have in common: the files of one state of a store, and getting them into
//! another directory.
//!
//! A commit of the catalog says which files there are, and those are opened ([`source`]). They are
//! linked or copied ([`placed`]), if what the directory holds is an earlier state of the store
//! ([`earlier`]).

mod count;
mod earlier;
mod placed;
mod source;

pub use count::FileCount;
pub(crate) use earlier::State;
pub(crate) use placed::{Counts, Placed, check_whole};
pub(crate) use source::{Source, newest};
