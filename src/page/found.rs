//! URLs that were found, usually in links, and that nobody has visited yet.

use super::Weight;
use crate::time::Time;

/// A URL that was found, usually in a link, for [`Store::discover`](crate::Store::discover).
///
/// A store remembers the earliest time at which a URL was found, in whole seconds, and its largest
/// weight, with 8 bits of its mantissa.
///
/// ```
/// use simkeep::{Found, Time};
/// let link = Found::new("https://example.com/news", Time::now())
///     .weight(2.0)
///     .from("https://example.com/");
/// assert_eq!(link.weight.get(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found<'a> {
    /// The URL.
    pub url: &'a str,
    /// The time at which the URL was found.
    pub time: Time,
    /// The importance of the URL: a factor of the value of a first visit. Default: 1.
    pub weight: Weight,
    /// The page with the link, if any. A link from a page to itself is not stored.
    pub from: Option<&'a str>,
}

impl<'a> Found<'a> {
    /// Creates a found URL of weight 1.
    ///
    /// ```
    /// use simkeep::{Found, Time, Weight};
    /// assert_eq!(Found::new("https://example.com/", Time::now()).weight, Weight::ONE);
    /// ```
    pub fn new(url: &'a str, time: impl Into<Time>) -> Self {
        Found { url, time: time.into(), weight: Weight::ONE, from: None }
    }

    /// Sets [`weight`](field@Found::weight).
    #[must_use]
    pub fn weight(self, weight: impl Into<Weight>) -> Self {
        Found { weight: weight.into(), ..self }
    }

    /// Sets [`from`](field@Found::from).
    #[must_use]
    pub fn from(self, page: &'a str) -> Self {
        Found { from: Some(page), ..self }
    }
}
