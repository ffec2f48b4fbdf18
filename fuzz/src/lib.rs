//! The fuzz targets, with an allocator that ends the process if a single allocation is too large.

pub use simkeep_testing::fuzz::targets;

use simkeep_testing::fuzz::allocator::BoundedAllocator;

#[global_allocator]
static ALLOCATOR: BoundedAllocator = BoundedAllocator;
