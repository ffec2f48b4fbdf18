//! Changes of clusters between two times: which pages have another leader, and why.

use std::cmp::Ordering;
use std::sync::Arc;

use super::clustering::Clustering;
use super::clusters::{ClusteredPage, ClusteredPages, Clusters};
use crate::bug::{Bug, OrBug};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::surt;
use crate::progress::Progress;
use crate::time::Time;

/// The clusters of two times, from [`ClusterChanges::between`].
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{ClusterChanges, Clustering};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms?print=1` was near `/terms`, and changes at 4 ms.
/// let url = "https://example.com/terms?print=1";
/// store.observe(Observation::content(url, Time::from_ms(4)?, 0xffff, epoch))?;
/// let (asked, from) = (Clustering::within(3), Time::from_ms(3)?);
/// let changes =
///     ClusterChanges::between(&store.snapshot(), &asked, from, None, &Progress::default())?;
/// assert_eq!((changes.before().len(), changes.after().len()), (2, 3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClusterChanges {
    before: Clusters,
    after: Clusters,
}

/// A page whose leader changed.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{ClusterChanges, Clustering};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms?print=1` was near `/terms`, and changes at 4 ms.
/// let url = "https://example.com/terms?print=1";
/// store.observe(Observation::content(url, Time::from_ms(4)?, 0xffff, epoch))?;
/// let (asked, from) = (Clustering::within(3), Time::from_ms(3)?);
/// let changes =
///     ClusterChanges::between(&store.snapshot(), &asked, from, None, &Progress::default())?;
/// for change in changes.iter()? {
///     let change = change?;
///     assert_eq!(change.before.as_deref(), Some("https://example.com/terms"));
///     assert_eq!(change.after.as_deref(), Some(url)); // the page leads a cluster of its own
/// }
/// # assert_eq!(changes.iter()?.count(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterChange {
    /// The page.
    pub url: Arc<str>,
    /// The leader of the page at the earlier time, perhaps the page itself; `None` if the page was
    /// in no cluster.
    pub before: Option<Arc<str>>,
    /// The leader of the page at the later time; `None` if the page is in no cluster.
    pub after: Option<Arc<str>>,
    /// The reason for the change.
    pub reason: LeaderChangeReason,
}

/// The reason why a page has another leader.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{ClusterChanges, Clustering, LeaderChangeReason};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms?print=1` was near `/terms`, and changes from 0b1 to 0xffff at 4 ms.
/// let url = "https://example.com/terms?print=1";
/// store.observe(Observation::content(url, Time::from_ms(4)?, 0xffff, epoch))?;
/// let (asked, from) = (Clustering::within(3), Time::from_ms(3)?);
/// let changes =
///     ClusterChanges::between(&store.snapshot(), &asked, from, None, &Progress::default())?;
/// let change = changes.iter()?.next().unwrap()?;
/// assert_eq!(change.reason, LeaderChangeReason::Changed { bits: Some(15) });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeaderChangeReason {
    /// The page had no current version at the earlier time.
    New,
    /// The page has no current version at the later time.
    Gone,
    /// The page itself changed.
    Changed {
        /// The distance between the page's two versions, in bits; `None` if one of them has no
        /// fingerprint.
        bits: Option<u32>,
    },
    /// The page's former leader has no current version any more.
    LeaderGone,
    /// The page's former leader changed.
    LeaderChanged {
        /// The distance between the leader's two versions, in bits; `None` if one of them has no
        /// fingerprint.
        bits: Option<u32>,
    },
    /// The page and its former leader are unchanged. Other pages came or went, or now rank before
    /// one of the two.
    Outranked,
}

impl ClusterChanges {
    /// Compares the clusters of two times; `None` is the present. Costs [`Clustering::run`] twice,
    /// each with half of the memory. Forgotten pages are missing at both times.
    ///
    /// ```
    /// use simkeep::cluster::ClusterChanges;
    /// use simkeep::cluster::{Clustering, LeaderChangeReason};
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (time, url, fingerprint) in [(1, "a", 0b00), (2, "b", 0b01), (3, "a", 0xffff)] {
    ///     store.observe(Observation::content(url, Time::from_ms(time)?, fingerprint, epoch))?;
    /// }
    /// let asked = Clustering::within(3);
    /// let (from, progress) = (Time::from_ms(2)?, Progress::default());
    /// let changes = ClusterChanges::between(&store.snapshot(), &asked, from, None, &progress)?;
    /// let all: Vec<_> = changes.iter()?.collect::<Result<_, _>>()?;
    /// assert_eq!(all.len(), 1);
    /// assert_eq!((&*all[0].url, all[0].before.as_deref()), ("b", Some("a")));
    /// assert_eq!(all[0].reason, LeaderChangeReason::LeaderChanged { bits: Some(16) });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Clustering::run`].
    pub fn between(
        snapshot: &Snapshot,
        asked: &Clustering,
        from: impl Into<Time>,
        to: Option<Time>,
        progress: &Progress,
    ) -> Result<ClusterChanges> {
        // Both clusterings are alive at the same time.
        let asked = asked.clone().memory_bytes(asked.memory() / 2);
        let before = asked.clone().at(from.into()).run(snapshot, progress)?;
        let after = asked.at(to).run(snapshot, progress)?;
        Ok(ClusterChanges { before, after })
    }

    /// The clusters of the earlier time.
    pub fn before(&self) -> &Clusters {
        &self.before
    }

    /// The clusters of the later time.
    pub fn after(&self) -> &Clusters {
        &self.after
    }

    /// Iterates over the pages whose leader changed, in SURT order.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{ClusterChanges, Clustering, LeaderChangeReason};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // `/about` was seen at 3 ms.
    /// let (asked, from) = (Clustering::within(3), Time::from_ms(2)?);
    /// let changes =
    ///     ClusterChanges::between(&store.snapshot(), &asked, from, None, &Progress::default())?;
    /// let all: Vec<_> = changes.iter()?.collect::<Result<_, _>>()?;
    /// assert_eq!((&*all[0].url, all[0].reason), ("https://example.com/about", LeaderChangeReason::New));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An error if a scratch file cannot be written, or is damaged.
    pub fn iter(&self) -> Result<ClusterChangesIter<'_>> {
        // The pages of both times come in SURT order, so `find` merges them as two sorted lists.
        let [before, after] = [&self.before, &self.after].map(|of| of.by_page(1));
        let mut changes = ClusterChangesIter {
            changes: self,
            before: PagesAtTime { pages: before?, next: None },
            after: PagesAtTime { pages: after?, next: None },
        };
        changes.before.advance()?;
        changes.after.advance()?;
        Ok(changes)
    }
}

/// An iterator over the pages whose leader changed, from [`ClusterChanges::iter`]. The iterator
/// ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{ClusterChanges, Clustering};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// let (asked, from) = (Clustering::within(3), Time::from_ms(3)?);
/// let changes =
///     ClusterChanges::between(&store.snapshot(), &asked, from, None, &Progress::default())?;
/// for change in changes.iter()? {
///     let change = change?;
///     println!("{}: {:?}", change.url, change.reason);
/// }
/// assert_eq!(changes.iter()?.count(), 0); // nothing has changed since
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ClusterChangesIter<'c> {
    changes: &'c ClusterChanges,
    before: PagesAtTime<'c>,
    after: PagesAtTime<'c>,
}

/// What became of a page between the two times.
enum PageChange {
    /// The page is in no cluster any more.
    Gone,
    Unchanged,
    Changed {
        /// As in [`LeaderChangeReason::Changed`].
        bits: Option<u32>,
    },
}

impl PageChange {
    /// The change of a page by a distance in bits, if it is known.
    fn by(bits: Option<u32>) -> PageChange {
        match bits {
            Some(0) => PageChange::Unchanged,
            bits => PageChange::Changed { bits },
        }
    }
}

/// The pages of one time. The next page and its key are read ahead.
#[derive(Debug)]
struct PagesAtTime<'c> {
    pages: ClusteredPages<'c>,
    next: Option<(Vec<u8>, ClusteredPage)>,
}

impl PagesAtTime<'_> {
    /// Returns the page that was read ahead, and reads the next page.
    fn advance(&mut self) -> Result<Option<ClusteredPage>> {
        let next = self.pages.next().transpose()?;
        let next = next.map(|page| (surt::key_of(&page.url), page));
        Ok(std::mem::replace(&mut self.next, next).map(|(_, page)| page))
    }

    fn place(&self) -> Option<(&[u8], &str)> {
        self.next.as_ref().map(|(key, page)| (key.as_slice(), &*page.url))
    }
}

impl ClusterChangesIter<'_> {
    fn find(&mut self) -> Result<Option<ClusterChange>> {
        loop {
            // Two URLs may have the same SURT key, so places compare by key and then by URL.
            let order = match (self.before.place(), self.after.place()) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(before), Some(after)) => before.cmp(&after),
            };
            // Equal positions belong to one page, so both sides advance.
            let before = if order.is_le() { self.before.advance()? } else { None };
            let after = if order.is_ge() { self.after.advance()? } else { None };
            let reason = match (&before, &after) {
                (Some(before), Some(after)) if before.leader == after.leader => continue,
                (Some(before), Some(after)) => self.reason(before, after)?,
                (None, _) => LeaderChangeReason::New,
                (_, None) => LeaderChangeReason::Gone,
            };
            let page = before.as_ref().or(after.as_ref());
            let url = Arc::clone(&page.or_bug("a change has a page before or after")?.url);
            let [before, after] = [before, after].map(|page| page.map(|page| page.leader));
            return Ok(Some(ClusterChange { url, before, after, reason }));
        }
    }

    /// The reason why a page that is in a cluster at both times has another leader.
    fn reason(&self, before: &ClusteredPage, after: &ClusteredPage) -> Result<LeaderChangeReason> {
        // The first reason that applies is reported: the page's own change comes before its old
        // leader's change.
        let own = match (before.fingerprint, after.fingerprint) {
            (Some(then), Some(now)) => PageChange::by(Some((then ^ now).count_ones())),
            _ => self.change_of(&before.url)?,
        };
        match own {
            PageChange::Unchanged => {}
            PageChange::Changed { bits } => return Ok(LeaderChangeReason::Changed { bits }),
            PageChange::Gone => {
                return Err(Bug::new("the page had a version in force at the later time").into());
            }
        }
        Ok(match self.change_of(&before.leader)? {
            PageChange::Gone => LeaderChangeReason::LeaderGone,
            PageChange::Changed { bits } => LeaderChangeReason::LeaderChanged { bits },
            PageChange::Unchanged => LeaderChangeReason::Outranked,
        })
    }

    /// The change of a page that was in a cluster at the earlier time.
    fn change_of(&self, url: &str) -> Result<PageChange> {
        let [then, now] = [&self.changes.before, &self.changes.after].map(|of| of.in_force(url));
        let then = then?.or_bug("the page had a version in force at the earlier time")?;
        let Some(now) = now? else { return Ok(PageChange::Gone) };
        Ok(PageChange::by(then.distance_to(&now)))
    }
}

impl Iterator for ClusterChangesIter<'_> {
    type Item = Result<ClusterChange>;

    fn next(&mut self) -> Option<Result<ClusterChange>> {
        let found = self.find();
        if found.is_err() {
            // With both sides empty, `find` returns `None`: the iterator ends after an error.
            (self.before.next, self.after.next) = (None, None);
        }
        found.transpose()
    }
}
