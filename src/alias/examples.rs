//! Examples of rules: pages of some groups, found in a second pass over a site.

use std::collections::{HashMap, HashSet};

use super::groups::{BARE, GroupKey, GroupMember};
use super::names::{AliasRuleNumber, PORT, is_crossed, split_combined};
use super::site::{AliasPair, AliasSite};
use crate::bug::{Bug, OrBug};

/// The groups that need examples, and the examples found.
#[derive(Debug, Default)]
pub(super) struct Examples {
    /// The maximum number of near examples, and of other examples, for each rule.
    most: usize,
    /// The rules of the site, in order.
    pub(super) rules: Vec<AliasRuleNumber>,
    /// The wanted examples by the key of the group's bare page.
    sought: HashMap<GroupKey, Vec<ExampleGroup>>,
    /// Pairs of rules that need examples.
    pub(super) wanted: HashSet<AliasRuleNumber>,
}

/// A group that needs an example.
#[derive(Debug)]
struct ExampleGroup {
    /// The rule that the example illustrates.
    rule: AliasRuleNumber,
    /// The rule, or the pair of rules, that maps the two pages to one URL.
    made_by: AliasRuleNumber,
    /// Whether the pair must be near.
    near: bool,
    /// The first page, once it has been read; for a crossed pair, the first page of each rule.
    firsts: [Option<(String, GroupMember)>; 2],
    pair: Option<AliasPair>,
}

/// A page with its URL, and the largest distance of near pages.
type OfferedPage<'p> = (&'p str, &'p GroupMember, u32);

impl ExampleGroup {
    /// Examines a page of the group. It makes an example with the first page, if `is_first` accepts
    /// that page.
    fn look(&mut self, (url, page, k): OfferedPage<'_>, is_first: impl Fn(&GroupMember) -> bool) {
        // The target of two rules may come after a page that waits for it. Then the target becomes
        // the first page for all later pages, as in `Groups::join_both`.
        let waits = split_combined(self.made_by).is_some() && !is_crossed(self.made_by);
        let is_bare = page.removed == GroupMember::BARE;
        let [first, _] = &mut self.firsts;
        let Some((url_of_first, of_first)) = first else {
            *first = Some((url.to_owned(), *page));
            return;
        };
        if waits && !is_bare && of_first.removed != GroupMember::BARE {
            return;
        }
        let distance = (of_first.fingerprint ^ page.fingerprint).count_ones();
        let is_pair = of_first.removed != page.removed && is_first(of_first);
        if self.pair.is_none() && is_pair && (distance <= k) == self.near {
            let (first, other) = (url_of_first.clone(), url.to_owned());
            self.pair = Some(AliasPair { first, other, distance });
        }
        if waits && is_bare {
            *first = Some((url.to_owned(), *page));
        }
    }

    /// Examines a page that one rule of a pair maps to the target. `by` is 0 or 1, the index of
    /// this rule. The page makes an example with the first page that the other rule maps to the
    /// target, as in `Groups::cross`.
    fn cross(&mut self, by: Option<usize>, (url, page, k): OfferedPage<'_>) {
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
    /// Creates a collection of at most `most` examples.
    pub(super) fn new(most: usize) -> Examples {
        Examples { most, ..Examples::default() }
    }

    /// Whether no group needs an example.
    pub(super) fn is_empty(&self) -> bool {
        self.sought.is_empty()
    }

    /// Requests examples of the rule `rule`, made by the rule or the pair of rules `made_by`, in the
    /// groups with these bare pages.
    pub(super) fn seek(
        &mut self,
        (of, by): (AliasRuleNumber, AliasRuleNumber),
        groups: &[GroupKey],
        near: bool,
    ) {
        if split_combined(by).is_some() && !groups.is_empty() {
            self.wanted.insert(by);
        }
        for key in groups {
            let sought =
                ExampleGroup { rule: of, made_by: by, near, firsts: [None, None], pair: None };
            self.sought.entry(*key).or_default().push(sought);
        }
    }

    /// Examines a page that a rule, or a pair of rules, maps to this bare page, or the bare page
    /// itself ([`BARE`]). `is_known` says whether the bare page came before.
    pub(super) fn look(
        &mut self,
        bare: GroupKey,
        (url, page, k): (&str, &GroupMember, u32),
        by: AliasRuleNumber,
        is_known: bool,
    ) {
        for sought in self.sought.get_mut(&bare).into_iter().flatten() {
            match split_combined(sought.made_by).filter(|_| is_crossed(sought.made_by)) {
                Some([rule, other]) if other < PORT => {
                    let at = [rule, other].iter().position(|rule| *rule == by);
                    sought.cross(at.filter(|_| !is_known), (url, page, k));
                }
                // A pair of one rule whose pages also differ in a redundant port.
                Some([rule, PORT]) if by == BARE || by == rule => {
                    sought.look((url, page, k), |first| first.port != page.port);
                }
                _ if by == BARE || by == sought.made_by => sought.look((url, page, k), |_| true),
                _ => {}
            }
        }
    }

    /// Adds the examples to the site.
    pub(super) fn add_to_site(self, site: &mut AliasSite) -> Result<(), Bug> {
        let most = self.most;
        let places: HashMap<AliasRuleNumber, usize> = self.rules.into_iter().zip(0..).collect();
        for sought in self.sought.into_values().flatten() {
            let place =
                places.get(&sought.rule).or_bug("each example belongs to a rule of the site")?;
            let rule = site.rules.get_mut(*place).or_bug("each rule has an index")?;
            // In a sample, the waiting page may be another page than when the pair was counted. The
            // counts are correct even without an example.
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
