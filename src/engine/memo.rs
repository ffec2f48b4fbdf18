//! A few answers that are worth keeping.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::sync::RwLock;

/// The most answers that are kept.
const ANSWERS_MAX: usize = 1024;

/// Answers about the pages of a component, by their numbers there: one of each page, of a thousand pages
/// at most. One that is not kept is worked out again.
#[derive(Debug)]
pub(crate) struct Memo<T>(RwLock<BTreeMap<u32, T>>);

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(RwLock::default())
    }
}

impl<T: Clone> Memo<T> {
    /// The answer about a page, if it is kept.
    ///
    /// Does not wait for the lock: after a fork its holder may not exist.
    pub(crate) fn get(&self, page: u32) -> Option<T> {
        self.0.try_read().and_then(|kept| kept.get(&page).cloned())
    }

    /// The answer about a page: the one that is kept, or else what is worked out, which is kept.
    pub(crate) fn get_or(&self, page: u32, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(answer) = self.get(page) {
            return Ok(answer);
        }
        let answer = work()?;
        self.keep(page, answer.clone());
        Ok(answer)
    }

    /// Keeps the answer about a page, in the place of an earlier one.
    pub(crate) fn keep(&self, page: u32, answer: T) {
        if let Some(mut kept) = self.0.try_write() {
            if kept.len() >= ANSWERS_MAX {
                kept.clear();
            }
            kept.insert(page, answer);
        }
    }
}
