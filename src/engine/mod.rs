//! An open store: its state in memory and in files, how it is opened, and how it is written.
//!
//! An observation is looked up, gets its verdict, and is applied in memory. Then a group commit
//! writes the observation to the journal, together with concurrent observations; after the commit
//! the observation is durable and acknowledged ([`write`](mod@write)). A full memtable is sealed
//! into a segment in the background ([`seal`]), and neighbouring segments are merged into larger
//! segments ([`compaction`]). Readers take a [`Snapshot`](snapshot::Snapshot) and wait for none of
//! these steps.

pub(crate) mod clock;
pub(crate) mod compaction;
pub(crate) mod component;
pub(crate) mod core;
pub(crate) mod db;
pub(crate) mod delta;
pub(crate) mod epoch_registry;
pub(crate) mod epochs;
pub(crate) mod files;
pub(crate) mod fingerprint_makers;
pub(crate) mod first_seen;
pub(crate) mod generations;
pub(crate) mod journal;
pub(crate) mod leases;
pub(crate) mod lifecycle;
pub(crate) mod live;
pub(crate) mod live_segment;
pub(crate) mod lookup;
pub(crate) mod manifest_check;
pub(crate) mod memo;
pub(crate) mod memtable;
pub(crate) mod memtables;
pub(crate) mod new_segment;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod origin;
pub(crate) mod pipeline;
pub(crate) mod publisher;
pub(crate) mod reader;
pub(crate) mod results;
pub(crate) mod seal;
pub(crate) mod search;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod totals;
pub(crate) mod view;
pub(crate) mod write;
