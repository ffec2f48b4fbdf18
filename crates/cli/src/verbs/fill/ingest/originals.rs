//! Caches the recent contents of the input by digest, since revisits may repeat them.
//!
//! A store finds content by page and time, and by fingerprint. A revisit has no fingerprint. So
//! content of another URL, and content named by a digest that is not stored, can be found only
//! while it is cached here.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use simkeep::{Content, Digest};

use crate::input::epochs::EpochFingerprint;
use simkeep_formats::{DeclaredDigest, DigestClaim};

/// The minimum number of remembered items of each kind. At most twice as many are kept: below 40 MB
/// in all.
const KEPT: usize = 1 << 16;

/// Content with its fingerprints.
#[derive(Clone, Copy)]
pub(super) struct CachedContent {
    pub(super) content: Content,
    pub(super) also: Option<EpochFingerprint>,
}

/// The recent contents of the input.
#[derive(Default)]
pub(super) struct ContentCache {
    /// Two hashers with random seeds. Together they make keys without foreseeable collisions.
    hashers: [RandomState; 2],
    /// The contents, by each of their digests.
    contents: RecentMap<CachedContent>,
    /// The computed digest, by the page and the wrong digest that was declared for its content.
    wrong: RecentMap<Digest>,
}

impl ContentCache {
    /// Adds content.
    pub(super) fn insert(
        &mut self,
        url: &str,
        claim: Option<&DigestClaim>,
        original: CachedContent,
    ) {
        let Some(digest) = original.content.digest else { return };
        self.contents.put(self.key(digest), original);
        match claim {
            Some(DigestClaim { declared, wrong: Some(_) }) => {
                self.wrong.put(self.key((url, declared)), digest);
            }
            Some(DigestClaim { declared, wrong: None }) if declared.kept().is_none() => {
                self.contents.put(self.key(declared), original);
            }
            _ => {}
        }
    }

    /// The content with this declared digest, on any page.
    pub(super) fn content(&self, declared: &DeclaredDigest) -> Option<CachedContent> {
        let key = declared.kept().map_or_else(|| self.key(declared), |digest| self.key(digest));
        self.contents.get(key).copied()
    }

    /// The computed digest of content for which a page declared a wrong digest.
    pub(super) fn actual_digest(&self, url: &str, declared: &DeclaredDigest) -> Option<Digest> {
        self.wrong.get(self.key((url, declared))).copied()
    }

    fn key(&self, what: impl Hash) -> u128 {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(&what));
        u128::from(high) << 64 | u128::from(low)
    }
}

/// A map of the most recently inserted items.
struct RecentMap<V> {
    young: HashMap<u128, V>,
    old: HashMap<u128, V>,
}

impl<V> Default for RecentMap<V> {
    fn default() -> RecentMap<V> {
        RecentMap { young: HashMap::new(), old: HashMap::new() }
    }
}

impl<V> RecentMap<V> {
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
