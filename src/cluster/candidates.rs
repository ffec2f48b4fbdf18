//! Pages whose texts are worth comparing, and clusters of similar texts.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clustering::Clustering;
use super::clusters::{Clusters, MembersByLeader};
use super::column::{LeadersThenOthers, SpillColumn};
use super::documents::{documents, members};
use super::items::NumberedSketch;
use super::location_set::{LocationSet, PageLocation};
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::fingerprint::BitSketch;
use crate::page::Digest;
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};
use crate::sort::{Sorter, Workspace};
use crate::sync::Mutex;

/// Pages that have other pages within k bits, from [`Candidates::of`]: their texts are worth
/// comparing.
///
/// The store has no texts. A caller who has the texts makes a [sketch](BitSketch) of each
/// [candidate](Candidates::candidacy), [adds](Candidates::add) the sketches from any number of
/// threads, and gets [clusters](Candidates::clusters) of similar texts.
///
/// Takes three bits of memory for each page of the store, and scratch files of 68 bytes for each
/// added sketch, in addition to what the [`Clustering`] allows.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Candidates, Clustering};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
/// let asked = Clustering::within(10);
/// let candidates = Candidates::of(&store.snapshot(), &asked, &Progress::default())?;
/// assert_eq!(candidates.len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct Candidates {
    asked: Clustering,
    /// The clusters by fingerprints alone.
    clusters: Clusters,
    pages: LocationSet,
    /// Whether a sketch was added, by the number of the candidate.
    read: AtomicBits,
    sketches: Mutex<Sorter<NumberedSketch>>,
}

/// Whether the text of a page is worth comparing.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Candidacy, Candidates, Clustering};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let epoch = store.change_epoch();
/// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
/// # for (ms, path, fingerprint) in pages {
/// #     let url = format!("https://example.com/{path}");
/// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// # }
/// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
/// let asked = Clustering::within(10);
/// let candidates = Candidates::of(&store.snapshot(), &asked, &Progress::default())?;
/// let candidacy = |path| candidates.candidacy(&format!("https://example.com/{path}"));
/// assert!(matches!(candidacy("terms")?, Candidacy::Candidate { .. }));
/// assert_eq!(candidacy("about")?, Candidacy::Alone);
/// assert_eq!(candidacy("contact")?, Candidacy::Unknown);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Candidacy {
    /// The page is not in the store.
    Unknown,
    /// No other page is within k bits, the page has no fingerprint, or it is not clustered.
    Alone,
    /// The text of the page is needed.
    Candidate {
        /// The location of the page, for [`Candidates::add`].
        location: PageLocation,
        /// The digest of the compared content, if it has a digest. A text of the page with another
        /// digest, such as an older version, is not the text needed.
        digest: Option<Digest>,
    },
}

impl Candidates {
    /// Finds the pages that have other pages within k bits. Fingerprints propose pairs of such
    /// pages, and their texts decide.
    ///
    /// Choose a distance that is large enough: within 10 bits, fingerprints of the default recipe
    /// miss one in fifty pairs of texts with a resemblance of 0.8. Costs as much as
    /// [`Clustering::run`], plus a join of the pages that are alone in their clusters with all
    /// other pages.
    ///
    /// ```
    /// use simkeep::cluster::Candidates;
    /// use simkeep::cluster::{Candidacy, Clustering};
    /// use simkeep::fingerprint::{BitSketcher, Fingerprinter, Recipe};
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// let words = |from: u32, to: u32| (from..to).map(|n| format!("word{n} ")).collect::<String>();
    /// let texts = [("a", words(0, 200)), ("b", words(0, 202)), ("c", words(500, 900))];
    /// let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT)?;
    /// for (time, (url, text)) in (1..).zip(&texts) {
    ///     let fingerprint = fingerprinter.of_text(text)?;
    ///     store.observe(Observation::content(url, Time::from_ms(time)?, fingerprint, epoch))?;
    /// }
    /// let progress = Progress::default();
    /// let candidates = Candidates::of(&store.snapshot(), &Clustering::within(10), &progress)?;
    /// let mut sketcher = BitSketcher::new();
    /// for (url, text) in &texts {
    ///     if let Candidacy::Candidate { location, .. } = candidates.candidacy(url)? {
    ///         candidates.add(location, sketcher.of_text(text))?;
    ///     }
    /// }
    /// let clusters = candidates.clusters(0.8, &progress)?;
    /// let pages: Vec<_> = clusters.by_page(1)?.collect::<Result<_, _>>()?;
    /// assert_eq!(pages.iter().map(|page| &*page.leader).collect::<Vec<_>>(), ["a", "a", "c"]);
    /// assert!(pages[1].resemblance > Some(0.9));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Clustering::run`].
    pub fn of(snapshot: &Snapshot, asked: &Clustering, progress: &Progress) -> Result<Candidates> {
        let clusters = asked.run(snapshot, progress)?;
        snapshot.poison_on_bug(|| {
            let pages =
                pages_with_neighbours(&clusters, progress).map_err(|e| clusters.work.named(e))?;
            progress.finish();
            // Any number of threads add sketches. They share one sorter, so the memory stays bounded.
            let sketches = Mutex::new(clusters.work.sorter(4));
            let read = AtomicBits::new(pages.len());
            Ok(Candidates { asked: asked.clone(), clusters, pages, read, sketches })
        })
    }

    /// The number of candidates.
    pub fn len(&self) -> u32 {
        self.pages.len()
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the text of a page is needed. Costs a lookup; for a candidate, also reading
    /// the head of the page.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{Candidacy, Candidates, Clustering};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // `/terms` and `/terms?print=1` differ in one bit, `/about` in all bits.
    /// let asked = Clustering::within(10);
    /// let candidates = Candidates::of(&store.snapshot(), &asked, &Progress::default())?;
    /// // No text is fetched for a page that is near no other page.
    /// assert_eq!(candidates.candidacy("https://example.com/about")?, Candidacy::Alone);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`] for a URL that no page can have, [`Error::Corrupt`] if the data to read is
    /// damaged.
    pub fn candidacy(&self, url: &str) -> Result<Candidacy> {
        self.clusters.snapshot.poison_on_bug(|| {
            let Some(place) = self.clusters.place(url)? else { return Ok(Candidacy::Unknown) };
            if self.pages.number(place).is_none() {
                return Ok(Candidacy::Alone);
            }
            Ok(Candidacy::Candidate {
                location: PageLocation(place),
                digest: self.clusters.digest(url)?,
            })
        })
    }

    /// Adds the sketch of a candidate's text. Repetitions are harmless. A page with different
    /// sketches is compared with no other page, because it is unknown which of the sketches belongs
    /// to the current version.
    ///
    /// `BitSketch::default()`, the sketch of a text without words, says that the caller has no text
    /// to compare for the page. Without another sketch, the page is compared with no other page.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{Candidacy, Candidates, Clustering};
    /// use simkeep::fingerprint::BitSketcher;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// # let asked = Clustering::within(10);
    /// # let candidates = Candidates::of(&store.snapshot(), &asked, &Progress::default())?;
    /// let (url, text) = ("https://example.com/terms", "You may use this site if you behave well.");
    /// if let Candidacy::Candidate { location, .. } = candidates.candidacy(url)? {
    ///     candidates.add(location, BitSketcher::new().of_text(text))?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the location belongs to no candidate, [`Error::Io`] if a
    /// scratch file cannot be written.
    pub fn add(&self, location: PageLocation, sketch: BitSketch) -> Result<()> {
        let number = self.pages.number(location.0);
        let number = number.ok_or_else(|| {
            Error::InvalidArgument(format!("no candidate has the location {location:?}"))
        })?;
        self.read.set(number);
        let pushed = self.sketches.lock().push(NumberedSketch { number, sketch });
        pushed.map_err(|e| self.clusters.work.named(e))
    }

    /// Counts the candidates with a sketch that cannot be compared with the page that would be kept
    /// for them: no sketch was added for the leader of their cluster by fingerprints alone, and no
    /// read page has its digest. Call it after [`add`](Candidates::add). Costs a pass over all pages,
    /// and reads the heads of pages that have the fingerprint of such a leader.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{Candidacy, Candidates, Clustering};
    /// use simkeep::fingerprint::BitSketcher;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// # let asked = Clustering::within(10);
    /// # let candidates = Candidates::of(&store.snapshot(), &asked, &Progress::default())?;
    /// // The text of `/terms`, which would be kept, is not available.
    /// let (url, text) = ("https://example.com/terms?print=1", "You may use this site.");
    /// if let Candidacy::Candidate { location, .. } = candidates.candidacy(url)? {
    ///     candidates.add(location, BitSketcher::new().of_text(text))?;
    /// }
    /// assert_eq!(candidates.uncompared()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a scratch file cannot be read, [`Error::Corrupt`] if the data to read is
    /// damaged.
    pub fn uncompared(&self) -> Result<u64> {
        let clusters = &self.clusters;
        let is_read = |place| match self.pages.number(place) {
            Some(number) => self.read.has(number),
            None => Ok(false),
        };
        let digest_at = |place| clusters.digest(&clusters.url(place)?);
        let count = || {
            let (mut all, mut of_cluster, mut lacks_leader) = (0, 0, false);
            let mut digest = None;
            clusters.each(|member, of, _| {
                if !member.follows {
                    all += std::mem::take(&mut of_cluster);
                    lacks_leader = of.pages > 1 && !is_read(of.place)?;
                    digest = None;
                    return Ok(());
                }
                if !lacks_leader || !is_read(member.place)? {
                    return Ok(());
                }
                of_cluster += 1;
                // Members at distance 0 come first. One of them with the leader's digest has the
                // leader's text, so all others are compared with it.
                if member.fingerprint == of.fingerprint {
                    let leader = match digest {
                        Some(digest) => digest,
                        None => *digest.insert(digest_at(of.place)?),
                    };
                    if leader.is_some() && leader == digest_at(member.place)? {
                        (of_cluster, lacks_leader) = (0, false);
                    }
                }
                Ok(())
            })?;
            Ok(all + of_cluster)
        };
        clusters.snapshot.poison_on_bug(|| count().map_err(|e| clusters.work.named(e)))
    }

    /// Puts all pages into clusters by the resemblance of their texts.
    ///
    /// Two pages are near each other if they are within k bits, and their texts
    /// [resemble](BitSketch::resemblance) each other at least by `resemblance`, 0 to 1. A page
    /// leads if it is near no leader that ranks before it. Every other page belongs to the leader
    /// that it resembles most among the near leaders that rank before it; if several leaders
    /// resemble it equally, the page belongs to the first.
    ///
    /// A page for which no sketch was added takes the sketch of a page with the same digest, because
    /// equal digests mean equal texts. All other pages with a fingerprint and without a sketch lead
    /// clusters of their own. Pages without a fingerprint are in the clusters of their digests.
    ///
    /// The call reads all pages once, sorts about 110 bytes a page, and joins about three times as
    /// many fingerprints as there are candidates. The call compares 64 bytes for each pair of a
    /// leader and a page that the joins find. So a group of similar texts costs one pair for each
    /// page. A dense bucket of fingerprints whose texts are not similar costs its square: about 10
    /// ns for each pair, and more once the sketches of leaders exceed an eighth of the memory.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Progress, Store, Time};
    /// use simkeep::cluster::{Candidacy, Candidates, Clustering};
    /// use simkeep::fingerprint::BitSketcher;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # let epoch = store.change_epoch();
    /// # let pages = [(1, "terms", 0b0), (2, "terms?print=1", 0b1), (3, "about", !0)];
    /// # for (ms, path, fingerprint) in pages {
    /// #     let url = format!("https://example.com/{path}");
    /// #     store.observe(Observation::content(&url, Time::from_ms(ms)?, fingerprint, epoch))?;
    /// # }
    /// // `/terms` and `/terms?print=1` have near fingerprints, and different texts.
    /// let (asked, progress) = (Clustering::within(10), Progress::default());
    /// let candidates = Candidates::of(&store.snapshot(), &asked, &progress)?;
    /// let texts = [
    ///     ("https://example.com/terms", "You may use this site if you behave well."),
    ///     ("https://example.com/terms?print=1", "The printer is out of order until next Monday."),
    /// ];
    /// for (url, text) in texts {
    ///     if let Candidacy::Candidate { location, .. } = candidates.candidacy(url)? {
    ///         candidates.add(location, BitSketcher::new().of_text(text))?;
    ///     }
    /// }
    /// assert_eq!(candidates.clusters(0.8, &progress)?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the resemblance is not between 0 and 1, and the errors of
    /// [`Clustering::run`].
    pub fn clusters(self, resemblance: f64, progress: &Progress) -> Result<Clusters> {
        if !(0.0..=1.0).contains(&resemblance) {
            return Err(Error::InvalidArgument(format!(
                "the resemblance must be from 0 to 1, but it is {resemblance}"
            )));
        }
        let Candidates { asked, clusters, pages, sketches, .. } = self;
        let (all, k, fingerprints) = (clusters.pages(), clusters.k(), clusters.fingerprints());
        let (without, weights_differ) = (clusters.without_fingerprint(), clusters.weights_differ());
        let Clusters { snapshot, filter, work, members: old, rows, .. } = clusters;
        // Frees the memory of the clusters by fingerprint, which the sorts and joins by text use.
        drop((old, rows));
        let find = || {
            let sketched = sketches.into_inner().finish()?;
            let of = (&snapshot, &asked, &filter);
            let documents = documents(of, &pages, sketched, &work, progress)?;
            // `documents` has joined the sketches to their pages, so the bits of `pages` are not
            // needed any more.
            drop(pages);
            let (members, leaders) = members(documents, resemblance, (k, all), &work, progress)?;
            let found = MembersByLeader {
                members,
                leaders,
                k,
                fingerprints,
                without,
                weights_differ,
                by_text: true,
            };
            Clusters::from_members(snapshot.clone(), filter, work.clone(), found)
        };
        let found = snapshot.poison_on_bug(|| find().map_err(|e| work.named(e)))?;
        progress.finish();
        Ok(found)
    }
}

/// The pages that have other pages within k bits: all pages of clusters of several pages, and pages
/// alone in their cluster that are near members of other clusters. (Leaders are not near each
/// other.)
fn pages_with_neighbours(clusters: &Clusters, progress: &Progress) -> Result<LocationSet> {
    let work = &clusters.work;
    // Both passes see clusters in the same order: entry n of `alone` is the n-th cluster of one page.
    let mut alone = SpillColumn::new(work, work.part(8));
    clusters.each(|member, of, _| match member.fingerprint {
        Some(fingerprint) if of.pages == 1 => alone.push(fingerprint),
        _ => Ok(()),
    })?;
    let touched = lone_near_followers(clusters, &alone, progress)?;
    let (mut sorter, mut number) = (work.sorter(4), 0);
    clusters.each(|member, of, _| {
        // Equal digests are proof. No text is needed.
        if member.fingerprint.is_none() {
            return Ok(());
        }
        // `||` asks `has` for clusters of one page only, for which `number` is the page's position
        // in `alone`.
        let is_one = of.pages > 1 || touched.has(number)?;
        number += u32::from(of.pages == 1);
        if is_one { sorter.push(member.place) } else { Ok(()) }
    })?;
    // Members come cluster by cluster. `LocationSet` takes locations in ascending order only.
    let (mut sorted, mut pages) = (sorter.finish()?, LocationSet::default());
    while let Some(place) = sorted.next()? {
        pages.push(place)?;
    }
    Ok(pages)
}

/// The lone pages within k bits of members of clusters with several pages.
fn lone_near_followers(
    clusters: &Clusters,
    alone: &SpillColumn<u64>,
    progress: &Progress,
) -> Result<AtomicBits> {
    let Clusters { work, .. } = clusters;
    let bits = AtomicBits::new(alone.len());
    // Within 0 bits, near pages have one fingerprint and so one cluster.
    if clusters.k() == 0 || alone.len() == 0 {
        return Ok(bits);
    }
    progress.begin(Stage::Joining, Some(clusters.pages()));
    let joining = LonePageJoin { k: clusters.k(), work, alone, bits: &bits };
    // Each batch joins all of `alone` once more, so batches are as large as the memory allows.
    let together = work.part(8) / size_of::<u64>();
    let mut others = Vec::new();
    clusters.each(|member, _, _| {
        progress.pass(1);
        // No leader is within k of another leader, so a lone leader can only be near followers.
        if let Some(fingerprint) = member.fingerprint.filter(|_| member.follows) {
            others.push(fingerprint);
            if others.len() >= together {
                joining.join(&mut others, progress)?;
            }
        }
        Ok(())
    })?;
    joining.join(&mut others, progress)?;
    Ok(bits)
}

/// A join of the fingerprints of lone pages with other fingerprints.
struct LonePageJoin<'j> {
    k: u32,
    work: &'j Workspace,
    alone: &'j SpillColumn<u64>,
    bits: &'j AtomicBits,
}

impl LonePageJoin<'_> {
    /// Marks the lone pages near some of `others`, and clears `others`.
    fn join(&self, others: &mut Vec<u64>, progress: &Progress) -> Result<()> {
        if others.is_empty() {
            return Ok(());
        }
        others.sort_unstable();
        // Copies of a fingerprint would only find equal pairs again.
        others.dedup();
        let sink = |pairs: &[Pair]| {
            pairs.iter().for_each(|pair| self.bits.set(pair.left));
            ControlFlow::Continue(())
        };
        // Only pairs of a lone page and another page are found, so a dense group among the other
        // pages costs nothing.
        let join = Join::within(self.k).memory_bytes(self.work.part(4)).across(self.alone.len());
        let source = LeadersThenOthers { leaders: self.alone, others };
        let _: ControlFlow<()> = join.run(&source, &progress.hidden(), sink)?;
        others.clear();
        progress.check()
    }
}

/// A bit for each number.
struct AtomicBits {
    words: Vec<AtomicU64>,
}

impl AtomicBits {
    fn new(count: u32) -> AtomicBits {
        let words = (0..count.div_ceil(u64::BITS)).map(|_| AtomicU64::new(0)).collect();
        AtomicBits { words }
    }

    #[expect(clippy::indexing_slicing, reason = "a number of those that are counted")]
    fn set(&self, number: u32) {
        let word = &self.words[(number / u64::BITS) as usize];
        // Several threads set bits of one word. `Relaxed` is enough, because no bit is read before
        // the join has ended.
        word.fetch_or(1 << (number % u64::BITS), Ordering::Relaxed);
    }

    fn has(&self, number: u32) -> Result<bool> {
        let word = self.words.get((number / u64::BITS) as usize);
        let word = word.or_bug("each number has a bit")?.load(Ordering::Relaxed);
        Ok(word >> (number % u64::BITS) & 1 == 1)
    }
}

impl fmt::Debug for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Candidates({} of {:?})", self.len(), self.clusters)
    }
}
