//! All pairs of near pages, in chunks on request.

use std::ffi::c_char;

use simkeep::Epoch;
use simkeep::query::{PagePair, PairQuery};

use crate::abi::{self, plain};
use crate::argument::{classes, flag, prefix, to_usize};
use crate::call::{done, found, free, make};
use crate::chunks::{ChunkedSearch, chunk};
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::ForkSafeMutex;
use crate::open::snapshot::{self, SnapshotHandle};
use crate::progress::{self, ProgressHandle};
use crate::texts::Texts;

/// The query for pairs of pages. Fill in the structure with `simkeep_page_pair_query_init`, and
/// then change fields. The pointers are read only during a call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PagePairQuery {
    /// `sizeof` of this structure.
    pub size: usize,
    /// Largest Hamming distance, 0 to 64.
    pub k: u32,
    /// Whether pages with equal fingerprints are also paired, 1 or 0. Default: 0.
    pub equal: u32,
    /// The maximum number of pages of each fingerprint to pair, the first in SURT order;
    /// `UINT64_MAX` for all pages, which makes quadratically many pairs. Default: 1.
    pub pages_per_fingerprint: u64,
    /// Only pages under this prefix; NULL for all. Default: NULL.
    pub under: *const c_char,
    /// The length of `under` in bytes.
    pub under_len: usize,
    /// Only pages of these classes; NULL for pages of any class and pages without a class. Default:
    /// NULL.
    pub classes: *const u32,
    /// The number of classes.
    pub classes_len: usize,
    /// Whether to include pages without a class in addition to `classes`, 1 or 0. If `classes` is
    /// NULL and `unclassed` is 1, only pages without a class. Default: 0.
    pub unclassed: u32,
    /// Whether `epoch` sets the epoch of the fingerprints, 1 or 0. Default: 0, the epoch of
    /// near-duplicates.
    pub has_epoch: u32,
    /// The epoch of the fingerprints.
    pub epoch: u32,
    /// Must be 0.
    pub reserved: u32,
}

plain!(PagePairQuery, up to k);

impl Default for PagePairQuery {
    fn default() -> PagePairQuery {
        PagePairQuery {
            size: size_of::<PagePairQuery>(),
            pages_per_fingerprint: 1,
            ..abi::zeroed()
        }
    }
}

/// Fills in the size, a distance, and defaults for all other fields. `size` is
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
    let of = abi::read_versioned_struct(query, PagePairQuery::default(), "query")?;
    if of.k > 64 {
        return Err(Failure::argument("query.k", "it must be from 0 to 64"));
    }
    if of.reserved != 0 {
        return Err(Failure::argument("query.reserved", "it must be 0"));
    }
    let query = PairQuery::within(of.k)
        .equal(flag(of.equal, "query.equal")?)
        .pages_per_fingerprint(to_usize(of.pages_per_fingerprint))
        .under(prefix(of.under, of.under_len, "query.under")?)
        .classes(classes(of.classes, of.classes_len, of.unclassed, "query.classes")?);
    let has_epoch = flag(of.has_epoch, "query.has_epoch")?;
    Ok(if has_epoch { query.epoch(Epoch::from_number(of.epoch)) } else { query })
}

/// A running join that returns pairs of pages in chunks. Use the join from one thread at a time, in
/// the process that began it. The join keeps its snapshot. Free the join and the snapshot
/// separately.
#[derive(Debug)]
pub struct PagePairs {
    joining: ForkSafeMutex<PagePairJoin>,
}

#[derive(Debug)]
struct PagePairJoin {
    chunks: ChunkedSearch<PagePair>,
    /// The pairs that C currently has.
    columns: Columns,
}

chunk! {
    /// A chunk of pairs of pages, column by column. Valid until the next call on its source.
    pub struct PagePairChunk, up to distances, of pair: PagePair {
        /// The URL of the left page of each pair: the page with the smaller fingerprint; if the
        /// fingerprints are equal, the first page in SURT order.
        left_urls: Texts = &pair.left.url,
        /// The URL of the right page of each pair.
        right_urls: Texts = &pair.right.url,
        /// The fingerprint of the left page.
        left: u64 = pair.left.fingerprint,
        /// The fingerprint of the right page.
        right: u64 = pair.right.fingerprint,
        /// The distance of the two pages in bits.
        distances: u8 = distances::of(Some(pair.distance)),
    }
}

/// Finds all pairs of near pages that match a query, each once, in no particular order. Get the
/// pairs by `simkeep_page_pairs_next`. `progress` may be NULL. Free the result with
/// `simkeep_page_pairs_free`. Any thread.
///
/// The join begins at once. The join costs as much as the join of `simkeep_snapshot_all_pairs`, and
/// up to a microsecond for each page in the result.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_page_pairs(
    snapshot: *const SnapshotHandle,
    query: *const PagePairQuery,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<PagePairs>> {
    make("simkeep_snapshot_page_pairs", error, || {
        let (snapshot, query) = (snapshot::open(snapshot)?.0.clone(), read(query)?);
        let chunks = ChunkedSearch::start(progress::of(progress)?, move |progress, sink| {
            query.run(&snapshot, progress, |pairs| sink.put(pairs))
        })?;
        Ok(PagePairs {
            joining: ForkSafeMutex::new(PagePairJoin { chunks, columns: Columns::default() })?,
        })
    })
}

/// Copies the next pairs to where `chunk` points: at least one pair, or `SIMKEEP_NONE` if there are
/// no more pairs. The pairs are valid until the next call on `page_pairs`. Pairs before an error
/// are correct but incomplete. `size` is `sizeof(simkeep_page_pair_chunk)`. One thread at a time.
/// Waits for pairs.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_page_pairs_next(
    page_pairs: *mut PagePairs,
    chunk: *mut PagePairChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_page_pairs_next", error, || {
        let pairs = abi::handle(page_pairs, "page_pairs")?;
        abi::check_put_structure(chunk, size, "chunk")?;
        let mut joining = pairs.joining.lock()?;
        let Some(next) = joining.chunks.next()? else { return Ok(None) };
        abi::put_structure(chunk, size, &joining.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees pairs of pages, at any time. Before the end, stops the join like `simkeep_pairs_free`.
/// Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_page_pairs_free(page_pairs: Option<Box<PagePairs>>) {
    free("simkeep_page_pairs_free", page_pairs);
}
