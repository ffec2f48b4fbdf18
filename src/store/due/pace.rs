//! How many visits a day there were of late.

use super::learned::sample;
use super::options::Due;
use super::rows::{each_page, part_of};
use super::sources::{Source, sources};
use crate::error::Result;
use crate::segment::seconds;
use crate::store::snapshot::Snapshot;
use crate::threads;

/// Parts of all hashes that are shared out among threads.
const PARTS: usize = 16;

/// The days that are looked at.
const DAYS: u64 = 28;

/// The pages that were last visited within 28 days of the latest visit, a day.
pub(in crate::store) fn pace(snapshot: &Snapshot, due: &Due) -> Result<f64> {
    let (last, of_one) = sample(snapshot)?;
    let sources = sources(snapshot, due.under.as_ref())?;
    let now = seconds(due.now);
    let latest = fold(&sources, (now, last), u64::MAX, u64::min)?;
    let Some(latest) = latest.into_iter().reduce(u64::min) else { return Ok(0.0) };
    let from = latest.saturating_add(DAYS * 86_400);
    let count = |count: u64, since: u64| count + u64::from(since <= from);
    let pages: u64 = fold(&sources, (now, last), 0, count)?.into_iter().sum();
    Ok(pages as f64 * of_one / DAYS as f64)
}

/// What comes of the seconds since the last visit to each page with a hash up to `last`, in each part.
fn fold(
    sources: &[Source],
    (now, last): (u64, u64),
    first: u64,
    take: impl Fn(u64, u64) -> u64 + Sync,
) -> Result<Vec<u64>> {
    let of_part = |(): &mut (), part: usize| {
        let mut came_to = first;
        let (from, upto) = part_of(last, part, PARTS);
        each_page(sources, from, upto, |found| {
            came_to = take(came_to, found.row.seconds_since(now));
            Ok(())
        })?;
        Ok(came_to)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads::share(0..PARTS, threads, || (), of_part).into_iter().collect()
}
