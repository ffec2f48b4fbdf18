//! The step from samples to the pairs of sites that are worth comparing.
//!
//! It takes three external sorts, each of the output of the one before. The first sorts hashes with
//! their sites. The second sorts pairs of sites, one for each common hash. The third sorts, for
//! each site, the sites that have the most in common with it. The result is the pairs in the order
//! of comparison: folders after their parents.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use super::sample::{Drawn, Kind};
use super::sites::Sites;
use crate::error::Result;
use crate::layout::{Cursor, Put};
use crate::progress::Progress;
use crate::sort::{Packed, Sorted, Sorter, Workspace};

/// A hash links all pairs of its sites only if it is on at most this many sites.
const SITES_PAIRED: usize = 64;

/// The number of common hashes of one kind that two sites need to be compared.
pub(super) const SHARED: u32 = 2;

/// The most other sites that a site chooses to be compared with. More sites may choose it.
const PER_SITE: u32 = 8;

/// Two sites that share a hash, the one with the lower number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    sites: [u32; 2],
    is_print: bool,
}

impl Packed for Link {
    const BYTES: usize = 9;

    fn put(&self, out: &mut Vec<u8>) {
        self.sites.iter().for_each(|site| out.put_u32(*site));
        out.push(u8::from(self.is_print));
    }

    fn take(bytes: &[u8]) -> Option<Link> {
        let mut cursor = Cursor::new(bytes);
        let (sites, is_print) = ([cursor.u32()?, cursor.u32()?], cursor.u8()? != 0);
        cursor.is_empty().then_some(Link { sites, is_print })
    }

    fn sort(items: &mut Vec<Link>) {
        items.sort_unstable();
    }
}

/// What a site has in common with another. The most similar site sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    site: u32,
    shared: Reverse<u32>,
    other: u32,
}

impl Packed for Likeness {
    const BYTES: usize = 12;

    fn put(&self, out: &mut Vec<u8>) {
        out.put_u32(self.site);
        out.put_u32(self.shared.0);
        out.put_u32(self.other);
    }

    fn take(bytes: &[u8]) -> Option<Likeness> {
        let mut cursor = Cursor::new(bytes);
        let (site, shared, other) = (cursor.u32()?, Reverse(cursor.u32()?), cursor.u32()?);
        cursor.is_empty().then_some(Likeness { site, shared, other })
    }

    fn sort(items: &mut Vec<Likeness>) {
        items.sort_unstable();
    }
}

/// Two sites to be compared. The parents of two folders are compared before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// The lesser depth of the two.
    pub(super) deep: u8,
    pub(super) sites: [u32; 2],
}

impl Packed for Candidate {
    const BYTES: usize = 9;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.deep);
        self.sites.iter().for_each(|site| out.put_u32(*site));
    }

    fn take(bytes: &[u8]) -> Option<Candidate> {
        let mut cursor = Cursor::new(bytes);
        let (deep, sites) = (cursor.u8()?, [cursor.u32()?, cursor.u32()?]);
        cursor.is_empty().then_some(Candidate { deep, sites })
    }

    fn sort(items: &mut Vec<Candidate>) {
        items.sort_unstable();
    }
}

/// A sorter with half of the memory: two of them are in use at a time.
pub(super) fn sorter<T: Packed>(work: &Workspace) -> Sorter<T> {
    work.sorter(2)
}

/// The pairs to be compared, some of them twice, and their number.
pub(super) fn candidates(
    (drawn, sites): (Sorter<Drawn>, &Sites),
    work: &Workspace,
    progress: &Progress,
) -> Result<(Sorted<Candidate>, u64)> {
    // Each step reads one sort and fills the next: two sorters with half of the memory each are
    // alive at a time.
    let links = links(drawn, sorter(work), progress)?;
    let alike = alike(links, sorter(work), progress)?;
    nearest((alike, sites), sorter(work), progress)
}

/// Applies a function to all items.
fn each<T: Packed>(
    mut items: Sorted<T>,
    progress: &Progress,
    mut work: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    while let Some(item) = items.next()? {
        work(item)?;
        // `step` counts and reads one flag. The error is created only when it breaks.
        if let ControlFlow::Break(()) = progress.step(1) {
            progress.check()?;
        }
    }
    Ok(())
}

/// Links the sites that share a hash.
///
/// If few sites have the hash, all pairs are linked. If more sites have it, a path alone is no
/// evidence. A path with its fingerprint then links each site to the first site and to the one
/// before it. So the number of links grows linearly with the number of similar sites, not with its
/// square. The first site alone would not do: it may be a giant that has what all others have, and
/// much more.
fn links(
    drawn: Sorter<Drawn>,
    mut links: Sorter<Link>,
    progress: &Progress,
) -> Result<Sorted<Link>> {
    let mut meeting = Meeting::default();
    each(drawn.finish()?, progress, |drawn| {
        // Sorted by hash and then by site, so the sites of a hash are contiguous and ascending.
        if meeting.hash != Some(drawn.hash) {
            meeting.end(&mut links)?;
            meeting.hash = Some(drawn.hash);
        }
        meeting.take(drawn, &mut links)
    })?;
    meeting.end(&mut links)?;
    links.finish()
}

/// The sites that share a hash, in order.
#[derive(Default)]
struct Meeting {
    hash: Option<u64>,
    /// The first sites, as many as are all paired.
    first: Vec<u32>,
    /// The last site, if there are more.
    last: Option<u32>,
}

impl Meeting {
    fn take(&mut self, drawn: Drawn, links: &mut Sorter<Link>) -> Result<()> {
        // The first 64 are only collected: whether all of them are paired is known at the end of
        // the hash.
        if self.first.len() < SITES_PAIRED {
            self.first.push(drawn.site);
            return Ok(());
        }
        // The site before this one: the last of the further sites, or the last of those collected.
        let before = self.last.replace(drawn.site).or(self.first.last().copied());
        if drawn.kind() == Kind::Path {
            return Ok(());
        }
        // Two links for each site, so a large family costs time in proportion to its size, not to
        // its square.
        let linked = [self.first.first().copied(), before];
        link(links, linked.into_iter().flatten(), drawn.site, true)
    }

    /// Ends the current hash.
    fn end(&mut self, links: &mut Sorter<Link>) -> Result<()> {
        let Some(hash) = self.hash else { return Ok(()) };
        let is_print = Drawn { hash, site: 0 }.kind() == Kind::Print;
        let are_many = self.last.take().is_some();
        for (at, site) in self.first.iter().enumerate().skip(1) {
            let before = self.first.iter().take(at).copied();
            match (are_many, is_print) {
                (false, _) => link(links, before, *site, is_print)?,
                (true, true) => {
                    // As in `take`, each site is linked to the first one and to the one before it.
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

/// Links a site to those before it.
fn link(
    links: &mut Sorter<Link>,
    mut before: impl Iterator<Item = u32>,
    site: u32,
    is_print: bool,
) -> Result<()> {
    // `other` came before `site`, so it is less: a pair of sites has one order in all links.
    before.try_for_each(|other| links.push(Link { sites: [other, site], is_print }))
}

/// The similarity of sites that share enough hashes, in both directions.
fn alike(
    links: Sorted<Link>,
    mut alike: Sorter<Likeness>,
    progress: &Progress,
) -> Result<Sorted<Likeness>> {
    let mut of = None;
    let mut shared = [0_u32; 2];
    let mut take = |of: Option<[u32; 2]>, shared: [u32; 2]| {
        // Hashes of one kind must be enough by themselves: `Mirroring::recall` is computed for one
        // kind.
        let Some([site, other]) = of.filter(|_| shared.iter().any(|n| *n >= SHARED)) else {
            return Ok(());
        };
        progress.find(1);
        let shared = Reverse(shared.iter().sum());
        // In both directions, because each site chooses its own nearest sites.
        alike.push(Likeness { site, shared, other })?;
        alike.push(Likeness { site: other, shared, other: site })
    };
    each(links, progress, |link| {
        if of != Some(link.sites) {
            take(of, shared)?;
            (of, shared) = (Some(link.sites), [0; 2]);
        }
        // At most 16 of each kind: a sample has no more hashes.
        let [by_path, by_print] = &mut shared;
        *if link.is_print { by_print } else { by_path } += 1;
        Ok(())
    })?;
    take(of, shared)?;
    alike.finish()
}

/// Selects for each site the sites that have the most in common with it.
fn nearest(
    (alike, sites): (Sorted<Likeness>, &Sites),
    mut candidates: Sorter<Candidate>,
    progress: &Progress,
) -> Result<(Sorted<Candidate>, u64)> {
    let (mut of, mut taken, mut all) = (None, 0, 0);
    each(alike, progress, |Likeness { site, other, .. }| {
        if of != Some(site) {
            (of, taken) = (Some(site), 0);
        }
        // Sorted by site and then by the number of common hashes, so the first eight have the most.
        taken += 1;
        if taken > PER_SITE {
            return Ok(());
        }
        all += 1;
        // The lesser depth decides, so the parents of two folders are compared before them.
        let deep = sites.deep(site)?.min(sites.deep(other)?);
        candidates.push(Candidate { deep, sites: [site.min(other), site.max(other)] })
    })?;
    Ok((candidates.finish()?, all))
}
