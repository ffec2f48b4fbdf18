//! Which pages are dropped in favour of those that lead them.

use std::ffi::c_char;
use std::sync::Arc;

use simkeep::Digest;
use simkeep::cluster::{self, Fate};

use crate::abi::lend::Lent;
use crate::abi::{self, plain};
use crate::argument::classes;
use crate::call::{any_thread, free, getters, make};
use crate::cluster::clusters::{self, Clusters};
use crate::columns::columns;
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::Process;
use crate::structure::code;
use crate::texts::Texts;

/// The pages that are dropped in favour of those that lead their clusters. Threads may ask it at the
/// same time. It is of the process that made it. It keeps its clusters, and is freed by itself.
#[derive(Debug)]
pub struct Dropped {
    of: Lent<cluster::Dropped<'static>, cluster::Clusters>,
    process: Process,
}

const _: () = any_thread::<cluster::Dropped<'static>>();

/// A text that a caller names. It is read only by the call that is given it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// Its bytes, UTF-8.
    pub bytes: *const c_char,
    /// How many.
    pub len: usize,
}

plain!(Text, up to len);

code! {
    /// What becomes of a page.
    pub enum FateCode from &Fate {
        Unknown = 0 of Fate::Unknown,
        Kept = 1 of Fate::Kept,
        Dropped = 2 of Fate::Dropped { .. },
        /// Something that this version of the header does not name.
        Other = 3 of _,
    }
}

columns! {
    /// What becomes of pages, in the order in which they were asked for.
    ///
    /// All columns live as long as this, and nothing changes them: any thread may read them. Getting one
    /// costs nothing, and gives NULL for NULL.
    pub struct Fates, fates from all: &[(Fate, Option<cluster::KeptFor>)];

    for (fate, _) in all.iter() => {
        /// What becomes of each.
        fn simkeep_fates_kinds -> kinds: FateCode = FateCode::of(fate);
    }

    for byte in all.iter().flat_map(|(fate, _)| digest(fate).map_or([0; 16], |digest| digest.0)) => {
        /// Of each that is dropped the digest of the content that was compared, 16 bytes each. Other
        /// content of the page may be near nothing that is kept.
        fn simkeep_fates_digests -> digests: u8 = byte;
    }

    for (fate, _) in all.iter() => {
        /// Whether there is such a digest, 1 or 0.
        fn simkeep_fates_has_digest -> has_digest: u8 = u8::from(digest(fate).is_some());
    }

    for (_, kept) in all.iter() => {
        /// Of each that is dropped the page that is kept for it; empty for others.
        fn simkeep_fates_kept -> kept: Texts = kept.as_ref().map_or("", |kept| &kept.url);
        /// In how many bits the two differ; `SIMKEEP_NO_DISTANCE` for others.
        fn simkeep_fates_distances -> distances: u8 =
            distances::of(kept.as_ref().map(|kept| kept.distance));
    }
}

/// Finds the pages that are dropped in favour of those that lead them: each that is not a leader, and
/// whose leader is of its class, or of one of the classes in `open`, which all may see. With
/// `open_unclassed` 1, pages without a class are open to all, too. `open` may be NULL. The caller frees
/// what it gets with `simkeep_dropped_free`. Any thread. Costs a sort of 16 bytes for each of them, and
/// a bit of memory for each page of the store.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_dropped(
    clusters: *const Clusters,
    open: *const u32,
    open_len: usize,
    open_unclassed: u32,
    error: *mut *mut Failure,
) -> Option<Box<Dropped>> {
    make("simkeep_clusters_dropped", error, || {
        let (process, of) = (Process::current()?, Arc::clone(clusters::open(clusters)?));
        let open = classes(open, open_len, open_unclassed, "open")?.unwrap_or_default();
        Ok(Dropped { of: Lent::new(of, |of| of.dropped(&open))?, process })
    })
}

getters! {
    dropped: Dropped;

    /// How many pages are dropped; 0 for NULL. Any thread; costs nothing.
    fn simkeep_dropped_count -> u64 = dropped.of.get().len();
}

/// Says what becomes of many pages, and for which page each is dropped. `size` is `sizeof *urls`. If one
/// is no URL, `simkeep_error_row` says which. The caller frees what it gets with `simkeep_fates_free`.
/// Any thread. Costs looking each up; of one that is dropped, reading it and the page that is kept, too.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_dropped_fates(
    dropped: *const Dropped,
    urls: *const Text,
    count: usize,
    size: usize,
    error: *mut *mut Failure,
) -> Option<Box<Fates>> {
    make("simkeep_dropped_fates", error, || {
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

/// What becomes of a page, and for which it is dropped.
fn fate(dropped: &cluster::Dropped<'_>, url: &Text) -> Result<(Fate, Option<cluster::KeptFor>)> {
    let url = abi::text(url.bytes, url.len, "url")?;
    let fate = dropped.fate(url)?;
    let is_dropped = matches!(fate, Fate::Dropped { .. });
    Ok((fate, if is_dropped { dropped.kept_for(url)? } else { None }))
}

/// The digest of the content that was compared, of a page that is dropped.
fn digest(fate: &Fate) -> Option<Digest> {
    match fate {
        Fate::Dropped { digest } => *digest,
        _ => None,
    }
}

/// Frees dropped pages. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_dropped_free(dropped: Option<Box<Dropped>>) {
    free("simkeep_dropped_free", dropped);
}

getters! {
    fates: Fates;

    /// How many pages were asked for; 0 for NULL.
    fn simkeep_fates_count -> usize = fates.kinds.len();
}

/// Frees fates, and all of their columns. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_fates_free(fates: Option<Box<Fates>>) {
    free("simkeep_fates_free", fates);
}
