//! Checking that a store is sound.

use std::ffi::c_char;

use simkeep::Corruption;
use simkeep::verify::{self, VerifyOptions};

use crate::abi;
use crate::call::{done, free, make};
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::progress::{self, ProgressHandle};
use crate::structure::structure;

structure! {
    /// What a check read.
    pub struct VerifiedNumbers, up to files, from of: &verify::Verified {
        files: u64 = of.files as u64,
        bytes: u64,
        pages: u64,
        visits: u64,
        /// How many flaws there are, named or not. 0 is a sound store.
        flaws: u64 = of.flaw_count(),
        /// Whether the catalog was read, 1 or 0: not if another process has it open for writing.
        catalog: u64 = u64::from(of.catalog),
    }
}

structure! {
    /// One flaw of a store.
    pub struct Flaw, up to offset, from of: &Corruption {
        offset: u64,
        /// The file, by its path within the store's directory. No NUL ends it. It lives as long as what
        /// it was got from.
        file: *const c_char = of.file.as_ptr().cast(),
        /// Its length in bytes.
        file_len: usize = of.file.len(),
        /// What is wrong, with expected and found. No NUL ends it. It lives as long.
        what: *const c_char = of.what.as_ptr().cast(),
        /// Its length in bytes.
        what_len: usize = of.what.len(),
    }
}

/// What a check found. Nothing changes it: any thread may read it.
#[derive(Debug)]
pub struct Verified {
    numbers: VerifiedNumbers,
    flaws: Vec<Flaw>,
    /// What the flaws point into.
    _of: Vec<Corruption>,
}

impl Verified {
    fn new(of: verify::Verified) -> Verified {
        let flaws = of.flaws.iter().map(Flaw::new).collect();
        Verified { numbers: VerifiedNumbers::new(&of), flaws, _of: of.flaws }
    }
}

fn options(rate: u64, progress: *const ProgressHandle) -> Result<VerifyOptions> {
    let options = VerifyOptions::default().progress(progress::of(progress)?);
    Ok(options.rate(Some(rate).filter(|rate| *rate > 0)))
}

/// Checks a store while it works: reads all of it, and names every flaw. `rate` is the most bytes to
/// read a second, 0 for no limit. `progress` may be NULL. Damage is no error: `simkeep_verified_get`
/// says whether there is any. The caller frees what it gets with `simkeep_verified_free`. Any thread.
/// Costs reading all files.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verify(
    store: *const StoreHandle,
    rate: u64,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Verified>> {
    make("simkeep_verify", error, || {
        Ok(Verified::new(open(store)?.verify(options(rate, progress)?)?))
    })
}

/// Checks the store in a directory, as `simkeep_verify` checks an open one; also one that does not open,
/// or that another process writes.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verify_path(
    path: *const c_char,
    rate: u64,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Verified>> {
    make("simkeep_verify_path", error, || {
        let path = abi::path(path, "path")?;
        Ok(Verified::new(verify::verify(path, options(rate, progress)?)?))
    })
}

/// Copies what a check read, and how many flaws it found, to where `numbers` points. `size` is
/// `sizeof(simkeep_verified_numbers)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verified_get(
    verified: *const Verified,
    numbers: *mut VerifiedNumbers,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_verified_get", error, || {
        let of = &abi::handle(verified, "verified")?.numbers;
        abi::put_structure(numbers, size, of, "numbers")
    })
}

/// Copies flaw `nth`, from 0, to where `flaw` points; at most 1000 are named. `size` is
/// `sizeof(simkeep_flaw)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verified_flaw(
    verified: *const Verified,
    nth: usize,
    flaw: *mut Flaw,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_verified_flaw", error, || {
        let found = abi::handle(verified, "verified")?.flaws.get(nth);
        let found = found.ok_or_else(|| Failure::argument("nth", "not so many flaws are named"))?;
        abi::put_structure(flaw, size, found, "flaw")
    })
}

/// Frees what a check found. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verified_free(verified: Option<Box<Verified>>) {
    free("simkeep_verified_free", verified);
}
