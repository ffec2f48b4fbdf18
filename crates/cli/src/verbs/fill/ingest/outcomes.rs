//! `--outcomes`: what became of each record, for a program that waits to hear it.

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

/// A line for each record and each question, in the order in which they came.
pub(super) struct Outcomes<'o> {
    output: &'o mut Output,
    /// The lines that are to come, in order.
    owed: Vec<Owed>,
    /// Whether lines were written that are not passed on yet.
    is_held: bool,
}

/// A line that is to come.
enum Owed {
    /// Of a record with `requests` requests in the batch.
    Record { url: String, time: i64, requests: usize, is_known: bool },
    /// Of a record that was refused.
    Broken(Broken),
    /// Of a record of this kind, which says nothing of a page.
    Passed(&'static str),
}

/// A line.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Outcome(Outcome<'a>),
    Refused(Refused<'a>),
    Passed(Passed),
    Answer(question::Answer<'a>),
    Summary(summary::Answer<'a>),
}

/// What became of a record.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Outcome<'a> {
    url: &'a str,
    t: Time,
    /// Whether the store has it now and had it not before.
    stored: bool,
    /// Null of a record that is no visit.
    verdict: Option<Verdict>,
    /// By what the content is known to be the same, or to have changed where it has no fingerprint:
    /// "digest", "fingerprint" or "not-modified".
    by: Option<&'static str>,
    /// When the version was last seen that the page reverted to.
    to: Option<Time>,
    /// How many bits differ from the version before.
    distance: Option<u32>,
    /// As for a text of 100 words or more; in a shorter one a distance means little.
    band: Option<Band>,
    /// From what share of the words to what share that means.
    words_changed: Option<[Share; 2]>,
    /// Null if the content has none, or there is no content.
    fingerprint: Option<Fingerprint>,
    /// Whether the content is far from all of the page's last versions.
    novel: bool,
    /// How much it is worth being processed further: from 0 to the weight of the page.
    priority: f64,
    /// Other pages with exactly this content, by when they were first seen with it.
    copies: Vec<Copy<'a>>,
    /// Other pages near it, the nearest first.
    near: Vec<NearPage<'a>>,
    /// Of all of them the page that comes first; null if this one does, or there are none.
    original: Option<Original<'a>>,
    /// Whether no copy and no near page is missing.
    complete: bool,
}

/// An exact copy.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExactCopy")]
struct Copy<'a> {
    url: &'a str,
    /// When it was first seen with this content.
    first: Time,
}

/// A page near the content.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NearDuplicate")]
struct NearPage<'a> {
    url: &'a str,
    /// In how many bits it differs.
    distance: u32,
    fingerprint: Fingerprint,
    /// When it was first seen with what it has now.
    first: Time,
}

/// The page that comes first.
#[derive(Serialize, JsonSchema)]
struct Original<'a> {
    url: &'a str,
    /// In how many bits it differs.
    distance: u32,
    by: By,
}

/// How two pages are known to be alike.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum By {
    Digest,
    Fingerprint,
    Near,
}

/// Why a record was refused.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Refused<'a> {
    /// Its place: the file and the line, or the page.
    at: &'a str,
    why: &'a str,
    /// Always.
    is_broken: bool,
}

/// A record that says nothing of a page.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Passed {
    /// What kind of record it is.
    skipped: &'static str,
}

impl<'o> Outcomes<'o> {
    pub(super) fn new(output: &'o mut Output) -> Outcomes<'o> {
        Outcomes { output, owed: Vec::new(), is_held: false }
    }

    /// How many lines are to come.
    pub(super) fn owed(&self) -> usize {
        self.owed.len()
    }

    /// Whether somebody may wait for a line that could be there.
    pub(super) fn is_due(&self) -> bool {
        self.is_held || !self.owed.is_empty()
    }

    /// Notes a record that was taken: the number of its requests in the batch, and whether it is a known
    /// visit.
    pub(super) fn record(&mut self, url: String, time: i64, (requests, is_known): (usize, bool)) {
        self.owed.push(Owed::Record { url, time, requests, is_known });
    }

    /// A request of the batch, counted from 0, was taken back.
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

    /// A record was refused.
    pub(super) fn broken(&mut self, broken: Broken) {
        self.owed.push(Owed::Broken(broken));
    }

    /// A record was passed over.
    pub(super) fn passed(&mut self, kind: &'static str) {
        self.owed.push(Owed::Passed(kind));
    }

    /// Writes all lines that are to come, by the answers to the batch.
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

    /// Writes the answer to a question, for which all before it were answered.
    pub(super) fn answer(
        &mut self,
        store: &simkeep::Snapshot,
        question: &Question,
    ) -> Result<(), Failure> {
        self.is_held = true;
        question::answer(store, question, |answer| Ok(self.output.object(&Line::Answer(answer))?))
    }

    /// Passes on what was written.
    pub(super) fn show(&mut self) -> Result<(), Failure> {
        self.is_held = false;
        Ok(self.output.finish()?)
    }
}

impl<'a> Outcome<'a> {
    /// Of a record, before any answer is added.
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

/// Records and answers do not belong together.
fn unanswered() -> Failure {
    Failure::Other("a record and the answers to it have come apart; this is a bug".to_owned())
}
