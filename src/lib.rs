//! simkeep: the memory of a crawler.
//!
//! An embedded, crash-safe database of 64-bit simhash fingerprints, keyed by URL. A crawler tells a
//! [`Store`] of every visit to a page ([`Observation`]) and is told what the page is now
//! ([`Verdict`]) and which other pages are copies of it or near it ([`Outcome`]). The store keeps
//! each page's fingerprints over time, so it also says what was in force on any past day.
//!
//! # The life of an observation
//!
//! 1. [`Store::observe`] looks up what the segments know of the page, and searches them for
//!    fingerprints within a Hamming distance: this goes on in the calling thread, beside others.
//! 2. Under a short lock the visit is judged, applied to the *memtable* and packed for the journal.
//! 3. A group commit writes what has gathered to the journal, a table of a small redb database, the
//!    *catalog*. Here it is durable and acknowledged, and from here on readers see it.
//! 4. A full memtable is *sealed* in the background: one immutable *segment* file with pages in SURT
//!    order, their histories, and the fingerprint tables; then, in one commit of the catalog, the
//!    segment is live and that part of the journal is gone.
//! 5. Neighbouring segments are *merged* into larger ones in the background, with the same commit
//!    rule. Old files go when no reader holds them.
//!
//! What is there already, such as an old corpus or another store, goes another way: [`Store::load`]
//! sorts any number of observations with scratch files and writes them as a segment at once, without
//! searches and without the journal; one commit makes all of it live.
//!
//! A read takes a [`Snapshot`], the list of live segments and memtables up to a sequence number, and
//! waits for none of this. A page is found through a filter and a hash index in each segment; the
//! newest segment that knows the page has its *head*, all that a verdict needs. A search
//! ([`Store::search`]) asks each segment's tables, whatever their shape, or scans its popcount shards,
//! and then drops what newer segments supersede.
//!
//! Every fingerprint belongs to an [epoch](EpochInfo): an extractor, a recipe and a table of document
//! frequencies ([`Origin`]). Those of different epochs are never compared. When what makes them
//! changes, an epoch [begins](Store::begin_epoch), pages are observed in both or
//! [restated](Store::restate), and the old one [ends](Store::end_epoch).
//!
//! What is damaged is an error that names the file and the byte, never a wrong answer. [`verify()`]
//! finds all of it; [`repair()`] makes a new store of what is sound, and says what is lost.
//!
//! # The rooms
//!
//! `disk` is the one seam to the file system, real or simulated. `layout` has the numbers of the
//! format, `page` the URLs, their order and the fold of visits into a history, [`fingerprint`] makes
//! simhashes of text, [`search`] finds them by distance, `sort` sorts what memory does not hold, and
//! `sync` has the locks, which a test may schedule, `process` says which process this is, and `cpu`
//! gives the processor hints. On these stand [`df`], tables of document frequencies, and `segment`,
//! `catalog` and `store`. The format is specified in `format/` of the repository.
//!
//! # Platforms
//!
//! 64-bit Unix systems. Every release is tested on Linux on x86-64, where kernels use what vector
//! instructions the processor has; other processors and systems have the portable ones. Anything else
//! does not compile.
//!
//! # Features
//!
//! None is on by default. `html`: [`fingerprint`] reduces HTML to its visible text. `internals`: what
//! tests and benchmarks of simkeep itself see of `search` and `disk`; it changes with any release.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(all(unix, target_pointer_width = "64")))]
compile_error!(
    "simkeep needs a 64-bit Unix: it maps files of any size, and its locks are those of flock"
);

mod bug;
mod catalog;
mod cpu;
pub mod df;
#[cfg(feature = "internals")]
pub mod disk;
#[cfg(not(feature = "internals"))]
#[expect(unreachable_pub, reason = "public to the tests and benchmarks of this repository")]
mod disk;
mod error;
pub mod fingerprint;
mod layout;
mod page;
mod process;
pub mod search;
mod segment;
mod sort;
mod store;
mod sync;
mod threads;

pub use bug::Bug;
pub use disk::Location;
pub use error::{Corruption, Error, Result};
pub use page::{
    Content, Digest, Entry, Epoch, EpochInfo, HISTORY_WINDOW, Observation, Prefix, PrefixError,
    Request, RestateOutcome, Restated, Restatement, SameBy, Seen, TIME_MAX, TIME_MIN,
    URL_BYTES_MAX, UrlError, Verdict, Visit,
};
pub use store::{
    Answer, ComponentSearch, Durability, ExactCopy, Explanation, Forgotten, History, HistoryEntry,
    LoadEpochs, LoadOptions, Loaded, Loading, Loss, Matches, Merged, Near, NearPair, Observations,
    Observed, Options, Origin, Outcome, Page, Query, Reader, RepairOptions, Repaired, Scan, Scope,
    SegmentStats, Snapshot, Stage, Stale, StalePage, Stats, Store, Verified, VerifyOptions,
    Verifying, Versions, repair, verify,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../docs/fingerprints.md")]
struct Fingerprints;
