//! Which pages are dropped in favour of those that lead them, by URL.

use std::fmt;

use super::clusters::Clusters;
use super::column::Column;
use super::items::{Follower, Member};
use super::places::Places;
use crate::bug::{OrBug, ensure};
use crate::error::Result;
use crate::page::Digest;
use crate::store::Taken;

/// The pages that are dropped in favour of those that lead their clusters, from [`Clusters::dropped`].
///
/// Takes a bit of memory for each page of the store, and in scratch files 8 bytes for each page that is
/// dropped. Any number of threads may ask it.
pub struct Dropped<'c> {
    clusters: &'c Clusters,
    pages: Places,
    /// Where the leaders stand of all pages that are dropped, in the order of where these stand.
    leaders: Column<u64>,
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
        clusters.each_member(|of, _, Member { place, follows, .. }| match follows {
            true => sorter.push(Follower { place, leader: of.place }),
            false => Ok(()),
        })?;
        let mut followers = sorter.finish()?;
        let mut pages = Places::default();
        let (mut leaders, mut new) = (Column::new(work, work.part(8)), Vec::new());
        while let Some(Follower { place, leader }) = followers.next()? {
            pages.push(place)?;
            new.push(leader);
            if new.len() == Self::TOGETHER {
                leaders.append(std::mem::take(&mut new))?;
            }
        }
        leaders.append(new)?;
        Ok(Dropped { clusters, pages, leaders })
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
            let Some(place) = self.clusters.place(url)? else { return Ok(Fate::Unknown) };
            match self.pages.number(place) {
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
            let place = self.clusters.place(url)?;
            let number = place.and_then(|place| self.pages.number(place));
            let Some(number) = number else { return Ok(None) };
            let leader = self.leaders.get(number).map_err(|e| self.clusters.work.named(e))?;
            let kept = self.clusters.url(leader)?;
            let distance = self.taken(url)?.fingerprint ^ self.taken(&kept)?.fingerprint;
            let distance = distance.count_ones();
            ensure(distance <= self.clusters.k(), "a page is within k of its leader")?;
            Ok(Some(KeptFor { url: kept, distance }))
        })
    }

    fn taken(&self, url: &str) -> Result<Taken> {
        let taken = self.clusters.taking.page(&self.clusters.snapshot, url)?;
        Ok(taken.or_bug("a page that was taken is taken again")?)
    }
}

impl fmt::Debug for Dropped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dropped({} of {:?})", self.len(), self.clusters)
    }
}
