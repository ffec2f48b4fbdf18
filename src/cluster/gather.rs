//! The steps from the pages of a snapshot to the members of each leader, with sorted streams. Only
//! scratch files grow with the number of pages.
//!
//! ```text
//! pages in SURT order -> by fingerprint -> nodes by rank -> leaders -> by fingerprint -> by leader
//!                    \          \________________________________________/                /
//!                     \-> without a fingerprint, by digest -----------------------------/
//! ```

use super::clustering::Clustering;
use super::column::SpillColumn;
use super::declared::DeclaredPages;
use super::items::{
    ClusterMember, DigestedPage, FingerprintedPage, LeaderOfFingerprint, RankedFingerprint,
    UnrankedPage,
};
use super::leaders::{LeaderFinder, LeaderOfNode, NodeBatch};
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::{Error, Result};
use crate::page::Digest;
use crate::progress::{Progress, Stage};
use crate::query::in_force::{InForceFilter, InForcePage};
use crate::sort::{SortedItems, Sorter, SpoolContent, Workspace};

/// The number of fingerprints between two checks for cancellation.
const STEP: u64 = 1024;

/// The selected pages.
pub(super) struct Captures {
    /// By fingerprint, and pages of one fingerprint by rank.
    pub(super) fingerprinted: SortedItems<FingerprintedPage>,
    /// The pages without a fingerprint by digest, and pages of one digest by rank.
    pub(super) digested: SortedItems<DigestedPage>,
    /// The number of pages with content that are not selected, because they have no fingerprint of
    /// the epoch.
    pub(super) without: u64,
}

/// Sorts the selected pages. `each` is called for each page with its number, in SURT order.
pub(super) fn captures(
    snapshot: &Snapshot,
    asked: &Clustering,
    filter: &InForceFilter,
    work: &Workspace,
    progress: &Progress,
    mut each: impl FnMut(u32, &InForcePage),
) -> Result<Captures> {
    let mut declared = DeclaredPages::of((snapshot, asked, filter), work, progress)?;
    // The sort gets half of the memory: `nodes` reads the sorted pages while it fills a sorter and
    // a spool of a quarter each.
    let (mut fingerprinted, mut digested) = (work.sorter(2), work.sorter(16));
    let without = each_page(snapshot, filter, progress, |page, taken| {
        each(page, taken);
        let place = taken.location.to_bits();
        let rank = asked.rank(taken, declared.has(place)?);
        let class = taken.class;
        match taken.fingerprint {
            Some(fingerprint) => {
                fingerprinted.push(FingerprintedPage { fingerprint, rank, page, place, class })
            }
            None => {
                digested.push(DigestedPage { digest: digest_of(taken)?, rank, page, place, class })
            }
        }
    })?;
    let (fingerprinted, digested) = (fingerprinted.finish()?, digested.finish()?);
    Ok(Captures { fingerprinted, digested, without })
}

/// The digest of a selected page without a fingerprint.
pub(super) fn digest_of(taken: &InForcePage) -> Result<[u8; 16]> {
    let Digest(digest) = taken.digest.or_bug("a page without a fingerprint has a digest")?;
    Ok(digest)
}

/// Visits the selected pages in SURT order, each with its number. Returns the number of other pages
/// with content but without a fingerprint of the epoch.
pub(super) fn each_page(
    snapshot: &Snapshot,
    filter: &InForceFilter,
    progress: &Progress,
    mut each: impl FnMut(u32, &InForcePage) -> Result<()>,
) -> Result<u64> {
    progress.start(Stage::Gathering, Some(StoreTotals::of(snapshot)?.pages))?;
    let mut page = 0_u32;
    let mut pages = filter.pages(snapshot);
    // `next_of` calls `pass` for pages that are filtered out, too. So a scan that finds nothing can
    // be cancelled.
    let pass = || {
        progress.pass(1);
        progress.check()
    };
    while let Some(taken) = pages.next_of(pass) {
        // The numbers follow SURT order. Later steps compare these four bytes instead of URLs.
        each(page, &taken?)?;
        page = page.checked_add(1).ok_or(Error::Limit {
            what: "pages to cluster",
            max: u32::MAX.into(),
            instead: "cluster the pages under one prefix at a time",
        })?;
    }
    Ok(pages.without_fingerprint())
}

/// The distinct fingerprints in order of rank, the number of fingerprints, and the pages that have
/// them.
pub(super) fn nodes(
    mut fingerprinted: SortedItems<FingerprintedPage>,
    work: &Workspace,
    progress: &Progress,
) -> Result<(SortedItems<RankedFingerprint>, u64, SpoolContent<UnrankedPage>)> {
    let (mut nodes, mut bearers) = (work.sorter(4), work.spool(4));
    let (mut last, mut count) = (None, 0);
    while let Some(page) = fingerprinted.next()? {
        let FingerprintedPage { fingerprint, rank, page, place, class } = page;
        if last != Some(fingerprint) {
            // The first capture of a fingerprint ranks first. It represents all pages with this
            // fingerprint.
            last = Some(fingerprint);
            count += 1;
            nodes.push(RankedFingerprint { rank, page, fingerprint })?;
            if count % STEP == 0 {
                progress.check()?;
            }
        }
        // A spool is enough: captures are already sorted by fingerprint, and by rank within a
        // fingerprint.
        bearers.push(UnrankedPage { fingerprint, page, place, class })?;
    }
    Ok((nodes.finish()?, count, bearers.finish()?))
}

/// The leader of each fingerprint, by fingerprint, and the number of leaders.
pub(super) fn find_leaders(
    mut nodes: SortedItems<RankedFingerprint>,
    count: u64,
    k: u32,
    work: &Workspace,
    progress: &Progress,
) -> Result<(SortedItems<LeaderOfFingerprint>, u32)> {
    progress.begin(Stage::Clustering, Some(count));
    let mut leaders = LeaderFinder::new(k, work);
    let mut sorter = work.sorter(4);
    let (mut fingerprints, mut pages) = (Vec::new(), Vec::new());
    loop {
        // `settle` may process fewer nodes than `wants` requests. The rest stays for the next
        // round.
        while fingerprints.len() < leaders.wants()
            && let Some(node) = nodes.next()?
        {
            fingerprints.push(node.fingerprint);
            pages.push(node.page);
        }
        if fingerprints.is_empty() {
            break;
        }
        let batch = NodeBatch { fingerprints: &fingerprints, texts: &[] };
        let belongs = leaders.assign(batch, progress)?;
        let count = belongs.len();
        let taken = fingerprints.drain(..count).zip(pages.drain(..count));
        for ((fingerprint, page), of) in taken.zip(belongs) {
            let LeaderOfNode { leader, apart, leads } = of;
            // The first page of a leading fingerprint, by which `members` recognizes the leader.
            let page = leads.then_some(page);
            sorter.push(LeaderOfFingerprint { fingerprint, leader, apart, page })?;
        }
        progress.pass(count as u64);
    }
    Ok((sorter.finish()?, leaders.len()))
}

/// The pages of each leader, to be sorted with the pages of other clusters.
pub(super) fn members(
    bearers: &SpoolContent<UnrankedPage>,
    mut settled: SortedItems<LeaderOfFingerprint>,
    work: &Workspace,
) -> Result<Sorter<ClusterMember>> {
    let mut sorter = work.sorter(2);
    let mut bearers = bearers.read();
    let mut of = None;
    while let Some(UnrankedPage { fingerprint, page, place, class }) = bearers.next()? {
        // A merge join by fingerprint: `find_leaders` has one item for each run of pages with one
        // fingerprint.
        if of.is_none_or(|of: LeaderOfFingerprint| of.fingerprint != fingerprint) {
            of = settled.next()?;
        }
        let of = of.filter(|of| of.fingerprint == fingerprint);
        let LeaderOfFingerprint { leader, apart, page: leads, .. } =
            of.or_bug("each fingerprint is assigned to a leader once")?;
        // Only the first page of a leading fingerprint leads. Other pages of this fingerprint
        // follow at distance 0.
        let (follows, fingerprint) = (leads != Some(page), Some(fingerprint));
        sorter.push(ClusterMember { leader, follows, apart, page, place, fingerprint, class })?;
    }
    Ok(sorter)
}

/// The distinct fingerprints in order, and the number of pages of each.
pub(super) fn fingerprints(
    bearers: &SpoolContent<UnrankedPage>,
    work: &Workspace,
) -> Result<(SpillColumn<u64>, Vec<u32>)> {
    let (mut column, mut pages) = (SpillColumn::new(work, work.part(8)), Vec::new());
    let (mut reader, mut last) = (bearers.read(), None);
    while let Some(UnrankedPage { fingerprint, .. }) = reader.next()? {
        if last == Some(fingerprint) {
            // The counts stay in memory, 4 bytes for each fingerprint. Only the column may go to a
            // file.
            *pages.last_mut().or_bug("each fingerprint has a count")? += 1;
            continue;
        }
        last = Some(fingerprint);
        pages.push(1);
        column.push(fingerprint)?;
    }
    Ok((column, pages))
}
