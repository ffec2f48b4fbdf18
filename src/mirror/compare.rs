//! The exact comparison of two sites: a merge join of their pages by path.

use std::cmp::Ordering;

use super::hash_sample::HashSample;
use super::paths::SitePaths;
use super::results::{Mirror, MirrorExample, MirrorSite};
use super::sample::path_hash;
use super::sites::ListedSite;
use super::versions::NearestVersions;
use crate::bug::{OrBug, ensure};
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::page::Prefix;
use crate::progress::Progress;
use crate::query::in_force::{InForceFilter, InForceVersions};

/// The number of example pages for two sites.
const EXAMPLES: usize = 10;

/// The number of pages in the sample from which the lag is computed.
const LAGS: usize = 1000;

/// The criteria for mirrors, and the source of the pages.
pub(super) struct SiteComparer<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) filter: &'s InForceFilter,
    pub(super) k: u32,
    /// The required number of near paths. `share_min` is their required share.
    pub(super) paths_min: u64,
    pub(super) share_min: f64,
    pub(super) seed: u64,
}

/// The remaining paths of one side.
struct SitePathCursor<'s> {
    site: &'s ListedSite,
    paths: SitePaths<InForceVersions>,
    /// The address of the next path. `page` is the page of this path.
    address: Vec<u8>,
    page: Option<InForceVersions>,
    passed: u64,
}

impl SitePathCursor<'_> {
    fn new<'s>(
        comparing: &SiteComparer<'_>,
        site: &'s ListedSite,
        progress: &Progress,
    ) -> Result<SitePathCursor<'s>> {
        let of_site = prefix(&site.key)?;
        let SiteComparer { snapshot, filter, .. } = comparing;
        // Overlapping prefixes nest, so the narrower prefix is their intersection.
        let under = match &filter.under {
            Some(under) if of_site.covers(under) => under.clone(),
            _ => of_site,
        };
        let filter = InForceFilter { under: Some(under), ..(*filter).clone() };
        let paths = SitePaths::new(filter.pages(snapshot));
        let mut side = SitePathCursor { site, paths, address: Vec::new(), page: None, passed: 0 };
        side.advance(progress)?;
        Ok(side)
    }

    fn advance(&mut self, progress: &Progress) -> Result<()> {
        // `compare` may have taken the page; in this case `compare` counts the page.
        self.passed += u64::from(self.page.is_some());
        self.page = self.paths.next(&mut self.address, || progress.check())?;
        Ok(())
    }

    /// The path of the next page within the site; `None` after the last page.
    fn path(&self) -> Option<&[u8]> {
        self.page.as_ref().and(self.address.get(self.site.key.len()..))
    }
}

/// Converts the key of a site to a prefix.
fn prefix(key: &[u8]) -> Result<Prefix> {
    Ok(Prefix::from_bytes(key).or_bug("the key of a site is the key of a prefix")?)
}

/// The result for the common paths of two sites.
struct CommonPaths {
    common: u64,
    near: u64,
    /// For each side, the number of near paths on which the side has an earlier version of the
    /// other side.
    outdated: [u64; 2],
    /// For each side, the number of near paths on which the side was first. `first_to_change`
    /// counts only paths on which both sides are known to have changed.
    first: [u64; 2],
    first_to_change: [u64; 2],
    /// How much later the second side was, in milliseconds. A sample of the paths on which both
    /// sides are known to have changed.
    later: HashSample<i64>,
    examples: HashSample<([String; 2], u32)>,
}

/// Adds to the counts of both sides.
fn add(counts: &mut [u64; 2], more: [u64; 2]) {
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
}

impl CommonPaths {
    fn add_path(&mut self, hash: u64, pages: [InForceVersions; 2], k: u32) -> Result<()> {
        let [one, other] = &pages;
        let nearest = NearestVersions::of([one, other])
            .or_bug("each page that passed the filter has a version in force")?;
        let NearestVersions { distance, at, later, is_change } = nearest;
        self.common += 1;
        // Sampled by the hash of the path: random, but repeatable.
        self.examples.offer(hash, || (pages.map(|page| page.url), distance));
        if distance > k {
            return Ok(());
        }
        self.near += 1;
        // If an earlier version of one page matches, the other page is outdated: its version in
        // force is the earlier version.
        let [of_one, of_other] = at.map(|version| u64::from(version > 0));
        add(&mut self.outdated, [of_other, of_one]);
        let is_first = [u64::from(later > 0), u64::from(later < 0)];
        // Equal times count for neither side.
        add(&mut self.first, is_first);
        if is_change {
            add(&mut self.first_to_change, is_first);
            self.later.offer(hash, || later);
        }
        Ok(())
    }

    /// The index of the leading side: the side that was first on more of the paths on which both
    /// sides are known to have changed. After a tie all near paths decide, and then SURT order.
    fn leads(&self) -> usize {
        // `Greater` if the other side was first more often. Known changes take precedence over all
        // near paths, because a first visit is only the time when a page was found.
        let [change, all] = [self.first_to_change, self.first].map(|[one, other]| other.cmp(&one));
        usize::from(change.then(all) == Ordering::Greater)
    }

    /// The lag of the other side, in milliseconds: the median over the paths on which both sides
    /// are known to have changed.
    fn lag(&mut self, leads: usize) -> Option<i64> {
        let later = std::mem::replace(&mut self.later, HashSample::new(0)).into_items();
        let sign = if leads == 0 { 1 } else { -1 };
        // The median is used, because a few pages that were found late would distort a mean.
        let mut later: Vec<i64> = later.map(|(_, later)| sign * later).collect();
        later.sort_unstable();
        let middle = later.len().checked_sub(1)? / 2;
        // A side may be first on more paths and still have a negative median.
        later.get(middle).map(|lag| (*lag).max(0))
    }
}

impl SiteComparer<'_> {
    /// Compares two sites in SURT order. Returns `None` if the sites have too little in common to
    /// be listed.
    pub(super) fn compare(
        &self,
        sites: [&ListedSite; 2],
        progress: &Progress,
    ) -> Result<Option<Mirror>> {
        let [one, other] = sites;
        let (least, most) = (one.paths.min(other.paths), one.paths.max(other.paths));
        // At best all paths of the smaller site are near. If the smaller site has too few paths, no
        // page is read.
        if self.share(least, most) < self.partial_min() {
            return Ok(None);
        }
        let mut met = CommonPaths {
            common: 0,
            near: 0,
            outdated: [0; 2],
            first: [0; 2],
            first_to_change: [0; 2],
            later: HashSample::new(LAGS),
            examples: HashSample::new(EXAMPLES),
        };
        let (mut one, mut other) = (
            SitePathCursor::new(self, one, progress)?,
            SitePathCursor::new(self, other, progress)?,
        );
        loop {
            let order = match (one.path(), other.path()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.cmp(b),
            };
            // A merge join: both sides are in order of path. `take` removes both pages, so both are
            // counted here.
            if order.is_eq() {
                let path = one.path().or_bug("the current side has a path")?;
                let hash = path_hash(path, self.seed);
                let pages = one.page.take().zip(other.page.take());
                let (a, b) = pages.or_bug("both sides have a path")?;
                met.add_path(hash, [a, b], self.k)?;
                (one.passed, other.passed) = (one.passed + 1, other.passed + 1);
            }
            if order.is_le() {
                one.advance(progress)?;
            }
            if order.is_ge() {
                other.advance(progress)?;
            }
        }
        for side in [&one, &other] {
            // Both scans read one snapshot with one filter, so a difference is a bug and not a
            // change.
            ensure(side.passed == side.site.paths, "each site has the counted number of paths")?;
        }
        self.judge(sites, met)
    }

    /// Returns the share of `near` paths in a union of `paths` paths.
    fn share(&self, near: u64, paths: u64) -> f64 {
        near as f64 / paths as f64
    }

    /// The minimum share of a listed pair.
    fn partial_min(&self) -> f64 {
        self.share_min / 4.0
    }

    fn judge(&self, sites: [&ListedSite; 2], mut met: CommonPaths) -> Result<Option<Mirror>> {
        let [one, other] = sites;
        // The share is the number of near paths divided by the number of all paths of both sites;
        // common paths count once (Jaccard).
        let share = self.share(met.near, one.paths + other.paths - met.common);
        if met.near < self.paths_min || share < self.partial_min() {
            return Ok(None);
        }
        let leads = met.leads();
        let lag = met.lag(leads);
        let CommonPaths { common, near, outdated: [of_one, of_other], examples, .. } = met;
        let site = |listed: &ListedSite, outdated| {
            Ok::<_, Error>(MirrorSite { site: prefix(&listed.key)?, paths: listed.paths, outdated })
        };
        let mut sites = [site(one, of_one)?, site(other, of_other)?];
        let examples = examples.into_items().map(|(_, (mut urls, distance))| {
            urls.rotate_left(leads);
            let [leader, follower] = urls;
            MirrorExample { leader, follower, distance }
        });
        let examples = examples.collect();
        // `leads` is 0 or 1. The rotation moves the leader to the front.
        sites.rotate_left(leads);
        let [leader, follower] = sites;
        let is_mirror = share >= self.share_min;
        Ok(Some(Mirror { leader, follower, is_mirror, common, near, share, lag, examples }))
    }
}
