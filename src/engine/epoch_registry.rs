//! The epochs of an open store: registered, begun and ended, one at a time.

use std::sync::Arc;

use super::core::Core;
use super::epochs::{
    Epochs, check_name, check_options, live_number, may_end, new_epoch, next_epoch, of_name,
    reserved,
};
use super::files::{has_table, table_name};
use super::origin::Origin;
use super::publisher::Publisher;
use super::snapshot::Snapshot;
use super::view::View;
use crate::bug::ensure;
use crate::engine::store::Store;
use crate::engine::totals::StoreTotals;
use crate::error::{Error, Result};
#[cfg(doc)]
use crate::page::Observation;
use crate::page::{Content, Epoch, EpochInfo, EpochOptions, find_epoch};
use crate::sync::{LockRank, RankedGuard, RankedMutex};

impl Store {
    /// Registers an epoch by name, with [options](EpochOptions) or just a role, and returns its
    /// number.
    ///
    /// A new name becomes the newest epoch of its role, and costs one commit; a known name costs
    /// nothing. Use this method for fingerprints that are not made by simkeep's recipes. For
    /// fingerprints of simkeep's recipes, use [`begin_epoch`](Store::begin_epoch).
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Role, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.register_epoch("perceptual hash 1.2", Role::Near)?;
    /// let seen = Observation::content("https://example.com/logo.png", Time::now(), 0x8f3c, epoch);
    /// store.observe(seen)?;
    /// assert_eq!(store.snapshot().near(0x8f3d, 3)?.near.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a name that is empty or has control characters, for bands
    /// that no fingerprint can have, or for an epoch with other options; [`Error::Limit`] if there
    /// are 32,768 epochs already, [`Error::EndedEpoch`] if the epoch has ended, [`Error::Io`].
    pub fn register_epoch(&self, name: &str, options: impl Into<EpochOptions>) -> Result<Epoch> {
        self.change(|db| db.registry.register(name, options.into()))
    }

    /// Begins an epoch, with [options](EpochOptions) or just a role.
    ///
    /// The epoch becomes the newest epoch of its role: verdicts use it, or searches for
    /// near-duplicates, or both. Pages without a fingerprint of the epoch are
    /// [stale](crate::query::StalePages). The epoch's table of document frequencies, if it has one, is
    /// copied into the store's directory and stays until the epoch [ends](Store::end_epoch). An
    /// existing epoch does not begin again, but gets its table if the table is missing. Costs one
    /// commit, and two more syncs for a table.
    ///
    /// While two epochs live, make the fingerprints of both epochs for each page that you fetch,
    /// and pass the second fingerprint by [`Observation::also`]. If the new epoch replaces the old
    /// epoch, the distance to earlier content is then known, whichever epoch the earlier content
    /// has. If each epoch has its own role, verdicts use one epoch, and near-duplicates the other,
    /// permanently.
    ///
    /// ```
    /// use simkeep::query::StalePages;
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
    /// assert_eq!(StalePages::of(&store.snapshot(), new, None).count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EndedEpoch`] if the epoch has ended, [`Error::InvalidArgument`] if the recipe needs
    /// a table and has none, for bands that no fingerprint can have, or if the epoch began with
    /// other options; [`Error::Io`].
    pub fn begin_epoch(&self, origin: &Origin, options: impl Into<EpochOptions>) -> Result<Epoch> {
        self.change(|db| db.registry.begin(origin, options.into()))
    }

    /// Ends an epoch permanently. After this call, nothing can be observed or searched in the
    /// epoch.
    ///
    /// The epoch's table of document frequencies is removed at once, and its fingerprint tables
    /// with later merges. Histories keep its fingerprints. The last epoch for verdicts cannot end,
    /// nor the last epoch for near-duplicates.
    ///
    /// At most `left` pages may be left behind: their current version has a fingerprint in this
    /// epoch, but none in the epoch that replaces it. No search finds such a page, and the page
    /// gets no distances, until it is observed again or restated. Pages observed in this epoch
    /// during the call are left behind as well. Costs a commit, and a scan unless `left` is
    /// `u64::MAX`.
    ///
    /// ```
    /// # use simkeep::{Options, Role, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let old = store.change_epoch();
    /// store.register_epoch("my own hashes", Role::Both)?;
    /// store.end_epoch(old, 0)?; // fails if a page still needs it
    /// assert!(store.snapshot().epochs()[0].ended);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EpochInUse`] if more pages would be left behind, [`Error::UnknownEpoch`],
    /// [`Error::InvalidArgument`] for the last epoch of a role, [`Error::Corrupt`], [`Error::Io`].
    pub fn end_epoch(&self, epoch: Epoch, left: u64) -> Result<()> {
        self.change(|db| db.registry.end(epoch, left))
    }
}

/// Changes the list of epochs.
#[derive(Debug)]
pub(crate) struct EpochRegistry {
    core: Arc<Core>,
    publisher: Arc<Publisher>,
    /// The lock that is held while an epoch is registered or ended.
    registering: RankedMutex<()>,
}

impl EpochRegistry {
    pub(crate) fn new(core: &Arc<Core>, publisher: &Arc<Publisher>) -> EpochRegistry {
        let (core, publisher) = (Arc::clone(core), Arc::clone(publisher));
        EpochRegistry { core, publisher, registering: RankedMutex::new(LockRank::Epochs, ()) }
    }

    /// Prevents epochs from beginning and ending while the result exists.
    pub(crate) fn hold(&self) -> RankedGuard<'_, ()> {
        self.registering.lock()
    }

    /// Returns the epoch with a name. Registers the epoch if it does not exist.
    pub(crate) fn register(&self, name: &str, options: EpochOptions) -> Result<Epoch> {
        live_number(&self.register_with(name, reserved(name), options, |_| Ok(()))?)
    }

    /// Returns the epoch with an origin, and adds its table. Registers the epoch if it does not
    /// exist.
    pub(crate) fn begin(&self, origin: &Origin, options: EpochOptions) -> Result<Epoch> {
        let Core { disk, live, .. } = &*self.core;
        origin.fingerprinter()?;
        let reserved = origin.recipe().mask().leading_zeros();
        let mut copied = false;
        let info = self.register_with(&origin.name(), reserved, options, |epoch| {
            copied = true;
            let table = origin.frequencies();
            table.map_or(Ok(()), |table| table.copy_to(disk, epoch.count().into()))
        })?;
        let epoch = live_number(&info)?;
        // An epoch that was registered by name only, or that lost its table, gets the table.
        if let Some(table) = origin.frequencies().filter(|_| !copied)
            && Origin::of(&live.snapshot(), epoch).is_err()
        {
            table.copy_to(disk, epoch.count().into())?;
        }
        Ok(epoch)
    }

    /// Ends an epoch; at most `left` pages may have a current version that belongs to it.
    pub(crate) fn end(&self, epoch: Epoch, left: u64) -> Result<()> {
        let _one = self.hold();
        self.core.lifecycle.check()?;
        let view = self.core.live.view();
        let info = find_epoch(&view.epochs, epoch).ok_or(Error::UnknownEpoch(epoch.0))?;
        if info.ended {
            return Ok(());
        }
        if !may_end(&view.epochs, info) {
            let what = format!(
                "the epoch {} is the last epoch with its role; begin another epoch with this role \
                 first",
                info.name
            );
            return Err(Error::InvalidArgument(what));
        }
        if left < u64::MAX {
            let now = Snapshot::new(Arc::clone(&view), u64::MAX);
            check_left(&now, info, left)?;
        }
        self.put(EpochInfo { ended: true, ..info.clone() })?;
        self.publisher.publish(Vec::new())?;
        self.remove_table(info);
        Ok(())
    }

    /// Returns the epoch with a name, ended or not, or a new epoch with `reserved` reserved bits.
    /// `prepare` is called before a new epoch is registered.
    fn register_with(
        &self,
        name: &str,
        reserved: u32,
        options: EpochOptions,
        prepare: impl FnOnce(Epoch) -> Result<()>,
    ) -> Result<EpochInfo> {
        let Core { live, lifecycle, .. } = &*self.core;
        if let Some(info) = with_options(&live.view().epochs, name, options)? {
            return Ok(info);
        }
        // One epoch is registered at a time; readers of the list do not wait.
        let _one = self.hold();
        let view = live.view();
        if let Some(info) = with_options(&view.epochs, name, options)? {
            return Ok(info);
        }
        lifecycle.check()?;
        check_name(name)?;
        let epoch = next_epoch(view.epochs.len(), reserved)?;
        let info = new_epoch(epoch, name, StoreTotals::of(&live.snapshot())?.visits, options)?;
        prepare(epoch)?;
        self.put(info.clone())?;
        Ok(info)
    }

    /// Stores the new state of an epoch, durably.
    fn put(&self, info: EpochInfo) -> Result<()> {
        let Core { catalog, live, .. } = &*self.core;
        let mut epochs = live.view().epochs.to_vec();
        let next = epochs.len();
        match epochs.iter_mut().find(|known| known.epoch == info.epoch) {
            Some(known) => known.clone_from(&info),
            None => {
                ensure(info.epoch.count() as usize == next, "epochs are numbered in order")?;
                epochs.push(info.clone());
            }
        }
        catalog.put_epoch(&info).map_err(|e| self.core.poison(e))?;
        // Nobody else registers or ends an epoch meanwhile.
        live.change(|view| View { epochs: Arc::new(Epochs::new(epochs)), ..view.clone() });
        Ok(())
    }

    /// Removes the table of an ended epoch; `info` is its description before it ended.
    pub(crate) fn remove_table(&self, info: &EpochInfo) {
        if has_table(info) {
            // If the removal fails, the next open finds the file and removes it.
            let _ = self.core.disk.remove(table_name(info.epoch));
        }
    }
}

/// The epoch with a name, if it exists; the epoch must have the options `options`.
fn with_options(
    epochs: &[EpochInfo],
    name: &str,
    options: EpochOptions,
) -> Result<Option<EpochInfo>> {
    let info = of_name(epochs, name);
    info.map_or(Ok(()), |info| check_options(name, info.options(), options))?;
    Ok(info.cloned())
}

/// Checks that at most `left` pages would be left behind: pages whose current version has a
/// fingerprint in this epoch, but for some role no fingerprint in the epoch that would be in use
/// without this epoch.
fn check_left(now: &Snapshot, info: &EpochInfo, left: u64) -> Result<()> {
    let ended = |one: &EpochInfo| one.ended || one.epoch == info.epoch;
    let without: Vec<EpochInfo> =
        now.epochs().iter().map(|one| EpochInfo { ended: ended(one), ..one.clone() }).collect();
    let without = Epochs::new(without);
    let roles =
        [(without.change(), info.role.detects_changes()), (without.near(), info.role.finds_near())];
    let mut pages = 0;
    for page in now.scan(None) {
        let page = page?;
        let has = |epoch| page.contents.iter().any(|content| content.epoch == epoch);
        let of_it = |content: &&Content| content.epoch == info.epoch;
        let has_fingerprint =
            page.contents.iter().find(of_it).is_some_and(|c| c.fingerprint.is_some());
        let is_left =
            has_fingerprint && roles.iter().any(|(epoch, is_role)| *is_role && !has(*epoch));
        pages += u64::from(is_left);
        if pages > left {
            return Err(Error::EpochInUse { name: info.name.clone(), url: page.url });
        }
    }
    Ok(())
}
