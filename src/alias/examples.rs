//! Examples of what rules make one: the pages of some groups, found while a site is read once more.

use std::collections::{HashMap, HashSet};

use super::groups::{BARE, Key, Member};
use super::names::{Number, PORT, both, is_crossed};
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
    /// The first page, once it has come; of a crossed pair that of either rule.
    firsts: [Option<(String, Member)>; 2],
    pair: Option<AliasPair>,
}

/// A page, its URL, and in how many bits near pages differ.
type Seen<'p> = (&'p str, &'p Member, u32);

impl Sought {
    /// Looks at a page of the group: a pair with the first one, if that is one of these.
    fn look(&mut self, (url, page, k): Seen<'_>, is_first: impl Fn(&Member) -> bool) {
        // The page that two rules lead to may come after the one that waits for it. Then it is the first
        // one of all that follow, as in `Groups::join_both`.
        let waits = both(self.by).is_some() && !is_crossed(self.by);
        let is_bare = page.taken == Member::BARE;
        let [first, _] = &mut self.firsts;
        let Some((url_of_first, of_first)) = first else {
            *first = Some((url.to_owned(), *page));
            return;
        };
        if waits && !is_bare && of_first.taken != Member::BARE {
            return;
        }
        let distance = (of_first.fingerprint ^ page.fingerprint).count_ones();
        let is_pair = of_first.taken != page.taken && is_first(of_first);
        if self.pair.is_none() && is_pair && (distance <= k) == self.near {
            let (first, other) = (url_of_first.clone(), url.to_owned());
            self.pair = Some(AliasPair { first, other, distance });
        }
        if waits && is_bare {
            *first = Some((url.to_owned(), *page));
        }
    }

    /// Looks at a page that the first or the second of two rules (0 or 1) leads there: a pair with the
    /// first page that the other rule led there, as in `Groups::cross`.
    fn cross(&mut self, by: Option<usize>, (url, page, k): Seen<'_>) {
        let Some(by) = by else { return };
        let [one, other] = &mut self.firsts;
        let (own, others) = if by == 0 { (one, other) } else { (other, one) };
        if let Some((first, of_first)) = others.as_ref().filter(|(first, _)| first != url) {
            let distance = (of_first.fingerprint ^ page.fingerprint).count_ones();
            if self.pair.is_none() && (distance <= k) == self.near {
                let (first, other) = (first.clone(), url.to_owned());
                self.pair = Some(AliasPair { first, other, distance });
            }
        }
        own.get_or_insert_with(|| (url.to_owned(), *page));
    }
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
            let sought = Sought { of, by, near, firsts: [None, None], pair: None };
            self.sought.entry(*key).or_default().push(sought);
        }
    }

    /// Looks at a page that a rule, or two, lead to this bare page, or that is it ([`BARE`]). `is_known`
    /// says whether the bare page came before.
    pub(super) fn look(
        &mut self,
        bare: Key,
        (url, page, k): (&str, &Member, u32),
        by: Number,
        is_known: bool,
    ) {
        for sought in self.sought.get_mut(&bare).into_iter().flatten() {
            match both(sought.by).filter(|_| is_crossed(sought.by)) {
                Some([rule, other]) if other < PORT => {
                    let at = [rule, other].iter().position(|rule| *rule == by);
                    sought.cross(at.filter(|_| !is_known), (url, page, k));
                }
                // What one rule makes one, and has ports that are not spelled in the same way.
                Some([rule, PORT]) if by == BARE || by == rule => {
                    sought.look((url, page, k), |first| first.port != page.port);
                }
                _ if by == BARE || by == sought.by => sought.look((url, page, k), |_| true),
                _ => {}
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
