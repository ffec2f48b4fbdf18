//! The tests that can share a process.

#![cfg(test)]
#![cfg(unix)]

mod aliases;
mod backup;
mod bad_input;
mod bulk;
mod captures;
mod changes;
mod classes;
mod cluster;
mod compact;
mod concurrent;
mod conditional;
mod crash;
mod damage;
mod dates;
mod diff;
mod directory;
#[path = "../plain/doors.rs"]
mod doors;
mod due;
mod dump;
mod epochs;
mod etags;
mod examples;
mod format;
mod imatch;
mod inspect;
mod invariants;
mod layers;
mod metrics;
mod minwise;
mod mirrors;
mod model;
mod operations;
mod pressure;
mod progress;
mod publish;
mod purge;
mod readers;
mod recrawl;
mod redirects;
mod requests;
mod search;
mod space;
mod splits;
mod style;
mod weights;
mod words;
mod worth;
