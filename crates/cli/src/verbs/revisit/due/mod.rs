//! `due`: lists the pages to visit next, the best first.

mod curl;
mod help;
mod hosts;
mod page_line;

use std::num::NonZeroUsize;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::due::{Decision, Plan, Reason};
use simkeep::{Prefix, Snapshot, Time};
use simkeep_formats::escape;

use crate::CommonArgs;
use crate::exit::{Exit, VerbError};
use crate::input::limit::Limit;
use crate::output::Output;
use crate::verbs::revisit::policy::{PolicyArgs, ended};
use curl::CurlRequests;
use help::HELP;
use hosts::DueHosts;
use page_line::{row, table};

pub(crate) use page_line::{ChangeRateEstimate, DuePageLine};

/// List the pages most worth visiting next
///
/// One line per page, the best first: the value of a visit (expected days of freshness gained), the
/// last visit, the visiting interval at your visits a day, and the URL. `!` marks pages past
/// --max-interval; they come first, the most overdue on top.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct DueArgs {
    /// Pages to list [default: 100, with --only-due all]
    #[arg(long, value_name = "COUNT|all")]
    limit: Option<Limit>,
    /// Only pages under this prefix: a domain, host or path; --per-day counts visits to them
    #[arg(long, value_name = "PREFIX")]
    under: Option<Prefix>,
    /// Pages to list of one host
    #[arg(long, value_name = "COUNT")]
    per_host: Option<NonZeroUsize>,
    /// List only pages whose date has passed
    #[arg(long)]
    only_due: bool,
    /// Sum up the listed pages by host
    #[arg(long, conflicts_with = "urls")]
    by_host: bool,
    /// Print bare URLs, one per line
    #[arg(long)]
    urls: bool,
    /// Print the requests, with the known validators, for `curl --config -`
    #[arg(long, conflicts_with_all = ["urls", "by_host"])]
    curl: bool,
    #[command(flatten)]
    asked: PolicyArgs,
}

/// A page; with --by-host, a host.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DueLine<'a> {
    Page(DuePageLine<'a>),
    Host(hosts::DueHostLine<'a>),
}

/// The maximum number of pages to list by default.
const LISTED: usize = 100;

/// The tolerance for rounding, when a value is compared with the threshold.
const ROUNDING: f64 = 1.0 - 1e-9;

/// The state of a page by a plan. Due pages come first.
enum DueStatus {
    Due,
    /// The page is not due, but later pages may be.
    NotYet,
    /// The page is not due, and no later page is.
    Last,
}

impl DueStatus {
    fn of(page: &Decision, plan: &Plan, now: Time) -> DueStatus {
        let is_overdue = matches!(page.reason, Reason::Overdue { .. });
        match page.due {
            _ if !is_overdue && page.value < plan.threshold() * ROUNDING => DueStatus::Last,
            Some(due) if due <= now => DueStatus::Due,
            _ => DueStatus::NotYet,
        }
    }
}

impl DueArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        self.check_form(common.json, output)?;
        let snapshot = common.read()?.snapshot();
        let question = self.asked.question(&snapshot)?;
        let mut due = question.due;
        if let Some(prefix) = &self.under {
            due = due.under(prefix.clone());
        }
        // Bare URLs and hosts are printed without dates.
        let has_dates = self.only_due || !(self.urls || self.curl || self.by_host);
        let plan = if has_dates { self.asked.plan(&snapshot, &due)? } else { None };
        let listed = if self.only_due { usize::MAX } else { LISTED };
        due = due.budget(self.limit.map_or(listed, Limit::count));
        if let Some(most) = self.per_host {
            due = due.per_host(most.get());
        }
        if let Some(plan) = &plan {
            due = due.plan(plan);
        }
        let by = plan.as_ref().filter(|_| self.only_due);
        let clock = common.clock();
        let (mut hosts, mut table) = (DueHosts::default(), table(&clock));
        let mut requests = CurlRequests::default();
        let mut any = false;
        for page in snapshot.due(&due) {
            let page = page?;
            match by.map_or(DueStatus::Due, |plan| DueStatus::of(&page, plan, question.now)) {
                DueStatus::Due => {}
                DueStatus::NotYet => continue,
                DueStatus::Last => break,
            }
            any = true;
            if self.by_host {
                hosts.add(&page);
            } else if self.curl {
                requests.write(&page.page, output.writer())?;
            } else if self.urls {
                // Written unchanged, unless a terminal shows it.
                let url = &page.page.url;
                let escaped = output.is_terminal().then(|| escape::escape_untruncated(url));
                output.line(escaped.as_deref().unwrap_or(url))?;
            } else if common.json {
                output.object(&DueLine::Page(DuePageLine::from(&page)))?;
            } else {
                table.row(row(&page, &clock), output)?;
            }
        }
        if self.by_host {
            hosts.print(common.json, output)?;
        } else if !self.urls && !self.curl {
            table.end(output)?;
        }
        let exit = if any { Exit::Done } else { self.nothing(&snapshot, output)? };
        ended(exit, &question.unread)
    }

    /// Refuses a form of output that cannot be printed.
    fn check_form(&self, json: bool, output: &Output) -> Result<(), VerbError> {
        // Not a rule of clap: without --json, clap could not render the manual.
        let other_form = [("--urls", self.urls, "bare URLs"), ("--curl", self.curl, "requests")];
        if let Some((option, _, form)) = other_form.iter().find(|(_, is_on, _)| *is_on && json) {
            return Err(VerbError::Usage(format!(
                "{option} prints {form} instead of JSON: leave out {option} or --json"
            )));
        }
        if self.curl && output.is_terminal() {
            return Err(VerbError::Usage(
                "--curl writes bytes of servers for curl, not for a terminal: add `| curl --config -` \
                 or write to a file".to_owned(),
            ));
        }
        Ok(())
    }

    /// Says why no page is listed.
    fn nothing(&self, snapshot: &Snapshot, output: &mut Output) -> Result<Exit, VerbError> {
        let is_known = snapshot.scan(self.under.as_ref()).next().transpose()?.is_some();
        let (why, exit) = match &self.under {
            Some(prefix) if !is_known => (
                format!("no page is known under {prefix}; simkeep scan lists all pages"),
                Exit::Nothing,
            ),
            None if !is_known => ("the store is empty".to_owned(), Exit::Done),
            _ if self.only_due => {
                let why = "no page is due now; without --only-due, the next pages are listed";
                (why.to_owned(), Exit::Done)
            }
            _ => ("the rules and the policy allow no visit now".to_owned(), Exit::Done),
        };
        output.note(&why)?;
        Ok(exit)
    }
}
