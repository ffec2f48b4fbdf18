//! Priors learned from pages with random rates, which the test knows.

use proptest::prelude::*;
use simkeep::recrawl::{
    Belief, Change, Comparison, Evidence, Fit, HostPriors, Likelihood, Prior, Priors,
};

use super::SplitMix;

/// A page that changes at `rate` per day and is visited every `days` days.
fn page(random: &mut SplitMix, rate: f64, visits: u32, days: f64) -> Likelihood {
    let unchanged = (-rate * days).exp();
    let visit = |_| {
        let change = if random.share() < unchanged { Change::None } else { Change::Undated };
        Comparison::new(days, change).unwrap()
    };
    Likelihood::of(&(0..visits).map(visit).collect::<Vec<_>>())
}

/// The range of the rate under a prior; the median lies between its ends.
fn range(prior: &Prior) -> (f64, f64) {
    let rate = Belief::new(prior, &Likelihood::flat()).rate();
    (rate.low, rate.high)
}

#[test]
fn median_and_width_are_learned_from_many_pages() {
    let priors = Priors::default();
    for (median, width) in [(0.0625, 0.5), (0.0625, 1.5), (0.0078125, 1.0), (1.0, 1.0)] {
        let (mut random, mut fit) = (SplitMix(7), Fit::default());
        for _ in 0..2_000 {
            let rate = median * (width * random.normal()).exp();
            fit.add(&priors.evidence(&page(&mut random, rate, 8, 1.0 / median)));
        }
        let (found, drawn) =
            (range(&fit.prior(&priors)), range(&Prior::log_normal(median, width).unwrap()));
        assert!((found.0 / drawn.0 - 1.0).abs() < 0.15, "{median} {width}: {found:?} {drawn:?}");
        assert!((found.1 / drawn.1 - 1.0).abs() < 0.15, "{median} {width}: {found:?} {drawn:?}");
    }
}

#[test]
fn fewer_than_twenty_pages_keep_the_default_prior() {
    let (priors, mut fit) = (Priors::default(), Fit::default());
    let evidence =
        priors.evidence(&Likelihood::of(&[Comparison::new(1.0, Change::Undated).unwrap(); 60]));
    for _ in 0..19 {
        fit.add(&evidence);
        assert_eq!(fit.prior(&priors), Prior::default());
    }
    fit.add(&evidence);
    assert_ne!(fit.prior(&priors), Prior::default());
}

/// Generates hosts of `pages` pages each, with spreads of rates between hosts and within a host.
/// Returns the median rate of each host, and the evidence of its pages after eight visits.
fn hosts(pages: u32, between: f64, within: f64) -> Vec<(f64, Fit)> {
    let (priors, mut random) = (Priors::default(), SplitMix(11));
    let host = |_| {
        let (middle, mut fit) = (0.06 * (between * random.normal()).exp(), Fit::default());
        for _ in 0..pages {
            let rate = middle * (within * random.normal()).exp();
            fit.add(&priors.evidence(&page(&mut random, rate, 8, 14.0)));
        }
        (middle, fit)
    };
    (0..50).map(host).collect()
}

/// The average error of the prior median of a page, in ln λ.
fn off(hosts: &[(f64, Fit)]) -> f64 {
    let learned = HostPriors::new(hosts.iter().map(|host| &host.1));
    let middle = |fit| {
        let (low, high) = range(&learned.prior(fit));
        (low.ln() + high.ln()) / 2.0
    };
    hosts.iter().map(|(rate, fit)| (middle(fit) - rate.ln()).abs()).sum::<f64>() / 50.0
}

#[test]
fn prior_of_a_page_follows_its_host() {
    // With the prior of all pages, the error is the spread between hosts, about 1.4 of ln λ. A tenth of
    // each is the default prior, which moves the ends of its range.
    assert!(off(&hosts(12, 1.8, 0.5)) < 0.6, "{}", off(&hosts(12, 1.8, 0.5)));
    // The fewer pages there are, the less the host counts.
    assert!(off(&hosts(2, 1.8, 0.5)) < 0.9, "{}", off(&hosts(2, 1.8, 0.5)));
}

#[test]
fn equal_hosts_share_one_prior() {
    let (priors, hosts) = (Priors::default(), hosts(12, 0.0, 1.5));
    let learned = HostPriors::new(hosts.iter().map(|host| &host.1));
    let of_any = range(&learned.prior(&Fit::default()));
    for (_, host) in &hosts {
        let of_host = range(&learned.prior(host));
        assert!((of_host.0 / of_any.0).ln().abs() < 0.5, "{of_host:?} {of_any:?}");
        assert!((of_host.1 / of_any.1).ln().abs() < 0.5, "{of_host:?} {of_any:?}");
    }
    let mut all = Fit::default();
    hosts.iter().for_each(|(_, host)| all.merge(host));
    let of_all = range(&all.prior(&priors));
    assert!((of_all.0 / of_any.0).ln().abs() < 0.5 && (of_all.1 / of_any.1).ln().abs() < 0.5);
}

#[test]
fn page_does_not_count_in_its_own_prior() {
    let priors = Priors::default();
    let of =
        |change| priors.evidence(&Likelihood::of(&[Comparison::new(14.0, change).unwrap(); 8]));
    let (never, always) = (of(Change::None), of(Change::Undated));
    let mut hosts = vec![Fit::default(); 100];
    for (number, host) in hosts.iter_mut().enumerate() {
        host.add(if number % 2 == 0 { &never } else { &always });
    }
    let learned = HostPriors::new(&hosts);
    // The only page of a host has the prior of any page.
    let of_any = learned.prior(&Fit::default());
    assert_eq!(learned.prior(&hosts[1].without(&always)), of_any);
    assert_ne!(learned.prior(&hosts[1]), of_any);
    // Fewer than 20 pages teach nothing.
    assert_eq!(HostPriors::new(&hosts[..19]).prior(&hosts[1]), Prior::default());
    assert_ne!(HostPriors::new(&hosts[..20]).prior(&hosts[1]), Prior::default());
}

#[test]
fn extreme_evidence_is_summed() {
    let (priors, mut fit) = (Priors::default(), Fit::default());
    for change in [Change::None, Change::Undated, Change::DaysAgo(0.0)] {
        for days in [1e-8, 4e6] {
            let mut likelihood = Likelihood::flat();
            likelihood.add(Comparison::new(days, change).unwrap(), 1e9).unwrap();
            (0..50).for_each(|_| fit.add(&priors.evidence(&likelihood)));
        }
    }
    assert!(range(&fit.prior(&priors)).0 > 0.0);
}

proptest! {
    #[test]
    fn order_of_pages_does_not_matter(seed: u64, pages in 1usize..60, cut in 0usize..60) {
        let (priors, mut random) = (Priors::default(), SplitMix(seed));
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
        prop_assert_eq!(&merged, &forward);
        // Sums over hosts do not depend on the order either.
        let hosts: Vec<Fit> = all.iter().map(|page| of(&mut [page].into_iter())).collect();
        let learned = |hosts: &mut dyn Iterator<Item = &Fit>| {
            HostPriors::new(hosts).prior(&forward)
        };
        prop_assert_eq!(learned(&mut hosts.iter()), learned(&mut hosts.iter().rev()));
    }
}
