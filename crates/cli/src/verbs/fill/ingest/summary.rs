//! Counts of the records of an ingest.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::fingerprint::Band;
use simkeep::{Entry, EpochInfo, FetchFailure, Outcome, PropertyOutcome, RestateOutcome, Verdict};

use crate::exit::VerbError;
use crate::input::epochs::with_roles;
use crate::output::json::EpochName;
use crate::output::words::{
    abbreviated_names, bytes, count, figure, per_second, rounded, time_taken, without_fingerprint,
};

/// Counts of records and of their outcomes.
#[derive(Default)]
pub(super) struct IngestSummary {
    pub(super) records: u64,
    /// Pages that were new to the store.
    pub(super) new_pages: u64,
    /// First contents of their pages.
    first: u64,
    same: u64,
    /// Records of unchanged content of pages whose content was never seen.
    unseen: u64,
    changed: u64,
    /// Changes with a known distance: minor, moderate and major.
    minor: u64,
    moderate: u64,
    major: u64,
    reverted: u64,
    gone: u64,
    failed: u64,
    /// Failed visits by the kind of failure, including known ones.
    failures: BTreeMap<&'static str, u64>,
    /// Records of redirects and of binary content, including known ones.
    pub(super) redirects: u64,
    pub(super) not_text: u64,
    pub(super) known: u64,
    out_of_order: u64,
    restated: u64,
    /// Content to restate that was never seen.
    missing: u64,
    /// Weights set without a visit.
    weights: u64,
    /// Weights not set because the page is unknown.
    weights_missing: u64,
    /// Classes set without a visit.
    classes: u64,
    /// Classes not set because the page is unknown.
    classes_missing: u64,
    /// Outcomes that a later version of the library may return and this tool does not know.
    other: u64,
    /// Observations of content far from all known versions of its page.
    novel: u64,
    /// Observations with other pages near their content.
    near: u64,
    /// Observations with other pages of exactly their content.
    copies: u64,
    /// Texts without a fingerprint, because they are too short.
    pub(super) too_short: u64,
    /// Revisits whose original was not found.
    pub(super) revisits_alone: u64,
    passed: BTreeMap<&'static str, u64>,
    pub(super) broken: u64,
    /// Broken records that are visits later than the clock allows.
    pub(super) future_visits: u64,
    /// Records whose content does not have the digest that an archive declares.
    pub(super) wrong_digests: u64,
    /// Records whose entity tag is too long to be kept.
    pub(super) long_etags: u64,
    /// The epochs that began.
    pub(super) begun: Vec<EpochInfo>,
    /// The epochs that began and are in use now.
    pub(super) in_use: Vec<EpochInfo>,
    /// Bytes of the files that were read, before decompression.
    pub(super) bytes: u64,
    pub(super) elapsed: Duration,
}

impl IngestSummary {
    /// The failure that all records are broken, if they are.
    pub(super) fn none_sound(&self) -> Option<VerbError> {
        let is_sound = self.records > 0 || !self.passed.is_empty() || self.broken == 0;
        let broken = || match self.broken {
            1 => "the only record is broken: nothing was stored".to_owned(),
            broken => format!("all {} records are broken: nothing was stored", count(broken)),
        };
        (!is_sound).then(|| VerbError::Broken(broken()))
    }

    pub(super) fn passed(&mut self, kind: &'static str) {
        *self.passed.entry(kind).or_default() += 1;
    }

    /// Counts the reason of a failed visit.
    pub(super) fn failed_by(&mut self, failure: FetchFailure) {
        *self.failures.entry(failure.key()).or_default() += 1;
    }

    /// Counts the outcome of an observation.
    pub(super) fn outcome(&mut self, outcome: &Outcome) {
        if let (Verdict::Changed { .. }, Some(meaning)) = (outcome.verdict, outcome.meaning) {
            match meaning.band {
                Band::None => {}
                Band::Minor => self.minor += 1,
                Band::Moderate => self.moderate += 1,
                Band::Major => self.major += 1,
            }
        }
        let count = match outcome.verdict {
            Verdict::New => &mut self.first,
            Verdict::Same(_) => &mut self.same,
            Verdict::Unseen => &mut self.unseen,
            Verdict::Changed { .. } => &mut self.changed,
            Verdict::Reverted { .. } => &mut self.reverted,
            Verdict::Gone => &mut self.gone,
            Verdict::Failed => &mut self.failed,
            Verdict::OutOfOrder => &mut self.out_of_order,
            // The visit was known already, but its fingerprint in another epoch is new.
            Verdict::Known if outcome.also => &mut self.restated,
            Verdict::Known => &mut self.known,
            _ => &mut self.other,
        };
        *count += 1;
        self.novel += u64::from(outcome.novel);
        self.near += u64::from(!outcome.near.is_empty());
        self.copies += u64::from(!outcome.copies.is_empty());
    }

    pub(super) fn restated(&mut self, outcome: RestateOutcome) {
        let count = match outcome {
            RestateOutcome::Stored => &mut self.restated,
            RestateOutcome::Known => &mut self.known,
            RestateOutcome::Missing => &mut self.missing,
            _ => &mut self.other,
        };
        *count += 1;
    }

    /// Counts the outcome of a weight or a class.
    pub(super) fn count_property(&mut self, entry: &Entry, outcome: PropertyOutcome) {
        let (stored, missing) = if entry.class().is_some() {
            (&mut self.classes, &mut self.classes_missing)
        } else {
            (&mut self.weights, &mut self.weights_missing)
        };
        let count = match outcome {
            PropertyOutcome::Stored => stored,
            PropertyOutcome::Known => &mut self.known,
            PropertyOutcome::Missing => missing,
            _ => &mut self.other,
        };
        *count += 1;
    }

    /// The number of records in the store, whether they are new or known.
    pub(super) fn observed(&self) -> u64 {
        let kept = self.same + self.unseen + self.known + self.out_of_order;
        let given = self.weights + self.classes;
        self.versions() + kept + self.gone + self.failed + self.restated + given + self.other
    }

    fn versions(&self) -> u64 {
        self.first + self.changed + self.reverted
    }

    /// The counts for JSON.
    pub(super) fn answer(&self) -> IngestResult<'_> {
        IngestResult {
            records: self.records,
            new_pages: self.new_pages,
            new_versions: self.versions(),
            new: self.first,
            changed: self.changed,
            changed_minor: self.minor,
            changed_moderate: self.moderate,
            changed_major: self.major,
            reverted: self.reverted,
            same: self.same,
            unseen: self.unseen,
            gone: self.gone,
            failed: self.failed,
            failures: &self.failures,
            redirects: self.redirects,
            not_text: self.not_text,
            known: self.known,
            out_of_order: self.out_of_order,
            restated: self.restated,
            missing: self.missing,
            weights: self.weights,
            weights_missing: self.weights_missing,
            classes: self.classes,
            classes_missing: self.classes_missing,
            other: self.other,
            novel: self.novel,
            near_duplicates: self.near,
            exact_copies: self.copies,
            short_texts: self.too_short,
            revisits_without_original: self.revisits_alone,
            skipped: &self.passed,
            broken: self.broken,
            future_visits: self.future_visits,
            wrong_digests: self.wrong_digests,
            long_etags: self.long_etags,
            epochs_begun: names(&self.begun),
            epochs_in_use: names(&self.in_use),
            read_bytes: self.bytes,
            elapsed_seconds: rounded(self.elapsed),
            records_per_second: per_second(self.elapsed, self.records).round(),
        }
    }

    /// The counts for people: the number of records, and all other counts that are not zero.
    pub(super) fn lines(&self, strict: bool) -> Vec<String> {
        let mut lines = vec![figure("records", self.records, "")];
        let mut line = |name: &str, number: u64, remark: &str| {
            if number > 0 {
                lines.push(figure(name, number, remark));
            }
        };
        line("new pages", self.new_pages, "");
        line("versions", self.versions(), "");
        line("  first", self.first, "of their page");
        line("  changed", self.changed, "");
        line("    minor", self.minor, "less than about 1 % of the words");
        line("    moderate", self.moderate, "1 to 10 % of the words");
        line("    major", self.major, "more than 10 % of the words");
        line("  reverted", self.reverted, "to an earlier version");
        line("same", self.same, "");
        line("never seen", self.unseen, "not modified, but without known content");
        line("gone", self.gone, "");
        let failures = by_kind(&self.failures);
        line("failed", self.failed, &failures);
        line("known already", self.known, "observed before");
        line("out of order", self.out_of_order, "not later than the last visit of the page");
        line("restated", self.restated, "fingerprints added to known visits");
        line("not seen before", self.missing, "so not restated");
        line("weights", self.weights, "set without a visit");
        line("not visited before", self.weights_missing, "so no weight was set");
        line("classes", self.classes, "set without a visit");
        line("not visited before", self.classes_missing, "so no class was set");
        line("other verdicts", self.other, "");
        line("unresolved revisits", self.revisits_alone, "their original was not found");
        line("novel", self.novel, "far from the last versions of their page");
        line("near-duplicates", self.near, "of other pages");
        line("exact copies", self.copies, "of other pages");
        line("redirects", self.redirects, "");
        line("not text", self.not_text, "no fingerprint; compared by digest");
        line("too short", self.too_short, &without_fingerprint());
        let begun = abbreviated_names(self.begun.iter().map(|info| info.name.as_str()));
        line("epochs begun", self.begun.len() as u64, &begun);
        line("  in use now", self.in_use.len() as u64, &with_roles(&self.in_use));
        line("skipped", self.passed.values().sum(), &by_kind(&self.passed));
        line("broken", self.broken, if strict { "the run stopped there" } else { "skipped" });
        line("  in the future", self.future_visits, "later than the clock allows");
        line("wrong digests", self.wrong_digests, "the computed digests are used");
        line("long entity tags", self.long_etags, "over 128 bytes, not kept");
        lines.push(format!("{:<25}{:>13}", "read", bytes(self.bytes)));
        lines.push(time_taken(self.elapsed, self.records));
        lines
    }
}

/// Counts by kind, for people.
fn by_kind(counts: &BTreeMap<&'static str, u64>) -> String {
    let kinds = counts.iter().map(|(kind, n)| format!("{kind} {}", count(*n)));
    kinds.collect::<Vec<_>>().join(", ")
}

fn names(epochs: &[EpochInfo]) -> Vec<EpochName<'_>> {
    epochs.iter().map(|info| EpochName(&info.name)).collect()
}

/// Counts of the records of an ingest.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IngestResult<'a> {
    records: u64,
    /// Pages that were new to the store.
    new_pages: u64,
    /// Observations of new, changed or reverted content.
    new_versions: u64,
    /// First contents of their pages.
    new: u64,
    changed: u64,
    /// Changes of about less than 1 % of the words; only changes with a known distance count.
    changed_minor: u64,
    /// Changes of about 1 to 10 % of the words.
    changed_moderate: u64,
    /// Changes of more than about 10 % of the words.
    changed_major: u64,
    reverted: u64,
    same: u64,
    /// Visits that reported unchanged content of a page whose content was never seen.
    unseen: u64,
    gone: u64,
    failed: u64,
    /// Records of failed visits by kind: "client-error", "server-error", "no-content", "partial",
    /// "incomplete", "no-target", "no-response".
    failures: &'a BTreeMap<&'static str, u64>,
    /// Records of redirects.
    redirects: u64,
    /// Records of binary content, such as a PDF or an image, which is compared by digest.
    not_text: u64,
    /// Records that the store had already.
    known: u64,
    /// Visits not later than the last visit of their page.
    out_of_order: u64,
    restated: u64,
    /// Content to restate that was never seen.
    missing: u64,
    /// Weights set without a visit.
    weights: u64,
    /// Weights not set because the page is unknown.
    weights_missing: u64,
    /// Classes set without a visit.
    classes: u64,
    /// Classes not set because the page is unknown.
    classes_missing: u64,
    other: u64,
    /// Observations of content far from the last versions of the page.
    novel: u64,
    /// Observations of content that other pages are near.
    near_duplicates: u64,
    /// Observations of content that other pages have exactly.
    exact_copies: u64,
    /// Texts without a fingerprint, because they are too short.
    short_texts: u64,
    /// Revisits whose original was not found.
    revisits_without_original: u64,
    /// The number of records that are not about pages, by their kind.
    skipped: &'a BTreeMap<&'static str, u64>,
    broken: u64,
    /// Broken records that are visits later than the clock allows.
    future_visits: u64,
    /// Records whose content does not have the digest that an archive declares.
    wrong_digests: u64,
    /// Records whose entity tag has more than 128 bytes, so that it is not kept.
    long_etags: u64,
    epochs_begun: Vec<EpochName<'a>>,
    /// The epochs that began and are in use now.
    epochs_in_use: Vec<EpochName<'a>>,
    /// Bytes of the files that were read, before decompression.
    read_bytes: u64,
    elapsed_seconds: f64,
    records_per_second: f64,
}
