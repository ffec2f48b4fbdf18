//! The epochs of a store: begun, looked up, ended.

use super::Store;
use super::answer::Answer;
use super::origin::{Named, Origin};
use super::view::View;
use crate::bug::OrBug;
use crate::catalog::{EPOCHS_MAX, is_epoch_name};
use crate::df::Table;
use crate::disk::{Disk, Name};
use crate::error::{Error, Result};
use crate::page::{Epoch, EpochInfo, Request, RestateOutcome, Restatement};

/// Whether an epoch may have this name.
pub(super) fn check_name(name: &str) -> Result<()> {
    if !is_epoch_name(name) {
        return Err(Error::misuse("an epoch's name has 1 to 256 bytes and no control characters"));
    }
    Ok(())
}

/// The first epoch of a store.
pub(super) fn first(name: &str) -> Result<EpochInfo> {
    check_name(name)?;
    let epoch = Epoch::new(0, reserved(name)).or_bug("a recipe reserves 64 bits at most")?;
    Ok(EpochInfo { epoch, name: name.to_owned(), begun: 0, ended: false })
}

/// How many leading bits of its fingerprints are reserved for metadata, as the name says.
pub(super) fn reserved(name: &str) -> u32 {
    Named::parse(name).map_or(0, |named| named.recipe.mask().leading_zeros())
}

/// Whether the store keeps a table for an epoch.
pub(super) fn has_table(epoch: &EpochInfo) -> bool {
    !epoch.ended && Named::parse(&epoch.name).is_some_and(|named| named.table.is_some())
}

/// The name of an epoch's table.
pub(super) fn table_name(epoch: Epoch) -> Name {
    Name::Df(epoch.count().into())
}

/// Opens and checks the table of an epoch.
pub(super) fn open_table(disk: &dyn Disk, info: &EpochInfo) -> Result<Table> {
    let name = table_name(info.epoch);
    let table = Table::open_on(disk, info.epoch.count().into()).map_err(|e| match e {
        Error::NotATable { why, .. } => Error::corrupt(name, 0, why),
        e if e.is_not_found() => {
            Error::NoTable { epoch: info.name.clone(), file: name.to_string() }
        }
        other => other,
    })?;
    let expected = Named::parse(&info.name).and_then(|named| named.table);
    let expected = expected.or_bug("an epoch that has a table is named for it")?;
    if expected == table.id() {
        return Ok(table);
    }
    let what = format!("expected the table {expected:016x}, found {:016x}", table.id());
    Err(Error::corrupt(name, 0, what))
}

/// Whether something may be observed in an epoch, or searched.
pub(super) fn check_live(epochs: &[EpochInfo], epoch: Epoch) -> Result<()> {
    match known(epochs, epoch) {
        Some(info) if info.ended => Err(Error::EndedEpoch(info.name.clone())),
        Some(_) => Ok(()),
        None => Err(Error::UnknownEpoch(epoch.0)),
    }
}

pub(super) fn known(epochs: &[EpochInfo], epoch: Epoch) -> Option<&EpochInfo> {
    let info = epochs.get(epoch.count() as usize);
    info.filter(|info| info.epoch == epoch)
}

/// The epoch of a name.
pub(super) fn of_name<'e>(epochs: &'e [EpochInfo], name: &str) -> Option<&'e EpochInfo> {
    epochs.iter().find(|info| info.name == name)
}

/// The number of an epoch that has not ended.
pub(super) fn live_number(info: &EpochInfo) -> Result<Epoch> {
    if info.ended { Err(Error::EndedEpoch(info.name.clone())) } else { Ok(info.epoch) }
}

/// The number of an epoch that is registered after so many others.
pub(super) fn next_epoch(registered: usize, reserved: u32) -> Result<Epoch> {
    let next = Epoch::new(registered, reserved).filter(|_| registered < EPOCHS_MAX);
    let (what, instead) = ("epochs in a store", "make another store");
    next.ok_or(Error::Limit { what, max: EPOCHS_MAX as u64, instead })
}

impl Store {
    /// The number of the epoch with this name; it is registered if it is new, and is then the
    /// newest. One commit for a new name. For fingerprints that are made elsewhere, under a name of
    /// one's own; simkeep's have [`begin_epoch`](Store::begin_epoch).
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`] for a name that is empty or has control characters, [`Error::Limit`] where there
    /// are 32,768 epochs already, [`Error::EndedEpoch`]
    /// if it has ended, [`Error::Io`].
    pub fn register_epoch(&self, name: &str) -> Result<Epoch> {
        self.change(|shared| shared.registry.register(name))
    }

    /// Begins an epoch: from here on it is the newest, and what pages had before is
    /// [stale](Store::stale). Its table of document frequencies, if it has one, is copied into the
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
    /// assert_eq!(store.stale(None).count(), 0);
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

    /// Ends an epoch, for good; it cannot be the newest: nothing is observed in it and nothing is searched
    /// for any more, its table of document frequencies goes at once, and its fingerprint tables with
    /// the merges to come. Histories keep what they have of it.
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
    /// for page in store.stale(None) {
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
        let mut outcomes = self.restate_batch(std::slice::from_ref(&restatement))?;
        Ok(outcomes.pop().or_bug("each restatement has an outcome")?)
    }

    /// Restates many fingerprints, one after another; durable together, in one commit or a few. If
    /// one of them cannot be stored as it is (its URL, time or epoch), none is.
    ///
    /// # Errors
    ///
    /// Those of [`observe_batch`](Store::observe_batch).
    pub fn restate_batch(&self, restatements: &[Restatement<'_>]) -> Result<Vec<RestateOutcome>> {
        let requests: Vec<_> = restatements.iter().copied().map(Request::Restate).collect();
        self.answered(&requests, Answer::restated)
    }

    /// All epochs, by number.
    pub fn epochs(&self) -> Vec<EpochInfo> {
        self.handle.shared.base.live.view().epochs.to_vec()
    }

    /// The epoch that was registered last.
    pub fn newest_epoch(&self) -> Epoch {
        self.handle.shared.base.live.view().newest_epoch()
    }
}

/// What makes the fingerprints of an epoch, with its table.
pub(super) fn origin_of(view: &View, epoch: Epoch) -> Result<Option<Origin>> {
    view.poison.check_read()?;
    check_live(&view.epochs, epoch)?;
    let info = known(&view.epochs, epoch).or_bug("an epoch that lives is known")?;
    let Some(named) = Named::parse(&info.name) else { return Ok(None) };
    if named.table.is_none() {
        return Ok((!named.recipe.needs_frequencies()).then(|| named.with(None)));
    }
    let table = open_table(&*view.disk, info)?;
    Ok(Some(named.with(Some(table))))
}
