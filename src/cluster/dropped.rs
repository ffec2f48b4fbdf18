//! Which pages are dropped in favour of those that lead them, by URL.

use std::fmt;

use super::clusters::{ClusteredPage, Clusters};
use super::column::Column;
use super::items::{Follower, Member, Row};
use super::places::{PageLocation, Places};
use crate::bug::{OrBug, ensure};
use crate::error::Result;
use crate::page::{Classes, Digest};
use crate::query::in_force::InForcePage;

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
    /// It leads its cluster, is in none, or is of another class than the page that leads it, which is
    /// not open to all.
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

/// Whether a page of one class may be dropped in favour of one of another: if all who may see it may see
/// that one, too.
fn may_yield(class: Option<u32>, to: Option<u32>, open: &Classes) -> bool {
    // `open.have(class)` would be wrong: the page that stays must
    // be visible to all readers of the other.
    class == to || open.have(to)
}

impl ClusteredPage {
    /// Whether it may be dropped in favour of the page that leads its cluster: that is another one, of
    /// the same class or of one of the classes in `open`, which all may see. Pages that have no class
    /// are of one class with each other.
    ///
    /// Clusters are made without regard to classes, so two pages that stay for their classes may be near
    /// each other. [`Clustering::classes`](super::Clustering::classes) clusters those of a class alone.
    pub fn yields(&self, open: &Classes) -> bool {
        !self.is_leader() && may_yield(self.class, self.leader_class, open)
    }
}

impl Member {
    /// Whether it may be dropped in favour of the page that leads its cluster.
    fn yields(&self, of: &Row, open: &Classes) -> bool {
        self.follows && may_yield(self.class, of.class, open)
    }
}

impl Clusters {
    /// The pages that [yield](ClusteredPage::yields) to those that lead them, to look up by URL. All
    /// others are kept. `open` has the classes of pages that all may see; `Classes::default()` is none,
    /// so that pages yield only to those of their own class.
    ///
    /// Costs a sort of 16 bytes for each of them, in the memory that the
    /// [`Clustering`](super::Clustering) allows.
    ///
    /// ```
    /// use simkeep::cluster::{Clustering, Fate};
    /// use simkeep::{Classes, Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (time, url, fingerprint, class) in [(1, "a", 0b0000, 7), (2, "b", 0b0111, 7), (3, "c", 0, 0)] {
    ///     let seen = Observation::content(url, Time::from_ms(time)?, fingerprint, epoch);
    ///     store.observe(seen.class(class))?;
    /// }
    /// let clusters = Clustering::within(3).run(&store.snapshot(), &Progress::default())?;
    /// let dropped = clusters.dropped(&Classes::default())?;
    /// assert_eq!(dropped.fate("a")?, Fate::Kept);
    /// assert_eq!(dropped.fate("b")?, Fate::Dropped { digest: None });
    /// assert_eq!(dropped.fate("d")?, Fate::Unknown);
    /// let kept = dropped.kept_for("b")?.unwrap();
    /// assert_eq!((kept.url.as_str(), kept.distance), ("a", 3));
    /// // It is led by a page of another class, and goes only if all may see those.
    /// assert_eq!(dropped.fate("c")?, Fate::Kept);
    /// assert_eq!(clusters.dropped(&Classes::of([7]))?.fate("c")?, Fate::Dropped { digest: None });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If a scratch file cannot be written, or is damaged.
    pub fn dropped(&self, open: &Classes) -> Result<Dropped<'_>> {
        let found = Dropped::of(self, open).map_err(|e| self.work.named(e));
        self.snapshot.poison_on_bug(|| found)
    }

    /// How many pages [yield](ClusteredPage::yields) to those that lead them: as many as
    /// [`dropped`](Clusters::dropped) would have. Costs going through the pages once, without their
    /// URLs.
    ///
    /// # Errors
    ///
    /// If a scratch file is damaged.
    pub fn count_dropped(&self, open: &Classes) -> Result<u64> {
        let mut count = 0;
        // Members and rows have all that is needed: no sort, no lookup and no URL.
        let counted = self.each(|member, of, _| {
            count += u64::from(member.yields(of, open));
            Ok(())
        });
        let counted = counted.map(|()| count).map_err(|e| self.work.named(e));
        self.snapshot.poison_on_bug(|| counted)
    }
}

impl<'c> Dropped<'c> {
    fn of(clusters: &'c Clusters, open: &Classes) -> Result<Dropped<'c>> {
        let work = &clusters.work;
        let mut sorter = work.sorter(2);
        clusters.each(|member, of, _| match member.yields(of, open) {
            true => sorter.push(Follower { place: member.place, leader: of.place }),
            false => Ok(()),
        })?;
        // Sorted by location. So `Places` can number the pages, and
        // entry n of `leaders` belongs to page n.
        let mut followers = sorter.finish()?;
        let (mut pages, mut leaders) = (Places::default(), Column::new(work, work.part(8)));
        while let Some(Follower { place, leader }) = followers.next()? {
            pages.push(place)?;
            leaders.push(leader)?;
        }
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

    /// Whether the page at a location is dropped, which
    /// [`Candidates::candidacy`](super::Candidates::candidacy) named before the clusters were made.
    /// Costs no lookup.
    pub fn has(&self, location: PageLocation) -> bool {
        self.pages.number(location.0).is_some()
    }

    /// What becomes of a page. Costs looking it up; of one that is dropped, reading its head, too.
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url) of a URL that no page can have,
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what is read is damaged.
    pub fn fate(&self, url: &str) -> Result<Fate> {
        self.clusters.snapshot.poison_on_bug(|| {
            let Some(place) = self.clusters.place(url)? else { return Ok(Fate::Unknown) };
            match self.pages.number(place) {
                None => Ok(Fate::Kept),
                Some(_) => Ok(Fate::Dropped { digest: self.clusters.digest(url)? }),
            }
        })
    }

    /// The page that is kept for one that is dropped; `None` if it is not.
    ///
    /// # Errors
    ///
    /// Those of [`fate`](Dropped::fate), and if a scratch file is damaged.
    pub fn kept_for(&self, url: &str) -> Result<Option<KeptFor>> {
        self.clusters.snapshot.poison_on_bug(|| {
            let place = self.clusters.place(url)?;
            let number = place.and_then(|place| self.pages.number(place));
            let Some(number) = number else { return Ok(None) };
            let leader = self.leaders.get(number).map_err(|e| self.clusters.work.named(e))?;
            let kept = self.clusters.url(leader)?;
            // Only locations are kept, 8 bytes for each dropped page. So
            // the two fingerprints are read again.
            let distance = self.taken(url)?.fingerprint ^ self.taken(&kept)?.fingerprint;
            let distance = distance.count_ones();
            ensure(distance <= self.clusters.k(), "a page is within k of its leader")?;
            Ok(Some(KeptFor { url: kept, distance }))
        })
    }

    fn taken(&self, url: &str) -> Result<InForcePage> {
        let taken = self.clusters.filter.page(&self.clusters.snapshot, url)?;
        Ok(taken.or_bug("a page that was taken is taken again")?)
    }
}

impl fmt::Debug for Dropped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dropped({} of {:?})", self.len(), self.clusters)
    }
}
