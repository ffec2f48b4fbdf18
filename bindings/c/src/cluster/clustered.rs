//! Pages in their clusters, in sequence.

use std::vec;

use simkeep::cluster::{self, ClusteredPage};

use crate::abi;
use crate::abi::owning_ref::OwningRef;
use crate::call::{found, free, one_thread_at_a_time};
use crate::chunks::{CHUNK_LEN, chunk};
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::ForkSafeMutex;
use crate::texts::Texts;
use crate::write::outcomes::OriginalByCode;

/// Pages in their clusters. Use the handle from one thread at a time, in the process that made it.
/// The handle keeps the listed clusters. Free the handle and the clusters separately.
#[derive(Debug)]
pub struct ClusteredPages {
    listing: ForkSafeMutex<PageListing>,
}

#[derive(Debug)]
struct PageListing {
    pages: PageListingSource,
    /// The pages that C currently has.
    columns: Columns,
}

/// The source of pages.
#[derive(Debug)]
enum PageListingSource {
    /// All clusters.
    Lazy(OwningRef<cluster::ClusteredPages<'static>, cluster::Clusters>),
    /// A single cluster.
    Found(vec::IntoIter<ClusteredPage>),
}

const _: () = one_thread_at_a_time::<cluster::ClusteredPages<'static>>();

chunk! {
    /// A chunk of pages in their clusters, column by column. Valid until the next call on its
    /// source.
    pub struct ClusteredChunk, up to has_fingerprint, of page: ClusteredPage {
        /// The URLs of the pages.
        urls: Texts = &page.url,
        /// The leader of each page's cluster, which may be the page itself.
        leaders: Texts = &page.leader,
        /// The fingerprint of each page; 0 for content without a fingerprint.
        fingerprints: u64 = page.fingerprint.unwrap_or(0),
        /// The distance of each page from its leader, in bits.
        distances: u8 = distances::of(Some(page.distance)),
        /// The reason why each page is known to be nearly equal to its leader, a
        /// `simkeep_original_by`; `SIMKEEP_ORIGINAL_BY_NOTHING` for the leader, and from
        /// `simkeep_snapshot_cluster_of`.
        by: OriginalByCode = OriginalByCode::of(page.by),
        /// The number of pages in each page's cluster.
        cluster_pages: u64 = page.pages,
        /// The current class of each page.
        classes: u32 = page.class.unwrap_or(0),
        /// Whether each page has a class, 1 or 0.
        has_class: u8 = u8::from(page.class.is_some()),
        /// Whether each page's content has a fingerprint, 1 or 0.
        has_fingerprint: u8 = u8::from(page.fingerprint.is_some()),
    }
}

impl ClusteredPages {
    /// Lists pages on request.
    pub(crate) fn lazy(
        pages: OwningRef<cluster::ClusteredPages<'static>, cluster::Clusters>,
    ) -> Result<ClusteredPages> {
        ClusteredPages::new(PageListingSource::Lazy(pages))
    }

    /// Lists pages that were already found.
    pub(crate) fn found(pages: Vec<ClusteredPage>) -> Result<ClusteredPages> {
        ClusteredPages::new(PageListingSource::Found(pages.into_iter()))
    }

    fn new(pages: PageListingSource) -> Result<ClusteredPages> {
        Ok(ClusteredPages {
            listing: ForkSafeMutex::new(PageListing { pages, columns: Columns::default() })?,
        })
    }
}

impl PageListingSource {
    /// Returns the next pages; no pages at the end.
    fn next(&mut self) -> simkeep::Result<Vec<ClusteredPage>> {
        match self {
            PageListingSource::Lazy(pages) => pages.get_mut().take(CHUNK_LEN).collect(),
            PageListingSource::Found(pages) => Ok(pages.take(CHUNK_LEN).collect()),
        }
    }
}

/// Copies the next pages, up to 1,024, to where `chunk` points; `SIMKEEP_NONE` if there are no more
/// pages. The pages are valid until the next call on `clustered_pages`. After an error there are no
/// more pages. `size` is `sizeof(simkeep_clustered_chunk)`. One thread at a time. Costs reading the
/// URL of each page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clustered_pages_next(
    clustered_pages: *mut ClusteredPages,
    chunk: *mut ClusteredChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_clustered_pages_next", error, || {
        let pages = abi::handle(clustered_pages, "clustered_pages")?;
        abi::check_put_structure(chunk, size, "chunk")?;
        if !pages.listing.is_own() {
            return Err(Failure::forked("this list of pages belongs to"));
        }
        let mut listing = pages.listing.lock()?;
        let next = listing.pages.next()?;
        if next.is_empty() {
            return Ok(None);
        }
        abi::put_structure(chunk, size, &listing.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees pages in their clusters, at any time. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clustered_pages_free(clustered_pages: Option<Box<ClusteredPages>>) {
    free("simkeep_clustered_pages_free", clustered_pages);
}
