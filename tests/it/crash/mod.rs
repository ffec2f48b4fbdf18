//! What a crash may leave, and what may fail, on a simulated disk.
//!
//! A crash leaves any subset of what was not synced (see `SimDisk`). So at each sync of a workload,
//! and where each call returns, the states are made that a crash could leave there, each is opened
//! as after a crash, and what it holds is compared with the states that the contract allows: what
//! was acknowledged, or one step further.

mod begin;
mod failed;
mod few_calls;
mod made;
mod many_calls;
mod moments;
mod script;
mod states;
mod tally;
mod under;
