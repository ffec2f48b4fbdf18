//! Locks, threads and shared atomics in one place, so that a test can replace the scheduler.
//!
//! An ordinary build uses those of parking_lot and the standard library. With `--cfg shuttle` they
//! are shuttle's, which runs one thread at a time and decides at each of these operations which
//! thread continues. Under shuttle nothing may wait for another thread in any other way.
//!
//! Locks that may be held together have a [`Rank`], and are acquired in that order only.
//!
//! Atomics that need no interleaving tests (counters, caches) are the standard library's in both
//! builds.

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
pub(crate) use rank::Rank;
#[cfg(feature = "internals")]
pub use ranked::apart;
pub(crate) use ranked::{
    RankedGuard, RankedMutex, RankedReadGuard, RankedRwLock, RankedWriteGuard,
};
#[cfg(not(shuttle))]
pub(crate) use real::*;

#[cfg(shuttle)]
mod scheduled;
