//! Verbs that fill a store.

pub(crate) mod ingest;
pub(crate) mod load;
