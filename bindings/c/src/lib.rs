//! The C library of simkeep. `include/simkeep.h` is generated from this source, and is its public
//! interface.
//!
//! This library contains only conversions. A function converts its arguments, calls simkeep, and
//! converts the result: `call` catches panics and returns errors, `abi` has all `unsafe` code, and
//! each file in the other folders covers one subject of the header.

#![expect(
    unsafe_code,
    reason = "a function that C links is one, by its name; header/header.rs checks that all else is in abi.rs"
)]

mod abi;
mod argument;
mod call;
mod chunks;
pub mod code;
mod columns;
pub mod distances;
pub mod error;
pub mod failure;
mod fork;
pub mod progress;
mod structure;
pub mod texts;
pub mod version;

/// Stores, readers, and snapshots.
pub mod open {
    pub(crate) mod load_slot;
    pub mod options;
    pub mod reader;
    pub mod snapshot;
    pub mod store;
}

/// Observations of a crawler, and the verdict of each visit.
pub mod write {
    pub mod fingerprint;
    pub mod load;
    pub mod loading;
    pub mod observe;
    pub mod outcomes;
    pub mod properties;
    pub mod table;
    pub mod verdict;
    pub mod visit;
}

/// Queries on snapshots: searches, histories and pages.
pub mod read {
    pub mod arrow;
    pub mod copies;
    pub mod entry;
    pub mod explain;
    pub mod history;
    pub mod matches;
    pub mod page;
    pub mod page_pairs;
    pub mod pages;
    pub mod pairs;
    pub mod query;
}

/// Clusters of near pages, and the pages to drop.
pub mod cluster {
    pub mod clustered;
    pub mod clustering;
    pub mod clusters;
    pub mod dropped;
}

/// The pages to visit next.
pub mod schedule {
    pub mod decisions;
    pub mod due;
    pub mod due_query;
    pub mod hints;
    pub mod plan;
}

/// Maintenance of a whole store: epochs, forgetting, sizes, checks, backups and repairs.
pub mod maintain {
    pub mod backup;
    pub mod epochs;
    pub mod forget;
    pub mod repair;
    pub mod stats;
    pub mod verify;
}

#[cfg(test)]
mod cost;
#[cfg(test)]
mod twin;
