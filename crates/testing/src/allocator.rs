//! How much memory something takes. A test program that asks declares the allocator:
//!
//! `#[global_allocator] static ALLOCATOR: Counting = Counting;`

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, which knows how much is taken of it.
pub struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    MOST.fetch_max(TAKEN.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

#[expect(unsafe_code, reason = "an allocator is unsafe; this one only counts")]
// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        take(new);
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, new) }
    }
}

/// One test at a time, so that what is measured is its own.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that are taken now.
pub fn taken() -> usize {
    TAKEN.load(Relaxed)
}

/// The most bytes that were taken at once beyond those before.
pub fn most_taken<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.load(Relaxed);
    MOST.store(before, Relaxed);
    let done = run();
    (done, MOST.load(Relaxed).saturating_sub(before))
}
