//! Arrays in huge pages.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A zeroed array, in huge pages if the system grants them, as for mapped segments. With small pages,
/// the page faults take longer than sorting the entries that are written there.
pub(crate) struct HugePageArray<T>(MmapMut, PhantomData<T>);

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> HugePageArray<T> {
    pub(crate) fn zeroed(len: usize) -> HugePageArray<T> {
        let map = MmapMut::map_anon(len * size_of::<T>()).unwrap();
        // If the system grants no huge pages, normal pages work, too.
        let _ = map.advise(memmap2::Advice::HugePage);
        HugePageArray(map, PhantomData)
    }
}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> Deref for HugePageArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        <[T]>::ref_from_bytes(&self.0).unwrap()
    }
}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> DerefMut for HugePageArray<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        <[T]>::mut_from_bytes(&mut self.0).unwrap()
    }
}
