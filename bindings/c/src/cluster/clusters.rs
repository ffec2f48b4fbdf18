//! Clusters of near pages, each with a leader.

use std::ffi::c_char;
use std::sync::Arc;

use simkeep::cluster;
use simkeep::cluster::PageCluster;

use crate::abi;
use crate::abi::owning_ref::OwningRef;
use crate::call::{
    assert_thread_safe, call_without_error, done, found, free, make, one_thread_at_a_time,
};
use crate::chunks::{CHUNK_LEN, chunk};
use crate::cluster::clustered::ClusteredPages;
use crate::cluster::clustering::{self, Clustering};
use crate::distances;
use crate::failure::{Failure, Result};
use crate::fork::{ForkGuard, ForkSafeMutex};
use crate::open::snapshot::{self, SnapshotHandle};
use crate::progress::{self, ProgressHandle};
use crate::structure::structure;
use crate::texts::Texts;

/// The clusters of a store. Threads may use the handle concurrently, in the process that made it.
/// The handle keeps its snapshot and scratch files. Free the snapshot separately. Objects made from
/// the clusters stay valid.
#[derive(Debug)]
pub struct Clusters {
    of: Arc<cluster::Clusters>,
    process: ForkGuard,
}

const _: () = assert_thread_safe::<cluster::Clusters>();
const _: () = one_thread_at_a_time::<cluster::ClustersBySize<'static>>();

structure! {
    /// Summary figures of clusters.
    pub struct ClustersNumbers, up to k, from of: &cluster::Clusters {
        pages: u64 = of.pages(),
        fingerprints: u64 = of.fingerprints(),
        /// The number of clusters.
        clusters: u64 = of.len(),
        multi_page_clusters: u64 = of.multi_page_clusters(),
        largest: u64 = of.largest(),
        /// The length of the array `simkeep_clusters_sizes`.
        bins: u64 = of.sizes().len() as u64,
        k: u64 = of.k().into(),
        /// The number of pages with content, but without a fingerprint of the epoch, which are in
        /// no cluster: stale pages, redirects, and pages without a digest.
        without_fingerprint: u64 = of.without_fingerprint(),
    }
}

/// Divides all pages into clusters, each with a leader within a distance of all other pages in the
/// cluster. Content without a fingerprint is in a cluster with the pages of the same digest. The same
/// pages make the same clusters, regardless of the order of their visits.
/// `progress` may be NULL. Free the result with `simkeep_clusters_free`. Any thread. Costs reading
/// all pages once, and some joins; takes the memory of `clustering`, and scratch files of some 150
/// bytes a page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_clusters(
    snapshot: *const SnapshotHandle,
    clustering: *const Clustering,
    progress: *const ProgressHandle,
    error: *mut *mut Failure,
) -> Option<Box<Clusters>> {
    make("simkeep_snapshot_clusters", error, || {
        let (snapshot, process) = (snapshot::open(snapshot)?.0, ForkGuard::current()?);
        let asked = clustering::read(clustering)?;
        let of = Arc::new(asked.run(snapshot, &progress::of(progress)?)?);
        Ok(Clusters { of, process })
    })
}

/// Returns the clusters of a handle, if the handle may be used.
pub(crate) fn open<'a>(clusters: *const Clusters) -> Result<&'a Arc<cluster::Clusters>> {
    let handle = abi::handle(clusters, "clusters")?;
    handle.process.check()?;
    Ok(&handle.of)
}

/// Copies the summary figures to where `numbers` points. `size` is
/// `sizeof(simkeep_clusters_numbers)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_get(
    clusters: *const Clusters,
    numbers: *mut ClustersNumbers,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_clusters_get", error, || {
        let figures = ClustersNumbers::new(open(clusters)?);
        abi::put_structure(numbers, size, &figures, "numbers")
    })
}

/// Returns the numbers of clusters with 1 page, 2 or 3, 4 to 7, and so on: `bins` numbers, from
/// `simkeep_clusters_get`. Valid as long as `clusters`; NULL for NULL. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_sizes(clusters: *const Clusters) -> *const u64 {
    call_without_error("simkeep_clusters_sizes", std::ptr::null(), || {
        Ok(open(clusters)?.sizes().as_ptr())
    })
}

/// Frees clusters. Does nothing for NULL. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_free(clusters: Option<Box<Clusters>>) {
    free("simkeep_clusters_free", clusters);
}

/// Lists the pages of clusters with at least this many pages, in SURT order. Free the result with
/// `simkeep_clustered_pages_free`. Any thread. Costs a sort of some 100 bytes for each page.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_by_page(
    clusters: *const Clusters,
    pages_min: u64,
    error: *mut *mut Failure,
) -> Option<Box<ClusteredPages>> {
    make("simkeep_clusters_by_page", error, || {
        let of = Arc::clone(open(clusters)?);
        ClusteredPages::lazy(OwningRef::new(of, |of| of.by_page(pages_min))?)
    })
}

/// Lists the pages of clusters with at least this many pages, the largest cluster first. In each
/// cluster the leader comes first, then the other pages by their distance from it. See also
/// `simkeep_clusters_by_page`.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_by_cluster(
    clusters: *const Clusters,
    pages_min: u64,
    error: *mut *mut Failure,
) -> Option<Box<ClusteredPages>> {
    make("simkeep_clusters_by_cluster", error, || {
        let of = Arc::clone(open(clusters)?);
        ClusteredPages::lazy(OwningRef::new(of, |of| of.by_cluster(pages_min))?)
    })
}

/// Finds the cluster of a page by searches around the page. The result equals the cluster of the
/// page in `simkeep_snapshot_clusters`. The result has the pages of the cluster, the leader first,
/// or no pages if the options exclude the page. `complete` becomes 1, or 0 if the searches were cut
/// short, so that the leader may be wrong, or pages may be missing. `complete` may be NULL. Free
/// the result with `simkeep_clustered_pages_free`. Any thread. Usually costs a few searches, in
/// dense regions thousands.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_snapshot_cluster_of(
    snapshot: *const SnapshotHandle,
    url: *const c_char,
    url_len: usize,
    clustering: *const Clustering,
    complete: *mut u32,
    error: *mut *mut Failure,
) -> Option<Box<ClusteredPages>> {
    make("simkeep_snapshot_cluster_of", error, || {
        let snapshot = snapshot::open(snapshot)?.0;
        let url = abi::text(url, url_len, "url")?;
        let found = PageCluster::of(snapshot, &clustering::read(clustering)?, url)?;
        let is_complete = found.as_ref().is_none_or(|found| found.complete);
        if !complete.is_null() {
            abi::put(complete, u32::from(is_complete), "complete")?;
        }
        ClusteredPages::found(found.map_or_else(Vec::new, |found| found.pages))
    })
}

/// A list of clusters. Use the list from one thread at a time, in the process that made it. The
/// list keeps its clusters. Free the list and the clusters separately.
#[derive(Debug)]
pub struct ClusterList {
    listing: ForkSafeMutex<ClusterListing>,
}

#[derive(Debug)]
struct ClusterListing {
    by_size: OwningRef<cluster::ClustersBySize<'static>, cluster::Clusters>,
    /// The clusters that C currently has.
    columns: Columns,
}

chunk! {
    /// A chunk of clusters, column by column. Valid until the next call on its source.
    pub struct ClusterChunk, up to has_fingerprint, of cluster: cluster::Cluster {
        /// The URL of the leader of each cluster.
        leaders: Texts = &cluster.leader,
        /// The fingerprint of each leader; 0 if the pages have equal digests and no fingerprints.
        fingerprints: u64 = cluster.fingerprint.unwrap_or(0),
        /// The time when each leader was first seen with the compared content, in milliseconds
        /// since 1970.
        first_seen_ms: i64 = cluster.first_seen.as_ms(),
        /// The number of pages of each cluster, including the leader.
        pages: u64 = cluster.pages,
        /// The largest distance of a page of each cluster from the leader.
        max_distance: u8 = distances::of(Some(cluster.max_distance)),
        /// Whether each cluster has fingerprints, 1 or 0.
        has_fingerprint: u8 = u8::from(cluster.fingerprint.is_some()),
    }
}

/// Lists clusters with at least this many pages, the largest first. Free the result with
/// `simkeep_cluster_list_free`. Any thread. Costs a sort of some 100 bytes for each cluster.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_clusters_by_size(
    clusters: *const Clusters,
    pages_min: u64,
    error: *mut *mut Failure,
) -> Option<Box<ClusterList>> {
    make("simkeep_clusters_by_size", error, || {
        let by_size = OwningRef::new(Arc::clone(open(clusters)?), |of| of.by_size(pages_min))?;
        Ok(ClusterList {
            listing: ForkSafeMutex::new(ClusterListing { by_size, columns: Columns::default() })?,
        })
    })
}

/// Copies the next clusters, up to 1,024, to where `chunk` points; `SIMKEEP_NONE` if there are no
/// more clusters. The clusters are valid until the next call on `cluster_list`. After an error
/// there are no more clusters. `size` is `sizeof(simkeep_cluster_chunk)`. One thread at a time.
/// Costs reading the leader of each cluster.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_cluster_list_next(
    cluster_list: *mut ClusterList,
    chunk: *mut ClusterChunk,
    size: usize,
    error: *mut *mut Failure,
) -> i32 {
    found("simkeep_cluster_list_next", error, || {
        let list = abi::handle(cluster_list, "cluster_list")?;
        abi::check_put_structure(chunk, size, "chunk")?;
        if !list.listing.is_own() {
            return Err(Failure::forked("this list of clusters belongs to"));
        }
        let mut listing = list.listing.lock()?;
        let next = listing.by_size.get_mut().take(CHUNK_LEN);
        let next = next.collect::<simkeep::Result<Vec<_>>>()?;
        if next.is_empty() {
            return Ok(None);
        }
        abi::put_structure(chunk, size, &listing.columns.fill(&next), "chunk").map(Some)
    })
}

/// Frees a list of clusters, at any time. Does nothing for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_cluster_list_free(cluster_list: Option<Box<ClusterList>>) {
    free("simkeep_cluster_list_free", cluster_list);
}
