//! Calls that change a store: observing, loading, forgetting, epochs, and maintenance.

use super::answer::{Answer, Forgotten, Merged, Outcome};
use super::origin::Origin;
use super::snapshot::Snapshot;
use super::store::Store;
use super::write::observe;
use crate::admin::forget;
use crate::admin::forget::Scope;
use crate::admin::load;
use crate::admin::load::{LoadOptions, Loaded, Observed};
use crate::bug::{Bug, OrBug};
use crate::error::{Error, Result};
use crate::page::{
    Epoch, GiveOutcome, Giving, Observation, Request, RestateOutcome, Restatement, Terms,
};
use crate::progress::Progress;
use crate::recrawl::Interval;
use crate::schedule;
use crate::schedule::{Decision, Due};

impl Store {
    /// Reports one visit to the store. The answer says what the page is now, and which other pages
    /// are copies of it or near it. Durable when this returns, unless
    /// [`Options::durability`](crate::Options::durability) says otherwise.
    ///
    /// Costs a lookup of the page and a search in every segment, some microseconds together, and a
    /// share of a commit: two or three syncs for all calls that wait at the same time. Waits while
    /// the memtable is full and the one before it is still being sealed.
    ///
    /// # Errors
    ///
    /// [`Error::Url`], [`Error::Time`], [`Error::UnknownEpoch`], [`Error::EndedEpoch`],
    /// [`Error::Option`] for a weight that is not finite or not positive, [`Error::InTheFuture`] with
    /// [`Options::clock_tolerance`](crate::Options::clock_tolerance), or [`Error::Corrupt`] if a page
    /// needed for the answer is damaged: nothing was stored.
    /// [`Error::Io`] if the commit failed: the observation may or may not be stored, and the store
    /// accepts nothing more ([`Error::Poisoned`]) until it is opened again.
    pub fn observe(&self, observation: Observation<'_>) -> Result<Outcome> {
        self.answered(&[Request::Observe(observation)], |mut answers| {
            answers.pop().or_bug("each observation has an outcome")?.observed()
        })
    }

    /// Reports many visits. Each is judged after those before it.
    ///
    /// They become durable together, in one commit or a few. If one of them is invalid (its URL,
    /// time or epoch), none is stored. Much faster than single calls: the lookups are interleaved,
    /// and share the commit.
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe). After [`Error::Corrupt`], the visits before the one
    /// that could not be judged are stored, and the rest is not. Observing all of them again is
    /// harmless.
    pub fn observe_batch(&self, observations: &[Observation<'_>]) -> Result<Vec<Outcome>> {
        let requests: Vec<_> = observations.iter().copied().map(Request::Observe).collect();
        self.answered(&requests, |answers| answers.into_iter().map(Answer::observed).collect())
    }

    /// Observes and restates in one call. Each request is judged after those before it. They become
    /// durable together, in one commit or a few. If one of them is invalid (its URL, time or
    /// epoch), none is stored.
    ///
    /// # Errors
    ///
    /// Those of [`observe_batch`](Store::observe_batch).
    pub fn request_batch(&self, requests: &[Request<'_>]) -> Result<Vec<Answer>> {
        self.answered(requests, Ok)
    }

    /// Stores requests, and lets `read` take the answers. Answers of the wrong kind are a bug.
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

    /// Loads an existing corpus: any number of observations in any order, without searches and
    /// without the journal. When this returns, all of them are stored, or none. The store is then
    /// the same as if each had been observed.
    ///
    /// Some four times as fast as [`observe_batch`](Store::observe_batch) of 1,000 observations each
    /// with fingerprints that are ready: 1,000,000 new pages took 2.7 s and 11 s. Each observation is
    /// written twice: to a scratch file, some 70 bytes for a URL of 50, and to a segment, some 110
    /// bytes including the tables. Costs a sync for every 64 MiB of the segment, and one commit.
    /// Memory is bounded by the options.
    ///
    /// Readers go on, and see nothing of the load until it is complete. Observing and forgetting go
    /// on while observations are gathered ([`Stage::Gathering`](crate::Stage::Gathering)), and then
    /// wait until the load is done. Only one load runs at a time, and [`close`](Store::close) waits
    /// for it to stop.
    ///
    /// ```
    /// use simkeep::load::LoadOptions;
    /// use simkeep::{Observation, Options, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.simkeep");
    /// let store = Store::create(&path, Options::default())?;
    /// let epoch = store.change_epoch();
    /// let corpus = [("https://example.com/", 17), ("https://example.org/", 4)];
    /// let observations = corpus.iter().map(|(url, print)| {
    ///     Ok(Observation::content(url, Time::from_ms(1_700_000_000_000)?, *print, epoch))
    /// });
    /// let loaded = store.load(observations, LoadOptions::default())?;
    /// assert_eq!((loaded.pages, loaded.segments), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Load`] names the first observation that is an error or invalid (its URL, time or
    /// epoch). [`Error::Cancelled`] if its progress was, [`Error::Io`] if a file could not be
    /// written, [`Error::Corrupt`] if a page of the store could not be read. In all these cases
    /// nothing is stored, and the store goes on. If the commit itself fails, it is as for
    /// [`observe`](Store::observe).
    pub fn load<O: Observed>(
        &self,
        observations: impl IntoIterator<Item = Result<O>>,
        options: LoadOptions,
    ) -> Result<Loaded> {
        self.call(|shared| load::load(shared, observations.into_iter(), options))
    }

    /// [Loads](Store::load) everything in a snapshot of another store. Epochs with the same name
    /// are the same; new epochs bring their tables of document frequencies, and begin when the load
    /// is done ([`LoadEpochs::of`](crate::admin::load::LoadEpochs::of)).
    ///
    /// ```
    /// use simkeep::load::LoadOptions;
    /// use simkeep::{Options, Reader, Store};
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
    pub fn copy_from(&self, other: &Snapshot, options: LoadOptions) -> Result<Loaded> {
        let observations = other.observations().renumbered(options.epochs.of(other)?);
        self.load(observations, options)
    }

    /// Forgets everything observed so far of a page, or of all pages under a prefix. It is hidden
    /// from every answer at once. Later observations start a new history.
    /// [`Snapshot::in_scope`](crate::Snapshot::in_scope) lists what would be forgotten.
    ///
    /// The bytes leave the files when merges reach them; [`purge`](Store::purge) removes them right
    /// away. Costs a commit and, for a prefix, a scan of the pages under it, during which writers wait.
    /// With a host or path, pages whose URLs have a user are forgotten one by one, at most 1,024 in each
    /// commit, and writers wait while at most 16,384 of the host are looked at. Of more than these some
    /// may be left after a crash. Later lookups pay a binary search in each segment among the forgotten
    /// prefixes.
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe). After an error a part may be forgotten; call again.
    pub fn forget(&self, scope: Scope<'_>) -> Result<Forgotten> {
        self.change(|shared| forget::forget(shared, &scope))
    }

    /// Forgets, and rewrites every file that has bytes of what is forgotten. When this returns, no
    /// file of the store contains the URL, except files that a snapshot still holds open. Those are
    /// removed with the snapshot, or by the next open if the snapshot outlives the store. Costs a
    /// rewrite of each segment with such pages.
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe), and [`Error::Cancelled`] if `progress` was. Even after an
    /// error the pages may be forgotten, with some of their bytes left in files: purge again.
    pub fn purge(&self, scope: Scope<'_>, progress: &Progress) -> Result<Forgotten> {
        self.change(|shared| forget::purge(shared, &scope, progress))
    }

    /// Hands out the pages of which a visit is worth most: those of [`Snapshot::due`] without those that
    /// are handed out already, and without those that a visit is worth nothing of.
    ///
    /// A page is out until it is [observed](Store::observe) in any way, or
    /// [handed back](Store::hand_back), or until the lease is over by the time that a later call
    /// gives. Threads may take at once: each gets pages of its own, one after another. A page that is
    /// out counts among those of its host where [`per_host`](Due::per_host) bounds them.
    ///
    /// Leases are in memory only. After a crash, or when the store is opened again, all pages can be
    /// taken: then a page may be visited twice, and none is forgotten. At most
    /// [`Options::leases_max`](crate::Options::leases_max) are out, and then nothing is handed out.
    ///
    /// Costs what [`Snapshot::due`] does, with the budget and as many more pages as are out. What pages
    /// tell of how pages change is learned anew after as many operations as an eighth of the pages.
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
    /// let taken = store.take_due(&Due::new(now, 10), lease)?;
    /// assert_eq!(taken[0].page.url, url);
    /// assert!(store.take_due(&Due::new(now, 10), lease)?.is_empty());
    /// // Visited, it can be taken again: another time, since now a visit is worth nothing.
    /// store.observe(Observation::content(url, now, 17, epoch))?;
    /// assert!(store.take_due(&Due::new(now, 10), lease)?.is_empty());
    /// assert_eq!(store.take_due(&Due::new(now + 21 * day, 10), lease)?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] or [`Error::Io`] if what it reads is damaged or cannot be read: then nothing
    /// is handed out. [`Error::Poisoned`], [`Error::Forked`].
    pub fn take_due(&self, due: &Due, lease: Interval) -> Result<Vec<Decision>> {
        self.change(|shared| schedule::take(shared, due, lease))
    }

    /// Ends the lease of a page that was not visited, so that it can be taken again. Returns whether it
    /// had one.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] and [`Error::Closed`].
    pub fn hand_back(&self, url: &str) -> Result<bool> {
        self.change(|shared| Ok(shared.leases.end(url)))
    }

    /// Makes everything observed so far durable. Costs one commit at most.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`] if it is not.
    pub fn flush(&self) -> Result<()> {
        self.change(|shared| shared.committer.commit_all())
    }

    /// Seals everything unsealed into segments, however little, and returns when that is done.
    /// Costs writing them, and a commit for each of the at most two.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Poisoned`].
    pub fn seal(&self) -> Result<()> {
        self.change(|shared| shared.sealer.seal_all())
    }

    /// Merges all segments into one, and returns when that is done. Costs reading and writing all
    /// segments once, or twice if there are more than 128. A single segment is left as it is,
    /// unless it has fingerprint tables of an epoch that has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Io`], [`Error::Corrupt`] or [`Error::Poisoned`]. [`Error::Cancelled`] if the progress
    /// was: what is merged by then stays merged, and no answer depends on it.
    pub fn merge(&self, progress: &Progress) -> Result<Merged> {
        self.change(|shared| shared.compactor.merge_all(progress, &|| false))
    }

    /// Waits until no seal and no merge is due. Without background work, it does them itself.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] or [`Error::Corrupt`] if a merge fails because the disk is full or an input is
    /// damaged; the store works on without it. [`Error::Poisoned`].
    pub fn wait_idle(&self) -> Result<()> {
        self.change(|shared| shared.wait_idle())
    }

    /// Registers an epoch by name, on [terms](Terms) that may be but its role, and returns its number.
    /// A new name becomes the newest epoch of its role, and costs one commit; a known name costs
    /// nothing. This is for fingerprints made by other means than simkeep's recipes, for which there is
    /// [`begin_epoch`](Store::begin_epoch).
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] for a name that is empty or has control characters, for bands that no
    /// fingerprint can have, or an epoch with other terms; [`Error::Limit`] if there are 32,768 epochs
    /// already, [`Error::EndedEpoch`] if it has ended, [`Error::Io`].
    pub fn register_epoch(&self, name: &str, terms: impl Into<Terms>) -> Result<Epoch> {
        self.change(|shared| shared.registry.register(name, terms.into()))
    }

    /// Begins an epoch, on [terms](Terms) that may be but its role. From now on it is the newest of
    /// that: verdicts go by it, or near-duplicates, or both. Pages without a fingerprint of it are
    /// [stale](Snapshot::stale). Its table of document frequencies, if it has one, is copied into
    /// the store's directory and stays until the epoch [ends](Store::end_epoch). An epoch that
    /// exists already does not begin again, but gets its table if that is missing. Costs one
    /// commit, and two more syncs for a table.
    ///
    /// While two epochs live, make the fingerprints of both for each page that you fetch, and pass
    /// the second by [`Observation::also`]. If the new one takes the place of the old one, the
    /// distance to earlier content is known, whichever of the epochs that content has. If each has a
    /// role of its own, verdicts go by the one, and near-duplicates by the other, for good.
    ///
    /// ```
    /// use simkeep::{Distance, Observation, Options, Origin, Role, Store, Time, Verdict};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
    /// let (url, old) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0b0011, old))?;
    ///
    /// let new = store.begin_epoch(&Origin::new("strict".parse().unwrap()), Role::Both)?;
    /// let seen = Observation::content(url, Time::from_ms(2_000)?, 0b0101, new).also(0b0111, old);
    /// let distance = Some(Distance { bits: 1, epoch: old });
    /// assert_eq!(store.observe(seen)?.verdict, Verdict::Changed { distance });
    /// assert_eq!(store.snapshot().stale(new, None).count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EndedEpoch`] if it has ended, [`Error::Misuse`] if the recipe needs a table and there
    /// is none, for bands that no fingerprint can have, or if it began on other terms; [`Error::Io`].
    pub fn begin_epoch(&self, origin: &Origin, terms: impl Into<Terms>) -> Result<Epoch> {
        self.change(|shared| shared.registry.begin(origin, terms.into()))
    }

    /// Ends an epoch for good. Nothing can be observed or searched in it any more. Its table of
    /// document frequencies is removed at once, and its fingerprint tables with later merges.
    /// Histories keep its fingerprints. The last epoch that verdicts can go by does not end, nor the
    /// last that near-duplicates can be sought by.
    ///
    /// At most `left` pages may be left behind with a version in force that has a fingerprint in this
    /// epoch and none in the one that is in use from then on: no search finds them, and no distance is
    /// told, until they are observed again or restated. That is true too of pages that are observed in
    /// it while this call runs. Costs a commit, and a scan unless `left` is `u64::MAX`.
    ///
    /// # Errors
    ///
    /// [`Error::EpochInUse`] if there are more such pages, [`Error::UnknownEpoch`], [`Error::Misuse`]
    /// for the last of its role, [`Error::Corrupt`], [`Error::Io`].
    pub fn end_epoch(&self, epoch: Epoch, left: u64) -> Result<()> {
        self.change(|shared| shared.registry.end(epoch, left))
    }

    /// Restates the content that a page had at a time: gives it a fingerprint in another epoch,
    /// usually the newest. It stands beside those of other epochs: answers go by the newest epoch of
    /// their [use](crate::Role). This is neither a visit nor a change of the page, and the history keeps
    /// both. As durable and as fast as [`observe`](Store::observe);
    /// [`restate_batch`](Store::restate_batch) takes many at a time.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, RestateOutcome, Restatement, Role, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let url = "https://example.com/";
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0x1234, store.change_epoch()))?;
    /// let new = store.register_epoch("another extractor", Role::Both)?;
    /// for page in store.snapshot().stale(new, None) {
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

    /// Restates many contents, one after another. They become durable together, in one commit or a
    /// few. If one of them is invalid (its URL, time or epoch), none is stored.
    ///
    /// # Errors
    ///
    /// Those of [`observe_batch`](Store::observe_batch).
    pub fn restate_batch(&self, restatements: &[Restatement<'_>]) -> Result<Vec<RestateOutcome>> {
        let requests: Vec<_> = restatements.iter().copied().map(Request::Restate).collect();
        self.answered(&requests, |answers| answers.into_iter().map(Answer::restated).collect())
    }

    /// Gives a page a property from a time on, without a visit: a [weight](Observation::weighed) or a
    /// [class](Observation::classed). That is no change of the page;
    /// [`Page::weight`](crate::Page::weight) and [`Page::class`](crate::Page::class) tell those in
    /// force. As durable and as fast as [`observe`](Store::observe);
    /// [`request_batch`](Store::request_batch) takes many at a time, and [`load`](Store::load) gives
    /// all pages others.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{GiveOutcome, Observation, Options, Store, Time, Weight};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0x1234, epoch))?;
    /// let outcome = store.give(Observation::weighed(url, Time::from_ms(2_000)?, 2.5))?;
    /// assert_eq!(outcome, GiveOutcome::Stored);
    /// store.give(Observation::classed(url, Time::from_ms(2_000)?, 7))?;
    /// let page = store.latest(url)?.unwrap();
    /// assert_eq!((page.visits, page.weight, page.class), (1, Weight::from(2.5), Some(7)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`observe`](Store::observe).
    pub fn give(&self, giving: Giving<'_>) -> Result<GiveOutcome> {
        self.answered(&[Request::Give(giving)], |mut answers| {
            answers.pop().or_bug("what is given has an outcome")?.given()
        })
    }
}
