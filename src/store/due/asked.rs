//! A question, and what it takes to answer it.

use super::options::Due;
use super::score::Scorer;
use crate::store::snapshot::Snapshot;

/// A question, and what it takes to answer it.
pub(super) struct Asked {
    pub(super) snapshot: Snapshot,
    pub(super) due: Due,
    pub(super) scorer: Scorer,
}
