//! Nothing: what stands in the place of metrics where nobody asked for them.

use std::sync::Arc;

use super::Work;
use crate::disk::Disk;
use crate::page::Verdict;

/// Tells nobody anything, at no cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics;

/// No measurement.
pub(crate) struct Timing;

#[expect(clippy::unused_self, reason = "what tells something needs itself")]
impl Metrics {
    pub(crate) fn none() -> Metrics {
        Metrics
    }

    pub(crate) fn watching(disk: Arc<dyn Disk>) -> (Arc<dyn Disk>, Metrics) {
        (disk, Metrics)
    }

    pub(crate) fn observed<'v>(&self, _visits: impl Iterator<Item = (&'v Verdict, bool)>) {}

    pub(crate) fn searched(&self, _complete: bool) {}

    pub(crate) fn begin(&self, _work: Work) -> Timing {
        Timing
    }

    pub(crate) fn opened(&self) {}

    pub(crate) fn segments(&self, _count: usize) {}

    pub(crate) fn poisoned(&self) {}
}

#[expect(clippy::unused_self, reason = "what tells something needs itself")]
impl Timing {
    pub(crate) fn end(self) {}
}
