//! Damage of every kind, everywhere: an error that names the file, or no change at all; and `verify`
//! finds whatever a checksum covers.
//!
//! `SIMKEEP_FLIPS` says how many bits are flipped, 60,000 if it does not; one in ten in builds without
//! optimisation. From some 900,000 on that is every bit of every byte.
#![cfg(test)]
#![cfg(not(feature = "narrow-hash"))]

mod check;
mod cuts;
mod flips;
mod saved;
mod sectors;
mod stores;
#[path = "../support/mod.rs"]
mod support;
