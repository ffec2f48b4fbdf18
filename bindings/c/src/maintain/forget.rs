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

/// Returns the scope of one page.
fn page<'a>(url: *const c_char, url_len: usize) -> Result<Scope<'a>> {
    Ok(Scope::Url(abi::text(url, url_len, "url")?))
}

/// Returns the scope of all pages under a prefix.
fn under<'a>(prefix: *const c_char, prefix_len: usize) -> Result<Scope<'a>> {
    let text = abi::text(prefix, prefix_len, "prefix")?;
    Ok(Scope::Prefix(Prefix::parse(text).map_err(simkeep::Error::from)?))
}

/// Forgets everything observed so far about a page. It is hidden from every result at once, and its
/// bytes leave the files as these are merged. Later observations start a new history. `pages`
/// receives the number of forgotten pages, 0 or 1; it may be NULL. Any thread. Costs a commit.
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

/// Forgets all pages under a prefix, such as `example.org/private/`, as `simkeep_forget` forgets
/// one. A prefix with a host or a path also covers pages that match it apart from the user in their
/// URL. `pages` receives their number; it may be NULL. Any thread. Costs a commit, and a scan of
/// these pages, during which writers wait.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_forget_under(
    store: *mut StoreHandle,
    prefix: *const c_char,
    prefix_len: usize,
    pages: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    forget("simkeep_forget_under", store, pages, error, |store| {
        Ok(store.forget(under(prefix, prefix_len)?)?)
    })
}

/// Forgets a page as `simkeep_forget` does, and rewrites every file with bytes of it. Afterwards no
/// file of the store contains its URL, except files that a snapshot holds open, which are removed
/// with the snapshot. `progress` may be NULL. After an error the page may be forgotten while files
/// still contain bytes of it: purge again. Any thread. Costs a rewrite of each segment with such
/// bytes.
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

/// Forgets all pages under a prefix as `simkeep_forget_under` does, and rewrites files as
/// `simkeep_purge` does.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_purge_under(
    store: *mut StoreHandle,
    prefix: *const c_char,
    prefix_len: usize,
    progress: *const ProgressHandle,
    pages: *mut u64,
    error: *mut *mut Failure,
) -> i32 {
    forget("simkeep_purge_under", store, pages, error, |store| {
        Ok(store.purge(under(prefix, prefix_len)?, &progress::of(progress)?)?)
    })
}
