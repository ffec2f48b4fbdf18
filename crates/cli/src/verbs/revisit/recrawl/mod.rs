//! `recrawl`: explains when a page is due, and why.

mod explanation;
mod help;
mod host;
mod last;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Reader;
use simkeep::due::{Decision, NewPage, Plan};

use crate::Common;
use crate::exit::{Exit, Failure};
use crate::input::spelling;
use crate::output::Output;
use crate::output::json::{Band, Number, Saw, Time};
use crate::output::words;
use crate::verbs::revisit::due::{Changes, Page};
use crate::verbs::revisit::policy::{Asked, Question, ended};
use explanation::Explanation;
use help::HELP;
use host::Host;
use last::Last;

/// Explain when a page is next due, and why
///
/// Prints the value of a visit and the value from which pages are visited, what earlier visits
/// found, and the estimated change rates of the page and of its host.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Recrawl {
    /// URL of the page, exactly as it was observed
    url: String,
    #[command(flatten)]
    asked: Asked,
}

impl Recrawl {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let reader = common.read()?;
        let snapshot = reader.snapshot();
        let question = self.asked.question(&snapshot)?;
        let Some(plan) = self.asked.plan(&snapshot, &question.due)? else {
            // Without pages, the plan is the same for any number of visits.
            let plan = Plan::of(&snapshot, &question.due, 1.0)?;
            let of_new = plan.of_new(&self.url)?;
            let exit = self.unknown((&reader, None), &of_new, common.json, output)?;
            return ended(exit, &question.unread);
        };
        let (of_host, json) = (plan.of_new(&self.url)?, common.json);
        let exit = match plan.decide(&snapshot, &self.url)? {
            Some(page) => self.known(&reader, &question, (&page, &of_host), &plan, json, output),
            None => self.unknown((&reader, Some(&plan)), &of_host, json, output),
        };
        ended(exit?, &question.unread)
    }

    fn known(
        &self,
        reader: &Reader,
        question: &Question,
        (page, of_host): (&Decision, &NewPage),
        plan: &Plan,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let snapshot = &reader.snapshot();
        let host = Host::of(snapshot, &self.url)?;
        let last = Last::of(snapshot, &page.page)?;
        if json {
            output.object(&Answer {
                page: Page::from(page),
                plan: OfPlan::of(Some(plan)),
                last_change: last.map(Change::from),
                host_changes_per_day: Changes::from(of_host.rate),
                host_compared: host.map(|host| host.compared),
                saw: Saw::of(reader),
            })?;
            return Ok(Exit::Done);
        }
        let rule = question.rules.of(&self.url);
        let policy = rule.policy.unwrap_or(self.asked.policy);
        let longest = rule.max.map_or(question.largest, |max| max.min(question.largest));
        let explanation =
            Explanation { page, of_host, plan, policy, longest, now: question.now, host, last };
        output.line(&explanation.verdict())?;
        output.line(&format!("  {}", explanation.comparisons()))?;
        output.line(&format!("  {}", explanation.rates()))?;
        if let Some(weight) = explanation.weight() {
            output.line(&format!("  {weight}"))?;
        }
        output.line(&format!("  {}", explanation.visits(self.asked.has_visits())))?;
        Ok(Exit::Done)
    }

    /// Prints the answer for a page without visits, with the estimate for such pages.
    fn unknown(
        &self,
        (reader, plan): (&Reader, Option<&Plan>),
        new: &NewPage,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let NewPage { value, rate, weight, every, .. } = *new;
        if json {
            output.object(&Answer {
                page: Page {
                    url: self.url.as_str().into(),
                    value,
                    last: None,
                    due: None,
                    every_seconds: Some(every.seconds()),
                    changes_per_day: Changes::from(rate),
                    weight: Number(weight),
                    comparisons: 0,
                    changes: 0,
                    returns: 0,
                    reason: "not known in this store".into(),
                    hinted: None,
                    leader: None,
                    rule: None,
                },
                plan: OfPlan::of(plan),
                last_change: None,
                host_changes_per_day: Changes::from(rate),
                host_compared: None,
                saw: Saw::of(reader),
            })?;
        }
        let others = plan
            .filter(|plan| plan.threshold().is_finite())
            .map(|plan| format!("; pages are visited from {} on", words::amount(plan.threshold())));
        output.note(&format!(
            "{}; a first visit is worth {}, by {}{}",
            spelling::unknown(&reader.snapshot(), &self.url, |_| true)?,
            words::amount(value),
            explanation::rate(&rate),
            others.unwrap_or_default()
        ))?;
        Ok(Exit::Nothing)
    }
}

/// The due date of a page, with the figures behind it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Answer<'a> {
    #[serde(flatten)]
    page: Page<'a>,
    #[serde(flatten)]
    plan: OfPlan,
    /// The last change or return to an earlier version; null if there was none.
    last_change: Option<Change>,
    /// The estimated change rate of a new page of its host.
    host_changes_per_day: Changes,
    /// The number of compared pages of its host, which may include this page; null if the page
    /// is unknown or has no host.
    host_compared: Option<usize>,
    saw: Saw,
}

/// The parameters from which the dates follow.
#[derive(Serialize, JsonSchema)]
struct OfPlan {
    /// The value from which pages are visited; null without pages, or if there are too few visits
    /// for pages that may wait.
    threshold: Option<f64>,
    /// The number of visits a day; null without pages.
    visits_per_day: Option<Number>,
}

/// A change of a page.
#[derive(Serialize, JsonSchema)]
struct Change {
    /// The time of the visit that found it.
    t: Time,
    distance: Option<u32>,
    band: Option<Band>,
}

impl OfPlan {
    fn of(plan: Option<&Plan>) -> OfPlan {
        OfPlan {
            threshold: plan.map(Plan::threshold).filter(|threshold| threshold.is_finite()),
            visits_per_day: plan.map(|plan| Number(plan.per_day())),
        }
    }
}

impl From<Last> for Change {
    fn from(Last { time, distance }: Last) -> Change {
        let (distance, band) = distance.unzip();
        Change { t: Time(time), distance, band: band.map(Band) }
    }
}
