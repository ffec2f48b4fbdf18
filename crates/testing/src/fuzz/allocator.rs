//! An allocator that ends the process if an allocation is larger than any input can justify.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The maximum size of an allocation in bytes, unless a target sets another. Inputs and files have
/// less than 1 MiB, and nothing that is read from them may take a large multiple of that.
pub const BYTES_MAX: usize = 64 << 20;

thread_local! {
    static MAX: Cell<usize> = const { Cell::new(BYTES_MAX) };
}

/// Runs a function with another maximum.
pub fn within<T>(bytes_max: usize, run: impl FnOnce() -> T) -> T {
    let before = MAX.replace(bytes_max);
    let done = run();
    MAX.set(before);
    done
}

/// The system's allocator with that bound. A program declares it:
///
/// `#[global_allocator] static ALLOCATOR: Bounded = Bounded;`
#[derive(Debug)]
pub struct BoundedAllocator;

/// Set once the bound was exceeded. Further allocations are not checked.
static PASSED: AtomicBool = AtomicBool::new(false);

fn check(bytes: usize) {
    if bytes > MAX.get() && !PASSED.swap(true, Ordering::Relaxed) {
        let thread = std::thread::current();
        let (name, trace) = (thread.name().unwrap_or_default(), Backtrace::force_capture());
        // Not with a macro, whose output the tests capture.
        let _ = writeln!(io::stderr(), "{name}: one allocation of {bytes} bytes\n{trace}");
        std::process::abort();
    }
}

#[expect(unsafe_code, reason = "an allocator is unsafe; this one only looks at sizes")]
// SAFETY: every call goes to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for BoundedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller upholds the contract of this method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        check(bytes);
        // SAFETY: as above.
        unsafe { System.realloc(block, layout, bytes) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
