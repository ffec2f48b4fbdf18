//! Damage of every kind, everywhere: an error that names the file, or no change at all; and `verify`
//! finds whatever a checksum covers.
//!
//! At depth 1, 60,000 bits are flipped. From a million on that is every bit of a segment that means
//! something, and every bit of a catalog.

mod beside;
mod check;
mod cuts;
mod flips;
mod foreign;
mod header;
mod numbers;
mod saved;
mod sectors;
mod stores;
mod unreadable;
mod unsealed;
