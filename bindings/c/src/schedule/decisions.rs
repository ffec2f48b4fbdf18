//! Which pages to visit next: the answer, page by page.

use std::ffi::c_char;
use std::vec;

use simkeep::Time;
use simkeep::due::{self, DuePages, Reason};

use crate::abi;
use crate::call::{found, free, one_thread_at_a_time};
use crate::failure::{Failure, Result};
use crate::fork::{Guarded, Process};
use crate::read::page::Page;
use crate::structure::{bits, structure};
use crate::texts::place;

/// What decides when a page is visited.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub enum ReasonCode {
    /// What a visit is worth by now, or by its policy the time since the last one.
    Worth = 1,
    /// A hint says that it has changed since its last visit: `reason_time` is when.
    Hinted = 2,
    /// It was not visited for so long that it comes first: `reason_s` is how long it may be left.
    Overdue = 3,
    /// Its rule has it not visited before a time after its last visit: `reason_s` is that time.
    NotYet = 4,
    /// Its last visits failed, and it is left alone: `reason_time` is until when.
    LeftAlone = 5,
    /// Its last visit lies in the future, so nothing is known of the time since.
    Ahead = 6,
    /// Something that this version of the header does not name.
    Other = 7,
}

/// `has`: there is a date when the page is due.
pub const SIMKEEP_DECISION_HAS_DUE: u32 = 1;
/// `has`: there is an interval between visits.
pub const SIMKEEP_DECISION_HAS_EVERY: u32 = 2;

structure! {
    /// What is decided about a page. No NUL ends its texts, which live until the next call on what it
    /// was got from.
    pub struct Decision, up to rule_len, from of: &due::Decision, rule: Option<&String> {
        /// What a visit is worth now, by the policy.
        value: f64,
        /// How many times a day the page is believed to change.
        per_day: f64 = of.rate.per_day,
        /// It changes less often than this with a probability of 5 %.
        per_day_low: f64 = of.rate.low,
        /// It changes more often than this with a probability of 5 %.
        per_day_high: f64 = of.rate.high,
        /// How much the page matters: its weight, with the factor of its rule.
        weight: f64,
        /// When it is due by a plan, in milliseconds since 1970.
        due_ms: i64 = of.due.map_or(0, Time::as_ms),
        /// How many seconds after its last visit that is.
        every_s: u64 = of.every.map_or(0, |every| every.seconds()),
        /// A time that `reason` is about, in milliseconds since 1970; else 0.
        reason_time_ms: i64 = reason(of).1,
        /// Seconds that `reason` is about; else 0.
        reason_s: u64 = reason(of).2,
        /// What decides, a `simkeep_reason`.
        reason: i32 = reason(of).0 as i32,
        /// Which of `due` and `every_s` there are: `SIMKEEP_DECISION_HAS_...`.
        has: u32 = bits(&[
            (of.due.is_some(), SIMKEEP_DECISION_HAS_DUE),
            (of.every.is_some(), SIMKEEP_DECISION_HAS_EVERY),
        ]),
        /// The page.
        url: *const c_char = of.page.url.as_ptr().cast(),
        /// Its length in bytes.
        url_len: usize = of.page.url.len(),
        /// The page near it that leads it, so that it weighs a quarter; NULL if none does.
        near: *const c_char = place(of.near.as_ref()).0,
        /// Its length in bytes.
        near_len: usize = place(of.near.as_ref()).1,
        /// The prefix of the rule that it goes by; NULL if that is not one of a prefix.
        rule: *const c_char = place(rule).0,
        /// Its length in bytes.
        rule_len: usize = place(rule).1,
    }
}

/// Decisions about pages. One thread at a time uses it. It keeps its snapshot, and is freed by itself.
#[derive(Debug)]
pub struct Decisions {
    deciding: Guarded<Deciding>,
    /// Of a store, the process that opened it.
    process: Option<Process>,
}

#[derive(Debug)]
struct Deciding {
    decisions: Source,
    /// The decision that C has, and the text of its rule.
    current: Option<(due::Decision, Option<String>)>,
}

/// Where decisions come from.
enum Source {
    Lazy(DuePages),
    Found(vec::IntoIter<due::Decision>),
}

const _: () = one_thread_at_a_time::<Source>();

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source(..)")
    }
}

impl Decisions {
    /// Pages that come as they are asked for.
    pub(crate) fn lazy(pages: DuePages, process: Option<Process>) -> Result<Decisions> {
        Decisions::new(Source::Lazy(pages), process)
    }

    /// Pages that were found.
    pub(crate) fn found(found: Vec<due::Decision>, process: Option<Process>) -> Result<Decisions> {
        Decisions::new(Source::Found(found.into_iter()), process)
    }

    fn new(decisions: Source, process: Option<Process>) -> Result<Decisions> {
        Ok(Decisions { deciding: Guarded::new(Deciding { decisions, current: None })?, process })
    }
}

impl Iterator for Source {
    type Item = simkeep::Result<due::Decision>;

    fn next(&mut self) -> Option<simkeep::Result<due::Decision>> {
        match self {
            Source::Lazy(pages) => pages.next(),
            Source::Found(found) => found.next().map(Ok),
        }
    }
}

/// What decides, and the time and the seconds that it is about.
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

/// Copies the next decision to where `decision` points, and its page to where `page` does, which may be
/// NULL; `SIMKEEP_NONE` after the last one. Texts live until the next call on `decisions`. After an
/// error there are no more. `size` is `sizeof(simkeep_decision)`, and `page_size`
/// `sizeof(simkeep_page)`. One thread at a time. Costs some microseconds; the first of
/// `simkeep_snapshot_due`, all of its search.
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
        decisions.process.map_or(Ok(()), Process::check)?;
        abi::room(decision, size, "decision")?;
        if !page.is_null() {
            abi::room(page, page_size, "page")?;
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
            let told = Page::new(&next.page, place(Some(&next.page.url)));
            abi::put_structure(page, page_size, &told, "page")?;
        }
        abi::put_structure(decision, size, &Decision::new(next, rule.as_ref()), "decision")
            .map(Some)
    })
}

/// Frees decisions, before their end or after it. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_decisions_free(decisions: Option<Box<Decisions>>) {
    free("simkeep_decisions_free", decisions);
}
