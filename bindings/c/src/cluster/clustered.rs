//! Pages in their clusters, one after another.

use std::vec;

use simkeep::cluster::{self, ClusteredPage};

use crate::abi;
use crate::abi::lend::Lent;
use crate::call::{found, free, one_thread_at_a_time};
use crate::chunks::{CHUNK_LEN, chunk};
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::Guarded;
use crate::texts::Texts;
use crate::write::outcomes::OriginalCode;

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
    columns: Columns,
}

/// Where pages come from.
#[derive(Debug)]
enum Source {
    /// All clusters.
    Lazy(Lent<cluster::ClusteredPages<'static>, cluster::Clusters>),
    /// One that was found.
    Found(vec::IntoIter<ClusteredPage>),
}

const _: () = one_thread_at_a_time::<cluster::ClusteredPages<'static>>();

chunk! {
    /// Some pages in their clusters, column by column. They live until the next call on what they were
    /// got from.
    pub struct ClusteredChunk, up to has_class, of page: ClusteredPage {
        /// The pages.
        urls: Texts = &page.url,
        /// Of each the page that leads its cluster, which may be itself.
        leaders: Texts = &page.leader,
        /// Its fingerprint.
        fingerprints: u64 = page.fingerprint,
        /// In how many bits that of its leader differs.
        distances: u8 = distances::of(Some(page.distance)),
        /// How it is known to be nearly the same as its leader, a `simkeep_original` each;
        /// `SIMKEEP_ORIGINAL_NOTHING` of the leader, and from `simkeep_snapshot_cluster_of`.
        by: OriginalCode = OriginalCode::of(page.by),
        /// How many pages the cluster has.
        cluster_pages: u64 = page.pages,
        /// The class that it is of now.
        classes: u32 = page.class.unwrap_or(0),
        /// Whether it has one, 1 or 0.
        has_class: u8 = u8::from(page.class.is_some()),
    }
}

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
        Ok(ClusteredPages {
            listing: Guarded::new(Listing { pages, columns: Columns::default() })?,
        })
    }
}

impl Source {
    /// The next pages, none at the end.
    fn next(&mut self) -> simkeep::Result<Vec<ClusteredPage>> {
        match self {
            Source::Lazy(pages) => pages.get_mut().take(CHUNK_LEN).collect(),
            Source::Found(pages) => Ok(pages.take(CHUNK_LEN).collect()),
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
        abi::put_structure(chunk, size, &listing.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees pages in their clusters, before their end or after it. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clustered_pages_free(clustered_pages: Option<Box<ClusteredPages>>) {
    free("simkeep_clustered_pages_free", clustered_pages);
}
