//! Runs all crawls on all cores.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

use parking_lot::Mutex;
use simkeep::recrawl::Interval;
use simkeep::recrawl::simulate::{Budget, Decider, SimulatedPage, SimulationResult, Span, crawl};

use super::row::SimulationRow;
use crate::exit::VerbError;
use crate::output::progress::counted;

/// The crawls to simulate.
pub(super) struct CrawlGrid<'a> {
    pub(super) by: &'a [Decider],
    /// The numbers of visits a day.
    pub(super) visits: &'a [f64],
    pub(super) span: Span,
    pub(super) max_interval: Interval,
}

/// Simulates all crawls on all worlds. Returns, for each decider, a row for each number of visits.
pub(super) fn run<P: SimulatedPage>(
    worlds: &[Vec<P>],
    crawls: &CrawlGrid<'_>,
) -> Result<Vec<Vec<SimulationRow>>, VerbError> {
    let jobs: Vec<(Decider, f64, &Vec<P>)> = crawls
        .by
        .iter()
        .flat_map(|by| crawls.visits.iter().map(move |visits| (*by, *visits)))
        .flat_map(|(by, visits)| worlds.iter().map(move |pages| (by, visits, pages)))
        .collect();
    let steps = u64::from(crawls.span.steps());
    let figures = counted("steps", jobs.len() as u64 * steps, |done| {
        run_parallel(&jobs, |(by, visits, pages)| {
            let mut stepped = || {
                done.fetch_add(1, Ordering::Relaxed);
            };
            let budget = Budget::per_day(*visits)?.largest_interval(crawls.max_interval);
            Ok(crawl(pages, budget, crawls.span, *by, &mut stepped)?)
        })
    })?;
    let mut figures = figures.chunks(worlds.len().max(1));
    let row = |by: &Decider| {
        let of_one = |figures: &[SimulationResult]| SimulationRow {
            name: by.to_string(),
            figures: figures.to_vec(),
        };
        figures.by_ref().take(crawls.visits.len()).map(of_one).collect()
    };
    Ok(crawls.by.iter().map(row).collect())
}

/// Runs all jobs on all available threads. Returns the results in the order of the jobs.
fn run_parallel<J: Sync, T: Send>(
    jobs: &[J],
    work: impl Fn(&J) -> simkeep::Result<T> + Sync,
) -> simkeep::Result<Vec<T>> {
    let (next, answers) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        while let Some((number, job)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(number).map(|job| (number, job))
        } {
            let answer = work(job);
            answers.lock().push((number, answer));
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        // This thread works, too, so the work is done even if no other thread can be started.
        for _ in 1..cores.min(jobs.len()) {
            let _ = Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
    let mut answers = answers.into_inner();
    answers.sort_unstable_by_key(|(number, _)| *number);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
