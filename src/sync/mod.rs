//! Locks, threads and shared atomics in one place, so that a test can replace the scheduler.
//!
//! An ordinary build uses the primitives of parking_lot and the standard library. A build with
//! `--cfg shuttle` uses the primitives of shuttle. Shuttle runs one thread at a time, and decides
//! at each operation on a primitive which thread continues. Under shuttle no thread may wait for
//! another thread in any other way.
//!
//! Locks that a thread may hold together have a [`LockRank`], and are acquired only in the order of
//! ranks.
//!
//! Atomics that need no interleaving tests (counters, caches) are the atomics of the standard
//! library in both builds.

#[cfg(not(shuttle))]
mod real {
    pub(crate) use std::sync::{atomic, mpsc};
    pub(crate) use std::thread;
    #[cfg(any(test, debug_assertions))]
    pub(crate) use std::thread_local;

    pub(crate) use parking_lot::{
        Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    };
}

mod rank;
mod ranked;

#[cfg(shuttle)]
pub(crate) use self::scheduled::*;
pub(crate) use rank::LockRank;
#[cfg(feature = "internals")]
pub use ranked::without_held_locks;
pub(crate) use ranked::{
    RankedGuard, RankedMutex, RankedReadGuard, RankedRwLock, RankedWriteGuard,
};
#[cfg(not(shuttle))]
pub(crate) use real::*;

#[cfg(shuttle)]
mod scheduled;
