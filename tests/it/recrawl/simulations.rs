//! Simulated crawls: which policy keeps more pages fresh, and whether the measurement is correct.

use simkeep::recrawl::simulate::{
    Budget, ChangeProcess, Decider, Learning, Notes, RandomPage, Rates, SimulatedPage,
    SimulationResult, Span, crawl,
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

fn by(pages: &[RandomPage], per_day: f64, span: Span, decider: Decider) -> SimulationResult {
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
        let pages = Rates::Flat { pages: 200 }.draw(ChangeProcess::Constant, seed, 250.0).unwrap();
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
            let pages = BY_HOST.draw(ChangeProcess::Constant, seed, 90.0).unwrap();
            by(&pages, 120.0 / 14.0, span, decider).freshness
        });
        figures.sum::<f64>() / 10.0
    };
    let hosts = mean(Decider::policy(Policy::VALUE));
    let no_hosts = mean(Decider::Policy(Policy::VALUE, Learning::Pages));
    let true_rates = mean(Decider::Known(PriorityIndex::CrawlValue));
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
fn naive(pages: &[RandomPage], per_day: f64, (step, from, to): (f64, f64, f64)) -> [f64; 3] {
    let mut visits: Vec<Vec<f64>> = vec![vec![0.0]; pages.len()];
    let mut seen: Vec<Vec<(Comparison, f64)>> = vec![Vec::new(); pages.len()];
    let mut compared = vec![0; pages.len()];
    let likelihood = |seen: &[(Comparison, f64)]| {
        let mut likelihood = Likelihood::flat();
        seen.iter().for_each(|(one, times)| likelihood.add(*one, *times).unwrap());
        likelihood
    };
    let version = |page: &RandomPage, day: f64| page.starts().iter().filter(|s| **s <= day).count();
    let (mut budget, mut sums, mut looks, mut counted) = (0.0, [0.0; 2], 0.0, 0.0);
    let mut day = 0.0;
    while day < to {
        budget += per_day * step;
        let mut order: Vec<(f64, usize)> = (0..pages.len())
            .map(|at| {
                let belief = Belief::new(&Prior::default(), &likelihood(&seen[at]));
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
            seen[at].push((Comparison::new(day - last, change).unwrap(), 1.0));
            compared[at] += 1;
            if compared[at] == 128 {
                compared[at] = 64;
                seen[at].iter_mut().for_each(|(_, times)| *times /= 2.0);
            }
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
    let many = [(1, 3.0), (2, 7.3), (3, 0.7), (4, 1000.0)].map(|of| (of, 30, 60.0));
    // Pages with more comparisons than a store counts in full.
    for ((seed, per_day), count, days) in many.into_iter().chain([((5, 8.0), 6, 120.0)]) {
        let pages = Rates::Flat { pages: count };
        let pages = pages.draw(ChangeProcess::Constant, seed, days).unwrap();
        let span = Span::new(0.5, days / 3.0, days).unwrap();
        let found = by(&pages, per_day, span, Decider::Policy(Policy::VALUE, Learning::Nothing));
        let expected = naive(&pages, per_day, (0.5, days / 3.0, days));
        assert!((found.freshness - expected[0]).abs() < 2e-3, "{found:?} {expected:?}");
        assert!((found.staleness - expected[1]).abs() < 1e-2, "{found:?} {expected:?}");
        assert_eq!(found.visits_per_day, expected[2]);
        assert_eq!(found.near_freshness, found.freshness);
        assert!((found.divergence - (1.0 - found.freshness) / 2.0).abs() < 1e-12);
    }
}

#[test]
fn evidence_is_halved_at_128_comparisons() {
    let page = RandomPage::new(0, vec![0.0]).unwrap();
    let mut notes = page.found(0.0, 0);
    let likelihood = |count: u32, times: f64| {
        let mut likelihood = Likelihood::flat();
        let one = Comparison::new(1.0, Change::None).unwrap();
        (0..count).for_each(|_| likelihood.add(one, times).unwrap());
        likelihood
    };
    for day in 1..=130 {
        page.visited(&mut notes, f64::from(day), 0).unwrap();
        let expected = match day {
            ..128 => likelihood(day, 1.0),
            128 => likelihood(128, 0.5),
            _ => continue,
        };
        assert_eq!(notes.likelihood(), expected, "{day} comparisons");
    }
    assert_eq!(notes.comparisons(), 130);
}

#[test]
fn seeded_rates_are_equal_on_every_machine() {
    let flat = Rates::Flat { pages: 2_000 }.draw(ChangeProcess::Constant, 7, 1.0).unwrap();
    let rate = |page: &RandomPage| page.per_day().unwrap();
    let slow = flat.iter().filter(|page| rate(page) < (0.0025f64 * 3.2).sqrt()).count();
    assert!((900..1_100).contains(&slow), "{slow}");
    let first = |rates: Rates| rate(&rates.draw(ChangeProcess::Constant, 1, 10.0).unwrap()[0]);
    super::assert_six(first(Rates::Flat { pages: 1 }), FIRST[0]);
    super::assert_six(first(BY_HOST), FIRST[1]);
}

#[test]
fn processes_change_pages_when_they_say() {
    const DAYS: f64 = 420.0;
    let draw = |process| BY_HOST.draw(process, 3, DAYS).unwrap();
    let changes = |page: &RandomPage| page.starts().len() as f64 - 1.0;
    let all = |pages: &[RandomPage]| pages.iter().map(changes).sum::<f64>();
    let constant = all(&draw(ChangeProcess::Constant));
    for process in [ChangeProcess::Weekdays, ChangeProcess::Bursts { changes: 8, days: 2.0 }] {
        let ratio = all(&draw(process)) / constant;
        assert!((0.8..1.2).contains(&ratio), "{process:?}: {ratio}");
    }
    for page in draw(ChangeProcess::Weekdays) {
        assert!(page.starts()[1..].iter().all(|day| {
            let hours = day.fract() * 24.0;
            day % 7.0 < 5.0 && (9.0 - 1e-9..17.0 + 1e-9).contains(&hours)
        }));
    }
    let rates = Rates::Equal { hosts: 10, pages: 12, per_day: 0.5 };
    let settling = rates.draw(ChangeProcess::Settling { days: 30.0 }, 3, DAYS).unwrap();
    for page in &settling {
        let days = page.starts();
        assert!(days.is_sorted() && days[days.len() - 1] <= (days[0] + 30.0).min(DAYS));
    }
    let mean = all(&settling) / 120.0;
    assert!((13.0..15.5).contains(&mean), "{mean} changes in 30 days"); // some pages appear late
    // Each change of the first page is a change of every other page on the same day.
    let at_once = draw(ChangeProcess::HostAtOnce);
    for host in at_once.chunk_by(|a, b| a.host() == b.host()) {
        let within_a_day = |page: &RandomPage, day: f64| {
            page.starts().iter().any(|other| (other - day).abs() < 1.0)
        };
        let days = host[0].starts().iter().filter(|day| **day < DAYS - 1.0);
        days.for_each(|day| assert!(host.iter().all(|page| within_a_day(page, *day))));
    }
    // The pages of the first half are those of constant rates, and have others afterwards.
    let half = |page: &RandomPage| page.starts().iter().filter(|day| **day <= 210.0).count();
    let (before, after) = (draw(ChangeProcess::Constant), draw(ChangeProcess::Switching));
    assert!(before.iter().zip(&after).all(|(a, b)| half(a) == half(b)));
    // The rates of the second half are others: fast pages are no longer the same.
    let later = |page: &RandomPage| page.starts().iter().filter(|day| **day > 210.0).count();
    let same = |pages: &[RandomPage]| {
        let is_fast = |count: usize| count > 13; // the median is .06 a day
        pages.iter().filter(|page| is_fast(half(page)) == is_fast(later(page))).count()
    };
    assert!(same(&before) > 105 && same(&after) < 90, "{} {}", same(&before), same(&after));
    assert!(after.iter().all(|page| page.per_day().is_none() && page.known().is_none()));
}

#[test]
fn value_does_not_abandon_pages_that_settle() {
    let rates = Rates::Equal { hosts: 20, pages: 20, per_day: 1.0 };
    let pages = rates.draw(ChangeProcess::Settling { days: 40.0 }, 1, 400.0).unwrap();
    let (budget, span) = (Budget::every(60.0).unwrap(), Span::new(1.0, 100.0, 400.0).unwrap());
    let fresh = |policy: &str| {
        let by = Decider::policy(policy.parse().unwrap());
        crawl(&pages, budget, span, by, &mut || {}).unwrap().freshness
    };
    assert!(fresh("value") > fresh("uniform") - 0.01, "{}", fresh("value"));
    assert!(fresh("crawl-value") < fresh("uniform") - 0.03, "{}", fresh("crawl-value"));
}

#[test]
fn largest_interval_forces_visits() {
    // A page that changes too fast to be kept fresh, and pages that are worth all visits.
    let fast: Vec<f64> = (0..40_000).map(|n| f64::from(n) / 100.0).collect();
    let slow = || (0..40).map(|n| f64::from(n) * 10.0).collect();
    let mut pages = vec![RandomPage::new(0, fast).unwrap()];
    pages.extend((0..20).map(|_| RandomPage::new(1, slow()).unwrap()));
    let span = Span::new(1.0, 100.0, 400.0).unwrap();
    let missed = |days: &str| {
        let budget = Budget::per_day(1.0).unwrap().largest_interval(days.parse().unwrap());
        let by = Decider::policy(Policy::CRAWL_VALUE);
        crawl(&pages, budget, span, by, &mut || {}).unwrap().staleness
    };
    assert!(missed("3d") < missed("365d") - 0.1, "{} {}", missed("3d"), missed("365d"));
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
    refused(
        name(Rates::Flat { pages: 0 }.draw(ChangeProcess::Constant, 1, 1.0).unwrap_err()),
        "pages",
    );
    refused(
        name(Rates::Flat { pages: 9_999_999 }.draw(ChangeProcess::Constant, 1, 4e5).unwrap_err()),
        "days",
    );
    let narrow = Rates::ByHost { hosts: 1, pages: 1, median: 1.0, between: 0.0, within: 1.0 };
    refused(name(narrow.draw(ChangeProcess::Constant, 1, 1.0).unwrap_err()), "between");
    let equal = |per_day| Rates::Equal { hosts: 1, pages: 1, per_day };
    refused(name(equal(0.0).draw(ChangeProcess::Constant, 1, 1.0).unwrap_err()), "per_day");
    let settling = ChangeProcess::Settling { days: f64::NAN };
    refused(name(equal(1.0).draw(settling, 1, 1.0).unwrap_err()), "days");
    let bursts = ChangeProcess::Bursts { changes: 0, days: 1.0 };
    refused(name(equal(1.0).draw(bursts, 1, 1.0).unwrap_err()), "changes");
    for starts in [vec![], vec![2.0, 1.0], vec![f64::NAN], vec![0.0, f64::INFINITY]] {
        refused(name(RandomPage::new(0, starts).unwrap_err()), "starts");
    }
    let span = Span::new(1.0, 0.0, 10.0).unwrap();
    let none: &[RandomPage] = &[];
    let budget = Budget::per_day(1.0).unwrap();
    let crawled = crawl(none, budget, span, Decider::policy(Policy::VALUE), &mut || {});
    refused(name(crawled.unwrap_err()), "pages");
}
