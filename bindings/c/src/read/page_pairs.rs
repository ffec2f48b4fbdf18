//! All pairs of pages near each other, for a caller that comes for them.

use std::ffi::c_char;

use simkeep::Epoch;
use simkeep::query::{PagePair, PairQuery};

use crate::abi::{self, plain};
use crate::argument::{classes, flag, prefix, to_usize};
use crate::call::{done, found, free, make};
use crate::chunks::{Chunks, chunk};
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::Guarded;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::progress::{self, ProgressHandle};
use crate::texts::Texts;

/// Which pairs of pages to find. Fill it in with `simkeep_page_pair_query_init`, and change what you
/// want otherwise. Its pointers are read only by the call that is given it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PagePairQuery {
    /// `sizeof` of this structure.
    pub size: usize,
    /// Largest Hamming distance, 0 to 64.
    pub k: u32,
    /// Whether pages with equal fingerprints are paired, too, 1 or 0. Default: 0.
    pub equal: u32,
    /// How many pages of each fingerprint are paired with others, the first in SURT order; `UINT64_MAX`
    /// for all, which are as many as their square. Default: 1.
    pub each: u64,
    /// Only pages under this prefix; NULL for all. Default: NULL.
    pub under: *const c_char,
    /// Its length in bytes.
    pub under_len: usize,
    /// Only pages of these classes; NULL for pages of any class and of none. Default: NULL.
    pub classes: *const u32,
    /// How many.
    pub classes_len: usize,
    /// Whether pages that have no class are meant as well as those of `classes`, 1 or 0. If `classes` is
    /// NULL and this is 1, they alone are. Default: 0.
    pub unclassed: u32,
    /// Whether `epoch` says of which epoch the fingerprints are, 1 or 0. Default: 0, of the one that
    /// near-duplicates are sought by.
    pub has_epoch: u32,
    /// The epoch of the fingerprints.
    pub epoch: u32,
    /// 0.
    pub reserved: u32,
}

plain!(PagePairQuery, up to k);

impl Default for PagePairQuery {
    fn default() -> PagePairQuery {
        PagePairQuery { size: size_of::<PagePairQuery>(), each: 1, ..abi::zeroed() }
    }
}

/// Fills in the size, a distance, and defaults for all else. `size` is
/// `sizeof(simkeep_page_pair_query)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_page_pair_query_init(
    query: *mut PagePairQuery,
    size: usize,
    k: u32,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_page_pair_query_init", error, || {
        abi::put_structure(query, size, &PagePairQuery { size, k, ..Default::default() }, "query")
    })
}

fn read(query: *const PagePairQuery) -> Result<PairQuery> {
    let of = abi::grown(query, PagePairQuery::default(), "query")?;
    if of.k > 64 {
        return Err(Failure::argument("query.k", "it must be from 0 to 64"));
    }
    if of.reserved != 0 {
        return Err(Failure::argument("query.reserved", "it must be 0"));
    }
    let query = PairQuery::within(of.k)
        .equal(flag(of.equal, "query.equal")?)
        .each(to_usize(of.each))
        .under(prefix(of.under, of.under_len, "query.under")?)
        .classes(classes(of.classes, of.classes_len, of.unclassed, "query.classes")?);
    let has_epoch = flag(of.has_epoch, "query.has_epoch")?;
    Ok(if has_epoch { query.epoch(Epoch::from_number(of.epoch)) } else { query })
}

/// A join that goes on as its caller comes for pairs of pages. One thread at a time uses it. It is of
/// the process that began it. It keeps its snapshot, and is freed by itself.
#[derive(Debug)]
pub struct PagePairs {
    joining: Guarded<Joining>,
}

#[derive(Debug)]
struct Joining {
    chunks: Chunks<PagePair>,
    /// The pairs that C has.
    columns: Columns,
}

chunk! {
    /// Some pairs of pages, column by column. They live until the next call on what they were got from.
    pub struct PagePairChunk, up to distances, of pair: PagePair {
        /// Of each the page with the smaller fingerprint; of two with the same, the first in SURT order.
        left_urls: Texts = &pair.left.url,
        /// The other page.
        right_urls: Texts = &pair.right.url,
        /// The fingerprint of the one.
        left: u64 = pair.left.fingerprint,
        /// The fingerprint of the other.
        right: u64 = pair.right.fingerprint,
        /// In how many bits they differ.
        distances: u8 = distances::of(Some(pair.distance)),
    }
}

/// Finds all pairs of pages that are near each other, as a query says. They come in no particular order,
/// each once, by `simkeep_page_pairs_next`. `progress` may be NULL. The caller frees what it gets with
/// `simkeep_page_pairs_free`. Any thread.
///
/// The join begins now, as that of `simkeep_snapshot_all_pairs`, and costs as much, and up to a
/// microsecond for each page that it names.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_page_pairs(
    snapshot: *const SnapshotHandle,
    query: *const PagePairQuery,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<PagePairs>> {
    make("simkeep_snapshot_page_pairs", error, || {
        let (snapshot, query) = (snapshot::open(snapshot)?.0.clone(), read(query)?);
        let chunks = Chunks::start(progress::of(progress)?, move |progress, sink| {
            query.run(&snapshot, progress, |pairs| sink.put(pairs))
        })?;
        Ok(PagePairs { joining: Guarded::new(Joining { chunks, columns: Columns::default() })? })
    })
}

/// Tells of the next pairs where `chunk` points: at least one, or `SIMKEEP_NONE` if there are no more.
/// They live until the next call on `page_pairs`. Pairs before an error are right, but not all. `size`
/// is `sizeof(simkeep_page_pair_chunk)`. One thread at a time. Waits until there are some.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_page_pairs_next(
    page_pairs: *mut PagePairs,
    chunk: *mut PagePairChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_page_pairs_next", error, || {
        let pairs = abi::handle(page_pairs, "page_pairs")?;
        abi::room(chunk, size, "chunk")?;
        let mut joining = pairs.joining.lock()?;
        let Some(next) = joining.chunks.next()? else { return Ok(None) };
        abi::put_structure(chunk, size, &joining.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees pairs of pages, before their end or after it, as `simkeep_pairs_free` frees pairs. Does nothing
/// for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_page_pairs_free(page_pairs: Option<Box<PagePairs>>) {
    free("simkeep_page_pairs_free", page_pairs);
}
