//! Due pages: an iterator over decisions about pages.

use std::ffi::c_char;
use std::vec;

use simkeep::Time;
use simkeep::due::{self, DuePages, Reason};

use crate::abi;
use crate::call::{found, free, one_thread_at_a_time};
use crate::failure::{Failure, Result};
use crate::fork::{ForkGuard, ForkSafeMutex};
use crate::read::page::Page;
use crate::structure::{bits, structure};
use crate::texts::place;

/// The reason for the time of a visit to a page.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum ReasonCode {
    /// The value of a visit now, or the time since the last visit, depending on the policy.
    Worth = 1,
    /// A hint reports a change since the last visit; `reason_time_ms` is the time of the change.
    Hinted = 2,
    /// The page was unvisited for longer than allowed, so it comes first; `reason_s` is the limit.
    Overdue = 3,
    /// The page's rule forbids a visit so soon after the last visit; `reason_s` is the minimum
    /// interval.
    NotYet = 4,
    /// The last visits of the page failed, and the page waits; `reason_time_ms` is the end of the
    /// wait.
    LeftAlone = 5,
    /// The last visit of the page lies in the future, so the time since that visit is unknown.
    Ahead = 6,
    /// A value that this version of the header does not name.
    Other = 7,
}

/// `has`: the due time.
pub const SIMKEEP_DECISION_HAS_DUE: u32 = 1;
/// `has`: the interval between visits.
pub const SIMKEEP_DECISION_HAS_EVERY: u32 = 2;

structure! {
    /// A decision about a page. The texts are not NUL-terminated, and are valid until the next call
    /// on their source.
    pub struct Decision, up to rule_len, from of: &due::Decision, rule: Option<&String> {
        /// The current value of a visit, by the policy.
        value: f64,
        /// The estimated number of changes a day.
        per_day: f64 = of.rate.per_day,
        /// The bound below which the change rate lies with a probability of 5 %.
        per_day_low: f64 = of.rate.low,
        /// The bound above which the change rate lies with a probability of 5 %.
        per_day_high: f64 = of.rate.high,
        /// The weight of the page times the factor of its rule.
        weight: f64,
        /// The due time by a plan, in milliseconds since 1970.
        due_ms: i64 = of.due.map_or(0, Time::as_ms),
        /// The seconds from the page's last visit to the due time.
        every_s: u64 = of.every.map_or(0, |every| every.seconds()),
        /// A time for `reason`, in milliseconds since 1970; otherwise 0.
        reason_time_ms: i64 = reason(of).1,
        /// Seconds for `reason`; otherwise 0.
        reason_s: u64 = reason(of).2,
        /// The reason, a `simkeep_reason`.
        reason: i32 = reason(of).0 as i32,
        /// The bits for `due_ms` and `every_s`, if set: `SIMKEEP_DECISION_HAS_...`.
        has: u32 = bits(&[
            (of.due.is_some(), SIMKEEP_DECISION_HAS_DUE),
            (of.every.is_some(), SIMKEEP_DECISION_HAS_EVERY),
        ]),
        /// The URL of the page.
        url: *const c_char = of.page.url.as_ptr().cast(),
        /// The length of `url` in bytes.
        url_len: usize = of.page.url.len(),
        /// The near page that is the leader of this page; NULL without a leader. With a leader, the
        /// weight of this page is reduced to a quarter.
        near: *const c_char = place(of.near.as_ref()).0,
        /// The length of `near` in bytes.
        near_len: usize = place(of.near.as_ref()).1,
        /// The prefix of the page's rule; NULL without a rule for a prefix.
        rule: *const c_char = place(rule).0,
        /// The length of `rule` in bytes.
        rule_len: usize = place(rule).1,
    }
}

/// Decisions about pages. Use the handle from one thread at a time. The handle keeps its snapshot.
/// Free the handle and the snapshot separately.
#[derive(Debug)]
pub struct Decisions {
    deciding: ForkSafeMutex<DecisionCursor>,
    /// For a store, the process that opened it.
    process: Option<ForkGuard>,
}

#[derive(Debug)]
struct DecisionCursor {
    decisions: DecisionSource,
    /// The decision that C currently has, and the text of its rule.
    current: Option<(due::Decision, Option<String>)>,
}

/// The source of decisions.
enum DecisionSource {
    Lazy(DuePages),
    Found(vec::IntoIter<due::Decision>),
}

const _: () = one_thread_at_a_time::<DecisionSource>();

impl std::fmt::Debug for DecisionSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source(..)")
    }
}

impl Decisions {
    /// Returns pages on request.
    pub(crate) fn lazy(pages: DuePages, process: Option<ForkGuard>) -> Result<Decisions> {
        Decisions::new(DecisionSource::Lazy(pages), process)
    }

    /// Returns pages that were already found.
    pub(crate) fn found(
        found: Vec<due::Decision>,
        process: Option<ForkGuard>,
    ) -> Result<Decisions> {
        Decisions::new(DecisionSource::Found(found.into_iter()), process)
    }

    fn new(decisions: DecisionSource, process: Option<ForkGuard>) -> Result<Decisions> {
        Ok(Decisions {
            deciding: ForkSafeMutex::new(DecisionCursor { decisions, current: None })?,
            process,
        })
    }
}

impl Iterator for DecisionSource {
    type Item = simkeep::Result<due::Decision>;

    fn next(&mut self) -> Option<simkeep::Result<due::Decision>> {
        match self {
            DecisionSource::Lazy(pages) => pages.next(),
            DecisionSource::Found(found) => found.next().map(Ok),
        }
    }
}

/// Returns the reason, and its time and seconds.
fn reason(of: &due::Decision) -> (ReasonCode, i64, u64) {
    match of.reason {
        Reason::Worth => (ReasonCode::Worth, 0, 0),
        Reason::Hinted { changed } => (ReasonCode::Hinted, changed.as_ms(), 0),
        Reason::Overdue { after } => (ReasonCode::Overdue, 0, after.seconds()),
        Reason::NotYet { min } => (ReasonCode::NotYet, 0, min.seconds()),
        Reason::LeftAlone { until } => (ReasonCode::LeftAlone, until.as_ms(), 0),
        Reason::Ahead => (ReasonCode::Ahead, 0, 0),
        _ => (ReasonCode::Other, 0, 0),
    }
}

/// Copies the next decision to where `decision` points, and its page to where `page` points; `page`
/// may be NULL. `SIMKEEP_NONE` after the last decision. Texts are valid until the next call on
/// `decisions`. After an error there are no more decisions. `size` is `sizeof(simkeep_decision)`,
/// and `page_size` `sizeof(simkeep_page)`. One thread at a time. Costs some microseconds; the first
/// call after `simkeep_snapshot_due` costs the whole query.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_decisions_next(
    decisions: *mut Decisions,
    decision: *mut Decision,
    size: usize,
    page: *mut Page,
    page_size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_decisions_next", error, || {
        let decisions = abi::handle(decisions, "decisions")?;
        decisions.process.map_or(Ok(()), ForkGuard::check)?;
        abi::check_put_structure(decision, size, "decision")?;
        if !page.is_null() {
            abi::check_put_structure(page, page_size, "page")?;
        }
        let mut deciding = decisions.deciding.lock()?;
        let next = deciding.decisions.next().transpose()?;
        let text = |of: &due::Decision| of.rule.as_ref().map(ToString::to_string);
        deciding.current = next.map(|next| {
            let rule = text(&next);
            (next, rule)
        });
        let Some((next, rule)) = &deciding.current else { return Ok(None) };
        if !page.is_null() {
            let value = Page::new(&next.page, place(Some(&next.page.url)));
            abi::put_structure(page, page_size, &value, "page")?;
        }
        abi::put_structure(decision, size, &Decision::new(next, rule.as_ref()), "decision")
            .map(Some)
    })
}

/// Frees decisions, at any time. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_decisions_free(decisions: Option<Box<Decisions>>) {
    free("simkeep_decisions_free", decisions);
}
