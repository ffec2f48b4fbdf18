//! Pages with given changes.

use super::page::{Comparisons, SimulatedPage, VersionDifference};
use crate::recrawl::error::{RecrawlError, Result};
use crate::recrawl::optimum::KnownPage;

/// A page with random changes, drawn by [`Rates::draw`](super::Rates::draw), or with changes on
/// given days. Each change makes a content that is far from all other contents: half of the 64 bits
/// differ, as between two unrelated pages.
///
/// ```
/// use simkeep::recrawl::simulate::{ChangeProcess, RandomPage, Rates, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// let draw = |seed| Rates::Flat { pages: 2 }.draw(ChangeProcess::Constant, seed, 100.0);
/// let pages: Vec<RandomPage> = draw(1)?;
/// for page in &pages {
///     println!("{} changes in 100 days", page.starts().len() - 1);
/// }
/// // The same seed draws the same pages.
/// assert_eq!(pages[0].starts(), draw(1)?[0].starts());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RandomPage {
    host: u32,
    per_day: Option<f64>,
    starts: Vec<f64>,
}

impl RandomPage {
    /// Creates a page of a host, which appears on the first of the given days, and changes on the
    /// others.
    ///
    /// ```
    /// use simkeep::recrawl::simulate::RandomPage;
    /// # fn main() -> simkeep::Result<()> {
    /// // A page that changes each Monday.
    /// let page = RandomPage::new(0, (0..52).map(|week| f64::from(7 * week)).collect())?;
    /// assert!(RandomPage::new(0, vec![]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RecrawlError::Value`] if there is no day, or the days are not finite and in order.
    pub fn new(host: u32, starts: Vec<f64>) -> Result<RandomPage> {
        let is_ordered =
            starts.is_sorted_by(|a, b| a <= b) && starts.iter().all(|day| day.is_finite());
        if starts.is_empty() || !is_ordered {
            return Err(RecrawlError::Value {
                name: "starts",
                takes: "at least one day; the days are finite and in order",
            });
        }
        Ok(RandomPage { host, per_day: None, starts })
    }

    /// Creates a page with changes that were drawn. `per_day` is the rate if it is constant.
    pub(super) fn drawn(host: u32, per_day: Option<f64>, starts: Vec<f64>) -> RandomPage {
        RandomPage { host, per_day, starts }
    }

    /// Returns the page as an input of the [optimum](crate::recrawl::fixed_intervals) functions;
    /// `None` if its changes have no constant rate.
    ///
    /// ```
    /// use simkeep::recrawl::fixed_intervals;
    /// use simkeep::recrawl::simulate::{ChangeProcess, Rates};
    /// # fn main() -> simkeep::Result<()> {
    /// let pages = Rates::Flat { pages: 10 }.draw(ChangeProcess::Constant, 1, 100.0)?;
    /// let known: Vec<_> = pages.iter().filter_map(|page| page.known()).collect();
    /// assert!(fixed_intervals(&known, 5.0)?.freshness > 0.0); // the limit for any policy
    /// # Ok(())
    /// # }
    /// ```
    pub fn known(&self) -> Option<KnownPage> {
        KnownPage::new(self.per_day?, 1.0).ok()
    }
}

impl SimulatedPage for RandomPage {
    type VisitNotes = Comparisons;

    fn host(&self) -> u32 {
        self.host
    }

    fn per_day(&self) -> Option<f64> {
        self.per_day
    }

    fn starts(&self) -> &[f64] {
        &self.starts
    }

    fn difference(&self, held: usize, now: usize) -> VersionDifference {
        let same = held == now;
        VersionDifference { same, near: same, divergence: if same { 0.0 } else { 0.5 } }
    }

    fn changes(&self, version: usize) -> u64 {
        version as u64
    }

    fn found(&self, day: f64, version: usize) -> Comparisons {
        Comparisons::new(day, version)
    }

    fn visited(&self, notes: &mut Comparisons, day: f64, version: usize) -> Result<()> {
        notes.add(day, version)
    }
}
