//! Policies by name, and the intervals of their rules step by step, computed by hand.

use proptest::prelude::*;
use simkeep::recrawl::RecrawlError;
use simkeep::recrawl::{
    Belief, Change, Comparison, Likelihood, Policy, PolicyInput, Prior, PriorityIndex,
    RecentComparisons, Schedule,
};

use super::assert_six;

fn policy(name: &str) -> Policy {
    name.parse().unwrap()
}

/// The schedules of a page after each of its comparisons.
fn schedules(name: &str, comparisons: &[(f64, char)]) -> Vec<Schedule> {
    let mut recent = RecentComparisons::default();
    let after = |(days, change): &(f64, char)| {
        let change = if *change == 'y' { Change::Undated } else { Change::None };
        recent.push(Comparison::new(*days, change).unwrap());
        policy(name).schedule(&recent).unwrap()
    };
    comparisons.iter().map(after).collect()
}

#[test]
fn thesis_policy_changes_interval_after_runs_of_three() {
    let weekly: Vec<(f64, char)> = "nnnyyyynnn".chars().map(|change| (7.0, change)).collect();
    let expected = [7.0, 7.0, 10.5, 10.5, 10.5, 7.0, 7.0, 7.0, 7.0, 10.5];
    for (found, expected) in schedules("thesis", &weekly).iter().zip(expected) {
        assert_six(found.interval_days, expected);
        assert_eq!(found.next_days, found.interval_days);
    }
    let by_two = schedules("thesis:2,2", &weekly[..4]);
    assert_eq!(by_two.iter().map(|one| one.interval_days).collect::<Vec<_>>(), [7., 14., 14., 14.]);
}

#[test]
fn nutch_policy_matches_known_values() {
    // Visits on days 30, 60, 90 and 200.
    let (mut recent, mut last) = (RecentComparisons::default(), 0.0);
    for (day, changed, interval, next) in [
        (30.0, false, 42.0, 63.0),
        (60.0, true, 33.6, 93.6),
        (90.0, false, 47.04, 128.04),
        (200.0, false, 140.0, 298.0),
    ] {
        let change = if changed { Change::Undated } else { Change::None };
        recent.push(Comparison::new(day - last, change).unwrap());
        last = day;
        let found = policy("nutch").schedule(&recent).unwrap();
        assert_six(found.interval_days, interval);
        assert_six(day + found.next_days, next);
    }
}

#[test]
fn stormcrawler_policy_matches_known_values() {
    let daily: Vec<(f64, char)> = "nnyyn".chars().map(|change| (1.0, change)).collect();
    for (found, expected) in
        schedules("stormcrawler", &daily).iter().zip([1.5, 2.25, 1.145833, 0.59375, 0.890625])
    {
        assert_six(found.interval_days, expected);
    }
}

#[test]
fn each_policy_starts_with_its_first_interval() {
    let first =
        |name| policy(name).schedule(&RecentComparisons::default()).map(|one| one.next_days);
    assert_eq!(first("thesis"), Some(7.0));
    assert_eq!(first("nutch"), Some(30.0));
    assert_eq!(first("stormcrawler"), Some(1.0));
    assert_eq!(first("fixed:12h"), Some(0.5));
    assert_eq!((first("uniform"), first("value"), first("harmonic")), (None, None, None));
}

#[test]
fn policies_score_by_worth_or_relative_time() {
    let belief = Belief::new(&Prior::default(), &Likelihood::flat());
    let recent = RecentComparisons::default();
    let at = |days| PolicyInput { belief: &belief, recent: &recent, weight: 2.0, days };
    let score = |name, days| policy(name).score(&at(days)).unwrap();
    assert_eq!(score("value", 14.0), belief.worth(PriorityIndex::Value, 2.0, 14.0).unwrap());
    let crawl_value = belief.worth(PriorityIndex::CrawlValue, 2.0, 14.0).unwrap();
    assert_eq!(score("crawl-value", 14.0), crawl_value);
    assert_eq!(score("harmonic", 14.0), belief.worth(PriorityIndex::Harmonic, 2.0, 14.0).unwrap());
    assert_eq!((score("uniform", 14.0), score("fixed:7d", 14.0)), (14.0, 2.0));
    assert_eq!((score("thesis", 14.0), score("stormcrawler", 14.0)), (2.0, 14.0));
    for name in [
        "value",
        "crawl-value",
        "harmonic",
        "uniform",
        "fixed:1s",
        "thesis",
        "nutch",
        "stormcrawler",
    ] {
        assert_eq!(score(name, -3.0), 0.0);
        for (weight, days, expected) in
            [(0.0, 1.0, "weight"), (f64::NAN, 1.0, "weight"), (1.0, f64::NAN, "days")]
        {
            match policy(name).score(&PolicyInput { weight, ..at(days) }) {
                Err(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}

#[test]
fn policy_names_are_parsed_and_printed() {
    for (text, shown) in [
        ("value", "value"),
        ("crawl-value", "crawl-value"),
        ("harmonic", "harmonic"),
        ("uniform", "uniform"),
        ("stormcrawler", "stormcrawler"),
        ("fixed:7d", "fixed:7d"),
        ("fixed:2w", "fixed:14d"),
        ("fixed:90m", "fixed:90m"),
        ("fixed:120m", "fixed:2h"),
        ("fixed:86401s", "fixed:86401s"),
        ("thesis", "thesis:3,1.5"),
        ("thesis:64,2.0", "thesis:64,2"),
        ("nutch", "nutch:0.4,0.2,0.3"),
        ("nutch:.2,.2,0", "nutch:0.2,0.2,0"),
    ] {
        assert_eq!(policy(text).to_string(), shown);
        assert_eq!(policy(shown), policy(text));
    }
}

#[test]
fn invalid_policy_names_are_refused() {
    for wrong in [
        "",
        "Value",
        "valu",
        "value:",
        "value:1",
        "crawl-value:",
        "crawl_value",
        "uniform:2",
        "stormcrawler:",
        "fixed",
        "fixed:",
        "fixed:d",
        "fixed:0d",
        "fixed:7",
        "fixed:-7d",
        "fixed:+7d",
        "fixed:1.5d",
        "fixed:7 d",
        "fixed:7é",
        "fixed:99999999999999999999d",
        "fixed:5000000d",
        "fixed:18446744073709551615w",
        "thesis:",
        "thesis:3",
        "thesis:0,1.5",
        "thesis:65,1.5",
        "thesis:3,1",
        "thesis:3,inf",
        "thesis:3,NaN",
        "thesis:3,1.5,2",
        "thesis:3,1e2",
        "nutch:.4,.2",
        "nutch:0,.2,.3",
        "nutch:.4,1,.3",
        "nutch:.4,.2,1.1",
        "nutch:.4,-.2,.3",
        "nutch:.4,.2,.3,.4",
    ] {
        let said = wrong.parse::<Policy>().unwrap_err().to_string();
        let all = [
            "value",
            "crawl-value",
            "harmonic",
            "uniform",
            "fixed:",
            "thesis:",
            "nutch:",
            "stormcrawler",
        ];
        assert!(all.iter().all(|name| said.contains(name)), "{wrong}: {said}");
        assert!(said.contains(&format!("{wrong:?}")), "{said}");
    }
}

proptest! {
    #[test]
    fn schedules_use_the_last_64_comparisons(
        changes in prop::collection::vec((any::<bool>(), 0.001..4e6), 0..150)
    ) {
        let comparison = |(changed, days): &(bool, f64)| {
            Comparison::new(*days, if *changed { Change::Undated } else { Change::None }).unwrap()
        };
        let (mut all, mut last) = (RecentComparisons::default(), RecentComparisons::default());
        changes.iter().for_each(|one| all.push(comparison(one)));
        changes[changes.len().saturating_sub(64)..].iter().for_each(|one| last.push(comparison(one)));
        prop_assert!(all.changes().eq(changes.iter().rev().take(64).rev().map(|(changed, _)| *changed)));
        for name in ["thesis", "stormcrawler", "thesis:1,1000"] {
            prop_assert_eq!(policy(name).schedule(&all), policy(name).schedule(&last));
        }
        for name in ["thesis:1,1000", "thesis:64,1.5", "nutch", "nutch:1000,.999,1", "stormcrawler"] {
            let found = policy(name).schedule(&all).unwrap();
            prop_assert!(found.next_days <= found.interval_days && found.interval_days <= 365.0);
            prop_assert!(found.next_days > 0.0006, "{} {:?}", name, found);
        }
    }
}
