//! Forgetting pages: at once in every query, and on request in every file.

use std::sync::Arc;

use crate::disk::Dir;
use crate::engine::compaction::Purge;
use crate::engine::component::{ComponentId, page_with_changes_across};
use crate::engine::db::Db;
use crate::engine::delta::page_delta;
use crate::engine::journal;
use crate::engine::journal::JournalPage;
use crate::engine::live_segment::LiveSegment;
use crate::engine::lookup::Lookup;
use crate::engine::results::{Forgotten, Page};
use crate::engine::snapshot::Snapshot;
use crate::engine::store::Store;
use crate::engine::totals::StoreTotals;
use crate::engine::view::View;
use crate::engine::write::admission::WriterState;
use crate::error::{Error, Result};
use crate::layout::Delta;
use crate::page::{PageHead, PageState, Prefix, UserInfoPages, surt};
use crate::progress::{Progress, Stage};
use crate::query::page_range::PageRange;
use crate::query::scan::Scan;
use crate::segment::PageCursor;
use crate::url::check_url;

/// The pages to forget with [`Store::forget`](crate::Store::forget).
///
/// ```
/// # use simkeep::{Observation, Options, Prefix, Scope, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/docs/a", Time::now()))?;
/// let docs = Prefix::parse("example.com/docs")?;
/// assert_eq!(store.forget(Scope::Prefix(docs))?.pages, 1);
/// assert_eq!(store.forget(Scope::Url("https://example.com/docs/a"))?.pages, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope<'a> {
    /// One page.
    Url(&'a str),
    /// Every page under a prefix. If the prefix is a host or a path, the scope also includes pages
    /// of the host with user information in their URLs that would be under the prefix without the
    /// user information. For example, `http://user:secret@example.com/docs` is forgotten with
    /// `example.com/docs`.
    Prefix(Prefix),
}

/// The maximum number of pages with user information to forget in one commit.
const USER_PAGES: usize = 1 << 10;

/// The maximum number of pages with user information to examine while writers wait.
const SCANNED_PAGES: usize = 1 << 14;

/// Hides everything observed so far under a URL or prefix.
///
/// No tombstone covers pages with user information before the host of a path, so a separate
/// operation forgets each of these pages. Up to [`USER_PAGES`] such operations become durable with
/// the prefix, in one commit; more follow in further commits. After a crash or an error between two
/// commits, the call must be repeated.
pub(crate) fn forget(db: &Db, scope: &Scope<'_>) -> Result<Forgotten> {
    let Db { core, admission, sealer, committer, .. } = db;
    if let Scope::Url(url) = scope {
        check_url(url)?;
    }
    let users = scope.users();
    let mut forgotten = Forgotten::default();
    let mut after = None;
    loop {
        let mut writer = admission.admit(|| sealer.seal_waiting().map(drop))?;
        let part = ForgetBatch { scope, users: users.as_ref(), after: after.as_deref() };
        // Runs under the lock, so that no other writer continues from the state after a bug.
        let (done, rest) =
            core.lifecycle.poison_on_bug(part.forget(&core.live.view(), &mut writer))?;
        let sequence = writer.next_sequence - 1;
        if done.pages > 0 {
            // Commits here if the operations are too many to wait for a flush.
            committer.applied(writer)?;
            committer.acknowledge(sequence)?;
        } else {
            drop(writer);
        }
        forgotten.pages += done.pages;
        forgotten.visits += done.visits;
        if rest.is_none() {
            return Ok(forgotten);
        }
        after = rest;
    }
}

/// The pages to forget under one lock.
struct ForgetBatch<'a> {
    scope: &'a Scope<'a>,
    users: Option<&'a UserInfoPages>,
    /// The last examined page with user information; `None` at first.
    after: Option<&'a str>,
}

impl ForgetBatch<'_> {
    /// Forgets the pages of one batch. Returns the last examined page if the next batch must
    /// continue after it.
    fn forget(
        &self,
        view: &Arc<View>,
        writer: &mut WriterState,
    ) -> Result<(Forgotten, Option<String>)> {
        // If the pages cannot be read, nothing is forgotten.
        let (urls, rest) = match self.users {
            Some(users) => user_pages(view, users, self.after)?,
            None => (Vec::new(), None),
        };
        let mut forgotten = match self.after {
            None => apply(view, writer, self.scope)?,
            Some(_) => Forgotten::default(),
        };
        for url in &urls {
            let page = apply(view, writer, &Scope::Url(url))?;
            forgotten.pages += page.pages;
            forgotten.visits += page.visits;
        }
        Ok((forgotten, rest))
    }
}

/// Returns the pages with user information after a URL: at most [`USER_PAGES`], found among
/// [`SCANNED_PAGES`]. Also returns the last examined page, if more pages may follow.
fn user_pages(
    view: &Arc<View>,
    users: &UserInfoPages,
    after: Option<&str>,
) -> Result<(Vec<String>, Option<String>)> {
    // The snapshot includes everything applied so far, acknowledged or not.
    let now = Snapshot::new(Arc::clone(view), u64::MAX);
    let mut scan = Scan::new(&now, users_range(users).start_after(after));
    let mut urls = Vec::new();
    for scanned in 1.. {
        // Skipping a page that was forgotten before takes as long as examining another page.
        let next = scan.next_with(|scan| {
            let is_known = users.contains(scan.key())
                && page_with_changes_across(|| scan.key(), || scan.parts(), scan.epochs())?
                    .is_some();
            Ok(Some((scan.url()?.to_owned(), is_known)))
        });
        let Some(page) = next else { break };
        let (url, is_known) = page?;
        if is_known {
            urls.push(url.clone());
        }
        if urls.len() == USER_PAGES || scanned == SCANNED_PAGES {
            return Ok((urls, Some(url)));
        }
    }
    Ok((urls, None))
}

impl Scope<'_> {
    /// The pages with user information that are forgotten with this scope although its prefix does
    /// not cover them.
    pub(crate) fn users(&self) -> Option<UserInfoPages> {
        match self {
            Scope::Prefix(prefix) => prefix.user_info_pages(),
            Scope::Url(_) => None,
        }
    }

    /// Iterates over the pages that [`Store::forget`](crate::Store::forget) and
    /// [`Store::purge`](crate::Store::purge) would forget: a page, or the pages under a prefix. A
    /// prefix with a path includes pages of its host with user information that would be under the
    /// prefix without the user information. Pages come in SURT order, and pages with user
    /// information come last.
    ///
    /// Reads lazily, as [`scan`](Snapshot::scan) does. If pages of a host have user information,
    /// the iterator reads all of these pages.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Prefix, Scope, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// for url in ["http://example.com/a/b", "http://me:secret@example.com/a", "http://example.com/c"] {
    ///     store.observe(Observation::gone(url, Time::now()))?;
    /// }
    /// let scope = Scope::Prefix(Prefix::parse("example.com/a")?);
    /// assert_eq!(scope.pages(&store.snapshot()).count(), 2);
    /// assert_eq!(store.forget(scope)?.pages, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if its data is damaged, and [`Error::Url`] for a URL that no
    /// page can have.
    pub fn pages(&self, snapshot: &Snapshot) -> impl Iterator<Item = Result<Page>> + use<> {
        let (page, prefix) = match self {
            Scope::Url(url) => (snapshot.latest(url).transpose(), None),
            Scope::Prefix(prefix) => (None, Some(snapshot.scan(Some(prefix)))),
        };
        let users = self.users();
        let of_users = users.as_ref().map(|users| Scan::new(snapshot, users_range(users)));
        let is_of_user = move |page: &Result<Page>| match (page, &users) {
            (Ok(page), Some(users)) => users.contains(&surt::key_of(&page.url)),
            _ => true,
        };
        let of_users = of_users.into_iter().flatten().filter(is_of_user);
        page.into_iter().chain(prefix.into_iter().flatten()).chain(of_users)
    }
}

/// The range that contains the pages with user information.
fn users_range(users: &UserInfoPages) -> PageRange<'_> {
    let (from, to) = users.range();
    PageRange::all().under(users.domain()).keys(from, to)
}

/// Hides pages under the write lock. Adds no operation if there is nothing to forget.
fn apply(view: &Arc<View>, writer: &mut WriterState, scope: &Scope<'_>) -> Result<Forgotten> {
    let active = &view.memtables.active;
    let sequence = writer.next_sequence;
    // The counts of pages and visits in older components may be wrong.
    let too_many = || {
        let what = "the segments have more pages or visits than can be counted";
        Error::corrupt("segments", 0, what)
    };
    let check = |known: Option<Delta>| -> Result<(Delta, StoreTotals)> {
        let known = known.filter(|known| active.read().can_lose(*known)).ok_or_else(too_many)?;
        Ok((known, StoreTotals::from_delta(known).ok_or_else(too_many)?))
    };
    // The snapshot includes everything applied so far, acknowledged or not.
    let now = Snapshot::new(Arc::clone(view), u64::MAX);
    let forgotten = match scope {
        Scope::Url(url) => {
            let lookup = Lookup::new(url, view.seed);
            let known = view.locate_page(&lookup, u64::MAX)?;
            let Some(head) = &known.head else { return Ok(Forgotten::default()) };
            let (delta, counted) = check(head_counted(head))?;
            let number = active.read().find(lookup.hash, url, u64::MAX);
            let page = match number {
                Some(number) => JournalPage::Known(number),
                None => JournalPage::New { url, earlier: true, head: &[] },
            };
            writer.pending.push(active.journal, sequence, |out| {
                journal::put_forget_url(out, &page, &counted);
            })?;
            let mut inner = active.write();
            let number = match number {
                Some(number) => number,
                None => inner.add_page(sequence, url, lookup.hash, true, &[])?,
            };
            inner.forget_page(sequence, number, delta)?;
            Forgotten { pages: 1, visits: counted.visits }
        }
        Scope::Prefix(prefix) => {
            let mut known = Some(Delta::default());
            let mut scan = now.scan(Some(prefix));
            while let Some(page) = scan.next_with_changes() {
                let (_, page) = page?;
                known = known.and_then(|known| known.plus(head_counted(&page.head)?));
            }
            let (delta, counted) = check(known)?;
            if counted.pages == 0 {
                return Ok(Forgotten::default());
            }
            writer.pending.push(active.journal, sequence, |out| {
                journal::put_forget_prefix(out, prefix, &counted);
            })?;
            active.write().forget_prefix(sequence, prefix.clone(), delta)?;
            Forgotten { pages: counted.pages, visits: counted.visits }
        }
    };
    writer.next_sequence += 1;
    Ok(forgotten)
}

/// Whether a segment has pages in a scope, forgotten or not.
pub(crate) fn holds(live: &LiveSegment, scope: &Scope<'_>, seed: u64) -> Result<bool> {
    match scope {
        Scope::Url(url) => {
            let lookup = Lookup::new(url, seed);
            Ok(live.segment.find(lookup.hash, url)?.is_some())
        }
        Scope::Prefix(prefix) => {
            let from = live.segment.lower_bound(prefix.range().0)?;
            if from < live.segment.lower_bound(prefix.range().1)? {
                return Ok(true);
            }
            prefix.user_info_pages().map_or(Ok(false), |users| holds_user(live, &users))
        }
    }
}

/// Whether a segment has a page with the user information of `users`.
fn holds_user(live: &LiveSegment, users: &UserInfoPages) -> Result<bool> {
    let (first, past) = users.range();
    let from = live.segment.lower_bound(first)?;
    let mut cursor = PageCursor::new(Arc::clone(&live.segment), from)?;
    while cursor.advance()? && cursor.key() < past {
        if users.contains(cursor.key()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The contribution of a page with this head to the totals.
fn head_counted(head: &PageHead) -> Option<Delta> {
    let visits = i64::try_from(head.visits).ok()?;
    Some(page_delta(PageState::of(Some(head)), visits))
}

/// Forgets pages and rewrites the files that contain them: each segment that has pages under the
/// scope, each segment with a tombstone of the scope, and the catalog.
pub(crate) fn purge(db: &Db, scope: &Scope<'_>, progress: &Progress) -> Result<Forgotten> {
    let Db { core, sealer, compactor, publisher, .. } = db;
    progress.start(Stage::Merging, None)?;
    let forgotten = forget(db, scope)?;
    sealer.seal_all()?;
    let merging = compactor.begin()?;
    let users = scope.users();
    let covers = |url: &str, key: &[u8]| match scope {
        Scope::Url(wanted) => url == *wanted,
        Scope::Prefix(prefix) => {
            prefix.contains(key) || users.as_ref().is_some_and(|users| users.contains(key))
        }
    };
    let segments = core.live.view().segments.to_vec();
    progress.begin(Stage::Merging, Some(segments.iter().map(|live| live.steps()).sum()));
    // Oldest first: once no older segment has data of the scope, newer segments need no tombstone
    // for it.
    for (number, live) in (0..).zip(&segments) {
        let id = ComponentId::Segment(number);
        let mut concerned = holds(live, scope, core.live.view().seed)?;
        // Older segments have no data left for tombstones within the scope either.
        let within = |t: &Prefix| matches!(scope, Scope::Prefix(prefix) if prefix.covers(t));
        let done: Vec<u64> =
            live.tombstones.iter().filter(|t| within(&t.prefix)).map(|t| t.sequence).collect();
        concerned |= !done.is_empty();
        if concerned {
            // Data observed after forgetting is in force and stays.
            let view = core.live.view();
            let keep = |url: &str, key: &[u8]| -> Result<bool> {
                if !covers(url, key) {
                    return Ok(false);
                }
                let lookup = Lookup::new(url, view.seed);
                Ok(view.locate_page(&lookup, u64::MAX)?.head.is_none()
                    || view.forgotten(&lookup, u64::MAX, id)?)
            };
            let purge = Purge { done: &done, hidden: &keep };
            merging.merge(std::slice::from_ref(live), &purge, &|steps| progress.step(steps))?;
        } else {
            progress.pass(live.steps());
        }
    }
    // Dropping the last of these segments removed the old files; the removal, too, must survive a
    // crash.
    drop(segments);
    publisher.release_all();
    let synced = core.disk.sync_dir(Dir::Segments);
    synced.map_err(|e| core.poison(Error::io("sync the directory of", "segments", e)))?;
    core.rewrite_catalog()?;
    progress.finish();
    Ok(forgotten)
}

#[cfg(test)]
mod tests;

impl Store {
    /// Forgets everything observed so far about a page, or about all pages under a prefix. Every
    /// query hides the pages at once. Later observations start a new history.
    /// [`Scope::pages`](crate::Scope::pages) lists the pages that would be forgotten.
    ///
    /// Merges later remove the bytes from the files; [`purge`](Store::purge) removes them right
    /// away. Costs a commit and, for a prefix, a scan of the pages under it, during which writers
    /// wait.
    ///
    /// With a host or path, pages with user information in their URLs are forgotten one by one, at
    /// most 1,024 in each commit, and writers wait while at most 16,384 pages of the host are
    /// examined. If the host has more such pages, some may remain after a crash. Later lookups pay
    /// a binary search in each segment among the forgotten prefixes.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Scope, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/me";
    /// store.observe(Observation::gone(url, Time::now()))?;
    /// store.forget(Scope::Url(url))?;
    /// assert!(store.history(url)?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe`](Store::observe). After an error, some of the pages may be
    /// forgotten; call again.
    pub fn forget(&self, scope: Scope<'_>) -> Result<Forgotten> {
        self.change(|db| forget(db, &scope))
    }

    /// Forgets pages, and rewrites every file that contains bytes of these pages. When this call
    /// returns, no file of the store contains the URLs, except files that a snapshot still has
    /// open. These files are removed with the snapshot, or by the next open if the snapshot
    /// outlives the store. Costs a rewrite of each segment with such pages.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Scope, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/me";
    /// store.observe(Observation::gone(url, Time::now()))?;
    /// let purged = store.purge(Scope::Url(url), &Progress::default())?;
    /// assert_eq!(purged.visits, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`observe`](Store::observe), and [`Error::Cancelled`] if `progress` was
    /// cancelled. Even after an error the pages may be forgotten, with some of their bytes left in
    /// files; call again.
    pub fn purge(&self, scope: Scope<'_>, progress: &Progress) -> Result<Forgotten> {
        self.change(|db| purge(db, &scope, progress))
    }
}
