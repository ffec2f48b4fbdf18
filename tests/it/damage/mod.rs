//! Damage of every kind, everywhere: it is an error that names the file, or changes nothing; and
//! `verify` finds everything that a checksum covers.
//!
//! At depth 1, 60,000 bits are flipped. From a million on, every used bit of a segment and every bit of
//! a catalog is flipped.

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
