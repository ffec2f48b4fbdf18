//! Forgets pages.

use std::ffi::c_char;

use simkeep::{Forgotten, Prefix, Scope, Store};

use crate::abi;
use crate::call::done;
use crate::failure::{Failure, Result};
use crate::open::store::{StoreHandle, open};
use crate::progress::{self, ProgressHandle};

/// Forgets pages, and returns their number.
fn forget(
    function: &'static str,
    store: *mut StoreHandle,
    pages: *mut u64,
    error: *mut *mut Failure,
    way: impl FnOnce(&Store) -> Result<Forgotten>,
) -> i32 {
    done(function, error, || {
        let forgotten = way(open(store)?)?;
        if pages.is_null() { Ok(()) } else { abi::put(pages, forgotten.pages, "pages") }
    })
}

/// Returns the scope of a single page.
fn page<'a>(url: *const c_char, url_len: usize) -> Result<Scope<'a>> {
    Ok(Scope::Url(abi::text(url, url_len, "url")?))
}

/// Returns the scope of all pages under a prefix.
fn pages_under<'a>(under: *const c_char, under_len: usize) -> Result<Scope<'a>> {
    let text = abi::text(under, under_len, "under")?;
    Ok(Scope::Prefix(Prefix::parse(text).map_err(simkeep::Error::from)?))
}

/// Forgets all observations of a page so far. The page is hidden from every result at once, and its
/// bytes leave the files when the files are merged. Later observations start a new history. `pages`
/// receives the number of forgotten pages, 0 or 1, and may be NULL. Any thread. Costs a commit.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_forget(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    pages: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    forget("simkeep_forget", store, pages, error, |store| Ok(store.forget(page(url, url_len)?)?))
}

/// Forgets all pages under a prefix, for example `example.org/private/`, like `simkeep_forget` for
/// each page. A prefix with a host or a path also covers pages that match it except for the user in
/// their URL. `pages` receives the number of forgotten pages, and may be NULL. Any thread. Costs a
/// commit, and a scan of these pages, during which writers wait.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_forget_under(
    store: *mut StoreHandle,
    under: *const c_char,
    under_len: usize,
    pages: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    forget("simkeep_forget_under", store, pages, error, |store| {
        Ok(store.forget(pages_under(under, under_len)?)?)
    })
}

/// Forgets a page like `simkeep_forget`, and rewrites every file with bytes of the page. Afterwards
/// no file of the store contains the URL, except files that a snapshot keeps open, which are
/// removed with the snapshot. `progress` may be NULL. After an error the page may be forgotten
/// while files still contain its bytes; purge it again. Any thread. Costs a rewrite of each segment
/// with bytes of the page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_purge(
    store: *mut StoreHandle,
    url: *const c_char,
    url_len: usize,
    progress: *const ProgressHandle,
    pages: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    forget("simkeep_purge", store, pages, error, |store| {
        Ok(store.purge(page(url, url_len)?, &progress::of(progress)?)?)
    })
}

/// Forgets all pages under a prefix like `simkeep_forget_under`, and rewrites files like
/// `simkeep_purge`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_purge_under(
    store: *mut StoreHandle,
    under: *const c_char,
    under_len: usize,
    progress: *const ProgressHandle,
    pages: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    forget("simkeep_purge_under", store, pages, error, |store| {
        Ok(store.purge(pages_under(under, under_len)?, &progress::of(progress)?)?)
    })
}
