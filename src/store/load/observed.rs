//! What a load takes.

use crate::page::{Observation, Visit};

/// An observation, borrowed or owned, as [`Store::load`](crate::Store::load) takes them.
///
/// An [`Observation`] borrows its URL. Where there is nobody to borrow from, because pages are read
/// one after another, a pair of a URL and a [`Visit`] says the same.
pub trait Observed {
    /// It, borrowed.
    fn observation(&self) -> Observation<'_>;
}

impl Observed for Observation<'_> {
    fn observation(&self) -> Observation<'_> {
        *self
    }
}

impl<U: AsRef<str>> Observed for (U, Visit) {
    fn observation(&self) -> Observation<'_> {
        Observation::of(self.0.as_ref(), self.1)
    }
}

impl<O: Observed + ?Sized> Observed for &O {
    fn observation(&self) -> Observation<'_> {
        (**self).observation()
    }
}
