//! Verbs that look at the store.

pub(crate) mod inspect;
pub(crate) mod report;
pub(crate) mod stats;
pub(crate) mod tail;
pub(crate) mod verify;
