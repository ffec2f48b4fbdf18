//! Leasing due pages.

use super::decision::Decision;
use super::due::Due;
use super::learned::LearnedPriors;
use crate::engine::db::Db;
use crate::engine::leases::LeaseSession;
use crate::engine::snapshot::Snapshot;
use crate::engine::store::Store;
use crate::engine::totals::StoreTotals;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::recrawl::Interval;
use crate::time::Time;

impl Store {
    /// Leases the most valuable due pages: [`Snapshot::due`] minus pages already leased and pages
    /// with no value.
    ///
    /// A leased page has the same [validators](crate::Page::conditional_headers) as the page in a
    /// snapshot, so a fetcher can make a conditional request without another lookup.
    ///
    /// A lease ends when the page is [observed](Store::observe) in any way or
    /// [released](Store::release), or when the `now` of a later call is after the end of the lease.
    /// Several threads may lease pages at the same time: the calls run one after another, and lease
    /// different pages. Leased pages count towards the [`per_host`](Due::per_host) limit. The result
    /// is empty if no page is due by the query, or if [leases](Store::leased) leave no page to lease.
    ///
    /// Leases are in memory only. After a crash or a reopen no page is leased, so a page may be
    /// visited twice, but no page is lost. At most
    /// [`Options::leases_max`](crate::Options::leases_max) pages are leased at a time; at the limit
    /// the result is empty.
    ///
    /// Costs as much as [`Snapshot::due`] with a budget enlarged by the number of leased pages.
    /// Priors are learned again when the number of operations since the last learning reaches an
    /// eighth of the number of pages.
    ///
    /// ```
    /// use std::time::Duration;
    /// use simkeep::due::Due;
    /// use simkeep::{Observation, Options, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let store = Store::create(&path, Options::default())?;
    /// let epoch = store.change_epoch();
    /// let url = "https://example.com/";
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// store.observe(Observation::content(url, start, 17, epoch))?;
    ///
    /// let day = Duration::from_secs(86_400);
    /// let (now, lease) = (start + 21 * day, "1h".parse()?);
    /// let leased = store.lease_due(&Due::new(now, 10), lease)?;
    /// assert_eq!(leased[0].page.url, url);
    /// assert!(store.lease_due(&Due::new(now, 10), lease)?.is_empty());
    /// // Visited, it can be leased again: another time, since now a visit is worth nothing.
    /// store.observe(Observation::content(url, now, 17, epoch))?;
    /// assert!(store.lease_due(&Due::new(now, 10), lease)?.is_empty());
    /// assert_eq!(store.lease_due(&Due::new(now + 21 * day, 10), lease)?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Io`] if the call reads damaged or unreadable data; in this
    /// case no page is leased. [`Error::Poisoned`], [`Error::Forked`].
    pub fn lease_due(&self, due: &Due, lease: Interval) -> Result<Vec<Decision>> {
        self.change(|db| lease_best(db, due, lease))
    }

    /// Ends the lease of a page that was not visited, so that the page can be leased again. Returns
    /// whether the page was leased.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::content(url, start, 7, store.change_epoch()))?;
    /// let (due, lease) = (Due::new(start + Duration::from_secs(30 * 86_400), 10), "1h".parse()?);
    /// assert_eq!(store.lease_due(&due, lease)?.len(), 1);
    /// // The worker stops before it visits the page.
    /// assert!(store.release(url)?);
    /// assert_eq!(store.lease_due(&due, lease)?[0].page.url, url);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] and [`Error::Closed`].
    pub fn release(&self, url: &str) -> Result<bool> {
        self.change(|db| Ok(db.leases.end(url)))
    }

    /// Returns the number of pages that are leased. A lease that has expired counts until the next
    /// call of [`lease_due`](Store::lease_due), which has the time.
    ///
    /// If `lease_due` has returned no page, 0 means that no page is due by its query. Otherwise
    /// workers still have leased pages. Other pages are then not due, or their host is at its
    /// [limit](Due::per_host), or all [leases](crate::Options::leases_max) are taken. Takes constant
    /// time.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::Due;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::content(url, start, 7, store.change_epoch()))?;
    /// assert_eq!(store.leased(), 0);
    /// let due = Due::new(start + Duration::from_secs(30 * 86_400), 10);
    /// assert_eq!(store.lease_due(&due, "1h".parse()?)?.len(), 1);
    /// // Another worker gets no page, because this worker has the only one.
    /// assert!(store.lease_due(&due, "1h".parse()?)?.is_empty());
    /// assert_eq!(store.leased(), 1);
    /// store.release(url)?;
    /// assert_eq!(store.leased(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn leased(&self) -> usize {
        self.leases().len()
    }
}

/// The priors, and the last operation before the priors were learned.
struct PriorsAsOf {
    learned: LearnedPriors,
    sequence: u64,
    pages: u64,
}

/// The divisor of the number of pages for learning again: priors are learned again after
/// `pages / LEARN_PART` operations, but not before `LEARN_MIN` operations.
const LEARN_PART: u64 = 8;
const LEARN_MIN: u64 = 256;

/// Returns the priors of a snapshot, or the priors of a recent snapshot.
fn learned(session: &mut LeaseSession<'_>, snapshot: &Snapshot) -> Result<LearnedPriors> {
    let passed = |of: &PriorsAsOf| snapshot.sequence().saturating_sub(of.sequence);
    // Learning reads all rows. The priors change little over few operations.
    let is_recent = |of: &&PriorsAsOf| passed(of) <= (of.pages / LEARN_PART).max(LEARN_MIN);
    let kept = session.scheduler_state();
    let of = kept.as_ref().and_then(|kept| kept.downcast_ref::<PriorsAsOf>());
    if let Some(of) = of.filter(is_recent) {
        return Ok(of.learned.clone());
    }
    let pages = StoreTotals::of(snapshot)?.pages;
    let (learned, sequence) = (LearnedPriors::kept(snapshot)?, snapshot.sequence());
    *kept = Some(Box::new(PriorsAsOf { learned: learned.clone(), sequence, pages }));
    Ok(learned)
}

/// Leases the best pages that are not leased yet.
pub(crate) fn lease_best(db: &Db, due: &Due, lease: Interval) -> Result<Vec<Decision>> {
    db.core.lifecycle.check()?;
    // The session holds a lock until it is dropped. Only one thread at a time selects pages, so no
    // page is leased twice.
    let mut session = db.leases.start_session(due.now);
    let out = db.leases.len();
    let room = db.core.options.leases_max.saturating_sub(out);
    let wanted = due.budget.min(room);
    // Leased pages are still due in the snapshot, so the budget is enlarged by their number.
    let mut asked = due.clone().budget(wanted.saturating_add(out));
    let mut pages = Vec::new();
    // The snapshot must come after `take`, because the session records each lease that ends after
    // `take`. A lease that ends later may end with a visit that the snapshot does not contain, so
    // its page must not be leased again.
    let snapshot = db.core.live.snapshot();
    snapshot.view.check()?;
    if asked.learned.is_none() {
        asked.learned = Some(learned(&mut session, &snapshot)?);
    }
    for page in snapshot.due(&asked) {
        let page = page?;
        // The value is 0 for pages that were visited just now, and for failing pages that wait.
        if pages.len() == wanted || page.value <= 0.0 {
            break;
        }
        if !session.is_leased(&page.page.url) {
            pages.push(page);
        }
    }
    let until = Time::from_ms_unchecked(
        due.now.as_ms().saturating_add_unsigned(lease.seconds().saturating_mul(1000)),
    );
    // Leases start only after all pages were read, so after an error no page stays leased.
    pages.iter().for_each(|page| session.lease(&page.page.url, until));
    Ok(pages)
}
