//! Locks that check the lock order.
//!
//! Builds with assertions track the ranks that each thread holds, and panic at a violation even if
//! no deadlock occurs. Other builds track nothing.

use std::ops::{Deref, DerefMut};

use super::rank::LockRank;
use super::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A mutex with a rank.
#[derive(Debug)]
pub(crate) struct RankedMutex<T> {
    lock: Mutex<T>,
    rank: LockRank,
}

impl<T> RankedMutex<T> {
    pub(crate) const fn new(rank: LockRank, value: T) -> Self {
        RankedMutex { lock: Mutex::new(value), rank }
    }

    /// Locks the mutex.
    ///
    /// # Panics
    ///
    /// With assertions, if this thread holds a lock of the same or a later rank.
    #[inline]
    #[track_caller]
    pub(crate) fn lock(&self) -> RankedGuard<'_, T> {
        let held = HeldRank::next(self.rank);
        Guard { guard: self.lock.lock(), _held: held }
    }

    #[inline]
    pub(crate) fn try_lock(&self) -> Option<RankedGuard<'_, T>> {
        let guard = self.lock.try_lock()?;
        Some(Guard { guard, _held: HeldRank::any(self.rank) })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }
}

/// A reader-writer lock with a rank.
#[derive(Debug)]
pub(crate) struct RankedRwLock<T> {
    lock: RwLock<T>,
    rank: LockRank,
}

impl<T> RankedRwLock<T> {
    pub(crate) const fn new(rank: LockRank, value: T) -> Self {
        RankedRwLock { lock: RwLock::new(value), rank }
    }

    /// Locks for reading.
    ///
    /// # Panics
    ///
    /// With assertions, if this thread holds a lock of the same or a later rank.
    #[inline]
    #[track_caller]
    pub(crate) fn read(&self) -> RankedReadGuard<'_, T> {
        let held = HeldRank::next(self.rank);
        Guard { guard: self.lock.read(), _held: held }
    }

    /// Locks for writing.
    ///
    /// # Panics
    ///
    /// With assertions, if this thread holds a lock of the same or a later rank.
    #[inline]
    #[track_caller]
    pub(crate) fn write(&self) -> RankedWriteGuard<'_, T> {
        let held = HeldRank::next(self.rank);
        Guard { guard: self.lock.write(), _held: held }
    }

    #[inline]
    pub(crate) fn try_read(&self) -> Option<RankedReadGuard<'_, T>> {
        let guard = self.lock.try_read()?;
        Some(Guard { guard, _held: HeldRank::any(self.rank) })
    }

    /// Tries to lock for reading, for callers that will wait if the attempt fails.
    ///
    /// # Panics
    ///
    /// With assertions, if this thread holds a lock of the same or a later rank.
    #[inline]
    #[track_caller]
    pub(crate) fn try_read_in_order(&self) -> Option<RankedReadGuard<'_, T>> {
        let held = HeldRank::next(self.rank);
        let guard = self.lock.try_read()?;
        Some(Guard { guard, _held: held })
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.lock.get_mut()
    }

    /// Locks for writing and never unlocks.
    pub(crate) fn write_for_ever(&self) {
        std::mem::forget(self.lock.write());
    }
}

pub(crate) type RankedGuard<'a, T> = Guard<MutexGuard<'a, T>>;
pub(crate) type RankedReadGuard<'a, T> = Guard<RwLockReadGuard<'a, T>>;
pub(crate) type RankedWriteGuard<'a, T> = Guard<RwLockWriteGuard<'a, T>>;

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Guard<G> {
    // Dropped before the rank.
    guard: G,
    _held: HeldRank,
}

impl<G> Guard<G> {
    /// Returns the guard that a condition variable needs.
    pub(crate) fn unranked(&mut self) -> &mut G {
        &mut self.guard
    }
}

impl<G: Deref> Deref for Guard<G> {
    type Target = G::Target;

    #[inline]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Guard<G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// Runs `run` as if this thread held no lock. A test's own disk uses this function to access
/// another store inside a disk call.
#[cfg(feature = "internals")]
pub fn without_held_locks<T>(run: impl FnOnce() -> T) -> T {
    let _held = HeldRank::none();
    run()
}

#[cfg(any(test, shuttle, debug_assertions))]
use checked::HeldRank;
#[cfg(not(any(test, shuttle, debug_assertions)))]
use unchecked::HeldRank;

#[cfg(any(test, shuttle, debug_assertions))]
mod checked {
    use std::cell::Cell;
    use std::thread::panicking;

    use super::LockRank;
    use crate::sync::thread_local;

    thread_local! {
        /// One bit for each rank that this thread holds.
        static HELD: Cell<u64> = const { Cell::new(0) };
    }

    /// A rank held by this thread, or the ranks that `without_held_locks` set aside.
    #[derive(Debug)]
    pub(super) struct HeldRank {
        taken: u64,
        aside: u64,
    }

    impl HeldRank {
        /// Adds a rank that must come after all held ranks.
        #[track_caller]
        pub(super) fn next(rank: LockRank) -> HeldRank {
            let held = HELD.with(Cell::get);
            let in_order = held >> rank as u32 == 0;
            assert!(in_order || panicking(), "{rank:?} is locked out of order: {held:b}");
            Self::any(rank)
        }

        /// Adds a rank without checking the order, for locks that are only tried.
        pub(super) fn any(rank: LockRank) -> HeldRank {
            let taken = 1 << rank as u32;
            HELD.with(|held| held.set(held.get() | taken));
            HeldRank { taken, aside: 0 }
        }

        /// Sets all held ranks aside.
        #[cfg(feature = "internals")]
        pub(super) fn none() -> HeldRank {
            HeldRank { taken: 0, aside: HELD.with(|held| held.replace(0)) }
        }
    }

    impl Drop for HeldRank {
        fn drop(&mut self) {
            HELD.with(|held| held.set(held.get() & !self.taken | self.aside));
        }
    }
}

#[cfg(not(any(test, shuttle, debug_assertions)))]
mod unchecked {
    use super::LockRank;

    /// No tracking without assertions.
    #[derive(Debug)]
    pub(super) struct HeldRank;

    impl HeldRank {
        #[inline]
        pub(super) fn next(_: LockRank) -> HeldRank {
            HeldRank
        }

        #[inline]
        pub(super) fn any(_: LockRank) -> HeldRank {
            HeldRank
        }

        #[cfg(feature = "internals")]
        pub(super) fn none() -> HeldRank {
            HeldRank
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn locks() -> (RankedMutex<()>, RankedRwLock<()>) {
        (RankedMutex::new(LockRank::Write, ()), RankedRwLock::new(LockRank::View, ()))
    }

    #[test]
    fn locks_are_acquired_in_order_and_released_in_any() {
        let (writer, view) = locks();
        for _ in 0..2 {
            let first = writer.lock();
            let second = view.read();
            drop(first);
            drop(second);
        }
        drop(view.write());
        drop(writer.lock());
    }

    #[test]
    #[should_panic(expected = "Write is locked out of order")]
    fn out_of_order_lock_panics() {
        let (writer, view) = locks();
        let _view = view.read();
        let _writer = writer.lock();
    }

    #[test]
    #[should_panic(expected = "View is locked out of order")]
    fn held_lock_is_not_acquired_again() {
        let (_, view) = locks();
        let _first = view.read();
        let _second = view.read();
    }

    #[test]
    fn try_lock_works_in_any_order() {
        let (writer, view) = locks();
        let _view = view.write();
        assert!(writer.try_lock().is_some() && view.try_read().is_none());
    }
}
