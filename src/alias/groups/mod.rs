//! Groups of a site's pages that a rule maps to one URL.
//!
//! A group stores its first page; each further page is a pair with the first page. So any number of
//! pages that differ only in one parameter costs one group, and counts as one pair for each
//! redundant page. A page from which a rule removes the same text as from the first page is not a
//! pair: the two pages differ in something else, such as the position of a parameter.
//!
//! A page that a rule leaves unchanged has a group of its own without a rule, its *bare* group.
//! Each rule looks for the page in this group. The page may come after a page that a rule maps to
//! it. In this case the bare page is added to the rule's group at the end.
//!
//! If no bare page is known, two rules may still map two pages to one URL: one rule maps
//! `http://a/` to `https://a/`, and another maps `https://a/#top` to `https://a/`. Such a pair is a
//! *crossed* pair of both rules. The pair is found when the second page comes, in the groups of the
//! URL. To make this search cheap, the groups of a URL have adjacent slots: one for each rule that
//! exists for all sites, and some for rules of names, in the order of their appearance.
//!
//! If there are too many groups, only groups whose URL hashes are in the lower half are kept, and
//! so on. So the remaining groups are a sample by the hash of the mapped URLs, and each group in
//! the sample is complete.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

use super::names::{AliasRuleNumber, FIRST_INDEX, PORT, crossed, split_combined};
use crate::bug::{Bug, ensure};

/// The number of a bare group, which has no rule.
pub(super) const BARE: AliasRuleNumber = 0;

/// Bytes of a group in a table whose load is at most seven eighths.
const GROUP_BYTES: usize = size_of::<(GroupKey, AliasGroup)>() + 1;

const _: () = assert!(GROUP_BYTES == 57);

/// The minimum capacity in groups. One URL has at most one group for each rule.
const GROUPS_MIN: usize = 1 << 12;

/// The number of rules of names (index pages and parameters) that have a slot at a URL. If further
/// rules of names map pages to the URL, they are ignored for crossed pairs.
const NAMED_PLACES: u32 = 4;

/// The number of slots of a URL. The first slot is for its bare page. The other slots have the
/// numbers of their rules, except for rules of names.
const PLACES: u32 = FIRST_INDEX + NAMED_PLACES;

/// The lowest hash bit that distinguishes slots. A table compares these upper bits before it reads
/// a key, and uses the lower bits to find the key's position.
const PLACE_BIT: u32 = 57;

const _: () = assert!(PLACES <= 1 << (u64::BITS - PLACE_BIT));

/// The key of a group: the 128-bit hash of the SURT key that the rule gives the group's pages, with
/// the rule or its slot mixed into the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GroupKey {
    high: u64,
    low: u64,
}

impl Hash for GroupKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.low);
    }
}

/// Uses the lower half of a key as its hash. The lower half is a hash already, and nobody can
/// choose URLs with equal halves, because the store seeds the hash.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

type GroupTable = HashMap<GroupKey, AliasGroup, BuildHasherDefault<KeyHasher>>;

/// A page of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupMember {
    pub(super) fingerprint: u64,
    pub(super) visits: u64,
    /// The hash of the text that the rule removes from the page's URL; [`GroupMember::BARE`] if the rule
    /// removes nothing.
    pub(super) removed: u64,
    /// Whether the page's URL has a redundant port.
    pub(super) port: bool,
}

impl GroupMember {
    /// The value of `removed` if nothing is removed.
    pub(super) const BARE: u64 = 0;

    /// The hash of removed text.
    pub(super) fn hash_removed(taken: &str, seed: u64) -> u64 {
        xxh3_64_with_seed(taken.as_bytes(), seed) | 1
    }
}

/// The counts of a group.
#[derive(Clone, Debug)]
struct AliasGroup {
    /// The fingerprint of the group's first page.
    first: u64,
    /// The hash of the text removed from the first page's URL.
    removed: u64,
    /// Visits to the other pages of the group; for a bare group, visits to its page.
    visits: u64,
    /// The number of pairs: all pages except the first page.
    pairs: u32,
    /// The number of pairs whose page is near the first page.
    near: u32,
    rule: AliasRuleNumber,
    /// The slot of the group at its URL; 0 without a slot.
    place: u8,
    /// Whether the group's first page has a redundant port.
    port: bool,
    /// Whether the bare page has been added, or never will be.
    has_bare: bool,
}

/// The sum of a rule's groups.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleTotals {
    pub(super) pairs: u64,
    pub(super) near: u64,
    pub(super) visits: u64,
    /// The groups with a near pair, identified by their bare pages; only the groups with the least
    /// keys.
    pub(super) examples: Vec<GroupKey>,
    /// The groups with a pair that is not near, chosen like `examples`.
    pub(super) exceptions: Vec<GroupKey>,
}

impl RuleTotals {
    /// Adds the pairs of a group whose bare page has the key `key`.
    fn add(&mut self, key: GroupKey, group: &AliasGroup, examples: usize) {
        self.pairs += u64::from(group.pairs);
        self.near += u64::from(group.near);
        self.visits += group.visits;
        if group.near > 0 {
            keep_least(&mut self.examples, key, examples);
        }
        if group.near < group.pairs {
            keep_least(&mut self.exceptions, key, examples);
        }
    }

    /// The share of near pairs; 0 without any pairs.
    pub(super) fn share(&self) -> f64 {
        share(self.near, self.pairs)
    }
}

/// The share of near pairs; 0 without any pairs.
pub(super) fn share(near: u64, pairs: u64) -> f64 {
    if pairs == 0 { 0.0 } else { near as f64 / pairs as f64 }
}

/// The groups of a site.
#[derive(Debug)]
pub(super) struct AliasGroups {
    groups: GroupTable,
    /// The maximum number of groups to keep.
    most: usize,
    /// How often the range of kept hashes was halved.
    halved: u32,
    /// The largest distance between near pages.
    k: u32,
}

impl GroupKey {
    /// The key of a URL's bare page, from the URL's SURT key.
    pub(super) fn bare(surt: &[u8], seed: u64) -> GroupKey {
        let hash = xxh3_128_with_seed(surt, seed);
        #[expect(clippy::cast_possible_truncation, reason = "the halves of it")]
        let (high, low) = ((hash >> 64) as u64, hash as u64);
        GroupKey { high, low }
    }

    /// Converts between the key of the bare page and the key of a rule's group without a slot.
    fn with(self, rule: AliasRuleNumber) -> GroupKey {
        GroupKey { low: self.low ^ xxh3_64(&rule.to_le_bytes()), ..self }
    }

    /// Converts between the key of the bare page and the key of a slot.
    fn at(self, place: u8) -> GroupKey {
        GroupKey { low: self.low ^ u64::from(place) << PLACE_BIT, ..self }
    }
}

impl AliasGroup {
    fn of(first: &GroupMember, rule: AliasRuleNumber) -> AliasGroup {
        let GroupMember { fingerprint, removed: taken, port, .. } = *first;
        let (visits, pairs, near) = (0, 0, 0);
        AliasGroup {
            first: fingerprint,
            removed: taken,
            visits,
            pairs,
            near,
            rule,
            place: 0,
            port,
            has_bare: false,
        }
    }

    /// Adds a page. Returns whether the page is a pair with the first page.
    fn join(&mut self, member: &GroupMember, k: u32) -> bool {
        let is_pair = member.removed != self.removed;
        if is_pair {
            self.count(self.first, member, k);
        }
        is_pair
    }

    /// Counts a page as a pair with a page whose fingerprint is `first`.
    fn count(&mut self, first: u64, member: &GroupMember, k: u32) {
        self.pairs += 1;
        self.near += u32::from((first ^ member.fingerprint).count_ones() <= k);
        self.visits += member.visits;
    }

    /// The group's first page.
    fn first(&self) -> GroupMember {
        GroupMember { fingerprint: self.first, visits: 0, removed: self.removed, port: self.port }
    }

    /// The key of the group's bare page, from the group's own key.
    fn bare_key(&self, key: GroupKey) -> GroupKey {
        if self.place > 0 { key.at(self.place) } else { key.with(self.rule) }
    }

    /// The page of a bare group.
    fn bare(&self) -> GroupMember {
        GroupMember {
            fingerprint: self.first,
            visits: self.visits,
            removed: GroupMember::BARE,
            port: self.port,
        }
    }
}

impl AliasGroups {
    /// Creates groups for pages within distance `k`, in `memory_bytes` of memory.
    pub(super) fn new(memory_bytes: usize, k: u32) -> AliasGroups {
        // While a table is rebuilt, the previous table exists as well.
        let slots = (memory_bytes / (2 * GROUP_BYTES)).max(GROUPS_MIN);
        let slots: usize = 1 << slots.ilog2();
        AliasGroups { groups: GroupTable::default(), most: slots / 8 * 7, halved: 0, k }
    }

    /// The share of the groups that are kept.
    pub(super) fn share(&self) -> f64 {
        0.5_f64.powi(i32::try_from(self.halved).unwrap_or(i32::MAX))
    }

    /// Whether some groups were dropped.
    pub(super) fn is_sample(&self) -> bool {
        self.halved > 0
    }

    /// Whether there is a bare page with this key.
    pub(super) fn has(&self, bare: GroupKey) -> bool {
        self.groups.contains_key(&bare)
    }

    fn is_kept(&self, key: GroupKey) -> bool {
        key.high.leading_zeros() >= self.halved
    }

    /// The key of a rule's group at the URL of a bare page, and its slot; 0 without a slot.
    fn place_of(&self, bare: GroupKey, rule: AliasRuleNumber) -> (GroupKey, u8) {
        let is_named = (FIRST_INDEX..PORT).contains(&rule);
        let places = match rule {
            BARE => 0..0,
            _ if is_named => FIRST_INDEX..PLACES,
            _ if rule < FIRST_INDEX => rule..rule + 1,
            _ => 0..0,
        };
        for place in places.filter_map(|place| u8::try_from(place).ok()) {
            let key = bare.at(place);
            if self.groups.get(&key).is_none_or(|group| group.rule == rule) {
                return (key, place);
            }
        }
        (bare.with(rule), 0)
    }

    /// Adds a page at its own URL, which must be new.
    pub(super) fn add(&mut self, key: GroupKey, page: &GroupMember) -> Result<(), Bug> {
        if self.is_kept(key) {
            let group = AliasGroup { visits: page.visits, ..AliasGroup::of(page, BARE) };
            ensure(self.groups.insert(key, group).is_none(), "each page is added once")?;
            self.make_room()?;
        }
        Ok(())
    }

    /// Adds a page to the group of a rule at the URL to which the rule maps the page. Returns
    /// whether the bare page of that URL is known.
    pub(super) fn join(
        &mut self,
        (bare, rule): (GroupKey, AliasRuleNumber),
        member: &GroupMember,
    ) -> Result<bool, Bug> {
        if !self.is_kept(bare) {
            return Ok(false);
        }
        let (key, place) = self.place_of(bare, rule);
        let known = self.groups.get(&bare).map(AliasGroup::bare);
        let has_bare = known.is_some();
        let new = || AliasGroup {
            place,
            has_bare,
            ..AliasGroup::of(known.as_ref().unwrap_or(member), rule)
        };
        let group = self.groups.entry(key).or_insert_with(new);
        let (is_pair, first) = (group.join(member, self.k), group.first());
        if is_pair && first.port != member.port {
            self.join_pair((bare, crossed(rule, PORT)), &first, member)?;
        }
        self.make_room()?;
        Ok(has_bare)
    }

    /// Pairs a page with the first page that each other rule maps to the same URL. The URL must
    /// have no bare page.
    pub(super) fn cross(
        &mut self,
        (bare, rule): (GroupKey, AliasRuleNumber),
        member: &GroupMember,
    ) -> Result<(), Bug> {
        for place in (1..PLACES).filter_map(|place| u8::try_from(place).ok()) {
            let Some(group) = self.groups.get(&bare.at(place)) else {
                if u32::from(place) >= FIRST_INDEX {
                    break;
                }
                continue;
            };
            if group.rule != rule {
                let (number, first) = (crossed(group.rule, rule), group.first());
                self.join_pair((bare, number), &first, member)?;
            }
        }
        Ok(())
    }

    /// Adds a page as a pair with the bare page, if the bare page is known. So a page without a
    /// partner makes no group.
    pub(super) fn join_bare(
        &mut self,
        (bare, rule): (GroupKey, AliasRuleNumber),
        member: &GroupMember,
    ) -> Result<(), Bug> {
        let Some(known) = self.groups.get(&bare).map(AliasGroup::bare) else { return Ok(()) };
        self.join_pair((bare, rule), &known, member)
    }

    /// Adds a page as a pair with the bare page to which two rules map it. If the bare page may
    /// still come, the page waits for it. Until the bare page arrives, the group keeps one waiting
    /// page and ignores further pages.
    pub(super) fn join_both(
        &mut self,
        (bare, rule): (GroupKey, AliasRuleNumber),
        member: &GroupMember,
        may_come: bool,
    ) -> Result<(), Bug> {
        let key = bare.with(rule);
        if !self.is_kept(key) {
            return Ok(());
        }
        let (k, known) = (self.k, self.groups.get(&bare).map(AliasGroup::bare));
        match (self.groups.get_mut(&key), known) {
            (Some(group), Some(first)) if !group.has_bare => {
                group.join(&first, k);
                (group.first, group.removed, group.has_bare) =
                    (first.fingerprint, first.removed, true);
                group.join(member, k);
                Ok(())
            }
            (_, Some(first)) => self.join_pair((bare, rule), &first, member),
            (None, None) if may_come => {
                self.groups.insert(key, AliasGroup::of(member, rule));
                self.make_room()
            }
            (_, None) => Ok(()),
        }
    }

    /// Adds a page as a pair with `first`, whatever other pages the group has.
    pub(super) fn join_pair(
        &mut self,
        (bare, rule): (GroupKey, AliasRuleNumber),
        first: &GroupMember,
        member: &GroupMember,
    ) -> Result<(), Bug> {
        if !self.is_kept(bare) {
            return Ok(());
        }
        let group = || AliasGroup { has_bare: true, ..AliasGroup::of(first, rule) };
        let k = self.k;
        self.groups.entry(bare.with(rule)).or_insert_with(group).count(
            first.fingerprint,
            member,
            k,
        );
        self.make_room()
    }

    /// Keeps half of the hash range, if there are too many groups.
    fn make_room(&mut self) -> Result<(), Bug> {
        while self.groups.len() >= self.most {
            self.halved += 1;
            ensure(self.halved <= u64::BITS, "halving the hash range leaves few groups")?;
            let halved = self.halved;
            self.groups.retain(|key, _| key.high.leading_zeros() >= halved);
            // A table with removed slots may double before it is full.
            let mut left =
                GroupTable::with_capacity_and_hasher(self.groups.len(), Default::default());
            left.extend(std::mem::take(&mut self.groups));
            self.groups = left;
        }
        Ok(())
    }

    /// The sum of each rule, by the rule's number, with the keys of up to `examples` groups.
    pub(super) fn sums(&self, examples: usize) -> HashMap<AliasRuleNumber, RuleTotals> {
        let mut sums: HashMap<AliasRuleNumber, RuleTotals> = HashMap::new();
        for (key, group) in self.groups.iter().filter(|(_, group)| group.rule != BARE) {
            let (mut group, key) = (group.clone(), group.bare_key(*key));
            if !group.has_bare
                && let Some(bare) = self.groups.get(&key).map(AliasGroup::bare)
            {
                let is_pair = group.join(&bare, self.k);
                if is_pair && group.port != bare.port && split_combined(group.rule).is_none() {
                    let mut pair = AliasGroup::of(&group.first(), group.rule);
                    pair.count(group.first, &bare, self.k);
                    sums.entry(crossed(group.rule, PORT)).or_default().add(key, &pair, examples);
                }
            }
            if group.pairs > 0 {
                sums.entry(group.rule).or_default().add(key, &group, examples);
            }
        }
        sums
    }
}

/// Inserts a key into the sorted list of the `count` least keys.
fn keep_least(least: &mut Vec<GroupKey>, key: GroupKey, count: usize) {
    let at = least.partition_point(|other| *other < key);
    if at < count {
        least.insert(at, key);
        least.truncate(count);
    }
}

#[cfg(test)]
mod tests;
