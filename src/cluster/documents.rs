//! From pages with the sketches of their texts to the members of each leader.
//!
//! ```text
//! sketches by number -> with their pages -> documents by rank -> leaders -> by leader
//!             pages in SURT order _/
//! ```
//!
//! Here a node is a page, and not all pages of one fingerprint, as their texts may differ. Pages without
//! a sketch are near none.

use super::clustering::Clustering;
use super::column::Column;
use super::gather::each_page;
use super::items::{Document, Member, Sketched, Unread};
use super::leaders::{Leaders, Nodes};
use super::places::Places;
use crate::bug::OrBug;
use crate::error::Result;
use crate::fingerprint::BitSketch;
use crate::progress::{Progress, Stage};
use crate::sort::{Sorted, Workspace};
use crate::store::{Snapshot, Taken, Taking};

/// All pages in the order of their ranks, those of `compared` with their sketches.
pub(super) fn documents(
    (snapshot, asked, taking): (&Snapshot, &Clustering, &Taking),
    compared: &Places,
    mut sketched: Sorted<Sketched>,
    work: &Workspace,
    progress: &Progress,
) -> Result<Sorted<Document>> {
    let (mut unread, mut documents) = (work.sorter(4), work.sorter(8));
    each_page(snapshot, taking, progress, |page, taken| {
        let (rank, place) = (asked.rank(taken), taken.standing.to_bits());
        let Taken { fingerprint, class, .. } = *taken;
        let document = Document { rank, page, place, fingerprint, class, sketch: None };
        match compared.number(place) {
            Some(number) => unread.push(Unread { number, document }),
            None => documents.push(document),
        }
    })?;
    let mut unread = unread.finish()?;
    let mut next = sketched.next()?;
    while let Some(Unread { number, document }) = unread.next()? {
        // Of several texts of a page any will do, if it is the same one always.
        let mut own = None;
        while let Some(of) = next.filter(|of| of.number <= number) {
            own = own.or(Some(of.sketch).filter(|_| of.number == number));
            next = sketched.next()?;
        }
        documents.push(Document { sketch: own, ..document })?;
    }
    documents.finish()
}

/// The pages of each leader, and how many leaders there are.
pub(super) fn members(
    mut documents: Sorted<Document>,
    resemblance: f64,
    (k, pages): (u32, u64),
    work: &Workspace,
    progress: &Progress,
) -> Result<(Sorted<Member>, u32)> {
    progress.begin(Stage::Clustering, Some(pages));
    let mut leaders = Leaders::of_texts(k, resemblance, work);
    // Where those leaders stand in the order of ranks among all pages.
    let mut standing = Column::new(work, work.part(16));
    let (mut members, mut batch) = (work.sorter(16), Batch::default());
    let (mut position, mut alone) = (0, 0);
    loop {
        while batch.documents.len() < leaders.wants()
            && let Some(document) = documents.next()?
        {
            match document.sketch {
                Some(sketch) => batch.push(position, &document, sketch),
                None => {
                    members.push(member(position, &document, (0, true)))?;
                    alone += 1;
                    progress.pass(1);
                }
            }
            position += 1;
        }
        if batch.documents.is_empty() {
            break;
        }
        let Batch { fingerprints, texts, .. } = &batch;
        let belongs = leaders.settle(Nodes { fingerprints, texts }, progress)?;
        let count = belongs.len();
        let taken: Vec<_> = batch.take(count).into_iter().zip(belongs).collect();
        let leading = taken.iter().filter(|(_, of)| of.leads);
        standing.append(leading.map(|((position, _), _)| u64::from(*position)).collect())?;
        for ((_, document), of) in taken {
            let leader = u32::try_from(standing.get(of.leader)?).ok();
            let leader = leader.or_bug("there are fewer than 2^32 pages")?;
            members.push(member(leader, &document, (of.apart, of.leads)))?;
        }
        progress.pass(count as u64);
    }
    Ok((members.finish()?, alone + leaders.len()))
}

fn member(leader: u32, document: &Document, (apart, leads): (u16, bool)) -> Member {
    let Document { page, place, fingerprint, class, .. } = *document;
    Member { leader, follows: !leads, apart, page, place, fingerprint, class }
}

/// Documents that come next, each with its place in the order of ranks.
#[derive(Default)]
struct Batch {
    documents: Vec<(u32, Document)>,
    fingerprints: Vec<u64>,
    texts: Vec<BitSketch>,
}

impl Batch {
    fn push(&mut self, position: u32, document: &Document, sketch: BitSketch) {
        self.documents.push((position, *document));
        self.fingerprints.push(document.fingerprint);
        self.texts.push(sketch);
    }

    /// Takes the first ones out.
    fn take(&mut self, count: usize) -> Vec<(u32, Document)> {
        self.fingerprints.drain(..count);
        self.texts.drain(..count);
        self.documents.drain(..count).collect()
    }
}
