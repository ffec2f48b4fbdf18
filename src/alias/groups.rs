//! The pages of a site in groups: those that a rule makes one URL of.
//!
//! A group has the first page in the order in which they come, with which each further one is a pair. So
//! all pages that differ in a parameter alone cost one group, however many they are, and are told of in
//! as many pairs as there are pages to spare. A page from which a rule takes what it takes from the
//! first is no pair: it is another page by some other difference, such as the place where a parameter
//! stands.
//!
//! A page that a rule leaves as it is has a group of its own for no rule, its *bare* one, where each
//! rule looks for it. It may come after the page that a rule makes it of; then it joins in the end.
//!
//! If there are too many groups, those are kept whose URLs have hashes in a lower half, and again. So
//! the groups that are left are a sample drawn by the hash of what the rules make of URLs, and each is
//! whole.

use std::collections::HashMap;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

use super::names::Number;
use crate::bug::{Bug, ensure};

/// No rule.
pub(super) const BARE: Number = 0;

/// Bytes of a group in a table, which has room for one in eight more.
const GROUP_BYTES: usize = size_of::<(Key, Group)>() + 1;

const _: () = assert!(GROUP_BYTES == 57);

/// The fewest groups that there is room for. One URL has a group for each rule at most.
const GROUPS_MIN: usize = 1 << 12;

/// What a group is of: the hash of 128 bits of the SURT key that its pages have by a rule, and the rule,
/// mixed into the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    high: u64,
    low: u64,
}

/// A page of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) fingerprint: u64,
    pub(super) visits: u64,
    /// What the rule takes from its URL, by a hash; [`Member::BARE`] if that is nothing.
    pub(super) taken: u64,
}

impl Member {
    /// Nothing is taken.
    pub(super) const BARE: u64 = 0;

    /// The hash of what is taken, which is not nothing.
    pub(super) fn taken(taken: &str, seed: u64) -> u64 {
        xxh3_64_with_seed(taken.as_bytes(), seed) | 1
    }
}

/// What is known of a group.
#[derive(Clone, Debug)]
struct Group {
    /// The fingerprint of its first page.
    first: u64,
    /// What was taken from that.
    taken: u64,
    /// Visits to the others; of a bare page to itself.
    visits: u64,
    /// The others.
    pairs: u32,
    /// Those of them that are near the first one.
    near: u32,
    rule: Number,
    /// Whether the bare page has joined, or never will.
    has_bare: bool,
}

/// What all groups of a rule are together.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) pairs: u64,
    pub(super) near: u64,
    pub(super) visits: u64,
    /// Groups that have a pair that is near, by their bare pages: those with the least keys.
    pub(super) examples: Vec<Key>,
    /// Groups that have a pair that is not.
    pub(super) exceptions: Vec<Key>,
}

impl Sum {
    /// The share of the pairs that are near; 0 without any.
    pub(super) fn share(&self) -> f64 {
        if self.pairs == 0 { 0.0 } else { self.near as f64 / self.pairs as f64 }
    }
}

/// The groups of a site.
#[derive(Debug)]
pub(super) struct Groups {
    groups: HashMap<Key, Group>,
    /// The most groups.
    most: usize,
    /// How often the hashes that are kept were halved.
    halved: u32,
    /// In how many bits near pages differ.
    k: u32,
    seed: u64,
}

impl Key {
    /// The key of the bare page of a URL, by the SURT key of that.
    pub(super) fn bare(surt: &[u8], seed: u64) -> Key {
        let hash = xxh3_128_with_seed(surt, seed);
        #[expect(clippy::cast_possible_truncation, reason = "the halves of it")]
        let (high, low) = ((hash >> 64) as u64, hash as u64);
        Key { high, low }
    }

    /// The key of this rule from that of the bare page; or that from this.
    fn with(self, rule: Number) -> Key {
        Key { low: self.low ^ xxh3_64(&rule.to_le_bytes()), ..self }
    }
}

impl Group {
    fn of(first: &Member, rule: Number) -> Group {
        let Member { fingerprint, taken, .. } = *first;
        Group { first: fingerprint, taken, visits: 0, pairs: 0, near: 0, rule, has_bare: false }
    }

    fn join(&mut self, member: &Member, k: u32) {
        if member.taken != self.taken {
            self.pairs += 1;
            self.near += u32::from((self.first ^ member.fingerprint).count_ones() <= k);
            self.visits += member.visits;
        }
    }

    /// The page of a bare group.
    fn bare(&self) -> Member {
        Member { fingerprint: self.first, visits: self.visits, taken: Member::BARE }
    }
}

impl Groups {
    /// No groups, of pages within `k`, in as many bytes.
    pub(super) fn new(memory_bytes: usize, k: u32, seed: u64) -> Groups {
        // While a table is made anew, the one before it is there as well.
        let slots = (memory_bytes / (2 * GROUP_BYTES)).max(GROUPS_MIN);
        let slots: usize = 1 << slots.ilog2();
        Groups { groups: HashMap::new(), most: slots / 8 * 7, halved: 0, k, seed }
    }

    /// The share of the groups that is kept.
    pub(super) fn share(&self) -> f64 {
        0.5_f64.powi(i32::try_from(self.halved).unwrap_or(i32::MAX))
    }

    /// Whether some groups were dropped.
    pub(super) fn is_sample(&self) -> bool {
        self.halved > 0
    }

    /// Whether there is a bare page of this key.
    pub(super) fn has(&self, bare: Key) -> bool {
        self.groups.contains_key(&bare)
    }

    fn is_kept(&self, key: Key) -> bool {
        key.high.leading_zeros() >= self.halved
    }

    /// Adds a page by its own URL, of which none was added yet.
    pub(super) fn add(&mut self, surt: &[u8], page: &Member) -> Result<(), Bug> {
        let key = Key::bare(surt, self.seed);
        if self.is_kept(key) {
            let group = Group { visits: page.visits, ..Group::of(page, BARE) };
            ensure(self.groups.insert(key, group).is_none(), "a page is added once")?;
            self.make_room()?;
        }
        Ok(())
    }

    /// Adds a page by what a rule makes of it. Whether the page that it makes of it has come.
    pub(super) fn join(
        &mut self,
        (surt, rule): (&[u8], Number),
        member: &Member,
    ) -> Result<bool, Bug> {
        let bare = Key::bare(surt, self.seed);
        let key = bare.with(rule);
        if !self.is_kept(key) {
            return Ok(false);
        }
        if let Some(group) = self.groups.get_mut(&key) {
            group.join(member, self.k);
            let has_bare = group.has_bare;
            return Ok(has_bare || self.groups.contains_key(&bare));
        }
        let mut group = Group::of(member, rule);
        if let Some(bare) = self.groups.get(&bare) {
            group = Group { has_bare: true, ..Group::of(&bare.bare(), rule) };
            group.join(member, self.k);
        }
        let has_bare = group.has_bare;
        self.groups.insert(key, group);
        self.make_room()?;
        Ok(has_bare)
    }

    /// Adds a page as a pair with the first page of the group that another rule, or none, makes of the
    /// same URL, if that has come. So no group is made of a page that has no other.
    pub(super) fn join_known(
        &mut self,
        (surt, of, rule): (&[u8], Number, Number),
        member: &Member,
    ) -> Result<(), Bug> {
        let bare = Key::bare(surt, self.seed);
        let known = if of == BARE { bare } else { bare.with(of) };
        let Some(known) = self.groups.get(&known) else { return Ok(()) };
        let first = Member { fingerprint: known.first, visits: 0, taken: known.taken };
        self.join_first((bare.with(rule), rule), &first, member)
    }

    /// Adds a page as a pair with the bare page that two rules make of it. If that may still come, the
    /// page waits for it. Until the bare page arrives, the group keeps one waiting page and ignores
    /// further ones.
    pub(super) fn join_both(
        &mut self,
        (surt, rule): (&[u8], Number),
        member: &Member,
        may_come: bool,
    ) -> Result<(), Bug> {
        let bare = Key::bare(surt, self.seed);
        let key = bare.with(rule);
        if !self.is_kept(key) {
            return Ok(());
        }
        let (k, known) = (self.k, self.groups.get(&bare).map(Group::bare));
        match (self.groups.get_mut(&key), known) {
            (Some(group), Some(bare)) if !group.has_bare => {
                group.join(&bare, k);
                (group.first, group.taken, group.has_bare) = (bare.fingerprint, bare.taken, true);
                group.join(member, k);
                Ok(())
            }
            (_, Some(bare)) => self.join_first((key, rule), &bare, member),
            (None, None) if may_come => {
                self.groups.insert(key, Group::of(member, rule));
                self.make_room()
            }
            (_, None) => Ok(()),
        }
    }

    /// Adds a page as a pair with another one that is of another site.
    pub(super) fn join_other(
        &mut self,
        (surt, rule): (&[u8], Number),
        [first, member]: [&Member; 2],
    ) -> Result<(), Bug> {
        self.join_first((Key::bare(surt, self.seed).with(rule), rule), first, member)
    }

    fn join_first(
        &mut self,
        (key, rule): (Key, Number),
        first: &Member,
        member: &Member,
    ) -> Result<(), Bug> {
        if !self.is_kept(key) {
            return Ok(());
        }
        let group = || Group { has_bare: true, ..Group::of(first, rule) };
        let k = self.k;
        self.groups.entry(key).or_insert_with(group).join(member, k);
        self.make_room()
    }

    /// Keeps fewer groups, if there are too many.
    fn make_room(&mut self) -> Result<(), Bug> {
        while self.groups.len() >= self.most {
            self.halved += 1;
            ensure(self.halved <= u64::BITS, "few groups have one hash")?;
            let halved = self.halved;
            self.groups.retain(|key, _| key.high.leading_zeros() >= halved);
            // A table in which places were left empty may double before it is full.
            let mut left = HashMap::with_capacity(self.groups.len());
            left.extend(std::mem::take(&mut self.groups));
            self.groups = left;
        }
        Ok(())
    }

    /// What there is of each rule, by its number, with the keys of so many groups as examples.
    pub(super) fn sums(&self, examples: usize) -> HashMap<Number, Sum> {
        let mut sums: HashMap<Number, Sum> = HashMap::new();
        for (key, group) in self.groups.iter().filter(|(_, group)| group.rule != BARE) {
            let (mut group, key) = (group.clone(), key.with(group.rule));
            if !group.has_bare
                && let Some(bare) = self.groups.get(&key)
            {
                group.join(&bare.bare(), self.k);
            }
            if group.pairs == 0 {
                continue;
            }
            let sum = sums.entry(group.rule).or_default();
            sum.pairs += u64::from(group.pairs);
            sum.near += u64::from(group.near);
            sum.visits += group.visits;
            if group.near > 0 {
                keep_least(&mut sum.examples, key, examples);
            }
            if group.near < group.pairs {
                keep_least(&mut sum.exceptions, key, examples);
            }
        }
        sums
    }
}

/// Adds a key to the least so many, in order.
fn keep_least(least: &mut Vec<Key>, key: Key, count: usize) {
    let at = least.partition_point(|other| *other < key);
    if at < count {
        least.insert(at, key);
        least.truncate(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_comes_late_is_a_pair_as_one_that_comes_first() {
        for bare_first in [false, true] {
            let mut groups = Groups::new(1 << 20, 1, 7);
            let of = |fingerprint, visits, taken| Member { fingerprint, visits, taken };
            let bare = |groups: &mut Groups| groups.add(b"x", &of(0b11, 5, 0)).unwrap();
            if bare_first {
                bare(&mut groups);
            }
            groups.add(b"x?1", &of(0b10, 3, 0)).unwrap();
            groups.join((b"x", 9), &of(0b10, 3, 1)).unwrap();
            groups.add(b"x?2", &of(0b111, 2, 0)).unwrap();
            groups.join((b"x", 9), &of(0b111, 2, 3)).unwrap();
            if !bare_first {
                bare(&mut groups);
            }
            let sum = &groups.sums(2)[&9];
            // From the bare page both are near; from the first other, the bare page alone.
            let expected = if bare_first { (2, 2, 5) } else { (2, 1, 7) };
            assert_eq!((sum.pairs, sum.near, sum.visits), expected);
            assert_eq!(sum.exceptions.is_empty(), bare_first);
            assert_eq!(groups.sums(2).len(), 1);
        }
    }

    #[test]
    fn groups_beyond_the_memory_are_a_sample_of_whole_groups() {
        let mut groups = Groups::new(0, 0, 7);
        let most = groups.most;
        for page in 0..50_000_u64 {
            let bare = format!("{page}");
            let of = |taken| Member { fingerprint: page, visits: 1, taken };
            groups.add(bare.as_bytes(), &of(0)).unwrap();
            groups.add(format!("{page}?").as_bytes(), &of(0)).unwrap();
            groups.join((bare.as_bytes(), 3), &of(1)).unwrap();
            assert!(groups.groups.len() < most && groups.groups.capacity() <= most);
        }
        let sum = &groups.sums(3)[&3];
        // Pages beside the pairs take room, too.
        assert!(groups.share() < 1.0 / 32.0 && sum.pairs > 300);
        assert_eq!((sum.pairs, sum.visits), (sum.near, sum.pairs));
        let all = sum.pairs as f64 / groups.share();
        assert!((40_000.0..60_000.0).contains(&all), "{all}");
        assert_eq!(sum.examples.len(), 3);
    }

    /// All groups of one URL are kept or left out together, so that they find each other.
    #[test]
    fn one_group_of_a_million_pages_takes_the_room_of_one() {
        let mut groups = Groups::new(0, 0, 7);
        for page in 0..1_000_000_u64 {
            let member = Member { fingerprint: page % 2, visits: 1, taken: 2 * page + 1 };
            groups.join((b"x", 15), &member).unwrap();
        }
        assert_eq!((groups.share(), groups.groups.len()), (1.0, 1));
        let sum = &groups.sums(3)[&15];
        assert_eq!((sum.pairs, sum.near), (999_999, 499_999));
    }
}
