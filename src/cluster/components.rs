//! Connected components of near pages, as other tools compute them. The documentation explains why
//! clusters are better.

use std::ops::ControlFlow;

use super::clustering::Clustering;
use super::column::SpillColumn;
use super::gather::{captures, fingerprints, nodes};
use crate::bug::OrBug;
use crate::engine::component::PageAddress;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};
use crate::sort::Workspace;
use crate::sync::Mutex;

/// The number of large components to examine.
const LARGEST: usize = 10;

/// The maximum number of fingerprints of a component for which all pairs are compared.
const COMPARED_MAX: usize = 1 << 16;

/// The connected components of a snapshot. Two pages are in one component if a chain of pages
/// connects them, in which each page is within k bits of the next.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, ConnectedComponents};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
/// let (snapshot, asked) = (store.snapshot(), Clustering::within(3));
/// let components = ConnectedComponents::of(&snapshot, &asked, &Progress::default())?;
/// assert_eq!((components.pages, components.components), (3, 2));
/// assert_eq!(components.multi_page_components, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectedComponents {
    /// The maximum distance between two successive pages of a chain.
    pub k: u32,
    /// The number of pages.
    pub pages: u64,
    /// The number of pages with content but without a fingerprint of the epoch, which are in no
    /// component.
    pub without_fingerprint: u64,
    /// The number of components.
    pub components: u64,
    /// The number of components of two or more pages.
    pub multi_page_components: u64,
    /// The ten largest components of two or more pages.
    pub largest: Vec<ConnectedComponent>,
}

impl ConnectedComponents {
    /// Computes the connected components: pages within k of each other are in one component. Some
    /// tools remove all but one page of each component. A chain of small steps connects texts that
    /// have little in common, as the widest distance in a component shows. Prefer
    /// [clusters](Clustering::run).
    ///
    /// The pages and the distance come from `asked`. Costs the join of
    /// [`FingerprintPairs`](crate::query::FingerprintPairs), so a dense bucket costs its square.
    /// The call takes another 16 bytes of memory for each fingerprint, and 8 more for each
    /// fingerprint of the ten largest components.
    ///
    /// ```
    /// use simkeep::cluster::ConnectedComponents;
    /// use simkeep::cluster::Clustering;
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (url, fingerprint) in [("a", 0b0000), ("b", 0b0111), ("c", 0b0011_1111)] {
    ///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let (snapshot, asked) = (store.snapshot(), Clustering::within(3));
    /// let components = ConnectedComponents::of(&snapshot, &asked, &Progress::default())?;
    /// assert_eq!((components.components, components.largest[0].max_distance), (1, 6));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Clustering::run`].
    pub fn of(
        snapshot: &Snapshot,
        asked: &Clustering,
        progress: &Progress,
    ) -> Result<ConnectedComponents> {
        snapshot.poison_on_bug(|| {
            let work = asked.workspace();
            components(snapshot, asked, &work, progress).map_err(|e| work.named(e))
        })
    }
}

/// A connected component.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, ConnectedComponents};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
/// let (snapshot, asked) = (store.snapshot(), Clustering::within(3));
/// let components = ConnectedComponents::of(&snapshot, &asked, &Progress::default())?;
/// let largest = &components.largest[0];
/// assert_eq!((largest.page.as_str(), largest.pages), ("https://example.com/terms", 2));
/// assert_eq!(largest.max_distance, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectedComponent {
    /// A page of the component: the first by the rules among the pages with the least fingerprint.
    pub page: String,
    /// The number of pages in the component.
    pub pages: u64,
    /// The greatest distance between two pages of the component. Above 65,536 fingerprints the
    /// distance is a lower bound: each fingerprint is compared only with a few that are far from
    /// each other.
    pub max_distance: u32,
}

#[expect(clippy::indexing_slicing, reason = "numbers of nodes")]
fn components(
    snapshot: &Snapshot,
    asked: &Clustering,
    work: &Workspace,
    progress: &Progress,
) -> Result<ConnectedComponents> {
    let filter = asked.filter(snapshot)?;
    let k = asked.distance(snapshot, filter.epoch);
    let captures = captures(snapshot, asked, &filter, work, progress, |_, _| {})?;
    let without_fingerprint = captures.without;
    let (_, _, bearers) = nodes(captures.fingerprinted, work, progress)?;
    let (column, pages) = fingerprints(&bearers, work)?;
    let mut sets = joined(&column, k, work, progress)?;
    // A u32 is enough for fewer than 2^32 pages. Only roots get a size above 0.
    let mut sizes = vec![0_u32; pages.len()];
    for (node, pages) in (0..column.len()).zip(&pages) {
        sizes[sets.root(node) as usize] += pages;
    }
    let mut found = ConnectedComponents {
        k,
        pages: bearers.len(),
        without_fingerprint,
        ..ConnectedComponents::default()
    };
    let mut roots: Vec<u32> = (0..column.len()).filter(|root| sizes[*root as usize] > 0).collect();
    found.components = roots.len() as u64;
    roots.retain(|root| sizes[*root as usize] > 1);
    found.multi_page_components = roots.len() as u64;
    // The largest set comes first. A root is the least node of its set, so sets of one size are
    // sorted by fingerprint.
    roots.sort_unstable_by_key(|root| (u32::MAX - sizes[*root as usize], *root));
    roots.truncate(LARGEST);
    let mut within: Vec<(Vec<u64>, Option<u64>)> = vec![Default::default(); roots.len()];
    // Pages and nodes are in order of fingerprint, so each new fingerprint is the next node.
    let (mut reader, mut last, mut node) = (bearers.read(), None, 0);
    while let Some(bearer) = reader.next()? {
        if last == Some(bearer.fingerprint) {
            continue;
        }
        node += u32::from(last.is_some());
        last = Some(bearer.fingerprint);
        let root = sets.root(node);
        // At most ten roots: a linear search is cheap.
        if let Some(at) = roots.iter().position(|of| *of == root) {
            let (fingerprints, place) = &mut within[at];
            fingerprints.push(bearer.fingerprint);
            // The component's page is the first page of its least fingerprint: pages with one
            // fingerprint are in order of rank.
            *place = place.or(Some(bearer.place));
        }
    }
    for (root, (fingerprints, place)) in roots.iter().zip(within) {
        let place = PageAddress::from_bits(place.or_bug("a component has a page")?);
        found.largest.push(ConnectedComponent {
            page: snapshot.view().url_at(place)?,
            pages: sizes[*root as usize].into(),
            max_distance: max_distance(&fingerprints, progress)?,
        });
    }
    progress.finish();
    Ok(found)
}

/// Finds the sets of nodes connected by steps within k.
fn joined(
    column: &SpillColumn<u64>,
    k: u32,
    work: &Workspace,
    progress: &Progress,
) -> Result<DisjointSets> {
    // The sink runs on several threads, and a union changes shared paths. One lock serves a batch of
    // pairs.
    let sets = Mutex::new(DisjointSets { above: (0..column.len()).collect() });
    progress.begin(Stage::Joining, None);
    if k > 0 {
        let near = |found: &[Pair]| {
            let mut sets = sets.lock();
            found.iter().for_each(|pair| sets.unite(pair.left, pair.right));
            progress.add_found(found.len() as u64);
            ControlFlow::Continue(())
        };
        let join = Join::within(k).memory_bytes(work.part(2));
        let _: ControlFlow<()> = join.run(column, &progress.hidden(), near)?;
        progress.check()?;
    }
    Ok(sets.into_inner())
}

/// Disjoint sets (B. A. Galler, M. J. Fischer, 1964). The root of each set is its least node.
struct DisjointSets {
    above: Vec<u32>,
}

#[expect(clippy::indexing_slicing, reason = "numbers of nodes")]
impl DisjointSets {
    fn root(&mut self, mut node: u32) -> u32 {
        while self.above[node as usize] != node {
            let next = self.above[node as usize];
            // Path halving: each step skips a node, so later walks are shorter.
            self.above[node as usize] = self.above[next as usize];
            node = self.above[node as usize];
        }
        node
    }

    fn unite(&mut self, one: u32, other: u32) {
        let (one, other) = (self.root(one), self.root(other));
        // The lesser root wins, not the root of the larger set, so the result does not depend on
        // the order of pairs.
        self.above[one.max(other) as usize] = one.min(other);
    }
}

/// The greatest distance between two fingerprints.
fn max_distance(fingerprints: &[u64], progress: &Progress) -> Result<u32> {
    let far = |from: u64| {
        let distances = fingerprints.iter().map(|other| ((other ^ from).count_ones(), *other));
        distances.max().unwrap_or((0, from))
    };
    let mut max_distance = 0;
    // The result is exact, at a cost of n^2 comparisons, which is 2^32 at the limit.
    if fingerprints.len() <= COMPARED_MAX {
        for fingerprint in fingerprints {
            max_distance = max_distance.max(far(*fingerprint).0);
            progress.check()?;
        }
        return Ok(max_distance);
    }
    /// The maximum number of jumps to the farthest fingerprint.
    const STEPS: usize = 64;
    let Some(mut from) = fingerprints.first().copied() else { return Ok(0) };
    // Above the limit, repeatedly jumps to the farthest fingerprint. The result is a lower bound.
    for _ in 0..STEPS {
        let (distance, to) = far(from);
        if distance <= max_distance {
            break;
        }
        (max_distance, from) = (distance, to);
    }
    Ok(max_distance)
}
