//! Damage of every kind, everywhere: an error that names the file, or no change at all; and `verify`
//! finds whatever a checksum covers.
//!
//! `SIMKEEP_FLIPS` says how many bits are flipped, 60,000 if it does not; one in ten in builds without
//! optimisation. From a million on that is every bit of a segment that means something, and every bit of
//! a catalog.

mod beside;
mod check;
mod cuts;
mod flips;
mod foreign;
mod header;
mod saved;
mod sectors;
mod stores;
mod unreadable;
