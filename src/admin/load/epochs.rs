//! The epochs of a load.
//!
//! While observations are read, each epoch has a number that only the load uses. An epoch gets its
//! number in the store when the segments are written, while nobody else can register an epoch. The
//! transaction that makes the segments live registers the epoch.

use std::collections::HashMap;
use std::sync::Arc;

use super::write::UnlistedFiles;
use crate::bug::{Bug, OrBug, ensure};
use crate::catalog::EPOCHS_MAX;
use crate::df::FrequencyTable;
use crate::disk::Disk;
use crate::engine::epochs::{
    check_name, check_options, live_number, may_end, new_epoch, next_epoch, of_name, open_table,
    reserved,
};
use crate::engine::files::{FileNaming, has_table, table_name, table_of};
use crate::engine::origin::Origin;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::{Error, Result};
use crate::page::{Entry, Epoch, EpochInfo, EpochOptions};
use crate::sync::{LockRank, RankedMutex};

/// The first epoch count that a load uses; a store never assigns it.
const FIRST: usize = 1 << 23;
const _: () = assert!(FIRST >= EPOCHS_MAX);

/// The epochs of a load. They begin in the commit that completes the load; if the load fails, they
/// do not begin.
///
/// Assigns epoch numbers for the observations of one load, which receives them through
/// [`LoadOptions::epochs`](super::LoadOptions::epochs). All clones share one state, so a clone can
/// be used while the load reads its observations. A name that the store already has refers to the
/// store's epoch.
///
/// ```
/// use simkeep::load::{LoadEpochs, LoadOptions};
/// use simkeep::{Observation, Options, Role, Store, Time};
///
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// let store = Store::create(dir.path().join("crawl.simkeep"), Options::default())?;
/// let epochs = LoadEpochs::default();
/// let lines = [("https://example.com/", 17, "mine/1"), ("https://example.org/", 4, "mine/2")];
/// let observations = lines.iter().map(|(url, print, name)| {
///     let (time, epoch) = (Time::from_ms(1_700_000_000_000)?, epochs.named(name, Role::Both)?);
///     Ok(Observation::content(url, time, *print, epoch))
/// });
/// let loaded = store.load(observations, LoadOptions::default().epochs(epochs.clone()))?;
/// let begun: Vec<_> = loaded.begun.iter().map(|info| info.name.as_str()).collect();
/// assert_eq!(begun, ["mine/1", "mine/2"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LoadEpochs {
    requested: Arc<RankedMutex<RequestedEpochs>>,
}

impl Default for LoadEpochs {
    fn default() -> Self {
        LoadEpochs {
            requested: Arc::new(RankedMutex::new(LockRank::LoadEpochs, RequestedEpochs::default())),
        }
    }
}

#[derive(Debug, Default)]
struct RequestedEpochs {
    /// The requested epochs in order of first use.
    epochs: Vec<RequestedEpoch>,
    places: HashMap<String, usize>,
}

/// An epoch that was requested by name.
#[derive(Debug)]
struct RequestedEpoch {
    name: String,
    /// The number of the epoch in the load.
    number: Epoch,
    /// The requested options, if observations use the epoch. In this case the store's epoch must
    /// not have ended, nor have other options.
    requested: Option<EpochOptions>,
    /// The description of the epoch in the store from which it is copied.
    source: Option<SourceEpoch>,
    table: Option<TableSource>,
}

/// The description of an epoch in another store.
#[derive(Clone, Copy, Debug)]
struct SourceEpoch {
    options: EpochOptions,
    begun: u64,
    ended: bool,
}

impl RequestedEpoch {
    fn new(name: &str, number: Epoch) -> RequestedEpoch {
        RequestedEpoch { name: name.to_owned(), number, requested: None, source: None, table: None }
    }

    /// Requests the epoch with the given options.
    fn ask(&mut self, options: EpochOptions) -> Result<()> {
        check_options(&self.name, *self.requested.get_or_insert(options), options)
    }

    /// The options of the epoch if it begins with the load.
    fn options(&self) -> EpochOptions {
        self.requested.or(self.source.map(|like| like.options)).unwrap_or_default()
    }
}

/// The source of an epoch's table.
#[derive(Debug)]
enum TableSource {
    Origin(Origin),
    Store(Arc<dyn Disk>, FileNaming, EpochInfo),
    Table(Arc<FrequencyTable>),
}

impl LoadEpochs {
    /// Returns the number in the load of the epoch with this name. If the store has no epoch of
    /// this name, one begins with the given options.
    ///
    /// ```
    /// use simkeep::Role;
    /// use simkeep::load::LoadEpochs;
    /// # fn main() -> simkeep::Result<()> {
    /// let epochs = LoadEpochs::default();
    /// let epoch = epochs.named("my-hash/1", Role::Both)?;
    /// assert_eq!(epochs.named("my-hash/1", Role::Both)?, epoch);
    /// assert!(epochs.named("my-hash/1", Role::Near).is_err()); // other options
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a name that is empty or has control characters, or was
    /// requested with other options before; [`Error::Limit`] for more names than a store can have.
    /// If the epoch has ended in the store, or has other options there, the load fails.
    pub fn named(&self, name: &str, options: impl Into<EpochOptions>) -> Result<Epoch> {
        self.name(name, reserved(name), |named| named.ask(options.into()))
    }

    /// Returns the number in the load of an epoch whose fingerprints simkeep makes. If the store
    /// has no epoch of this name, one begins with the given options. The epoch's table of document
    /// frequencies, if it has one, is copied into the store.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Origin, Role, Store, Time};
    /// use simkeep::load::{LoadEpochs, LoadOptions};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epochs = LoadEpochs::default();
    /// let origin = Origin::new("strict".parse().unwrap());
    /// let epoch = epochs.origin(&origin, Role::Both)?;
    /// let text = "You may use this site if you behave well.";
    /// let fingerprint = origin.fingerprinter()?.of_text(text)?;
    /// let visit = Observation::content("https://example.com/terms", Time::now(), fingerprint, epoch);
    /// let loaded = store.load([Ok(visit)], LoadOptions::default().epochs(epochs))?;
    /// assert_eq!(loaded.begun[0].name, origin.name());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`named`](Self::named), and [`Error::InvalidArgument`] if the recipe needs a
    /// table and has none.
    pub fn origin(&self, origin: &Origin, options: impl Into<EpochOptions>) -> Result<Epoch> {
        origin.fingerprinter()?;
        self.name(&origin.name(), origin.recipe().mask().leading_zeros(), |named| {
            named.ask(options.into())?;
            named.table = Some(TableSource::Origin(origin.clone()));
            Ok(())
        })
    }

    /// Returns the numbers in the load of another store's epochs, for
    /// [`Observations::renumbered`](crate::query::Observations::renumbered). The epochs keep their
    /// order, and their tables of document frequencies are copied. An epoch whose name the store
    /// already has keeps the store's options. An epoch that has ended in the other store ends in
    /// this store, too, unless pages use it.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::load::{LoadEpochs, LoadOptions};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let other = Store::create(dir.path().join("other"), Options::default())?;
    /// let url = "https://example.com/";
    /// other.observe(Observation::content(url, Time::now(), 7, other.change_epoch()))?;
    ///
    /// let epochs = LoadEpochs::default();
    /// let numbers = epochs.of(&other.snapshot())?;
    /// let all = other.snapshot().observations(None).renumbered(numbers);
    /// let loaded = store.load(all, LoadOptions::default().epochs(epochs))?;
    /// assert_eq!((loaded.visits, loaded.begun.len()), (1, 0)); // both stores have the epoch
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`named`](Self::named).
    pub fn of(&self, other: &Snapshot) -> Result<Vec<Epoch>> {
        let of = |info: &EpochInfo| {
            let reserved = info.epoch.mask().leading_zeros();
            let epoch =
                self.described(&info.name, reserved, info.options(), info.begun, info.ended)?;
            self.name(&info.name, reserved, |named| {
                if has_table(info) && named.table.is_none() {
                    let (disk, files) = (Arc::clone(&other.view.disk), other.view.files);
                    named.table = Some(TableSource::Store(disk, files, info.clone()));
                }
                Ok(())
            })?;
            Ok(epoch)
        };
        other.epochs().iter().map(of).collect()
    }

    /// Returns the number in the load of an epoch of another store, by its description: its name,
    /// the number of leading bits of its fingerprints that are reserved for metadata, its options,
    /// the number of visits in the other store when the epoch began, and whether the epoch has
    /// ended there. The load treats the epoch as [`of`](LoadEpochs::of) does. Add the epoch's table
    /// by [`table`](LoadEpochs::table).
    ///
    /// ```
    /// use simkeep::load::{LoadEpochs, LoadOptions};
    /// use simkeep::{Observation, Options, Role, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let epochs = LoadEpochs::default();
    /// let old = epochs.described("mine/1", 0, Role::Both, 17, true)?;
    /// let seen = [Ok(Observation::content("https://example.com/", Time::from_ms(1_700_000_000_000)?, 4, old))];
    /// let (store, _) = Store::create_from(
    ///     dir.path().join("crawl.simkeep"),
    ///     Options::default(),
    ///     seen,
    ///     LoadOptions::default().epochs(epochs),
    /// )?;
    /// let snapshot = store.snapshot();
    /// let info = &snapshot.epochs()[1];
    /// assert_eq!((info.name.as_str(), info.begun, info.ended), ("mine/1", 17, true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`named`](Self::named), and [`Error::InvalidArgument`] for more than 64
    /// reserved bits. If the store has an epoch of this name with other reserved bits, the load
    /// fails.
    pub fn described(
        &self,
        name: &str,
        reserved: u32,
        options: impl Into<EpochOptions>,
        begun: u64,
        ended: bool,
    ) -> Result<Epoch> {
        if reserved > u64::BITS {
            return Err(Error::invalid_argument(
                "at most 64 bits of a fingerprint can be reserved",
            ));
        }
        let like = SourceEpoch { options: options.into(), begun, ended };
        self.name(name, reserved, |named| {
            named.source.get_or_insert(like);
            Ok(())
        })
    }

    /// Adds the table of document frequencies of an epoch of this load. The load copies the table
    /// into the store unless the store's epoch has one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`] if this load did not assign the number, [`Error::InvalidArgument`]
    /// if the epoch's name belongs to another table or to no table.
    pub fn table(&self, epoch: Epoch, table: Arc<FrequencyTable>) -> Result<()> {
        let mut coming = self.requested.lock();
        let named = place(epoch).and_then(|place| coming.epochs.get_mut(place));
        let named = named.filter(|named| named.number == epoch);
        let named = named.ok_or(Error::UnknownEpoch(epoch.0))?;
        if table_of(&named.name) != Some(table.id()) {
            let what =
                format!("the epoch {} does not have the table {:016x}", named.name, table.id());
            return Err(Error::InvalidArgument(what));
        }
        named.table.get_or_insert(TableSource::Table(table));
        Ok(())
    }

    fn name(
        &self,
        name: &str,
        reserved: u32,
        note: impl FnOnce(&mut RequestedEpoch) -> Result<()>,
    ) -> Result<Epoch> {
        let RequestedEpochs { epochs, places } = &mut *self.requested.lock();
        let named = match places.get(name).and_then(|place| epochs.get_mut(*place)) {
            Some(named) => named,
            None => {
                check_name(name)?;
                next_epoch(epochs.len(), reserved)?;
                let number = Epoch::new(FIRST + epochs.len(), reserved);
                let number = number.or_bug(
                    "the numbers of a load's epochs follow the numbers of a store's epochs",
                )?;
                places.insert(name.to_owned(), epochs.len());
                epochs.push_mut(RequestedEpoch::new(name, number))
            }
        };
        note(named)?;
        Ok(named.number)
    }

    /// Whether this load assigned a number.
    pub(super) fn has(&self, epoch: Epoch) -> bool {
        let coming = self.requested.lock();
        let named = place(epoch).and_then(|place| coming.epochs.get(place));
        named.is_some_and(|named| named.number == epoch)
    }
}

/// The index of an epoch by its number, if a load assigned the number.
fn place(epoch: Epoch) -> Option<usize> {
    usize::try_from(epoch.count()).ok()?.checked_sub(FIRST)
}

/// The epochs of a load with their numbers in the store. While this value exists, nobody else may
/// register or end an epoch.
#[derive(Debug)]
pub(super) struct ResolvedEpochs {
    /// The number in the store of each requested epoch.
    numbers: Vec<Epoch>,
    /// All epochs of the store after the load.
    pub(super) all: Vec<EpochInfo>,
    /// The epochs that begin with the load.
    pub(super) begun: Vec<EpochInfo>,
    /// The existing epochs that end with the load.
    pub(super) ended: Vec<EpochInfo>,
    /// The tables that were copied.
    pub(super) tables: UnlistedFiles,
}

impl ResolvedEpochs {
    /// Assigns the numbers, and copies the tables; they are durable when this function returns.
    /// `now` is the current state of the store.
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        now: &Snapshot,
        epochs: &LoadEpochs,
    ) -> Result<ResolvedEpochs> {
        let mut settled = ResolvedEpochs {
            numbers: Vec::new(),
            all: now.epochs().to_vec(),
            begun: Vec::new(),
            ended: Vec::new(),
            tables: UnlistedFiles::new(disk),
        };
        let coming = epochs.requested.lock();
        let named = &coming.epochs[..];
        for named in named {
            settled.resolve(now, named)?;
        }
        ensure(settled.numbers.len() == named.len(), "each epoch of a load gets a number")?;
        for (named, epoch) in named.iter().zip(&settled.numbers) {
            // An existing epoch without pages ends as well.
            let ends = named.source.as_ref().is_some_and(|like| like.ended)
                && named.requested.is_none()
                && now.fingerprints(*epoch) == 0
                && settled
                    .all
                    .iter()
                    .any(|info| info.epoch == *epoch && may_end(&settled.all, info));
            let mut all = settled.all.iter_mut();
            if ends && let Some(info) = all.find(|info| info.epoch == *epoch && !info.ended) {
                info.ended = true;
                settled.ended.push(info.clone());
            }
        }
        for (named, epoch) in named.iter().zip(&settled.numbers) {
            let info = settled.all.iter().find(|info| info.epoch == *epoch && has_table(info));
            if let (Some(source), Some(info)) = (&named.table, info) {
                put_table(disk, source, info, &mut settled.tables)?;
            }
        }
        Ok(settled)
    }

    fn resolve(&mut self, now: &Snapshot, named: &RequestedEpoch) -> Result<()> {
        if let Some(info) = of_name(&self.all, &named.name) {
            if let Some(asked) = named.requested {
                live_number(info)?;
                check_options(&named.name, info.options(), asked)?;
            }
            if info.epoch.mask() != named.number.mask() {
                let what = format!(
                    "the epoch {} reserves different bits of its fingerprints in the two stores",
                    named.name
                );
                return Err(Error::InvalidArgument(what));
            }
            self.numbers.push(info.epoch);
            return Ok(());
        }
        let reserved = named.number.mask().leading_zeros();
        let epoch = next_epoch(self.all.len(), reserved)?;
        let visits = StoreTotals::of(now)?.visits;
        let like = named.source;
        let visits = like.filter(|_| visits == 0).map_or(visits, |like| like.begun);
        let ended = named.requested.is_none() && like.is_some_and(|like| like.ended);
        let info = EpochInfo { ended, ..new_epoch(epoch, &named.name, visits, named.options())? };
        self.begun.push(info.clone());
        self.all.push(info);
        self.numbers.push(epoch);
        Ok(())
    }

    /// Whether the load changes no epochs.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.ended.is_empty()
    }

    /// Converts the epoch number of an entry to the store's epoch number. Returns whether the
    /// number changed.
    pub(super) fn renumber(&self, entry: &mut Entry) -> Result<bool, Bug> {
        let Some(epoch) = entry.epoch_mut() else { return Ok(false) };
        let Some(place) = place(*epoch) else { return Ok(false) };
        let number = self.numbers.get(place);
        *epoch = *number.or_bug("the load assigned this number")?;
        Ok(true)
    }
}

/// Copies a table, unless the store's epoch has one.
fn put_table(
    disk: &Arc<dyn Disk>,
    source: &TableSource,
    info: &EpochInfo,
    tables: &mut UnlistedFiles,
) -> Result<()> {
    let number = info.epoch.count().into();
    match (open_table(&**disk, FileNaming::Store, info), source) {
        (Err(Error::NoTable { .. }), TableSource::Origin(origin)) => {
            let table = origin.frequencies().or_bug("an origin has the table of its name")?;
            table.copy_to(disk, number)?;
        }
        (Err(Error::NoTable { .. }), TableSource::Table(table)) => table.copy_to(disk, number)?,
        (Err(Error::NoTable { .. }), TableSource::Store(from, files, like)) => {
            match open_table(&**from, *files, like) {
                Ok(table) => table.copy_to(disk, number)?,
                // The other store has no table either.
                Err(Error::NoTable { .. }) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        _ => return Ok(()),
    }
    tables.push(table_name(info.epoch));
    Ok(())
}
