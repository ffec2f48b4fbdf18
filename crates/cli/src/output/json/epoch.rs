//! An epoch and its counts, for JSON.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::EpochOverview;
use simkeep::{EpochInfo, Snapshot};

use super::{EpochName, Role};

/// An epoch: the recipe or program that makes fingerprints, and the purpose of the fingerprints.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct EpochSummary<'a> {
    epoch: EpochName<'a>,
    /// The number of the epoch in this store, from 0.
    number: u32,
    role: Role,
    /// The largest distance of a minor change, in bits.
    minor: u32,
    /// The largest distance of a moderate change, in bits.
    moderate: u32,
    state: EpochState,
    /// The number of visits in the store when the epoch began.
    begun_at_visit: u64,
    /// The number of different fingerprints, counted once for each segment that contains them.
    fingerprints: u64,
}

/// The state of an epoch: in use (the newest epoch for verdicts or for near-duplicates), otherwise
/// live, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EpochState {
    InUse,
    Live,
    Ended,
}

impl EpochState {
    fn new(info: &EpochInfo, is_in_use: bool) -> EpochState {
        match (info.ended, is_in_use) {
            (true, _) => EpochState::Ended,
            (false, true) => EpochState::InUse,
            (false, false) => EpochState::Live,
        }
    }

    /// The state in words, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            EpochState::InUse => "in use",
            EpochState::Live => "live",
            EpochState::Ended => "ended",
        }
    }
}

impl<'a> EpochSummary<'a> {
    /// The JSON form of an epoch of a snapshot.
    pub(crate) fn of(snapshot: &Snapshot, info: &'a EpochInfo) -> EpochSummary<'a> {
        let in_use = [snapshot.change_epoch(), snapshot.near_epoch()].contains(&info.epoch);
        EpochSummary::new(info, in_use, snapshot.fingerprints(info.epoch))
    }

    fn new(info: &'a EpochInfo, is_in_use: bool, fingerprints: u64) -> EpochSummary<'a> {
        EpochSummary {
            epoch: EpochName(&info.name),
            number: info.epoch.count(),
            role: Role(info.role),
            minor: info.bands.minor,
            moderate: info.bands.moderate,
            state: EpochState::new(info, is_in_use),
            begun_at_visit: info.begun,
            fingerprints,
        }
    }

    /// The state of the epoch.
    pub(crate) fn state(&self) -> EpochState {
        self.state
    }
}

impl<'a> From<&'a EpochOverview> for EpochSummary<'a> {
    fn from(of: &'a EpochOverview) -> EpochSummary<'a> {
        EpochSummary::new(&of.info, of.is_in_use, of.fingerprints)
    }
}
