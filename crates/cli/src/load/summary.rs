//! What a load came to, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use simkeep::load::Loaded;

use crate::words::{bytes, count, figure, per_second, some_names, time_taken, without_fingerprint};

/// What a load came to.
pub(super) struct Summary {
    pub(super) loaded: Loaded,
    /// The epochs that began with it and are in use now.
    pub(super) in_use: Vec<String>,
    /// Records that are no news of a visit, but restated.
    pub(super) restated: u64,
    /// Records that are no visits, but weights.
    pub(super) weighed: u64,
    /// Texts that have no fingerprint: too short to tell from others.
    pub(super) too_short: u64,
    pub(super) broken: u64,
    pub(super) wrong_digests: u64,
    pub(super) passed: BTreeMap<&'static str, u64>,
    pub(super) elapsed: Duration,
}

impl Summary {
    fn known(&self) -> u64 {
        let others = self.restated + self.weighed;
        self.loaded.observations.saturating_sub(others + self.loaded.visits)
    }

    /// The names of the epochs that began.
    fn begun(&self) -> impl Iterator<Item = &str> {
        self.loaded.begun.iter().map(|info| info.name.as_str())
    }

    /// For programs.
    pub(super) fn object(&self) -> Value {
        json!({
            "records": self.loaded.observations,
            "visits": self.loaded.visits,
            "known": self.known(),
            "restated": self.loaded.restated,
            "weighed": self.loaded.weighed,
            "too_short": self.too_short,
            "pages": self.loaded.pages,
            "new": self.loaded.new_pages,
            "segments": self.loaded.segments,
            "segment_bytes": self.loaded.bytes,
            "epochs_begun": self.begun().collect::<Vec<_>>(),
            "epochs_in_use": self.in_use,
            "passed_over": self.passed,
            "broken": self.broken,
            "wrong_digests": self.wrong_digests,
            "seconds": (self.elapsed.as_secs_f64() * 1000.0).round() / 1000.0,
            "observations_per_second": per_second(self.elapsed, self.loaded.observations).round(),
        })
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = |name: &str, number: u64, remark: &str| {
            lines.push(figure(name, number, remark));
        };
        line("records", self.loaded.observations, "");
        line("visits", self.loaded.visits, "that were not known");
        if self.loaded.restated > 0 {
            line(
                "restated",
                self.loaded.restated,
                "fingerprints of what was seen, in another epoch",
            );
        }
        if self.loaded.weighed > 0 {
            line("weighed", self.loaded.weighed, "weights that were not known");
        }
        line("pages", self.loaded.pages, "");
        line("  new pages", self.loaded.new_pages, "");
        if self.too_short > 0 {
            line("too short to tell", self.too_short, &without_fingerprint());
        }
        if self.known() > 0 {
            line("known already", self.known(), "or told twice");
        }
        if let number @ 1.. = self.loaded.begun.len() {
            line("epochs begun", number as u64, &some_names(self.begun()));
        }
        if let number @ 1.. = self.in_use.len() {
            let names = some_names(self.in_use.iter().map(String::as_str));
            line("  in use now", number as u64, &names);
        }
        if !self.passed.is_empty() {
            let kinds: Vec<String> =
                self.passed.iter().map(|(kind, n)| format!("{kind} {}", count(*n))).collect();
            line("passed over", self.passed.values().sum(), &kinds.join(", "));
        }
        if self.broken > 0 {
            line("broken", self.broken, "skipped");
        }
        if self.wrong_digests > 0 {
            line("wrong digests", self.wrong_digests, "their own are used");
        }
        lines.push(format!("{:<25}{:>13}", "written", bytes(self.loaded.bytes)));
        lines.push(time_taken(self.elapsed, self.loaded.observations));
        lines
    }
}
