//! The input of the tool: crawls, documents, and options that many verbs share.

pub(crate) mod clock;
pub(crate) mod complaints;
pub(crate) mod epochs;
pub(crate) mod feed;
pub(crate) mod fingerprint;
pub(crate) mod keys;
pub(crate) mod limit;
pub(crate) mod origin;
pub(crate) mod pipeline;
pub(crate) mod reading;
pub(crate) mod recipe;
pub(crate) mod spelling;
pub(crate) mod texts;
pub(crate) mod threads;
