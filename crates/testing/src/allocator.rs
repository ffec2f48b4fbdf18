//! Measures memory. A test program that measures declares the allocator:
//!
//! `#[global_allocator] static ALLOCATOR: Counting = Counting;`

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator with a count of allocated bytes.
pub struct CountingAllocator;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    MOST.fetch_max(TAKEN.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

#[expect(unsafe_code, reason = "an allocator is unsafe; this one only counts")]
// SAFETY: every call goes unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller upholds the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new: usize) -> *mut u8 {
        take(new);
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract.
        unsafe { System.realloc(at, layout, new) }
    }
}

/// Locks out other tests, so that only this test is measured.
pub fn lock_measurement() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of bytes that are allocated now.
pub fn allocated_bytes() -> usize {
    TAKEN.load(Relaxed)
}

/// Runs a function, and returns the maximum number of bytes allocated at once beyond the initial
/// ones.
pub fn peak_allocated_bytes<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.load(Relaxed);
    MOST.store(before, Relaxed);
    let done = run();
    (done, MOST.load(Relaxed).saturating_sub(before))
}
