//! The epochs of what comes into a store.

use std::collections::HashMap;

use simkeep::{Epoch, Origin, Store};

/// A fingerprint, and its epoch.
pub(super) type Made = (u64, Epoch);

/// The epochs of what comes in, each registered when it first comes up.
pub(super) struct Epochs<'s> {
    store: &'s Store,
    /// What makes the fingerprints of texts, and their epochs once there is a text.
    origins: Vec<Origin>,
    of_texts: Vec<Epoch>,
    by_name: HashMap<String, Epoch>,
}

impl<'s> Epochs<'s> {
    pub(super) fn new(store: &'s Store, origins: Vec<Origin>) -> Epochs<'s> {
        Epochs { store, origins, of_texts: Vec::new(), by_name: HashMap::new() }
    }

    /// Those of fingerprints that were made of a text, each with its own: the first, and another.
    pub(super) fn of_texts(
        &mut self,
        fingerprints: &[u64],
    ) -> simkeep::Result<Option<(Made, Option<Made>)>> {
        if self.of_texts.is_empty() {
            let epochs = self.origins.iter().map(|origin| self.store.begin_epoch(origin));
            self.of_texts = epochs.collect::<simkeep::Result<_>>()?;
        }
        let mut each = fingerprints.iter().copied().zip(self.of_texts.iter().copied());
        Ok(each.next().map(|first| (first, each.next())))
    }

    /// The one of this name.
    pub(super) fn named(&mut self, name: &str) -> simkeep::Result<Epoch> {
        if let Some(&epoch) = self.by_name.get(name) {
            return Ok(epoch);
        }
        let epoch = self.store.epoch(name)?;
        self.by_name.insert(name.to_owned(), epoch);
        Ok(epoch)
    }
}
