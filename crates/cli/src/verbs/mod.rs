//! The verbs of the tool, in the groups of `simkeep --help`, with a file or a folder for each.

pub(crate) mod ask;
pub(crate) mod change;
pub(crate) mod fill;
pub(crate) mod fingerprints;
pub(crate) mod look;
pub(crate) mod revisit;
pub(crate) mod save;
pub(crate) mod shell;
