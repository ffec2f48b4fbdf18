//! `recrawl`: when a page is to be visited again, and why.

mod help;
mod host;
mod last;
mod told;

use clap::Args;
use serde_json::{Map, Value};
use simkeep::Snapshot;
use simkeep::due::{Decision, NewPage, Plan};

use super::asked::{Asked, Question};
use super::exit::{Exit, Failure};
use super::output::Output;
use super::{Common, due, spelling, time, visit, words};
use help::HELP;
use host::Host;
use last::Last;
use told::Told;

/// Say when a page is to be visited again, and why
///
/// What a visit is worth now, and from what on others are visited; how many comparisons of two visits
/// found the page changed, or back at an earlier version; how often it is believed to change, and other
/// pages of its host.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(super) struct Recrawl {
    /// The page: its URL, byte by byte as it was observed
    url: String,
    #[command(flatten)]
    asked: Asked,
}

impl Recrawl {
    pub(super) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        let snapshot = common.read()?.snapshot();
        let question = self.asked.question(&snapshot)?;
        let Some(plan) = self.asked.plan(&snapshot, &question.due)? else {
            // Any number of visits will do for no pages.
            let plan = snapshot.plan(&question.due, 1.0)?;
            return self.unknown((&snapshot, None), &plan.of_new(&self.url)?, common.json, output);
        };
        let (of_host, json) = (plan.of_new(&self.url)?, common.json);
        match snapshot.decide(&self.url, &plan)? {
            Some(page) => self.known(&snapshot, &question, (&page, &of_host), &plan, json, output),
            None => self.unknown((&snapshot, Some(&plan)), &of_host, json, output),
        }
    }

    fn known(
        &self,
        snapshot: &Snapshot,
        question: &Question,
        (page, of_host): (&Decision, &NewPage),
        plan: &Plan,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let host = Host::of(snapshot, &self.url)?;
        let last = Last::of(snapshot, &page.page)?;
        if json {
            let mut object = due::object(page);
            put_plan(&mut object, plan);
            let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
            put("last_change", last.map(|last| time::format(last.time)).into());
            if let Some((bits, band)) = last.and_then(|last| last.distance) {
                put("distance", bits.into());
                put("band", band.name().into());
            }
            put("host_per_day", of_host.rate.per_day.into());
            put("host_low", of_host.rate.low.into());
            put("host_high", of_host.rate.high.into());
            put("host_compared", host.map(|host| host.compared).into());
            output.object(&object.into())?;
            return Ok(Exit::Done);
        }
        let rule = question.rules.of(&self.url);
        let policy = rule.policy.unwrap_or(self.asked.policy);
        let longest = rule.max.map_or(question.largest, |max| max.min(question.largest));
        let told = Told { page, of_host, plan, policy, longest, now: question.now, host, last };
        output.line(&told.verdict())?;
        output.line(&format!("  {}", told.comparisons()))?;
        output.line(&format!("  {}", told.rates()))?;
        if let Some(weight) = told.weight() {
            output.line(&format!("  {weight}"))?;
        }
        output.line(&format!("  {}", told.visits(self.asked.has_visits())))?;
        Ok(Exit::Done)
    }

    /// What is said of a page that nobody has visited, and beside it of others.
    fn unknown(
        &self,
        (snapshot, plan): (&Snapshot, Option<&Plan>),
        new: &NewPage,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let NewPage { value, rate, weight, every, .. } = *new;
        if json {
            let mut object = Map::new();
            let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
            put("url", self.url.as_str().into());
            put("value", value.into());
            put("last", Value::Null);
            put("due", Value::Null);
            put("every_seconds", every.seconds().into());
            put("per_day", rate.per_day.into());
            put("low", rate.low.into());
            put("high", rate.high.into());
            put("weight", visit::number(weight));
            put("reason", "not known in this store".into());
            if let Some(plan) = plan {
                put_plan(&mut object, plan);
            }
            output.object(&object.into())?;
        }
        let others = plan.filter(|plan| plan.threshold().is_finite()).map(|plan| {
            format!("; others are visited from {} on", words::amount(plan.threshold()))
        });
        output.note(&format!(
            "{}; a first visit is worth {}, by {}{}",
            spelling::unknown(snapshot, &self.url)?,
            words::amount(value),
            told::rate(&rate),
            others.unwrap_or_default()
        ))?;
        Ok(Exit::Nothing)
    }
}

fn put_plan(object: &mut Map<String, Value>, plan: &Plan) {
    // Infinite if there are too few visits: then there is no such value.
    object.insert("threshold".to_owned(), plan.threshold().into());
    object.insert("visits_per_day".to_owned(), visit::number(plan.per_day()));
}
