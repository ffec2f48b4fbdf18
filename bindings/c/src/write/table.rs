//! Observations as Arrow tables.

use crate::abi::arrow::{ArrowArray, ArrowSchema, BorrowedColumn, BorrowedTable};
use crate::call::{done, make};
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::progress::ProgressHandle;
use crate::write::load::{LoadedNumbers, load};
use crate::write::observe::batch;
use crate::write::outcomes::Outcomes;
use crate::write::visit::{
    SIMKEEP_HAS_ALSO, SIMKEEP_HAS_ALSO_FINGERPRINT, SIMKEEP_HAS_BYTES, SIMKEEP_HAS_CLASS,
    SIMKEEP_HAS_CONDITIONAL, SIMKEEP_HAS_DIGEST, SIMKEEP_HAS_ETAG, SIMKEEP_HAS_FINGERPRINT,
    SIMKEEP_HAS_MODIFIED, SIMKEEP_HAS_STATUS, SIMKEEP_HAS_TARGET, SIMKEEP_HAS_WEIGHT, SeenCode,
    Visit, all,
};

/// The supported columns.
const COLUMNS: &str = "url, time, seen, fingerprint, digest, epoch, status, modified, weight, class, \
                       also_fingerprint, also_epoch, bytes, etag, target, conditional";

/// Observes the visits of an Arrow table in order, and returns the outcomes like
/// `simkeep_observe_batch`. The columns of the table, by name:
///
/// - `url`: text. `time`: a timestamp, or milliseconds since 1970. The columns `url` and `time` are
///   mandatory.
/// - `seen`: text, `content`, `not-modified`, `gone` or `failed`. Without the column `seen`, all
///   visits have the result `content`.
/// - `fingerprint`: 64 bits, signed or not. Null for content without a fingerprint.
/// - `digest`: 16 bytes. `status`, `class`: integers. `modified`: a time in the form of `time`.
///   `weight`: a number.
/// - `epoch`: an integer. Null, or a missing column, means the epoch of `simkeep_change_epoch`.
/// - `bytes`: an integer. `etag`: bytes. `target`: text. See `simkeep_visit`. `conditional`: a
///   boolean, whether the request was conditional.
/// - `also_fingerprint` and `also_epoch`, for content that also has a fingerprint in another epoch.
///
/// All columns except the first two may be missing, or null in a row. Texts and bytes may have any
/// layout, including dictionaries. The structures are read until the call returns, and are not
/// released. For an invalid row, `simkeep_error_row` is its index, and no visit is stored. Free the
/// result with `simkeep_outcomes_free`. Any thread. Costs as much as `simkeep_observe_batch`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_observe_arrow(
    store: *mut StoreHandle,
    schema: *const ArrowSchema,
    array: *const ArrowArray,
    error: *mut *mut Failure,
) -> Option<Box<Outcomes>> {
    make("simkeep_observe_arrow", error, || {
        let store = open(store)?;
        let visits = visits(BorrowedTable::borrow(schema, array)?, store.change_epoch().number())?;
        batch(store, &visits)
    })
}

/// Loads the visits of an Arrow table, with the columns of `simkeep_observe_arrow`, like
/// `simkeep_load` for an array.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_load_arrow(
    store: *mut StoreHandle,
    schema: *const ArrowSchema,
    array: *const ArrowArray,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    loaded: *mut LoadedNumbers,
    loaded_size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_load_arrow", error, || {
        load(store, memory_bytes, progress, (loaded, loaded_size), |store, options| {
            let visits =
                visits(BorrowedTable::borrow(schema, array)?, store.change_epoch().number())?;
            Ok(store.load(all(&visits)?.into_iter().map(Ok), options)?)
        })
    })
}

/// Returns the visits of a table; visits without an epoch get `epoch`.
pub(crate) fn visits(mut table: BorrowedTable<'_>, epoch: u32) -> Result<Vec<Visit>> {
    let mut visits = Vec::new();
    let no_memory = |_| Failure::argument("array", "there is not enough memory for its rows");
    visits.try_reserve_exact(table.rows()).map_err(no_memory)?;
    visits.resize(table.rows(), Visit::at_epoch(epoch));
    for (name, set) in SETTERS {
        let must_be = matches!(*name, "url" | "time");
        let Some(column) = table.take(name)? else {
            if must_be {
                return Err(Failure::argument("schema", format!("the column {name:?} is missing")));
            }
            continue;
        };
        for (row, visit) in visits.iter_mut().enumerate() {
            let is_there = column.is_valid(row);
            let put = is_there.and_then(|is_there| match is_there {
                true => set(visit, &column, row),
                false if must_be => Err(Failure::argument("array", "it must not be null")),
                false => Ok(()),
            });
            put.map_err(|e| e.within(&format!("column {name:?}")).at(row))?;
        }
    }
    table.finish(COLUMNS)?;
    Ok(visits)
}

/// Sets a field of a visit from the value of a row.
type FieldSetter = fn(&mut Visit, &BorrowedColumn<'_>, usize) -> Result<()>;

/// The field of a visit for each column.
const SETTERS: &[(&str, FieldSetter)] = &[
    ("url", |visit, column, row| {
        let url = column.bytes(row)?;
        (visit.url, visit.url_len) = (url.as_ptr().cast(), url.len());
        Ok(())
    }),
    ("time", |visit, column, row| {
        visit.time_ms = column.time(row)?;
        Ok(())
    }),
    ("seen", |visit, column, row| {
        visit.seen = match column.bytes(row)? {
            b"content" => SeenCode::Content,
            b"redirect" => SeenCode::Redirect,
            b"not-modified" => SeenCode::NotModified,
            b"gone" => SeenCode::Gone,
            b"failed" => SeenCode::Failed,
            _ => {
                let what = "it must be content, redirect, not-modified, gone or failed";
                return Err(Failure::argument("seen", what));
            }
        } as i32;
        Ok(())
    }),
    ("fingerprint", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_FINGERPRINT;
        visit.fingerprint = fingerprint(column, row)?;
        Ok(())
    }),
    ("digest", |visit, column, row| {
        let wrong = |_| Failure::argument("digest", "it must be 16 bytes");
        visit.has |= SIMKEEP_HAS_DIGEST;
        visit.digest = column.bytes(row)?.try_into().map_err(wrong)?;
        Ok(())
    }),
    ("epoch", |visit, column, row| {
        visit.epoch = small(column, row)?;
        Ok(())
    }),
    ("status", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_STATUS;
        visit.status = small(column, row)?;
        Ok(())
    }),
    ("modified", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_MODIFIED;
        visit.modified_ms = column.time(row)?;
        Ok(())
    }),
    ("weight", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_WEIGHT;
        visit.weight = column.number(row)?;
        Ok(())
    }),
    ("class", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_CLASS;
        visit.page_class = small(column, row)?;
        Ok(())
    }),
    ("also_fingerprint", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_ALSO_FINGERPRINT;
        visit.also_fingerprint = fingerprint(column, row)?;
        Ok(())
    }),
    ("also_epoch", |visit, column, row| {
        visit.has |= SIMKEEP_HAS_ALSO;
        visit.also_epoch = small(column, row)?;
        Ok(())
    }),
    ("bytes", |visit, column, row| {
        let wrong = |_| Failure::argument("bytes", "it must be from 0 to 2^64 - 1");
        visit.has |= SIMKEEP_HAS_BYTES;
        visit.bytes = u64::try_from(column.integer(row)?).map_err(wrong)?;
        Ok(())
    }),
    ("etag", |visit, column, row| {
        let etag = column.bytes(row)?;
        visit.has |= SIMKEEP_HAS_ETAG;
        (visit.etag, visit.etag_len) = (etag.as_ptr().cast(), etag.len());
        Ok(())
    }),
    ("target", |visit, column, row| {
        let target = column.bytes(row)?;
        visit.has |= SIMKEEP_HAS_TARGET;
        (visit.target, visit.target_len) = (target.as_ptr().cast(), target.len());
        Ok(())
    }),
    ("conditional", |visit, column, row| {
        if column.flag(row)? {
            visit.has |= SIMKEEP_HAS_CONDITIONAL;
        }
        Ok(())
    }),
];

/// Returns the 64 bits of a fingerprint.
fn fingerprint(column: &BorrowedColumn<'_>, row: usize) -> Result<u64> {
    let number = column.integer(row)?;
    let bits = u64::try_from(number).or_else(|_| i64::try_from(number).map(i64::cast_unsigned));
    bits.map_err(|_| Failure::argument("fingerprint", "it must have at most 64 bits"))
}

/// Returns the number in a row, of at most 32 bits.
fn small(column: &BorrowedColumn<'_>, row: usize) -> Result<u32> {
    let number = column.integer(row)?;
    u32::try_from(number).map_err(|_| Failure::argument("array", "it must be from 0 to 4294967295"))
}
