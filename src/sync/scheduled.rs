//! Shuttle's primitives with the names and signatures of parking_lot and the standard library.
//!
//! A panic poisons no lock. Time does not pass: a timed wait ends only when notified, and a sleep
//! only yields to other threads.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;

pub(crate) use shuttle::sync::{RwLockReadGuard, RwLockWriteGuard, atomic, mpsc};
pub(crate) use shuttle::thread_local;

#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(shuttle::sync::Mutex<T>);

/// `None` only while a condition variable waits.
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().ok().map(|guard| MutexGuard(Some(guard)))
    }
}

#[expect(clippy::expect_used, reason = "a guard that waits is borrowed by the wait")]
impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().expect("it does not wait")
    }
}

#[expect(clippy::expect_used, reason = "a guard that waits is borrowed by the wait")]
impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_deref_mut().expect("it does not wait")
    }
}

#[derive(Debug, Default)]
pub(crate) struct Condvar(shuttle::sync::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Condvar(shuttle::sync::Condvar::new())
    }

    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let locked = guard.0.take();
        guard.0 = locked.map(|l| self.0.wait(l).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits until notified; the duration is ignored.
    pub(crate) fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: Duration) {
        self.wait(guard);
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(shuttle::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) const fn new(value: T) -> Self {
        RwLock(shuttle::sync::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.0.try_read().ok()
    }

    pub(crate) fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.0.try_write().ok()
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) mod thread {
    pub(crate) use std::thread::Result;

    pub(crate) use shuttle::thread::{JoinHandle, Scope, ScopedJoinHandle, scope, sleep};

    #[derive(Debug, Default)]
    pub(crate) struct Builder(shuttle::thread::Builder);

    impl Builder {
        pub(crate) fn new() -> Self {
            Self::default()
        }

        pub(crate) fn name(self, name: String) -> Self {
            Builder(self.0.name(name))
        }

        pub(crate) fn spawn<T: Send + 'static>(
            self,
            run: impl FnOnce() -> T + Send + 'static,
        ) -> std::io::Result<JoinHandle<T>> {
            self.0.spawn(run)
        }

        /// Ignores the name of the thread.
        pub(crate) fn spawn_scoped<'scope, T: Send + 'scope>(
            self,
            scope: &'scope Scope<'scope, '_>,
            run: impl FnOnce() -> T + Send + 'scope,
        ) -> std::io::Result<ScopedJoinHandle<'scope, T>> {
            Ok(scope.spawn(run))
        }
    }
}
