//! Pairs of folders that are implied by their parents, because the parents were found to be
//! similar.

use std::collections::{HashMap, HashSet};

use super::sample::path_hash;
use crate::bug::Bug;
use crate::page::site;

/// The sites that were found to mirror each other, directly or transitively, and the pairs with
/// only some near paths. Takes about 50 bytes for each entry.
#[derive(Debug)]
pub(super) struct Families {
    seed: u64,
    /// The union-find parent of each site in a family; a root is its own parent. Sites are
    /// identified by the hashes of their keys.
    members: HashMap<u64, u64>,
    partial: HashSet<[u64; 2]>,
    /// The pairs found since the last call of `settle`, and whether each is a mirror.
    found: Vec<([u64; 2], bool)>,
}

impl Families {
    pub(super) fn new(seed: u64) -> Families {
        Families { seed, members: HashMap::new(), partial: HashSet::new(), found: Vec::new() }
    }

    /// Hashes two sites. The order of the hashes does not depend on the order of the sites: two
    /// folders may be in another order than their parents, if one folder contains the other.
    fn pair(&self, sites: [&[u8]; 2]) -> [u64; 2] {
        // Hashes instead of keys: a site takes eight bytes however long its key is.
        let mut pair = sites.map(|site| path_hash(site, self.seed));
        pair.sort_unstable();
        pair
    }

    /// The root of a site's family; the site itself if it has no family.
    fn first(&mut self, site: u64) -> u64 {
        // A root is its own parent in the union-find, and a site without a family has no entry.
        let (mut first, mut at) = (site, site);
        while let Some(next) = self.members.get(&first).filter(|next| **next != first) {
            first = *next;
        }
        // Path compression: every site on the way now points at the root.
        while let Some(next) = self.members.get_mut(&at).filter(|next| **next != first) {
            at = std::mem::replace(next, first);
        }
        first
    }

    /// Records a pair that is a mirror or has some near paths. The record takes effect with the
    /// next call of `settle`.
    pub(super) fn find(&mut self, sites: [&[u8]; 2], is_mirror: bool) {
        let pair = self.pair(sites);
        self.found.push((pair, is_mirror));
    }

    /// Makes the recorded pairs take effect. A pair implies only deeper pairs.
    pub(super) fn settle(&mut self) {
        for (sites, is_mirror) in std::mem::take(&mut self.found) {
            if is_mirror {
                // The two values are roots, or sites without a family. The entry of a root marks it
                // as a member.
                let [one, other] = sites.map(|site| self.first(site));
                self.members.insert(one, one);
                self.members.insert(other, one);
            } else {
                self.partial.insert(sites);
            }
        }
    }

    /// Whether the two folders have equal names and parents that mirror each other. The parents'
    /// parents count likewise if the parents have equal names, and so on. With `partial`, some near
    /// paths of the parents suffice.
    pub(super) fn implied(&mut self, sites: [&[u8]; 2], partial: bool) -> Result<bool, Bug> {
        let [mut one, mut other] = sites;
        loop {
            let (Some((above, name)), Some((other_above, other_name))) = (up(one), up(other))
            else {
                return Ok(false);
            };
            if name != other_name {
                return Ok(false);
            }
            (one, other) = (above, other_above);
            // Goes up one level on both sides, at most 16 levels in total, as long as the last
            // folders have equal names.
            let pair = self.pair([one, other]);
            let [a, b] = pair;
            let is_family = self.members.contains_key(&a) && self.first(a) == self.first(b);
            if is_family || partial && self.partial.contains(&pair) {
                return Ok(true);
            }
        }
    }
}

/// The parent of a folder, and the folder's name; `None` for a host.
fn up(site: &[u8]) -> Option<(&[u8], &[u8])> {
    let above = site::sites(site).filter(|len| *len < site.len()).last()?;
    Some(site.split_at(above))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::surt;

    fn key(url: &str) -> Vec<u8> {
        let key = surt::key_of(url);
        site::address(&key).unwrap().to_vec()
    }

    #[test]
    fn equal_folders_are_implied_by_their_parents() {
        let mut families = Families::new(7);
        let found = |families: &mut Families, one: &str, other: &str, is_mirror: bool| {
            families.find([&key(one), &key(other)], is_mirror);
        };
        found(&mut families, "http://a/", "http://b/x/", true);
        found(&mut families, "http://c/", "http://b/x/", true);
        found(&mut families, "http://d/", "http://e/", false);
        assert!(!families.implied([&key("http://a/p/"), &key("http://b/x/p/")], true).unwrap());
        families.settle();
        let mut implied = |one, other, partial| families.implied([&key(one), &key(other)], partial);
        for (one, other, is_implied) in [
            ("http://a/", "http://b/x/", false),
            ("http://a/p/", "http://b/x/p/", true),
            ("http://a/p/q/", "http://b/x/p/q/", true),
            ("http://a/p/", "http://b/x/q/", false),
            ("http://a/p/q/", "http://b/x/r/q/", false),
            ("http://a/p/", "http://b/p/", false),
            ("http://a/p/", "http://c/p/", true),
            ("http://d/p/", "http://e/p/", false),
            ("http://f/p/", "http://g/p/", false),
        ] {
            assert_eq!(implied(one, other, false).unwrap(), is_implied, "{one} {other}");
        }
        assert!(implied("http://d/p/", "http://e/p/", true).unwrap());
        assert!(!implied("http://a/p/", "http://e/p/", true).unwrap());
        // The parents of the folders are in another order than the folders.
        families.find([&key("http://h/"), &key("http://h/x/")], false);
        families.settle();
        let folders = [&key("http://h/x/y/")[..], &key("http://h/y/")];
        assert!(families.implied(folders, true).unwrap());
    }
}
