//! Beliefs, compared with closed forms of Gamma distributions, and with integrals in steps so fine that
//! the grid does not matter.

use proptest::prelude::*;
use simkeep::recrawl::RecrawlError;
use simkeep::recrawl::{
    Belief, Change, Comparison, Likelihood, Prior, PriorityIndex, Pseudocounts, interval, irregular,
};

use super::assert_six;

const INDEXES: [PriorityIndex; 3] =
    [PriorityIndex::Value, PriorityIndex::CrawlValue, PriorityIndex::Harmonic];

fn gamma(shape: f64, days: f64) -> Belief {
    Belief::new(&Prior::gamma(shape, days).unwrap(), &Likelihood::flat())
}

#[test]
fn worth_of_a_gamma_belief_matches_the_closed_form() {
    for ((a, b, days), expected) in [
        ((2.0, 20.0, 10.0), 2.222222),
        ((1.0, 10.0, 10.0), 1.931472),
        ((0.5, 7.0, 14.0), 2.165808),
        ((3.0, 30.0, 60.0), 11.111111),
    ] {
        let still: f64 = b / (b + days);
        let closed = match a {
            1.0 => -b * still.ln() - days * still,
            a => b / (a - 1.0) * (1.0 - still.powf(a - 1.0)) - days * still.powf(a),
        };
        assert_six(closed, expected);
        let found = gamma(a, b).worth(PriorityIndex::CrawlValue, 1.0, days).unwrap();
        assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
        assert_eq!(gamma(a, b).worth(PriorityIndex::CrawlValue, 2.0, days).unwrap(), 2.0 * found);
    }
}

#[test]
fn gamma_belief_has_its_mean_and_quantiles() {
    // For shape 1, 5 % are below -ln(.95)/days, and 5 % are above -ln(.05)/days.
    let rate = gamma(1.0, 10.0).rate();
    for (found, expected) in [(rate.per_day, 0.1), (rate.low, 0.0051293), (rate.high, 0.2995732)] {
        assert!((found / expected - 1.0).abs() < 0.03, "{found}, not {expected}");
    }
}

#[test]
fn belief_is_the_product_of_prior_and_likelihood() {
    // Dated changes and unchanged times turn a Gamma belief into another one.
    let dated = [Comparison::new(12.0, Change::DaysAgo(5.0)).unwrap(); 2];
    let quiet = [Comparison::new(9.0, Change::None).unwrap()];
    let likelihood = Likelihood::of(&[&dated[..], &quiet[..]].concat());
    let found = Belief::new(&Prior::gamma(1.5, 11.0).unwrap(), &likelihood);
    let (found, expected) = (found.rate(), gamma(3.5, 30.0).rate());
    for (found, expected) in
        [(found.per_day, expected.per_day), (found.low, expected.low), (found.high, expected.high)]
    {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
}

#[test]
fn fractional_counts_equal_repeated_comparisons() {
    let one = Comparison::new(3.0, Change::Undated).unwrap();
    let mut times = Likelihood::flat();
    times.add(one, 3.5).unwrap();
    times.add(one, 0.5).unwrap();
    let prior = Prior::default();
    let (found, expected) = (
        Belief::new(&prior, &times).rate(),
        Belief::new(&prior, &Likelihood::of(&[one; 4])).rate(),
    );
    assert!((found.per_day / expected.per_day - 1.0).abs() < 1e-9);
}

#[test]
fn any_comparison_gives_a_finite_belief() {
    let extremes = [1e-8, 1.0, 4_000_000.0].into_iter().flat_map(|days| {
        [Change::None, Change::Undated, Change::DaysAgo(0.0), Change::DaysAgo(days)]
            .map(|change| Comparison::new(days, change).unwrap())
    });
    for one in extremes {
        let mut likelihood = Likelihood::flat();
        likelihood.add(one, 1e9).unwrap();
        for prior in [
            Prior::default(),
            Prior::gamma(1e6, 1e-8).unwrap(),
            Prior::log_normal(f64::MIN_POSITIVE, 0.1).unwrap(),
            Prior::log_normal(f64::MAX, 100.0).unwrap(),
        ] {
            let belief = Belief::new(&prior, &likelihood);
            let rate = belief.rate();
            assert!(0.0 < rate.low && rate.low < rate.high && rate.high < 1e4, "{rate:?}");
            assert!(rate.per_day.is_finite());
            for index in INDEXES {
                assert_eq!(belief.worth(index, 1.0, -1.0).unwrap(), 0.0);
                assert!(belief.worth(index, 1.0, f64::INFINITY).unwrap().is_finite());
                belief.interval(index, 1.0, 1e-6).unwrap();
            }
        }
    }
}

#[test]
fn invalid_numbers_are_named() {
    let named = |error: Option<RecrawlError>, expected: &str| match error {
        Some(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    let belief = gamma(1.0, 1.0);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        named(belief.worth(PriorityIndex::Value, bad, 1.0).err(), "weight");
        named(belief.interval(PriorityIndex::Value, bad, 1.0).err(), "weight");
        named(belief.interval(PriorityIndex::Value, 1.0, bad).err(), "threshold");
        named(Prior::log_normal(bad, 1.0).err(), "median_per_day");
        named(Prior::log_normal(1.0, bad).err(), "width");
        named(Prior::gamma(bad, 1.0).err(), "shape");
        named(Prior::gamma(1.0, bad).err(), "days");
    }
    let one = Comparison::new(1.0, Change::None).unwrap();
    for bad in [-1.0, 2e9, f64::NAN] {
        named(Likelihood::flat().add(one, bad).err(), "times");
    }
    named(belief.worth(PriorityIndex::Value, 1.0, f64::NAN).err(), "days");
}

/// The expected value of a function of the rate over a log-normal prior and comparisons, in steps
/// of a hundredth of a nat.
fn by_steps(centre: f64, width: f64, seen: &[Comparison], of: impl Fn(f64) -> f64) -> f64 {
    let weighed = (-1400..800).map(|step| {
        let log = f64::from(step) / 100.0;
        let rate = f64::exp(log);
        let chance = |one: &Comparison| match one.change() {
            Change::None => (-rate * one.days()).exp(),
            Change::Undated => -(-rate * one.days()).exp_m1(),
            Change::DaysAgo(ago) => rate * (-rate * ago).exp(),
        };
        let off = (log - centre) / width;
        ((-off * off / 2.0).exp() * seen.iter().map(chance).product::<f64>(), of(rate))
    });
    let (sum, total) = weighed.fold((0.0, 0.0), |(sum, all), (w, x)| (sum + w * x, all + w));
    sum / total
}

fn comparison() -> impl Strategy<Value = Comparison> {
    let change = prop_oneof![Just(Change::None), Just(Change::Undated), Just(Change::DaysAgo(0.2))];
    (0.3..60.0, change).prop_map(|(days, change)| Comparison::new(days, change).unwrap())
}

proptest! {
    #[test]
    fn result_does_not_depend_on_the_grid(
        seen in prop::collection::vec(comparison(), 0..12), centre in -5.0..0.0, days in 0.1..200.0
    ) {
        let prior = Prior::log_normal(f64::exp(centre), 1.5).unwrap();
        let belief = Belief::new(&prior, &Likelihood::of(&seen));
        for index in INDEXES {
            let found = belief.worth(index, 1.0, days).unwrap();
            let expected =
                by_steps(centre, 1.5, &seen, |rate| index.worth(1.0, rate, days).unwrap());
            prop_assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        }
    }

    #[test]
    fn visit_at_its_interval_is_worth_the_threshold(
        seen in prop::collection::vec(comparison(), 0..12), log in -6.0..6.0
    ) {
        let belief = Belief::new(&Prior::default(), &Likelihood::of(&seen));
        let threshold = f64::exp(log);
        for index in INDEXES {
            match belief.interval(index, 2.0, threshold).unwrap() {
                Some(days) => {
                    let worth = belief.worth(index, 2.0, days).unwrap();
                    prop_assert!((worth / threshold - 1.0).abs() < 1e-9, "{worth} {threshold}");
                }
                None => prop_assert!(belief.worth(index, 2.0, 4e6).unwrap() <= threshold),
            }
        }
    }

    #[test]
    fn many_visits_give_the_maximum_likelihood_rate(changed in 20u32..80, days in 0.5..30.0) {
        let seen: Vec<Comparison> = (0..100u32).map(|i| {
            let change = if i < changed { Change::Undated } else { Change::None };
            Comparison::new(days, change).unwrap()
        }).collect();
        let rate = Belief::new(&Prior::default(), &Likelihood::of(&seen)).rate();
        let likeliest = irregular(&seen, Pseudocounts::None).unwrap();
        prop_assert!((rate.per_day / likeliest - 1.0).abs() < 0.1, "{rate:?} {likeliest}");
        prop_assert!(rate.low < likeliest && likeliest < rate.high, "{rate:?} {likeliest}");
        let known = interval(PriorityIndex::Value, 1.0, likeliest, 0.5 / likeliest).unwrap().unwrap();
        let believed = Belief::new(&Prior::default(), &Likelihood::of(&seen))
            .interval(PriorityIndex::Value, 1.0, 0.5 / likeliest).unwrap().unwrap();
        prop_assert!((believed / known - 1.0).abs() < 0.1, "{believed} {known}");
    }
}
