//! Examples of what rules make one: the pages of some groups, found while a site is read once more.

use std::collections::{HashMap, HashSet};

use super::groups::{Key, Member};
use super::names::{Number, SCHEME_OR_WWW, both};
use super::site::{AliasPair, AliasSite};
use crate::bug::{Bug, OrBug};

/// The groups of which examples are sought, and what was found.
#[derive(Debug, Default)]
pub(super) struct Examples {
    /// The most of each rule that are near, and that are not.
    most: usize,
    /// The rules of the site, in their order.
    pub(super) rules: Vec<Number>,
    /// By the key of the bare page.
    sought: HashMap<Key, Vec<Sought>>,
    /// Two rules at once that examples are sought of.
    pub(super) wanted: HashSet<Number>,
}

/// A group of which an example is sought.
#[derive(Debug)]
struct Sought {
    /// The rule that it is an example of.
    of: Number,
    /// The rule, or the two, that make the pair.
    by: Number,
    /// Whether the pair is to be near.
    near: bool,
    /// The first page, once it has come.
    first: Option<(String, Member)>,
    pair: Option<AliasPair>,
}

impl Examples {
    /// No examples yet, and at most `most`.
    pub(super) fn new(most: usize) -> Examples {
        Examples { most, ..Examples::default() }
    }

    /// Whether there is nothing to look for.
    pub(super) fn is_empty(&self) -> bool {
        self.sought.is_empty()
    }

    /// Seeks pairs of a rule, made by it or by two, in the groups of these bare pages.
    pub(super) fn seek(&mut self, (of, by): (Number, Number), groups: &[Key], near: bool) {
        if both(by).is_some() && !groups.is_empty() {
            self.wanted.insert(by);
        }
        for key in groups {
            let sought = Sought { of, by, near, first: None, pair: None };
            self.sought.entry(*key).or_default().push(sought);
        }
    }

    /// Looks at a page of those groups of a bare page that some rules make of it.
    pub(super) fn look(
        &mut self,
        bare: Key,
        (url, page, k): (&str, &Member, u32),
        is_of: impl Fn(Number) -> bool,
    ) {
        let sought = self.sought.get_mut(&bare).into_iter().flatten();
        for Sought { by, near, first, pair, .. } in sought.filter(|sought| is_of(sought.by)) {
            // The page that two rules lead to may come after the one that waits for it. Then it is the
            // first one of all that follow, as in `Groups::join_both`.
            let waits = both(*by).is_some() && *by != SCHEME_OR_WWW;
            let is_bare = page.taken == Member::BARE;
            let Some((url_of_first, of_first)) = first else {
                *first = Some((url.to_owned(), *page));
                continue;
            };
            if waits && !is_bare && of_first.taken != Member::BARE {
                continue;
            }
            let distance = (of_first.fingerprint ^ page.fingerprint).count_ones();
            let is_pair = of_first.taken != page.taken;
            if pair.is_none() && is_pair && (distance <= k) == *near {
                let (first, other) = (url_of_first.clone(), url.to_owned());
                *pair = Some(AliasPair { first, other, distance });
            }
            if waits && is_bare {
                *first = Some((url.to_owned(), *page));
            }
        }
    }

    /// Gives the site what was found.
    pub(super) fn give(self, site: &mut AliasSite) -> Result<(), Bug> {
        let most = self.most;
        let places: HashMap<Number, usize> = self.rules.into_iter().zip(0..).collect();
        for sought in self.sought.into_values().flatten() {
            let place = places.get(&sought.of).or_bug("examples are of the rules of a site")?;
            let rule = site.rules.get_mut(*place).or_bug("each rule has its place")?;
            // In a sample another page may wait than the one that was counted. The counts hold without
            // an example.
            let Some(pair) = sought.pair else { continue };
            let of = if sought.near { &mut rule.examples } else { &mut rule.exceptions };
            of.push(pair);
        }
        for rule in &mut site.rules {
            for pairs in [&mut rule.examples, &mut rule.exceptions] {
                pairs.sort_unstable();
                pairs.truncate(most);
            }
        }
        Ok(())
    }
}
