//! Simulated crawls: which policy keeps more pages fresh, and whether the measurement is correct.

use simkeep::recrawl::simulate::{
    Budget, Decider, Learning, PoissonPage, Rates, SimulatedPage, SimulationResult, Span, crawl,
};
use simkeep::recrawl::{
    Belief, Change, Comparison, KnownPage, Likelihood, Policy, Prior, PriorityIndex,
    fixed_intervals,
};

/// The first rate of seed 1, flat and by host, computed by a program in another language.
const FIRST: [f64; 2] = [0.0280763, 0.00618387];

/// Few hosts with few pages, whose rates are similar.
const BY_HOST: Rates =
    Rates::ByHost { hosts: 10, pages: 12, median: 0.06, between: 1.4, within: 0.6 };

fn by(pages: &[PoissonPage], per_day: f64, span: Span, decider: Decider) -> SimulationResult {
    crawl(pages, Budget::per_day(per_day).unwrap(), span, decider, &mut || {}).unwrap()
}

fn others() -> impl Iterator<Item = Decider> {
    let names = ["uniform", "thesis", "nutch", "stormcrawler"];
    names.into_iter().map(|name| Decider::policy(name.parse().unwrap()))
}

#[test]
fn value_maximizes_freshness_and_harmonic_minimizes_misses() {
    let span = Span::new(0.25, 100.0, 250.0).unwrap();
    for seed in 1..=3 {
        let pages = Rates::Flat { pages: 200 }.draw(seed, 250.0).unwrap();
        let known: Vec<KnownPage> = pages.iter().map(|page| page.known().unwrap()).collect();
        let best = fixed_intervals(&known, 28.4).unwrap().freshness;
        let value = by(&pages, 28.4, span, Decider::policy(Policy::VALUE));
        let harmonic = by(&pages, 28.4, span, Decider::policy(Policy::HARMONIC));
        assert!(value.freshness > best * 0.95, "{seed}: {value:?} {best}");
        for other in others() {
            let figures = by(&pages, 28.4, span, other);
            assert!(figures.freshness < value.freshness, "{seed} {other}: {figures:?} {value:?}");
            assert!(figures.staleness > harmonic.staleness, "{seed} {other}: {harmonic:?}");
            assert!((figures.visits_per_day - 28.4).abs() < 0.01, "{figures:?}");
        }
    }
}

#[test]
fn host_priors_help_when_visits_are_few() {
    let span = Span::new(0.25, 30.0, 90.0).unwrap();
    let mean = |decider| {
        let figures = (1..=10).map(|seed| {
            let pages = BY_HOST.draw(seed, 90.0).unwrap();
            by(&pages, 120.0 / 14.0, span, decider).freshness
        });
        figures.sum::<f64>() / 10.0
    };
    let hosts = mean(Decider::policy(Policy::VALUE));
    let no_hosts = mean(Decider::Policy(Policy::VALUE, Learning::Pages));
    let true_rates = mean(Decider::Known(PriorityIndex::Value));
    for less in [
        no_hosts,
        mean(Decider::Estimated(PriorityIndex::Value)),
        mean(Decider::policy(Policy::UNIFORM)),
    ] {
        assert!(hosts > less + 0.003, "{hosts} {less}");
    }
    assert!(true_rates > no_hosts, "{true_rates} {no_hosts}");
}

/// A crawl by the value under the default prior, implemented in the slowest way. Returns freshness,
/// staleness, and visits per day, sampled at the middle of each eighth of a step.
fn naive(pages: &[PoissonPage], per_day: f64, (step, from, to): (f64, f64, f64)) -> [f64; 3] {
    let mut visits: Vec<Vec<f64>> = vec![vec![0.0]; pages.len()];
    let mut likelihoods = vec![Likelihood::flat(); pages.len()];
    let version =
        |page: &PoissonPage, day: f64| page.starts().iter().filter(|s| **s <= day).count();
    let (mut budget, mut sums, mut looks, mut counted) = (0.0, [0.0; 2], 0.0, 0.0);
    let mut day = 0.0;
    while day < to {
        budget += per_day * step;
        let mut order: Vec<(f64, usize)> = (0..pages.len())
            .map(|at| {
                let belief = Belief::new(&Prior::default(), &likelihoods[at]);
                (
                    belief
                        .worth(PriorityIndex::Value, 1.0, day - visits[at].last().unwrap())
                        .unwrap(),
                    at,
                )
            })
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (worth, at) in order {
            if budget < 1.0 {
                break;
            }
            budget -= 1.0;
            if worth == 0.0 {
                continue;
            }
            let last = *visits[at].last().unwrap();
            let changed = version(&pages[at], last) != version(&pages[at], day);
            let change = if changed { Change::Undated } else { Change::None };
            likelihoods[at].add(Comparison::new(day - last, change).unwrap(), 1.0).unwrap();
            visits[at].push(day);
            counted += if day >= from { 1.0 } else { 0.0 };
        }
        for look in (0..8).map(|eighth| day + (f64::from(eighth) + 0.5) * step / 8.0) {
            if look < from {
                continue;
            }
            for (page, visits) in pages.iter().zip(&visits) {
                let missed = version(page, look) - version(page, *visits.last().unwrap());
                sums[0] += if missed == 0 { 1.0 } else { 0.0 };
                sums[1] += (1..=missed).map(|n| 1.0 / n as f64).sum::<f64>();
                looks += 1.0;
            }
        }
        budget %= 1.0;
        day += step;
    }
    [sums[0] / looks, sums[1] / looks, counted / (to - from)]
}

#[test]
fn simulation_matches_a_naive_crawl() {
    for (seed, per_day) in [(1, 3.0), (2, 7.3), (3, 0.7), (4, 1000.0)] {
        let pages = Rates::Flat { pages: 30 }.draw(seed, 60.0).unwrap();
        let span = Span::new(0.5, 20.0, 60.0).unwrap();
        let found = by(&pages, per_day, span, Decider::Policy(Policy::VALUE, Learning::Nothing));
        let expected = naive(&pages, per_day, (0.5, 20.0, 60.0));
        assert!((found.freshness - expected[0]).abs() < 2e-3, "{found:?} {expected:?}");
        assert!((found.staleness - expected[1]).abs() < 1e-2, "{found:?} {expected:?}");
        assert_eq!(found.visits_per_day, expected[2]);
        assert_eq!(found.near_freshness, found.freshness);
        assert!((found.divergence - (1.0 - found.freshness) / 2.0).abs() < 1e-12);
    }
}

#[test]
fn seeded_rates_are_equal_on_every_machine() {
    let flat = Rates::Flat { pages: 2_000 }.draw(7, 1.0).unwrap();
    let slow = flat.iter().filter(|page| page.rate() < (0.0025f64 * 3.2).sqrt()).count();
    assert!((900..1_100).contains(&slow), "{slow}");
    let first = |rates: Rates| rates.draw(1, 10.0).unwrap()[0].rate();
    super::assert_six(first(Rates::Flat { pages: 1 }), FIRST[0]);
    super::assert_six(first(BY_HOST), FIRST[1]);
}

#[test]
fn invalid_simulations_are_refused() {
    let refused = |message: String, names: &str| assert!(message.contains(names), "{message}");
    let name = |error: simkeep::recrawl::RecrawlError| error.to_string();
    refused(name(Span::new(0.0, 0.0, 1.0).unwrap_err()), "step_days");
    refused(name(Span::new(1e-5, 0.0, 400.0).unwrap_err()), "step_days");
    refused(name(Span::new(1.0, 10.0, 10.0).unwrap_err()), "from");
    refused(name(Span::new(1.0, f64::NAN, 10.0).unwrap_err()), "from");
    refused(name(Budget::per_day(0.0).unwrap_err()), "visits");
    refused(name(Budget::every(f64::INFINITY).unwrap_err()), "days");
    refused(name(Rates::Flat { pages: 0 }.draw(1, 1.0).unwrap_err()), "pages");
    refused(name(Rates::Flat { pages: 9_999_999 }.draw(1, 4e5).unwrap_err()), "days");
    let narrow = Rates::ByHost { hosts: 1, pages: 1, median: 1.0, between: 0.0, within: 1.0 };
    refused(name(narrow.draw(1, 1.0).unwrap_err()), "between");
    let span = Span::new(1.0, 0.0, 10.0).unwrap();
    let none: &[PoissonPage] = &[];
    let budget = Budget::per_day(1.0).unwrap();
    let crawled = crawl(none, budget, span, Decider::policy(Policy::VALUE), &mut || {});
    refused(name(crawled.unwrap_err()), "pages");
}
