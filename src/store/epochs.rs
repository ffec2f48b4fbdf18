//! The epochs of a store: begun, looked up, ended.

use super::origin::{Named, Origin};
use super::view::View;
use crate::bug::OrBug;
use crate::catalog::{EPOCHS_MAX, is_epoch_name};
use crate::df::Table;
use crate::disk::{Disk, Name};
use crate::error::{Error, Result};
use crate::fingerprint::Meaning;
use crate::page::{Distance, Epoch, EpochInfo};

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

/// What a distance means, by the recipe of its epoch.
pub(super) fn meaning(epochs: &[EpochInfo], distance: Distance) -> Meaning {
    let Distance { bits, epoch } = distance;
    let named = known(epochs, epoch).and_then(|info| Named::parse(&info.name));
    named.map_or_else(|| Meaning::ready_made(bits), |named| named.recipe.meaning(bits))
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
