//! The cluster of one page, found by searches around it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::clustering::Clustering;
use super::clusters::{Cluster, ClusteredPage};
use super::declared::is_near;
use crate::bug::{Bug, OrBug};
use crate::engine::search::query::{Matches, Query, Versions};
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{RankKey, surt};
use crate::query::copies::pages_with_digest;
use crate::query::in_force::{InForceFilter, InForcePage};

/// The maximum number of searches for the cluster of one page.
const SEARCHES_MAX: usize = 1 << 12;

/// The maximum number of pages of one search, and of all searches together.
const PAGES_MAX: usize = 1 << 14;
const HELD_MAX: usize = 1 << 18;

/// The cluster of one page, from [`PageCluster::of`].
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::cluster::{Clustering, PageCluster};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://a.example/";
/// store.observe(Observation::content(url, Time::now(), 7, store.change_epoch()))?;
/// let found = PageCluster::of(&store.snapshot(), &Clustering::within(3), url)?.unwrap();
/// assert_eq!((found.cluster.leader.as_str(), found.complete), (url, true));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PageCluster {
    /// The cluster.
    pub cluster: Cluster,
    /// The pages of the cluster: the leader first, then the other pages by distance and in SURT
    /// order.
    pub pages: Vec<ClusteredPage>,
    /// Whether the result equals the result of [`Clustering::run`]. If not, the searches around the
    /// page were cut short: the page may have another leader, or the cluster may have other pages.
    pub complete: bool,
}

impl PageCluster {
    /// Finds the cluster of a page, as [`Clustering::run`] would; `None` if `asked` does not select
    /// the page.
    ///
    /// Whether a page leads depends on the near pages that rank before it, and whether those pages
    /// lead depends on the pages near them. So the cost is a search for each fingerprint examined,
    /// and reading the heads of the pages found: usually a few, in a dense region thousands. The
    /// call stops after 4,096 searches, or 262,144 pages, which are kept in memory; in this case
    /// the result is not complete.
    ///
    /// A page without a fingerprint costs one search by its digest, and reading the heads of the
    /// pages found, at most 16,384.
    ///
    /// The rule [`Canonical`](super::RankingRule::Canonical) costs a second search for each
    /// fingerprint of the pages found, again at most 4,096, and reads each page that these searches
    /// find, with the page that it declares. These pages count among the 262,144 pages, but only
    /// URLs of declared near pages are kept.
    ///
    /// ```
    /// use simkeep::cluster::PageCluster;
    /// use simkeep::cluster::Clustering;
    /// use simkeep::{Observation, Options, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (time, url, fingerprint) in [(1, "a", 0b0000), (2, "b", 0b0111), (3, "c", 0b1000)] {
    ///     store.observe(Observation::content(url, Time::from_ms(time)?, fingerprint, epoch))?;
    /// }
    /// let of = PageCluster::of(&store.snapshot(), &Clustering::within(3), "b")?.unwrap();
    /// assert_eq!((of.cluster.leader.as_str(), of.cluster.pages, of.complete), ("a", 3, true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url) for a URL that no page can have, and the errors of
    /// [`Clustering::run`].
    pub fn of(snapshot: &Snapshot, asked: &Clustering, url: &str) -> Result<Option<PageCluster>> {
        snapshot.poison_on_bug(|| {
            crate::url::check_url(url)?;
            let filter = InForceFilter { with_digests: true, ..asked.filter(snapshot)? };
            let Some(own) = filter.page(snapshot, url)? else { return Ok(None) };
            match own.fingerprint {
                Some(fingerprint) => {
                    let k = asked.distance(snapshot, filter.epoch);
                    let mut around = Neighbourhood::new((snapshot, asked, &filter), k);
                    around.cluster(own, fingerprint).map(Some)
                }
                None => PageCluster::by_digest((snapshot, asked, &filter), own).map(Some),
            }
        })
    }
}

impl PageCluster {
    /// The cluster of a page without a fingerprint: the pages with its digest.
    fn by_digest(
        (snapshot, asked, filter): (&Snapshot, &Clustering, &InForceFilter),
        own: InForcePage,
    ) -> Result<PageCluster> {
        let digest = own.digest.or_bug("a page without a fingerprint has a digest")?;
        let (urls, mut complete) = pages_with_digest(snapshot, digest, filter, PAGES_MAX)?;
        let mut pages = Vec::new();
        for url in urls {
            // The search finds pages with this digest and no fingerprint of any one epoch. Those with
            // a fingerprint of the asked epoch, and stale ones, are not in the cluster.
            let Some(taken) = filter.page(snapshot, &url)? else { continue };
            match taken.distance_to(&own) {
                Some(0) => pages.push(taken),
                None if taken.fingerprint.is_some() => {}
                // The search and the filter disagree on the version in force.
                _ => complete = false,
            }
        }
        if pages.iter().all(|taken| taken.url != own.url) {
            // A search that was cut may miss the requested page, which is always part of the answer.
            complete = false;
            pages.push(own);
        }
        let declared: HashSet<_> = pages.iter().filter_map(|taken| taken.target.clone()).collect();
        let place =
            |taken: InForcePage| (page_rank(asked, &taken, declared.contains(&taken.url)), taken);
        let mut pages: RankedPageList = pages.into_iter().map(place).collect();
        pages.sort_by(|(a, _), (b, _)| a.cmp(b));
        let leader = pages.first().or_bug("the requested page is in its cluster")?;
        PageCluster::of_members(leader, pages.iter().map(|page| (0, page)), complete)
    }

    /// Builds a cluster from its leader and its pages, each with its distance to the leader.
    fn of_members<'p>(
        (leader, taken): &'p (PageRank, InForcePage),
        members: impl Iterator<Item = (u32, &'p (PageRank, InForcePage))>,
        complete: bool,
    ) -> Result<PageCluster> {
        let (_, _, url) = leader;
        let leads: Arc<str> = Arc::from(url.as_str());
        let mut pages: Vec<_> = members
            .map(|(distance, ((_, key, url), taken))| {
                // `false` sorts first: the leader, then the other pages by distance and in SURT
                // order.
                ((*leads != **url, distance, key, url), taken.fingerprint, taken.class)
            })
            .collect();
        pages.sort_unstable();
        let size = pages.len() as u64;
        let pages: Vec<ClusteredPage> = pages
            .into_iter()
            .map(|((_, distance, _, url), fingerprint, class)| ClusteredPage {
                url: Arc::from(url.as_str()),
                fingerprint,
                class,
                leader: Arc::clone(&leads),
                leader_class: taken.class,
                distance,
                resemblance: None,
                pages: size,
                by: None,
            })
            .collect();
        let max_distance =
            pages.iter().map(|page| page.distance).max().or_bug("a leader leads itself")?;
        let cluster = Cluster {
            leader: url.clone(),
            fingerprint: taken.fingerprint,
            first_seen: taken.since,
            pages: size,
            max_distance,
        };
        Ok(PageCluster { cluster, pages, complete })
    }
}

/// The position of a page among all pages: by rank, then in SURT order.
type PageRank = (RankKey, Vec<u8>, String);

/// The position of a page. `is_canonical` is whether a near page declares the page as canonical.
fn page_rank(asked: &Clustering, taken: &InForcePage, is_canonical: bool) -> PageRank {
    (asked.rank(taken, is_canonical), surt::key_of(&taken.url), taken.url.clone())
}

/// The pages with one fingerprint, in order of rank.
type RankedPageList = Vec<(PageRank, InForcePage)>;

/// The pages examined around a page.
struct Neighbourhood<'a> {
    snapshot: &'a Snapshot,
    asked: &'a Clustering,
    filter: &'a InForceFilter,
    k: u32,
    nodes: HashMap<u64, RankedPageList>,
    /// For each fingerprint that was searched for, the fingerprints near it.
    near: HashMap<u64, Arc<[u64]>>,
    /// The pages that a near page declares as canonical, if the ranking uses them.
    declared: HashSet<String>,
    /// The fingerprints around which declarations were searched for.
    searched: HashSet<u64>,
    /// The fingerprints whose pages' declarations were read.
    read: HashSet<u64>,
    leads: HashMap<u64, bool>,
    /// The number of pages in the nodes, and of pages whose declarations were read.
    held: usize,
    complete: bool,
}

impl<'a> Neighbourhood<'a> {
    fn new(
        (snapshot, asked, filter): (&'a Snapshot, &'a Clustering, &'a InForceFilter),
        k: u32,
    ) -> Self {
        Neighbourhood {
            snapshot,
            asked,
            filter,
            k,
            nodes: HashMap::new(),
            near: HashMap::new(),
            declared: HashSet::new(),
            searched: HashSet::new(),
            read: HashSet::new(),
            leads: HashMap::new(),
            held: 0,
            complete: true,
        }
    }

    /// The fingerprints near a fingerprint. Searches for them the first time.
    fn near(&mut self, fingerprint: u64) -> Result<Arc<[u64]>> {
        if let Some(near) = self.near.get(&fingerprint) {
            return Ok(Arc::clone(near));
        }
        // After a cut the answer is incomplete anyway, so no more searches are made.
        self.complete &= self.near.len() < SEARCHES_MAX && self.held < HELD_MAX;
        if !self.complete {
            return Ok(Arc::from([]));
        }
        let found = self.search(fingerprint)?;
        let mut near: Vec<u64> = Vec::new();
        // The pages are kept apart from `nodes` until the end. Otherwise the second page of a new
        // fingerprint would look like a page of a known fingerprint and be left out.
        let mut new: HashMap<u64, RankedPageList> = HashMap::new();
        for page in found.near {
            if !self.nodes.contains_key(&page.fingerprint) {
                let taken = self.filter.page(self.snapshot, &page.url)?;
                let taken = taken.filter(|taken| taken.fingerprint == Some(page.fingerprint));
                let Some(taken) = taken else {
                    // The search and the filter disagree on the version in force, so the answer is
                    // not complete.
                    self.complete = false;
                    continue;
                };
                self.held += 1;
                let place = self.place_of(&taken, page.fingerprint)?;
                new.entry(page.fingerprint).or_default().push((place, taken));
            }
            near.push(page.fingerprint);
        }
        for (fingerprint, mut pages) in new {
            pages.sort_by(|(a, _), (b, _)| a.cmp(b));
            self.nodes.insert(fingerprint, pages);
        }
        near.sort_unstable();
        near.dedup();
        // The search also finds the pages of the fingerprint itself, which is not a neighbour.
        near.retain(|other| *other != fingerprint);
        let near: Arc<[u64]> = near.into();
        self.near.insert(fingerprint, Arc::clone(&near));
        Ok(near)
    }

    /// Searches for the pages near a fingerprint.
    fn search(&mut self, fingerprint: u64) -> Result<Matches> {
        // The query has the same bounds as the filter, so that both select the same pages.
        let versions = self.filter.at.map_or(Versions::InForce, Versions::At);
        let query = Query::new(fingerprint, self.k)
            .epoch(self.filter.epoch)
            .versions(versions)
            .under(self.filter.under.clone())
            .classes(self.filter.classes.clone())
            .limit(PAGES_MAX);
        let found = self.snapshot.search(&query)?;
        self.complete &= found.complete;
        Ok(found)
    }

    /// The position of a page with a fingerprint.
    fn place_of(&mut self, taken: &InForcePage, fingerprint: u64) -> Result<PageRank> {
        let is_canonical = self.filter.with_target && self.is_declared(taken, fingerprint)?;
        Ok(page_rank(self.asked, taken, is_canonical))
    }

    /// Whether a near page declares a page as canonical. Searches around each fingerprint once, which
    /// doubles the number of searches.
    fn is_declared(&mut self, taken: &InForcePage, fingerprint: u64) -> Result<bool> {
        if !self.searched.contains(&fingerprint) {
            self.complete &= self.searched.len() < SEARCHES_MAX && self.held < HELD_MAX;
            if !self.complete {
                return Ok(false);
            }
            self.read_declarations(fingerprint)?;
            self.searched.insert(fingerprint);
        }
        Ok(self.declared.contains(&taken.url))
    }

    /// Reads the declarations of the pages near a fingerprint, once for each page. A declaration
    /// that does not lead to a near page is not kept: a page may declare any URL.
    fn read_declarations(&mut self, fingerprint: u64) -> Result<()> {
        let mut new = HashSet::new();
        for page in self.search(fingerprint)?.near {
            if self.read.contains(&page.fingerprint) {
                continue;
            }
            // The other pages of the fingerprint are read, too.
            new.insert(page.fingerprint);
            self.held += 1;
            let Some(taken) = self.filter.page(self.snapshot, &page.url)? else { continue };
            let Some(target) = &taken.target else { continue };
            if self.declared.contains(target) {
                continue;
            }
            let other = self.filter.page(self.snapshot, target)?;
            if other.is_some_and(|other| is_near(&taken, &other, self.k)) {
                self.declared.insert(target.clone());
            }
        }
        self.read.extend(new);
        Ok(())
    }

    /// Adds the requested page to the pages found, in case the search was cut before it found the
    /// page.
    fn hold(&mut self, own: InForcePage, fingerprint: u64) -> Result<()> {
        let place = self.place_of(&own, fingerprint)?;
        let pages = self.nodes.entry(fingerprint).or_default();
        if pages.iter().all(|(_, taken)| taken.url != own.url) {
            self.complete = false;
            // The pages of a node are in order, because the first page determines the node's
            // position.
            let at = pages.partition_point(|(other, _)| *other < place);
            pages.insert(at, (place, own));
        }
        Ok(())
    }

    /// The position of the first page of a node.
    fn place(&self, fingerprint: u64) -> Result<&PageRank, Bug> {
        let pages = self.nodes.get(&fingerprint).and_then(|pages| pages.first());
        pages.map(|(place, _)| place).or_bug("each node has a page")
    }

    /// The nodes near a node that rank before it, in any order.
    fn before(&mut self, fingerprint: u64) -> Result<Vec<u64>> {
        let near = self.near(fingerprint)?;
        let mut before = Vec::new();
        for other in near.iter() {
            if self.place(*other)? < self.place(fingerprint)? {
                before.push(*other);
            }
        }
        Ok(before)
    }

    /// Whether a node leads: no leader is near it and ranks before it.
    fn leads(&mut self, fingerprint: u64) -> Result<bool> {
        // An explicit stack replaces recursion: a chain of nodes can be thousands long.
        let mut stack = vec![fingerprint];
        while let Some(node) = stack.last().copied() {
            if self.leads.contains_key(&node) {
                stack.pop();
                continue;
            }
            let before = self.before(node)?;
            let is_led = before.iter().any(|other| self.leads.get(other) == Some(&true));
            let open = before.into_iter().find(|other| !self.leads.contains_key(other));
            match open {
                // `open` ranks before `node`. So ranks strictly descend in the stack, and no node
                // comes up twice.
                Some(open) if !is_led => stack.push(open),
                _ => {
                    self.leads.insert(node, !is_led);
                    stack.pop();
                }
            }
        }
        Ok(*self.leads.get(&fingerprint).or_bug("the search decides whether the node leads")?)
    }

    /// The leader of a node: the nearest of the leaders that rank before it, or itself.
    fn leader(&mut self, fingerprint: u64) -> Result<u64> {
        let mut nearest: Option<(u32, u64)> = None;
        for other in self.before(fingerprint)? {
            if !self.leads(other)? {
                continue;
            }
            let distance = (other ^ fingerprint).count_ones();
            // As in a full clustering, the nearest leader is chosen, and among equally near leaders
            // the first in rank.
            let is_nearer = match nearest {
                None => true,
                Some((least, of)) if distance == least => self.place(other)? < self.place(of)?,
                Some((least, _)) => distance < least,
            };
            if is_nearer {
                nearest = Some((distance, other));
            }
        }
        Ok(nearest.map_or(fingerprint, |(_, leader)| leader))
    }

    /// The cluster of a page with this fingerprint.
    fn cluster(&mut self, own: InForcePage, fingerprint: u64) -> Result<PageCluster> {
        // The search puts the pages of this node into `nodes`. `hold` adds the page if the search
        // was cut.
        self.near(fingerprint)?;
        self.hold(own, fingerprint)?;
        let leader = self.leader(fingerprint)?;
        // Members are within k of their leader, so only its neighbours can belong to it.
        let mut members = vec![leader];
        for other in self.near(leader)?.iter() {
            if self.leader(*other)? == leader {
                members.push(*other);
            }
        }
        if !members.contains(&fingerprint) {
            // A search that was cut may miss the requested page, which is always part of the
            // answer.
            members.push(fingerprint);
        }
        self.cluster_of(leader, &members)
    }

    /// Builds the cluster of a leading node from its members, including the leader.
    fn cluster_of(&self, leader: u64, members: &[u64]) -> Result<PageCluster> {
        let first = self.nodes.get(&leader).and_then(|pages| pages.first());
        let pages = members.iter().flat_map(|node| {
            let distance = (node ^ leader).count_ones();
            self.nodes.get(node).into_iter().flatten().map(move |page| (distance, page))
        });
        PageCluster::of_members(first.or_bug("a leading node has a page")?, pages, self.complete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Ranking;
    use crate::{Observation, Options, Store, Time};

    #[test]
    fn only_declarations_of_near_pages_are_kept() {
        const COPIES: usize = 200;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
        let epoch = store.snapshot().near_epoch();
        let observe = |url: &str, fingerprint: u64, target: &str| {
            let seen = Observation::content(url, Time::from_ms(1).unwrap(), fingerprint, epoch);
            store.observe(seen.canonical(target)).unwrap();
        };
        observe("http://a.b/", 0, "");
        observe("http://a.b/far", !0, "");
        for copy in 0..COPIES {
            let target = match copy {
                0 => "/".to_owned(),
                1 => "/far".to_owned(),
                _ => format!("http://c.d/{copy}/{}", "x".repeat(1000)),
            };
            observe(&format!("http://a.b/{copy}"), 1 << (copy % 8), &target);
        }
        let snapshot = store.snapshot();
        let asked = Clustering::within(3).rule("canonical".parse::<Ranking>().unwrap());
        let filter = asked.filter(&snapshot).unwrap();
        let own = filter.page(&snapshot, "http://a.b/7").unwrap().unwrap();
        let mut around = Neighbourhood::new((&snapshot, &asked, &filter), 3);
        let found = around.cluster(own, 1 << 7).unwrap();
        assert_eq!((found.cluster.leader.as_str(), found.complete), ("http://a.b/", true));
        assert_eq!(around.declared.iter().collect::<Vec<_>>(), ["http://a.b/"]);
        // Each page is read once for its rank and once for its declaration.
        assert_eq!(around.held, 2 * (COPIES + 1));
    }
}
