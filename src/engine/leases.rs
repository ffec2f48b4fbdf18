//! Leases: pages that one worker is about to visit, so that no other worker visits them.
//!
//! Leases exist in memory only. A lease lost in a crash costs a second visit; durable leases would
//! cost a commit for each page.

use std::any::Any;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{LockRank, Mutex, RankedGuard, RankedMutex};
use crate::time::Time;

/// The leases of an open store.
#[derive(Debug)]
pub(crate) struct Leases {
    /// The scheduler's state, locked while pages are chosen, so that no two threads choose the same
    /// page.
    session: RankedMutex<SchedulerState>,
    out: Mutex<LeaseTable>,
    /// The number of leased pages, so that observing takes no lock if there are none.
    count: AtomicUsize,
}

/// The scheduler's state between two leases. It is opaque to the engine, which stores which pages
/// are leased, but not why.
pub(crate) type SchedulerState = Option<Box<dyn Any + Send>>;

#[derive(Debug, Default)]
struct LeaseTable {
    /// The end of each lease.
    until: HashMap<Arc<str>, Time>,
    by_end: BTreeSet<(Time, Arc<str>)>,
    /// Pages whose leases ended since the current session started. The session's view is older, so
    /// such a page still looks due in the view.
    ended: HashSet<Arc<str>>,
    is_taking: bool,
}

impl LeaseTable {
    fn end(&mut self, url: &str) -> bool {
        let Some((url, until)) = self.until.remove_entry(url) else { return false };
        self.by_end.remove(&(until, Arc::clone(&url)));
        if self.is_taking {
            self.ended.insert(url);
        }
        true
    }
}

impl Leases {
    pub(crate) fn new() -> Leases {
        let session = RankedMutex::new(LockRank::Lease, None);
        Leases { session, out: Mutex::new(LeaseTable::default()), count: AtomicUsize::new(0) }
    }

    /// Starts a session that leases pages at the time `now`. The session must choose pages by a
    /// view taken after this call.
    pub(crate) fn start_session(&self, now: Time) -> LeaseSession<'_> {
        let one = self.session.lock();
        let mut out = self.out.lock();
        while out.by_end.first().is_some_and(|(until, _)| *until <= now) {
            if let Some((_, url)) = out.by_end.pop_first() {
                out.until.remove(&url);
            }
        }
        out.is_taking = true;
        self.count.store(out.until.len(), Ordering::Release);
        drop(out);
        LeaseSession { leases: self, one }
    }

    /// Ends the lease of a page. Returns whether the page had a lease.
    #[inline]
    pub(crate) fn end(&self, url: &str) -> bool {
        // A worker that visits a page because of its lease has already synchronized with the lease.
        self.count.load(Ordering::Acquire) != 0 && self.end_one(url)
    }

    #[cold]
    fn end_one(&self, url: &str) -> bool {
        let mut out = self.out.lock();
        let ended = out.end(url);
        self.count.store(out.until.len(), Ordering::Release);
        ended
    }

    /// The number of leases that have not expired, by the last known time.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }
}

/// A session that chooses and leases pages.
pub(crate) struct LeaseSession<'a> {
    leases: &'a Leases,
    one: RankedGuard<'a, SchedulerState>,
}

impl LeaseSession<'_> {
    /// The state that the previous session kept.
    pub(crate) fn scheduler_state(&mut self) -> &mut SchedulerState {
        &mut self.one
    }

    /// Whether a page must not be chosen: it is leased, or its lease ended during this session.
    pub(crate) fn is_leased(&self, url: &str) -> bool {
        let out = self.leases.out.lock();
        out.until.contains_key(url) || out.ended.contains(url)
    }

    /// Leases a page until the time `until`.
    pub(crate) fn lease(&self, url: &str, until: Time) {
        let mut out = self.leases.out.lock();
        out.end(url);
        let url: Arc<str> = url.into();
        out.by_end.insert((until, Arc::clone(&url)));
        out.until.insert(url, until);
        self.leases.count.store(out.until.len(), Ordering::Release);
    }
}

impl Drop for LeaseSession<'_> {
    fn drop(&mut self) {
        let mut out = self.leases.out.lock();
        out.is_taking = false;
        out.ended.clear();
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn page_is_leased_until_released_or_expired() {
        let leases = Leases::new();
        let session = leases.start_session(Time::from_ms_unchecked(0));
        for (url, until) in [("http://a/", 10), ("http://b/", 20), ("http://c/", 30)] {
            assert!(!session.is_leased(url));
            session.lease(url, Time::from_ms_unchecked(until));
            assert!(session.is_leased(url));
        }
        drop(session);
        assert!(leases.end("http://a/") && !leases.end("http://a/") && !leases.end("http://d/"));
        let session = leases.start_session(Time::from_ms_unchecked(20));
        let out = |url| session.is_leased(url);
        assert_eq!(["http://a/", "http://b/", "http://c/"].map(out), [false, false, true]);
        drop(session);
        assert_eq!(leases.len(), 1);
        drop(leases.start_session(Time::from_ms_unchecked(30)));
        assert_eq!(leases.len(), 0);
    }

    #[test]
    fn page_observed_during_a_session_is_not_leased_again() {
        let leases = Leases::new();
        leases
            .start_session(Time::from_ms_unchecked(0))
            .lease("http://a/", Time::from_ms_unchecked(10));
        let session = leases.start_session(Time::from_ms_unchecked(1));
        assert!(leases.end("http://a/"));
        assert!(session.is_leased("http://a/"), "the view of who takes knows nothing of the visit");
        drop(session);
        assert!(!leases.start_session(Time::from_ms_unchecked(1)).is_leased("http://a/"));
    }

    #[test]
    fn lease_can_be_renewed() {
        let leases = Leases::new();
        let session = leases.start_session(Time::from_ms_unchecked(0));
        session.lease("http://a/", Time::from_ms_unchecked(10));
        session.lease("http://a/", Time::from_ms_unchecked(30));
        drop(session);
        assert_eq!(leases.len(), 1);
        assert!(leases.start_session(Time::from_ms_unchecked(10)).is_leased("http://a/"));
        assert!(!leases.start_session(Time::from_ms_unchecked(30)).is_leased("http://a/"));
    }
}
