//! `--outcomes`: reports the outcome of each record to a program that waits for it.

use schemars::JsonSchema;
use serde::Serialize;
use simkeep::{OperationResult, OriginalBy, PropertyOutcome, RestateOutcome};
use simkeep_formats::{Broken, Question};

use super::pending::Pending;
use super::question;
use super::summary;
use crate::exit::Failure;
use crate::output::Output;
use crate::output::json::{Band, Fingerprint, Share, Time, Verdict};
use crate::output::{visit, words};

/// Writes a line for each record and each question, in the order of the input.
pub(super) struct Outcomes<'o> {
    output: &'o mut Output,
    /// The lines to write, in order.
    owed: Vec<Owed>,
    /// Whether lines were written but not flushed.
    is_held: bool,
}

/// A line to write.
enum Owed {
    /// The outcome of a record with `requests` requests in the batch.
    Record { url: String, time: i64, requests: usize, is_known: bool },
    /// A record that was refused.
    Broken(Broken),
    /// A record of this kind, which is not about a page.
    Passed(&'static str),
}

/// A line of output.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Outcome(Outcome<'a>),
    Refused(Refused<'a>),
    Passed(Passed),
    Answer(question::Answer<'a>),
    Summary(summary::Answer<'a>),
}

/// The outcome of a record.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Outcome<'a> {
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
    words_changed: Option<[Share; 2]>,
    /// The fingerprint of the content; null if there is no content, or it has no fingerprint.
    fingerprint: Option<Fingerprint>,
    /// Whether the content is far from all of the page's last versions.
    novel: bool,
    /// The value of processing the content further, from 0 to the weight of the page.
    priority: f64,
    /// Other pages with exactly this content, in the order in which they were first seen with it.
    copies: Vec<Copy<'a>>,
    /// Other pages near the content, the nearest first.
    near: Vec<NearPage<'a>>,
    /// The page that ranks first among copies and near pages; null if this page ranks first, or
    /// there are none.
    original: Option<Original<'a>>,
    /// Whether the lists of copies and near pages are complete.
    complete: bool,
}

/// An exact copy.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExactCopy")]
struct Copy<'a> {
    url: &'a str,
    /// The time when the page was first seen with this content.
    first: Time,
}

/// A page near the content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NearDuplicate")]
struct NearPage<'a> {
    url: &'a str,
    /// The number of bits in which its fingerprint differs.
    distance: u32,
    fingerprint: Fingerprint,
    /// The time when the page was first seen with its content in force.
    first: Time,
}

/// The original of the content.
#[derive(Serialize, JsonSchema)]
struct Original<'a> {
    url: &'a str,
    /// The number of bits in which its fingerprint differs.
    distance: u32,
    by: By,
}

/// The evidence that two pages are alike.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum By {
    Digest,
    Fingerprint,
    Near,
}

/// A record that was refused.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Refused<'a> {
    /// The position of the record: the file and the line, or the page.
    at: &'a str,
    why: &'a str,
    /// Always true.
    is_broken: bool,
}

/// A record that is not about a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Passed {
    /// The kind of the record.
    skipped: &'static str,
}

impl<'o> Outcomes<'o> {
    pub(super) fn new(output: &'o mut Output) -> Outcomes<'o> {
        Outcomes { output, owed: Vec::new(), is_held: false }
    }

    /// The number of lines to write.
    pub(super) fn owed(&self) -> usize {
        self.owed.len()
    }

    /// Whether another program may be waiting for a line.
    pub(super) fn is_due(&self) -> bool {
        self.is_held || !self.owed.is_empty()
    }

    /// Adds a record that was taken: the number of its requests in the batch, and whether it is a
    /// known visit.
    pub(super) fn record(&mut self, url: String, time: i64, (requests, is_known): (usize, bool)) {
        self.owed.push(Owed::Record { url, time, requests, is_known });
    }

    /// Removes a request of the batch, counted from 0.
    pub(super) fn withdraw(&mut self, request: usize) {
        let mut before = 0;
        for owed in &mut self.owed {
            let Owed::Record { requests, .. } = owed else { continue };
            if request < before + *requests {
                *requests -= 1;
                return;
            }
            before += *requests;
        }
    }

    /// Adds a record that was refused.
    pub(super) fn broken(&mut self, broken: Broken) {
        self.owed.push(Owed::Broken(broken));
    }

    /// Adds a record that was skipped.
    pub(super) fn passed(&mut self, kind: &'static str) {
        self.owed.push(Owed::Passed(kind));
    }

    /// Writes all lines, given the results of the batch.
    pub(super) fn pay(
        &mut self,
        batch: &[Pending],
        answers: &[OperationResult],
    ) -> Result<(), Failure> {
        let mut answered = batch.iter().zip(answers);
        for owed in self.owed.drain(..) {
            let line = match &owed {
                Owed::Broken(Broken { at, why }) => {
                    Line::Refused(Refused { at, why, is_broken: true })
                }
                Owed::Passed(skipped) => Line::Passed(Passed { skipped }),
                Owed::Record { url, time, requests, is_known } => {
                    let mut outcome = Outcome::of(url, *time, *is_known);
                    for _ in 0..*requests {
                        let (of, result) = answered.next().ok_or_else(unanswered)?;
                        outcome.add(of, result);
                    }
                    Line::Outcome(outcome)
                }
            };
            self.output.object(&line)?;
            self.is_held = true;
        }
        if answered.next().is_some() { Err(unanswered()) } else { Ok(()) }
    }

    /// Writes and flushes all pending lines. None of them waits for an answer.
    pub(super) fn pay_at_once(&mut self) -> Result<(), Failure> {
        self.pay(&[], &[])?;
        self.show()
    }

    /// Writes the answer to a question. The lines before it have been written.
    pub(super) fn answer(
        &mut self,
        store: &simkeep::Snapshot,
        question: &Question,
    ) -> Result<(), Failure> {
        self.is_held = true;
        question::answer(store, question, |answer| Ok(self.output.object(&Line::Answer(answer))?))
    }

    /// Flushes the lines that were written.
    pub(super) fn show(&mut self) -> Result<(), Failure> {
        self.is_held = false;
        Ok(self.output.finish()?)
    }
}

impl<'a> Outcome<'a> {
    /// The outcome of a record before any result is added.
    fn of(url: &'a str, time: i64, is_known: bool) -> Outcome<'a> {
        Outcome {
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
            complete: true,
        }
    }

    /// Adds the result of one of its requests.
    fn add(&mut self, of: &'a Pending, result: &'a OperationResult) {
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
        let copy = |copy: &'a simkeep::ExactCopy| Copy { url: &copy.url, first: Time(copy.first) };
        self.copies = outcome.copies.iter().map(copy).collect();
        let near = |near: &'a simkeep::NearDuplicate| NearPage {
            url: &near.url,
            distance: near.distance,
            fingerprint: Fingerprint(near.fingerprint),
            first: Time(near.first),
        };
        self.near = outcome.near.iter().map(near).collect();
        self.original = outcome.original.as_ref().map(|original| Original {
            url: &original.url,
            distance: original.distance,
            by: match original.by {
                OriginalBy::Digest => By::Digest,
                OriginalBy::Fingerprint => By::Fingerprint,
                _ => By::Near,
            },
        });
        self.complete = outcome.complete;
    }
}

/// The failure if records and results do not match.
fn unanswered() -> Failure {
    Failure::Other("a record and the answers to it have come apart; this is a bug".to_owned())
}
