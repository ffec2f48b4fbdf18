//! Verbs that schedule visits.

pub(crate) mod due;
mod policy;
pub(crate) mod recrawl;
pub(crate) mod simulate;
