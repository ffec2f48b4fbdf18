//! Seals the journal at the end of an ingest.

use simkeep::inspect::{OperationKind, Operations};
use simkeep::{Result, Store};

/// The maximum number of operations, and of bytes of their URLs, that are left in the journal.
/// Damage to a journal loses more than damage to a segment.
const UNSEALED_MAX: u64 = 1_000;
const UNSEALED_BYTES_MAX: usize = 1 << 20;

/// Seals the journal, unless it is small.
pub(super) fn seal(store: &Store) -> Result<()> {
    let operations = Operations::after(&store.snapshot(), 0);
    let Some(available) = operations.available() else { return Ok(()) };
    let mut bytes = 0;
    if available.end() - available.start() < UNSEALED_MAX {
        for operation in operations {
            bytes += match operation?.kind {
                OperationKind::Entry { url, .. } | OperationKind::Forget { url, .. } => url.len(),
                OperationKind::ForgetPrefix { .. } => 0,
            };
        }
        if bytes <= UNSEALED_BYTES_MAX {
            return Ok(());
        }
    }
    store.seal()
}
