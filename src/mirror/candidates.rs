//! Selection of candidates: from the samples to the pairs of sites that are worth comparing.
//!
//! The selection takes three external sorts; each sorts the output of the step before. The first
//! sorts hashes with their sites. The second sorts pairs of sites, one for each common hash. The
//! third sorts, for each site, the other sites by the number of common hashes. The result is the
//! pairs in the order of comparison: pairs of folders come after pairs of their parents.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::sample::{HashKind, SampledHash};
use super::sites::Sites;
use crate::error::Result;
use crate::layout::{Cursor, PutInteger};
use crate::progress::Progress;
use crate::sort::{FixedSizeItem, SortedItems, Sorter, Workspace};

/// The maximum number of sites of a hash for which the hash links all pairs of its sites.
const SITES_PAIRED: usize = 64;

/// The number of common hashes of one kind that two sites need to be compared.
pub(super) const SHARED: u32 = 2;

/// The maximum number of other sites that a site chooses to be compared with. More sites may choose
/// it.
const PER_SITE: u32 = 8;

/// Two sites that share a hash, in ascending order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SiteLink {
    sites: [u32; 2],
    is_print: bool,
}

impl FixedSizeItem for SiteLink {
    const BYTES: usize = 9;

    fn put(&self, out: &mut Vec<u8>) {
        self.sites.iter().for_each(|site| out.put_u32(*site));
        out.push(u8::from(self.is_print));
    }

    fn take(bytes: &[u8]) -> Option<SiteLink> {
        let mut cursor = Cursor::new(bytes);
        let (sites, is_print) = ([cursor.u32()?, cursor.u32()?], cursor.u8()? != 0);
        cursor.is_empty().then_some(SiteLink { sites, is_print })
    }

    fn sort(items: &mut Vec<SiteLink>) {
        items.sort_unstable();
    }
}

/// The numbers of hashes that a site shares with another site. The site with the most common hashes
/// sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SiteSimilarity {
    site: u32,
    shared: Reverse<u32>,
    other: u32,
}

impl FixedSizeItem for SiteSimilarity {
    const BYTES: usize = 12;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(self.site);
        out.put_u32(self.shared.0);
        out.put_u32(self.other);
    }

    fn take(bytes: &[u8]) -> Option<SiteSimilarity> {
        let mut cursor = Cursor::new(bytes);
        let (site, shared, other) = (cursor.u32()?, Reverse(cursor.u32()?), cursor.u32()?);
        cursor.is_empty().then_some(SiteSimilarity { site, shared, other })
    }

    fn sort(items: &mut Vec<SiteSimilarity>) {
        items.sort_unstable();
    }
}

/// Two sites to be compared. The parents of two folders are compared before the folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CandidatePair {
    /// The lesser depth of the two sites.
    pub(super) deep: u8,
    pub(super) sites: [u32; 2],
}

impl FixedSizeItem for CandidatePair {
    const BYTES: usize = 9;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.deep);
        self.sites.iter().for_each(|site| out.put_u32(*site));
    }

    fn take(bytes: &[u8]) -> Option<CandidatePair> {
        let mut cursor = Cursor::new(bytes);
        let (deep, sites) = (cursor.u8()?, [cursor.u32()?, cursor.u32()?]);
        cursor.is_empty().then_some(CandidatePair { deep, sites })
    }

    fn sort(items: &mut Vec<CandidatePair>) {
        items.sort_unstable();
    }
}

/// A sorter with half of the memory, since two sorters are in use at the same time.
pub(super) fn sorter<T: FixedSizeItem>(work: &Workspace) -> Sorter<T> {
    work.sorter(2)
}

/// Returns the pairs to be compared, and their number. Some pairs occur twice.
pub(super) fn candidates(
    (drawn, sites): (Sorter<SampledHash>, &Sites),
    work: &Workspace,
    progress: &Progress,
) -> Result<(SortedItems<CandidatePair>, u64)> {
    // Each step reads one sorter and fills the next, so two sorters with half of the memory each
    // are alive at the same time.
    let links = links(drawn, sorter(work), progress)?;
    let alike = alike(links, sorter(work), progress)?;
    nearest((alike, sites), sorter(work), progress)
}

/// Applies a function to all items.
fn each<T: FixedSizeItem>(
    mut items: SortedItems<T>,
    progress: &Progress,
    mut work: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    while let Some(item) = items.next()? {
        work(item)?;
        // `step` counts and reads one flag. The error is created only when `step` breaks.
        if let ControlFlow::Break(()) = progress.step(1) {
            progress.check()?;
        }
    }
    Ok(())
}

/// Creates a link for each pair of sites that meet in a hash.
///
/// If few sites have the hash, all pairs are linked. If many sites have the hash, a hash of a path
/// alone is no evidence and links no sites. A hash of a path with its fingerprint then links each
/// site to the first site and to the site before it. So the number of links grows linearly with the
/// number of similar sites, not with its square. Links to the first site alone would not suffice:
/// the first site may be a giant that has the pages of all other sites and many more.
fn links(
    drawn: Sorter<SampledHash>,
    mut links: Sorter<SiteLink>,
    progress: &Progress,
) -> Result<SortedItems<SiteLink>> {
    let mut meeting = HashGroup::default();
    each(drawn.finish()?, progress, |drawn| {
        // The items are sorted by hash and then by site, so the sites of a hash are contiguous and
        // ascending.
        if meeting.hash != Some(drawn.hash) {
            meeting.end(&mut links)?;
            meeting.hash = Some(drawn.hash);
        }
        meeting.take(drawn, &mut links)
    })?;
    meeting.end(&mut links)?;
    links.finish()
}

/// The sites that share the current hash, in order.
#[derive(Default)]
struct HashGroup {
    hash: Option<u64>,
    /// The first sites: at most [`SITES_PAIRED`], which is the limit for pairing all.
    first: Vec<u32>,
    /// The last site, if there are more sites.
    last: Option<u32>,
}

impl HashGroup {
    fn take(&mut self, drawn: SampledHash, links: &mut Sorter<SiteLink>) -> Result<()> {
        // Only collects the first 64 sites. Whether all of them are paired is known at the end of
        // the hash.
        if self.first.len() < SITES_PAIRED {
            self.first.push(drawn.site);
            return Ok(());
        }
        // The site before the current one is the last of the further sites, or the last of the
        // collected sites.
        let before = self.last.replace(drawn.site).or(self.first.last().copied());
        if drawn.kind() == HashKind::Path {
            return Ok(());
        }
        // Two links for each site, so a large family costs time in proportion to its size, not to
        // its square.
        let linked = [self.first.first().copied(), before];
        link(links, linked.into_iter().flatten(), drawn.site, true)
    }

    /// Ends the current hash.
    fn end(&mut self, links: &mut Sorter<SiteLink>) -> Result<()> {
        let Some(hash) = self.hash else { return Ok(()) };
        let is_print = SampledHash { hash, site: 0 }.kind() == HashKind::PathAndFingerprint;
        let are_many = self.last.take().is_some();
        for (at, site) in self.first.iter().enumerate().skip(1) {
            let before = self.first.iter().take(at).copied();
            match (are_many, is_print) {
                (false, _) => link(links, before, *site, is_print)?,
                (true, true) => {
                    // As in `take`, each site is linked to the first site and to the site before
                    // it.
                    let linked = before.enumerate().filter(|(n, _)| *n == 0 || n + 1 == at);
                    link(links, linked.map(|(_, site)| site), *site, is_print)?;
                }
                (true, false) => {}
            }
        }
        self.first.clear();
        Ok(())
    }
}

/// Links a site to the sites before it.
fn link(
    links: &mut Sorter<SiteLink>,
    mut before: impl Iterator<Item = u32>,
    site: u32,
    is_print: bool,
) -> Result<()> {
    // `other` came before `site`, so `other` is less: a pair of sites has the same order in all
    // links.
    before.try_for_each(|other| links.push(SiteLink { sites: [other, site], is_print }))
}

/// Computes the similarity of sites that share enough hashes, in both directions.
fn alike(
    links: SortedItems<SiteLink>,
    mut alike: Sorter<SiteSimilarity>,
    progress: &Progress,
) -> Result<SortedItems<SiteSimilarity>> {
    let mut of = None;
    let mut shared = [0_u32; 2];
    let mut take = |of: Option<[u32; 2]>, shared: [u32; 2]| {
        // The hashes of one kind alone must reach the minimum: `MirrorQuery::recall` is computed for
        // one kind.
        let Some([site, other]) = of.filter(|_| shared.iter().any(|n| *n >= SHARED)) else {
            return Ok(());
        };
        progress.add_found(1);
        let shared = Reverse(shared.iter().sum());
        // The similarity is stored in both directions, because each site chooses its own nearest
        // sites.
        alike.push(SiteSimilarity { site, shared, other })?;
        alike.push(SiteSimilarity { site: other, shared, other: site })
    };
    each(links, progress, |link| {
        if of != Some(link.sites) {
            take(of, shared)?;
            (of, shared) = (Some(link.sites), [0; 2]);
        }
        // At most 16 hashes of each kind: a sample has no more hashes.
        let [by_path, by_print] = &mut shared;
        *if link.is_print { by_print } else { by_path } += 1;
        Ok(())
    })?;
    take(of, shared)?;
    alike.finish()
}

/// Selects for each site the sites with the most common hashes.
fn nearest(
    (alike, sites): (SortedItems<SiteSimilarity>, &Sites),
    mut candidates: Sorter<CandidatePair>,
    progress: &Progress,
) -> Result<(SortedItems<CandidatePair>, u64)> {
    let (mut of, mut taken, mut all) = (None, 0, 0);
    each(alike, progress, |SiteSimilarity { site, other, .. }| {
        if of != Some(site) {
            (of, taken) = (Some(site), 0);
        }
        // The input is sorted by site and then by the number of common hashes, so the first eight
        // sites of each have the most.
        taken += 1;
        if taken > PER_SITE {
            return Ok(());
        }
        all += 1;
        // The lesser depth decides, so the parents of two folders are compared before the folders.
        let deep = sites.deep(site)?.min(sites.deep(other)?);
        candidates.push(CandidatePair { deep, sites: [site.min(other), site.max(other)] })
    })?;
    Ok((candidates.finish()?, all))
}
