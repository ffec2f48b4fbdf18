//! The steps from pages with sketches of their texts to the members of each leader.
//!
//! ```text
//! sketches by number -> with their pages -> by digest -> documents by rank -> leaders -> by leader
//!          pages in SURT order _/
//! ```
//!
//! In this module a node is a page, not all pages of one fingerprint, because the texts of these
//! pages may differ. Pages without a sketch are near no page.

use super::by_digest::add_members;
use super::clustering::Clustering;
use super::column::SpillColumn;
use super::declared::DeclaredPages;
use super::gather::{digest_of, each_page};
use super::items::{
    ClusterMember, DigestedDocument, DigestedPage, NumberedDocument, NumberedSketch,
    RankedDocument, UnrankedPage,
};
use super::leaders::{LeaderFinder, NodeBatch};
use super::location_set::LocationSet;
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::fingerprint::BitSketch;
use crate::page::Digest;
use crate::progress::{Progress, Stage};
use crate::query::in_force::{InForceFilter, InForcePage};
use crate::sort::{SortedItems, Sorter, Workspace};

/// All pages with fingerprints in order of rank, and the other pages by digest. Pages whose texts
/// are compared come with their sketches.
pub(super) fn documents(
    (snapshot, asked, filter): (&Snapshot, &Clustering, &InForceFilter),
    compared: &LocationSet,
    mut sketched: SortedItems<NumberedSketch>,
    work: &Workspace,
    progress: &Progress,
) -> Result<(SortedItems<RankedDocument>, SortedItems<DigestedPage>)> {
    let mut declared = DeclaredPages::of((snapshot, asked, filter), work, progress)?;
    let (mut unread, mut documents) = (work.sorter(4), work.sorter(8));
    let mut by_digest = work.sorter(16);
    let _without = each_page(snapshot, filter, progress, |page, taken| {
        let place = taken.location.to_bits();
        let rank = asked.rank(taken, declared.has(place)?);
        let InForcePage { fingerprint, class, digest, .. } = *taken;
        let Some(fingerprint) = fingerprint else {
            let digest = digest_of(taken)?;
            return by_digest.push(DigestedPage { digest, rank, page, place, class });
        };
        let document = RankedDocument { rank, page, place, fingerprint, class, sketch: None };
        // Candidates are joined with their sketches by number first. All other pages go straight to
        // the sort by rank.
        match compared.number(place) {
            Some(number) => {
                let digest = digest.map(|Digest(bytes)| bytes);
                unread.push(NumberedDocument { number, digest, document })
            }
            None => documents.push(document),
        }
    })?;
    let (mut unread, mut digested) = (unread.finish()?, work.sorter(4));
    // A merge join: both sides are in order of `number`.
    let mut next = sketched.next()?;
    while let Some(NumberedDocument { number, digest, document }) = unread.next()? {
        // If sketches of a page differ, it is unknown which text is in force, so the page gets no
        // sketch.
        let (mut own, mut is_one, mut is_unread) = (None, true, true);
        while let Some(of) = next.filter(|of| of.number <= number) {
            if of.number == number {
                is_unread = false;
                // The sketch of a text without words only says that the page was read.
                if of.sketch != BitSketch::default() {
                    is_one &= own.is_none_or(|own| own == of.sketch);
                    own = Some(of.sketch);
                }
            }
            next = sketched.next()?;
        }
        let document = RankedDocument { sketch: own.filter(|_| is_one), ..document };
        match digest {
            Some(digest) => digested.push(DigestedDocument { digest, is_unread, document })?,
            None => documents.push(document)?,
        }
    }
    share_sketches(digested.finish()?, &mut documents)?;
    Ok((documents.finish()?, by_digest.finish()?))
}

/// Gives pages that were not read the sketch of a page with the same digest, because equal digests
/// mean equal texts.
fn share_sketches(
    mut digested: SortedItems<DigestedDocument>,
    documents: &mut Sorter<RankedDocument>,
) -> Result<()> {
    let (mut last, mut shared) = (None, None);
    while let Some(DigestedDocument { digest, is_unread, mut document }) = digested.next()? {
        if last != Some(digest) {
            (last, shared) = (Some(digest), None);
        }
        // Pages with a sketch of their own come first.
        if is_unread {
            document.sketch = shared;
        } else {
            shared = shared.or(document.sketch);
        }
        documents.push(document)?;
    }
    Ok(())
}

/// The pages of each leader, and the number of leaders.
pub(super) fn members(
    (mut documents, by_digest): (SortedItems<RankedDocument>, SortedItems<DigestedPage>),
    resemblance: f64,
    (k, pages): (u32, u64),
    work: &Workspace,
    progress: &Progress,
) -> Result<(SortedItems<ClusterMember>, u32)> {
    progress.begin(Stage::Clustering, Some(pages));
    let mut leaders = LeaderFinder::of_texts(k, resemblance, work);
    // Maps the number of a leader among pages with sketches to its position among all pages by rank.
    let mut location = SpillColumn::new(work, work.part(16));
    let (mut members, mut batch) = (work.sorter(16), DocumentBatch::default());
    let (mut position, mut alone) = (0, 0);
    loop {
        // `settle` may process fewer nodes than `wants` requests. The rest stays in the batch for
        // the next round.
        while batch.bearers.len() < leaders.wants()
            && let Some(document) = documents.next()?
        {
            let RankedDocument { page, place, fingerprint, class, sketch, .. } = document;
            let bearer = UnrankedPage { fingerprint, page, place, class };
            match sketch {
                Some(sketch) => batch.push(position, bearer, sketch),
                None => {
                    // A page without a sketch is near no page. The page leads a cluster of its own
                    // and is in no join.
                    members.push(member(position, &bearer, (0, true)))?;
                    alone += 1;
                    progress.pass(1);
                }
            }
            // Positions replace the numbers of leaders, so leaders with and without a sketch stay
            // in order of rank.
            position += 1;
        }
        if batch.bearers.is_empty() {
            break;
        }
        let DocumentBatch { fingerprints, texts, .. } = &batch;
        let belongs = leaders.assign(NodeBatch { fingerprints, texts }, progress)?;
        let count = belongs.len();
        // Must come before the members below: a page may belong to a leader of its own batch.
        let leading = batch.bearers.iter().zip(&belongs).filter(|(_, of)| of.leads);
        location.append(leading.map(|((position, _), _)| u64::from(*position)))?;
        for ((_, bearer), of) in batch.bearers.iter().zip(&belongs) {
            let leader = u32::try_from(location.get(of.leader)?).ok();
            let leader = leader.or_bug("there are fewer than 2^32 pages")?;
            members.push(member(leader, bearer, (of.apart, of.leads)))?;
        }
        batch.drop_first(count);
        progress.pass(count as u64);
    }
    let pass = || {
        progress.pass(1);
        progress.check()
    };
    let of_digests = add_members(by_digest, position, &mut members, pass)? - position;
    Ok((members.finish()?, alone + leaders.len() + of_digests))
}

fn member(leader: u32, bearer: &UnrankedPage, (apart, leads): (u16, bool)) -> ClusterMember {
    let UnrankedPage { fingerprint, page, place, class } = *bearer;
    let fingerprint = Some(fingerprint);
    ClusterMember { leader, follows: !leads, apart, page, place, fingerprint, class }
}

/// The next documents to settle.
#[derive(Default)]
struct DocumentBatch {
    /// The position of each document in order of rank, and its data without the text.
    bearers: Vec<(u32, UnrankedPage)>,
    fingerprints: Vec<u64>,
    texts: Vec<BitSketch>,
}

impl DocumentBatch {
    fn push(&mut self, position: u32, bearer: UnrankedPage, sketch: BitSketch) {
        self.bearers.push((position, bearer));
        self.fingerprints.push(bearer.fingerprint);
        self.texts.push(sketch);
    }

    /// Removes the first `count` nodes, which are settled.
    fn drop_first(&mut self, count: usize) {
        self.bearers.drain(..count);
        self.fingerprints.drain(..count);
        self.texts.drain(..count);
    }
}
