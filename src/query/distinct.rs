//! All different fingerprints of a snapshot.

use std::ops::ControlFlow;

use crate::engine::search;
use crate::engine::search::query::Query;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::Progress;

impl Snapshot {
    /// Hands over the different fingerprints that pages have, each once, in no particular order. It
    /// takes the epoch, versions, prefix, classes, the page that is [left out](Query::except) and the
    /// number of threads from `like`, and ignores the rest of it. A fingerprint that only that page has
    /// is not handed over.
    ///
    /// They are what work with all fingerprints begins with that is done elsewhere, such as a
    /// [`Join`](crate::join::Join) of several stores. `sink` is called from several threads with up to
    /// 4,096 at a time; if it breaks, that is the end.
    ///
    /// Costs a read of all fingerprints, and some nanoseconds each to tell whether one is in force; in
    /// several segments, looking each up in the others, and a page of each. Memory does not grow with
    /// their number.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::{Observation, Options, Progress, Query, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (page, fingerprint) in [("a", 0b1111), ("b", 0b1111), ("c", 0b1000)] {
    ///     let url = format!("https://example.com/{page}");
    ///     store.observe(Observation::content(&url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let found = Mutex::new(Vec::new());
    /// store.snapshot().all_fingerprints(&Query::new(0, 0), &Progress::default(), |some| {
    ///     found.lock().unwrap().extend_from_slice(some);
    ///     ControlFlow::Continue(())
    /// })?;
    /// let mut found = found.into_inner().unwrap();
    /// found.sort();
    /// assert_eq!(found, [0b1000, 0b1111]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, [`Error::Cancelled`] if `progress` was,
    /// [`Error::Limit`] for 2^32 fingerprints or more. What was handed over before the error is right,
    /// but not all.
    pub fn all_fingerprints(
        &self,
        like: &Query,
        progress: &Progress,
        sink: impl Fn(&[u64]) -> ControlFlow<()> + Sync,
    ) -> Result<()> {
        self.poison_on_bug(|| search::all_fingerprints(self, like, progress, sink))
    }
}
