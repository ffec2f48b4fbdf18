//! What a load takes.

use crate::page::{Entry, Giving, Observation, Request, Restatement};

/// A borrowed or owned request, as [`Store::load`](crate::Store::load) takes it.
///
/// An [`Observation`], a [`Restatement`] and a [`Giving`] borrow their URL. If there is nothing to
/// borrow from, because pages are read one after another, use a pair of a URL and an [`Entry`], or
/// anything that converts into one.
pub trait Observed {
    /// The request.
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

impl Observed for Giving<'_> {
    fn request(&self) -> Request<'_> {
        Request::Give(*self)
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
