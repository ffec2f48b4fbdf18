//! The check for visits in the future.
//!
//! A crawler whose clock is wrong, or a file with a wrong date, can report a visit in a distant
//! year, such as 2099. Such a visit would be the last visit of its page for decades: every visit
//! until then would be out of order, and the page would never be due.

use std::cell::OnceCell;
use std::time::Duration;

use super::core::Core;
use crate::error::{Error, Result};
use crate::page::Operation;
use crate::time::Time;

/// The latest time that a visit may have, if the options limit it.
#[derive(Debug)]
pub(crate) struct FutureVisitCheck<'b> {
    core: &'b Core,
    tolerance: Option<Duration>,
    /// The last visit in the store, computed when first needed: the computation scans all data in
    /// memory.
    last: OnceCell<Option<Time>>,
}

impl<'b> FutureVisitCheck<'b> {
    /// Creates the check for an open store.
    pub(crate) fn of(core: &'b Core) -> FutureVisitCheck<'b> {
        FutureVisitCheck { core, tolerance: core.options.clock_tolerance, last: OnceCell::new() }
    }

    /// Rejects a visit that is later than the clock allows.
    ///
    /// If the store has a later visit already, the clock is behind the store. In this case no visit
    /// is rejected.
    ///
    /// # Errors
    ///
    /// [`Error::InTheFuture`].
    pub(crate) fn check(&self, operation: &Operation<'_>) -> Result<()> {
        let (Some(tolerance), Operation::Observe(visit)) = (self.tolerance, operation) else {
            return Ok(());
        };
        let tolerance = i64::try_from(tolerance.as_millis()).unwrap_or(i64::MAX);
        let limit = Time::from_ms_unchecked(self.core.disk.clock().saturating_add(tolerance));
        let time = visit.visit.time;
        let last = || self.last.get_or_init(|| self.core.live.snapshot().last_visit());
        if time <= limit || last().is_some_and(|last| last > limit) {
            return Ok(());
        }
        Err(Error::InTheFuture { url: visit.url.to_owned(), time, limit })
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::admin::load::LoadOptions;
    use crate::disk::Location;
    use crate::engine::options::Options;
    use crate::engine::store::Store;
    use crate::error::ErrorKind;
    use crate::page::PropertyUpdate;
    use crate::page::{Observation, Restatement};

    const HOUR: i64 = 3_600_000;

    fn options() -> Options {
        Options::default().clock_tolerance(Some(Duration::from_secs(3600))).background(false)
    }

    fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
        match result {
            Err(Error::LoadRejected { cause, .. }) => Some(cause.kind()),
            other => other.err().map(|e| e.kind()),
        }
    }

    #[test]
    fn visit_beyond_the_clock_tolerance_is_refused_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path(), options()).unwrap();
        let now = Location::from(dir.path()).disk(None).clock();
        let (late, future) = (now + 2 * HOUR, Some(ErrorKind::InTheFuture));
        let visit = |time| {
            Observation::content(
                "http://a/",
                Time::from_ms_unchecked(time),
                7,
                store.change_epoch(),
            )
        };
        // A visit may be arbitrarily far in the past.
        for time in [crate::time::Time::MIN.as_ms(), 0, now, now + HOUR / 2] {
            store.observe(visit(time)).unwrap();
        }
        let count = || store.stats().unwrap().visits;
        assert_eq!((count(), kind(store.observe(visit(late)))), (4, future));
        // If one visit of a batch is rejected, no visit of the batch is stored.
        assert_eq!(kind(store.observe_batch(&[visit(1), visit(late)])), future);
        let load = [visit(2), visit(late)].map(Ok);
        assert_eq!(kind(store.load(load, LoadOptions::default())), future);
        assert_eq!(count(), 4);
        let Err(Error::InTheFuture { url, time, limit }) = store.observe(visit(late)) else {
            panic!("it was refused");
        };
        assert_eq!((url.as_str(), time), ("http://a/", Time::from_ms_unchecked(late)));
        assert!((now + HOUR..now + 2 * HOUR).contains(&limit.as_ms()));
        // An operation that is not a visit may have any time.
        let epoch = store.register_epoch("other", crate::page::Role::Near).unwrap();
        store
            .restate(Restatement::new("http://a/", Time::from_ms_unchecked(late), 9, epoch))
            .unwrap();
        store
            .set_property(PropertyUpdate::weight("http://a/", Time::from_ms_unchecked(late), 2.0))
            .unwrap();
    }

    #[test]
    fn clock_behind_the_store_refuses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let open = |options| Store::open_or_create(dir.path(), options).unwrap();
        let late = Location::from(dir.path()).disk(None).clock() + 2 * HOUR;
        for is_sealed in [false, true] {
            // Without the option, any time is accepted.
            let store = open(Options::default().background(false));
            store.observe(Observation::gone("http://a/", Time::from_ms_unchecked(late))).unwrap();
            if is_sealed {
                store.seal().unwrap();
            }
            assert_eq!(store.snapshot().last_visit(), Some(Time::from_ms_unchecked(late)));
            store.close().unwrap();
            let store = open(options());
            store.observe(Observation::gone("http://b/", Time::from_ms_unchecked(late))).unwrap();
            store.close().unwrap();
        }
    }
}
