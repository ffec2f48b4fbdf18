//! `recrawl`: explains when a page is due, and why.

mod explanation;
mod help;
mod host;
mod latest_change;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Reader;
use simkeep::due::{Decision, NewPage, Plan};

use crate::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::input::spelling;
use crate::output::Output;
use crate::output::json::{Band, JsonNumber, RequestHeaders, StoreState, Time};
use crate::output::words;
use crate::verbs::revisit::due::{ChangeRateEstimate, DuePageLine};
use crate::verbs::revisit::policy::{PolicyArgs, ScheduleQuery, ended};
use explanation::DecisionExplanation;
use help::HELP;
use host::HostComparisons;
use latest_change::LatestChange;

/// Explain when a page is next due, and why
///
/// Prints the value of a visit and the value from which pages are visited, what earlier visits
/// found, and the estimated change rates of the page and of its host.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct RecrawlArgs {
    /// URL of the page, exactly as it was observed
    url: String,
    #[command(flatten)]
    asked: PolicyArgs,
}

impl RecrawlArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
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
        question: &ScheduleQuery,
        (page, of_host): (&Decision, &NewPage),
        plan: &Plan,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let snapshot = &reader.snapshot();
        let host = HostComparisons::of(snapshot, &self.url)?;
        let last = LatestChange::of(snapshot, &page.page)?;
        if json {
            output.object(&RecrawlResult {
                page: DuePageLine::from(page),
                plan: PlanSummary::of(Some(plan)),
                last_change: last.map(ChangeResult::from),
                host_changes_per_day: ChangeRateEstimate::from(of_host.rate),
                host_compared: host.map(|host| host.compared),
                saw: StoreState::of(reader),
            })?;
            return Ok(Exit::Done);
        }
        let rule = question.rules.of(&self.url);
        let policy = rule.policy.unwrap_or(self.asked.policy);
        let longest = rule.max.map_or(question.largest, |max| max.min(question.largest));
        let explanation = DecisionExplanation {
            page,
            of_host,
            plan,
            policy,
            longest,
            now: question.now,
            host,
            last,
        };
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
    ) -> Result<Exit, VerbError> {
        let NewPage { value, rate, weight, every, .. } = *new;
        if json {
            output.object(&RecrawlResult {
                page: DuePageLine {
                    url: self.url.as_str().into(),
                    value,
                    last: None,
                    due: None,
                    every_seconds: Some(every.seconds()),
                    changes_per_day: ChangeRateEstimate::from(rate),
                    weight: JsonNumber(weight),
                    comparisons: 0,
                    changes: 0,
                    returns: 0,
                    reason: "not known in this store".into(),
                    hinted: None,
                    leader: None,
                    rule: None,
                    headers: RequestHeaders::default(),
                },
                plan: PlanSummary::of(plan),
                last_change: None,
                host_changes_per_day: ChangeRateEstimate::from(rate),
                host_compared: None,
                saw: StoreState::of(reader),
            })?;
        }
        let others = plan
            .filter(|plan| plan.threshold().is_finite())
            .map(|plan| format!("; pages are due at {} or more", words::amount(plan.threshold())));
        output.note(&format!(
            "{}; a first visit is worth {}, at an expected {}{}",
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
pub(crate) struct RecrawlResult<'a> {
    #[serde(flatten)]
    page: DuePageLine<'a>,
    #[serde(flatten)]
    plan: PlanSummary,
    /// The last change or return to an earlier version; null if there was none.
    last_change: Option<ChangeResult>,
    /// The estimated change rate of a new page of its host.
    host_changes_per_day: ChangeRateEstimate,
    /// The number of compared pages of its host, which may include this page; null if the page
    /// is unknown or has no host.
    host_compared: Option<usize>,
    saw: StoreState,
}

/// The parameters from which the dates follow.
#[derive(Serialize, JsonSchema)]
struct PlanSummary {
    /// The value from which pages are visited; null without pages, or if there are too few visits
    /// for pages that may wait.
    threshold: Option<f64>,
    /// The number of visits a day; null without pages.
    visits_per_day: Option<JsonNumber>,
}

/// A change of a page.
#[derive(Serialize, JsonSchema)]
struct ChangeResult {
    /// The time of the visit that found it.
    t: Time,
    distance: Option<u32>,
    band: Option<Band>,
}

impl PlanSummary {
    fn of(plan: Option<&Plan>) -> PlanSummary {
        PlanSummary {
            threshold: plan.map(Plan::threshold).filter(|threshold| threshold.is_finite()),
            visits_per_day: plan.map(|plan| JsonNumber(plan.per_day())),
        }
    }
}

impl From<LatestChange> for ChangeResult {
    fn from(LatestChange { time, distance }: LatestChange) -> ChangeResult {
        let (distance, band) = distance.unzip();
        ChangeResult { t: Time(time), distance, band: band.map(Band) }
    }
}
