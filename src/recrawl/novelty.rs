//! The probability that an unvisited page has content of its own, from the pages with similar URLs.

use super::real::normal_quantile;
use crate::recrawl::error::{RecrawlError, Result};
use crate::splitmix::{STEP, mix, uniform};

/// The weight of the belief about all pages, in visited pages, for the level below it.
const STRENGTH_OF_ALL: f64 = 2.0;

/// The weight of the level above, in visited pages, for the levels of a host.
const STRENGTH_OF_HOST: f64 = 12.0;

/// The least mean of the belief about any page, so that unknown patterns are explored.
const MEAN_MIN: f64 = 0.3;

/// The number of first visits after which all URLs draw anew.
const DRAW_EVERY: u64 = 256;

/// The results of the first visits to the pages of a pattern.
///
/// ```
/// use simkeep::recrawl::FirstVisits;
/// # fn main() -> simkeep::Result<()> {
/// assert!(FirstVisits::new(10, 3).is_ok());
/// assert!(FirstVisits::new(3, 10).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstVisits {
    pages: u64,
    novel: u64,
}

impl FirstVisits {
    /// Creates the counts of a pattern: `novel` of `pages` visited pages had content of their own. The
    /// others were copies of other pages, near to other pages, or failed.
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if more pages are novel than visited.
    pub fn new(pages: u64, novel: u64) -> Result<FirstVisits> {
        if novel > pages {
            return Err(RecrawlError::Value { name: "novel", takes: "at most the visited pages" });
        }
        Ok(FirstVisits { pages, novel })
    }
}

/// The belief that a page of a pattern is novel: a Beta distribution.
///
/// Patterns form a chain from the general to the specific: all pages; all pages with a similar URL on
/// any host; pages with a similar URL on one host; pages with the same pattern on one host. The mean of
/// each level is the prior of the next, so a pattern without pages has the probability of its host, and
/// a new host the probability of similar URLs on other hosts.
///
/// ```
/// use simkeep::recrawl::{FirstVisits, Novelty};
/// # fn main() -> simkeep::Result<()> {
/// let pages = FirstVisits::new;
/// // URLs like /login?return=… are not novel anywhere.
/// let logins = Novelty::of_all(pages(100_000, 60_000)?).of_shape(pages(1_000, 10)?);
/// let new_host = logins.of_host(FirstVisits::default());
/// assert!(new_host.mean() < 0.02);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Novelty {
    /// The parameters of the Beta distribution.
    novel: f64,
    other: f64,
}

impl Novelty {
    /// Returns the belief about any page, from all visited pages. Its mean is at least 0.3, so that
    /// unknown patterns are explored.
    pub fn of_all(all: FirstVisits) -> Novelty {
        let mean = (all.novel as f64 + 1.0) / (all.pages as f64 + 2.0);
        Novelty::around(mean.max(MEAN_MIN), STRENGTH_OF_ALL)
    }

    /// Returns the belief about pages with similar URLs on all hosts.
    pub fn of_shape(self, pages: FirstVisits) -> Novelty {
        self.narrowed(pages, STRENGTH_OF_ALL)
    }

    /// Returns the belief about pages of one host: first those with similar URLs, then those with the
    /// same pattern.
    pub fn of_host(self, pages: FirstVisits) -> Novelty {
        self.narrowed(pages, STRENGTH_OF_HOST)
    }

    /// Creates a belief from a mean and its weight in pages.
    fn around(mean: f64, strength: f64) -> Novelty {
        Novelty { novel: strength * mean, other: strength * (1.0 - mean) }
    }

    fn narrowed(self, pages: FirstVisits, strength: f64) -> Novelty {
        let prior = Novelty::around(self.mean(), strength);
        let other = pages.pages - pages.novel;
        Novelty { novel: prior.novel + pages.novel as f64, other: prior.other + other as f64 }
    }

    /// Returns the probability that a page is novel.
    pub fn mean(self) -> f64 {
        self.novel / (self.novel + self.other)
    }

    /// Returns an optimistic probability for one URL: m + z s, from 0 to 1, where m is the mean of the
    /// belief, s its standard deviation, and z the standard normal quantile of a number `draw` between
    /// 0 and 1. From [`novelty_draw`].
    ///
    /// Each URL draws on its own, so a few URLs of an unpromising pattern are visited, too, and a
    /// pattern that becomes better is noticed. A draw for each pattern, or a draw that never changes,
    /// would starve small patterns.
    ///
    /// ```
    /// use simkeep::recrawl::{FirstVisits, Novelty};
    /// # fn main() -> simkeep::Result<()> {
    /// let unknown = Novelty::of_all(FirstVisits::default()).of_host(FirstVisits::default());
    /// assert_eq!(unknown.drawn(0.5)?, unknown.mean());
    /// assert!(unknown.drawn(0.9)? > unknown.mean());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if the number is not between 0 and 1, both exclusive.
    pub fn drawn(self, draw: f64) -> Result<f64> {
        if !(draw > 0.0 && draw < 1.0) {
            return Err(RecrawlError::Value { name: "draw", takes: "between 0 and 1" });
        }
        let (mean, all) = (self.mean(), self.novel + self.other);
        let deviation = (mean * (1.0 - mean) / (all + 1.0)).sqrt();
        Ok((mean + normal_quantile(draw) * deviation).clamp(0.0, 1.0))
    }
}

/// Returns the random number of a URL for [`Novelty::drawn`]: between 0 and 1, both exclusive. The
/// number depends only on the hash of the URL and on the number of pages that were visited in the whole
/// store, so equal stores have equal draws. All URLs draw anew after each 256 pages.
///
/// ```
/// use simkeep::recrawl::novelty_draw;
/// assert_eq!(novelty_draw(17, 0), novelty_draw(17, 255));
/// assert_ne!(novelty_draw(17, 0), novelty_draw(17, 256));
/// assert_ne!(novelty_draw(17, 0), novelty_draw(18, 0));
/// ```
pub fn novelty_draw(url_hash: u64, pages_visited: u64) -> f64 {
    let round = pages_visited / DRAW_EVERY;
    uniform(mix(url_hash ^ mix(round.wrapping_add(1).wrapping_mul(STEP))))
}
