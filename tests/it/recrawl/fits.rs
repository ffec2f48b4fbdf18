//! Priors that are learned from pages whose rates are drawn by chance, and known to the test.

use proptest::prelude::*;
use simkeep::recrawl::{
    Belief, Change, Comparison, Evidence, Fit, Likelihood, Prior, Priors, Trial,
};

use super::Random;

/// A page that changes at a rate and is visited every so many days.
fn page(random: &mut Random, rate: f64, visits: u32, days: f64) -> Likelihood {
    let unchanged = (-rate * days).exp();
    let visit = |_| {
        let change = if random.share() < unchanged { Change::None } else { Change::Undated };
        Comparison::new(days, change).unwrap()
    };
    Likelihood::of(&(0..visits).map(visit).collect::<Vec<_>>())
}

/// What is believed of a rate before a page is known: its middle is between the two.
fn range(prior: &Prior) -> (f64, f64) {
    let rate = Belief::new(prior, &Likelihood::flat()).rate();
    (rate.low, rate.high)
}

#[test]
fn from_many_pages_their_median_and_width_are_learned() {
    let priors = Priors::default();
    for (median, width) in [(0.0625, 0.5), (0.0625, 1.5), (0.0078125, 1.0), (1.0, 1.0)] {
        let (mut random, mut fit) = (Random(7), Fit::default());
        for _ in 0..2_000 {
            let rate = median * (width * random.normal()).exp();
            fit.add(&priors.evidence(&page(&mut random, rate, 8, 1.0 / median)));
        }
        let (found, drawn) =
            (range(&fit.prior()), range(&Prior::log_normal(median, width).unwrap()));
        assert!((found.0 / drawn.0 - 1.0).abs() < 0.15, "{median} {width}: {found:?} {drawn:?}");
        assert!((found.1 / drawn.1 - 1.0).abs() < 0.15, "{median} {width}: {found:?} {drawn:?}");
    }
}

#[test]
fn from_fewer_than_twenty_nothing_is() {
    let (priors, mut fit) = (Priors::default(), Fit::default());
    let evidence =
        priors.evidence(&Likelihood::of(&[Comparison::new(1.0, Change::Undated).unwrap(); 60]));
    for _ in 0..19 {
        fit.add(&evidence);
        assert_eq!(fit.prior(), Prior::default());
    }
    fit.add(&evidence);
    assert_ne!(fit.prior(), Prior::default());
}

/// How many of 50 hosts have a prior of their own: the width between hosts, and within one.
fn hosts_with_their_own(pages: u32, between: f64, within: f64) -> usize {
    let (priors, mut random) = (Priors::default(), Random(11));
    let hosts: Vec<Vec<Evidence>> = (0..50)
        .map(|_| {
            let middle = 0.06 * (between * random.normal()).exp();
            let mut one = |_| {
                let rate = middle * (within * random.normal()).exp();
                priors.evidence(&page(&mut random, rate, 8, 14.0))
            };
            (0..pages).map(&mut one).collect()
        })
        .collect();
    let mut all = Fit::default();
    hosts.iter().flatten().for_each(|page| all.add(page));
    let own = |pages: &&Vec<Evidence>| {
        let mut host = Fit::default();
        pages.iter().for_each(|page| host.add(page));
        let mut trial = Trial::new(&host, &all);
        pages.iter().for_each(|page| trial.judge(page));
        trial.prior().is_some()
    };
    hosts.iter().filter(own).count()
}

#[test]
fn a_host_has_its_own_prior_where_its_pages_are_alike() {
    assert!(hosts_with_their_own(12, 2.0, 0.3) > 40, "{}", hosts_with_their_own(12, 2.0, 0.3));
    // Where hosts do not differ, few seem to by chance.
    assert!(hosts_with_their_own(12, 0.0, 1.5) < 25, "{}", hosts_with_their_own(12, 0.0, 1.5));
    assert_eq!(hosts_with_their_own(1, 2.0, 0.3), 0);
}

#[test]
fn a_page_does_not_speak_for_itself() {
    // One page that never changes and one that always does say nothing of each other.
    let priors = Priors::default();
    let of =
        |change| priors.evidence(&Likelihood::of(&[Comparison::new(14.0, change).unwrap(); 8]));
    let (never, always) = (of(Change::None), of(Change::Undated));
    let (mut host, mut all) = (Fit::default(), Fit::default());
    for _ in 0..50 {
        all.add(&never);
        all.add(&always);
    }
    for _ in 0..5 {
        host.add(&never);
    }
    host.add(&always);
    let mut trial = Trial::new(&host, &all);
    trial.judge(&always);
    assert_eq!(trial.prior(), None);
    let mut trial = Trial::new(&host, &all);
    trial.judge(&never);
    assert!(trial.prior().is_some());
    // Of so few pages in all none is learned.
    let mut trial = Trial::new(&host, &host);
    trial.judge(&never);
    assert_eq!(trial.prior(), None);
}

#[test]
fn whatever_was_seen_is_summed() {
    let (priors, mut fit) = (Priors::default(), Fit::default());
    for change in [Change::None, Change::Undated, Change::DaysAgo(0.0)] {
        for days in [1e-8, 4e6] {
            let mut likelihood = Likelihood::flat();
            likelihood.add(Comparison::new(days, change).unwrap(), 1e9).unwrap();
            (0..50).for_each(|_| fit.add(&priors.evidence(&likelihood)));
        }
    }
    assert!(range(&fit.prior()).0 > 0.0);
}

proptest! {
    #[test]
    fn the_order_of_pages_does_not_show(seed: u64, pages in 1usize..60, cut in 0usize..60) {
        let (priors, mut random) = (Priors::default(), Random(seed));
        let all: Vec<Evidence> = (0..pages)
            .map(|i| priors.evidence(&page(&mut random, 0.02 * (i + 1) as f64, 5, 10.0)))
            .collect();
        let of = |pages: &mut dyn Iterator<Item = &Evidence>| {
            let mut fit = Fit::default();
            pages.for_each(|page| fit.add(page));
            fit
        };
        let (forward, backward) = (of(&mut all.iter()), of(&mut all.iter().rev()));
        prop_assert_eq!(&forward, &backward);
        let (first, last) = all.split_at(cut.min(pages));
        let mut merged = of(&mut last.iter());
        merged.merge(&of(&mut first.iter()));
        prop_assert_eq!(merged, forward);
    }
}
