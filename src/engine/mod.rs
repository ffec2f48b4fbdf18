//! The store: observations in, verdicts and histories out.
//!
//! An observation is looked up, judged and applied in memory, then journalled in one commit with
//! others that came at the same time; there it is durable and acknowledged. A full memtable is
//! sealed into a segment beside the running store, and neighbouring segments are merged into
//! larger ones. Readers take a [`Snapshot`] and wait for none of this.

mod admission;
mod ahead;
mod answer;
mod apply;
mod ask;
mod backup;
mod base;
mod clock;
mod committer;
mod compact;
mod compaction;
mod compactor;
mod component;
mod contender;
mod copying;
mod counted;
mod dealt;
mod diff;
mod distinct;
mod due;
mod epochs;
mod files;
mod first_seen;
mod forget;
mod handle;
mod histories;
mod journal;
mod judged;
mod leases;
mod lifecycle;
mod listed;
mod live;
mod live_segment;
mod load;
mod lookup;
mod memo;
mod memtable;
mod memtables;
mod nearby;
mod new_segment;
mod observations;
mod observe;
mod open;
mod options;
mod origin;
mod original;
mod origins;
mod pairs;
mod pending;
mod poison;
mod prepared;
mod publish;
mod publisher;
mod query;
mod read;
mod reader;
mod registry;
mod repair;
mod replay;
mod request;
mod scan;
mod sealer;
mod search;
mod settings;
mod shared;
mod snapshot;
mod splits;
mod stale;
mod stamps;
mod taken;
mod verify;
mod view;
mod write;

pub(crate) use component::{Component, ComponentId, PageIn, Standing};
pub(crate) use counted::Counted;
pub(crate) use epochs::Epochs;
pub(crate) use live_segment::LiveSegment;
pub(crate) use lookup::Lookup;
pub(crate) use memtable::{Effect, Inner, Logged, Memtable};
pub(crate) use taken::{Taken, TakenPages, TakenVersion, TakenVersions, Taking};

pub use answer::{
    Answer, ExactCopy, Forgotten, History, HistoryEntry, Merged, NearDuplicate, Original,
    OriginalBy, Outcome, Page, SegmentStats, Stats,
};
pub use backup::{BackedUp, BackupOptions, backup};
pub use compact::Compacted;
pub use copying::FileCount;
pub use diff::{Diff, Difference, ExactDiff, ExactDifference};
pub use due::{
    Decision, Due, DuePages, Hints, Learned, NewPage, Plan, Reason, Rule, Rules, RulesError, Survey,
};
pub use forget::Scope;
pub use handle::Store;
pub use histories::Histories;
pub use load::{LoadEpochs, LoadOptions, Loaded, Observed};
pub use observations::Observations;
pub use options::{Durability, Options};
pub use origin::Origin;
pub use pairs::{NearPair, PagePair, PairQuery, PairedPage};
pub use publish::{
    GenerationInfo, Incomplete, Publication, PublishOptions, PublishedFile,
    check as check_generation, check_file, files as generation_files,
    fingerprints as generation_fingerprints, generations, holding, is_published, publish,
};
pub use query::{ComponentSearch, Explanation, Matches, Near, Query, Versions};
pub use reader::Reader;
pub use repair::{Loss, RepairOptions, Repaired, repair};
pub use replay::Replay;
pub use scan::Scan;
pub use snapshot::Snapshot;
pub use stale::{Stale, StalePage};
pub use verify::{Verified, VerifyOptions, verify};
