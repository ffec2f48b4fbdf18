//! By what a simulated crawler puts pages in order.

use std::fmt;

use crate::recrawl::{Index, Policy};

/// By what a simulated crawler puts pages in order: one of the policies, or what they are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decider {
    /// A policy. What it believes of rates starts from a prior that is learned so.
    Policy(Policy, Learning),
    /// An index at the rate that the comparisons of a page give, without a belief:
    /// [`irregular`](crate::recrawl::irregular) with both halves.
    Estimated(Index),
    /// An index at the true rate. Only pages whose rate is known can be simulated so.
    Known(Index),
}

/// From what a simulated crawler learns a prior. It does so anew whenever it has an eighth more
/// comparisons.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Learning {
    /// From nothing: it is the [default](crate::recrawl::Prior::default).
    Nothing,
    /// From all pages.
    Pages,
    /// From all pages, and for each page from the others of its host.
    Hosts,
}

impl Decider {
    /// A policy that learns from all pages and from hosts, as a store does.
    pub fn policy(policy: Policy) -> Decider {
        Decider::Policy(policy, Learning::Hosts)
    }

    /// The policies that are compared unless others are asked for, and beside them what the crawl value
    /// is without hosts and without a belief. Pages whose rates are known add the value at these.
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
