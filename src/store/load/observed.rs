//! What a load takes.

use crate::page::{Entry, Observation, Request, Restatement};

/// A request, borrowed or owned, as [`Store::load`](crate::Store::load) takes them.
///
/// An [`Observation`] and a [`Restatement`] borrow their URL. Where there is nobody to borrow from,
/// because pages are read one after another, a pair of a URL and an [`Entry`], or what becomes one,
/// says as much.
pub trait Observed {
    /// It, borrowed.
    fn request(&self) -> Request<'_>;
}

impl Observed for Request<'_> {
    fn request(&self) -> Request<'_> {
        *self
    }
}

impl Observed for Observation<'_> {
    fn request(&self) -> Request<'_> {
        Request::Observe(*self)
    }
}

impl Observed for Restatement<'_> {
    fn request(&self) -> Request<'_> {
        Request::Restate(*self)
    }
}

impl<U: AsRef<str>, E: Into<Entry> + Copy> Observed for (U, E) {
    fn request(&self) -> Request<'_> {
        Request::of(self.0.as_ref(), self.1.into())
    }
}

impl<O: Observed + ?Sized> Observed for &O {
    fn request(&self) -> Request<'_> {
        (**self).request()
    }
}
