//! Operations on their way to the journal.

use crate::bug::{Bug, ensure};
use crate::catalog::{Blob, Journal};

/// A blob with this many bytes is complete.
const BLOB_BYTES_MAX: usize = 16 << 20;

/// Operations that are applied in memory and not yet in the journal.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    blobs: Vec<(Journal, Blob)>,
    bytes: usize,
}

impl Pending {
    /// Adds the next operation.
    ///
    /// # Errors
    ///
    /// If it is not the next: a journal that leaves one out cannot be read.
    pub(crate) fn push(
        &mut self,
        journal: Journal,
        sequence: u64,
        put: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Bug> {
        let follows = |(_, blob): &(Journal, Blob)| blob.last_sequence() + 1 == sequence;
        ensure(self.blobs.last().is_none_or(follows), "operations come one after another")?;
        let fits = |(last, blob): &&mut (Journal, Blob)| {
            *last == journal && blob.bytes.len() < BLOB_BYTES_MAX
        };
        let (_, blob) = match self.blobs.last_mut().filter(fits) {
            Some(last) => last,
            None => {
                let blob = Blob { first_sequence: sequence, count: 0, bytes: Vec::new() };
                self.blobs.push_mut((journal, blob))
            }
        };
        let before = blob.bytes.len();
        put(&mut blob.bytes);
        blob.count += 1;
        self.bytes += blob.bytes.len() - before;
        Ok(())
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is to be written to the journals, in order.
    pub(crate) fn blobs(&self) -> &[(Journal, Blob)] {
        &self.blobs
    }
}
