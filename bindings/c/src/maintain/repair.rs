//! Repairs: a new store from the sound parts of a damaged store.

use std::ffi::c_char;

use simkeep::repair::{self, RepairOptions};

use crate::abi;
use crate::argument::{flag, to_usize};
use crate::call::{done, free, getters, make};
use crate::failure::Failure;
use crate::progress::{self, ProgressHandle};
use crate::structure::{bits, structure};
use crate::texts::{TextColumn, Texts, place};

structure! {
    /// Summary figures of a repair.
    pub struct RepairedNumbers, up to flaws, from of: &repair::Repaired {
        pages: u64,
        visits: u64,
        /// Whether all data was saved, and no forgotten page was restored, 1 or 0.
        is_whole: u64 = u64::from(of.is_whole()),
        /// The number of losses.
        lost: u64 = of.lost.len() as u64,
        lost_pages: u64,
        lost_visits: u64,
        /// The number of journal frames with wrong checksums. The operations of these frames are
        /// lost.
        damaged_frames: u64,
        withheld_pages: u64,
        /// The number of flaws, including flaws without a loss.
        flaws: u64 = of.flaws.len() as u64 + of.more_flaws,
    }
}

/// `has`: the byte range of a loss in its file.
pub const SIMKEEP_LOSS_HAS_BYTES: u32 = 1;
/// `has`: the first of the operations that include the loss.
pub const SIMKEEP_LOSS_HAS_FIRST: u32 = 2;
/// `has`: the last of the operations that include the loss.
pub const SIMKEEP_LOSS_HAS_LAST: u32 = 4;
/// `has`: the number of lost records of pages. Without the number of records, a whole file or
/// operations are lost.
pub const SIMKEEP_LOSS_HAS_PAGES: u32 = 8;

structure! {
    /// Data that could not be saved. The texts are not NUL-terminated, and are valid as long as
    /// their source.
    pub struct Loss, up to has, from of: &repair::Loss {
        /// The path of the file that contained the data, relative to the store's directory.
        file: *const c_char = of.file.as_ptr().cast(),
        /// The length of `file` in bytes.
        file_len: usize = of.file.len(),
        /// The reason for the loss.
        why: *const c_char = of.why.as_ptr().cast(),
        /// The length of `why` in bytes.
        why_len: usize = of.why.len(),
        /// The start of the loss in the file. Data outside of this range is not lost.
        bytes_from: u64 = of.bytes.as_ref().map_or(0, |bytes| bytes.start),
        /// The end of the loss in the file.
        bytes_to: u64 = of.bytes.as_ref().map_or(0, |bytes| bytes.end),
        /// The first of the operations that include the loss. If `pages` is not set, all these
        /// operations are lost.
        first: u64 = of.operations.map_or(0, |(first, _)| first),
        /// The last of the operations that include the loss.
        last: u64 = last(of).unwrap_or(0),
        /// The number of lost records of pages.
        pages: u64 = of.pages.unwrap_or(0),
        /// The page before the lost pages in SURT order; NULL if unknown.
        after: *const c_char = place(of.after_url.as_ref()).0,
        /// The length of `after` in bytes.
        after_len: usize = place(of.after_url.as_ref()).1,
        /// The page after the lost pages in SURT order; NULL if unknown.
        before: *const c_char = place(of.before_url.as_ref()).0,
        /// The length of `before` in bytes.
        before_len: usize = place(of.before_url.as_ref()).1,
        /// The optional fields that are set: `SIMKEEP_LOSS_HAS_...`.
        has: u32 = bits(&[
            (of.bytes.is_some(), SIMKEEP_LOSS_HAS_BYTES),
            (of.operations.is_some(), SIMKEEP_LOSS_HAS_FIRST),
            (last(of).is_some(), SIMKEEP_LOSS_HAS_LAST),
            (of.pages.is_some(), SIMKEEP_LOSS_HAS_PAGES),
        ]),
        /// Always 0.
        reserved: u32 = 0,
    }
}

/// Returns the last of the operations that include a loss.
fn last(of: &repair::Loss) -> Option<u64> {
    of.operations.and_then(|(_, last)| last)
}

/// The result of a repair. Immutable, so any thread may read it.
#[derive(Debug)]
pub struct Repaired {
    numbers: RepairedNumbers,
    lost: Vec<Loss>,
    ambiguities: TextColumn,
    unnamed: TextColumn,
    /// The data that the losses point to.
    _of: Vec<repair::Loss>,
}

impl Repaired {
    fn new(repaired: repair::Repaired) -> Repaired {
        Repaired {
            numbers: RepairedNumbers::new(&repaired),
            lost: repaired.lost.iter().map(Loss::new).collect(),
            ambiguities: repaired.ambiguities.iter().collect(),
            unnamed: repaired.unnamed_epochs.iter().collect(),
            _of: repaired.lost,
        }
    }
}

/// Makes a new store, in a new or empty directory, from the sound parts of the store at `path`, and
/// reports losses. `keep_forgotten` is 1 to keep pages that a lost operation may have forgotten.
/// With 0, the result is `SIMKEEP_AMBIGUOUS_REPAIR` if a lost operation may have forgotten pages.
/// `memory_bytes` limits the memory, 0 for 512 MiB. `progress` may be NULL. After an error there is
/// no new store. Free the result with `simkeep_repaired_free`. Any thread. Costs reading all files
/// twice, and writing a store.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repair(
    path: *const c_char,
    to_path: *const c_char,
    keep_forgotten: u32,
    memory_bytes: u64,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Repaired>> {
    make("simkeep_repair", error, || {
        let (from, to) = (abi::path(path, "path")?, abi::path(to_path, "to_path")?);
        let keep = flag(keep_forgotten, "keep_forgotten")?;
        let mut options = RepairOptions::default().keep_forgotten(keep);
        if memory_bytes > 0 {
            options = options.memory_bytes(to_usize(memory_bytes));
        }
        let options = options.progress(progress::of(progress)?);
        Ok(Repaired::new(repair::repair(from, to, options)?))
    })
}

/// Copies the summary figures of a repair to where `numbers` points. `size` is
/// `sizeof(simkeep_repaired_numbers)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repaired_get(
    repaired: *const Repaired,
    numbers: *mut RepairedNumbers,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_repaired_get", error, || {
        let of = &abi::handle(repaired, "repaired")?.numbers;
        abi::put_structure(numbers, size, of, "numbers")
    })
}

/// Copies loss `nth`, from 0, to where `loss` points. `size` is `sizeof(simkeep_loss)`. Any thread;
/// costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repaired_loss(
    repaired: *const Repaired,
    nth: usize,
    loss: *mut Loss,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_repaired_loss", error, || {
        let found = abi::handle(repaired, "repaired")?.lost.get(nth);
        let found = found
            .ok_or_else(|| Failure::argument("nth", "it must be less than the number of losses"))?;
        abi::put_structure(loss, size, found, "loss")
    })
}

getters! {
    repaired: Repaired;

    /// Returns the reasons why forgotten pages may have been restored: the lost operations that may
    /// have forgotten pages. Only repairs with `keep_forgotten` have reasons. Valid as long as
    /// `repaired`; NULL for NULL. Any thread; costs nothing.
    fn simkeep_repaired_ambiguities -> *const Texts = repaired.ambiguities.view();
    /// Returns the new names of epochs whose names are unreadable. Valid as long as `repaired`;
    /// NULL for NULL. Any thread; costs nothing.
    fn simkeep_repaired_unnamed_epochs -> *const Texts = repaired.unnamed.view();
}

/// Frees the result of a repair. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repaired_free(repaired: Option<Box<Repaired>>) {
    free("simkeep_repaired_free", repaired);
}
