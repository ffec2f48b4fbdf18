//! `simulate`: compares the freshness of simulated crawls under each policy.

mod best_freshness;
mod help;
mod json;
mod plot;
mod row;
mod runs;
mod setting;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use simkeep::Changes;
use simkeep::recrawl::simulate::{ChangeProcess, Decider, RandomPage, Rates, SimulatedPage, Span};
use simkeep::recrawl::{Interval, KnownPage, Policy, RecrawlError};

use crate::common::CommonArgs;
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::words;
use crate::time;
use crate::verbs::revisit::policy::parse_visits;
use help::HELP;
pub(crate) use json::SimulateLine;
use row::SimulationRow;
use runs::{CrawlGrid, run};
use setting::SimulationSetting;

/// Compare revisit policies on a recorded or random crawl
///
/// A simulated crawler visits the pages of a store, or random pages, at a fixed rate per day. It knows
/// only what its visits find. One line per policy: the share of time in which its newest copy was
/// current (fresh), the same up to minor changes, the mean of missed changes, and the share of
/// differing bits.
#[derive(Args)]
#[command(after_long_help = HELP)]
pub(crate) struct SimulateArgs {
    /// Simulate random pages instead of a store
    #[arg(long, value_name = "KIND")]
    random: Option<RandomKind>,
    /// Visits a day
    #[arg(long, value_name = "VISITS", conflicts_with = "every", value_parser = parse_visits)]
    per_day: Option<f64>,
    /// Visits enough to see each page once in this time [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = time::interval)]
    every: Option<Interval>,
    /// A policy to run; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    policy: Vec<Policy>,
    /// Visit a page at the latest after this time
    #[arg(long, value_name = "DURATION", default_value = "365d", value_parser = time::interval)]
    max_interval: Interval,
    /// Time to learn before measuring [default: a quarter]
    #[arg(long, value_name = "DURATION", value_parser = time::duration)]
    warm_up: Option<Duration>,
    /// Time between rounds of visits [default: 6h, more for long crawls]
    #[arg(long, value_name = "DURATION", value_parser = time::interval)]
    step: Option<Interval>,
    /// With --random, days to simulate
    #[arg(long, value_name = "DAYS", default_value_t = 400, value_parser = clap::value_parser!(u32).range(2..=36_500))]
    days: u32,
    /// With --random, seed of the first crawl
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// With --random, crawls with pages of their own
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: u32,
    /// Pages to simulate; a larger store is sampled
    #[arg(long, value_name = "COUNT", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_pages: u32,
    /// Share of a change that a return to an earlier version counts
    #[arg(long, value_name = "SHARE", default_value_t = Changes::RETURN_SHARE)]
    returns: f64,
    /// Draw freshness by visits a day, to an SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// The kinds of random pages.
#[derive(Clone, Copy, ValueEnum)]
enum RandomKind {
    /// 500 pages; all octaves from a change in 400 days to three a day are equally likely
    Flat,
    /// Ten hosts of twelve pages, whose rates are near that of their host
    ByHost,
    /// Pages that appear on any day, change daily for 40 days, and then never again
    Settle,
    /// As by-host, but after half of the time each page gets another rate
    Switch,
    /// As by-host, but changes come in bursts of eight in two days
    Burst,
    /// As by-host, but changes are made in office hours
    Weekdays,
    /// As by-host, but the pages of a host change on the same day
    HostAtOnce,
}

impl RandomKind {
    /// The rates of the pages, and the process of their changes.
    fn pages(self) -> (Rates, ChangeProcess) {
        let by_host =
            Rates::ByHost { hosts: 10, pages: 12, median: 0.06, between: 1.4, within: 0.6 };
        match self {
            RandomKind::Flat => (Rates::Flat { pages: 500 }, ChangeProcess::Constant),
            RandomKind::ByHost => (by_host, ChangeProcess::Constant),
            RandomKind::Settle => {
                let rates = Rates::Equal { hosts: 20, pages: 20, per_day: 1.0 };
                (rates, ChangeProcess::Settling { days: 40.0 })
            }
            RandomKind::Switch => (by_host, ChangeProcess::Switching),
            RandomKind::Burst => (by_host, ChangeProcess::Bursts { changes: 8, days: 2.0 }),
            RandomKind::Weekdays => (by_host, ChangeProcess::Weekdays),
            RandomKind::HostAtOnce => (by_host, ChangeProcess::HostAtOnce),
        }
    }
}

impl SimulateArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        match self.random {
            Some(kind) => self.random(kind, common, output),
            None => self.replay(common, output),
        }
    }

    /// Simulates crawls of random pages.
    fn random(
        &self,
        kind: RandomKind,
        common: &CommonArgs,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let days = f64::from(self.days);
        let seeds = (0..u64::from(self.seeds)).map(|number| self.seed.wrapping_add(number));
        let (rates, process) = kind.pages();
        let worlds = seeds.map(|seed| rates.draw(process, seed, days));
        let worlds = worlds.collect::<Result<Vec<Vec<RandomPage>>, RecrawlError>>()?;
        let known = |pages: &Vec<RandomPage>| pages.iter().map(RandomPage::known).collect();
        // Without a constant rate there is no optimum to compare with.
        let known: Vec<Vec<KnownPage>> = worlds.iter().filter_map(known).collect();
        let setting = SimulationSetting {
            pages: worlds.first().map_or(0, |pages| pages.len() as u64),
            sample: 1.0,
            days,
            note: Vec::new(),
            times: None,
        };
        self.compare(&worlds, &known, &setting, common.json, output)
    }

    /// Simulates a crawl of the pages of a store.
    fn replay(&self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let replay =
            common.read()?.snapshot().replay(None, self.max_pages as usize, self.returns)?;
        let days = (replay.last.as_ms() - replay.first.as_ms()) as f64 / 86_400_000.0;
        if replay.pages.is_empty() || days < 2.0 {
            print_message(
                "the store cannot be replayed: its visits are too few or too close together",
            );
            return Ok(Exit::Nothing);
        }
        let sample = replay.pages.len() as f64 / replay.of as f64;
        let setting = SimulationSetting {
            pages: replay.of,
            sample,
            days,
            note: SimulationSetting::of_replay(sample, &replay),
            times: Some((replay.first, replay.last)),
        };
        self.compare(&[replay.pages], &[], &setting, common.json, output)
    }

    /// Simulates all policies on some worlds, and prints the results. `known` are the change rates
    /// of their pages; empty if unknown.
    fn compare<P: SimulatedPage>(
        &self,
        worlds: &[Vec<P>],
        known: &[Vec<KnownPage>],
        setting: &SimulationSetting,
        json: bool,
        output: &mut Output,
    ) -> Result<Exit, VerbError> {
        let span = self.span(setting.days)?;
        let per_day = self.visits_per_day(setting);
        let factors: &[f64] =
            if self.plot.is_some() { &[0.25, 0.5, 1.0, 2.0, 4.0] } else { &[1.0] };
        let by = match self.policy.as_slice() {
            [] => Decider::all(!known.is_empty()),
            policies => policies.iter().copied().map(Decider::policy).collect(),
        };
        let visits: Vec<f64> =
            factors.iter().map(|factor| per_day * setting.sample * factor).collect();
        let rows = run(
            worlds,
            &CrawlGrid { by: &by, visits: &visits, span, max_interval: self.max_interval },
        )?;
        let best = best_freshness::of(known, &visits)?;
        if let Some(file) = &self.plot {
            let svg = plot::svg(&setting.title(), &visits, setting.sample, &rows, &best);
            let cannot = |e| VerbError::Other(format!("cannot write {}: {e}", file.display()));
            crate::output::temporary::put(file, svg.as_bytes()).map_err(cannot)?;
        }
        let at = factors.iter().position(|factor| *factor == 1.0).unwrap_or(0);
        let (rows, best): (Vec<SimulationRow>, _) =
            (rows.into_iter().map(|mut row| row.swap_remove(at)).collect(), best.get(at));
        if json {
            for line in json::lines(&rows, best, setting, (per_day, span)) {
                output.object(&line)?;
            }
            return Ok(Exit::Done);
        }
        for line in setting.lines(per_day, span, worlds.len()) {
            output.summary(&line)?;
        }
        output.header(&table::heading(&rows))?;
        for line in table::lines(&rows, best) {
            output.line(&line)?;
        }
        for line in &setting.note {
            output.summary(line)?;
        }
        Ok(Exit::Done)
    }

    /// The number of visits a day to all pages.
    fn visits_per_day(&self, setting: &SimulationSetting) -> f64 {
        let every = self.every.map_or(7.0, Interval::days);
        self.per_day.unwrap_or(setting.pages as f64 / every)
    }

    /// The days to simulate.
    fn span(&self, days: f64) -> Result<Span, VerbError> {
        let from = self.warm_up.map_or(days / 4.0, |time| time.as_secs_f64() / 86_400.0);
        let step = self.step.map_or((days / 10_000.0).max(0.25), Interval::days);
        Ok(Span::new(step, from, days)?)
    }
}
