//! Limits of time and memory for any input and any size of store. One test runs at a time, with a
//! counting allocator.

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

use simkeep_testing::allocator::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
