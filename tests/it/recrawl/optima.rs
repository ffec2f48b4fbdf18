//! Optimal uses of a budget, compared with known figures and with other uses of the same budget.

use proptest::prelude::*;
use simkeep::recrawl::RecrawlError;
use simkeep::recrawl::{
    KnownHost, KnownPage, LimitedOptimum, Optimum, PriorityIndex, few_misses, fixed_intervals,
    limited_intervals, random_times,
};

use super::assert_six;

fn pages(all: &[(f64, f64)]) -> Vec<KnownPage> {
    all.iter().map(|(rate, weight)| KnownPage::new(*rate, *weight).unwrap()).collect()
}

#[track_caller]
fn assert_spent(found: &Optimum, visits: &[f64]) {
    assert_eq!(found.visits_per_day.len(), visits.len());
    for (found, expected) in found.visits_per_day.iter().zip(visits) {
        assert_six(*found, *expected);
    }
}

#[test]
fn fastest_of_five_pages_is_left_alone() {
    let found =
        fixed_intervals(&pages(&[1., 2., 3., 4., 5.].map(|rate| (rate, 1.0))), 5.0).unwrap();
    assert_spent(&found, &[1.149892, 1.358412, 1.353835, 1.137860, 0.0]);
    assert_six(found.threshold, 0.216432);
}

#[test]
fn budgets_are_spent_as_published() {
    let equal = pages(&[(0.1, 1.0), (1.0, 1.0), (10.0, 1.0)]);
    let cho = fixed_intervals(&equal, 1.0).unwrap();
    assert_spent(&cho, &[0.308667, 0.691333, 0.0]);
    assert_six(cho.freshness, 0.460924);
    let azar = random_times(&equal, 1.0).unwrap();
    assert_spent(&azar, &[0.404531, 0.595469, 0.0]);
    assert_six(azar.freshness, 0.391674);
    assert_six(azar.threshold, 0.392847);
    let lambda = few_misses(&equal, 1.0).unwrap();
    assert_spent(&lambda, &[0.176260, 0.358451, 0.465289]);
    assert_six(lambda.threshold, 2.053650);

    let weighed = pages(&[(0.1, 1.0), (1.0, 2.0), (10.0, 5.0)]);
    let cho = fixed_intervals(&weighed, 2.0).unwrap();
    assert_spent(&cho, &[0.281405, 1.040286, 0.678310]);
    assert_six(cho.freshness, 0.308216);
    let azar = random_times(&weighed, 2.0).unwrap();
    assert_spent(&azar, &[0.370667, 1.104889, 0.524444]);
    assert_six(azar.freshness, 0.260815);
    assert_six(azar.threshold, 0.451411);
    let lambda = few_misses(&weighed, 2.0).unwrap();
    assert_spent(&lambda, &[0.136653, 0.446988, 1.416359]);
    assert_six(lambda.threshold, 3.092211);
}

/// The optimum for host A with a limit, and host B without.
fn limited(limit: f64, budget: f64) -> LimitedOptimum {
    let a = KnownHost {
        pages: pages(&[(0.1, 1.0), (0.5, 1.0), (1.0, 1.0)]),
        visits_per_day: Some(limit),
    };
    let b =
        KnownHost { pages: pages(&[(0.05, 1.0), (0.2, 2.0), (2.0, 1.0)]), visits_per_day: None };
    limited_intervals(&[a, b], budget).unwrap()
}

#[test]
fn limits_of_hosts_have_their_known_prices() {
    for ((limit, budget), (price, threshold), visits) in [
        ((0.2, 0.9), (1.976113, 0.591347), [[0.122283, 0.077717, 0.0], [0.188390, 0.511610, 0.0]]),
        ((0.05, 0.45), (5.939942, 1.525463), [[0.05, 0.0, 0.0], [0.110399, 0.289601, 0.0]]),
        ((9.0, 0.9), (1.162390, 1.162390), [[0.171614, 0.255982, 0.0], [0.129175, 0.343228, 0.0]]),
    ] {
        let found = limited(limit, budget);
        assert_six(found.prices[0], price);
        assert_six(found.prices[1], threshold);
        assert_six(found.threshold, threshold);
        for (found, expected) in found.visits_per_day.iter().flatten().zip(visits.iter().flatten())
        {
            assert_six(*found, *expected);
        }
    }
}

#[test]
fn limits_of_all_hosts_may_leave_visits_unspent() {
    let host =
        |rate, limit| KnownHost { pages: pages(&[(rate, 1.0)]), visits_per_day: Some(limit) };
    let found = limited_intervals(&[host(1.0, 0.001), host(0.1, 0.2)], 5.0).unwrap();
    assert_six(found.visits_per_day[0][0], 0.001);
    assert_six(found.visits_per_day[1][0], 0.2);
    assert_eq!(found.threshold, 0.0);
    assert!(found.prices[0] > found.prices[1] * 0.1 && found.prices[1] > 0.0, "{found:?}");
    let empty = KnownHost { pages: Vec::new(), visits_per_day: Some(1.0) };
    let found = limited_intervals(&[empty, host(1.0, 9.0)], 1e-3).unwrap();
    assert!(found.visits_per_day[0].is_empty());
    assert_six(found.visits_per_day[1][0], 1e-3);
}

#[test]
fn invalid_numbers_are_named() {
    let named = |error: Option<RecrawlError>, expected: &str| match error {
        Some(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    let one = pages(&[(1.0, 1.0)]);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
        let host = |limit| [KnownHost { pages: one.clone(), visits_per_day: limit }];
        named(limited_intervals(&host(None), bad).err(), "visits_per_day");
        named(limited_intervals(&host(Some(bad)), 1.0).err(), "visits_per_day of a host");
    }
    named(limited_intervals(&[], 1.0).err(), "pages");
    for best in [fixed_intervals, random_times, few_misses] {
        named(best(&[], 1.0).err(), "pages");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
            named(best(&one, bad).err(), "visits_per_day");
            named(KnownPage::new(bad, 1.0).err(), "per_day");
            named(KnownPage::new(1.0, bad).err(), "weight");
        }
        for budget in [1e-9, 1e90] {
            let spent = best(&one, budget).unwrap();
            assert!((spent.visits_per_day[0] / budget - 1.0).abs() < 1e-6, "{spent:?}");
        }
    }
}

/// The weighted freshness of pages that are visited at fixed intervals, or at random times.
fn freshness(pages: &[(f64, f64)], visits: &[f64], fixed: bool) -> f64 {
    let of = |((rate, weight), visits): (&(f64, f64), &f64)| match (*visits, fixed) {
        (0.0, _) => 0.0,
        (visits, true) => weight * (1.0 - (-rate / visits).exp()) * visits / rate,
        (visits, false) => weight * visits / (visits + rate),
    };
    let weights: f64 = pages.iter().map(|(_, weight)| weight).sum();
    pages.iter().zip(visits).map(of).sum::<f64>() / weights
}

/// The negative penalty for missed changes.
fn missed(pages: &[(f64, f64)], visits: &[f64]) -> f64 {
    pages
        .iter()
        .zip(visits)
        .map(|((rate, weight), visits)| -weight * (1.0 + rate / visits).ln())
        .sum()
}

/// The visits after giving a part of those of one page to another.
fn moved(visits: &[f64], from: usize, to: usize, share: f64) -> Vec<f64> {
    let mut other = visits.to_vec();
    let part = other[from] * share;
    other[from] -= part;
    other[to] += part;
    other
}

/// A use of a budget, and the objective that it maximizes.
type BestUse<'a> = (Optimum, &'a dyn Fn(&[f64]) -> f64);

proptest! {
    #[test]
    fn hosts_take_at_most_their_limits(
        hosts in prop::collection::vec(
            (prop::collection::vec((-6.0..3.0f64, 0.1..10.0f64), 1..6), prop::option::of(1e-3..2.0f64)), 1..6,
        ),
        budget in 0.01..20.0f64,
    ) {
        let of = |rates: &[(f64, f64)]| -> Vec<(f64, f64)> {
            rates.iter().map(|(log, weight)| (log.exp(), *weight)).collect()
        };
        let known = |limits: bool| -> Vec<KnownHost> {
            let host = |(rates, limit): &(Vec<(f64, f64)>, Option<f64>)| KnownHost {
                pages: pages(&of(rates)),
                visits_per_day: limit.filter(|_| limits),
            };
            hosts.iter().map(host).collect()
        };
        let all: Vec<(f64, f64)> = hosts.iter().flat_map(|(rates, _)| of(rates)).collect();
        // Without limits, it is the optimum of all pages together.
        let (free, together) =
            (limited_intervals(&known(false), budget).unwrap(), fixed_intervals(&pages(&all), budget).unwrap());
        for (free, together) in free.visits_per_day.concat().iter().zip(&together.visits_per_day) {
            prop_assert!((free - together).abs() < 1e-9 * budget, "{free} {together}");
        }
        let found = limited_intervals(&known(true), budget).unwrap();
        let sums: Vec<f64> = found.visits_per_day.iter().map(|visits| visits.iter().sum()).collect();
        for (((_, limit), sum), price) in hosts.iter().zip(&sums).zip(&found.prices) {
            prop_assert!(limit.is_none_or(|limit| *sum <= limit * (1.0 + 1e-9)), "{limit:?} {sum}");
            // A host whose limit is not reached has the common price.
            let tied = limit.is_some_and(|limit| *sum >= limit * (1.0 - 1e-9));
            prop_assert!(tied || *price == found.threshold, "{limit:?} {sum} {price}");
        }
        let limits: f64 = hosts.iter().map(|(_, limit)| limit.unwrap_or(f64::INFINITY)).sum();
        let spent: f64 = sums.iter().sum();
        prop_assert!((spent / budget.min(limits) - 1.0).abs() < 1e-9, "{spent} {budget} {limits}");
    }

    #[test]
    fn no_visit_is_better_spent_elsewhere(
        all in prop::collection::vec((-6.0..3.0, 0.1..10.0), 2..12),
        budget in 0.05..20.0, from in 0usize..12, to in 0usize..12, share in 0.001..0.5
    ) {
        let all: Vec<(f64, f64)> = all.into_iter().map(|(log, w)| (f64::exp(log), w)).collect();
        let (from, to) = (from % all.len(), to % all.len());
        let known = pages(&all);
        let gains: [BestUse; 3] = [
            (fixed_intervals(&known, budget).unwrap(), &|visits| freshness(&all, visits, true)),
            (random_times(&known, budget).unwrap(), &|visits| freshness(&all, visits, false)),
            (few_misses(&known, budget).unwrap(), &|visits| missed(&all, visits)),
        ];
        for (which, (best, gain)) in gains.iter().enumerate() {
            let visits = &best.visits_per_day;
            prop_assert!((visits.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9, "{which}");
            let (is, would_be) = (gain(visits), gain(&moved(visits, from, to, share)));
            prop_assert!(is >= would_be - 1e-9 * is.abs(), "{which}: {is} {would_be}");
            prop_assert!((best.freshness - freshness(&all, visits, which == 0)).abs() < 1e-9, "{which}");
        }
        // At its threshold, each page that is visited at fixed intervals has the same value.
        let cho = &gains[0].0;
        for ((rate, weight), visits) in all.iter().zip(&cho.visits_per_day) {
            if *visits > 1e-6 {
                let worth = PriorityIndex::CrawlValue.worth(*weight, *rate, 1.0 / visits).unwrap();
                prop_assert!((worth / cho.threshold - 1.0).abs() < 1e-6, "{worth}");
            }
        }
    }
}
