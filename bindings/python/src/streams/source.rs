//! Sources that are read step by step.

use simkeep::{Error, Result};

/// A source of items.
pub(crate) trait StreamSource<T>: Send {
    /// Returns the next items: `most` items, or a few more. Waits no longer than `long::PAUSE`.
    fn next(&mut self, most: usize) -> Result<StreamStep<Vec<T>>>;
}

/// The result of a step.
pub(crate) enum StreamStep<T> {
    Some(T),
    /// No result yet.
    Waiting,
    End,
}

/// Items of an iterator of the crate.
pub(crate) struct Iterated<I> {
    items: I,
    /// An error that is returned after the remaining items.
    failed: Option<Error>,
}

impl<I> Iterated<I> {
    pub(crate) fn new(items: I) -> Self {
        Iterated { items, failed: None }
    }
}

impl<T, I: Iterator<Item = Result<T>> + Send> StreamSource<T> for Iterated<I> {
    fn next(&mut self, most: usize) -> Result<StreamStep<Vec<T>>> {
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
            None if items.is_empty() => Ok(StreamStep::End),
            None => Ok(StreamStep::Some(items)),
        }
    }
}
