//! `--outcomes`: reports the outcome of each record to a program that waits for it.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{OperationResult, OriginalBy, PropertyOutcome, RestateOutcome};
use simkeep_formats::{BrokenRecord, InputQuery};

use super::pending::PendingRequest;
use super::query;
use super::summary;
use crate::exit::VerbError;
use crate::output::Output;
use crate::output::json::{Band, Fingerprint, JsonRatio, Time, Verdict};
use crate::output::{visit, words};

/// Writes a line for each record and each question, in the order of the input.
pub(super) struct OutcomePrinter<'o> {
    output: &'o mut Output,
    /// The lines to write, in order.
    pending: Vec<PendingLine>,
    /// Whether lines were written but not flushed.
    is_held: bool,
}

/// A line to write.
enum PendingLine {
    /// The outcome of a record with `requests` requests in the batch.
    Record { url: String, time: i64, requests: usize, is_known: bool },
    /// A record that was refused.
    Broken(BrokenRecord),
    /// A record of this kind, which is not about a page.
    Passed(&'static str),
}

/// A line of output.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum OutcomeLine<'a> {
    Outcome(RecordOutcome<'a>),
    Refused(RefusedRecord<'a>),
    Passed(SkippedRecord),
    Answer(query::QueryAnswer<'a>),
    Summary(summary::IngestResult<'a>),
}

/// The outcome of a record.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RecordOutcome<'a> {
    url: &'a str,
    t: Time,
    /// Whether the record added something to the store.
    stored: bool,
    /// The verdict of the visit; null if the record is not a visit.
    verdict: Option<Verdict>,
    /// The evidence that the content is the same, or that it changed although it has no
    /// fingerprint: "digest", "fingerprint" or "not-modified"; null for other verdicts.
    by: Option<&'static str>,
    /// The time when the version that the page reverted to was last seen; null if it did not
    /// revert.
    to: Option<Time>,
    /// The number of bits that differ from the previous version; null if unknown.
    distance: Option<u32>,
    /// The size of the change, as for a text of at least 100 words; in a shorter text it means
    /// little.
    band: Option<Band>,
    /// The estimated fraction of words that changed: a lower and an upper bound; null without a
    /// distance.
    words_changed: Option<[JsonRatio; 2]>,
    /// The fingerprint of the content; null if there is no content, or it has no fingerprint.
    fingerprint: Option<Fingerprint>,
    /// Whether the content is far from all of the page's last versions.
    novel: bool,
    /// The value of processing the content further, from 0 to the weight of the page.
    priority: f64,
    /// Other pages with exactly this content, in the order in which they were first seen with it.
    copies: Vec<ExactCopyPage<'a>>,
    /// Other pages near the content, the nearest first.
    near: Vec<NearDuplicatePage<'a>>,
    /// The page that ranks first among copies and near pages; null if this page ranks first, or
    /// there are none.
    original: Option<OriginalPage<'a>>,
    /// The first capture of exactly this content, on any page, before this visit; null if there is
    /// none. A revisit record of an archive refers to it.
    refers_to: Option<CapturedPage<'a>>,
    /// Whether the lists of copies and near pages are complete.
    complete: bool,
}

/// An exact copy.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExactCopy")]
struct ExactCopyPage<'a> {
    url: &'a str,
    /// The time when the page was first seen with this content.
    first: Time,
}

/// A visit that saw the content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Capture")]
struct CapturedPage<'a> {
    url: &'a str,
    t: Time,
}

/// A page near the content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NearDuplicate")]
struct NearDuplicatePage<'a> {
    url: &'a str,
    /// The number of bits in which its fingerprint differs.
    distance: u32,
    fingerprint: Fingerprint,
    /// The time when the page was first seen with its current content.
    first: Time,
}

/// The original of the content.
#[derive(Serialize, JsonSchema)]
struct OriginalPage<'a> {
    url: &'a str,
    /// The number of bits in which its fingerprint differs.
    distance: u32,
    by: OriginalMatch,
}

/// The evidence that two pages are alike.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum OriginalMatch {
    Digest,
    Fingerprint,
    Near,
}

/// A record that was refused.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RefusedRecord<'a> {
    /// The position of the record: the file and the line, or the page.
    at: &'a str,
    why: &'a str,
    /// Always true.
    is_broken: bool,
}

/// A record that is not about a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SkippedRecord {
    /// The kind of the record.
    skipped: &'static str,
}

impl<'o> OutcomePrinter<'o> {
    pub(super) fn new(output: &'o mut Output) -> OutcomePrinter<'o> {
        OutcomePrinter { output, pending: Vec::new(), is_held: false }
    }

    /// The number of lines to write.
    pub(super) fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// Whether another program may be waiting for a line.
    pub(super) fn is_due(&self) -> bool {
        self.is_held || !self.pending.is_empty()
    }

    /// Adds a record that was taken: the number of its requests in the batch, and whether it is a
    /// known visit.
    pub(super) fn record(&mut self, url: String, time: i64, (requests, is_known): (usize, bool)) {
        self.pending.push(PendingLine::Record { url, time, requests, is_known });
    }

    /// Removes a request of the batch, counted from 0.
    pub(super) fn withdraw(&mut self, request: usize) {
        let mut before = 0;
        for owed in &mut self.pending {
            let PendingLine::Record { requests, .. } = owed else { continue };
            if request < before + *requests {
                *requests -= 1;
                return;
            }
            before += *requests;
        }
    }

    /// Adds a record that was refused.
    pub(super) fn broken(&mut self, broken: BrokenRecord) {
        self.pending.push(PendingLine::Broken(broken));
    }

    /// Adds a record that was skipped.
    pub(super) fn passed(&mut self, kind: &'static str) {
        self.pending.push(PendingLine::Passed(kind));
    }

    /// Writes all lines, given the results of the batch.
    pub(super) fn write_lines(
        &mut self,
        batch: &[PendingRequest],
        answers: &[OperationResult],
    ) -> Result<(), VerbError> {
        let mut answered = batch.iter().zip(answers);
        for owed in self.pending.drain(..) {
            let line = match &owed {
                PendingLine::Broken(BrokenRecord { at, why }) => {
                    OutcomeLine::Refused(RefusedRecord { at, why, is_broken: true })
                }
                PendingLine::Passed(skipped) => OutcomeLine::Passed(SkippedRecord { skipped }),
                PendingLine::Record { url, time, requests, is_known } => {
                    let mut outcome = RecordOutcome::of(url, *time, *is_known);
                    for _ in 0..*requests {
                        let (of, result) = answered.next().ok_or_else(unanswered)?;
                        outcome.add(of, result);
                    }
                    OutcomeLine::Outcome(outcome)
                }
            };
            self.output.object(&line)?;
            self.is_held = true;
        }
        if answered.next().is_some() { Err(unanswered()) } else { Ok(()) }
    }

    /// Writes and flushes all pending lines. None of them waits for an answer.
    pub(super) fn write_and_flush(&mut self) -> Result<(), VerbError> {
        self.write_lines(&[], &[])?;
        self.show()
    }

    /// Writes the answer to a question. The lines before it have been written.
    pub(super) fn answer(
        &mut self,
        store: &simkeep::Snapshot,
        question: &InputQuery,
    ) -> Result<(), VerbError> {
        self.is_held = true;
        query::answer(store, question, |answer| {
            Ok(self.output.object(&OutcomeLine::Answer(answer))?)
        })
    }

    /// Flushes the lines that were written.
    pub(super) fn show(&mut self) -> Result<(), VerbError> {
        self.is_held = false;
        Ok(self.output.finish()?)
    }
}

impl<'a> RecordOutcome<'a> {
    /// The outcome of a record before any result is added.
    fn of(url: &'a str, time: i64, is_known: bool) -> RecordOutcome<'a> {
        RecordOutcome {
            url,
            t: Time(simkeep::Time::from_ms_unchecked(time)),
            stored: false,
            verdict: is_known.then_some(Verdict(simkeep::Verdict::Known)),
            by: None,
            to: None,
            distance: None,
            band: None,
            words_changed: None,
            fingerprint: None,
            novel: false,
            priority: 0.0,
            copies: Vec::new(),
            near: Vec::new(),
            original: None,
            refers_to: None,
            complete: true,
        }
    }

    /// Adds the result of one of its requests.
    fn add(&mut self, of: &'a PendingRequest, result: &'a OperationResult) {
        let outcome = match result {
            OperationResult::Observed(outcome) => outcome,
            OperationResult::Restated(outcome) => {
                return self.stored |= *outcome == RestateOutcome::Stored;
            }
            OperationResult::PropertySet(outcome) => {
                return self.stored |= *outcome == PropertyOutcome::Stored;
            }
        };
        self.stored |= outcome.verdict != simkeep::Verdict::Known || outcome.also;
        self.verdict = Some(Verdict(outcome.verdict));
        self.by = visit::known_by(&of.entry, outcome.verdict).map(words::same_by_key);
        if let simkeep::Verdict::Reverted { to, .. } = outcome.verdict {
            self.to = Some(Time(to));
        }
        self.distance = outcome.meaning.map(|meaning| meaning.distance);
        self.band = outcome.meaning.map(|meaning| Band(meaning.band));
        self.words_changed = outcome.meaning.as_ref().map(words::changed);
        let content = of.entry.content();
        self.fingerprint = content.and_then(|content| content.fingerprint).map(Fingerprint);
        self.novel = outcome.novel;
        self.priority = outcome.priority;
        let copy = |copy: &'a simkeep::ExactCopy| ExactCopyPage {
            url: &copy.url,
            first: Time(copy.first),
        };
        self.copies = outcome.copies.iter().map(copy).collect();
        let near = |near: &'a simkeep::NearDuplicate| NearDuplicatePage {
            url: &near.url,
            distance: near.distance,
            fingerprint: Fingerprint(near.fingerprint),
            first: Time(near.first),
        };
        self.near = outcome.near.iter().map(near).collect();
        self.original = outcome.original.as_ref().map(|original| OriginalPage {
            url: &original.url,
            distance: original.distance,
            by: match original.by {
                OriginalBy::Digest => OriginalMatch::Digest,
                OriginalBy::Fingerprint => OriginalMatch::Fingerprint,
                _ => OriginalMatch::Near,
            },
        });
        let captured = |of: &'a simkeep::Capture| CapturedPage { url: &of.url, t: Time(of.time) };
        self.refers_to = outcome.refers_to.as_ref().map(captured);
        self.complete = outcome.complete;
    }
}

/// The failure if records and results do not match.
fn unanswered() -> VerbError {
    VerbError::Other("the results do not match the records; this is a bug".to_owned())
}
