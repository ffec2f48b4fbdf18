//! What somebody wants for the pages under a prefix.

use crate::error::{Error, Result};
use crate::page::Prefix;
use crate::recrawl::{Interval, Policy};

/// How pages under a prefix are to be visited, or all pages. [`Rules`](super::Rules) says which rule a
/// page has.
///
/// ```
/// use simkeep::Prefix;
/// use simkeep::due::Rule;
/// # fn main() -> simkeep::Result<()> {
/// let news = Rule::under(Prefix::parse("example.com/news")?)
///     .min("1h".parse()?)
///     .max("7d".parse()?)
///     .weight(2.0)
///     .per_host(100)
///     .policy("harmonic".parse()?);
/// assert_eq!(news.weight, 2.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// What pages it is for; `None` for all.
    pub under: Option<Prefix>,
    /// A page is not visited before this time after its last visit. Default: it may be at once.
    pub min: Option<Interval>,
    /// A page that was not visited for longer than this comes before others, the most overdue first.
    /// Default: none does.
    pub max: Option<Interval>,
    /// A factor of the weight that a page has. Default: 1.
    pub weight: f64,
    /// How many pages of one host are visited at once, among those of this rule. Default: any number.
    pub per_host: Option<usize>,
    /// What puts the pages in order. Default: what does for pages without a rule.
    pub policy: Option<Policy>,
}

impl Rule {
    /// A rule for the pages under a prefix, which asks for nothing yet.
    pub fn under(prefix: Prefix) -> Rule {
        Rule { under: Some(prefix), ..Rule::everywhere() }
    }

    /// A rule for all pages that have no other, which asks for nothing yet.
    pub fn everywhere() -> Rule {
        Rule { under: None, min: None, max: None, weight: 1.0, per_host: None, policy: None }
    }

    /// Sets [`min`](field@Rule::min).
    #[must_use]
    pub fn min(self, min: Interval) -> Rule {
        Rule { min: Some(min), ..self }
    }

    /// Sets [`max`](field@Rule::max); at least [`min`](field@Rule::min).
    #[must_use]
    pub fn max(self, max: Interval) -> Rule {
        Rule { max: Some(max), ..self }
    }

    /// Sets [`weight`](field@Rule::weight); from 1e-100 to 1e100.
    #[must_use]
    pub fn weight(self, weight: f64) -> Rule {
        Rule { weight, ..self }
    }

    /// Sets [`per_host`](field@Rule::per_host); at least 1.
    #[must_use]
    pub fn per_host(self, per_host: usize) -> Rule {
        Rule { per_host: Some(per_host), ..self }
    }

    /// Sets [`policy`](field@Rule::policy).
    #[must_use]
    pub fn policy(self, policy: Policy) -> Rule {
        Rule { policy: Some(policy), ..self }
    }

    /// That its numbers can be meant.
    pub(super) fn check(&self) -> Result<()> {
        let wrong = |name, takes| Err(Error::Option { name, takes });
        // Multiplied with that of a page, it is still positive and finite.
        if !(1e-100..=1e100).contains(&self.weight) {
            return wrong("weight", "from 1e-100 to 1e100");
        }
        if self.per_host == Some(0) {
            return wrong("per_host", "at least 1");
        }
        match (self.min, self.max) {
            (Some(min), Some(max)) if min > max => wrong("min", "at most max"),
            _ => Ok(()),
        }
    }
}
