//! Counts of the records of a load.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::EpochInfo;
use simkeep::load::Loaded;

use crate::input::epochs::with_roles;
use crate::output::json::EpochName;
use crate::output::words::{
    abbreviated_names, bytes, count, figure, per_second, rounded, time_taken, without_fingerprint,
};

/// The result of a load.
pub(super) struct LoadSummary {
    pub(super) loaded: Loaded,
    /// The epochs that began with it and are in use now.
    pub(super) in_use: Vec<EpochInfo>,
    /// Records that are restatements instead of visits.
    pub(super) restated: u64,
    /// Records that are weights and classes instead of visits.
    pub(super) given: u64,
    /// Texts without a fingerprint, because they are too short.
    pub(super) too_short: u64,
    pub(super) broken: u64,
    /// Broken records that are visits later than the clock allows.
    pub(super) future_visits: u64,
    pub(super) wrong_digests: u64,
    /// Records whose entity tag is too long to be kept.
    pub(super) long_etags: u64,
    pub(super) passed: BTreeMap<&'static str, u64>,
    pub(super) elapsed: Duration,
}

impl LoadSummary {
    fn known(&self) -> u64 {
        let others = self.restated + self.given;
        self.loaded.observations.saturating_sub(others + self.loaded.visits)
    }

    /// The names of the epochs that began.
    fn begun(&self) -> impl Iterator<Item = &str> {
        self.loaded.begun.iter().map(|info| info.name.as_str())
    }

    /// The counts for JSON.
    pub(super) fn answer(&self) -> LoadResult<'_> {
        LoadResult {
            records: self.loaded.observations,
            visits: self.loaded.visits,
            known: self.known(),
            restated: self.loaded.restated,
            weights: self.loaded.weights,
            classes: self.loaded.classes,
            short_texts: self.too_short,
            pages: self.loaded.pages,
            new_pages: self.loaded.new_pages,
            new_segments: self.loaded.segments,
            written_bytes: self.loaded.bytes,
            epochs_begun: self.begun().map(EpochName).collect(),
            epochs_in_use: self.in_use.iter().map(|info| EpochName(&info.name)).collect(),
            skipped: &self.passed,
            broken: self.broken,
            future_visits: self.future_visits,
            wrong_digests: self.wrong_digests,
            long_etags: self.long_etags,
            elapsed_seconds: rounded(self.elapsed),
            records_per_second: per_second(self.elapsed, self.loaded.observations).round(),
        }
    }

    /// The counts for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = |name: &str, number: u64, remark: &str| {
            lines.push(figure(name, number, remark));
        };
        line("records", self.loaded.observations, "");
        line("visits", self.loaded.visits, "not known before");
        if self.loaded.restated > 0 {
            line("restated", self.loaded.restated, "fingerprints of known visits in another epoch");
        }
        if self.loaded.weights > 0 {
            line("weights", self.loaded.weights, "not known before");
        }
        if self.loaded.classes > 0 {
            line("classes", self.loaded.classes, "not known before");
        }
        line("pages", self.loaded.pages, "");
        line("  new pages", self.loaded.new_pages, "");
        if self.too_short > 0 {
            line("too short", self.too_short, &without_fingerprint());
        }
        if self.known() > 0 {
            line("known already", self.known(), "or repeated in the input");
        }
        if let number @ 1.. = self.loaded.begun.len() {
            line("epochs begun", number as u64, &abbreviated_names(self.begun()));
        }
        if let number @ 1.. = self.in_use.len() {
            line("  in use now", number as u64, &with_roles(&self.in_use));
        }
        if !self.passed.is_empty() {
            let kinds: Vec<String> =
                self.passed.iter().map(|(kind, n)| format!("{kind} {}", count(*n))).collect();
            line("skipped", self.passed.values().sum(), &kinds.join(", "));
        }
        if self.broken > 0 {
            line("broken", self.broken, "skipped");
        }
        if self.future_visits > 0 {
            line("  in the future", self.future_visits, "later than the clock allows");
        }
        if self.wrong_digests > 0 {
            line("wrong digests", self.wrong_digests, "the computed digests are used");
        }
        if self.long_etags > 0 {
            line("long entity tags", self.long_etags, "over 128 bytes, not kept");
        }
        lines.push(format!("{:<25}{:>13}", "written", bytes(self.loaded.bytes)));
        lines.push(time_taken(self.elapsed, self.loaded.observations));
        lines
    }
}

/// Counts of the records of a load.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LoadResult<'a> {
    records: u64,
    /// Visits that were new to the store.
    visits: u64,
    /// Visits that the store had already, or that the input repeats.
    known: u64,
    /// Fingerprints in another epoch than that of their visit that were new to the store.
    restated: u64,
    /// Weights that were new to the store.
    weights: u64,
    /// Classes that were new to the store.
    classes: u64,
    /// Texts without a fingerprint, because they are too short.
    short_texts: u64,
    /// Pages with new visits, fingerprints, weights or classes.
    pages: u64,
    /// Pages that were new to the store.
    new_pages: u64,
    new_segments: usize,
    /// The size of the new segments in bytes.
    written_bytes: u64,
    epochs_begun: Vec<EpochName<'a>>,
    /// The epochs that began and are in use now.
    epochs_in_use: Vec<EpochName<'a>>,
    /// The number of records that are not about pages, by their kind.
    skipped: &'a BTreeMap<&'static str, u64>,
    broken: u64,
    /// Broken records that are visits later than the clock allows.
    future_visits: u64,
    /// Records whose content does not have the digest that an archive declares.
    wrong_digests: u64,
    /// Records whose entity tag has more than 128 bytes, so that it is not kept.
    long_etags: u64,
    elapsed_seconds: f64,
    records_per_second: f64,
}
