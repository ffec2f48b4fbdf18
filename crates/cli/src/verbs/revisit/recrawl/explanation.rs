//! Explains the decision about a page in words and figures.

use std::time::Duration;

use simkeep::due::{Decision, NewPage, Plan, Reason};
use simkeep::recrawl::{Interval, Policy, Rate};
use simkeep::{Seen, Time};

use super::host::HostComparisons;
use super::latest_change::LatestChange;
use crate::output::words;
use crate::time;
use simkeep_formats::escape;

const DAY_MS: i64 = 86_400_000;

/// The number of comparisons from which older ones may count for less.
const HALVED: u32 = 64;

/// The message if no value reaches the threshold.
const TOO_FEW: &str =
    "; the visits of a day do not suffice even for the pages that reach the maximal interval";

/// The explanation of the decision about a page.
pub(super) struct DecisionExplanation<'a> {
    pub(super) page: &'a Decision,
    /// The estimate for a page of its host without visits.
    pub(super) of_host: &'a NewPage,
    pub(super) plan: &'a Plan,
    /// The policy for the page.
    pub(super) policy: Policy,
    /// The longest time between two visits.
    pub(super) longest: Interval,
    pub(super) now: Time,
    pub(super) host: Option<HostComparisons>,
    pub(super) last: Option<LatestChange>,
}

/// Formats a rate with its range.
pub(super) fn rate(Rate { per_day, low, high }: &Rate) -> String {
    let [per_day, low, high] = [per_day, low, high].map(|rate| words::amount(*rate));
    format!("{per_day} changes a day ({low} to {high}, 90 %)")
}

impl DecisionExplanation<'_> {
    /// States when the page is due, and why.
    pub(super) fn verdict(&self) -> String {
        let Decision { page, reason, due, .. } = self.page;
        let url = escape::escape_untruncated(&page.url);
        let when = match due {
            None => format!("{url} is never due"),
            Some(due) if *due <= self.now => {
                format!("{url} is due since {}", self.date(*due))
            }
            Some(due) => format!("{url} is due on {}", self.date(*due)),
        };
        match reason {
            Reason::Overdue { after } => {
                let (last, most) = (self.date(page.last.time), span(*after));
                let failed = if page.last.seen == Seen::Failed { ", and failed" } else { "" };
                format!(
                    "{when}, before other pages: it may wait at most {most}, and its last visit \
                     was on {last}{failed}"
                )
            }
            Reason::NotYet { min } => {
                let from = self.date(page.last.time + Duration::from_secs(min.seconds()));
                format!("{when}; its rule allows no visit before {from}")
            }
            Reason::LeftAlone { until } => {
                let until = self.date(*until);
                format!("{when}: its last visit failed, so it is not visited before {until}")
            }
            Reason::Ahead => {
                let last = time::to_second(page.last.time);
                format!(
                    "{when}: its last visit is in the future, at {last}, so a visit now is worth \
                     nothing"
                )
            }
            Reason::Hinted { changed } => {
                let changed = self.date(*changed);
                format!("{when}: a hint says that it changed on {changed}, so {}", self.worth(""))
            }
            _ => format!("{when}: {}", self.since()),
        }
    }

    /// The result of the policy for the time since the last visit.
    fn since(&self) -> String {
        let (last, value) = (&self.page.page.last, words::amount(self.page.value));
        let failed = last.seen == Seen::Failed;
        let before = if failed { "its last visit that did not fail" } else { "its last visit" };
        let threshold = self.plan.threshold();
        let limit = words::amount(threshold);
        let text = match self.policy {
            Policy::VALUE | Policy::CRAWL_VALUE | Policy::HARMONIC if failed => {
                return self
                    .worth(&format!("its last visit, on {}, failed; ", self.date(last.time)));
            }
            Policy::VALUE | Policy::CRAWL_VALUE | Policy::HARMONIC => {
                let since = self.now.saturating_duration_since(last.time).as_secs();
                return self.worth(&format!("now, {} after its last visit, ", time::span(since)));
            }
            Policy::UNIFORM => format!("{before} was {value} days ago"),
            policy => format!(
                "{value} of its intervals under the policy {policy} have passed since {before}"
            ),
        };
        if threshold.is_finite() {
            format!("{text}; pages are due at {limit} or more")
        } else {
            text + TOO_FEW
        }
    }

    /// The value of a visit, and the value from which other pages are visited.
    fn worth(&self, when: &str) -> String {
        let value = words::amount(self.page.value);
        let threshold = self.plan.threshold();
        let text = format!("{when}a visit is worth {value}");
        if threshold.is_infinite() {
            return text + TOO_FEW;
        }
        let others = format!("pages are due at {} or more", words::amount(threshold));
        if self.page.every == Some(self.longest) {
            let longest = span(self.longest);
            return format!(
                "{text}; {others}, and this page does not reach that value within {longest}"
            );
        }
        format!("{text}; {others}")
    }

    /// The results of its visits.
    pub(super) fn comparisons(&self) -> String {
        let page = &self.page.page;
        let changes = page.changes;
        let (all, changed, returned) =
            (changes.comparisons(), changes.changes(), changes.returns());
        if all == 0 {
            let visits = words::many(page.visits, "visit is", "visits are");
            return format!("its {visits} not enough for a comparison");
        }
        // With this many visits, there were more comparisons than are counted.
        let late = if all >= HALVED && page.visits > 128 { "recently, " } else { "" };
        let count =
            |count: u32| if count == 0 { "none".into() } else { words::count(count.into()) };
        let mut text = format!(
            "{late}{} of {} found it changed",
            count(changed),
            words::many(all.into(), "comparison", "comparisons")
        );
        if returned > 0 {
            text += &format!(", {} back at an earlier version", words::count(returned.into()));
        }
        if let Some(LatestChange { time, distance }) = self.last {
            text += &format!("; the last change was on {}", self.date(time));
            if let Some((bits, band)) = distance {
                let bits = words::many(bits.into(), "bit", "bits");
                text += &format!(", by {bits} ({band})");
            }
        }
        text
    }

    /// The estimated change rates of the page, and of other pages of its host.
    pub(super) fn rates(&self) -> String {
        let own = rate(&self.page.rate);
        let Some(HostComparisons { compared, is_cut }) = self.host else { return own };
        let of_host = &self.of_host.rate;
        let [per_day, low, high] = [of_host.per_day, of_host.low, of_host.high].map(words::amount);
        let more = if is_cut { "at least " } else { "" };
        let pages = words::many(compared as u64, "page was", "pages were");
        format!(
            "{own}; on its host {more}{pages} compared, and a new page is expected to change {per_day} times a day ({low} \
             to {high})"
        )
    }

    /// The weight of the page, and what reduces it; `None` if it is 1.
    pub(super) fn weight(&self) -> Option<String> {
        let Decision { page, weight, near, rule, .. } = self.page;
        let mut reasons = Vec::new();
        if *weight != 1.0 {
            reasons.push(format!("its weight is {}", words::amount(*weight)));
        }
        if page.gone {
            reasons.push("it is gone, so its weight counts for an eighth".to_owned());
        }
        if let Some(leader) = near {
            let leader = escape::escape_untruncated(leader);
            reasons.push(format!(
                "its weight counts for a quarter, since {leader} had nearly the same content first"
            ));
        }
        if let Some(rule) = rule {
            reasons.push(format!(
                "the rule for {} applies",
                escape::escape_untruncated(&rule.to_string())
            ));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The interval and the number of visits a day on which the answer is based.
    pub(super) fn visits(&self, is_said: bool) -> String {
        let every =
            self.page.every.map_or("never".into(), |every| format!("every {}", span(every)));
        let per_day = self.plan.per_day();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let whole = per_day.round() as u64;
        let is_whole = per_day >= 100.0 || per_day.fract() == 0.0;
        let visits = if is_whole { words::count(whole) } else { words::amount(per_day) };
        let source = if is_said { "" } else { ", the recent pace; --per-day sets another" };
        format!("to be visited {every} at {visits} visits a day{source}")
    }

    /// Formats a time: as a date, or to the second if it is within two days.
    fn date(&self, at: Time) -> String {
        let is_near = at.as_ms().abs_diff(self.now.as_ms()) < 2 * DAY_MS.unsigned_abs();
        if is_near { time::to_second(at) } else { time::day(at) }
    }
}

fn span(interval: Interval) -> String {
    time::span(interval.seconds())
}
