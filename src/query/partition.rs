//! The fingerprints of a snapshot in a join of several stores: how many go where, and their way there.

use std::ops::ControlFlow;

use crate::engine::search::query::Query;
use crate::engine::snapshot::Snapshot;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::Progress;
use crate::search::{Deal, Hand, Shares, Tally};
use crate::sync::Mutex;

impl Snapshot {
    /// Counts the different fingerprints that pages have, for a [join](crate::join) within `k` bits
    /// that is shared out, in so many buckets: [`Tally::within`] says what these are. 4,096 do for
    /// some 10^9 fingerprints in all stores together.
    ///
    /// It takes the epoch, versions, prefix and classes from `like`. Costs what
    /// [`all_fingerprints`](Snapshot::all_fingerprints) does.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, [`Error::Cancelled`] if `progress` was,
    /// [`Error::Limit`] for 2^32 fingerprints or more.
    pub fn tally(&self, like: &Query, k: u32, buckets: u32, progress: &Progress) -> Result<Tally> {
        let tally = Mutex::new(Tally::within(k, buckets));
        self.all_fingerprints(like, progress, |some| {
            tally.lock().add(some);
            ControlFlow::Continue(())
        })?;
        Ok(tally.into_inner())
    }

    /// Deals the different fingerprints that pages have out to the tasks of a [join](crate::join) of
    /// several stores. Each task is handed `most` at a time, or what is left at the end;
    /// [`Deal`](crate::join::Deal) says more. `sink` is called by one thread at a time; if it breaks,
    /// that is the end.
    ///
    /// It takes the epoch, versions, prefix and classes from `like`, which are to be those of
    /// [`tally`](Snapshot::tally). Costs what [`all_fingerprints`](Snapshot::all_fingerprints) does,
    /// and 8 bytes of memory for each task and each of `most`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Mutex;
    ///
    /// use simkeep::join::Shares;
    /// use simkeep::{Observation, Options, Progress, Query, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), 0xff, store.change_epoch()))?;
    /// let (snapshot, like, progress) = (store.snapshot(), Query::new(0, 0), Progress::default());
    /// let shares = Shares::new(&snapshot.tally(&like, 3, 4096, &progress)?, 4, 1 << 20);
    /// let dealt = Mutex::new(Vec::new());
    /// snapshot.deal(&like, &shares, 1 << 16, &progress, |hand| {
    ///     dealt.lock().unwrap().extend(hand.fingerprints);
    ///     ControlFlow::Continue(())
    /// })?;
    /// // Once for each part.
    /// assert_eq!(dealt.into_inner().unwrap(), [0xff; 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if what it touches is damaged, [`Error::Cancelled`] if `progress` was,
    /// [`Error::Limit`] for 2^32 fingerprints or more. What was handed on before the error is right,
    /// but not all.
    pub fn deal(
        &self,
        like: &Query,
        shares: &Shares,
        most: usize,
        progress: &Progress,
        mut sink: impl FnMut(Hand) -> ControlFlow<()> + Send,
    ) -> Result<()> {
        let dealing = Mutex::new((Deal::new(shares, most), &mut sink, ControlFlow::Continue(())));
        self.all_fingerprints(like, progress, |some| {
            let (deal, sink, flow) = &mut *dealing.lock();
            // Others may come after one that broke.
            if flow.is_continue() {
                *flow = deal.add(some, sink);
            }
            *flow
        })?;
        let (deal, sink, flow) = dealing.into_inner();
        if flow.is_continue() {
            // Whether it had enough makes no difference any more.
            let _ = deal.end(sink);
        }
        Ok(())
    }
}
