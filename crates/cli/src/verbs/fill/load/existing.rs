//! Looks up records in the store before they are loaded.

use simkeep::{Digest, Entry, Epoch, EpochOptions, Restated, Time, Visit};

use super::{LoadInput, OwnedRecord};
use crate::input::epochs::{EpochFingerprint, KnownContent};

impl LoadInput<'_> {
    /// The epoch that a record names.
    pub(super) fn epoch(&mut self, name: &str) -> simkeep::Result<Epoch> {
        match &self.export {
            Some(export) => export.epoch(name),
            None => self.epochs.find_or_begin(name, EpochOptions::default()),
        }
    }

    /// The visit as the store has it, if the visit is known in any epoch, and the fingerprint that
    /// is missing in the store.
    pub(super) fn existing_visit(
        &mut self,
        url: &str,
        (time, status, digest): (i64, Option<u16>, Option<Digest>),
        made: impl Iterator<Item = EpochFingerprint>,
    ) -> simkeep::Result<Option<(Visit, Option<EpochFingerprint>)>> {
        let Some(store) = &self.store else { return Ok(None) };
        let known = KnownContent::read(store, url, time, digest)?;
        let Some(visit) = known.visit(status) else { return Ok(None) };
        let mut missing = known.missing(made);
        let first = missing.next();
        self.restated += u64::from(first.is_some());
        // A visit takes one fingerprint in addition to its own. Further fingerprints are separate
        // records.
        self.more.extend(missing.next().map(|(fingerprint, epoch)| {
            let restated =
                Restated { time: Time::from_ms_unchecked(time), fingerprint, digest, epoch };
            OwnedRecord::alone(url.to_owned(), Entry::Restated(restated))
        }));
        self.restated += u64::from(!self.more.is_empty());
        Ok(Some((*visit, first)))
    }
}
