//! The C library of simkeep: `include/simkeep.h` is what programs see of it, and is made of this source.
//!
//! No logic is here. A function converts what it is given, calls simkeep, and converts what comes back:
//! `call` catches panics and hands out errors, `abi` has everything that is unsafe, and each other file
//! is about one thing of the header.

#![expect(
    unsafe_code,
    reason = "a function that C links is one, by its name; header/header.rs checks that all else is in abi.rs"
)]

mod abi;
mod argument;
mod call;
mod chunks;
pub mod code;
pub mod failure;
mod fork;
mod structure;
mod turns;

pub mod version;

pub mod error;
pub mod progress;

pub mod options;
pub mod store;

pub mod forget;

pub mod distances;
pub mod texts;
pub mod verdict;
pub mod visit;

pub mod outcomes;

pub mod give;
pub mod observe;

pub mod explain;
pub mod matches;
pub mod query;

pub mod entry;
pub mod history;
pub mod page;
pub mod snapshot;

pub mod page_pairs;
pub mod pages;
pub mod pairs;

pub mod clustered;
pub mod clustering;
pub mod clusters;
pub mod dropped;

pub mod decisions;
pub mod due;
pub mod due_query;
pub mod hints;
pub mod plan;

pub mod reader;

pub mod epochs;
pub mod fingerprint;
pub mod load;
pub mod loading;
pub mod stats;

pub mod backup;
pub mod repair;
pub mod verify;

pub mod arrow;
pub mod table;

#[cfg(test)]
mod cost;
#[cfg(test)]
mod twin;
