//! Pages by URL, or all of them.

use std::ffi::c_char;

use simkeep::query::Scan;

use crate::abi;
use crate::argument;
use crate::call::{found, free, make};
use crate::failure::Failure;
use crate::fork::{ForkGuard, ForkSafeMutex};
use crate::open::snapshot::{self, SnapshotHandle};
use crate::read::page::Page;

/// An iterator over pages, in SURT order. Use the iterator from one thread at a time. The iterator
/// keeps its snapshot. Free the iterator and the snapshot separately.
#[derive(Debug)]
pub struct Pages {
    scan: ForkSafeMutex<PageScan>,
    /// For a store, the process that opened it.
    process: Option<ForkGuard>,
}

#[derive(Debug)]
struct PageScan {
    scan: Scan,
    /// The page that C currently has, and its URL.
    current: Option<simkeep::Page>,
}

/// Iterates over the pages of a snapshot under a prefix, for example `example.com`; NULL for all
/// pages. Free the result with `simkeep_pages_free`. Any thread. Costs some microseconds for each
/// page, and memory for one block of each segment.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_scan(
    snapshot: *const SnapshotHandle,
    under: *const c_char,
    under_len: usize,
    error: *mut *mut Failure,
) -> Option<Box<Pages>> {
    make("simkeep_snapshot_scan", error, || {
        let (snapshot, process) = snapshot::open(snapshot)?;
        let under = argument::prefix(under, under_len, "under")?;
        let scan = PageScan { scan: snapshot.scan(under.as_ref()), current: None };
        Ok(Pages { scan: ForkSafeMutex::new(scan)?, process })
    })
}

/// Copies the next page to where `page` points; `SIMKEEP_NONE` after the last page. The URL of the
/// page is valid until the next call on `pages`. After an error there are no more pages. `size` is
/// `sizeof(simkeep_page)`. One thread at a time. Costs some microseconds.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_pages_next(
    pages: *mut Pages,
    page: *mut Page,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_pages_next", error, || {
        let pages = abi::handle(pages, "pages")?;
        pages.process.map_or(Ok(()), ForkGuard::check)?;
        abi::check_put_structure(page, size, "page")?;
        let mut scanning = pages.scan.lock()?;
        let next = scanning.scan.next().transpose()?;
        scanning.current = next;
        let Some(next) = &scanning.current else { return Ok(None) };
        let url = (next.url.as_ptr().cast(), next.url.len());
        abi::put_structure(page, size, &Page::new(next, url), "page").map(Some)
    })
}

/// Frees an iterator, at any time. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_pages_free(pages: Option<Box<Pages>>) {
    free("simkeep_pages_free", pages);
}

/// Copies the current state of a page to where `page` points. The pointer to the URL is the
/// argument. The page is without `SIMKEEP_HAS_TARGET`, since nothing would own the text of a
/// target: `simkeep_snapshot_history` and `simkeep_snapshot_scan` return targets. `SIMKEEP_NONE` for
/// an unknown page. `size` is `sizeof(simkeep_page)`. Any thread. Costs reading one record in the
/// newest segment that has the page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_latest(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    page: *mut Page,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_snapshot_latest", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        abi::check_put_structure(page, size, "page")?;
        let latest = snapshot.latest(abi::text(url, url_len, "url")?)?;
        let put = |mut latest: simkeep::Page| {
            // The page is dropped when the call returns, so its target must not be returned.
            latest.target = None;
            abi::put_structure(page, size, &Page::new(&latest, (url, url_len)), "page")
        };
        latest.map(put).transpose()
    })
}
