//! A new store of what is sound in a damaged one.

use std::ffi::c_char;

use simkeep::integrity::{self, RepairOptions};

use crate::abi::{self, plain};
use crate::argument::{flag, to_usize};
use crate::call::{done, free, make, quiet};
use crate::failure::Failure;
use crate::progress::{self, ProgressHandle};
use crate::texts::{TextColumn, Texts};

/// What a repair saved and lost, in numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RepairedNumbers {
    /// Pages of the new store.
    pub pages: u64,
    /// Its visits.
    pub visits: u64,
    /// Whether all was saved, and nothing that was forgotten, 1 or 0.
    pub whole: u64,
    /// How many losses there are.
    pub lost: u64,
    /// Lost records of pages, as far as they could be counted.
    pub lost_pages: u64,
    /// Lost visits, as far as they could be counted.
    pub lost_visits: u64,
    /// Frames of the journal that do not have their checksums. What they had is among the lost
    /// operations.
    pub damaged_frames: u64,
    /// Pages of which something was left out, because a lost operation may have forgotten it.
    pub withheld_pages: u64,
    /// How many flaws were found, whether or not they lost anything.
    pub flaws: u64,
}

plain!(RepairedNumbers, up to flaws);

/// `has`: where in the file a loss is.
pub const SIMKEEP_LOSS_HAS_BYTES: u32 = 1;
/// `has`: the first operation that a loss was among.
pub const SIMKEEP_LOSS_HAS_FIRST: u32 = 2;
/// `has`: the last operation that a loss was among.
pub const SIMKEEP_LOSS_HAS_LAST: u32 = 4;
/// `has`: how many records of pages are lost; without it, a whole file or operations are.
pub const SIMKEEP_LOSS_HAS_PAGES: u32 = 8;

/// Something that could not be saved. No NUL ends its texts, which live as long as what it was got from.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Loss {
    /// The file that had it, by its path within the store's directory.
    pub file: *const c_char,
    /// Its length in bytes.
    pub file_len: usize,
    /// Why it is lost.
    pub why: *const c_char,
    /// Its length in bytes.
    pub why_len: usize,
    /// Where in the file it begins. Nothing outside of these bytes is lost.
    pub bytes_from: u64,
    /// Where it ends.
    pub bytes_to: u64,
    /// The first operation that it was among. If no pages are counted, all of them are lost.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// How many records of pages are lost.
    pub pages: u64,
    /// The lost pages come after this one in SURT order; NULL if none is known.
    pub after: *const c_char,
    /// Its length in bytes.
    pub after_len: usize,
    /// They come before this one; NULL if none is known.
    pub before: *const c_char,
    /// Its length in bytes.
    pub before_len: usize,
    /// Which of the others there are: `SIMKEEP_LOSS_HAS_...`.
    pub has: u32,
    /// 0.
    pub reserved: u32,
}

plain!(Loss, up to has);

/// What a repair saved and lost. Nothing changes it: any thread may read it.
#[derive(Debug)]
pub struct Repaired {
    numbers: RepairedNumbers,
    lost: Vec<Loss>,
    doubts: TextColumn,
    unnamed: TextColumn,
    /// What the losses point into.
    _of: Vec<integrity::Loss>,
}

impl Repaired {
    fn new(repaired: integrity::Repaired) -> Repaired {
        let numbers = RepairedNumbers {
            pages: repaired.pages,
            visits: repaired.visits,
            whole: u64::from(repaired.is_whole()),
            lost: repaired.lost.len() as u64,
            lost_pages: repaired.lost_pages,
            lost_visits: repaired.lost_visits,
            damaged_frames: repaired.damaged_frames,
            withheld_pages: repaired.withheld_pages,
            flaws: repaired.flaws.len() as u64 + repaired.more_flaws,
        };
        Repaired {
            numbers,
            lost: repaired.lost.iter().map(Loss::new).collect(),
            doubts: repaired.doubts.iter().collect(),
            unnamed: repaired.unnamed_epochs.iter().collect(),
            _of: repaired.lost,
        }
    }
}

impl Loss {
    fn new(of: &integrity::Loss) -> Loss {
        let place = |text: Option<&String>| {
            text.map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
        };
        let (file, file_len) = place(Some(&of.file));
        let (why, why_len) = place(Some(&of.why));
        let (after, after_len) = place(of.after.as_ref());
        let (before, before_len) = place(of.before.as_ref());
        let last = of.operations.and_then(|(_, last)| last);
        let bits = [
            (of.bytes.is_some(), SIMKEEP_LOSS_HAS_BYTES),
            (of.operations.is_some(), SIMKEEP_LOSS_HAS_FIRST),
            (last.is_some(), SIMKEEP_LOSS_HAS_LAST),
            (of.pages.is_some(), SIMKEEP_LOSS_HAS_PAGES),
        ];
        let has = bits.iter().filter(|(is_there, _)| *is_there).map(|(_, bit)| bit).sum();
        let bytes = of.bytes.clone().unwrap_or(0..0);
        Loss {
            file,
            file_len,
            why,
            why_len,
            bytes_from: bytes.start,
            bytes_to: bytes.end,
            first: of.operations.map_or(0, |(first, _)| first),
            last: last.unwrap_or(0),
            pages: of.pages.unwrap_or(0),
            after,
            after_len,
            before,
            before_len,
            has,
            reserved: 0,
        }
    }
}

/// Makes a new store, in a new or empty directory, of everything that is sound in the one at `path`, and
/// says what is lost. `keep_forgotten` is 1 to keep pages that a lost operation may have forgotten; with
/// 0 it is `SIMKEEP_DOUBTFUL` if that is not known. `memory_bytes` bounds the memory, 0 for 512 MiB.
/// `progress` may be NULL. After an error there is no new store. The caller frees what it gets with
/// `simkeep_repaired_free`. Any thread. Costs reading all files twice, and writing a store.
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
        Ok(Repaired::new(integrity::repair(from, to, options)?))
    })
}

/// Copies what a repair saved and lost, in numbers, to where `numbers` points. `size` is
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
        let found = found.ok_or_else(|| Failure::argument("nth", "there is not so much lost"))?;
        abi::put_structure(loss, size, found, "loss")
    })
}

/// Why there may be pages that were forgotten: the lost operations that may have done it, with
/// `keep_forgotten` alone. It lives as long as `repaired`; NULL for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repaired_doubts(repaired: *const Repaired) -> *const Texts {
    quiet("simkeep_repaired_doubts", std::ptr::null(), || {
        Ok(abi::handle(repaired, "repaired")?.doubts.view())
    })
}

/// Epochs whose names could not be read, by the names that they have now. It lives as long as
/// `repaired`; NULL for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repaired_unnamed_epochs(repaired: *const Repaired) -> *const Texts {
    quiet("simkeep_repaired_unnamed_epochs", std::ptr::null(), || {
        Ok(abi::handle(repaired, "repaired")?.unnamed.view())
    })
}

/// Frees what a repair said. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_repaired_free(repaired: Option<Box<Repaired>>) {
    free("simkeep_repaired_free", repaired);
}
