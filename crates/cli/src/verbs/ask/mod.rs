//! Verbs that query pages.

pub(crate) mod aliases;
pub(crate) mod cluster;
pub(crate) mod dedup;
pub(crate) mod diff;
pub(crate) mod history;
pub(crate) mod mirrors;
pub(crate) mod near;
pub(crate) mod pairs;
pub(crate) mod scan;
mod without;
