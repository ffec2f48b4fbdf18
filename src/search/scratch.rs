//! Temporary memory for very many entries.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The size from which memory is allocated in huge pages, if the system has any. Entries are
/// written at random places, and with small pages nearly each write would cost a TLB miss and a
/// page fault.
const HUGE_BYTES: usize = 4 << 20;

/// Zeroed memory to be overwritten.
pub(super) enum ScratchMemory<T> {
    Heap(Vec<T>),
    Huge(MmapMut, PhantomData<T>),
}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Clone> ScratchMemory<T> {
    /// Allocates `len` zeros.
    pub(super) fn zeroed(len: usize) -> Self {
        let bytes = len.saturating_mul(size_of::<T>());
        // The system zeroes a new anonymous map on first touch, so nothing is written twice. If the
        // system refuses a map, the memory comes from the heap.
        if bytes >= HUGE_BYTES
            && let Ok(map) = MmapMut::map_anon(bytes)
        {
            // The advice is only a hint: without huge pages, building is slower, with the same
            // result.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Self::Huge(map, PhantomData);
        }
        Self::Heap(vec![T::new_zeroed(); len])
    }
}

impl<T> Default for ScratchMemory<T> {
    fn default() -> Self {
        Self::Heap(Vec::new())
    }
}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> Deref for ScratchMemory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Heap(entries) => entries,
            Self::Huge(map, _) => match <[T]>::ref_from_bytes(map) {
                Ok(entries) => entries,
                Err(_) => unreachable!("a map begins with a page, and has whole entries"),
            },
        }
    }
}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> DerefMut for ScratchMemory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Heap(entries) => entries,
            Self::Huge(map, _) => match <[T]>::mut_from_bytes(map) {
                Ok(entries) => entries,
                Err(_) => unreachable!("a map begins with a page, and has whole entries"),
            },
        }
    }
}
