//! No-op metrics, used without the `metrics` feature.

use std::sync::Arc;

use super::{ObservedVisit, Work};
use crate::disk::Disk;

/// Records nothing, at no cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics;

/// No measurement.
pub(crate) struct Timing;

#[expect(clippy::unused_self, reason = "same signature as with `metrics`")]
impl Metrics {
    pub(crate) fn none() -> Metrics {
        Metrics
    }

    pub(crate) fn watching(disk: Arc<dyn Disk>) -> (Arc<dyn Disk>, Metrics) {
        (disk, Metrics)
    }

    pub(crate) fn observed(&self, _visits: impl Iterator<Item = ObservedVisit>) {}

    pub(crate) fn searched(&self, _complete: bool) {}

    pub(crate) fn begin(&self, _work: Work) -> Timing {
        Timing
    }

    pub(crate) fn opened(&self) {}

    pub(crate) fn segments(&self, _count: usize) {}

    pub(crate) fn poisoned(&self) {}
}

#[expect(clippy::unused_self, reason = "same signature as with `metrics`")]
impl Timing {
    pub(crate) fn end(self) {}
}
