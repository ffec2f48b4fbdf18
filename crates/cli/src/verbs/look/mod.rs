//! Verbs that show a store's state.

pub(crate) mod inspect;
pub(crate) mod report;
pub(crate) mod stats;
pub(crate) mod tail;
pub(crate) mod verify;
