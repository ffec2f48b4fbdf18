//! The epochs that come with a load.
//!
//! While observations are taken, each has a number of the load's own. When the segments are written,
//! and nobody else can register an epoch, it gets the number that it has in the store; and the
//! transaction that makes the segments live registers it.

use std::collections::HashMap;
use std::sync::Arc;

use super::write::Unlisted;
use crate::bug::{Bug, OrBug, ensure};
use crate::catalog::EPOCHS_MAX;
use crate::df::Table;
use crate::disk::Disk;
use crate::engine::epochs::{
    begun, check_name, check_options, live_number, may_end, next_epoch, of_name, open_table,
    reserved,
};
use crate::engine::files::{Files, has_table, table_name, table_of};
use crate::engine::origin::Origin;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::Totals;
use crate::error::{Error, Result};
use crate::page::{Entry, Epoch, EpochInfo, EpochOptions};
use crate::sync::{Rank, RankedMutex};

/// Counts of epochs from here on are a load's own: a store hands out none of them.
const FIRST: usize = 1 << 23;
const _: () = assert!(FIRST >= EPOCHS_MAX);

/// The epochs that a load brings. They begin when the load is done, in the same commit; if the load
/// fails, they do not begin. All clones are of one.
///
/// It hands out epoch numbers for the observations of one load, to which it is passed by
/// [`LoadOptions::epochs`](super::LoadOptions::epochs). It can be asked while that load takes its
/// observations. A name that the store knows already means the store's epoch.
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
    coming: Arc<RankedMutex<Coming>>,
}

impl Default for LoadEpochs {
    fn default() -> Self {
        LoadEpochs { coming: Arc::new(RankedMutex::new(Rank::LoadEpochs, Coming::default())) }
    }
}

#[derive(Debug, Default)]
struct Coming {
    /// In the order in which they were named first.
    epochs: Vec<Named>,
    places: HashMap<String, usize>,
}

/// An epoch that was named.
#[derive(Debug)]
struct Named {
    name: String,
    /// In the load.
    number: Epoch,
    /// The options with which it was asked for, to observe in it. Then it must not have ended, nor have
    /// others.
    asked: Option<EpochOptions>,
    /// What it is in another store that it comes from.
    like: Option<Like>,
    table: Option<Source>,
}

/// What an epoch is in another store.
#[derive(Clone, Copy, Debug)]
struct Like {
    options: EpochOptions,
    begun: u64,
    ended: bool,
}

impl Named {
    fn new(name: &str, number: Epoch) -> Named {
        Named { name: name.to_owned(), number, asked: None, like: None, table: None }
    }

    /// Asks for it with these options.
    fn ask(&mut self, options: EpochOptions) -> Result<()> {
        check_options(&self.name, *self.asked.get_or_insert(options), options)
    }

    /// Its options, if it begins with the load.
    fn options(&self) -> EpochOptions {
        self.asked.or(self.like.map(|like| like.options)).unwrap_or_default()
    }
}

/// Where the table of an epoch comes from.
#[derive(Debug)]
enum Source {
    Origin(Origin),
    Store(Arc<dyn Disk>, Files, EpochInfo),
    Table(Arc<Table>),
}

impl LoadEpochs {
    /// The number of the epoch with this name in the load. If the store has none of the name, one
    /// begins with these options.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a name that is empty or has control characters, or was asked for
    /// with other options before; [`Error::Limit`] for more names than a store can have. If the epoch has
    /// ended in the store, or has other options there, the load returns an error.
    pub fn named(&self, name: &str, options: impl Into<EpochOptions>) -> Result<Epoch> {
        self.name(name, reserved(name), |named| named.ask(options.into()))
    }

    /// The number in the load of an epoch whose fingerprints simkeep makes. If the store has none of
    /// its name, one begins with these options. Its table of document
    /// frequencies, if it has one, is copied into the store.
    ///
    /// # Errors
    ///
    /// Those of [`named`](Self::named), and [`Error::InvalidArgument`] if the recipe needs a table and
    /// there is none.
    pub fn origin(&self, origin: &Origin, options: impl Into<EpochOptions>) -> Result<Epoch> {
        origin.fingerprinter()?;
        self.name(&origin.name(), origin.recipe().mask().leading_zeros(), |named| {
            named.ask(options.into())?;
            named.table = Some(Source::Origin(origin.clone()));
            Ok(())
        })
    }

    /// The numbers of another store's epochs in the load, for
    /// [`Observations::renumbered`](crate::query::Observations::renumbered). The epochs keep their
    /// order and bring their tables of document frequencies. One that is known here keeps its options.
    /// An epoch that has ended there ends here, unless pages here use it.
    ///
    /// # Errors
    ///
    /// Those of [`named`](Self::named).
    pub fn of(&self, other: &Snapshot) -> Result<Vec<Epoch>> {
        let of = |info: &EpochInfo| {
            let reserved = info.epoch.mask().leading_zeros();
            let epoch = self.like(&info.name, reserved, info.options(), info.begun, info.ended)?;
            self.name(&info.name, reserved, |named| {
                if has_table(info) && named.table.is_none() {
                    let (disk, files) = (Arc::clone(&other.view.disk), other.view.files);
                    named.table = Some(Source::Store(disk, files, info.clone()));
                }
                Ok(())
            })?;
            Ok(epoch)
        };
        other.epochs().iter().map(of).collect()
    }

    /// The number in the load of an epoch of another store, of which this is known: its name; how many
    /// leading bits of its fingerprints are reserved for metadata; its options; how many visits that
    /// store knew when it began; and whether it has ended there. What becomes of it here,
    /// [`of`](LoadEpochs::of) says. Its table comes by [`table`](LoadEpochs::table).
    ///
    /// ```
    /// use simkeep::load::{LoadEpochs, LoadOptions};
    /// use simkeep::{Observation, Options, Role, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// let epochs = LoadEpochs::default();
    /// let old = epochs.like("mine/1", 0, Role::Both, 17, true)?;
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
    /// Those of [`named`](Self::named), and [`Error::InvalidArgument`] for more than 64 reserved bits.
    /// If the store has an epoch of the name with other reserved bits, the load returns an error.
    pub fn like(
        &self,
        name: &str,
        reserved: u32,
        options: impl Into<EpochOptions>,
        begun: u64,
        ended: bool,
    ) -> Result<Epoch> {
        if reserved > u64::BITS {
            return Err(Error::invalid_argument(
                "a fingerprint has no more than 64 bits to reserve",
            ));
        }
        let like = Like { options: options.into(), begun, ended };
        self.name(name, reserved, |named| {
            named.like.get_or_insert(like);
            Ok(())
        })
    }

    /// Brings the table of document frequencies of an epoch of this load, which is copied into the
    /// store unless it has one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`] if this has not given the number, [`Error::InvalidArgument`] if the name
    /// of the epoch is of another table, or none.
    pub fn table(&self, epoch: Epoch, table: Arc<Table>) -> Result<()> {
        let mut coming = self.coming.lock();
        let named = place(epoch).and_then(|place| coming.epochs.get_mut(place));
        let named = named.filter(|named| named.number == epoch);
        let named = named.ok_or(Error::UnknownEpoch(epoch.0))?;
        if table_of(&named.name) != Some(table.id()) {
            let what = format!("the epoch {} has not the table {:016x}", named.name, table.id());
            return Err(Error::InvalidArgument(what));
        }
        named.table.get_or_insert(Source::Table(table));
        Ok(())
    }

    fn name(
        &self,
        name: &str,
        reserved: u32,
        note: impl FnOnce(&mut Named) -> Result<()>,
    ) -> Result<Epoch> {
        let Coming { epochs, places } = &mut *self.coming.lock();
        let named = match places.get(name).and_then(|place| epochs.get_mut(*place)) {
            Some(named) => named,
            None => {
                check_name(name)?;
                next_epoch(epochs.len(), reserved)?;
                let number = Epoch::new(FIRST + epochs.len(), reserved);
                let number = number.or_bug("a load's numbers fit beside those of a store")?;
                places.insert(name.to_owned(), epochs.len());
                epochs.push_mut(Named::new(name, number))
            }
        };
        note(named)?;
        Ok(named.number)
    }

    /// Whether this handed out a number.
    pub(super) fn has(&self, epoch: Epoch) -> bool {
        let coming = self.coming.lock();
        let named = place(epoch).and_then(|place| coming.epochs.get(place));
        named.is_some_and(|named| named.number == epoch)
    }
}

/// The place of an epoch by its number, if that is a load's own.
fn place(epoch: Epoch) -> Option<usize> {
    usize::try_from(epoch.count()).ok()?.checked_sub(FIRST)
}

/// The epochs of a load, as they are in the store. As long as this exists, nobody else may register
/// or end an epoch.
#[derive(Debug)]
pub(super) struct Settled {
    /// The number in the store of each that was named.
    numbers: Vec<Epoch>,
    /// All epochs of the store, as they are when the load is live.
    pub(super) all: Vec<EpochInfo>,
    /// Those that begin.
    pub(super) begun: Vec<EpochInfo>,
    /// Those that were there, and end.
    pub(super) ended: Vec<EpochInfo>,
    /// The tables that were put in place.
    pub(super) tables: Unlisted,
}

impl Settled {
    /// Finds out, and puts their tables in place: durable when this returns. `now` is all that the
    /// store has.
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        now: &Snapshot,
        epochs: &LoadEpochs,
    ) -> Result<Settled> {
        let mut settled = Settled {
            numbers: Vec::new(),
            all: now.epochs().to_vec(),
            begun: Vec::new(),
            ended: Vec::new(),
            tables: Unlisted::new(disk),
        };
        let coming = epochs.coming.lock();
        let named = &coming.epochs[..];
        for named in named {
            settled.settle(now, named)?;
        }
        ensure(settled.numbers.len() == named.len(), "each epoch of a load gets a number")?;
        for (named, epoch) in named.iter().zip(&settled.numbers) {
            // An epoch that was here and has no pages ends as well.
            let ends = named.like.as_ref().is_some_and(|like| like.ended)
                && named.asked.is_none()
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

    fn settle(&mut self, now: &Snapshot, named: &Named) -> Result<()> {
        if let Some(info) = of_name(&self.all, &named.name) {
            if let Some(asked) = named.asked {
                live_number(info)?;
                check_options(&named.name, info.options(), asked)?;
            }
            if info.epoch.mask() != named.number.mask() {
                let what = format!(
                    "the epoch {} reserves other bits of its fingerprints here than there",
                    named.name
                );
                return Err(Error::InvalidArgument(what));
            }
            self.numbers.push(info.epoch);
            return Ok(());
        }
        let reserved = named.number.mask().leading_zeros();
        let epoch = next_epoch(self.all.len(), reserved)?;
        let visits = Totals::of(now)?.visits;
        let like = named.like;
        let visits = like.filter(|_| visits == 0).map_or(visits, |like| like.begun);
        let ended = named.asked.is_none() && like.is_some_and(|like| like.ended);
        let info = EpochInfo { ended, ..begun(epoch, &named.name, visits, named.options())? };
        self.begun.push(info.clone());
        self.all.push(info);
        self.numbers.push(epoch);
        Ok(())
    }

    /// Whether the load changes nothing of the epochs.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.ended.is_empty()
    }

    /// Gives an entry the number that its epoch has in the store. Returns whether that changed the
    /// number.
    pub(super) fn renumber(&self, entry: &mut Entry) -> Result<bool, Bug> {
        let Some(epoch) = entry.epoch_mut() else { return Ok(false) };
        let Some(place) = place(*epoch) else { return Ok(false) };
        let number = self.numbers.get(place);
        *epoch = *number.or_bug("a load's number was handed out for it")?;
        Ok(true)
    }
}

/// Puts a table in place, unless the epoch has one.
fn put_table(
    disk: &Arc<dyn Disk>,
    source: &Source,
    info: &EpochInfo,
    tables: &mut Unlisted,
) -> Result<()> {
    let number = info.epoch.count().into();
    match (open_table(&**disk, Files::Own, info), source) {
        (Err(Error::NoTable { .. }), Source::Origin(origin)) => {
            let table = origin.frequencies().or_bug("an origin has the table of its name")?;
            table.copy_to(disk, number)?;
        }
        (Err(Error::NoTable { .. }), Source::Table(table)) => table.copy_to(disk, number)?,
        (Err(Error::NoTable { .. }), Source::Store(from, files, like)) => {
            match open_table(&**from, *files, like) {
                Ok(table) => table.copy_to(disk, number)?,
                // It has none, either.
                Err(Error::NoTable { .. }) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        _ => return Ok(()),
    }
    tables.push(table_name(info.epoch));
    Ok(())
}
