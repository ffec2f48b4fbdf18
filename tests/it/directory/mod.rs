//! The contents of a store directory, and its users: names in any order, user files, links and pipes.

mod foreign;
mod locks;
mod modes;
mod opening;
