//! Values of visits, compared with known figures and with integrals summed in thin slices.

use proptest::prelude::*;
use simkeep::recrawl::RecrawlError;
use simkeep::recrawl::{PriorityIndex, hinted, interval};

use super::assert_six;

const INDEXES: [PriorityIndex; 3] =
    [PriorityIndex::Value, PriorityIndex::CrawlValue, PriorityIndex::Harmonic];

fn crawl_value(weight: f64, rate: f64, days: f64) -> Result<f64, RecrawlError> {
    PriorityIndex::CrawlValue.worth(weight, rate, days)
}

fn harmonic(weight: f64, rate: f64, days: f64) -> Result<f64, RecrawlError> {
    PriorityIndex::Harmonic.worth(weight, rate, days)
}

#[test]
fn values_match_known_values() {
    for ((weight, rate, days), crawl, penalty) in [
        ((1.0, 0.1, 10.0), 2.642411, 5.0),
        ((2.0, 0.5, 3.0), 1.768698, 3.6),
        ((1.0, 5.0, 1.0), 0.191914, 0.833333),
    ] {
        assert_six(crawl_value(weight, rate, days).unwrap(), crawl);
        assert_six(harmonic(weight, rate, days).unwrap(), penalty);
        let value = PriorityIndex::Value.worth(weight, rate, days).unwrap();
        assert_six(value, crawl + 0.1 * penalty);
    }
    assert_six(hinted(0.8, 1.0, 3.0, crawl_value(1.0, 0.1, 10.0).unwrap()).unwrap(), 2.928482);
}

#[test]
fn intervals_match_known_values() {
    for ((weight, rate, threshold), expected) in
        [((1.0, 0.1, 1.0), 5.318116), ((1.0, 1.0, 0.2), 0.824388), ((2.0, 0.5, 1.0), 1.922558)]
    {
        assert_six(
            interval(PriorityIndex::CrawlValue, weight, rate, threshold).unwrap().unwrap(),
            expected,
        );
    }
    for threshold in [10.0, 11.0, 1e9] {
        assert_eq!(interval(PriorityIndex::CrawlValue, 1.0, 0.1, threshold).unwrap(), None);
    }
    for index in [PriorityIndex::Value, PriorityIndex::Harmonic] {
        assert!(interval(index, 1.0, 0.1, 11.0).unwrap().is_some());
    }
}

#[test]
fn pages_not_due_and_old_hints_are_worth_nothing() {
    assert_eq!(
        (crawl_value(1.0, 0.1, 0.0).unwrap(), crawl_value(1.0, 0.1, -5.0).unwrap()),
        (0.0, 0.0)
    );
    assert_eq!(harmonic(1.0, 0.1, f64::NEG_INFINITY).unwrap(), 0.0);
    assert_eq!(hinted(0.8, 1.0, -3.0, 2.5).unwrap(), 2.5);
    assert_eq!(hinted(0.0, 1.0, 3.0, 2.5).unwrap(), 2.5);
}

#[test]
fn invalid_numbers_are_named() {
    let named = |error: Result<f64, RecrawlError>, expected: &str| match error {
        Err(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    let at = |weight, rate, threshold| {
        interval(PriorityIndex::Value, weight, rate, threshold).map(|days| days.unwrap_or(-1.0))
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        named(crawl_value(bad, 1.0, 1.0), "weight");
        named(crawl_value(1.0, bad, 1.0), "per_day");
        named(harmonic(bad, 1.0, 1.0), "weight");
        named(at(bad, 1.0, 1.0), "weight");
        named(at(1.0, bad, 1.0), "per_day");
        named(at(1.0, 1.0, bad), "threshold");
        named(hinted(0.5, bad, 1.0, 1.0), "weight");
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        named(hinted(bad, 1.0, 1.0, 1.0), "trust");
    }
    named(crawl_value(1.0, 1.0, f64::NAN), "days");
    named(hinted(0.5, 1.0, f64::NAN, 1.0), "after_days");
    named(hinted(0.5, 1.0, 1.0, f64::NAN), "otherwise");
}

/// According to Olston and Pandey: the probability that a page is stale at the end, times the time,
/// minus the time for which it was stale. e^{-λt} is summed in thin slices.
fn by_slices(rate: f64, days: f64) -> f64 {
    const SLICES: u32 = 20_000;
    let stale = |t: f64| 1.0 - (-rate * t).exp();
    let width = days / f64::from(SLICES);
    let middles = (0..SLICES).map(|i| stale((f64::from(i) + 0.5) * width));
    days * stale(days) - middles.sum::<f64>() * width
}

proptest! {
    #[test]
    fn value_equals_the_integrated_cost_of_waiting(rate in 0.001..10.0, days in 0.01..1000.0) {
        let (found, expected) = (crawl_value(1.0, rate, days).unwrap(), by_slices(rate, days));
        prop_assert!((found - expected).abs() < 1e-5 * days, "{found} {expected}");
    }

    #[test]
    fn worth_never_decreases_with_waiting(log in -200.0..200.0, a in 0.0..5e6, b in 0.0..5e6) {
        let rate = f64::exp(log);
        for index in INDEXES {
            let at = |days| index.worth(1.0, rate, days).unwrap();
            let (sooner, later) = (at(f64::min(a, b)), at(f64::max(a, b)));
            prop_assert!(0.0 <= sooner && sooner <= later * (1.0 + 1e-12), "{sooner} {later}");
            prop_assert!(later.is_finite());
        }
    }

    #[test]
    fn visit_at_its_interval_is_worth_the_threshold(
        log in -8.0..5.0, weight in 0.01..100.0, share in 0.0001..0.99
    ) {
        let rate = f64::exp(log);
        let threshold = share * weight / rate;
        for index in INDEXES {
            let days = interval(index, weight, rate, threshold).unwrap().unwrap();
            let worth = index.worth(weight, rate, days).unwrap();
            prop_assert!((worth / threshold - 1.0).abs() < 1e-9, "{worth} {threshold}");
        }
    }
}
