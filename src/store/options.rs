//! How a store is opened.

use std::time::Duration;

/// When an observation is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// When the call returns; concurrent calls share a commit.
    Each,
    /// When the call returns; a commit waits this long for others to join it.
    Grouped(Duration),
    /// After the next [`Store::flush`](super::Store::flush), or when the memtable is sealed.
    OnFlush,
}

/// Settings of a [`Store`](super::Store).
#[derive(Clone, Debug)]
pub struct Options {
    /// When an observation is durable. Default: [`Durability::Each`].
    pub durability: Durability,
    /// Observations that the memtable holds before it is sealed. Default: 262,144. Opening after a
    /// crash replays up to twice as many.
    pub memtable_observations: usize,
    /// Bytes that the memtable takes before it is sealed. Default: 80 MiB, which 262,144 observations
    /// seldom reach; at least 64 KiB. Room that it keeps for growth comes on top, at most as much
    /// again.
    pub memtable_bytes: usize,
    /// The memtable is sealed when its oldest observation is this old. When nothing has come for as
    /// long after that, segments are merged into one if that saves much room. Default: 5 minutes.
    pub seal_after: Duration,
    /// How many neighbouring segments of like size are merged into one. Default: 8; at least 2.
    pub merge_fanout: usize,
    /// Whether sealing and merging go on in the background. Default: yes. If not, a full memtable
    /// is sealed by the call that fills it, and merges wait for [`Store::merge`](super::Store::merge).
    pub background: bool,
    /// The name of the epoch that a new store begins with. Default: this version's own recipe.
    pub epoch: String,
    /// Permissions of the files of a new store, as chmod(1) has them: directories may be entered as
    /// well by whoever may read them. Default: `0o600`, nobody else reads which pages were crawled.
    /// `0o640` lets the group use a [`Reader`](super::Reader). An existing store has those of its
    /// `catalog.redb`, also for new files. Other disks than a directory have none.
    pub file_mode: u32,
    /// Visits after which another epoch is [advised](crate::Stats::epoch_due). Default: 1,000,000.
    pub epoch_visits: u64,
    /// The distance within which [`Outcome`](super::Outcome) names near-duplicates, and for which
    /// new segments are laid out; others can be searched as well. Default: 3.
    pub near_distance: u32,
    /// Bytes that a segment's fingerprint tables may take for each fingerprint, the fingerprint and
    /// its page included. Default: 48. With 16, only popcount shards are kept, and scanned.
    pub fingerprint_bytes: u32,
    /// How many near-duplicates, and how many copies, an answer names at most. Default: 16.
    pub near_limit: usize,
    /// How many fingerprints are compared to find those near-duplicates, in each segment and in memory,
    /// where more of them crowd together than tables tell apart:
    /// [`Query::fingerprints`](super::Query::fingerprints). Default: 4,096.
    pub near_fingerprints: u32,
    /// Memory that sealing and merging may take together, beside the memtables, however many pages
    /// there are. Default: 256 MiB. More than half of it is for what is sorted. The buffers of files
    /// and of the catalog take some 60 MiB, and checksums a thousandth of the largest segment twice,
    /// however little this is.
    pub background_memory_bytes: usize,
    /// How long the files that a merge replaced are kept for readers in other processes that are
    /// about to open them; a reader that comes too late starts again. Default: 10 seconds. Without
    /// the [background](Self::background) they wait for the next seal, merge or close.
    pub reader_grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            durability: Durability::Each,
            memtable_observations: 262_144,
            memtable_bytes: 80 << 20,
            seal_after: Duration::from_secs(300),
            merge_fanout: 8,
            background: true,
            epoch: crate::fingerprint::RECIPE.to_owned(),
            file_mode: 0o600,
            epoch_visits: 1_000_000,
            near_distance: 3,
            fingerprint_bytes: 48,
            near_limit: 16,
            near_fingerprints: super::query::FINGERPRINTS,
            background_memory_bytes: 256 << 20,
            reader_grace: Duration::from_secs(10),
        }
    }
}
