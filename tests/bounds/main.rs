//! What time and memory may be taken, whatever the input and however large the store: one test at a
//! time, with an allocator that counts.

#![cfg(test)]

mod aliases;
mod clusters;
mod costs;
mod df;
mod forget;
mod growth;
mod hints;
mod hostile;
mod memory;
mod mirrors;
mod near;
mod rules;

use simkeep_testing::allocator::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
