//! Pages that deduplication drops in favour of their leaders.

use std::ffi::c_char;
use std::sync::Arc;

use simkeep::Digest;
use simkeep::cluster::{self, Fate};

use crate::abi::owning_ref::OwningRef;
use crate::abi::{self, plain};
use crate::argument::classes;
use crate::call::{assert_thread_safe, free, getters, make};
use crate::cluster::clusters::{self, Clusters};
use crate::columns::columns;
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::ForkGuard;
use crate::structure::code;
use crate::texts::Texts;

/// The pages that are dropped in favour of their leaders. Threads may use the handle concurrently,
/// in the process that made it. The handle keeps its clusters. Free the handle and the clusters
/// separately.
#[derive(Debug)]
pub struct DroppedPages {
    of: OwningRef<cluster::DroppedPages<'static>, cluster::Clusters>,
    process: ForkGuard,
}

const _: () = assert_thread_safe::<cluster::DroppedPages<'static>>();

/// A text of the caller. Read only during a call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// The bytes of the text, UTF-8.
    pub bytes: *const c_char,
    /// The length in bytes.
    pub len: usize,
}

plain!(Text, up to len);

code! {
    /// Whether a page is kept or dropped.
    pub enum FateCode from &Fate {
        Unknown = 0 of Fate::Unknown,
        Kept = 1 of Fate::Kept,
        Dropped = 2 of Fate::Dropped { .. },
        /// A value that this version of the header does not name.
        Other = 3 of _,
    }
}

columns! {
    /// The fates of pages, in the order of the request.
    ///
    /// All columns are valid as long as the fates, and never change, so any thread may read them.
    /// The functions that return columns cost nothing, and return NULL for NULL.
    pub struct Fates, fates from all: &[(Fate, Option<cluster::KeptPage>)];

    for (fate, _) in all.iter() => {
        /// The fate of each page.
        fn simkeep_fates_kinds -> kinds: FateCode = FateCode::of(fate);
    }

    for byte in all.iter().flat_map(|(fate, _)| digest(fate).map_or([0; 16], |digest| digest.0)) => {
        /// For each dropped page, the digest of the content that was compared, 16 bytes each. Other
        /// content of a dropped page may have no kept near-duplicate.
        fn simkeep_fates_digests -> digests: u8 = byte;
    }

    for (fate, _) in all.iter() => {
        /// Whether each page is dropped and its digest is known, 1 or 0.
        fn simkeep_fates_has_digest -> has_digest: u8 = u8::from(digest(fate).is_some());
    }

    for (_, kept) in all.iter() => {
        /// For each dropped page, the URL of the page that is kept instead; empty for other pages.
        fn simkeep_fates_kept -> kept: Texts = kept.as_ref().map_or("", |kept| &kept.url);
        /// The distance of each dropped page from the kept page in bits; `SIMKEEP_NO_DISTANCE` for
        /// other pages.
        fn simkeep_fates_distances -> distances: u8 =
            distances::of(kept.as_ref().map(|kept| kept.distance));
    }
}

/// Finds the pages that are dropped in favour of their leaders: each page that is not a leader, and
/// whose leader has the same class, or one of the classes in `open`, which everybody may see. With
/// `open_unclassed` 1, pages without a class are open, too. `open` may be NULL. Free the result
/// with `simkeep_dropped_pages_free`. Any thread. Costs a sort of 16 bytes for each dropped page,
/// and one bit of memory for each page of the store.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_dropped(
    clusters: *const Clusters,
    open: *const u32,
    open_len: usize,
    open_unclassed: u32,
    error: *mut *mut Failure,
) -> Option<Box<DroppedPages>> {
    make("simkeep_clusters_dropped", error, || {
        let (process, of) = (ForkGuard::current()?, Arc::clone(clusters::open(clusters)?));
        let open = classes(open, open_len, open_unclassed, "open")?.unwrap_or_default();
        Ok(DroppedPages { of: OwningRef::new(of, |of| of.dropped(&open))?, process })
    })
}

getters! {
    dropped: DroppedPages;

    /// Returns the number of dropped pages; 0 for NULL. Any thread; costs nothing.
    fn simkeep_dropped_pages_count -> u64 = dropped.of.get().len();
}

/// Returns the fates of many pages, and for each dropped page the page that is kept instead. `size`
/// is `sizeof *urls`. For an invalid URL, `simkeep_error_row` is its index. Free the result with
/// `simkeep_fates_free`. Any thread. Costs a lookup for each page, and for a dropped page a read of
/// this page and of the kept page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_dropped_pages_fates(
    dropped: *const DroppedPages,
    urls: *const Text,
    count: usize,
    size: usize,
    error: *mut *mut Failure,
) -> Option<Box<Fates>> {
    make("simkeep_dropped_pages_fates", error, || {
        let dropped = abi::handle(dropped, "dropped")?;
        dropped.process.check()?;
        let urls = abi::structures(urls, count, size, "urls")?;
        let one = |(row, url): (usize, &Text)| {
            fate(dropped.of.get(), url).map_err(|failure| failure.at(row))
        };
        let all = urls.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
        Ok(Fates::new(&all))
    })
}

/// Returns the fate of a page, and, if the page is dropped, the page that is kept instead.
fn fate(
    dropped: &cluster::DroppedPages<'_>,
    url: &Text,
) -> Result<(Fate, Option<cluster::KeptPage>)> {
    let url = abi::text(url.bytes, url.len, "url")?;
    let fate = dropped.fate(url)?;
    let is_dropped = matches!(fate, Fate::Dropped { .. });
    Ok((fate, if is_dropped { dropped.kept_for(url)? } else { None }))
}

/// Returns the digest of the compared content of a dropped page.
fn digest(fate: &Fate) -> Option<Digest> {
    match fate {
        Fate::Dropped { digest } => *digest,
        _ => None,
    }
}

/// Frees dropped pages. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_dropped_pages_free(dropped: Option<Box<DroppedPages>>) {
    free("simkeep_dropped_pages_free", dropped);
}

getters! {
    fates: Fates;

    /// Returns the number of pages requested; 0 for NULL.
    fn simkeep_fates_count -> usize = fates.kinds.len();
}

/// Frees fates, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fates_free(fates: Option<Box<Fates>>) {
    free("simkeep_fates_free", fates);
}
