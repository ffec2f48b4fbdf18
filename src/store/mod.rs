//! The store: observations in, verdicts and histories out.
//!
//! An observation is looked up, judged and applied in memory, then journalled in one commit with
//! others that came at the same time; there it is durable and acknowledged. A full memtable is
//! sealed into a segment beside the running store, and neighbouring segments are merged into
//! larger ones. Readers take a [`Snapshot`] and wait for none of this.

mod admission;
mod ahead;
mod answer;
mod ask;
mod base;
mod committer;
mod compaction;
mod compactor;
mod component;
mod epochs;
mod forget;
mod handle;
mod journal;
mod judged;
mod lifecycle;
mod listed;
mod live;
mod live_segment;
mod load;
mod lookup;
mod memtable;
mod memtables;
mod new_segment;
mod observations;
mod observe;
mod open;
mod options;
mod origin;
mod pending;
mod poison;
mod publisher;
mod query;
mod read;
mod reader;
mod registry;
mod repair;
mod request;
mod scan;
mod sealer;
mod search;
mod shared;
mod snapshot;
mod stale;
mod stamps;
mod verify;
mod view;

use std::sync::Arc;

pub use answer::{
    Answer, ExactCopy, Forgotten, History, HistoryEntry, Merged, Outcome, Page, SegmentStats, Stats,
};
pub use load::{LoadEpochs, LoadOptions, Loaded, Loading, Observed, Stage};
pub use observations::Observations;
pub use options::{Durability, Options};
pub use origin::Origin;
pub use query::{ComponentSearch, Explanation, Matches, Near, NearPair, Query, Versions};
pub use reader::Reader;
pub use repair::{Loss, RepairOptions, Repaired, repair, repair_on};
pub use scan::Scan;
pub use snapshot::Snapshot;
pub use stale::{Stale, StalePage};
pub use verify::{Verified, VerifyOptions, Verifying, verify, verify_on};

use self::handle::Handle;
use self::shared::Shared;
use crate::bug::{Bug, OrBug};
use crate::error::{Error, Result};
use crate::page::{Observation, Prefix, Request};

/// What [`Store::forget`] applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// One page.
    Url(&'a str),
    /// Every page under a prefix.
    Prefix(Prefix),
}

/// An open store.
///
/// Cheap to clone and safe to share between threads: all clones are handles of the same store. Many
/// threads may observe at once; their operations become durable together. When the last handle is
/// dropped the store is closed as by [`close`](Store::close), errors aside.
///
/// The store belongs to the process that opened it. In one that is forked from that, whatever writes
/// is [`Error::Forked`] before anything is written, and dropping the store only closes its files; the
/// lock stays the first process's. Reading goes on with what there was, unless another thread was just
/// writing, which is [`Error::Forked`] too. A process that is forked out of a callback of
/// [`load`](Store::load) is to end, or to run another program: the threads of the load are not there.
///
/// ```
/// use simkeep::{Observation, Options, Store, Verdict, fingerprint};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("crawl.simkeep");
/// let store = Store::create(&path, Options::default())?;
/// let epoch = store.register_epoch(fingerprint::RECIPE)?;
/// let text = "The quick brown fox jumps over the lazy dog, and runs away";
/// let seen = fingerprint::of_text(text);
///
/// let outcome = store.observe(Observation::content("https://example.com/", 0, seen, epoch))?;
/// assert_eq!(outcome.verdict, Verdict::New);
///
/// // Another page with the same text is a near-duplicate of the first.
/// let outcome = store.observe(Observation::content("https://example.org/", 5, seen, epoch))?;
/// assert_eq!(outcome.near[0].url, "https://example.com/");
/// assert_eq!(outcome.near[0].distance, 0);
/// store.close()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    handle: Arc<Handle>,
}

impl Store {
    /// Tells the store of one visit; answers what the page is now, and which other pages are copies
    /// or near. Durable when this returns, unless [`Options::durability`] says otherwise.
    ///
    /// Costs a lookup of the page and a search of every segment, some microseconds together, and a
    /// share of a commit: two to three syncs for all calls that wait at the same time. Waits while
    /// the memtable is full and the one before it is still being sealed.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], [`Error::Time`], [`Error::UnknownEpoch`], [`Error::EndedEpoch`]: nothing was
    /// stored.
    /// [`Error::Corrupt`] if a page needed for the answer is damaged: nothing was stored.
    /// [`Error::Io`] if the commit failed: whether it is stored shows when the store is opened
    /// again, and until then nothing more is accepted ([`Error::Poisoned`]).
    pub fn observe(&self, observation: Observation<'_>) -> Result<Outcome> {
        let mut outcomes = self.observe_batch(std::slice::from_ref(&observation))?;
        Ok(outcomes.pop().or_bug("each observation has an outcome")?)
    }

    /// Tells the store of many visits, one after another: each is judged after those before it.
    ///
    /// Durable together, in one commit or a few. If one of them cannot be stored as it is (its URL,
    /// time or epoch), none is.
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe). After [`Error::Corrupt`] those before the one that could
    /// not be judged are stored, and the rest is not; to observe all again is harmless.
    pub fn observe_batch(&self, observations: &[Observation<'_>]) -> Result<Vec<Outcome>> {
        let requests: Vec<_> = observations.iter().copied().map(Request::Observe).collect();
        self.answered(&requests, Answer::observed)
    }

    /// Observes and restates, one after another: each is judged after those before it. Durable
    /// together, in one commit or a few. If one of them cannot be stored as it is (its URL, time or
    /// epoch), none is.
    ///
    /// # Errors
    ///
    /// Those of [`observe_batch`](Store::observe_batch).
    pub fn request_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Answer>> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.change(|shared| shared.request(requests))
    }

    /// The answers to requests of one kind.
    fn answered<T>(
        &self,
        requests: &[Request<'_>],
        each: fn(Answer) -> Result<T, Bug>,
    ) -> Result<Vec<T>> {
        let answers = self.request_batch(requests)?.into_iter().map(each);
        answers.collect::<Result<_, Bug>>().map_err(Error::from)
    }

    /// Takes many observations at once, in any order, without a search and without the journal: an
    /// existing corpus, or what another store has. All of them are stored when this returns, or
    /// none; the store is then what it were if each had been observed.
    ///
    /// Some ten times as fast as [`observe_batch`](Store::observe_batch). Each observation is
    /// written once to a scratch file, some 70 bytes with a URL of 50, and once to a segment, some
    /// 110 with its tables; one sync of the segment for every 64 MiB, and one commit. Memory as the
    /// options say.
    ///
    /// Readers go on and see nothing of it until all is there. Observing and forgetting go on while
    /// observations are taken ([`Stage::Gathering`]); then they wait until the load is done. One
    /// load goes on at a time, and [`close`](Store::close) waits for it to stop.
    ///
    /// ```
    /// use simkeep::{LoadOptions, Observation, Options, Store, fingerprint};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let store = Store::create(&path, Options::default())?;
    /// let epoch = store.register_epoch(fingerprint::RECIPE)?;
    /// let corpus = [("https://example.com/", 17), ("https://example.org/", 4)];
    /// let observations = corpus.iter().map(|(url, print)| {
    ///     Ok(Observation::content(url, 1_700_000_000_000, *print, epoch))
    /// });
    /// let loaded = store.load(observations, LoadOptions::default())?;
    /// assert_eq!((loaded.pages, loaded.segments), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`] if an observation is an error or cannot be stored as it is (its URL, time or
    /// epoch): it says which one. [`Error::Cancelled`] if the callback said so. [`Error::Io`] if a
    /// file could not be written, [`Error::Corrupt`] if a page that the store had could not be read.
    /// In all these cases nothing is stored, and the store goes on. [`Error::Io`] of the commit is
    /// as for [`observe`](Store::observe).
    pub fn load<O: Observed>(
        &self,
        observations: impl IntoIterator<Item = Result<O>>,
        options: LoadOptions<'_>,
    ) -> Result<Loaded> {
        self.call(|shared| load::load(shared, observations.into_iter(), options))
    }

    /// Loads everything that is seen of another store. Epochs are those of the same name; new ones come
    /// with their tables of document frequencies, and begin when the load is done ([`LoadEpochs::of`]).
    ///
    /// ```
    /// use simkeep::{LoadOptions, Options, Reader, Store};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let (old, new) = (dir.path().join("old.simkeep"), dir.path().join("new.simkeep"));
    /// # drop(Store::create(&old, Options::default())?);
    /// let old = Reader::open(old)?;
    /// let new = Store::open_or_create(new, Options::default())?;
    /// new.copy_from(&old, LoadOptions::default())?;
    /// assert_eq!(new.stats()?.visits, old.stats()?.visits);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`load`](Store::load) and [`register_epoch`](Store::register_epoch).
    pub fn copy_from(&self, other: &Snapshot, options: LoadOptions<'_>) -> Result<Loaded> {
        let LoadOptions { memory_bytes, segment_pages, epochs, watch } = options;
        let own = LoadEpochs::default();
        let epochs = epochs.unwrap_or(&own);
        let observations = other.observations().renumbered(epochs.of(other)?);
        let watch = watch.map(|watch| watch as _);
        let options = LoadOptions { memory_bytes, segment_pages, epochs: Some(epochs), watch };
        self.load(observations, options)
    }

    /// Hides everything observed so far of a page, or of all pages under a prefix, at once: in
    /// histories and in `near`. What is observed later starts anew.
    ///
    /// The bytes go when merges reach them; [`purge`](Store::purge) does not wait for that. Costs a
    /// commit, and for a prefix a scan of the pages under it, which writers wait for. However many
    /// prefixes were forgotten, a lookup pays a binary search among them in each segment.
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe).
    pub fn forget(&self, scope: Scope<'_>) -> Result<Forgotten> {
        self.change(|shared| forget::forget(shared, &scope))
    }

    /// Forgets, and rewrites every file that holds bytes of what is forgotten. When this returns,
    /// the URL stands in no file of the store, except in files that a snapshot still holds open:
    /// those go with the snapshot, or at the next open if that outlives the store.
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe). It may be forgotten then all the same, and bytes of it
    /// left: purge again.
    pub fn purge(&self, scope: Scope<'_>) -> Result<Forgotten> {
        self.change(|shared| forget::purge(shared, &scope))
    }

    /// When this returns, everything observed so far is durable. One commit at most.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`] if it is not.
    pub fn flush(&self) -> Result<()> {
        self.change(|shared| shared.committer.commit_all())
    }

    /// Seals what is unsealed into a segment, and returns when that is done.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`].
    pub fn seal(&self) -> Result<()> {
        self.change(|shared| shared.sealer.seal_all())
    }

    /// Merges all segments into one, and returns when that is done. Reads and writes all of the
    /// store's segments once; more than 128 of them twice. A single one is left as it is, unless it has
    /// fingerprint tables of an epoch that has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Corrupt`] or [`Error::Poisoned`].
    pub fn merge(&self) -> Result<Merged> {
        self.change(|shared| shared.compactor.merge_all(&|| false))
    }

    /// Returns when no seal and no merge is due: waits for those in the background, or does them.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Corrupt`] if a merge does not go, for want of room on the disk or
    /// because an input is damaged; the store goes on without it. [`Error::Poisoned`].
    pub fn wait_idle(&self) -> Result<()> {
        self.change(Shared::wait_idle)
    }

    /// Sizes of the store. Reads no table.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the catalog cannot be measured.
    pub fn stats(&self) -> Result<Stats> {
        self.call(|shared| {
            let snapshot = shared.base.live.snapshot();
            snapshot.view.check()?;
            Ok(Stats {
                catalog_bytes: open::catalog_bytes(&shared.base.disk)?,
                merge_error: shared.compactor.error().as_ref().map(Error::to_string),
                ..snapshot.sizes(shared.base.options.epoch_visits)?
            })
        })
    }

    /// Reads all of the store with plain reads, checks every checksum, and that everything fits
    /// together. Costs a read of all files, and commits wait while the catalog is copied to memory.
    ///
    /// [`verify_with`](Store::verify_with) names all flaws, and is as slow as it is told to be.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] for the first thing that is not sound, [`Error::Io`].
    pub fn verify(&self) -> Result<Verified> {
        self.verify_with(VerifyOptions::default())?.sound()
    }

    /// Checks a store that is to go on working: reads no more bytes a second than the options say, tells
    /// how far it has come, and names every flaw, not only the first. What is observed meanwhile is
    /// not waited for.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Options, Store, VerifyOptions};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let verified = store.verify_with(VerifyOptions::default().rate(20 << 20))?;
    /// assert!(verified.is_sound(), "{:?}", verified.flaws);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if the callback said so, [`Error::Io`] if a file cannot be opened. What is
    /// damaged is no error but stands in the answer.
    pub fn verify_with(&self, options: VerifyOptions<'_>) -> Result<Verified> {
        self.call(|shared| verify::verify_open(&shared.base, options))
    }

    /// Makes everything durable, ends the background work and lets go of the lock. What other
    /// handles do afterwards fails with [`Error::Closed`], except reading.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`] if not everything is durable.
    pub fn close(self) -> Result<()> {
        self.handle.close()
    }
}
