//! What time and memory may be taken, whatever the input and however large the store: one test at a
//! time, with an allocator that counts.

#![cfg(test)]

#[cfg(not(narrow_hash))]
mod aliases;
mod clusters;
#[cfg(not(narrow_hash))]
mod df;
#[cfg(not(narrow_hash))]
mod forget;
#[cfg(not(narrow_hash))]
mod growth;
mod hints;
mod hostile;
#[cfg(not(narrow_hash))]
mod memory;
mod mirrors;
mod near;
mod rules;

use simkeep_testing::allocator::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
