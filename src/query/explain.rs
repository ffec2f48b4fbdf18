//! Explanations of searches: their plans and costs.

use std::time::Instant;

use crate::disk::page_faults;
use crate::engine::component::{Component, ComponentId};
use crate::engine::search::query::{Matches, Query};
use crate::engine::search::widen::{build_request, is_better_widened, search, widen};
use crate::engine::search::{Hit, HitSet, SearchRequest, segment_hits};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::search::{Cost, instruction_set};
use crate::search::{SearchPlan, Shape};
use std::time::Duration;

/// The plans and costs of a search.
///
/// ```
/// # use simkeep::{Observation, Options, Query, Store, Time};
/// use simkeep::query::Explanation;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::content("https://example.com/", Time::now(), 7, store.change_epoch()))?;
/// let explanation = Explanation::of(&store.snapshot(), &Query::new(7, 3))?;
/// assert_eq!(explanation.matches.near.len(), 1);
/// for component in &explanation.components {
///     println!("{:?}: {} hits of {}", component.segment, component.hits, component.fingerprints);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The instruction set that comparisons use: `avx512`, `avx2`, `popcnt` or `portable`.
    pub instruction_set: &'static str,
    /// The searched components, the oldest first; memtables last.
    pub components: Vec<ComponentSearch>,
    /// The results of the search.
    pub matches: Matches,
    /// The time of the whole search, with the lookup of pages.
    pub took: Duration,
}

impl Explanation {
    /// Runs a search and explains it: the plan chosen in each component, the reason for the choice,
    /// and the work done. Costs about three searches; page faults are counted in the first.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// use simkeep::query::Explanation;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
    /// let explanation = Explanation::of(&store.snapshot(), &Query::new(7, 3))?;
    /// println!("took {:?} with {}", explanation.took, explanation.instruction_set);
    /// assert_eq!(explanation.matches, store.snapshot().near(7, 3)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the search reads damaged data.
    pub fn of(snapshot: &Snapshot, query: &Query) -> Result<Explanation> {
        snapshot.poison_on_bug(|| explain(snapshot, query))
    }
}

/// The search of one segment or memtable.
///
/// ```
/// # use simkeep::{Observation, Options, Query, Store, Time};
/// use simkeep::query::{AccessPath, Explanation};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// store.seal()?;
/// let explanation = Explanation::of(&store.snapshot(), &Query::new(7, 3))?;
/// let search = &explanation.components[0];
/// // So few fingerprints are scanned.
/// assert_eq!((search.hits, search.plan.access_path), (1, AccessPath::Scan));
/// println!("expected {:.0} ns, took {:.0} ns", search.plan.expected.ns, search.counted.ns);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComponentSearch {
    /// The number of the segment; `None` for a memtable.
    pub segment: Option<u64>,
    /// The number of distinct fingerprints of the epoch in the component.
    pub fingerprints: u32,
    /// The shape of the component's tables: column, rotations or cells; `None` for a memtable.
    pub shape: Option<Shape>,
    /// The chosen plan, and its expected cost.
    pub plan: SearchPlan,
    /// The actual work and time of the search.
    pub counted: Cost,
    /// The number of distinct near fingerprints. If the search excludes pages or classes, only
    /// fingerprints of other pages count.
    pub hits: usize,
    /// The number of compared fingerprints, if a dense bucket had more fingerprints than the search
    /// may compare; see [`fingerprints`](Query::fingerprints).
    pub crowded: Option<u32>,
    /// Page faults during the search: first the number of faults served from memory, then the
    /// number of faults that waited for the disk. `None` if the system does not report page faults.
    pub faults: Option<(u64, u64)>,
}

/// Runs and explains a search.
fn explain(snapshot: &Snapshot, query: &Query) -> Result<Explanation> {
    let mut wanted = build_request(snapshot, query)?;
    if query.budget.is_some() || is_better_widened(snapshot, &wanted) {
        // For a search with growing radius, only the last round is reported.
        (_, wanted.k) = widen(snapshot, &wanted, query.budget)?;
    }
    let (fingerprint, k) = (wanted.fingerprint, wanted.k);
    let mut components = Vec::new();
    for (number, live) in (0..).zip(snapshot.view.segments.iter()) {
        let Some(tables) = live.tables(wanted.epoch) else { continue };
        let (before, start) = (page_faults(), Instant::now());
        let found = segment_hits(std::slice::from_ref(live), &wanted)?;
        let ns = start.elapsed().as_nanos() as f64;
        let faults = before.zip(page_faults());
        let component = ComponentId::Segment(number);
        let hits = found.hits.iter().map(|hit| Hit { component, ..*hit });
        let tables = &tables.tables;
        components.push(ComponentSearch {
            segment: Some(live.segment.id()),
            fingerprints: tables.len(),
            shape: Some(tables.shape()),
            plan: tables.plan(fingerprint, k),
            counted: Cost { ns, ..tables.count(fingerprint, k)? },
            hits: hits_of_others(snapshot, &wanted, hits)?,
            crowded: found.extent.crowded.then_some(found.extent.scanned),
            faults: faults.map(|(before, after)| (after.0 - before.0, after.1 - before.1)),
        });
    }
    for component in snapshot.view.components() {
        let Component::Memtable(id, memtable) = component else { continue };
        let inner = memtable.read();
        let Some(plan) = inner.plan(wanted.epoch, k) else { continue };
        let fingerprints = inner.fingerprints(wanted.epoch);
        drop(inner);
        let start = Instant::now();
        let mut found = HitSet::new(k);
        found.add_memtable(id, memtable, &wanted);
        let ns = start.elapsed().as_nanos() as f64;
        components.push(ComponentSearch {
            segment: None,
            fingerprints,
            shape: None,
            plan,
            counted: Cost { ns, ..plan.expected },
            hits: hits_of_others(snapshot, &wanted, found.hits.iter().copied())?,
            crowded: found.extent.crowded.then_some(found.extent.scanned),
            faults: None,
        });
    }
    let start = Instant::now();
    let matches = search(snapshot, query)?;
    let took = start.elapsed();
    Ok(Explanation { instruction_set: instruction_set(), components, matches, took })
}

/// The number of hits with at least one page that is not excluded.
fn hits_of_others(
    snapshot: &Snapshot,
    wanted: &SearchRequest<'_>,
    hits: impl Iterator<Item = Hit>,
) -> Result<usize> {
    if !wanted.leaves_out() {
        return Ok(hits.count());
    }
    let mut of_others = 0;
    for hit in hits {
        of_others += usize::from(snapshot.view.is_shown(wanted, snapshot.sequence, &[hit])?);
    }
    Ok(of_others)
}
