//! Which spelling more pages of a site have: the one that a rule with a direction is for.

use super::address::Address;
use super::rule::{AliasRule, has_slash, other_scheme, takes_www, without_www};

/// How many pages have either spelling: that to which rules are counted, and the other.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    scheme: [u64; 2],
    www: [u64; 2],
    slash: [u64; 2],
}

impl Spellings {
    /// Counts a page.
    pub(super) fn add(&mut self, url: &Address<'_>) {
        let slash = has_slash(&url.path);
        let all = [
            (&mut self.scheme, other_scheme(url, false), other_scheme(url, true)),
            (&mut self.www, takes_www(&url.host), without_www(&url.host).is_some()),
            (&mut self.slash, slash == Some(false), slash == Some(true)),
        ];
        for ([counted, other], is_counted, is_other) in all {
            *counted += u64::from(is_counted);
            *other += u64::from(is_other);
        }
    }

    /// The rule in the direction to what more pages have.
    pub(super) fn directed(&self, rule: AliasRule) -> AliasRule {
        let is_other = |[counted, other]: [u64; 2]| other > counted;
        match rule {
            AliasRule::Scheme { .. } => AliasRule::Scheme { secure: !is_other(self.scheme) },
            AliasRule::Www { .. } => AliasRule::Www { with: is_other(self.www) },
            AliasRule::Slash { .. } => AliasRule::Slash { with: is_other(self.slash) },
            undirected => undirected,
        }
    }
}
