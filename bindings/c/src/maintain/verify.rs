//! Checks that a store is sound.

use std::ffi::c_char;

use simkeep::verify::{self, VerifyOptions};

use crate::abi;
use crate::call::{done, free, make};
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::progress::{self, ProgressHandle};
use crate::structure::structure;

structure! {
    /// Summary figures of a check.
    pub struct VerifiedNumbers, up to files, from of: &verify::Verified {
        files: u64 = of.files as u64,
        bytes: u64,
        pages: u64,
        visits: u64,
        /// The number of flaws, including flaws that are not listed. 0 means a sound store.
        flaws: u64 = of.flaw_count(),
        /// Whether the catalog was read, 1 or 0. The catalog is not read if another process has the
        /// store open for writing.
        catalog: u64 = u64::from(of.catalog),
    }
}

structure! {
    /// A flaw of a store.
    pub struct Corruption, up to offset, from of: &simkeep::Corruption {
        offset: u64,
        /// The path of the file, relative to the store's directory, not NUL-terminated. Valid as
        /// long as its source.
        file: *const c_char = of.file.as_ptr().cast(),
        /// The length of `file` in bytes.
        file_len: usize = of.file.len(),
        /// The problem, with expected and found values, not NUL-terminated. Valid as long as its
        /// source.
        what: *const c_char = of.what.as_ptr().cast(),
        /// The length of `what` in bytes.
        what_len: usize = of.what.len(),
    }
}

/// The result of a check. Immutable, so any thread may read it.
#[derive(Debug)]
pub struct Verified {
    numbers: VerifiedNumbers,
    flaws: Vec<Corruption>,
    /// The data that the flaws point to.
    _of: Vec<simkeep::Corruption>,
}

impl Verified {
    fn new(of: verify::Verified) -> Verified {
        let flaws = of.flaws.iter().map(Corruption::new).collect();
        Verified { numbers: VerifiedNumbers::new(&of), flaws, _of: of.flaws }
    }
}

fn options(rate: u64, progress: *const ProgressHandle) -> Result<VerifyOptions> {
    let options = VerifyOptions::default().progress(progress::of(progress)?);
    Ok(options.rate(Some(rate).filter(|rate| *rate > 0)))
}

/// Checks a store, which may be in use: reads the whole store, and reports every flaw. `rate` is
/// the maximum number of bytes to read per second, 0 for no limit. `progress` may be NULL. Damage
/// is not an error: `simkeep_verified_get` returns the number of flaws. Free the result with
/// `simkeep_verified_free`. Any thread. Costs reading all files.
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

/// Checks the store in a directory, like `simkeep_verify` for an open store. The check also works
/// if the store cannot be opened, or if another process has it open for writing.
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

/// Copies the summary figures of a check to where `numbers` points. `size` is
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

/// Copies flaw `nth`, from 0, to where `flaw` points. At most 1000 flaws are listed. `size` is
/// `sizeof(simkeep_corruption)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verified_flaw(
    verified: *const Verified,
    nth: usize,
    flaw: *mut Corruption,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_verified_flaw", error, || {
        let found = abi::handle(verified, "verified")?.flaws.get(nth);
        let found = found.ok_or_else(|| {
            Failure::argument("nth", "it must be less than the number of listed flaws")
        })?;
        abi::put_structure(flaw, size, found, "flaw")
    })
}

/// Frees the result of a check. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_verified_free(verified: Option<Box<Verified>>) {
    free("simkeep_verified_free", verified);
}
