//! The start of an ingest: the initial state of the store, and the input before the first record.

use simkeep::{EpochOptions, Options, Store};
use simkeep_formats::BrokenRecord;

use super::summary::IngestSummary;
use crate::exit::VerbError;
use crate::input::epochs::in_use_now;
use crate::input::feed::InputItem;

/// The counts of a store before the ingest.
pub(super) struct InitialCounts {
    epochs: usize,
    pages: u64,
}

impl InitialCounts {
    /// Counts the epochs and pages of a store.
    pub(super) fn of(store: &Store) -> Result<InitialCounts, VerbError> {
        Ok(InitialCounts { epochs: store.snapshot().epochs().len(), pages: store.stats()?.pages })
    }

    /// Adds to the summary which epochs began since, and how many pages are new.
    pub(super) fn compare(
        &self,
        store: &Store,
        summary: &mut IngestSummary,
    ) -> Result<(), VerbError> {
        let last = store.snapshot();
        let begun = last.epochs().get(self.epochs..).unwrap_or_default();
        summary.begun = begun.to_vec();
        summary.in_use = in_use_now(begun, &last);
        // An ingest forgets no page, so the number cannot decrease.
        summary.new_pages = store.stats()?.pages - self.pages;
        Ok(())
    }
}

/// The input before the first record.
#[derive(Default)]
pub(super) struct IngestPreamble {
    /// The names of epochs, with their options.
    pub(super) epochs: Vec<(String, EpochOptions)>,
    pub(super) summary: IngestSummary,
    pub(super) first: Option<InputItem>,
    /// The broken record at which the input stopped.
    pub(super) stopped: Option<BrokenRecord>,
}

impl IngestPreamble {
    /// The options of a new store, whose first epoch has the bands that the input set.
    pub(super) fn first_epoch(&self, mut options: Options) -> Options {
        let first = self.epochs.iter().find(|(name, _)| *name == options.epoch);
        options.epoch_bands = first.and_then(|(_, options)| options.bands);
        options
    }
}
