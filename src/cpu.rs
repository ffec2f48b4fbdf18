//! Prefetching: hints to the processor that bring memory into its caches before it is read.
//!
//! A hint changes no result. It costs about a nanosecond a cache line, and nothing if the
//! processor has no such instruction.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Fetches the first lines of `bytes`, at most twelve.
#[inline]
pub(crate) fn prefetch(bytes: &[u8]) {
    /// The maximum number of lines for which a core can wait at once. The processor detects longer
    /// runs by itself.
    const LINES_MAX: usize = 12;
    let start = bytes.as_ptr();
    // Nearly all slices have no more than two lines. Such a slice needs no loop, whose end would
    // not be predicted.
    prefetch_line(start);
    prefetch_line(start.wrapping_add(bytes.len().saturating_sub(1)));
    if bytes.len() > 2 * LINE {
        for line in 1..bytes.len().div_ceil(LINE).min(LINES_MAX) {
            prefetch_line(start.wrapping_add(line * LINE));
        }
    }
}

/// Fetches the line of the byte at `place` in `bytes`. The place may be after the end of `bytes`.
#[inline]
pub(crate) fn prefetch_at(bytes: &[u8], place: u64) {
    if let Ok(place) = usize::try_from(place) {
        prefetch_line(bytes.as_ptr().wrapping_add(place));
    }
}

/// Fetches `value`, which must take at most two lines.
#[inline]
pub(crate) fn prefetch_value<T>(value: &T) {
    let start = std::ptr::from_ref(value).cast::<u8>();
    prefetch_line(start);
    // A value that is no larger than its alignment lies in one line.
    if size_of::<T>() > align_of::<T>() {
        prefetch_line(start.wrapping_add(size_of::<T>() - 1));
    }
}

/// Fetches the line at an address.
#[inline]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "an instruction that takes an address")]
    // SAFETY: prefetching reads nothing and cannot fault, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_can_be_prefetched() {
        prefetch(&[]);
        prefetch(&[0; 10_000]);
        prefetch_at(&[0; 10], 1 << 40);
        prefetch_value(&());
    }
}
