//! The order of pages in a simulated crawl.

use std::fmt;

use crate::recrawl::{Policy, PriorityIndex};

/// The order of a simulated crawler: a policy, or a baseline to compare policies with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decider {
    /// A policy. The `Learning` determines the prior of its beliefs.
    Policy(Policy, Learning),
    /// An index at the estimated rate of a page, without a belief:
    /// [`irregular`](crate::recrawl::irregular) with both halves.
    Estimated(PriorityIndex),
    /// An index at the true rate, which requires pages with known rates.
    Known(PriorityIndex),
}

/// The source of a simulated crawler's prior. The prior is learned again when the number of
/// comparisons has grown by an eighth.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Learning {
    /// No learning: the prior is the [default](crate::recrawl::Prior::default).
    Nothing,
    /// The prior is learned from all pages.
    Pages,
    /// The prior is learned from all pages, and for each page from the other pages of its host.
    Hosts,
}

impl Decider {
    /// Returns a policy that learns from all pages and from hosts, in the way of a store.
    pub fn policy(policy: Policy) -> Decider {
        Decider::Policy(policy, Learning::Hosts)
    }

    /// Returns the default policies to compare, and the crawl value without hosts and without a
    /// belief. If rates are known, includes the crawl value at the true rates.
    pub fn all(rates_known: bool) -> Vec<Decider> {
        let others = ["uniform", "thesis", "nutch", "stormcrawler"];
        let others = others.iter().filter_map(|name| name.parse().ok()).map(Decider::policy);
        let mut all = vec![Decider::policy(Policy::VALUE), Decider::policy(Policy::HARMONIC)];
        all.extend(others);
        all.push(Decider::Policy(Policy::VALUE, Learning::Pages));
        all.push(Decider::Policy(Policy::VALUE, Learning::Nothing));
        all.push(Decider::Estimated(PriorityIndex::Value));
        all.extend(rates_known.then_some(Decider::Known(PriorityIndex::Value)));
        all
    }
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decider::Policy(policy, learning) if policy.index().is_some() => match learning {
                Learning::Nothing => write!(f, "{policy}, default prior"),
                Learning::Pages => write!(f, "{policy}, no hosts"),
                Learning::Hosts => write!(f, "{policy}"),
            },
            Decider::Policy(policy, _) => write!(f, "{policy}"),
            Decider::Estimated(index) => write!(f, "{}, estimated rate", name(*index)),
            Decider::Known(index) => write!(f, "{}, true rate", name(*index)),
        }
    }
}

fn name(index: PriorityIndex) -> Policy {
    match index {
        PriorityIndex::Value => Policy::VALUE,
        PriorityIndex::Harmonic => Policy::HARMONIC,
    }
}
