//! How an ingest begins: what the store has, and what comes before the first record.

use simkeep::{EpochOptions, Options, Store};
use simkeep_formats::Broken;

use super::summary::Summary;
use crate::exit::Failure;
use crate::input::epochs::in_use_now;
use crate::input::feed::Fed;

/// What a store had before anything was read.
pub(super) struct InitialCounts {
    epochs: usize,
    pages: u64,
}

impl InitialCounts {
    /// Counts those of a store.
    pub(super) fn of(store: &Store) -> Result<InitialCounts, Failure> {
        Ok(InitialCounts { epochs: store.snapshot().epochs().len(), pages: store.stats()?.pages })
    }

    /// Notes which epochs began since, and how many pages came.
    pub(super) fn compare(&self, store: &Store, summary: &mut Summary) -> Result<(), Failure> {
        let last = store.snapshot();
        let begun = last.epochs().get(self.epochs..).unwrap_or_default();
        summary.begun = begun.to_vec();
        summary.in_use = in_use_now(begun, &last);
        // Nothing forgets a page meanwhile.
        summary.new_pages = store.stats()?.pages - self.pages;
        Ok(())
    }
}

/// What comes before the first record.
#[derive(Default)]
pub(super) struct Before {
    /// The names of epochs, with their options.
    pub(super) epochs: Vec<(String, EpochOptions)>,
    pub(super) summary: Summary,
    pub(super) first: Option<Fed>,
    /// The broken record that it stopped at.
    pub(super) stopped: Option<Broken>,
}

impl Before {
    /// The options of a new store, whose first epoch has the bands that were named.
    pub(super) fn first_epoch(&self, mut options: Options) -> Options {
        let first = self.epochs.iter().find(|(name, _)| *name == options.epoch);
        options.epoch_bands = first.and_then(|(_, options)| options.bands);
        options
    }
}
