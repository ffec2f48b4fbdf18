//! Processes that fork while a store is open: it stays the first one's, whatever the others do.

#![cfg(test)]
#![cfg(target_os = "linux")]

mod busy;
mod child;
mod lock;
mod reader;
