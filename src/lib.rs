//! simkeep: the memory of a crawler.
//!
//! An embedded, crash-safe database of 64-bit simhash fingerprints, keyed by URL. A crawler reports
//! every visit to a page to a [`Store`] as an [`Observation`]. The answer ([`Outcome`]) says what
//! the page is now ([`Verdict`]) and which other pages are copies of it or near it. The store keeps
//! the history of each page, so it also knows which version was in force on any past day.
//!
//! The [glossary] explains the words that are used here.
//!
//! # The life of an observation
//!
//! 1. [`Store::observe`] looks up what the segments know of the page, and searches them for
//!    fingerprints within a Hamming distance. This happens in the calling thread, in parallel with
//!    other calls.
//! 2. Under a short lock, the visit is judged, applied to the *memtable* and packed for the
//!    journal.
//! 3. A group commit writes all waiting operations to the journal, a table in a small redb
//!    database, the *catalog*. Now the observation is durable and acknowledged, and readers see it.
//! 4. A full memtable is *sealed* in the background. It becomes one immutable *segment* file with
//!    pages in SURT order, their histories, and the fingerprint tables. Then one commit of the
//!    catalog makes the segment live and removes that part of the journal.
//! 5. Neighbouring segments are *merged* into larger ones in the background, again with one commit.
//!    Old files are removed when no reader holds them.
//!
//! An existing corpus or another store takes another way: [`Store::load`] sorts any number of
//! observations with scratch files and writes them as a segment at once, without searches and
//! without the journal. One commit makes all of it live.
//!
//! A read takes a [`Snapshot`], the list of live segments and memtables up to a sequence number,
//! and never waits for a writer. A page is found through a filter and a hash index in each segment.
//! The newest segment that knows the page has its *head*, which is all that a verdict needs. A
//! search ([`Store::search`]) probes the fingerprint tables of each segment, or scans its popcount
//! shards, and then drops what newer segments supersede.
//!
//! Every fingerprint belongs to an [epoch](EpochInfo): an extractor, a recipe and a table of
//! document frequencies ([`Origin`]). Fingerprints of different epochs are never compared. When one
//! of these three changes, a new epoch [begins](Store::begin_epoch), pages are observed in both or
//! [restated](Store::restate), and the old epoch [ends](Store::end_epoch).
//!
//! Damage is an error that names the file and the byte, never a wrong answer.
//! [`verify`](integrity::verify) finds all of it. [`repair`](integrity::repair) makes a new store from
//! everything that is sound, and says what is lost.
//!
//! # The rooms
//!
//! `disk` is the one seam to the file system, real or simulated. `layout` has the numbers of the
//! format; `page` has URLs, their order, and the fold of visits into a history. [`fingerprint`]
//! makes simhashes of text, and `search` finds them by distance. `sort` sorts what memory does
//! not hold, `sync` has the locks, which a test can schedule, `process` says which process this is,
//! and `cpu` gives hints to the processor. On these stand [`df`], tables of document frequencies,
//! and then `segment`, `catalog` and `store`. The format is specified in `format/` of the
//! repository.
//!
//! # Platforms
//!
//! 64-bit Unix systems; on others simkeep does not compile, and says why. Every release is tested
//! on Linux on x86-64, where inner loops use the vector instructions that the processor has. Other
//! processors run portable code.
//!
//! # Features
//!
//! None is on by default. With `html`, [`fingerprint`] reduces HTML to its visible text.
//! `internals` opens parts of `search` and `disk` to the tests and benchmarks of simkeep itself; it
//! may change with any release.

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
#[cfg_attr(docsrs, doc(cfg(feature = "internals")))]
pub mod disk;
#[cfg(not(feature = "internals"))]
#[expect(unreachable_pub, reason = "public to the tests and benchmarks of this repository")]
mod disk;
mod error;
pub mod fingerprint;
#[doc = include_str!("../docs/glossary.md")]
pub mod glossary {}
mod layout;
mod page;
mod process;
mod progress;
#[cfg(feature = "internals")]
#[cfg_attr(docsrs, doc(cfg(feature = "internals")))]
pub mod search;
#[cfg(not(feature = "internals"))]
#[expect(unreachable_pub, reason = "public to the tests and benchmarks of this repository")]
mod search;
mod segment;
mod sort;
mod store;
mod sync;
mod threads;

pub use bug::Bug;
pub use disk::{Holder, Location};
pub use error::{Corruption, Error, Result};
pub use page::{
    Content, Digest, Entry, Epoch, EpochInfo, Observation, Prefix, PrefixError, Request,
    RestateOutcome, Restated, Restatement, SameBy, Seen, UrlError, Verdict, Visit,
};
pub use progress::{Progress, Stage};
pub use store::{
    Answer, Durability, ExactCopy, History, HistoryEntry, Matches, Near, NearPair, Options, Origin,
    Outcome, Page, Query, Reader, Scope, Snapshot, Store, Versions,
};

/// Loading what is there already, all at once: [`Store::load`], [`Store::copy_from`].
pub mod load {
    pub use crate::store::{LoadEpochs, LoadOptions, Loaded, Observed};
}

/// Whether a store is sound, and a new one of what is sound of it.
pub mod integrity {
    pub use crate::store::{
        Loss, RepairOptions, Repaired, Verified, VerifyOptions, repair, verify,
    };
}

/// How large a store is, and what keeping it in shape came to.
pub mod maintenance {
    pub use crate::store::{Forgotten, Merged, SegmentStats, Stats};
}

/// How a search goes: [`Snapshot::explain`].
pub mod explain {
    pub use crate::search::{Address, Cost, Plan, Shape, Way};
    pub use crate::store::{ComponentSearch, Explanation};
}

/// Joining fingerprints that are in no store: all pairs within a distance.
pub mod join {
    pub use crate::search::{Join, Pair, Source};
}

/// What a [`Snapshot`] is gone through with.
pub mod iter {
    pub use crate::store::{Observations, Scan, Stale, StalePage};
}

/// What cannot be more, or less.
pub mod limits {
    pub use crate::page::{HISTORY_WINDOW, TIME_MAX, TIME_MIN, URL_BYTES_MAX};
    pub use crate::search::DISTANCE_MAX;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../docs/fingerprints.md")]
struct Fingerprints;
