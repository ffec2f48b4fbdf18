//! Crashes and failures on a simulated disk.
//!
//! A crash leaves any subset of the unsynced changes (see `SimDisk`). At each sync of a workload, and
//! where each call returns, the possible states after a crash are generated and opened. Their contents
//! are compared with the states that the contract allows: the acknowledged operations, or one step more.

mod begin;
mod crash_counts;
mod failed;
mod few_calls;
mod made;
mod many_calls;
mod moments;
mod script;
mod states;
mod under;
