//! A value together with the owner from which it borrows. C refers to both by one pointer.

use std::sync::Arc;

/// A value that is stored together with the owner from which it borrows.
#[derive(Debug)]
pub(crate) struct OwningRef<T, Of: 'static> {
    /// The value. The field comes before the owner, so that the value is dropped first.
    lent: T,
    _of: Arc<Of>,
}

impl<T, Of> OwningRef<T, Of> {
    /// Creates a value that borrows from an owner. `borrow` must keep the reference only in its
    /// result, and the result must not expose the reference.
    pub(crate) fn new<E>(
        of: Arc<Of>,
        borrow: impl FnOnce(&'static Of) -> Result<T, E>,
    ) -> Result<OwningRef<T, Of>, E> {
        // SAFETY: the content of an `Arc` does not move, and is not written as long as the `Arc`
        // exists. The `Arc` outlives the borrowing value, which is dropped first.
        let lent = borrow(unsafe { &*Arc::as_ptr(&of) })?;
        Ok(OwningRef { lent, _of: of })
    }

    pub(crate) fn get(&self) -> &T {
        &self.lent
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.lent
    }
}
