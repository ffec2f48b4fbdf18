//! An epoch, and what there is of it.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::inspect::EpochOverview;
use simkeep::{EpochInfo, Snapshot};

use super::{EpochName, Role};

/// An epoch: what made fingerprints, and what they are for.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Epoch<'a> {
    epoch: EpochName<'a>,
    /// Its number in this store, from 0 on.
    number: u32,
    role: Role,
    /// The largest distance that is a minor change, in bits.
    minor: u32,
    /// The largest distance that is a moderate change.
    moderate: u32,
    state: State,
    /// How many visits the store knew when it began.
    begun_at_visit: u64,
    /// Different fingerprints, counted once for each segment that has them.
    fingerprints: u64,
}

/// Whether an epoch is in use (the newest that verdicts or near-duplicates go by), another that lives,
/// or has ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    InUse,
    Live,
    Ended,
}

impl State {
    fn new(info: &EpochInfo, is_in_use: bool) -> State {
        match (info.ended, is_in_use) {
            (true, _) => State::Ended,
            (false, true) => State::InUse,
            (false, false) => State::Live,
        }
    }

    /// As people read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::InUse => "in use",
            State::Live => "live",
            State::Ended => "ended",
        }
    }
}

impl<'a> Epoch<'a> {
    /// An epoch of a snapshot.
    pub(crate) fn of(snapshot: &Snapshot, info: &'a EpochInfo) -> Epoch<'a> {
        let in_use = [snapshot.change_epoch(), snapshot.near_epoch()].contains(&info.epoch);
        Epoch::new(info, in_use, snapshot.fingerprints(info.epoch))
    }

    fn new(info: &'a EpochInfo, is_in_use: bool, fingerprints: u64) -> Epoch<'a> {
        Epoch {
            epoch: EpochName(&info.name),
            number: info.epoch.count(),
            role: Role(info.role),
            minor: info.bands.minor,
            moderate: info.bands.moderate,
            state: State::new(info, is_in_use),
            begun_at_visit: info.begun,
            fingerprints,
        }
    }

    /// Whether it is in use, lives or has ended.
    pub(crate) fn state(&self) -> State {
        self.state
    }
}

impl<'a> From<&'a EpochOverview> for Epoch<'a> {
    fn from(of: &'a EpochOverview) -> Epoch<'a> {
        Epoch::new(&of.info, of.is_in_use, of.fingerprints)
    }
}
