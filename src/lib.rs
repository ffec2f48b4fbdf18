//! An embedded, crash-safe database for web crawlers, keyed by URL.
//!
//! A crawler reports every visit to a page to a [`Store`] as an [`Observation`]. The answer
//! ([`Outcome`]) has the verdict on the page ([`Verdict`]: new, unchanged, changed and so on), and
//! other pages that are copies or near-duplicates. The store keeps the history of each page and its
//! 64-bit simhash fingerprints, so it can also return the version that was current on any past day.
//!
//! The [glossary] defines the terms.
//!
//! ```
//! use std::time::Duration;
//! use simkeep::{Observation, Options, Store, Time, Verdict, fingerprint};
//!
//! # fn main() -> simkeep::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("crawl.simkeep");
//! let store = Store::open_or_create(&path, Options::default())?;
//! let epoch = store.change_epoch(); // the epoch of the fingerprints
//! let monday = Time::from_ms(1_700_000_000_000)?; // or from the clock: Time::now()
//! let tuesday = monday + Duration::from_secs(86_400);
//! let visits = [
//!     ("https://example.com/terms", monday, "You may use this site if you behave well."),
//!     ("https://example.com/terms", tuesday, "You may use this site if you pay us a monthly fee."),
//!     ("https://example.org/rules", tuesday, "You may use this site, if you behave well!"),
//! ];
//! let mut verdicts = Vec::new();
//! for (url, time, text) in visits {
//!     let seen = Observation::content(url, time, fingerprint::of_text(text), epoch);
//!     let outcome = store.observe(seen)?; // durable when this returns
//!     for near in &outcome.near {
//!         println!("{url} is {} bits away from {}", near.distance, near.url);
//!     }
//!     verdicts.push(outcome.verdict);
//! }
//! assert!(matches!(verdicts[..], [Verdict::New, Verdict::Changed { .. }, Verdict::New]));
//!
//! let history = store.history("https://example.com/terms")?;
//! assert_eq!(history.len(), 2);
//! let then = store.as_of("https://example.com/terms", monday + Duration::from_secs(3600))?;
//! assert_eq!(then.map(|visit| visit.time), Some(monday));
//! store.close()?;
//! # Ok(())
//! # }
//! ```
//!
//! # The loop
//!
//! The store also determines which pages are worth a visit next. A crawler leases these pages,
//! fetches them and reports the results:
//!
//! ```no_run
//! use std::thread::sleep;
//! use std::time::Duration;
//!
//! use simkeep::due::{Due, Rule, Rules};
//! use simkeep::{Observation, Page, Store, Time};
//!
//! # fn crawl(store: &Store, fetch: impl Fn(&Page) -> Option<u64>) -> simkeep::Result<()> {
//! // Without a minimum between visits, the pages of a small site are visited again after seconds.
//! let rules = Rules::new([Rule::everywhere().min("6h".parse()?)])?;
//! loop {
//!     // At most 5 pages of a host are leased for ten minutes, or until they are observed.
//!     let due = Due::new(Time::now(), 100).per_host(5).rules(&rules);
//!     let leased = store.lease_due(&due, "10m".parse()?)?;
//!     if leased.is_empty() {
//!         sleep(Duration::from_secs(60));
//!     }
//!     for decision in leased {
//!         let page = &decision.page;
//!         let visit = match fetch(page) {
//!             Some(fingerprint) => {
//!                 Observation::content(&page.url, Time::now(), fingerprint, store.change_epoch())
//!             }
//!             None => Observation::failed(&page.url, Time::now()),
//!         };
//!         println!("{}: {}", page.url, store.observe(visit)?);
//!     }
//! }
//! # }
//! ```
//!
//! # Guides
//!
//! The folder `docs` of the repository and of the package has pages by task:
//!
//! - `crawl.md`: what to report for redirects, 304, PDF and errors; several workers; politeness
//! - `corpus.md`: a corpus without near-duplicates
//! - `watch.md`: what changed, when, and by how much
//! - `warc.md`: histories and copies in web archives
//! - `recrawl.md`: when to visit a page again
//! - `guide.md`: input files, searching, URL aliases, forgetting, epochs
//!
//! # The life of an observation
//!
//! 1. [`Store::observe`] looks up the page in the segments, and searches the segments for
//!    fingerprints within a Hamming distance. The lookup and the search happen in the calling
//!    thread, in parallel with other calls.
//! 2. Under a short lock, the visit is decided, applied to the *memtable* and packed for the
//!    journal.
//! 3. A group commit writes all waiting operations to the journal, a table in a small redb
//!    database, the *catalog*. After the commit the observation is durable and acknowledged, and
//!    readers see it.
//! 4. A full memtable is *sealed* in the background. It becomes one immutable *segment* file with
//!    pages in SURT order, their histories, and the fingerprint tables. Then one commit of the
//!    catalog makes the segment live and removes the memtable's part of the journal.
//! 5. Neighbouring segments are *merged* into larger segments in the background, again with one
//!    commit. Old files are removed when no reader uses them.
//!
//! An existing corpus or another store is imported differently: [`Store::load`] sorts any number of
//! observations with scratch files and writes them as a segment at once, without searches and
//! without the journal. One commit makes all observations live.
//!
//! A read takes a [`Snapshot`], the list of live segments and memtables up to a sequence number,
//! and never waits for a writer. A page is found through a filter and a hash index in each segment.
//! The newest segment that has the page has its *head*, which is all that a verdict needs. A
//! [search](Snapshot::search) probes the fingerprint tables of each segment, or scans its popcount
//! shards, and then drops hits that newer segments supersede.
//!
//! Every fingerprint belongs to an [epoch](EpochInfo): an extractor, a recipe and a table of
//! document frequencies ([`Origin`]). Fingerprints of different epochs are never compared. When the
//! extractor, the recipe or the table changes, a new epoch [begins](Store::begin_epoch), pages are
//! observed in both epochs or [restated](Store::restate), and the old epoch
//! [ends](Store::end_epoch).
//!
//! Damage is an error that names the file and the byte, never a wrong answer.
//! [`verify`](verify::verify) finds all damage. [`repair`](repair::repair) makes a new store from
//! all sound data, and reports all losses.
//!
//! # Queries
//!
//! A [`Snapshot`] has the queries of a crawler as methods: [`history`](Snapshot::history),
//! [`as_of`](Snapshot::as_of), [`latest`](Snapshot::latest), [`search`](Snapshot::search),
//! [`scan`](Snapshot::scan), [`due`](Snapshot::due) and a few others. All other queries are values
//! in the module of their subject, mostly in two forms:
//!
//! - A query with options has the method `run`: `Clustering::within(3).run(&snapshot, &progress)?`.
//!   Such queries are [`Clustering`](cluster::Clustering), [`MirrorQuery`](mirror::MirrorQuery),
//!   [`AliasQuery`](alias::AliasQuery), [`PairQuery`](query::PairQuery),
//!   [`FingerprintPairs`](query::FingerprintPairs),
//!   [`DistinctFingerprints`](query::DistinctFingerprints) and [`DumpQuery`](inspect::DumpQuery).
//! - A result that needs no options, or that derives from another result, has the function `of`:
//!   `Overview::of(&snapshot)?`, `ConnectedComponents::of(&snapshot, &clustering, &progress)?`,
//!   `Plan::of(&snapshot, &due, 1000.0)?`.
//!
//! If there are many results, `run` passes them to a closure as it finds them. A few names are more
//! specific than `of`, such as [`Diff::between`](query::Diff::between) and
//! [`Operations::after`](inspect::Operations::after).
//!
//! # Platforms
//!
//! 64-bit Unix systems only; elsewhere compilation fails with an explanation. CI runs on Linux on
//! x86-64, where inner loops use the vector instructions that the processor has. Other processors
//! run portable code.
//!
//! # Features
//!
//! No feature is on by default.
//!
//! - `html`: [`fingerprint`] reduces HTML to its visible text.
//! - `jiff`: times from and as `jiff::Timestamp`.
//! - `metrics`: an open store reports its work and the cost of its work to a monitoring system;
//!   `docs/metrics.md` lists the metrics.
//! - `internals`: opens parts of `search` and `disk` to the tests and benchmarks of simkeep itself.
//!   If `SIMKEEP_NARROW_HASHES` is set, URLs are hashed to 8 bits. This feature may change with any
//!   release.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(all(unix, target_pointer_width = "64")))]
compile_error!(
    "simkeep needs a 64-bit Unix: it maps files of any size, and its locks are those of flock"
);

// rustfmt follows modules into this macro only, not into `cfg_select!`.
cfg_if::cfg_if! {
    if #[cfg(feature = "internals")] {
        // The module is public for the tests and benchmarks of this repository.
        #[cfg_attr(docsrs, doc(cfg(feature = "internals")))]
        pub mod disk;
        #[cfg_attr(docsrs, doc(cfg(feature = "internals")))]
        pub mod search;
    } else {
        #[expect(unreachable_pub, reason = "public with `internals`")]
        mod disk;
        #[expect(unreachable_pub, reason = "public with `internals`")]
        mod search;
    }
}

pub mod alias;
mod bug;
mod catalog;
pub mod cluster;
mod cpu;
pub mod df;
mod error;
pub mod fingerprint;
#[doc = include_str!("../docs/glossary.md")]
pub mod glossary {}
mod admin;
mod engine;
pub mod inspect;
mod layout;
#[cfg(feature = "metrics")]
#[cfg_attr(docsrs, doc(cfg(feature = "metrics")))]
pub mod metrics;
#[cfg(not(feature = "metrics"))]
mod metrics;
pub mod mirror;
mod order;
mod page;
mod process;
mod progress;
pub mod query;
pub mod recrawl;
mod schedule;
mod segment;
mod sort;
mod splitmix;
mod sync;
mod threads;
mod time;
mod url;

pub use crate::admin::compact::Compacted;
pub use crate::admin::forget::Scope;
pub use crate::engine::options::{Durability, Options};
pub use crate::engine::origin::Origin;
pub use crate::engine::reader::Reader;
pub use crate::engine::results::{
    Capture, ExactCopy, Forgotten, History, HistoryEntry, Merged, NearDuplicate, OperationResult,
    Original, OriginalBy, Outcome, Page,
};
pub use crate::engine::search::query::{Matches, NearMatch, Query, Versions};
pub use crate::engine::snapshot::Snapshot;
pub use crate::engine::stats::{SegmentStats, Stats, StatsCounter};
pub use crate::engine::store::Store;
pub use crate::page::route;
pub use crate::search::DISTANCE_MAX;
pub use crate::time::{Time, TimeError};
pub use crate::url::{PrefixError, URL_BYTES_MAX, UrlError};
pub use bug::Bug;
pub use disk::{Location, LockHolder};
pub use error::{Corruption, Error, ErrorKind, NotStore, Result};
pub use page::{
    Changes, Classes, ClassesError, Content, Digest, Distance, ETag, Entry, Epoch, EpochInfo,
    EpochOptions, FetchFailure, HISTORY_WINDOW, LastChange, Observation, Operation, Prefix,
    Property, PropertyEntry, PropertyOutcome, PropertyUpdate, Response, ResponseMeaning,
    RestateOutcome, Restated, Restatement, Role, RoleError, SameBy, Seen, Target, Verdict, Visit,
    Weight,
};
pub use progress::{Progress, Stage};

/// Options and results of loading a corpus or another store in bulk.
///
/// The options and results are used by [`Store::load`], [`Store::copy_from`] and
/// [`Store::create_from`]. [`LoadEpochs`](load::LoadEpochs) names the epochs of the observations,
/// and [`AsOperation`](load::AsOperation) is the trait of everything that can be loaded.
pub mod load {
    pub use crate::admin::load::{AsOperation, LoadEpochs, LoadOptions, Loaded};
}

/// The selection of pages to visit next.
///
/// - [`Due`](due::Due) is a query for [`Snapshot::due`]. It returns the pages that are most worth a
///   visit under a [policy](crate::recrawl::Policy), each with the [`Decision`](due::Decision)
///   about the page.
/// - A [`Plan`](due::Plan) spreads a fixed number of visits a day over all pages, and gives each
///   page a date.
/// - [`LearnedPriors`](due::LearnedPriors) has the priors: how often a page of a host changes
///   before its own history is known.
/// - [`Rules`](due::Rules) set, for pages under prefixes, the shortest and longest interval between
///   visits, the weight of the pages and their [policy](crate::recrawl::Policy).
/// - [`Hints`](due::Hints) has the modification times that sitemaps and feeds announce.
/// - [`Survey`](due::Survey) summarizes how all pages change.
/// - [`UrlPattern`](due::UrlPattern) is the pattern of a URL, which pages of one template share.
pub mod due {
    pub use crate::page::UrlPattern;
    pub use crate::schedule::{
        Decision, Due, DuePages, Hints, LearnedPriors, NewPage, Plan, Reason, Rule, Rules,
        RulesError, Survey,
    };
}

/// States of a store as immutable files, for readers on other machines.
///
/// - [`publish`](publish::publish()) and [`Store::publish`] write a state of a store to a
///   directory as a *generation*. Any tool can copy the directory, and [`Reader::published`] opens
///   it.
/// - [`generations`](publish::generations()) lists the generations of a directory, and
///   [`files`](publish::files()) the files of one generation.
/// - [`fingerprints`](publish::fingerprints()) counts fingerprints before all files have arrived.
/// - [`check`](publish::check()) reads all files of a generation, and
///   [`check_file`](publish::check_file()) one file.
/// - [`generations_with`](publish::generations_with()) lists the generations that still contain
///   purged data.
/// - [`is_published`](publish::is_published()) says whether a directory was published to.
///   [`Reader::open`] reads such a directory like a store.
pub mod publish {
    pub use crate::admin::copy::FileCount;
    pub use crate::admin::publish::{
        GenerationInfo, Publication, PublishOptions, PublishedFile, check_file, generations,
        generations_with, is_published,
    };
    pub use crate::admin::publish::{check, files, fingerprints, publish};
    pub use crate::engine::generations::IncompleteGeneration;
}

/// Copying a store to a second directory.
///
/// - [`backup`](backup::backup()) copies a store to a second directory, even while a writer has it
///   open.
/// - [`Store::backup`] copies an open store.
pub mod backup {
    pub use crate::admin::backup::{BackedUp, BackupOptions, backup};
    pub use crate::admin::copy::FileCount;
}

/// Repair of a damaged store.
///
/// [`repair`](repair::repair()) makes a new store of all sound data, and reports all losses.
pub mod repair {
    pub use crate::admin::repair::{Loss, RepairOptions, Repaired, repair};
}

/// Verification of a store.
///
/// [`verify`](verify::verify()) reads all of a store and lists every flaw.
pub mod verify {
    pub use crate::admin::verify::{Verified, VerifyOptions, verify};
}

/// All pairs within a distance, among fingerprints that are in no store.
///
/// [`Join`](join::Join) takes any [`Source`](join::Source) of fingerprints, such as a slice, and
/// reports its progress to a [`Monitor`](join::Monitor). The pairs of a store come from
/// [`FingerprintPairs`](crate::query::FingerprintPairs) and [`PairQuery`](crate::query::PairQuery).
///
/// To join the fingerprints of several stores on several machines, [`Histogram`](join::Histogram),
/// [`JoinPlan`](join::JoinPlan) and [`Partitioner`](join::Partitioner) divide the work.
pub mod join {
    pub use crate::search::{
        Chunk, Histogram, Join, JoinPlan, JoinTask, KeyBits, Monitor, Pair, Partitioner, Source,
    };
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The loop of a crawler reduces HTML to its text.
#[cfg(all(doctest, feature = "html"))]
#[doc = include_str!("../docs/crawl.md")]
struct Crawl;

#[cfg(doctest)]
#[doc = include_str!("../docs/recrawl.md")]
struct Recrawl;

#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../docs/fingerprints.md")]
struct Fingerprints;

#[cfg(doctest)]
#[doc = include_str!("../docs/minhash.md")]
struct MinHash;
