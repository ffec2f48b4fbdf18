//! Mirrors: sites of which many paths lead to pages near each other.
//!
//! [`Mirroring`] finds hosts, or folders of them, that have the same paths with pages near each other.
//!
//! A site is a host, or a folder of one up to some depth. Comparing all sites with all would be
//! quadratic, so it is done in three steps, in bounded memory:
//!
//! 1. One scan of all pages in SURT order, in which those of a site are neighbours, draws a *sample* of
//!    each site that is large enough: of its paths the sixteen with the smallest hashes, and as many
//!    of its paths with some bits of the fingerprint (`sample`). The hashes are the same on all
//!    sites, so two that have paths in common have those in common of their samples, too: a bottom-k
//!    sketch (E. Cohen, "Size-estimation framework with applications to transitive closure and
//!    reachability", 1997). The hashes go to scratch files, and so does the list of the sites
//!    (`sites`).
//! 2. Sorted by hash, sites that share one meet. Of those that share two the ones with most are
//!    *candidates* (`candidates`).
//! 3. Candidates are *compared* exactly, as two lists of paths that are merged (`compare`). Only what
//!    was compared is reported. What folders lie in comes before them, and where that mirrors each
//!    other, its folders go without saying (`families`).

mod answer;
mod candidates;
mod compare;
mod families;
mod lot;
mod mirroring;
mod paths;
mod sample;
mod sites;
mod versions;

pub use answer::{Mirror, MirrorExample, MirrorSite, Mirrors};
pub use mirroring::Mirroring;

use std::cmp::Reverse;

use self::candidates::{Candidate, candidates, sorter};
use self::compare::Comparing;
use self::families::Families;
use self::paths::Paths;
use self::sample::{Drawn, Sampler};
use self::sites::{Sites, SitesWriter};
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::Totals;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::query::in_force::InForceFilter;
use crate::sort::{Sorted, Sorter, Workspace};

impl Mirroring {
    /// Finds the sites that mirror each other: hosts, and folders of them, of which so many paths lead
    /// to pages near each other. [`Mirroring`] says how many, and what share of all they must be. Where
    /// two sites mirror each other, folders of the same name in them are not named as well.
    ///
    /// A path is what follows the site in a URL, with query and fragment, and whatever the scheme: of
    /// `http://a.example/x` and `https://a.example/x` the last in SURT order counts, so the one with
    /// `https`. Taken are pages with a version in force in the epoch. Two pages are near each other if
    /// what is in force on one is near what is in force on the other, or was earlier, of the last
    /// [eight](crate::HISTORY_WINDOW) versions: then one of them is outdated. URLs without a
    /// host or with a user are of no site.
    ///
    /// What is found is exact: each pair that is named was compared path by path. Which pairs are
    /// compared is decided by a sample of each site, so one may be missed: [`Mirroring::recall`] says
    /// how likely that is, less than one in a thousand million if 80 % of the paths lead to the same.
    /// Paths that are on more than 64 sites, such as `/about`, count in the sample only together with
    /// what they lead to; and of more than nine sites that are all alike, each is compared with some of
    /// the others.
    ///
    /// Costs a scan of all pages, about a microsecond a page, and for each pair that is compared some
    /// 100 microseconds and the pages of both; those are at most eight a site on its own account, and
    /// of sites that are much larger than others none. A page lies in a site for each folder up to
    /// [`depth`](Mirroring::depth), and is read again for pairs of each. So where folders repeat, as in
    /// `/d/d/d/d/x`, and are near each other by their names alone, a page costs some 14 microseconds at
    /// the default depth of 2, and 22 at a depth of 6; the time stays in proportion to pages and depth.
    /// Takes the memory that is asked for, in scratch
    /// files in the system's directory for temporary files what does not fit: for each site with enough
    /// paths 384 bytes for the samples and the key of the site, and 9 for each hash that two sites
    /// share, which is 9 KB a site if all its paths are on 64 sites. Beyond that it takes a byte of
    /// memory for each such site, some 50 for each pair that is found, and 6 MiB. Nothing grows with
    /// the pages of a site.
    ///
    /// ```
    /// use simkeep::mirror::Mirroring;
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
    /// let found = Mirroring::new().run(&store.snapshot(), &Progress::default())?;
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
    /// [`Error::InvalidArgument`] if what is asked makes no sense, [`Error::UnknownEpoch`] or
    /// [`Error::EndedEpoch`]; [`Error::Corrupt`] if what it touches is damaged, [`Error::Cancelled`] if
    /// `progress` was, [`Error::Io`] if there is no room for scratch files, [`Error::Limit`] above four
    /// thousand million sites. Nothing is left behind.
    pub fn run(&self, snapshot: &Snapshot, progress: &Progress) -> Result<Mirrors> {
        snapshot.poison_on_bug(|| {
            self.check()?;
            let filter = InForceFilter {
                at: self.at,
                under: self.under.clone(),
                classes: self.classes.clone(),
                ..InForceFilter::new(snapshot, self.epoch)?
            };
            let comparing = Comparing {
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

/// Samples all sites, and compares those that look alike.
fn find(
    comparing: &Comparing<'_>,
    asked: &Mirroring,
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

/// What a scan of all pages leaves.
struct Sampled {
    paths: u64,
    /// Pages without a fingerprint of the epoch.
    without: u64,
    sites: Sites,
    drawn: Sorter<Drawn>,
}

/// Draws the samples of all sites.
fn sample(
    comparing: &Comparing<'_>,
    depth: u8,
    work: &Workspace,
    progress: &Progress,
) -> Result<Sampled> {
    let Comparing { snapshot, filter, paths_min, seed, .. } = comparing;
    // Under a prefix the number of pages is unknown, so the progress has no total.
    let known = filter.under.is_none().then(|| Totals::of(snapshot)).transpose()?;
    progress.start(Stage::Counting, known.map(|known| known.pages))?;
    let sites = SitesWriter::new(work)?;
    let extent = (depth, *paths_min);
    let mut sampler = Sampler::new(*seed, extent, sites, sorter(work));
    let mut pages: Paths<u64> = Paths::new(filter.pages(snapshot));
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
    Ok(Sampled { paths, without, sites: sites.finish()?, drawn })
}

/// Compares the candidates, and keeps the largest of what is found.
fn compare(
    comparing: &Comparing<'_>,
    (mut candidates, sites): (Sorted<Candidate>, &Sites),
    progress: &Progress,
    limit: usize,
    mirrors: &mut Mirrors,
) -> Result<()> {
    let mut families = Families::new(comparing.seed);
    let mut before: Option<Candidate> = None;
    while let Some(candidate) = candidates.next()? {
        progress.pass(1);
        progress.check()?;
        // A pair that both sites chose comes twice in a row, since
        // candidates are sorted. One comparison is enough.
        if before == Some(candidate) {
            continue;
        }
        let Candidate { deep, sites: [one, other] } = candidate;
        // Findings of one depth count from the next depth on. So the order
        // of pairs within a depth does not matter.
        if before.is_some_and(|before| before.deep < deep) {
            families.settle();
        }
        before = Some(candidate);
        let (one, other) = (sites.get(one)?, sites.get(other)?);
        // Sites are numbered when they are closed, inner ones first. SURT order needs the keys.
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
        progress.find(1);
        mirrors.pairs.push(mirror);
        // At twice the limit, so that sorting is rare and memory is bounded by the limit.
        if mirrors.pairs.len() >= limit.saturating_mul(2).max(1 << 10) {
            keep(&mut mirrors.pairs, limit);
        }
    }
    keep(&mut mirrors.pairs, limit);
    Ok(())
}

/// Keeps the first so many pairs: mirrors first, and of those the ones that are largest.
fn keep(pairs: &mut Vec<Mirror>, limit: usize) {
    let rank = |mirror: &Mirror| {
        let sites = [&mirror.leader, &mirror.follower].map(|site| site.site.to_bytes().to_vec());
        (!mirror.is_mirror, Reverse(mirror.near), sites)
    };
    // Cached, because a rank copies the names of both sites.
    pairs.sort_by_cached_key(rank);
    pairs.truncate(limit);
}
