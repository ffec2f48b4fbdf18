//! Verbs that change a store.

pub(crate) mod compact;
pub(crate) mod epoch;
pub(crate) mod forget;
