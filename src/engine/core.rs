//! The shared core of an open store, which all of its parts use.

use std::sync::Arc;

use super::lifecycle::Lifecycle;
use super::live::LiveView;
use super::new_segment::SegmentIds;
use super::options::Options;
use crate::catalog::Catalog;
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::metrics::Metrics;

/// The files of an open store, and their live state.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Options,
    pub(crate) catalog: Catalog,
    pub(crate) segment_ids: SegmentIds,
    pub(crate) live: LiveView,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) metrics: Metrics,
}

impl Core {
    /// Stops accepting writes: see [`Lifecycle::poison`].
    pub(crate) fn poison(&self, cause: Error) -> Error {
        self.lifecycle.poison(cause)
    }

    /// Rewrites the catalog. If the disk is full, the store is unchanged.
    pub(crate) fn rewrite_catalog(&self) -> Result<()> {
        self.catalog.rewrite().map_err(|e| self.poison(e))?
    }

    /// Whether the files with the names of this store's files surely belong to this store, so that
    /// they may be removed.
    pub(crate) fn is_in_place(&self) -> bool {
        self.lifecycle.check_poison().is_ok() && self.catalog.check_locks().is_ok()
    }
}
