//! The instruments of one open store.

use std::array;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use ::metrics::{
    Counter, Gauge, Histogram, Label, Unit, counter, describe_counter, describe_gauge,
    describe_histogram, gauge, histogram,
};

use super::disk::DiskMetrics;
use super::list::{self, Instrument, InstrumentKind};
use super::{ObservedVisit, SavedBody, Work};
use crate::disk::{Disk, WatchedDisk};
use crate::page::Verdict;

/// Records events of a store, or nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics(Option<Arc<Instruments>>);

struct Instruments {
    observations: VerdictCounters,
    search_cut: Counter,
    long_etags: Counter,
    saved: SavedCounters,
    segments: Gauge,
    poisoned: Gauge,
    commit: Histogram,
    stall: Histogram,
    seal: Histogram,
    merge: Histogram,
}

/// A counter for each verdict.
struct VerdictCounters {
    new: Counter,
    same: Counter,
    unseen: Counter,
    changed: Counter,
    reverted: Counter,
    gone: Counter,
    failed: Counter,
    out_of_order: Counter,
    known: Counter,
}

/// Counters of saved bodies, and of their bytes where the length is known.
struct SavedCounters {
    not_modified: Counter,
    unchanged: Counter,
    copy: Counter,
    unchanged_bytes: Counter,
    copy_bytes: Counter,
}

/// A running time measurement, which is recorded only if [`Timing::end`] is called.
pub(crate) struct Timing<'m>(Option<(&'m Histogram, Instant)>);

impl Metrics {
    /// Returns metrics that record nothing.
    pub(crate) fn none() -> Metrics {
        Metrics::default()
    }

    /// Creates the metrics of the store on a disk for the installed recorder, and wraps the disk so
    /// that the disk's traffic is counted.
    pub(crate) fn watching(disk: Arc<dyn Disk>) -> (Arc<dyn Disk>, Metrics) {
        list::ALL.iter().for_each(describe);
        let store = disk.location();
        let [search_cut] = counters(&list::SEARCH_CUT, &store);
        let [long_etags] = counters(&list::LONG_ETAGS, &store);
        let gauge = |of: &Instrument| gauge!(of.name, labels(&store));
        let histogram = |of: &Instrument| histogram!(of.name, labels(&store));
        let watched = Arc::new(WatchedDisk::new(disk, Arc::new(DiskMetrics::of(&store))));
        let instruments = Instruments {
            observations: VerdictCounters::of(&store),
            search_cut,
            long_etags,
            saved: SavedCounters::of(&store),
            segments: gauge(&list::SEGMENTS),
            poisoned: gauge(&list::POISONED),
            commit: histogram(&list::COMMIT),
            stall: histogram(&list::STALL),
            seal: histogram(&list::SEAL),
            merge: histogram(&list::MERGE),
        };
        (watched, Metrics(Some(Arc::new(instruments))))
    }

    /// Records observed visits.
    pub(crate) fn observed(&self, visits: impl Iterator<Item = ObservedVisit>) {
        let Some(instruments) = self.0.as_deref() else { return };
        for ObservedVisit { verdict, complete, saved, long_etag } in visits {
            instruments.observations.counter(&verdict).increment(1);
            self.searched(complete);
            if long_etag {
                instruments.long_etags.increment(1);
            }
            if let Some((body, bytes)) = saved {
                instruments.saved.add(body, bytes);
            }
        }
    }

    /// Records a search, and whether the search was complete.
    pub(crate) fn searched(&self, complete: bool) {
        if let Some(instruments) = self.0.as_ref().filter(|_| !complete) {
            instruments.search_cut.increment(1);
        }
    }

    /// Starts the time measurement of some work.
    pub(crate) fn begin(&self, work: Work) -> Timing<'_> {
        Timing(self.0.as_ref().map(|instruments| {
            let histogram = match work {
                Work::Commit => &instruments.commit,
                Work::Stall => &instruments.stall,
                Work::Seal => &instruments.seal,
                Work::Merge => &instruments.merge,
            };
            (histogram, Instant::now())
        }))
    }

    /// Records that the store was opened and is sound.
    pub(crate) fn opened(&self) {
        if let Some(instruments) = &self.0 {
            instruments.poisoned.set(0.0);
        }
    }

    /// Records the number of live segments.
    #[expect(clippy::cast_precision_loss, reason = "segments are few")]
    pub(crate) fn segments(&self, count: usize) {
        if let Some(instruments) = &self.0 {
            instruments.segments.set(count as f64);
        }
    }

    /// Records that the store is poisoned: the store accepts no more writes.
    pub(crate) fn poisoned(&self) {
        if let Some(instruments) = &self.0 {
            instruments.poisoned.set(1.0);
        }
    }
}

impl Timing<'_> {
    /// Records the measured time.
    pub(crate) fn end(self) {
        if let Some((histogram, since)) = self.0 {
            histogram.record(since.elapsed());
        }
    }
}

impl VerdictCounters {
    fn of(store: &str) -> VerdictCounters {
        let [new, same, unseen, changed, reverted, gone, failed, out_of_order, known] =
            counters(&list::OBSERVATIONS, store);
        VerdictCounters { new, same, unseen, changed, reverted, gone, failed, out_of_order, known }
    }

    fn counter(&self, verdict: &Verdict) -> &Counter {
        match verdict {
            Verdict::New => &self.new,
            Verdict::Same(_) => &self.same,
            Verdict::Unseen => &self.unseen,
            Verdict::Changed { .. } => &self.changed,
            Verdict::Reverted { .. } => &self.reverted,
            Verdict::Gone => &self.gone,
            Verdict::Failed => &self.failed,
            Verdict::OutOfOrder => &self.out_of_order,
            Verdict::Known => &self.known,
        }
    }
}

impl SavedCounters {
    fn of(store: &str) -> SavedCounters {
        let [not_modified, unchanged, copy] = counters(&list::SAVED_BODIES, store);
        let [unchanged_bytes, copy_bytes] = counters(&list::SAVED_BYTES, store);
        SavedCounters { not_modified, unchanged, copy, unchanged_bytes, copy_bytes }
    }

    /// Counts a body and its length, if known.
    fn add(&self, body: SavedBody, bytes: Option<u64>) {
        let (count, count_bytes) = match body {
            SavedBody::NotModified => (&self.not_modified, None),
            SavedBody::Unchanged => (&self.unchanged, Some(&self.unchanged_bytes)),
            SavedBody::Copy => (&self.copy, Some(&self.copy_bytes)),
        };
        count.increment(1);
        if let Some((counter, bytes)) = count_bytes.zip(bytes) {
            counter.increment(bytes);
        }
    }
}

impl fmt::Debug for Instruments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Instruments")
    }
}

/// Describes an instrument to the recorder.
fn describe(of: &Instrument) {
    let unit = match of.name {
        name if name.ends_with("_seconds") => Unit::Seconds,
        name if name.ends_with("_bytes_total") => Unit::Bytes,
        _ => Unit::Count,
    };
    match of.kind {
        InstrumentKind::Counter => describe_counter!(of.name, unit, of.help),
        InstrumentKind::Gauge => describe_gauge!(of.name, unit, of.help),
        InstrumentKind::Histogram => describe_histogram!(of.name, unit, of.help),
    }
}

fn labels(store: &str) -> Vec<Label> {
    vec![Label::new("store", store.to_owned())]
}

/// Registers the counters of an instrument: one for each value of its label, in order, or a single
/// counter without a label.
pub(super) fn counters<const N: usize>(of: &Instrument, store: &str) -> [Counter; N] {
    let (label, values) = of.label.unwrap_or_default();
    array::from_fn(|n| {
        let mut labels = labels(store);
        labels.extend(values.get(n).map(|value| Label::new(label, *value)));
        counter!(of.name, labels)
    })
}
