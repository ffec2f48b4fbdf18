//! The extension module behind the Python package `simkeep`.
//!
//! The module converts and checks arguments, and calls the crate `simkeep`, which contains all
//! logic of a store. Names and documentation for Python are in `python/simkeep/`.

#![expect(clippy::too_many_arguments, reason = "those of a call from Python are keywords")]

// `prose!`, the crate's descriptions of the copied types.
include!(concat!(env!("OUT_DIR"), "/prose.rs"));

// The folders are in the order of their dependencies: a folder uses only the folders before it.
/// Conversions between Python and Rust.
mod convert {
    pub(crate) mod arg;
    pub(crate) mod error;
    pub(crate) mod keywords;
    pub(crate) mod sequence;
    pub(crate) mod time;
    pub(crate) mod typed;
    pub(crate) mod value;
    pub(crate) mod word;
}

/// Long calls, and forked processes.
mod call {
    pub(crate) mod fork;
    pub(crate) mod item_feed;
    pub(crate) mod long;
    pub(crate) mod progress;
}

/// Streams of items, and Arrow tables.
mod streams {
    pub(crate) mod arrow;
    pub(crate) mod batches;
    pub(crate) mod column;
    pub(crate) mod columns;
    pub(crate) mod source;
    pub(crate) mod stream;
    pub(crate) mod threaded;
}

/// Fingerprints and their origins.
mod fingerprint {
    pub(crate) mod batch;
    pub(crate) mod bit_sketch;
    pub(crate) mod df;
    pub(crate) mod epoch;
    pub(crate) mod explanation;
    pub(crate) mod fingerprint_input;
    pub(crate) mod fingerprinter;
    pub(crate) mod origin;
    pub(crate) mod shingles;
}

/// Information about a page.
mod pages {
    pub(crate) mod history;
    pub(crate) mod outcome;
    pub(crate) mod page;
}

/// Searches, and pairs.
mod search {
    pub(crate) mod answers;
    pub(crate) mod explain;
    pub(crate) mod join;
    pub(crate) mod join_plan;
    pub(crate) mod matches;
    pub(crate) mod pairs;
    pub(crate) mod query;
}

/// Observations of visits.
mod observe {
    pub(crate) mod fingerprinters;
    pub(crate) mod load;
    pub(crate) mod load_epochs;
    pub(crate) mod observation;
    pub(crate) mod response;
    pub(crate) mod route;
    pub(crate) mod row;
    pub(crate) mod table;
    pub(crate) mod update;
    pub(crate) mod visit_result;
}

/// Clusters.
mod cluster {
    pub(crate) mod candidates;
    pub(crate) mod cluster_changes;
    pub(crate) mod clustered_pages;
    pub(crate) mod clustering;
    pub(crate) mod clusters;
    pub(crate) mod clusters_source;
    pub(crate) mod connected_components;
    pub(crate) mod dropped_pages;
}

/// Sites: mirrors, and URL aliases.
mod sites {
    pub(crate) mod alias_rule;
    pub(crate) mod aliases;
    pub(crate) mod mirrors;
}

/// Recrawl scheduling.
mod recrawl {
    pub(crate) mod belief;
    pub(crate) mod comparison;
    pub(crate) mod due;
    pub(crate) mod fit;
    pub(crate) mod hints;
    pub(crate) mod learned_priors;
    pub(crate) mod optimum;
    pub(crate) mod plan;
    pub(crate) mod policy;
    pub(crate) mod rates;
    pub(crate) mod replay;
    pub(crate) mod simulation;
    pub(crate) mod survey;
}

/// Maintenance of a store.
mod maintain {
    pub(crate) mod integrity;
    pub(crate) mod options;
    pub(crate) mod publishing;
    pub(crate) mod scope;
    pub(crate) mod stats;
}

/// Inspection of a store.
mod inspect {
    pub(crate) mod census;
    pub(crate) mod diff;
    pub(crate) mod journal;
    pub(crate) mod overview;
    pub(crate) mod requests;
    pub(crate) mod segment;
    pub(crate) mod trace;
    pub(crate) mod verdict_counts;
}

mod store;
mod tool;

/// The memory of a crawler, in Rust.
// The module was not yet tested on an interpreter without the global lock.
#[pyo3::pymodule(gil_used = true)]
mod _simkeep {
    use super::convert::time::PyTime;

    #[pymodule_export]
    use super::call::fork::_forked;
    #[pymodule_export]
    use super::call::progress::Progress;
    #[pymodule_export]
    use super::cluster::candidates::{Candidates, PageCandidacy};
    #[pymodule_export]
    use super::cluster::cluster_changes::{ClusterChange, ClusterChanges};
    #[pymodule_export]
    use super::cluster::clustered_pages::{Cluster, ClusteredPage, PageCluster, RankedPage};
    #[pymodule_export]
    use super::cluster::clusters::Clusters;
    #[pymodule_export]
    use super::cluster::connected_components::{Balls, ConnectedComponent, ConnectedComponents};
    #[pymodule_export]
    use super::cluster::dropped_pages::{DroppedPages, KeptPage, PageFate};
    #[pymodule_export]
    use super::convert::error::_error_classes;
    #[pymodule_export]
    use super::convert::word::_words;
    #[pymodule_export]
    use super::fingerprint::batch::{Fingerprints, fingerprint_batch};
    #[pymodule_export]
    use super::fingerprint::bit_sketch::BitSketch;
    #[pymodule_export]
    use super::fingerprint::df::{
        FrequencyCounter, FrequencyTable, TableComparison, compare, merge,
    };
    #[pymodule_export]
    use super::fingerprint::epoch::{Bands, EpochInfo};
    #[pymodule_export]
    use super::fingerprint::explanation::{Feature, FingerprintExplanation};
    #[pymodule_export]
    use super::fingerprint::fingerprinter::{
        Fingerprinter, decode, distance, fingerprint_of, visible_text,
    };
    #[pymodule_export]
    use super::fingerprint::origin::{Origin, Preset, recipes};
    #[pymodule_export]
    use super::fingerprint::shingles::Shingles;
    #[pymodule_export]
    use super::inspect::census::{Census, FingerprintCensus, HostCensus, Period, SampledPage};
    #[pymodule_export]
    use super::inspect::diff::{Diff, Difference, ExactDifference};
    #[pymodule_export]
    use super::inspect::journal::{JournalView, LoggedOperation, Operations};
    #[pymodule_export]
    use super::inspect::overview::{
        CompactionEstimate, EpochOverview, HostShare, Overview, SegmentOverview, SpaceUsage,
    };
    #[pymodule_export]
    use super::inspect::requests::{Bodies, HostRequests, RequestCounts};
    #[pymodule_export]
    use super::inspect::segment::{DumpLine, SectionView, SegmentView, TableView};
    #[pymodule_export]
    use super::inspect::trace::{PageRecord, Trace, Version, surt, surt_key, versions};
    #[pymodule_export]
    use super::inspect::verdict_counts::VerdictCounts;
    #[pymodule_export]
    use super::maintain::integrity::{
        BackedUp, Corruption, FileCount, Loss, Repaired, Verified, backup, repair, verify,
    };
    #[pymodule_export]
    use super::maintain::publishing::{
        GenerationInfo, IncompleteGeneration, Publication, PublishedFile, check_generation,
        generation_files, generation_fingerprints, generations, generations_with, is_published,
        publish,
    };
    #[pymodule_export]
    use super::maintain::stats::{Compacted, Forgotten, Loaded, Merged, SegmentStats, Stats};
    #[pymodule_export]
    use super::observe::load_epochs::LoadEpochs;
    #[pymodule_export]
    use super::observe::observation::Observation;
    #[pymodule_export]
    use super::observe::response::{canonical_in_link, response_meaning};
    #[pymodule_export]
    use super::observe::route::route;
    #[pymodule_export]
    use super::pages::history::{PropertyEntry, Restated, Visit, VisitEntry};
    #[pymodule_export]
    use super::pages::outcome::{
        Capture, Copies, ExactCopy, Meaning, NearDuplicate, Original, Outcome,
    };
    #[pymodule_export]
    use super::pages::page::{Changes, Content, LastChange, Page, StalePage};
    #[pymodule_export]
    use super::recrawl::belief::{Belief, Likelihood, Prior, Rate};
    #[pymodule_export]
    use super::recrawl::comparison::{Comparison, RecentComparisons};
    #[pymodule_export]
    use super::recrawl::due::Decision;
    #[pymodule_export]
    use super::recrawl::fit::{Fit, HostPriors};
    #[pymodule_export]
    use super::recrawl::hints::Hints;
    #[pymodule_export]
    use super::recrawl::learned_priors::LearnedPriors;
    #[pymodule_export]
    use super::recrawl::optimum::{Optimum, few_misses, fixed_intervals, random_times};
    #[pymodule_export]
    use super::recrawl::plan::{NewPage, Plan};
    #[pymodule_export]
    use super::recrawl::policy::{Policy, Schedule};
    #[pymodule_export]
    use super::recrawl::rates::{
        hinted, interval, irregular, last_modified, naive, regular, worth,
    };
    #[pymodule_export]
    use super::recrawl::replay::Replay;
    #[pymodule_export]
    use super::recrawl::simulation::{Decider, RandomPages, SimulationResult, crawl};
    #[pymodule_export]
    use super::recrawl::survey::Survey;
    #[pymodule_export]
    use super::search::answers::{Answers, Outcomes};
    #[pymodule_export]
    use super::search::explain::{ComponentSearch, Cost, Explanation};
    #[pymodule_export]
    use super::search::join::{JoinedPair, join, join_parts};
    #[pymodule_export]
    use super::search::join_plan::JoinPlan;
    #[pymodule_export]
    use super::search::matches::{Matches, NearMatch, NearPair, PagePair, PairedPage};
    #[pymodule_export]
    use super::sites::alias_rule::{AliasRule, normalised, site_of};
    #[pymodule_export]
    use super::sites::aliases::{
        AliasCount, AliasPair, AliasSite, AliasSites, AliasTotals, DeclaredUrls,
    };
    #[pymodule_export]
    use super::sites::mirrors::{Mirror, MirrorExample, MirrorSite, Mirrors};
    #[pymodule_export]
    use super::store::{Reader, Snapshot, Store, View};
    #[pymodule_export]
    use super::streams::batches::Batches;
    #[pymodule_export]
    use super::streams::stream::Stream;
    #[pymodule_export]
    use super::tool::_tool;

    /// The largest distance of a search, in bits.
    #[pymodule_export]
    const DISTANCE_MAX: u32 = simkeep::DISTANCE_MAX;

    /// The number of versions of a page that a verdict considers.
    #[pymodule_export]
    const HISTORY_WINDOW: usize = simkeep::HISTORY_WINDOW;

    /// The latest time of a visit.
    #[pymodule_export]
    const TIME_MAX: PyTime = PyTime(simkeep::Time::MAX);

    /// The earliest time of a visit.
    #[pymodule_export]
    const TIME_MIN: PyTime = PyTime(simkeep::Time::MIN);

    /// The maximum length of a URL in bytes of UTF-8.
    #[pymodule_export]
    const URL_BYTES_MAX: usize = simkeep::URL_BYTES_MAX;

    /// The name and version of the extractor of `visible_text`: the first part of the names of
    /// epochs.
    #[pymodule_export]
    const EXTRACTOR: &str = simkeep::fingerprint::EXTRACTOR;

    /// The name of the default recipe.
    #[pymodule_export]
    const RECIPE: &str = simkeep::fingerprint::RECIPE;

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python writes it so")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
