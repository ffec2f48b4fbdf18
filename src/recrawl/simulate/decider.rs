//! How a simulated crawler orders pages.

use std::fmt;

use crate::recrawl::{Index, Policy};

/// The order of a simulated crawler: a policy, or a baseline to compare policies with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decider {
    /// A policy. Its beliefs start from a prior that is learned in this way.
    Policy(Policy, Learning),
    /// An index at the estimated rate of a page, without a belief:
    /// [`irregular`](crate::recrawl::irregular) with both halves.
    Estimated(Index),
    /// An index at the true rate. It requires pages with known rates.
    Known(Index),
}

/// The source of a simulated crawler's prior. It learns again when it has an eighth more
/// comparisons.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Learning {
    /// Nothing: the prior is the [default](crate::recrawl::Prior::default).
    Nothing,
    /// All pages.
    Pages,
    /// All pages, and for each page the other pages of its host.
    Hosts,
}

impl Decider {
    /// Returns a policy that learns from all pages and from hosts, as a store does.
    pub fn policy(policy: Policy) -> Decider {
        Decider::Policy(policy, Learning::Hosts)
    }

    /// Returns the default policies to compare, and the crawl value without hosts and without a
    /// belief. If rates are known, the value at the true rates is included.
    pub fn all(rates_known: bool) -> Vec<Decider> {
        let others = ["uniform", "thesis", "nutch", "stormcrawler"];
        let others = others.iter().filter_map(|name| name.parse().ok()).map(Decider::policy);
        let mut all = vec![Decider::policy(Policy::VALUE), Decider::policy(Policy::HARMONIC)];
        all.extend(others);
        all.push(Decider::Policy(Policy::VALUE, Learning::Pages));
        all.push(Decider::Policy(Policy::VALUE, Learning::Nothing));
        all.push(Decider::Estimated(Index::Value));
        all.extend(rates_known.then_some(Decider::Known(Index::Value)));
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

fn name(index: Index) -> Policy {
    match index {
        Index::Value => Policy::VALUE,
        Index::Harmonic => Policy::HARMONIC,
    }
}
