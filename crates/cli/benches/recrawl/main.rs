//! How fresh each policy keeps pages, at the same number of visits.
//!
//! `cargo bench --bench recrawl` prints the tables of `docs/recrawl.md`: pages that change at random, at
//! rates of all octaves and by host, and the histories of real pages, if they are available. With
//! `-- flat`, `early`, `late`, `settings`, `ota` or `peps` it prints these alone.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

mod histories;
mod settings;
mod table;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use simkeep::Changes;
use simkeep::recrawl::simulate::{
    Budget, ChangeProcess, Decider, Learning, RandomPage, Rates, SimulatedPage, SimulationResult,
    Span, crawl,
};
use simkeep::recrawl::{
    KnownPage, Policy, PriorityIndex, few_misses, fixed_intervals, random_times,
};

/// Pages that change by chance.
struct RandomWorld {
    name: &'static str,
    title: &'static str,
    rates: Rates,
    per_day: f64,
    days: (f64, f64),
    seeds: u64,
}

const BY_HOST: Rates =
    Rates::ByHost { hosts: 10, pages: 12, median: 0.06, between: 1.4, within: 0.6 };

const CHANCES: [RandomWorld; 3] = [
    RandomWorld {
        name: "flat",
        title: "500 pages of all octaves, 71 visits a day, days 100 to 400, 10 seeds",
        rates: Rates::Flat { pages: 500 },
        per_day: 71.0,
        days: (100.0, 400.0),
        seeds: 10,
    },
    RandomWorld {
        name: "early",
        title: "10 hosts of 12 pages, a visit for each in 14 days, days 30 to 90, 20 seeds",
        rates: BY_HOST,
        per_day: 120.0 / 14.0,
        days: (30.0, 90.0),
        seeds: 20,
    },
    RandomWorld {
        name: "late",
        title: "10 hosts of 12 pages, a visit for each in 14 days, days 120 to 200, 20 seeds",
        rates: BY_HOST,
        per_day: 120.0 / 14.0,
        days: (120.0, 200.0),
        seeds: 20,
    },
];

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    for chance in CHANCES.iter().filter(|chance| is_wanted(chance.name)) {
        by_chance(chance);
    }
    if is_wanted("settings") {
        by_setting();
    }
    for name in ["ota", "peps"].into_iter().filter(|name| is_wanted(name)) {
        replay(name);
    }
}

fn by_chance(chance: &RandomWorld) {
    let draw = |seed| chance.rates.draw(ChangeProcess::Constant, seed, chance.days.1).unwrap();
    let worlds: Vec<Vec<RandomPage>> = (1..=chance.seeds).map(draw).collect();
    let span = Span::new(0.25, chance.days.0, chance.days.1).unwrap();
    let mut by = Decider::all(true);
    by.push(Decider::Known(PriorityIndex::Harmonic));
    println!("\n{}\n", chance.title);
    let rows = crawls(&worlds, &by, Budget::per_day(chance.per_day).unwrap(), span);
    table::print(&by, &rows);
    let known = |pages: &Vec<RandomPage>| -> Vec<KnownPage> {
        pages.iter().map(|page| page.known().unwrap()).collect()
    };
    for (name, best) in [
        ("best at fixed intervals", fixed_intervals as fn(&[KnownPage], f64) -> _),
        ("best at random times", random_times),
        ("fewest misses at random times", few_misses),
    ] {
        let fresh =
            worlds.iter().map(|pages| best(&known(pages), chance.per_day).unwrap().freshness);
        println!("| {name} | {:.4} | | | | |", fresh.sum::<f64>() / worlds.len() as f64);
    }
}

/// Settings in which a policy may do harm: the freshness of each policy minus that of equal intervals.
fn by_setting() {
    let names = ["value", "crawl-value", "harmonic", "thesis", "stormcrawler", "uniform"];
    let by: Vec<Decider> =
        names.iter().map(|name| Decider::policy(name.parse().unwrap())).collect();
    println!("\nFresher than at equal intervals; 400 days, measured from day 100 on, 2 seeds\n");
    println!("| setting | days between visits | {} |", names.join(" | "));
    println!("|---|---|{}", "---|".repeat(names.len()));
    let span = Span::new(0.25, settings::DAYS / 4.0, settings::DAYS).unwrap();
    for setting in &settings::ALL {
        let worlds: Vec<Vec<RandomPage>> = (1..=2).map(|seed| setting.pages(seed)).collect();
        for every in [2.0, 7.0, 28.0, 60.0] {
            let rows = crawls(&worlds, &by, Budget::every(every).unwrap(), span);
            let fresh = |row: &Vec<SimulationResult>| {
                row.iter().map(|result| result.freshness).sum::<f64>() / row.len() as f64
            };
            let all: Vec<f64> = rows.iter().map(fresh).collect();
            let (uniform, others) = all.split_last().unwrap();
            let cells: Vec<String> =
                others.iter().map(|fresh| format!("{:+.4}", fresh - uniform)).collect();
            println!("| {} | {every} | {} | {uniform:.4} |", setting.title, cells.join(" | "));
        }
    }
}

/// The histories of real pages, if they are there.
fn replay(name: &str) {
    let Some(store) = histories::store(name) else {
        println!("\n{name}: its data is not here, so it is left out");
        return;
    };
    let snapshot = store.store.snapshot();
    for share in [Changes::RETURN_SHARE, 0.0, 1.0] {
        let replay = snapshot.replay(None, 100_000, share).unwrap();
        let days = (replay.last.as_ms() - replay.first.as_ms()) as f64 / 86_400_000.0;
        for every in [7.0, 28.0] {
            let pages = replay.pages.len();
            println!(
                "\n{name}: {pages} pages, {days:.0} days, a visit for each in {every} days, \
                      a return is {share} of a change\n"
            );
            let by = match share {
                Changes::RETURN_SHARE => Decider::all(false),
                _ => [Policy::VALUE, Policy::HARMONIC]
                    .iter()
                    .flat_map(|policy| {
                        [Learning::Hosts, Learning::Pages]
                            .map(|from| Decider::Policy(*policy, from))
                    })
                    .collect(),
            };
            let span = Span::new(1.0, 365.0, days).unwrap();
            let worlds = [replay.pages.as_slice()];
            table::print(&by, &crawls(&worlds, &by, Budget::every(every).unwrap(), span));
        }
    }
}

/// Crawls all worlds by all deciders: for each a list by world.
fn crawls<P: SimulatedPage, W: AsRef<[P]> + Sync>(
    worlds: &[W],
    by: &[Decider],
    budget: Budget,
    span: Span,
) -> Vec<Vec<SimulationResult>> {
    let jobs: Vec<(usize, usize)> =
        (0..by.len()).flat_map(|by| (0..worlds.len()).map(move |world| (by, world))).collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(vec![Vec::new(); by.len()]));
    let work = || {
        while let Some(&(number, world)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let pages = worlds[world].as_ref();
            let figures = crawl(pages, budget, span, by[number], &mut || {}).unwrap();
            all.lock().unwrap_or_else(PoisonError::into_inner)[number].push((world, figures));
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let mut all = all.into_inner().unwrap();
    all.iter_mut().for_each(|row| row.sort_by_key(|(world, _)| *world));
    all.into_iter().map(|row| row.into_iter().map(|(_, figures)| figures).collect()).collect()
}
