//! Verbs that save a store, or the sound parts of a damaged one.

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod publish;
pub(crate) mod repair;
