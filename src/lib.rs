//! simkeep: the memory of a crawler.

mod catalog;
pub mod disk;
mod error;
pub mod fingerprint;
mod layout;
mod page;
pub mod search;
mod segment;
mod store;

pub use error::{Corruption, Error, Result};
pub use page::{
    Content, Digest, Epoch, HISTORY_WINDOW, Observation, Prefix, PrefixError, SameBy, Seen,
    TIME_MAX, TIME_MIN, URL_BYTES_MAX, UrlError, Verdict, Visit,
};
pub use store::{
    Durability, ExactCopy, Forgotten, History, Matches, Merged, Near, Options, Outcome, Page,
    Query, Scan, Scope, SegmentStats, Snapshot, Stats, Store, Verified, Version,
};
