//! Which pages are dropped in favour of those that lead them, by URL.

use std::collections::BTreeMap;
use std::fmt;

use super::clusters::Clusters;
use super::column::Column;
use super::items::Follower;
use crate::bug::{Bug, OrBug, ensure};
use crate::error::Result;
use crate::page::{Digest, check_url};
use crate::store::{Lookup, Taken};

/// Bits whose number is counted together.
const BLOCK_BITS: u32 = 512;
const BLOCK_WORDS: usize = (BLOCK_BITS / u64::BITS) as usize;

/// The pages that are dropped in favour of those that lead their clusters, from [`Clusters::dropped`].
///
/// Takes a bit of memory for each page of the store, and in scratch files 8 bytes for each page that is
/// dropped. Any number of threads may ask it.
pub struct Dropped<'c> {
    clusters: &'c Clusters,
    /// By component, and in there by the numbers of pages.
    parts: BTreeMap<u32, Part>,
    /// Where the leaders stand of all pages that are dropped, in the order of where these stand.
    leaders: Column,
}

/// What becomes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The store does not know it.
    Unknown,
    /// It leads its cluster, or is in none.
    Kept,
    /// It is dropped.
    Dropped {
        /// The digest of its content that was compared, if there is one. Other content of the page, such
        /// as an older version of it, may be near nothing that is kept.
        digest: Option<Digest>,
    },
}

/// For which page another one is dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptFor {
    /// The page that is kept.
    pub url: String,
    /// In how many bits the two differ.
    pub distance: u32,
}

/// A bit for each page of a component.
#[derive(Default)]
struct Part {
    words: Vec<u64>,
    /// How many pages are dropped before each block.
    before: Vec<u32>,
}

impl Clusters {
    /// The pages that are dropped if only leaders are kept, to look up by URL.
    ///
    /// Costs a sort of 16 bytes for each of them, in the memory that the
    /// [`Clustering`](super::Clustering) allows.
    ///
    /// ```
    /// use simkeep::cluster::{Clustering, Fate};
    /// use simkeep::{Observation, Options, Progress, Store};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (time, url, fingerprint) in [(1, "a", 0b0000), (2, "b", 0b0111)] {
    ///     store.observe(Observation::content(url, time, fingerprint, epoch))?;
    /// }
    /// let clusters = store.snapshot().clusters(&Clustering::within(3), &Progress::default())?;
    /// let dropped = clusters.dropped()?;
    /// assert_eq!(dropped.fate("a")?, Fate::Kept);
    /// assert_eq!(dropped.fate("b")?, Fate::Dropped { digest: None });
    /// assert_eq!(dropped.fate("c")?, Fate::Unknown);
    /// let kept = dropped.kept_for("b")?.unwrap();
    /// assert_eq!((kept.url.as_str(), kept.distance), ("a", 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If a scratch file cannot be written, or is damaged.
    pub fn dropped(&self) -> Result<Dropped<'_>> {
        let found = Dropped::of(self).map_err(|e| self.work.named(e));
        self.snapshot.heed(|| found)
    }
}

impl<'c> Dropped<'c> {
    /// Leaders that are added together.
    const TOGETHER: usize = 1 << 16;

    fn of(clusters: &'c Clusters) -> Result<Dropped<'c>> {
        let work = &clusters.work;
        let mut sorter = work.sorter(2);
        let (mut members, mut rows) = (clusters.members.read(), clusters.rows.read());
        while let Some(of) = rows.next()? {
            for _ in 0..of.pages {
                let member = members.next()?.or_bug("a cluster has as many as were counted")?;
                if member.follows {
                    sorter.push(Follower { place: member.place, leader: of.place })?;
                }
            }
        }
        let mut followers = sorter.finish()?;
        let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
        let (mut leaders, mut new, mut count) = (Column::new(work, work.part(8)), Vec::new(), 0);
        while let Some(Follower { place, leader }) = followers.next()? {
            let (component, page) = halves(place);
            parts.entry(component).or_default().set(page, count)?;
            count += 1;
            new.push(leader);
            if new.len() == Self::TOGETHER {
                leaders.append(std::mem::take(&mut new))?;
            }
        }
        leaders.append(new)?;
        Ok(Dropped { clusters, parts, leaders })
    }

    /// How many pages are dropped.
    pub fn len(&self) -> u64 {
        self.leaders.len().into()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What becomes of a page. Costs looking it up; of one that is dropped, reading its head, too.
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url) of a URL that no page can have,
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what is read is damaged.
    pub fn fate(&self, url: &str) -> Result<Fate> {
        self.clusters.snapshot.heed(|| {
            let Some(place) = self.place(url)? else { return Ok(Fate::Unknown) };
            match self.number(place) {
                None => Ok(Fate::Kept),
                Some(_) => Ok(Fate::Dropped { digest: self.taken(url)?.digest }),
            }
        })
    }

    /// The page that is kept for one that is dropped; `None` if it is not.
    ///
    /// # Errors
    ///
    /// Those of [`fate`](Dropped::fate), and if a scratch file is damaged.
    pub fn kept_for(&self, url: &str) -> Result<Option<KeptFor>> {
        self.clusters.snapshot.heed(|| {
            let number = self.place(url)?.and_then(|place| self.number(place));
            let Some(number) = number else { return Ok(None) };
            let mut leader = [0];
            let read = self.leaders.read(number..number + 1, &mut leader);
            read.map_err(|e| self.clusters.work.named(e))?;
            let [leader] = leader;
            let kept = self.clusters.url(leader)?;
            let distance = self.taken(url)?.fingerprint ^ self.taken(&kept)?.fingerprint;
            let distance = distance.count_ones();
            ensure(distance <= self.clusters.k(), "a page is within k of its leader")?;
            Ok(Some(KeptFor { url: kept, distance }))
        })
    }

    /// Where a page stands; `None` if it is not known.
    fn place(&self, url: &str) -> Result<Option<u64>> {
        let snapshot = &self.clusters.snapshot;
        let view = snapshot.view();
        view.check()?;
        check_url(url)?;
        let known = view.known(&Lookup::new(url, view.seed), snapshot.sequence())?;
        Ok(known.standing.filter(|_| known.head.is_some()).map(|standing| standing.to_bits()))
    }

    /// The number of a page among those that are dropped, if it is one.
    fn number(&self, place: u64) -> Option<u32> {
        let (component, page) = halves(place);
        self.parts.get(&component)?.number(page)
    }

    fn taken(&self, url: &str) -> Result<Taken> {
        let taken = self.clusters.taking.page(&self.clusters.snapshot, url)?;
        Ok(taken.or_bug("a page that was taken is taken again")?)
    }
}

/// The component of a place, and the page there.
#[expect(clippy::cast_possible_truncation, reason = "the two halves are what is wanted")]
fn halves(place: u64) -> (u32, u32) {
    ((place >> 32) as u32, place as u32)
}

impl Part {
    /// Sets the bit of a page behind all others that are set, before which so many are dropped.
    fn set(&mut self, page: u32, before: u32) -> Result<(), Bug> {
        let block = (page / BLOCK_BITS) as usize;
        if self.before.len() <= block {
            self.before.resize(block + 1, before);
            self.words.resize((block + 1) * BLOCK_WORDS, 0);
        }
        let word = self.words.get_mut((page / u64::BITS) as usize);
        *word.or_bug("a block has all its words")? |= 1 << (page % u64::BITS);
        Ok(())
    }

    /// How many are dropped before a page, if that is dropped itself.
    fn number(&self, page: u32) -> Option<u32> {
        let (at, bit) = ((page / u64::BITS) as usize, 1_u64 << (page % u64::BITS));
        let word = self.words.get(at)?;
        if word & bit == 0 {
            return None;
        }
        let block = at / BLOCK_WORDS;
        let within = self.words.get(block * BLOCK_WORDS..at)?.iter().map(|word| word.count_ones());
        Some(self.before.get(block)? + within.sum::<u32>() + (word & (bit - 1)).count_ones())
    }
}

impl fmt::Debug for Dropped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dropped({} of {:?})", self.len(), self.clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_plain_count() {
        for step in [1, 2, 7, 63, 64, 65, 500, 513, 5000] {
            let mut part = Part::default();
            let pages: Vec<u32> = (0..40).map(|n| n * step + n % 3).collect();
            let pages: std::collections::BTreeSet<u32> = pages.into_iter().collect();
            for (number, page) in (5..).zip(&pages) {
                part.set(*page, number).unwrap();
            }
            for page in 0..40 * step + 600 {
                let before = u32::try_from(pages.range(..page).count()).unwrap();
                let expected = pages.contains(&page).then_some(before + 5);
                assert_eq!(part.number(page), expected, "{page} of {step}");
            }
        }
    }
}
