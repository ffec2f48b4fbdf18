//! Verbs that make fingerprints.

pub(crate) mod df;
pub(crate) mod evaluate;
pub(crate) mod fingerprint;
