//! Which spelling more pages of a site have: the one that a rule with a direction is for.

use super::address::Address;
use super::rule::AliasRule;

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
        let [scheme, www, slash] = [
            [AliasRule::Scheme { secure: true }, AliasRule::Scheme { secure: false }],
            [AliasRule::Www { with: false }, AliasRule::Www { with: true }],
            [AliasRule::Slash { with: false }, AliasRule::Slash { with: true }],
        ];
        let all = [(&mut self.scheme, scheme), (&mut self.www, www), (&mut self.slash, slash)];
        for ([counted, other], [to_counted, to_other]) in all {
            // What the other rule would change has the spelling of this one.
            *counted += u64::from(to_other.of(url).is_some());
            *other += u64::from(to_counted.of(url).is_some());
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
