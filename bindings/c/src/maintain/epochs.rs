//! Epochs: fingerprints that are comparable with each other.

use std::ffi::c_char;
use std::path::Path;

use simkeep::df::FrequencyTable;
use simkeep::fingerprint::Recipe;
use simkeep::{Epoch, EpochInfo, EpochOptions, Origin, Role};

use crate::abi;
use crate::argument::{self, bands, flag};
use crate::call::{done, found, free, getters, make};
use crate::failure::{Failure, Result};
use crate::open::snapshot::{self, SnapshotHandle};
use crate::open::store::{StoreHandle, open};
use crate::structure::{code, structure};

code! {
    /// The role of an epoch's fingerprints.
    pub enum RoleCode from Role {
        /// Verdicts and near-duplicates.
        Both = 0 of Role::Both,
        /// Verdicts and their distances.
        Change = 1 of Role::Change,
        /// Near-duplicates, copies and pairs.
        Near = 2 of Role::Near,
    }
}

structure! {
    /// Information about an epoch.
    pub struct EpochRow, up to number, from of: &EpochInfo {
        /// The number of the epoch.
        number: u32 = of.epoch.number(),
        /// The role of the epoch, a `simkeep_role`.
        role: i32 = RoleCode::of(of.role) as i32,
        /// The name of the epoch, not NUL-terminated. Valid as long as the object that
        /// it was taken from.
        name: *const c_char = of.name.as_ptr().cast(),
        /// The length of `name` in bytes.
        name_len: usize = of.name.len(),
        begun: u64,
        /// The largest distance of a minor change.
        minor: u32 = of.bands.minor,
        /// The largest distance of a moderate change.
        moderate: u32 = of.bands.moderate,
        /// Whether the epoch has ended, 1 or 0.
        ended: u32 = u32::from(of.ended),
        /// Always 0.
        reserved: u32 = 0,
    }
}

/// The epochs of a store, by number. Immutable, so any thread may read them.
#[derive(Debug)]
pub struct Epochs {
    rows: Vec<EpochRow>,
    /// The data that the rows point to.
    _of: Vec<EpochInfo>,
}

impl Epochs {
    fn new(epochs: &[EpochInfo]) -> Epochs {
        let of = epochs.to_vec();
        Epochs { rows: of.iter().map(EpochRow::new).collect(), _of: of }
    }
}

/// Converts the options of a new epoch.
fn options(role: i32, minor: i32, moderate: i32) -> Result<EpochOptions> {
    let role = match role {
        role if role == RoleCode::Both as i32 => Role::Both,
        role if role == RoleCode::Change as i32 => Role::Change,
        role if role == RoleCode::Near as i32 => Role::Near,
        _ => return Err(Failure::argument("role", "it must be a simkeep_role")),
    };
    let options = EpochOptions::from(role);
    Ok(bands(minor, moderate)?.map_or(options, |bands| options.bands(bands)))
}

/// Lists the epochs in a snapshot, by number. Verdicts use the last epoch that has not ended and
/// whose role is not `SIMKEEP_ROLE_NEAR`. Free the result with `simkeep_epochs_free`. Any thread;
/// costs a copy of the list.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_epochs(
    snapshot: *const SnapshotHandle,
    error: *mut *mut Failure,
) -> Option<Box<Epochs>> {
    make("simkeep_snapshot_epochs", error, || Ok(Epochs::new(snapshot::open(snapshot)?.0.epochs())))
}

getters! {
    epochs: Epochs;

    /// Returns the number of epochs; 0 for NULL. Any thread; costs nothing.
    fn simkeep_epochs_count -> usize = epochs.rows.len();
}

/// Copies the information about epoch `nth`, from 0, to where `epoch` points. `size` is
/// `sizeof(simkeep_epoch_info)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_epochs_get(
    epochs: *const Epochs,
    nth: usize,
    epoch: *mut EpochRow,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_epochs_get", error, || {
        let found = abi::handle(epochs, "epochs")?.rows.get(nth);
        let found = found
            .ok_or_else(|| Failure::argument("nth", "it must be less than the number of epochs"))?;
        abi::put_structure(epoch, size, found, "epoch")
    })
}

/// Frees a list of epochs, and the names in the list. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_epochs_free(epochs: Option<Box<Epochs>>) {
    free("simkeep_epochs_free", epochs);
}

/// Returns the epoch of verdicts. Observed fingerprints belong to this epoch by default. Any
/// thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_change_epoch(
    store: *const StoreHandle,
    epoch: *mut u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_change_epoch", error, || {
        abi::put(epoch, open(store)?.change_epoch().number(), "epoch")
    })
}

/// Returns the epoch of near-duplicates in a snapshot. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_near_epoch(
    snapshot: *const SnapshotHandle,
    epoch: *mut u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_snapshot_near_epoch", error, || {
        abi::put(epoch, snapshot::open(snapshot)?.0.near_epoch().number(), "epoch")
    })
}

/// Registers an epoch of external fingerprints by its name, or finds the epoch with this name, and
/// writes its number to where `epoch` points. `role` is a `simkeep_role`; `minor` and `moderate`
/// are the largest distances of minor and moderate changes, or both are -1. A new name becomes the
/// newest epoch of its role. Any thread. Costs one commit, and nothing for a known name.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_register_epoch(
    store: *mut StoreHandle,
    name: *const c_char,
    name_len: usize,
    role: i32,
    minor: i32,
    moderate: i32,
    epoch: *mut u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_register_epoch", error, || {
        let store = open(store)?;
        abi::check_put(epoch, "epoch")?;
        let options = options(role, minor, moderate)?;
        let number = store.register_epoch(abi::text(name, name_len, "name")?, options)?.number();
        abi::put(epoch, number, "epoch")
    })
}

/// Begins an epoch of one of simkeep's own recipes, for example `default` or `near`, and writes the
/// number of the epoch to where `epoch` points. `extractor` names the software that extracts the
/// texts; NULL means simkeep's own extractor, which new stores, the tool and the Python package
/// use. `table` is NULL, or the path of a table of document frequencies, which is copied into the
/// store. `simkeep_register_epoch` explains the other arguments. Any thread. Costs one commit, and
/// two more syncs for a table.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_begin_epoch(
    store: *mut StoreHandle,
    recipe: *const c_char,
    recipe_len: usize,
    extractor: *const c_char,
    extractor_len: usize,
    table: *const c_char,
    role: i32,
    minor: i32,
    moderate: i32,
    epoch: *mut u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_begin_epoch", error, || {
        let store = open(store)?;
        abi::check_put(epoch, "epoch")?;
        let options = options(role, minor, moderate)?;
        let recipe = abi::text(recipe, recipe_len, "recipe")?;
        let extractor = abi::optional_text(extractor, extractor_len, "extractor")?;
        let table = if table.is_null() { None } else { Some(abi::path(table, "table")?) };
        let number = store.begin_epoch(&origin(recipe, extractor, table)?, options)?.number();
        abi::put(epoch, number, "epoch")
    })
}

fn origin(recipe: &str, extractor: Option<&str>, table: Option<&Path>) -> Result<Origin> {
    let recipe: Recipe = recipe.parse().map_err(|e| Failure::argument("recipe", format!("{e}")))?;
    let mut origin = Origin::new(recipe);
    if let Some(extractor) = extractor {
        origin = origin.extractor(extractor)?;
    }
    if let Some(table) = table {
        origin = origin.table(FrequencyTable::open(table)?)?;
    }
    Ok(origin)
}

/// Ends an epoch permanently. `SIMKEEP_EPOCH_IN_USE` if more than `left` pages have a fingerprint
/// of their current content only in this epoch. Any thread. Costs a commit, and a scan unless
/// `left` is `UINT64_MAX`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_end_epoch(
    store: *mut StoreHandle,
    epoch: u32,
    left: u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_end_epoch", error, || {
        open(store)?.end_epoch(Epoch::from_number(epoch), left)?;
        Ok(())
    })
}

/// Restates the content that a page had at a time by storing a fingerprint in another epoch. A
/// restatement is neither a visit nor a change. `has_fingerprint` is 1, or 0 if the content has no
/// fingerprint in that epoch; `digest` points to the 16 bytes of the content's digest, or is NULL.
/// `SIMKEEP_NONE` if the page had no content at that time; then nothing was stored. Any thread.
/// Costs as much as `simkeep_observe`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_restate(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    time_ms: i64,
    fingerprint: u64,
    has_fingerprint: u32,
    epoch: u32,
    digest: *const u8,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_restate", error, || {
        let store = open(store)?;
        let url = abi::text(url, url_len, "url")?;
        let has = flag(has_fingerprint, "has_fingerprint")?;
        let epoch = Epoch::from_number(epoch);
        let restated = simkeep::Restatement::new(
            url,
            argument::time(time_ms)?,
            has.then_some(fingerprint),
            epoch,
        );
        let digest = argument::digest(digest)?;
        let restated = digest.map_or(restated, |digest| restated.digest(digest));
        let is_there = store.restate(restated)? != simkeep::RestateOutcome::Missing;
        Ok(is_there.then_some(()))
    })
}
