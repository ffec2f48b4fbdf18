//! Mirrors: sites with near pages at many equal paths.
//!
//! [`MirrorQuery`] finds hosts, or folders of hosts, whose pages at equal paths are near-duplicates.
//!
//! A site is a host, or a folder of a host up to some depth. Comparing all pairs of sites would
//! take quadratic time, so the search takes three steps, in bounded memory:
//!
//! 1. One scan of all pages in SURT order, in which the pages of a site are contiguous, takes a
//!    *sample* of each site that is large enough (`sample`). A sample consists of the sixteen paths
//!    with the smallest hashes, and of sixteen paths hashed with some bits of the fingerprint. The
//!    hashes are equal on all sites, so sites with common paths also have common hashes in their
//!    samples. A sample is a bottom-k sketch (E. Cohen, "Size-estimation framework with
//!    applications to transitive closure and reachability", 1997). The hashes and the list of the
//!    sites (`sites`) go to scratch files.
//! 2. The hashes are sorted, so that sites with a common hash are adjacent. Pairs with two
//!    common hashes are considered. For each site, the pairs with the most common hashes are
//!    *candidates* (`candidates`).
//! 3. Candidates are *compared* exactly, by a merge join of their paths (`compare`). Only compared
//!    pairs are reported. Parents are compared before their folders. If the parents mirror each
//!    other, mirrors among their folders are implied and not compared (`families`).

mod candidates;
mod compare;
mod families;
mod hash_sample;
mod paths;
mod query;
mod results;
mod sample;
mod sites;
mod versions;

pub use query::MirrorQuery;
pub use results::{Mirror, MirrorExample, MirrorSite, Mirrors};

use std::cmp::Reverse;

use self::candidates::{CandidatePair, candidates, sorter};
use self::compare::SiteComparer;
use self::families::Families;
use self::paths::SitePaths;
use self::sample::{SampledHash, Sampler};
use self::sites::{Sites, SitesWriter};
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::query::in_force::InForceFilter;
use crate::sort::{SortedItems, Sorter, Workspace};

impl MirrorQuery {
    /// Finds sites that mirror each other: hosts, and folders of hosts, with near pages at many
    /// equal paths. [`MirrorQuery`] sets the minimum number of these paths, and their minimum share
    /// of all paths. If two sites mirror each other, folders of equal name in the two sites are not
    /// listed.
    ///
    /// A path is the rest of a URL after the site, with query and fragment, whatever the scheme. If
    /// several pages have the same path, the last in SURT order represents it: of
    /// `http://a.example/x` and `https://a.example/x`, the `https` page. The search uses pages with
    /// a current version in the epoch. Two pages are near each other if the current version on
    /// one page is near a version on the other page, current or earlier, among the last
    /// [eight](crate::HISTORY_WINDOW). If the near version is an earlier version, one of the pages
    /// is outdated. URLs without a host or with user information belong to no site.
    ///
    /// The results are exact: each listed pair was compared path by path. A sample of each site
    /// decides which pairs are compared, so the search may miss a pair. [`MirrorQuery::recall`]
    /// computes the probability that the search finds a pair. A pair with 80 % equal pages is
    /// missed less than once in a thousand million. A path on more than 64 sites, for example
    /// `/about`, counts in the sample only together with its fingerprint. In a group of more than
    /// nine similar sites, each site is compared with some of the others.
    ///
    /// The search scans all pages, at about a microsecond a page. Each comparison takes about 100
    /// microseconds and reads the pages of both sites. Each site chooses at most eight other sites
    /// for comparison. Much larger sites are not compared. A page belongs to one site for each
    /// folder up to [`depth`](MirrorQuery::depth), and is read again for pairs of each of these
    /// sites. If folder names repeat, as in `/d/d/d/d/x`, and folders are similar by their names
    /// alone, a page costs about 14 microseconds at the default depth of 2, and 22 at a depth of 6.
    /// The time is proportional to the number of pages and to the depth.
    ///
    /// The search takes the requested memory, and scratch files in the system's temporary directory
    /// for data beyond it. For each site with enough paths the scratch files contain 384 bytes for
    /// the samples, and the key of the site. Each hash that two sites share takes 9 bytes; a site
    /// whose paths are all on 64 sites takes 9 KB for its shared hashes. Further memory is one byte
    /// for each site with enough paths, about 50 bytes for each pair found, and 6 MiB. Nothing
    /// grows with the number of pages of a site.
    ///
    /// ```
    /// use simkeep::mirror::MirrorQuery;
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (time, host) in [(1, "a.example"), (2, "b.example/pub")] {
    ///     for page in 0..20 {
    ///         let url = format!("https://{host}/{page}");
    ///         store.observe(Observation::content(&url, Time::from_ms(time)?, page << 40, epoch))?;
    ///     }
    /// }
    /// let found = MirrorQuery::new().run(&store.snapshot(), &Progress::default())?;
    /// let [mirror] = &found.pairs[..] else { panic!("{found:?}") };
    /// assert_eq!(mirror.leader.site.to_string(), "a.example/");
    /// assert_eq!(mirror.follower.site.to_string(), "b.example/pub/");
    /// assert_eq!((mirror.near, mirror.share), (20, 1.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for options out of range, [`Error::UnknownEpoch`] or
    /// [`Error::EndedEpoch`]; [`Error::Corrupt`] if the search reads damaged data,
    /// [`Error::Cancelled`] if `progress` is cancelled, [`Error::Io`] if there is no space for
    /// scratch files, [`Error::Limit`] above four thousand million sites. No files are left behind.
    pub fn run(&self, snapshot: &Snapshot, progress: &Progress) -> Result<Mirrors> {
        snapshot.poison_on_bug(|| {
            self.check()?;
            let filter = InForceFilter {
                at: self.at,
                under: self.under.clone(),
                classes: self.classes.clone(),
                ..InForceFilter::new(snapshot, self.epoch)?
            };
            let comparing = SiteComparer {
                snapshot,
                filter: &filter,
                k: self.k.unwrap_or_else(|| snapshot.near_distance(filter.epoch)),
                paths_min: self.paths,
                share_min: self.share,
                seed: snapshot.view().seed,
            };
            let work = Workspace::new(self.scratch.clone(), self.memory_bytes);
            find(&comparing, self, &work, progress).map_err(|e| work.named(e))
        })
    }
}

/// Samples all sites, and compares the candidates.
fn find(
    comparing: &SiteComparer<'_>,
    asked: &MirrorQuery,
    work: &Workspace,
    progress: &Progress,
) -> Result<Mirrors> {
    let sampled = sample(comparing, asked.depth, work, progress)?;
    progress.begin(Stage::Joining, None);
    let (candidates, all) = candidates((sampled.drawn, &sampled.sites), work, progress)?;
    progress.start(Stage::Comparing, Some(all))?;
    let mut mirrors = Mirrors {
        pairs: Vec::new(),
        mirrors: 0,
        partial: 0,
        paths: sampled.paths,
        without_fingerprint: sampled.without,
        sites: sampled.sites.len(),
        compared: 0,
    };
    compare(comparing, (candidates, &sampled.sites), progress, asked.limit, &mut mirrors)?;
    progress.finish();
    Ok(mirrors)
}

/// The result of the scan of all pages.
struct SiteSamples {
    paths: u64,
    /// The number of pages without a fingerprint of the epoch.
    without: u64,
    sites: Sites,
    drawn: Sorter<SampledHash>,
}

/// Samples all sites in one scan.
fn sample(
    comparing: &SiteComparer<'_>,
    depth: u8,
    work: &Workspace,
    progress: &Progress,
) -> Result<SiteSamples> {
    let SiteComparer { snapshot, filter, paths_min, seed, .. } = comparing;
    // Under a prefix the number of pages is unknown, so the progress has no total.
    let known = filter.under.is_none().then(|| StoreTotals::of(snapshot)).transpose()?;
    progress.start(Stage::Counting, known.map(|known| known.pages))?;
    let sites = SitesWriter::new(work)?;
    let extent = (depth, *paths_min);
    let mut sampler = Sampler::new(*seed, extent, sites, sorter(work));
    let mut pages: SitePaths<u64> = SitePaths::new(filter.pages(snapshot));
    let (mut address, mut paths) = (Vec::new(), 0);
    let read = || {
        progress.pass(1);
        progress.check()
    };
    while let Some(fingerprint) = pages.next(&mut address, read)? {
        paths += 1;
        sampler.take(&address, fingerprint)?;
    }
    // The sites of the last page are still open at the end of the scan.
    let (sites, drawn) = sampler.finish()?;
    let without = pages.without_fingerprint();
    Ok(SiteSamples { paths, without, sites: sites.finish()?, drawn })
}

/// Compares the candidates, and keeps the pairs that rank first.
fn compare(
    comparing: &SiteComparer<'_>,
    (mut candidates, sites): (SortedItems<CandidatePair>, &Sites),
    progress: &Progress,
    limit: usize,
    mirrors: &mut Mirrors,
) -> Result<()> {
    let mut families = Families::new(comparing.seed);
    let mut before: Option<CandidatePair> = None;
    while let Some(candidate) = candidates.next()? {
        progress.pass(1);
        progress.check()?;
        // If both sites chose each other, the pair occurs twice in a row, because candidates are
        // sorted. One comparison is enough.
        if before == Some(candidate) {
            continue;
        }
        let CandidatePair { deep, sites: [one, other] } = candidate;
        // Pairs of one depth take effect when the next depth begins. So the order of pairs within a
        // depth does not matter.
        if before.is_some_and(|before| before.deep < deep) {
            families.settle();
        }
        before = Some(candidate);
        let (one, other) = (sites.get(one)?, sites.get(other)?);
        // Sites are numbered when they are closed, inner sites first. SURT order needs the keys.
        let (one, other) = if one.key < other.key { (one, other) } else { (other, one) };
        let keys = [one.key.as_slice(), &other.key];
        // A pair under parents that mirror each other is not reported, so its pages are not read.
        if families.implied(keys, false)? {
            continue;
        }
        mirrors.compared += 1;
        let Some(mirror) = comparing.compare([&one, &other], progress)? else { continue };
        let is_mirror = mirror.is_mirror;
        // Under parents with some near paths, a pair is reported only if it is a mirror.
        if !is_mirror && families.implied(keys, true)? {
            continue;
        }
        families.find(keys, is_mirror);
        *if is_mirror { &mut mirrors.mirrors } else { &mut mirrors.partial } += 1;
        progress.add_found(1);
        mirrors.pairs.push(mirror);
        // The list may grow to twice the limit, so that sorting is rare and memory is bounded by
        // the limit.
        if mirrors.pairs.len() >= limit.saturating_mul(2).max(1 << 10) {
            keep(&mut mirrors.pairs, limit);
        }
    }
    keep(&mut mirrors.pairs, limit);
    Ok(())
}

/// Keeps the first `limit` pairs: mirrors first, the pairs with the most near paths at the front.
fn keep(pairs: &mut Vec<Mirror>, limit: usize) {
    let rank = |mirror: &Mirror| {
        let sites = [&mirror.leader, &mirror.follower].map(|site| site.site.to_bytes().to_vec());
        (!mirror.is_mirror, Reverse(mirror.near), sites)
    };
    // The ranks are cached, because a rank copies the names of both sites.
    pairs.sort_by_cached_key(rank);
    pairs.truncate(limit);
}
