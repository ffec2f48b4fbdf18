//! What changes a store: observing, forgetting, loading, and what keeps it in shape.

use super::answer::{Answer, Forgotten, Merged, Outcome};
use super::forget::{self, Scope};
use super::handle::Store;
use super::load::{self, LoadEpochs, LoadOptions, Loaded, Observed};
use super::observe::observe;
use super::origin::Origin;
use super::snapshot::Snapshot;
use crate::bug::{Bug, OrBug};
use crate::error::{Error, Result};
use crate::page::{Epoch, Observation, Request, RestateOutcome, Restatement};

impl Store {
    /// Tells the store of one visit; answers what the page is now, and which other pages are copies
    /// or near. Durable when this returns, unless
    /// [`Options::durability`](super::Options::durability) says otherwise.
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
        self.answered(&[Request::Observe(observation)], |mut answers| {
            answers.pop().or_bug("each observation has an outcome")?.observed()
        })
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
        self.answered(&requests, |answers| answers.into_iter().map(Answer::observed).collect())
    }

    /// Observes and restates, one after another: each is judged after those before it. Durable
    /// together, in one commit or a few. If one of them cannot be stored as it is (its URL, time or
    /// epoch), none is.
    ///
    /// # Errors
    ///
    /// Those of [`observe_batch`](Store::observe_batch).
    pub fn request_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Answer>> {
        self.answered(requests, Ok)
    }

    /// What `read` makes of the answers to requests. If they are not such as were to come, that is a bug
    /// of this call, as any within it.
    fn answered<T>(
        &self,
        requests: &[Request<'_>],
        read: impl FnOnce(Vec<Answer>) -> Result<T, Bug>,
    ) -> Result<T> {
        self.change(|shared| {
            let answers = if requests.is_empty() { Vec::new() } else { observe(shared, requests)? };
            read(answers).map_err(Error::from)
        })
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
    /// observations are taken ([`Stage::Gathering`](super::Stage::Gathering)); then they wait until
    /// the load is done. One load goes on at a time, and [`close`](Store::close) waits for it to
    /// stop.
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
    /// new.copy_from(&old.snapshot(), LoadOptions::default())?;
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
        self.change(|shared| shared.wait_idle())
    }

    /// The number of the epoch with this name; it is registered if it is new, and is then the
    /// newest. One commit for a new name. For fingerprints that are made elsewhere, under a name of
    /// one's own; simkeep's have [`begin_epoch`](Store::begin_epoch).
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] for a name that is empty or has control characters, [`Error::Limit`] where
    /// there are 32,768 epochs already, [`Error::EndedEpoch`] if it has ended, [`Error::Io`].
    pub fn register_epoch(&self, name: &str) -> Result<Epoch> {
        self.change(|shared| shared.registry.register(name))
    }

    /// Begins an epoch: from here on it is the newest, and what pages had before is
    /// [stale](Snapshot::stale). Its table of document frequencies, if it has one, is copied into the
    /// store's directory and stays until the epoch [ends](Store::end_epoch). An epoch that there is
    /// already is not begun again, but gets its table if that is missing. One commit; with a table two
    /// syncs more.
    ///
    /// While two epochs live, whoever has a page at hand makes the fingerprints of both
    /// ([`Observation::also`]): then its distance to what was seen before is known whichever of them
    /// that has.
    ///
    /// ```
    /// use simkeep::{Observation, Options, Origin, Store, Verdict, fingerprint::Recipe};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
    /// let (url, old) = ("https://example.com/", store.newest_epoch());
    /// store.observe(Observation::content(url, 1_000, 0b0011, old))?;
    ///
    /// let new = store.begin_epoch(&Origin::new("strict".parse().unwrap()))?;
    /// let seen = Observation::content(url, 2_000, 0b0101, new).also(0b0111, old);
    /// assert_eq!(store.observe(seen)?.verdict, Verdict::Changed { distance: Some(1) });
    /// assert_eq!(store.snapshot().stale(None).count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EndedEpoch`] if it has ended, [`Error::Misuse`] if the recipe needs a table and there
    /// is none; [`Error::Io`].
    pub fn begin_epoch(&self, origin: &Origin) -> Result<Epoch> {
        self.change(|shared| shared.registry.begin(origin))
    }

    /// Ends an epoch, for good; it cannot be the newest: nothing is observed in it and nothing is
    /// searched for any more, its table of document frequencies goes at once, and its fingerprint
    /// tables with the merges to come. Histories keep what they have of it.
    ///
    /// At most `left` pages may have a version in force that is of this epoch: until they are observed
    /// again or restated, no search finds them. So it is with pages that are observed in it while this
    /// goes on. Costs a scan, unless any number may be left, and a commit.
    ///
    /// # Errors
    ///
    /// [`Error::EpochInUse`] if there are more such pages, [`Error::UnknownEpoch`], [`Error::Misuse`]
    /// for the newest, [`Error::Corrupt`], [`Error::Io`].
    pub fn end_epoch(&self, epoch: Epoch, left: u64) -> Result<()> {
        self.change(|shared| shared.registry.end(epoch, left))
    }

    /// Says what fingerprint the content that a page had at a time has in another epoch, mostly the
    /// newest: in answers it takes the place of what was known of an older one. No visit, no change of
    /// the page; the history keeps both. As durable, and as fast, as
    /// [`observe`](Store::observe); [`restate_batch`](Store::restate_batch) takes many at a time.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, RestateOutcome, Restatement, Store};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let url = "https://example.com/";
    /// store.observe(Observation::content(url, 1_000, 0x1234, store.newest_epoch()))?;
    /// let new = store.register_epoch("another extractor")?;
    /// for page in store.snapshot().stale(None) {
    ///     let page = page?;
    ///     // Its text, as it was kept elsewhere, by the new extractor.
    ///     let fingerprint = 0x4321;
    ///     let restated = Restatement::new(&page.url, page.time, fingerprint, new);
    ///     assert_eq!(store.restate(restated)?, RestateOutcome::Stored);
    /// }
    /// assert_eq!(store.near(0x4321, 0)?.near.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe).
    pub fn restate(&self, restatement: Restatement<'_>) -> Result<RestateOutcome> {
        self.answered(&[Request::Restate(restatement)], |mut answers| {
            answers.pop().or_bug("each restatement has an outcome")?.restated()
        })
    }

    /// Restates many fingerprints, one after another; durable together, in one commit or a few. If
    /// one of them cannot be stored as it is (its URL, time or epoch), none is.
    ///
    /// # Errors
    ///
    /// Those of [`observe_batch`](Store::observe_batch).
    pub fn restate_batch(&self, restatements: &[Restatement<'_>]) -> Result<Vec<RestateOutcome>> {
        let requests: Vec<_> = restatements.iter().copied().map(Request::Restate).collect();
        self.answered(&requests, |answers| answers.into_iter().map(Answer::restated).collect())
    }
}
