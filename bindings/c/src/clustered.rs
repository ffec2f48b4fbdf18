//! Pages in their clusters, one after another.

use std::vec;

use simkeep::cluster::{self, ClusteredPage};

use crate::abi::lend::Lent;
use crate::abi::{self, plain};
use crate::call::{found, free, one_thread_at_a_time};
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::Guarded;
use crate::lots::LOT;
use crate::outcomes::{OriginalCode, original_by};
use crate::texts::{TextColumn, Texts};

/// Pages in their clusters. One thread at a time uses it. It is of the process that made it. It keeps
/// what it lists, and is freed by itself.
#[derive(Debug)]
pub struct ClusteredPages {
    listing: Guarded<Listing>,
}

#[derive(Debug)]
struct Listing {
    pages: Source,
    /// The pages that C has.
    lot: Lot,
}

/// Where pages come from.
#[derive(Debug)]
enum Source {
    /// All clusters.
    Lazy(Lent<cluster::ClusteredPages<'static>, cluster::Clusters>),
    /// One that was found.
    Found(vec::IntoIter<ClusteredPage>),
}

#[derive(Debug, Default)]
struct Lot {
    urls: TextColumn,
    leaders: TextColumn,
    fingerprints: Vec<u64>,
    distances: Vec<u8>,
    by: Vec<OriginalCode>,
    cluster_pages: Vec<u64>,
    classes: Vec<u32>,
    has_class: Vec<u8>,
}

const _: () = one_thread_at_a_time::<cluster::ClusteredPages<'static>>();

/// Some pages in their clusters, column by column. They live until the next call on what they were got
/// from.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ClusteredChunk {
    /// How many there are.
    pub count: usize,
    /// The pages.
    pub urls: *const Texts,
    /// Of each the page that leads its cluster, which may be itself.
    pub leaders: *const Texts,
    /// Its fingerprint.
    pub fingerprints: *const u64,
    /// In how many bits that of its leader differs.
    pub distances: *const u8,
    /// How it is known to be nearly the same as its leader, a `simkeep_original` each;
    /// `SIMKEEP_ORIGINAL_NOTHING` of the leader, and from `simkeep_snapshot_cluster_of`.
    pub by: *const OriginalCode,
    /// How many pages the cluster has.
    pub cluster_pages: *const u64,
    /// The class that it is of now.
    pub classes: *const u32,
    /// Whether it has one, 1 or 0.
    pub has_class: *const u8,
}

plain!(ClusteredChunk, up to has_class);

impl ClusteredPages {
    /// Pages that are listed as they are come for.
    pub(crate) fn lazy(
        pages: Lent<cluster::ClusteredPages<'static>, cluster::Clusters>,
    ) -> Result<ClusteredPages> {
        ClusteredPages::new(Source::Lazy(pages))
    }

    /// Pages that were found.
    pub(crate) fn found(pages: Vec<ClusteredPage>) -> Result<ClusteredPages> {
        ClusteredPages::new(Source::Found(pages.into_iter()))
    }

    fn new(pages: Source) -> Result<ClusteredPages> {
        Ok(ClusteredPages { listing: Guarded::new(Listing { pages, lot: Lot::default() })? })
    }
}

impl Source {
    /// The next pages, none at the end.
    fn next(&mut self) -> simkeep::Result<Vec<ClusteredPage>> {
        match self {
            Source::Lazy(pages) => pages.get_mut().take(LOT).collect(),
            Source::Found(pages) => Ok(pages.take(LOT).collect()),
        }
    }
}

/// Tells of the next pages, up to 1,024, where `chunk` points; `SIMKEEP_NONE` if there are no more. They
/// live until the next call on `clustered_pages`. After an error there are no more. `size` is
/// `sizeof(simkeep_clustered_chunk)`. One thread at a time. Costs reading the URL of each.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clustered_pages_next(
    clustered_pages: *mut ClusteredPages,
    chunk: *mut ClusteredChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_clustered_pages_next", error, || {
        let pages = abi::handle(clustered_pages, "clustered_pages")?;
        abi::room(chunk, size, "chunk")?;
        if !pages.listing.is_own() {
            return Err(Failure::forked("the pages are listed by"));
        }
        let mut listing = pages.listing.lock()?;
        let next = listing.pages.next()?;
        if next.is_empty() {
            return Ok(None);
        }
        abi::put_structure(chunk, size, &listing.lot.fill(&next), "chunk").map(Some)
    })
}

impl Lot {
    fn fill(&mut self, pages: &[ClusteredPage]) -> ClusteredChunk {
        *self = Lot {
            urls: pages.iter().map(|page| &page.url).collect(),
            leaders: pages.iter().map(|page| &page.leader).collect(),
            fingerprints: pages.iter().map(|page| page.fingerprint).collect(),
            distances: pages.iter().map(|page| distances::of(Some(page.distance))).collect(),
            by: pages.iter().map(|page| original_by(page.by)).collect(),
            cluster_pages: pages.iter().map(|page| page.pages).collect(),
            classes: pages.iter().map(|page| page.class.unwrap_or(0)).collect(),
            has_class: pages.iter().map(|page| u8::from(page.class.is_some())).collect(),
        };
        ClusteredChunk {
            count: pages.len(),
            urls: self.urls.view(),
            leaders: self.leaders.view(),
            fingerprints: self.fingerprints.as_ptr(),
            distances: self.distances.as_ptr(),
            by: self.by.as_ptr(),
            cluster_pages: self.cluster_pages.as_ptr(),
            classes: self.classes.as_ptr(),
            has_class: self.has_class.as_ptr(),
        }
    }
}

/// Frees pages in their clusters, before their end or after it. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clustered_pages_free(clustered_pages: Option<Box<ClusteredPages>>) {
    free("simkeep_clustered_pages_free", clustered_pages);
}
