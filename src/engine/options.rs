//! How a store is opened.

use std::time::Duration;

use super::origin::Origin;
use super::search::query::FINGERPRINTS;
use super::settings::settings;
use crate::fingerprint::Bands;
use crate::page::Ranking;

/// When an observation is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// When the call returns; concurrent calls share a commit.
    Each,
    /// When the call returns; a commit waits this long for others to join it.
    Grouped(Duration),
    /// After the next [`Store::flush`](crate::Store::flush), or when the memtable is sealed.
    OnFlush,
}

settings! {
    /// Settings of a [`Store`](crate::Store).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use simkeep::{Durability, Options};
    ///
    /// let options = Options::default()
    ///     .durability(Durability::Grouped(Duration::from_millis(5)))
    ///     .near_distance(Some(6));
    /// assert_eq!(options.near_limit, 16);
    /// ```
    pub struct Options {
        /// When an observation is durable. Default: [`Durability::Each`].
        pub durability: Durability = Durability::Each,
        /// How many observations the memtable holds before it is sealed. Default: 262,144. Opening
        /// after a crash replays up to twice as many.
        pub memtable_observations: usize = 262_144,
        /// How many bytes the memtable takes before it is sealed. Default: 80 MiB, which 262,144
        /// observations seldom reach; at least 64 KiB. Spare room for growth comes on top, at most as
        /// much again.
        pub memtable_bytes: usize = 80 << 20,
        /// The memtable is sealed when its oldest observation is this old. If nothing arrives for as
        /// long again, all segments are merged into one, provided that this saves much room. Default: 5
        /// minutes.
        pub seal_after: Duration = Duration::from_secs(300),
        /// How many neighbouring segments of like size are merged into one. Default: 8; at least 2.
        pub merge_fanout: usize = 8,
        /// Whether sealing and merging go on in the background. Default: yes. If not, a full memtable
        /// is sealed by the call that fills it, and merges wait for
        /// [`Store::merge`](crate::Store::merge).
        pub background: bool = true,
        /// The name of the epoch that a new store begins with. Default: that of
        /// [`Origin::default`], `html/3 words2-sqrt/2`, with any features of this crate. The tool and
        /// the packages for other languages begin with it, too. If you reduce pages to their text in
        /// another way than [`EXTRACTOR`](crate::fingerprint::EXTRACTOR), name yours by
        /// [`Origin::extractor`].
        pub epoch: String = Origin::default().name(),
        /// Which distances are minor changes in that epoch, and which moderate ones. Default: what its
        /// recipe is [calibrated](crate::fingerprint::Recipe::bands) to.
        pub epoch_bands: Option<Bands> = None,
        /// Permissions of the files of a new store, as for chmod(1); whoever may read a directory may
        /// also enter it. Default: `0o600`, so that nobody else can read which pages were crawled.
        /// `0o640` lets the group use a [`Reader`](crate::Reader). An existing store keeps the
        /// permissions of its `catalog.redb`, also for new files. They apply to a store in a directory
        /// only.
        pub file_mode: u32 = 0o600,
        /// How many visits after the start of an epoch a new one is
        /// [advised](crate::Stats::epoch_due).
        /// Default: 1,000,000.
        pub epoch_visits: u64 = 1_000_000,
        /// The distance within which [`Outcome`](crate::Outcome) names near-duplicates, within which
        /// one page [leads](field@crate::due::Decision::near) another, and for which
        /// the tables of new segments are laid out. Other distances can be searched as well. It is not
        /// kept in the store, so a [`Reader`](crate::Reader) goes by the default. Default:
        /// for each epoch what its recipe
        /// [advises](crate::fingerprint::Recipe::near_distance).
        pub near_distance: Option<u32> = None,
        /// How much later than the clock of this machine a visit may be. A later visit is refused with
        /// [`Error::InTheFuture`](crate::Error::InTheFuture): it would be the last of its page until
        /// then. If the store has such a visit already, the clock is taken to be behind, and none is
        /// refused. Default: none, so that a visit may have any time.
        pub clock_tolerance: Option<Duration> = None,
        /// How many bytes a segment's fingerprint tables may take for each fingerprint, including the
        /// fingerprint and its page. Default: 48. With 16, there are only popcount shards, and searches
        /// scan them.
        pub fingerprint_bytes: u32 = 48,
        /// The most near-duplicates, and the most copies, that an [`Outcome`](crate::Outcome) names.
        /// Default: 16.
        pub near_limit: usize = 16,
        /// Which of several pages with nearly the same content comes first, and is the
        /// [original](field@crate::Outcome::original). Default: that which was first seen with its
        /// content.
        pub rule: Ranking = Ranking::default(),
        /// How many pages may be leased at a time by [`Store::lease_due`](crate::Store::lease_due).
        /// Each takes some 100 bytes and its URL. Default: 1,000,000.
        pub leases_max: usize = 1_000_000,
        /// How many fingerprints are compared to find near-duplicates, in each segment and in memory,
        /// if so many crowd together that the tables cannot tell them apart; see
        /// [`Query::fingerprints`](crate::Query::fingerprints). Default: 4,096.
        pub near_fingerprints: u32 = FINGERPRINTS,
        /// Memory that sealing and merging may take together, besides the memtables, however many pages
        /// there are. Default: 256 MiB. More than half of it is for sorting. Buffers of files and of
        /// the catalog always take some 60 MiB, and checksums two thousandths of the largest segment,
        /// even if this is set lower.
        pub background_memory_bytes: usize = 256 << 20,
        /// How long the files that a merge has replaced are kept for readers in other processes that
        /// are about to open them. A reader that comes too late starts again. Default: 10 seconds.
        /// Without [background](Self::background) work, they are removed by the next seal, merge or
        /// close.
        pub reader_grace: Duration = Duration::from_secs(10),
    }
}
