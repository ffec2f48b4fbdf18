//! Real processes on real file systems: killed at any moment, without space, competing for a store,
//! losing files or power, and watched by a tracer.
//!
//! A test starts its own program again as a child, which opens a store and reports over a socket.
//! `SIMKEEP_SEED` chooses the workload; a failure prints the command that repeats it.

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
