//! A URL with the data needed to look up its page.

use std::cell::OnceCell;

use crate::page::surt;
use crate::segment::url_hash;

/// A URL to look up.
pub(crate) struct Lookup<'a> {
    pub(crate) url: &'a str,
    pub(crate) hash: u64,
    key: OnceCell<Vec<u8>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(url: &'a str, seed: u64) -> Self {
        Self::of(url, url_hash(url, seed))
    }

    /// Creates a lookup with a known hash.
    pub(crate) fn of(url: &'a str, hash: u64) -> Self {
        Lookup { url, hash, key: OnceCell::new() }
    }

    /// The SURT key, computed when first needed.
    pub(crate) fn key(&self) -> &[u8] {
        self.key.get_or_init(|| surt::key_of(self.url))
    }
}
