//! Forks while a store is open: the store belongs to the first process, whatever its children do.

#![cfg(test)]
#![cfg(target_os = "linux")]

mod busy;
mod child;
mod lock;
mod reader;
