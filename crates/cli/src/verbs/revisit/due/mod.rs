//! `due`: the pages to visit next, the best first.

mod help;
mod hosts;
mod shown;

use std::num::NonZeroUsize;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::due::{Decision, Plan, Reason};
use simkeep::{Prefix, Time};
use simkeep_formats::escape;

use crate::Common;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::verbs::revisit::policy::{Asked, ended, parse_visits};
use help::HELP;
use hosts::Hosts;
use shown::{row, table};

pub(crate) use shown::{Changes, Page};

/// List the pages to visit next: those of which a visit is worth most
///
/// One line per page, the best first: what a visit is worth now, in days for which it is expected to
/// make the page fresh; the last visit; how often the page is to be visited, by the visits that there
/// are in a day; its URL. A page with a ! was not visited for longer than it may be: such pages come
/// first, the most overdue before others. Those of no worth come last: visited just now, or left alone
/// since their visits fail.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct Due {
    /// How many pages to list at most [default: 100, or with --plan all that are due]
    #[arg(long, value_name = "PAGES")]
    budget: Option<usize>,
    /// Only pages under this prefix: a domain, a host, or one with a path; visits a day are those to
    /// these pages
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// How many pages of one host to list at most
    #[arg(long, value_name = "PAGES")]
    per_host: Option<NonZeroUsize>,
    /// List only what is past its date, if there are so many visits in a day
    #[arg(long, value_name = "VISITS", value_parser = parse_visits, conflicts_with = "per_day")]
    plan: Option<f64>,
    /// Print a line for each host instead: how many of its pages are listed, the best value, the sum of
    /// their values, the host
    #[arg(long, conflicts_with = "urls")]
    by_host: bool,
    /// Print bare URLs, for a pipe
    #[arg(long)]
    urls: bool,
    #[command(flatten)]
    asked: Asked,
}

/// A page; or with --by-host, a host.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Line<'a> {
    Page(Page<'a>),
    Host(hosts::Line<'a>),
}

/// Pages that are listed without a budget.
const LISTED: usize = 100;

/// By how much a value may be less than that of a page that is due, in rounding.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Where pages stand by a plan: in their order those that are due come first.
enum Stands {
    Due,
    /// Others may be.
    NotYet,
    /// And none that comes after it is.
    Last,
}

impl Stands {
    fn of(page: &Decision, plan: &Plan, now: Time) -> Stands {
        let is_overdue = matches!(page.reason, Reason::Overdue { .. });
        match page.due {
            _ if !is_overdue && page.value < plan.threshold() * ROUNDING => Stands::Last,
            Some(due) if due <= now => Stands::Due,
            _ => Stands::NotYet,
        }
    }
}

impl Due {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        // Not by clap: it knows of no --json where it makes the manual.
        if self.urls && common.json {
            return Err(Failure::Usage(
                "--urls prints bare URLs; leave it or --json out".to_owned(),
            ));
        }
        let snapshot = common.read()?.snapshot();
        let question = self.asked.question(&snapshot)?;
        let mut due = question.due;
        if let Some(prefix) = &self.under {
            due = due.under(prefix.clone());
        }
        let plan = match self.plan {
            Some(visits) => Some(Plan::of(&snapshot, &due, visits)?),
            None if self.urls || self.by_host => None,
            None => self.asked.plan(&snapshot, &due)?,
        };
        let listed = if self.plan.is_some() { usize::MAX } else { LISTED };
        due = due.budget(self.budget.unwrap_or(listed));
        if let Some(most) = self.per_host {
            due = due.per_host(most.get());
        }
        if let Some(plan) = &plan {
            due = due.plan(plan);
        }
        let by = plan.as_ref().filter(|_| self.plan.is_some());
        let clock = common.clock();
        let (mut hosts, mut table) = (Hosts::default(), table(&clock));
        for page in snapshot.due(&due) {
            let page = page?;
            match by.map_or(Stands::Due, |plan| Stands::of(&page, plan, question.now)) {
                Stands::Due => {}
                Stands::NotYet => continue,
                Stands::Last => break,
            }
            if self.by_host {
                hosts.add(&page);
            } else if self.urls {
                // As it is, unless a terminal would show it.
                let url = &page.page.url;
                let escaped = output.is_terminal().then(|| escape::whole(url));
                output.line(escaped.as_deref().unwrap_or(url))?;
            } else if common.json {
                output.object(&Line::Page(Page::from(&page)))?;
            } else {
                table.row(row(&page, &clock), output)?;
            }
        }
        table.end(output)?;
        hosts.print(common.json, output)?;
        ended(Exit::Done, &question.unread)
    }
}
