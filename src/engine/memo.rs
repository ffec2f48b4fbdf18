//! A small cache of results about pages.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::sync::RwLock;

/// The maximum number of results to keep.
const ANSWERS_MAX: usize = 1024;

/// A cache of results about the pages of a component, by page number: for at most 1,024 pages. A
/// missing result is computed again.
#[derive(Debug)]
pub(crate) struct Memo<T>(RwLock<BTreeMap<u32, T>>);

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(RwLock::default())
    }
}

impl<T: Clone> Memo<T> {
    /// The cached result for a page; `None` if no result is cached.
    ///
    /// Does not wait for the lock: after a fork the thread that holds it may not exist.
    pub(crate) fn get(&self, page: u32) -> Option<T> {
        self.0.try_read().and_then(|kept| kept.get(&page).cloned())
    }

    /// The cached result for a page, or the result of `work`, which is cached.
    pub(crate) fn get_or(&self, page: u32, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(answer) = self.get(page) {
            return Ok(answer);
        }
        let answer = work()?;
        self.keep(page, answer.clone());
        Ok(answer)
    }

    /// Caches the result for a page, replacing an earlier result.
    pub(crate) fn keep(&self, page: u32, answer: T) {
        if let Some(mut kept) = self.0.try_write() {
            if kept.len() >= ANSWERS_MAX {
                kept.clear();
            }
            kept.insert(page, answer);
        }
    }
}
