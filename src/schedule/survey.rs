//! A summary of how the pages of a store change.

use super::learned::{LearnedPriors, sample};
use super::rows::{each_page, part_of};
use super::sources::sources;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::order::sort_few_by;
use crate::recrawl::{Belief, ComparisonCode, PriorClass};
use crate::threads;

/// The number of hash ranges that threads share.
const PARTS: usize = 16;

/// The number of beliefs in a work item of a thread.
const TOGETHER: usize = 4096;

/// A summary of how the pages of a store change.
///
/// All numbers derive from the [changes](crate::Page::changes) of each page.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::Survey;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
/// let week = Duration::from_secs(7 * 86_400);
/// for (url, later) in [("https://example.com/", 0x00), ("https://example.com/news", 0xff)] {
///     store.observe(Observation::content(url, start, 0x00, epoch))?;
///     store.observe(Observation::content(url, start + week, later, epoch))?;
/// }
/// let survey = Survey::of(&store.snapshot())?;
/// println!("{} of {} pages changed", survey.changed, survey.compared);
/// assert_eq!((survey.pages, survey.changed), (2.0, 1.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Survey {
    /// The number of pages. Above a million pages, this number and the other numbers are estimates
    /// from a sample.
    pub pages: f64,
    /// The number of pages with at least two compared visits. The comparisons found a change, or a
    /// time of half a second without a change.
    pub compared: f64,
    /// The number of compared pages that were found changed or returned to an earlier version.
    pub changed: f64,
    /// Deciles of the estimated changes a day. The first decile is the maximum rate of the slowest
    /// tenth of the compared pages, the second decile of the slowest two tenths, and so on. `None`
    /// without compared pages.
    pub deciles: Option<[f64; 9]>,
}

/// The counts of some pages.
#[derive(Default)]
struct SurveyCounts {
    pages: u64,
    changed: u64,
    /// The inputs of the beliefs about the compared pages.
    by: Vec<(PriorClass, ComparisonCode)>,
}

impl Survey {
    /// Summarizes how the pages of the store change: the number of changed pages, and the deciles
    /// of change rates. The result is a function of the pages, as in
    /// [`LearnedPriors::of`](crate::due::LearnedPriors::of).
    ///
    /// Reads the data of [`LearnedPriors::of`] once more, and no page. Takes up to a second, and 20 MB
    /// for a million pages.
    ///
    /// ```
    /// use simkeep::due::Survey;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// const DAY: i64 = 86_400_000;
    /// let epoch = store.change_epoch();
    /// for (page, fingerprint) in [("a", 0b1), ("b", 0b1111_1111)] {
    ///     let url = format!("https://example.com/{page}");
    ///     store.observe(Observation::content(&url, Time::from_ms(0)?, 0b1, epoch))?;
    ///     store.observe(Observation::content(&url, Time::from_ms(7 * DAY)?, fingerprint, epoch))?;
    /// }
    /// let survey = Survey::of(&store.snapshot())?;
    /// assert_eq!((survey.compared, survey.changed), (2.0, 1.0));
    /// let deciles = survey.deciles.unwrap(); // one half seldom, and one often
    /// assert!(deciles[0] < deciles[8]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the call reads damaged data.
    pub fn of(snapshot: &Snapshot) -> Result<Survey> {
        snapshot.poison_on_bug(|| {
            snapshot.view.check()?;
            Survey::new(snapshot)
        })
    }

    pub(crate) fn new(snapshot: &Snapshot) -> Result<Survey> {
        let learned = LearnedPriors::kept(snapshot)?;
        let (last, of_one) = sample(snapshot)?;
        let SurveyCounts { pages, changed, mut by } = count(snapshot, &learned, last)?;
        by.sort_unstable();
        let compared = by.len();
        let [pages, compared, changed] =
            [pages, compared as u64, changed].map(|count| count as f64 * of_one);
        Ok(Survey { pages, compared, changed, deciles: deciles(&by) })
    }
}

/// Counts the pages with hashes up to `last`.
fn count(snapshot: &Snapshot, learned: &LearnedPriors, last: u64) -> Result<SurveyCounts> {
    let sources = sources(snapshot, None)?;
    let of_part = |(): &mut (), part: usize| -> Result<SurveyCounts> {
        let mut counts = SurveyCounts::default();
        let (from, upto) = part_of(last, part, PARTS);
        each_page(&sources, from, upto, |found| {
            let (host, code) = (found.row.host, found.row.code);
            counts.pages += 1;
            if code != ComparisonCode::default() {
                counts.changed += u64::from(code.summary().changes > 0);
                // Stores keys instead of beliefs: a belief is computed later, once for all pages
                // with equal keys.
                counts.by.push((learned.class(found.hash, host, code), code));
            }
            Ok(())
        })?;
        Ok(counts)
    };
    let mut all = SurveyCounts::default();
    for part in threads::run_jobs(0..PARTS, parallel(), || (), of_part) {
        let SurveyCounts { pages, changed, mut by } = part?;
        all.pages += pages;
        all.changed += changed;
        all.by.append(&mut by);
    }
    Ok(all)
}

/// Returns the change rates at the deciles of sorted pages.
fn deciles(by: &[(PriorClass, ComparisonCode)]) -> Option<[f64; 9]> {
    let kinds: Vec<&[(PriorClass, ComparisonCode)]> = by.chunk_by(|a, b| a == b).collect();
    // Pages with the same class and code have the same belief, which is computed once.
    let rates = |(): &mut (), kinds: &[&[(PriorClass, ComparisonCode)]]| -> Vec<(f64, usize)> {
        let alike = kinds.iter().filter_map(|kind| Some((*kind.first()?, kind.len())));
        let rate = |(class, code): (PriorClass, ComparisonCode)| {
            Belief::new(&class.prior(), &code.likelihood()).rate().per_day
        };
        alike.map(|(kind, pages)| (rate(kind), pages)).collect()
    };
    let rates = threads::run_jobs(kinds.chunks(TOGETHER), parallel(), || (), rates);
    let mut rates = rates.concat();
    // The order of classes and codes is not the order of rates.
    sort_few_by(&mut rates, |(a, _), (b, _)| a.total_cmp(b));
    let (mut deciles, mut upto, mut at) = ([0.0; 9], 0, 0);
    for (rate, pages) in rates {
        upto += pages;
        // Integer arithmetic, so that the borders are exact. One kind may cross several borders.
        while let Some(decile) = deciles.get_mut(at).filter(|_| upto * 10 >= by.len() * (at + 1)) {
            *decile = rate;
            at += 1;
        }
    }
    (at == deciles.len()).then_some(deciles)
}

fn parallel() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
