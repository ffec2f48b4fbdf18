//! The steps from the pages of a snapshot to the members of each leader, with sorted streams. Only
//! scratch files grow with the number of pages.
//!
//! ```text
//! pages in SURT order -> by fingerprint -> nodes by rank -> leaders -> by fingerprint -> by leader
//!                              \________________________________________/
//! ```

use super::clustering::Clustering;
use super::column::Column;
use super::items::{Capture, Member, Node, Settled, UnrankedPage};
use super::leaders::{Belongs, Leaders, Nodes};
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::Totals;
use crate::error::{Error, Result};
use crate::progress::{Progress, Stage};
use crate::query::in_force::{InForceFilter, InForcePage};
use crate::sort::{Sorted, Spooled, Workspace};

/// The number of fingerprints between two checks for cancellation.
const STEP: u64 = 1024;

/// Sorts the selected pages by fingerprint, and pages of one fingerprint by rank. Also returns the
/// number of other pages with content but without a fingerprint of the epoch. `each` is called for
/// each page with its number, in SURT order.
pub(super) fn captures(
    snapshot: &Snapshot,
    asked: &Clustering,
    filter: &InForceFilter,
    work: &Workspace,
    progress: &Progress,
    mut each: impl FnMut(u32, &InForcePage),
) -> Result<(Sorted<Capture>, u64)> {
    let mut sorter = work.sorter(2);
    // The sort gets half of the memory: `nodes` reads the sorted pages while it fills a sorter and
    // a spool of a quarter each.
    let without = each_page(snapshot, filter, progress, |page, taken| {
        each(page, taken);
        let (rank, place) = (asked.rank(taken), taken.location.to_bits());
        let InForcePage { fingerprint, class, .. } = *taken;
        sorter.push(Capture { fingerprint, rank, page, place, class })
    })?;
    Ok((sorter.finish()?, without))
}

/// Visits the selected pages in SURT order, each with its number. Returns the number of other pages
/// with content but without a fingerprint of the epoch.
pub(super) fn each_page(
    snapshot: &Snapshot,
    filter: &InForceFilter,
    progress: &Progress,
    mut each: impl FnMut(u32, &InForcePage) -> Result<()>,
) -> Result<u64> {
    progress.start(Stage::Gathering, Some(Totals::of(snapshot)?.pages))?;
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
            instead: "cluster those under several prefixes",
        })?;
    }
    Ok(pages.without_fingerprint())
}

/// The distinct fingerprints in order of rank, the number of fingerprints, and the pages that have
/// them.
pub(super) fn nodes(
    mut captures: Sorted<Capture>,
    work: &Workspace,
    progress: &Progress,
) -> Result<(Sorted<Node>, u64, Spooled<UnrankedPage>)> {
    let (mut nodes, mut bearers) = (work.sorter(4), work.spool(4));
    let (mut last, mut count) = (None, 0);
    while let Some(Capture { fingerprint, rank, page, place, class }) = captures.next()? {
        if last != Some(fingerprint) {
            // The first capture of a fingerprint ranks first. It represents all pages with this
            // fingerprint.
            last = Some(fingerprint);
            count += 1;
            nodes.push(Node { rank, page, fingerprint })?;
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
pub(super) fn settled(
    mut nodes: Sorted<Node>,
    count: u64,
    k: u32,
    work: &Workspace,
    progress: &Progress,
) -> Result<(Sorted<Settled>, u32)> {
    progress.begin(Stage::Clustering, Some(count));
    let mut leaders = Leaders::new(k, work);
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
        let batch = Nodes { fingerprints: &fingerprints, texts: &[] };
        let belongs = leaders.settle(batch, progress)?;
        let count = belongs.len();
        let taken = fingerprints.drain(..count).zip(pages.drain(..count));
        for ((fingerprint, page), of) in taken.zip(belongs) {
            let Belongs { leader, apart, leads } = of;
            // The first page of a leading fingerprint, by which `members` recognizes the leader.
            let page = leads.then_some(page);
            sorter.push(Settled { fingerprint, leader, apart, page })?;
        }
        progress.pass(count as u64);
    }
    Ok((sorter.finish()?, leaders.len()))
}

/// The pages of each leader.
pub(super) fn members(
    bearers: &Spooled<UnrankedPage>,
    mut settled: Sorted<Settled>,
    work: &Workspace,
) -> Result<Sorted<Member>> {
    let mut sorter = work.sorter(2);
    let mut bearers = bearers.read();
    let mut of = None;
    while let Some(UnrankedPage { fingerprint, page, place, class }) = bearers.next()? {
        // A merge join by fingerprint: `settled` has one item for each run of pages with one
        // fingerprint.
        if of.is_none_or(|of: Settled| of.fingerprint != fingerprint) {
            of = settled.next()?;
        }
        let of = of.filter(|of| of.fingerprint == fingerprint);
        let Settled { leader, apart, page: leads, .. } =
            of.or_bug("each fingerprint is settled once")?;
        // Only the first page of a leading fingerprint leads. Other pages of this fingerprint
        // follow at distance 0.
        let follows = leads != Some(page);
        sorter.push(Member { leader, follows, apart, page, place, fingerprint, class })?;
    }
    sorter.finish()
}

/// The distinct fingerprints in order, and the number of pages of each.
pub(super) fn fingerprints(
    bearers: &Spooled<UnrankedPage>,
    work: &Workspace,
) -> Result<(Column<u64>, Vec<u32>)> {
    let (mut column, mut pages) = (Column::new(work, work.part(8)), Vec::new());
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
