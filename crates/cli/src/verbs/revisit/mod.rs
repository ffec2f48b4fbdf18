//! Verbs about when to visit again.

pub(crate) mod due;
mod policy;
pub(crate) mod recrawl;
pub(crate) mod simulate;
