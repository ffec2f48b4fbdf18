//! The order of pages in a simulated crawl.

use std::fmt;

use crate::recrawl::{Policy, PriorityIndex};

/// The order of a simulated crawler: a policy, or a baseline to compare policies with.
///
/// ```
/// use simkeep::recrawl::{Policy, PriorityIndex};
/// use simkeep::recrawl::simulate::{Budget, ChangeProcess, Decider, Rates, Span, crawl};
/// # fn main() -> simkeep::Result<()> {
/// let pages = Rates::Flat { pages: 50 }.draw(ChangeProcess::Constant, 1, 100.0)?;
/// let (budget, span) = (Budget::per_day(7.0)?, Span::new(0.5, 30.0, 100.0)?);
/// let freshness = |by| Ok::<_, simkeep::Error>(crawl(&pages, budget, span, by, &mut || {})?.freshness);
/// let known = Decider::Known(PriorityIndex::CrawlValue); // uses the true rates
/// assert!(freshness(known)? > freshness(Decider::policy(Policy::UNIFORM))?);
/// # Ok(())
/// # }
/// ```
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
///
/// ```
/// use simkeep::recrawl::Policy;
/// use simkeep::recrawl::simulate::{Budget, ChangeProcess, Decider, Learning, Rates, Span, crawl};
/// # fn main() -> simkeep::Result<()> {
/// let pages = Rates::Flat { pages: 50 }.draw(ChangeProcess::Constant, 1, 100.0)?;
/// let (budget, span) = (Budget::per_day(7.0)?, Span::new(0.5, 30.0, 100.0)?);
/// for learning in [Learning::Nothing, Learning::Pages, Learning::Hosts] {
///     let by = Decider::Policy(Policy::VALUE, learning);
///     let result = crawl(&pages, budget, span, by, &mut || {})?;
///     assert!(result.freshness > 0.3, "{learning:?}");
/// }
/// # Ok(())
/// # }
/// ```
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
    ///
    /// ```
    /// use simkeep::recrawl::Policy;
    /// use simkeep::recrawl::simulate::{Decider, Learning};
    /// let by = Decider::policy(Policy::VALUE);
    /// assert_eq!(by, Decider::Policy(Policy::VALUE, Learning::Hosts));
    /// ```
    pub fn policy(policy: Policy) -> Decider {
        Decider::Policy(policy, Learning::Hosts)
    }

    /// Returns the default policies to compare, and `value` without hosts and without a belief. If
    /// rates are known, includes the crawl value at the true rates.
    ///
    /// ```
    /// use simkeep::recrawl::simulate::Decider;
    /// for decider in Decider::all(false) {
    ///     println!("{decider}");
    /// }
    /// assert!(Decider::all(true).len() > Decider::all(false).len()); // with the true rates
    /// ```
    pub fn all(rates_known: bool) -> Vec<Decider> {
        let others = ["uniform", "thesis", "nutch", "stormcrawler"];
        let others = others.iter().filter_map(|name| name.parse().ok()).map(Decider::policy);
        let by_value = [Policy::VALUE, Policy::CRAWL_VALUE, Policy::HARMONIC];
        let mut all: Vec<Decider> = by_value.into_iter().map(Decider::policy).collect();
        all.extend(others);
        all.push(Decider::Policy(Policy::VALUE, Learning::Pages));
        all.push(Decider::Policy(Policy::VALUE, Learning::Nothing));
        all.push(Decider::Estimated(PriorityIndex::Value));
        all.extend(rates_known.then_some(Decider::Known(PriorityIndex::CrawlValue)));
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
        PriorityIndex::CrawlValue => Policy::CRAWL_VALUE,
        PriorityIndex::Harmonic => Policy::HARMONIC,
    }
}
