//! The recent number of visits a day.

use super::due::Due;
use super::learned::sample_of;
use super::rows::{each_page, part_of, source_of};
use super::sources::{RowSource, sources};
use crate::engine::lookup::Lookup;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::Result;
use crate::segment::seconds;
use crate::threads;
use crate::time::Time;

impl Due {
    /// Returns the recent number of visits a day. The function counts the visits in the 28 days up
    /// to the latest visit. The divisor is 28, or the number of days since the first visit if this
    /// number is less, and at least 1. The pace is a default for a [plan](crate::due::Plan::of) if
    /// you have no better number. The prefix of `due` applies; visits after the time of `due` count
    /// as visits at that time. Without pages the result is 0.
    ///
    /// Exact up to 65,536 pages; under a prefix, a page counts once for each segment that has the
    /// page. Larger stores are sampled by hash, and the histories of at most 131,072 pages are
    /// read, at some microseconds each. The call also reads the data of
    /// [`LearnedPriors::of`](crate::due::LearnedPriors::of) twice.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::due::Due;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// for page in 0..56 {
    ///     store.observe(Observation::gone(&format!("https://example.com/{page}"), start + page * DAY))?;
    /// }
    /// // One a day, and both ends of the 28 days count.
    /// assert_eq!(Due::new(start + 90 * DAY, 0).pace(&store.snapshot())?, 29.0 / 28.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the call reads damaged data.
    pub fn pace(&self, snapshot: &Snapshot) -> Result<f64> {
        snapshot.poison_on_bug(|| {
            snapshot.view.check()?;
            pace(snapshot, self)
        })
    }
}

/// The number of hash ranges that threads share.
const PARTS: usize = 16;

/// The number of histories to read, as a power of two. Fewer than twice this number are read, of
/// all pages or of a sample.
const PAGES_LOG2: u32 = 16;

/// The length of the window in days.
const DAYS: i64 = 28;

const DAY_MS: i64 = 86_400_000;

/// Returns the visits a day in the 28 days up to the latest visit. If all visits are younger than
/// 28 days, the window is shorter, but at least one day.
fn pace(snapshot: &Snapshot, due: &Due) -> Result<f64> {
    pace_of(snapshot, due, PAGES_LOG2)
}

/// Returns the pace from the histories of fewer than twice 2^`pages_log2` pages.
fn pace_of(snapshot: &Snapshot, due: &Due, pages_log2: u32) -> Result<f64> {
    let sources = sources(snapshot, due.under.as_ref())?;
    // Under a prefix, a page in several segments counts several times, which only makes the sample
    // smaller.
    let pages = match due.under {
        Some(_) => sources.iter().map(RowSource::pages).sum(),
        None => StoreTotals::of(snapshot)?.pages,
    };
    let (last, of_one) = sample_of(pages, pages_log2);
    let now = seconds(due.now);
    // Two passes: the first finds the latest visit, at which the 28 days end.
    let latest = fold(&sources, last, |latest: &mut Option<u64>, found| {
        let since = found.row.seconds_since(now);
        *latest = Some(latest.map_or(since, |latest| latest.min(since)));
        Ok(())
    })?;
    let Some(latest) = latest.into_iter().flatten().min() else { return Ok(0.0) };
    let latest_ms = i64::try_from(latest).unwrap_or(i64::MAX).saturating_mul(1000);
    let upto = Time::from_ms_unchecked(due.now.as_ms().saturating_sub(latest_ms));
    let from = Time::from_ms_unchecked(upto.as_ms().saturating_sub(DAYS * DAY_MS));
    // Rows have times in whole seconds. A page at the border is read, and its visits are counted by
    // milliseconds.
    let row_from = latest.saturating_add(DAYS.unsigned_abs() * 86_400);
    let visits = fold(&sources, last, |(count, first): &mut (u64, Option<Time>), found| {
        if found.row.seconds_since(now) > row_from {
            // The page was visited only before the 28 days. So the store is older than 28 days, and
            // all 28 days count.
            *first = Some(from);
            return Ok(());
        }
        let url = source_of(&sources, found.component)?.url(found.page)?;
        let lookup = Lookup::of(&url, found.hash);
        // A row contains only the time of the last visit. The history contains the number of
        // visits.
        let (more, earliest) = snapshot.view.visits_since(&lookup, snapshot.sequence, from)?;
        *count += more;
        *first = earliest.into_iter().chain(*first).min();
        Ok(())
    })?;
    let count: u64 = visits.iter().map(|(count, _)| count).sum();
    let first = visits.iter().filter_map(|(_, first)| *first).min().unwrap_or(upto);
    // Without the minimum of a day, a crawl that has just begun would divide by almost nothing.
    let days =
        (upto.as_ms().saturating_sub(first.as_ms()) as f64 / DAY_MS as f64).clamp(1.0, DAYS as f64);
    Ok(count as f64 * of_one / days)
}

/// Folds the pages with a hash up to `last`, and returns the result of each hash range.
fn fold<T: Default + Send>(
    sources: &[RowSource],
    last: u64,
    take: impl Fn(&mut T, super::rows::ComponentRow) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let of_part = |(): &mut (), part: usize| {
        let mut came_to = T::default();
        let (from, upto) = part_of(last, part, PARTS);
        each_page(sources, from, upto, |found| take(&mut came_to, found))?;
        Ok(came_to)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads::run_jobs(0..PARTS, threads, || (), of_part).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::disk::SimDisk;
    use crate::{Observation, Options, Store};

    #[test]
    fn sample_of_pages_estimates_the_pace() {
        let store = Store::create(Arc::new(SimDisk::new()), Options::default()).unwrap();
        // One visit a day to each page.
        let urls: Vec<String> = (0..1000).map(|page| format!("http://{page}.example/")).collect();
        let visits = (0..28).flat_map(|day| {
            urls.iter()
                .map(move |url| Observation::gone(url, Time::from_ms_unchecked(day * DAY_MS)))
        });
        store.observe_batch(&visits.collect::<Vec<_>>()).unwrap();
        for place in ["memory", "segment"] {
            let (snapshot, due) =
                (store.snapshot(), Due::new(Time::from_ms_unchecked(100 * DAY_MS), 0));
            let exact = pace_of(&snapshot, &due, 10).unwrap();
            assert_eq!(exact, 28_000.0 / 27.0, "{place}");
            let sampled = pace_of(&snapshot, &due, 7).unwrap();
            assert!((0.7..1.4).contains(&(sampled / exact)), "{place}: {sampled}");
            store.seal().unwrap();
        }
    }
}
