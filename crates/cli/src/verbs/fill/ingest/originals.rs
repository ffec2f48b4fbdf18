//! Caches the recent contents of the input, by their digests, since revisits may repeat them.
//!
//! A store finds content by page and time, and by fingerprint. A revisit has no fingerprint. So content
//! of another URL, or content that is named by a digest that is not stored, is found only while it is
//! cached here.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use simkeep::{Content, Digest};

use crate::input::epochs::Made;
use simkeep_formats::{Claim, Declared};

/// The number of each kind that is remembered at least. At most twice as many are: below 40 MB in all.
const KEPT: usize = 1 << 16;

/// Content with its fingerprints.
#[derive(Clone, Copy)]
pub(super) struct Original {
    pub(super) content: Content,
    pub(super) also: Option<Made>,
}

/// What the input held.
#[derive(Default)]
pub(super) struct Originals {
    /// Two hashes that nobody can foresee make a key that no other has.
    hashers: [RandomState; 2],
    /// By each of its digests.
    contents: Recent<Original>,
    /// What the digest was, by a page and a wrong one that was declared of its content.
    wrong: Recent<Digest>,
}

impl Originals {
    /// Takes in content.
    pub(super) fn saw(&mut self, url: &str, claim: Option<&Claim>, original: Original) {
        let Some(digest) = original.content.digest else { return };
        self.contents.put(self.key(digest), original);
        match claim {
            Some(Claim { declared, wrong: Some(_) }) => {
                self.wrong.put(self.key((url, declared)), digest);
            }
            Some(Claim { declared, wrong: None }) if declared.kept().is_none() => {
                self.contents.put(self.key(declared), original);
            }
            _ => {}
        }
    }

    /// The content that is named by a digest, on whichever page.
    pub(super) fn content(&self, declared: &Declared) -> Option<Original> {
        let key = declared.kept().map_or_else(|| self.key(declared), |digest| self.key(digest));
        self.contents.get(key).copied()
    }

    /// The real digest of content for which a page declared a wrong one.
    pub(super) fn corrected(&self, url: &str, declared: &Declared) -> Option<Digest> {
        self.wrong.get(self.key((url, declared))).copied()
    }

    fn key(&self, what: impl Hash) -> u128 {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(&what));
        u128::from(high) << 64 | u128::from(low)
    }
}

/// A map of what was put in last.
struct Recent<V> {
    young: HashMap<u128, V>,
    old: HashMap<u128, V>,
}

impl<V> Default for Recent<V> {
    fn default() -> Recent<V> {
        Recent { young: HashMap::new(), old: HashMap::new() }
    }
}

impl<V> Recent<V> {
    fn put(&mut self, key: u128, value: V) {
        if self.young.len() >= KEPT {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    fn get(&self, key: u128) -> Option<&V> {
        self.young.get(&key).or_else(|| self.old.get(&key))
    }
}
