//! Verbs that save a store, or what is left of it.

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod publish;
pub(crate) mod repair;
