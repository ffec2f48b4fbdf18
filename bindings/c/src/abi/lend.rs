//! What borrows from something, kept together with it: C holds both by one pointer.

use std::sync::Arc;

/// Something that borrows from what it is kept with.
#[derive(Debug)]
pub(crate) struct Lent<T, Of: 'static> {
    /// Before what it borrows from, so that it is dropped first.
    lent: T,
    _of: Arc<Of>,
}

impl<T, Of> Lent<T, Of> {
    /// Borrows from something. `borrow` keeps the reference in what it returns, and nowhere else; and
    /// what it returns gives it to nobody.
    pub(crate) fn new<E>(
        of: Arc<Of>,
        borrow: impl FnOnce(&'static Of) -> Result<T, E>,
    ) -> Result<Lent<T, Of>, E> {
        // SAFETY: what an `Arc` holds stays where it is, and nothing writes it, as long as the `Arc` is
        // there; and that is as long as what borrows it, which is dropped before.
        let lent = borrow(unsafe { &*Arc::as_ptr(&of) })?;
        Ok(Lent { lent, _of: of })
    }

    pub(crate) fn get(&self) -> &T {
        &self.lent
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        &mut self.lent
    }
}
