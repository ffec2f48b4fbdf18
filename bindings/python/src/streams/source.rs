//! What is read step by step.

use simkeep::{Error, Result};

/// Where items come from.
pub(crate) trait Source<T>: Send {
    /// The next items, as many as that or a few more. Waits no longer than `long::PAUSE`.
    fn next(&mut self, most: usize) -> Result<Step<Vec<T>>>;
}

/// What came.
pub(crate) enum Step<T> {
    Some(T),
    /// Nothing yet.
    Waiting,
    End,
}

/// Items that the crate iterates over.
pub(crate) struct Iterated<I> {
    items: I,
    /// Met behind items that come first.
    failed: Option<Error>,
}

impl<I> Iterated<I> {
    pub(crate) fn new(items: I) -> Self {
        Iterated { items, failed: None }
    }
}

impl<T, I: Iterator<Item = Result<T>> + Send> Source<T> for Iterated<I> {
    fn next(&mut self, most: usize) -> Result<Step<Vec<T>>> {
        let mut items = Vec::with_capacity(most);
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        for item in self.items.by_ref().take(most) {
            match item {
                Ok(item) => items.push(item),
                Err(e) => {
                    self.failed = Some(e);
                    break;
                }
            }
        }
        match self.failed.take_if(|_| items.is_empty()) {
            Some(e) => Err(e),
            None if items.is_empty() => Ok(Step::End),
            None => Ok(Step::Some(items)),
        }
    }
}
