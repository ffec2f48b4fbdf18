//! The extension module behind the Python package `simkeep`.
//!
//! It converts, checks and calls: whatever a store knows and does is in the crate `simkeep`. How
//! things are named and documented for Python is in `python/simkeep/`.

#![expect(clippy::too_many_arguments, reason = "those of a call from Python are keywords")]

// `prose!`, with which the crate describes what is copied here.
include!(concat!(env!("OUT_DIR"), "/prose.rs"));

mod alias_rule;
mod aliases;
mod answers;
mod arg;
mod arrow;
mod batches;
mod belief;
mod bit_sketch;
mod candidates;
mod census;
mod cluster_changes;
mod clustered;
mod clustering;
mod clusters;
mod column;
mod columns;
mod comparison;
mod components;
mod df;
mod differences;
mod dropped;
mod due;
mod epoch;
mod error;
mod explain;
mod explained;
mod fingerprinter;
mod fit;
mod fork;
mod found;
mod giving;
mod hints;
mod history;
mod integrity;
mod join;
mod journal;
mod learned;
mod load;
mod load_epochs;
mod long;
mod lots;
mod makers;
mod matches;
mod mirrors;
mod observation;
mod optimum;
mod options;
mod origin;
mod outcome;
mod overview;
mod page;
mod pairs;
mod plan;
mod policy;
mod prints;
mod progress;
mod publishing;
mod query;
mod rates;
mod replay;
mod response;
mod route;
mod row;
mod scope;
mod segment;
mod shares;
mod shingles;
mod simulation;
mod source;
mod stats;
mod store;
mod stream;
mod table;
mod texts;
mod threaded;
mod time;
mod tool;
mod trace;
mod typed;
mod value;
mod what;
mod word;

/// The memory of a crawler, in Rust.
// It was not run on an interpreter without its lock yet.
#[pyo3::pymodule(gil_used = true)]
mod _simkeep {
    use super::time::Time;

    #[pymodule_export]
    use super::alias_rule::{AliasRule, normalised, site_of};
    #[pymodule_export]
    use super::aliases::{AliasCount, AliasPair, AliasSite, AliasSites, Aliases};
    #[pymodule_export]
    use super::answers::{Answers, Outcomes};
    #[pymodule_export]
    use super::batches::Batches;
    #[pymodule_export]
    use super::belief::{Belief, Likelihood, Prior, Rate};
    #[pymodule_export]
    use super::bit_sketch::BitSketch;
    #[pymodule_export]
    use super::candidates::{Candidate, Candidates};
    #[pymodule_export]
    use super::census::{Census, FingerprintCensus, HostCensus, Period, SampledPage};
    #[pymodule_export]
    use super::cluster_changes::{ClusterChange, ClusterChanges};
    #[pymodule_export]
    use super::clustered::{Cluster, ClusteredPage, PageCluster, RankedPage};
    #[pymodule_export]
    use super::clusters::Clusters;
    #[pymodule_export]
    use super::comparison::{Comparison, Recent};
    #[pymodule_export]
    use super::components::{Balls, Component, Components};
    #[pymodule_export]
    use super::df::{Counter, Table, TableComparison, compare, merge};
    #[pymodule_export]
    use super::differences::{Difference, Differences, ExactDifference};
    #[pymodule_export]
    use super::dropped::{Dropped, Fated, KeptFor};
    #[pymodule_export]
    use super::due::Decision;
    #[pymodule_export]
    use super::epoch::{Bands, EpochInfo};
    #[pymodule_export]
    use super::error::_error_classes;
    #[pymodule_export]
    use super::explain::{ComponentSearch, Cost, Explanation};
    #[pymodule_export]
    use super::explained::{Explained, Feature};
    #[pymodule_export]
    use super::fingerprinter::{Fingerprinter, decode, distance, fingerprint_of, visible_text};
    #[pymodule_export]
    use super::fit::{Fit, Hosts};
    #[pymodule_export]
    use super::fork::_forked;
    #[pymodule_export]
    use super::found::Found;
    #[pymodule_export]
    use super::hints::Hints;
    #[pymodule_export]
    use super::history::{Given, Judged, Restated, Visit};
    #[pymodule_export]
    use super::integrity::{
        BackedUp, FileCount, Flaw, Loss, Repaired, Verified, backup, repair, verify,
    };
    #[pymodule_export]
    use super::join::{JoinedPair, join, join_parts};
    #[pymodule_export]
    use super::journal::{JournalView, Operation, Operations};
    #[pymodule_export]
    use super::learned::{Learned, Survey};
    #[pymodule_export]
    use super::load_epochs::LoadEpochs;
    #[pymodule_export]
    use super::matches::{Matches, Near, PagePair, Pair, PairedPage};
    #[pymodule_export]
    use super::mirrors::{Mirror, MirrorExample, MirrorSite, Mirrors};
    #[pymodule_export]
    use super::observation::Observation;
    #[pymodule_export]
    use super::optimum::{Optimum, few_misses, fixed_intervals, random_times};
    #[pymodule_export]
    use super::origin::{Origin, Preset, recipes};
    #[pymodule_export]
    use super::outcome::{Copy, Meaning, NearDuplicate, Original, Outcome};
    #[pymodule_export]
    use super::overview::{
        Compaction, EpochOverview, HostShare, Overview, SegmentOverview, SpaceOf,
    };
    #[pymodule_export]
    use super::page::{Changes, Content, LastChange, Page, StalePage};
    #[pymodule_export]
    use super::plan::{NewPage, Plan};
    #[pymodule_export]
    use super::policy::{Policy, Schedule};
    #[pymodule_export]
    use super::progress::Progress;
    #[pymodule_export]
    use super::publishing::{
        GenerationInfo, Incomplete, Publication, PublishedFile, check_generation, generation_files,
        generation_fingerprints, generations, holding, is_published, publish,
    };
    #[pymodule_export]
    use super::rates::{
        harmonic, hinted, interval, irregular, last_modified, naive, regular, value,
    };
    #[pymodule_export]
    use super::replay::Replay;
    #[pymodule_export]
    use super::response::response_meaning;
    #[pymodule_export]
    use super::route::route;
    #[pymodule_export]
    use super::segment::{DumpLine, SectionView, SegmentView, TableView};
    #[pymodule_export]
    use super::shares::Shares;
    #[pymodule_export]
    use super::shingles::Shingles;
    #[pymodule_export]
    use super::simulation::{Decider, Figures, PoissonPages, crawl};
    #[pymodule_export]
    use super::stats::{Compacted, Forgotten, Loaded, Merged, SegmentStats, Stats};
    #[pymodule_export]
    use super::store::{Reader, Snapshot, Store, View};
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::texts::{Fingerprints, fingerprint_batch};
    #[pymodule_export]
    use super::tool::_tool;
    #[pymodule_export]
    use super::trace::{Place, Trace, Version, surt, surt_key, versions};
    #[pymodule_export]
    use super::word::_words;

    /// The largest distance of a search, in bits.
    #[pymodule_export]
    const DISTANCE_MAX: u32 = simkeep::DISTANCE_MAX;

    /// How many versions of a page a verdict looks back at.
    #[pymodule_export]
    const HISTORY_WINDOW: usize = simkeep::HISTORY_WINDOW;

    /// The last time of a visit.
    #[pymodule_export]
    const TIME_MAX: Time = Time(simkeep::Time::MAX);

    /// The first time of a visit.
    #[pymodule_export]
    const TIME_MIN: Time = Time(simkeep::Time::MIN);

    /// The most bytes that the URL of a page may have in UTF-8.
    #[pymodule_export]
    const URL_BYTES_MAX: usize = simkeep::URL_BYTES_MAX;

    /// The name of what `visible_text` does, with its version: the first part of the names of epochs.
    #[pymodule_export]
    const EXTRACTOR: &str = simkeep::fingerprint::EXTRACTOR;

    /// The name of the recipe that is used unless another is chosen.
    #[pymodule_export]
    const RECIPE: &str = simkeep::fingerprint::RECIPE;

    /// The version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python writes it so")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
