//! The targets, with an allocator that ends the process when somebody asks for too much at once.

pub use simkeep_testing::fuzz::targets;

use simkeep_testing::fuzz::allocator::Bounded;

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;
