//! Verbs that query pages.

pub(crate) mod aliases;
pub(crate) mod cluster;
pub(crate) mod dedup;
pub(crate) mod diff;
pub(crate) mod history;
pub(crate) mod mirrors;
mod missing_fingerprints;
pub(crate) mod near;
pub(crate) mod pairs;
pub(crate) mod scan;
