//! The metrics of an open store, by name. `docs/metrics.md` is made from this list.

use std::fmt;

/// A metric of an open store.
///
/// ```
/// // The configuration of a dashboard.
/// for instrument in simkeep::metrics::ALL {
///     println!("{} ({}): {}", instrument.name, instrument.kind, instrument.help);
/// }
/// # assert!(simkeep::metrics::ALL.iter().all(|instrument| instrument.name.starts_with("simkeep_")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instrument {
    /// The name of the metric, which ends with the base unit: seconds, bytes.
    pub name: &'static str,
    /// The type of the metric.
    pub kind: InstrumentKind,
    /// The label of the metric besides `store`, and the values of the label.
    pub label: Option<(&'static str, &'static [&'static str])>,
    /// The description of the metric, in one sentence.
    pub help: &'static str,
}

/// The type of an [`Instrument`].
///
/// ```
/// use simkeep::metrics::{ALL, InstrumentKind};
/// let commit = ALL.iter().find(|instrument| instrument.name == "simkeep_commit_seconds").unwrap();
/// assert_eq!(commit.kind, InstrumentKind::Histogram);
/// assert_eq!(commit.kind.to_string(), "histogram"); // in the notation of Prometheus
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstrumentKind {
    /// A number that only grows, and starts at 0 in each process.
    Counter,
    /// A number that rises and falls.
    Gauge,
    /// A distribution of durations.
    Histogram,
}

/// Formats the type in the notation of Prometheus, for example "counter".
impl fmt::Display for InstrumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InstrumentKind::Counter => "counter",
            InstrumentKind::Gauge => "gauge",
            InstrumentKind::Histogram => "histogram",
        })
    }
}

pub(super) const OBSERVATIONS: Instrument = Instrument {
    name: "simkeep_observations_total",
    kind: InstrumentKind::Counter,
    label: Some(("verdict", &VERDICTS)),
    help: "Observed visits by verdict. Loads, restatements and properties do not count.",
};

/// The verdicts, as `--json` formats them.
const VERDICTS: [&str; 9] =
    ["new", "same", "unseen", "changed", "reverted", "gone", "failed", "out_of_order", "known"];

pub(super) const COMMIT: Instrument = Instrument {
    name: "simkeep_commit_seconds",
    kind: InstrumentKind::Histogram,
    label: None,
    help: "Duration of a group commit: one write transaction of the catalog.",
};

pub(super) const SYNCS: Instrument = Instrument {
    name: "simkeep_syncs_total",
    kind: InstrumentKind::Counter,
    label: Some(("what", &SYNCED)),
    help: "Successful syncs of files and directories.",
};

const SYNCED: [&str; 6] = ["catalog", "segment", "snapshot", "table", "other", "directory"];

pub(super) const WRITTEN: Instrument = Instrument {
    name: "simkeep_written_bytes_total",
    kind: InstrumentKind::Counter,
    label: Some(("what", &WRITTEN_TO)),
    help: "Bytes passed to the system for writing, by kind of file. The journal is in the \
           catalog; backups do not count.",
};

const WRITTEN_TO: [&str; 5] = ["catalog", "segment", "snapshot", "table", "other"];

pub(super) const STALL: Instrument = Instrument {
    name: "simkeep_stall_seconds",
    kind: InstrumentKind::Histogram,
    label: None,
    help: "Duration of each wait of a call because two memtables were full, merges were far \
           behind, or a load was finishing. Calls that do not wait are not included.",
};

pub(super) const SEAL: Instrument = Instrument {
    name: "simkeep_seal_seconds",
    kind: InstrumentKind::Histogram,
    label: None,
    help: "Duration of writing a memtable as a segment and making it live.",
};

pub(super) const MERGE: Instrument = Instrument {
    name: "simkeep_merge_seconds",
    kind: InstrumentKind::Histogram,
    label: None,
    help: "Duration of merging segments into one and making it live.",
};

pub(super) const SEARCH_CUT: Instrument = Instrument {
    name: "simkeep_search_cut_total",
    kind: InstrumentKind::Counter,
    label: None,
    help: "Incomplete searches, for visits and for queries: more pages were near than the limit, \
           or a dense bucket of fingerprints was cut short.",
};

pub(super) const LONG_ETAGS: Instrument = Instrument {
    name: "simkeep_long_etags_total",
    kind: InstrumentKind::Counter,
    label: None,
    help: "Observed visits whose entity tag has more than 128 bytes and is not kept.",
};

pub(super) const SAVED_BODIES: Instrument = Instrument {
    name: "simkeep_saved_bodies_total",
    kind: InstrumentKind::Counter,
    label: Some(("what", &SAVED)),
    help: "Bodies of observed visits that were not transferred (not modified), that have the \
           digest of the content before (unchanged), or whose content another page has (copy).",
};

const SAVED: [&str; 3] = ["not_modified", "unchanged", "copy"];

pub(super) const SAVED_BYTES: Instrument = Instrument {
    name: "simkeep_saved_bytes_total",
    kind: InstrumentKind::Counter,
    label: Some(("what", &SAVED_KNOWN)),
    help: "Known lengths of these bodies, as transferred. A response of \"not modified\" has no \
           length; `simkeep stats --saved` finds it in the history.",
};

const SAVED_KNOWN: [&str; 2] = ["unchanged", "copy"];

pub(super) const SEGMENTS: Instrument = Instrument {
    name: "simkeep_segments",
    kind: InstrumentKind::Gauge,
    label: None,
    help: "Live segments.",
};

pub(super) const POISONED: Instrument = Instrument {
    name: "simkeep_poisoned",
    kind: InstrumentKind::Gauge,
    label: None,
    help: "1 if the store accepts no more writes, after a failed write or a broken invariant; \
           otherwise 0. Alert on it.",
};

/// All metrics of an open store.
pub const ALL: [Instrument; 13] = [
    OBSERVATIONS,
    COMMIT,
    STALL,
    SEAL,
    MERGE,
    SEARCH_CUT,
    LONG_ETAGS,
    SAVED_BODIES,
    SAVED_BYTES,
    SYNCS,
    WRITTEN,
    SEGMENTS,
    POISONED,
];
