//! Rates of change, compared with published vectors and with naively summed likelihoods.

use proptest::prelude::*;
use simkeep::recrawl::RecrawlError;
use simkeep::recrawl::{
    Change, Comparison, Pseudocounts, irregular, last_modified, naive, regular,
};

use super::assert_six;

/// Comparisons from intervals and changes.
fn of(all: &[(f64, Change)]) -> Vec<Comparison> {
    all.iter().map(|(days, change)| Comparison::new(*days, *change).unwrap()).collect()
}

#[test]
fn regular_rates_match_cho() {
    let half = |n, x| regular(n, x, Pseudocounts::Unchanged).unwrap();
    for (x, expected) in
        [(1, 0.100083), (3, 0.336472), (5, 0.646627), (9, 1.945910), (10, 3.044522)]
    {
        assert_six(half(10, x), expected);
    }
    assert_eq!(half(10, 0), 0.0);
    let both = |n, x| regular(n, x, Pseudocounts::Both).unwrap();
    for (n, x, expected) in [(10, 0, 0.046520), (10, 3, 0.382992), (3, 3, 2.079442)] {
        assert_six(both(n, x), expected);
    }
    assert_six(regular(2, 1, Pseudocounts::None).unwrap(), 2f64.ln());
    assert_eq!(regular(3, 3, Pseudocounts::None).unwrap(), f64::INFINITY);
    assert_eq!(naive(6, 120.0).unwrap(), 0.05);
}

#[test]
fn irregular_rates_match_known_values() {
    let (no, yes) = (Change::None, Change::Undated);
    let visits = of(&[(1.0, no), (2.0, yes), (4.0, yes), (1.0, no), (3.0, no)]);
    assert_six(irregular(&visits, Pseudocounts::None).unwrap(), 0.264331677);
    assert_six(irregular(&visits, Pseudocounts::Unchanged).unwrap(), 0.229297132);
    assert_six(irregular(&visits, Pseudocounts::Both).unwrap(), 0.273307423);
}

#[test]
fn dates_of_changes_count() {
    let visits = of(&[(10.0, Change::DaysAgo(2.0)), (10.0, Change::None), (10.0, Change::Undated)]);
    assert_six(irregular(&visits, Pseudocounts::None).unwrap(), 0.125129);
    assert_six(irregular(&visits, Pseudocounts::Unchanged).unwrap(), 0.094223);
    let ago = Change::DaysAgo;
    let all = [ago(2.0), Change::None, ago(7.0), Change::None, ago(1.0)];
    let visits = of(&all.map(|change| (10.0, change)));
    assert_six(last_modified(&visits).unwrap(), 0.088493800);
}

#[test]
fn rates_without_evidence_are_defined_or_errors() {
    let no = of(&[(1.0, Change::None), (2.0, Change::None)]);
    let yes = of(&[(1.0, Change::Undated), (2.0, Change::Undated)]);
    assert_eq!(irregular(&no, Pseudocounts::None).unwrap(), 0.0);
    assert_eq!(irregular(&no, Pseudocounts::Unchanged).unwrap(), 0.0);
    assert!(irregular(&no, Pseudocounts::Both).unwrap() > 0.0);
    assert_eq!(irregular(&yes, Pseudocounts::None).unwrap(), f64::INFINITY);
    assert!(irregular(&yes, Pseudocounts::Unchanged).unwrap().is_finite());
    assert_eq!(last_modified(&no).unwrap(), 0.0);
    let at_once = of(&[(1.0, Change::DaysAgo(0.0)), (1.0, Change::DaysAgo(0.0))]);
    assert_eq!(last_modified(&at_once).unwrap(), f64::INFINITY);
    assert_eq!(last_modified(&at_once[..1]).unwrap(), 0.0);
    assert_eq!(irregular(&at_once, Pseudocounts::None).unwrap(), f64::INFINITY);

    let named = |error: Result<f64, RecrawlError>, expected: &str| match error {
        Err(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    named(irregular(&[], Pseudocounts::Both), "comparisons");
    named(last_modified(&[]), "comparisons");
    named(regular(0, 0, Pseudocounts::Both), "comparisons");
    named(regular(3, 4, Pseudocounts::Both), "changes");
    assert!(matches!(last_modified(&yes), Err(RecrawlError::Invalid(_))));
    for days in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        named(naive(1, days), "days");
        named(Comparison::new(days, Change::None).map(Comparison::days), "days");
    }
    for ago in [-1.0, 1.5, f64::NAN, f64::INFINITY] {
        named(Comparison::new(1.0, Change::DaysAgo(ago)).map(Comparison::days), "days ago");
    }
}

/// The logarithm of the likelihood of comparisons.
fn likelihood(all: &[Comparison], rate: f64) -> f64 {
    let of = |one: &Comparison| match one.change() {
        Change::None => -rate * one.days(),
        Change::Undated => (-(-rate * one.days()).exp_m1()).ln(),
        Change::DaysAgo(ago) => rate.ln() - rate * ago,
    };
    all.iter().map(of).sum()
}

fn comparison() -> impl Strategy<Value = Comparison> {
    let change = prop_oneof![Just(None), Just(Some(Change::None)), Just(Some(Change::Undated)),];
    (-8.0..6.0, 0.0..1.0, change).prop_map(|(log, share, change)| {
        let days = f64::powf(10.0, log);
        Comparison::new(days, change.unwrap_or(Change::DaysAgo(share * days))).unwrap()
    })
}

proptest! {
    #[test]
    fn irregular_rate_maximizes_the_likelihood(all in prop::collection::vec(comparison(), 1..40)) {
        let rate = irregular(&all, Pseudocounts::None).unwrap();
        if rate > 0.0 && rate.is_finite() {
            let at_best = likelihood(&all, rate);
            for factor in [0.5, 0.9, 0.999, 1.001, 1.1, 2.0] {
                let beside = likelihood(&all, rate * factor);
                prop_assert!(at_best >= beside - 1e-9 * at_best.abs().max(1.0), "{rate} {factor}");
            }
        }
    }

    #[test]
    fn irregular_rate_at_equal_intervals_matches_the_closed_form(n in 1u32..65, x in 0u32..65, days in 0.001..1e4) {
        let x = x.min(n);
        let change = |i| if i < x { Change::Undated } else { Change::None };
        let all: Vec<(f64, Change)> = (0..n).map(|i| (days, change(i))).collect();
        for halves in [Pseudocounts::None, Pseudocounts::Unchanged, Pseudocounts::Both] {
            let (found, expected) =
                (irregular(&of(&all), halves).unwrap(), regular(n, x, halves).unwrap() / days);
            prop_assert!(found == expected || (found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        }
    }
}
