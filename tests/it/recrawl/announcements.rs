//! Announcements of changes: known figures, and pages with random changes and announcements.

use proptest::prelude::*;
use simkeep::recrawl::{
    Announcements, Belief, Likelihood, Prior, PriorityIndex, RecrawlError, SourceCounts,
    SourceReliability,
};

use super::assert_six;

const DAY: u64 = 86_400;

const INDEXES: [PriorityIndex; 3] =
    [PriorityIndex::Value, PriorityIndex::CrawlValue, PriorityIndex::Harmonic];

fn announced(recall: f64, false_per_day: f64, count: u32) -> Announcements {
    Announcements { source: SourceReliability::new(recall, false_per_day).unwrap(), count }
}

fn value(weight: f64, rate: f64, days: f64, all: &[Announcements]) -> f64 {
    PriorityIndex::CrawlValue.announced(weight, rate, days, all).unwrap()
}

fn counts(hits: u64, misses: u64, changed: u64, false_alarms: u64, unchanged: u64) -> SourceCounts {
    SourceCounts {
        hits,
        misses,
        changed_seconds: changed * DAY,
        false_alarms,
        unchanged_seconds: unchanged * DAY,
    }
}

#[test]
fn values_match_known_values() {
    assert_six(value(1.0, 0.1, 10.0, &[]), 2.642411);
    for (count, expected) in [(0, 0.046788), (1, 6.921214), (2, 9.483775)] {
        assert_six(value(1.0, 0.1, 10.0, &[announced(0.9, 0.01, count)]), expected);
    }
    assert_six(value(1.0, 0.1, 1.0, &[announced(0.99, 0.001, 1)]), 9.439943);
    // A source without recall changes nothing.
    assert_six(value(1.0, 0.1, 10.0, &[announced(0.0, 0.05, 3)]), 2.642411);
    assert_six(value(2.0, 0.5, 3.0, &[announced(0.5, 0.2, 1)]), 1.849426);
    let two = [announced(0.8, 0.005, 1), announced(0.4, 0.1, 2)];
    assert_six(value(1.0, 0.02, 30.0, &two), 24.727398);
    assert_six(value(1.0, 0.1, 10.0, &[announced(0.5, 0.1, 200)]), 10.0);
}

#[test]
fn reliability_matches_known_values() {
    for (counts, expected) in [
        (counts(46, 4, 400, 3, 900), (0.003871, 0.832956)),
        (counts(5, 0, 50, 0, 100), (0.004615, 0.567771)),
        (counts(20, 30, 500, 40, 400), (0.094419, 0.0)),
        (SourceCounts::default(), (0.02, 0.0)),
    ] {
        let found = counts.reliability(0.02).unwrap();
        assert_six(found.false_per_day(), expected.0);
        assert_six(found.recall(), expected.1);
    }
    assert_six(counts(1, 2, 3, 5, 99).false_per_day(), 5.02 / 100.0);
}

#[test]
fn invalid_numbers_are_named() {
    let named = |error: Option<RecrawlError>, expected: &str| match error {
        Some(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    for bad in [-0.1, 1.1, f64::NAN] {
        named(SourceReliability::new(bad, 0.1).err(), "recall");
    }
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        named(SourceReliability::new(0.5, bad).err(), "false_per_day");
    }
    for bad in [-0.1, 0.0, f64::NAN, f64::MAX] {
        named(SourceCounts::default().reliability(bad).err(), "false_per_day_of_all");
    }
    // A source that seems to be perfect is not believed blindly.
    let perfect = SourceReliability::new(1.0, 0.0).unwrap();
    assert_eq!((perfect.recall(), perfect.false_per_day()), (0.99, 1e-6));
    let all = &[announced(0.5, 0.1, 1)][..];
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        named(PriorityIndex::Value.announced(bad, 1.0, 1.0, all).err(), "weight");
        named(PriorityIndex::Value.announced(1.0, bad, 1.0, all).err(), "per_day");
    }
    named(PriorityIndex::Value.announced(1.0, 1.0, f64::NAN, all).err(), "days");
}

#[test]
fn value_is_bounded_whatever_is_announced() {
    let many = [announced(1.0, 0.0, u32::MAX), announced(0.5, 0.1, u32::MAX)];
    for (rate, days) in [(0.1, 3.0), (1e-300, 3.0), (1e305, 3.0), (1e305, 4e6)] {
        for index in INDEXES {
            let found = index.announced(1.0, rate, days, &many).unwrap();
            // At most the mean time to a change, and at most the time since the last visit.
            assert!(
                found.is_finite() && found <= (1.0 / rate).max(days) * 1.2,
                "{index:?} {found}"
            );
            assert!(index.worth(1.0, rate, days).unwrap() <= (1.0 / rate).max(days) * 1.2);
        }
    }
}

/// The fraction of unchanged pages among those with `n` announcements in `days` days, for n = 0 and 1.
/// Pages change at a rate; the source announces changes with a probability, and others falsely.
fn unchanged(rate: f64, days: f64, recall: f64, false_per_day: f64) -> [f64; 2] {
    let mut random = super::SplitMix(7);
    let mut sums = [[0.0; 2]; 2];
    for _ in 0..400_000 {
        let (mut changes, mut announcements) = (0, 0);
        for (per_day, is_change) in [(rate, true), (false_per_day, false)] {
            let mut day = -random.share().ln() / per_day;
            while day <= days {
                changes += u32::from(is_change);
                announcements += usize::from(!is_change || random.share() < recall);
                day -= random.share().ln() / per_day;
            }
        }
        if let Some([all, unchanged]) = sums.get_mut(announcements) {
            *all += 1.0;
            *unchanged += f64::from(u8::from(changes == 0));
        }
    }
    sums.map(|[all, unchanged]| unchanged / all)
}

#[test]
fn probability_of_no_change_is_that_of_random_pages() {
    for (rate, days, recall, false_per_day) in
        [(0.1, 5.0, 0.8, 0.05), (0.02, 20.0, 0.5, 0.1), (0.3, 2.0, 0.9, 0.02)]
    {
        let found = unchanged(rate, days, recall, false_per_day);
        for (count, found) in (0..).zip(found) {
            // The crawl value of x is (1 - (1 + x)e^-x)/λ. Its x is found by bisection.
            let worth = value(1.0, rate, days, &[announced(recall, false_per_day, count)]) * rate;
            let (mut low, mut high) = (0.0, 100.0);
            for _ in 0..100 {
                let x: f64 = f64::midpoint(low, high);
                if 1.0 - (1.0 + x) * (-x).exp() < worth { low = x } else { high = x }
            }
            let expected = (-low).exp();
            assert!((found - expected).abs() < 0.01, "{count}: {found} {expected}");
        }
    }
}

#[test]
fn sums_saturate() {
    let mut counts = counts(1, 1, 1, 1, 1);
    let most = SourceCounts {
        hits: u64::MAX,
        misses: u64::MAX,
        changed_seconds: u64::MAX,
        false_alarms: u64::MAX,
        unchanged_seconds: u64::MAX,
    };
    counts.add(&most);
    assert_eq!(counts, most);
    counts.add_visit(u64::MAX, true, u32::MAX);
    counts.add_visit(u64::MAX, false, u32::MAX);
    let found = counts.reliability(0.02).unwrap();
    assert!((0.0..=0.99).contains(&found.recall()) && found.false_per_day().is_finite());
}

fn sources() -> impl Strategy<Value = Vec<Announcements>> {
    let one = (0.0..=1.0, 0.0..2.0, 0u32..5);
    prop::collection::vec(
        one.prop_map(|(recall, rate, count)| announced(recall, rate, count)),
        0..4,
    )
}

proptest! {
    #[test]
    fn announcements_raise_the_value_and_silence_lowers_it(
        all in sources(), rate in 0.001..10.0f64, days in 0.0..100.0f64, recall in 0.01..1.0f64,
        false_per_day in 0.0..2.0f64,
    ) {
        for index in INDEXES {
            let with = |count| {
                let all = [&all[..], &[announced(recall, false_per_day, count)]].concat();
                index.announced(1.0, rate, days, &all).unwrap()
            };
            let without = index.announced(1.0, rate, days, &all).unwrap();
            prop_assert!(with(0) <= without * (1.0 + 1e-12));
            prop_assert!(with(0) <= with(1) && with(1) <= with(2) * (1.0 + 1e-12));
        }
    }

    #[test]
    fn belief_is_an_expectation_over_rates(all in sources(), days in 0.1..100.0f64, centre in -5.0..0.0f64) {
        let prior = Prior::log_normal(f64::exp(centre), 1.5).unwrap();
        let belief = Belief::new(&prior, &Likelihood::flat());
        for index in INDEXES {
            let of = |days, all: &[Announcements]| belief.announced(index, 2.0, days, all).unwrap();
            prop_assert_eq!(of(days, &[]), belief.worth(index, 2.0, days).unwrap());
            // A sum over rates in steps of a hundredth of a nat.
            let steps = (-1400..800).map(|step| f64::from(step) / 100.0);
            let sums = steps.fold((0.0, 0.0), |(sum, all_chances), log| {
                let chance = (-((log - centre) / 1.5).powi(2) / 2.0).exp();
                let value = index.announced(2.0, f64::exp(log), days, &all).unwrap();
                (sum + chance * value, all_chances + chance)
            });
            let (found, expected) = (of(days, &all), sums.0 / sums.1);
            prop_assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        }
        // A silent source slows the clock of the page.
        let of = |days, all: &[Announcements]| belief.announced(PriorityIndex::CrawlValue, 2.0, days, all).unwrap();
        let (silent, slowed) = (of(days, &[announced(0.75, 0.1, 0)]), of(days / 4.0, &[]));
        prop_assert!((silent / slowed - 1.0).abs() < 1e-9, "{silent} {slowed}");
    }

    #[test]
    fn sums_do_not_depend_on_the_order(
        visits in prop::collection::vec((0u64..1 << 40, any::<bool>(), 0u32..4), 0..30), at in 0usize..30,
    ) {
        let sum = |visits: &[(u64, bool, u32)]| {
            let mut counts = SourceCounts::default();
            visits.iter().for_each(|(seconds, changed, count)| counts.add_visit(*seconds, *changed, *count));
            counts
        };
        let (first, second) = visits.split_at(at.min(visits.len()));
        let mut parts = sum(second);
        parts.add(&sum(first));
        prop_assert_eq!(parts, sum(&visits));
    }
}
