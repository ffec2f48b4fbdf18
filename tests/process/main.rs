//! Real processes on real file systems: killed at any moment, out of space, in each other's way,
//! losing files or power, and watched by a tracer.
//!
//! A test here starts its own program again as a child, which opens a store and reports over a
//! socket. `SIMKEEP_SEED` says which workload; what fails prints the command that repeats it.

#![cfg(test)]
#![cfg(target_os = "linux")]

mod backup;
mod child;
mod crawl;
mod full_disk;
mod kill;
mod live;
mod lock_removed;
mod partial;
mod power;
mod race;
mod scene;
mod strace;
mod truncated;
