//! Searches, scans and sizes of a snapshot.

use super::histories::Histories;
use super::observations::Observations;
use super::scan::Scan;
use super::stale::Stale;
use crate::bug::OrBug;
use crate::engine::answer::{Page, SegmentStats, Stats};
use crate::engine::epochs::{check_live, origin_of};
use crate::engine::files::has_table;
use crate::engine::memtable::PageOf;
use crate::engine::origin::Origin;
use crate::engine::search;
use crate::engine::search::Sought;
use crate::engine::search::query::{Explanation, Matches, Query};
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::Counted;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::fingerprint::Meaning;
use crate::page::{
    Classes, Content, Distance, Entry, Epoch, EpochInfo, Prefix, Role, in_use, known,
};
use crate::schedule;
use crate::schedule::{Decision, Due, DuePages, Learned, Plan, Survey};

impl Snapshot {
    /// Pages whose version in force is within distance `k`, in the epoch that near-duplicates are
    /// [sought by](Snapshot::near_epoch), at most 16: the simplest [`search`](Snapshot::search), at the
    /// same cost.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn near(&self, fingerprint: u64, k: u32) -> Result<Matches> {
        self.search(&Query::new(fingerprint, k))
    }

    /// Pages near a fingerprint: nearest first, then in SURT order; exact for every `k`.
    ///
    /// Usually takes some microseconds; [`explain`](Snapshot::explain) shows the cost. Looking up
    /// the first near page adds up to a microsecond, each further page 0.3. Takes no lock that a
    /// writer holds while it waits for the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search(&self, query: &Query) -> Result<Matches> {
        let matches = self.heed(|| search::search(self, query))?;
        self.view().metrics.searched(matches.complete);
        Ok(matches)
    }

    /// Runs one search for each of many fingerprints, with the settings of `like` (its own
    /// fingerprint is ignored). Answers come in the order of the fingerprints.
    ///
    /// Searches are interleaved and run on all cores: while one waits for memory, others go on. So
    /// each costs a half to a quarter of a single search. Takes memory for the answers, and for the
    /// hits of 4,096 fingerprints at a time on each core.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search_batch(&self, fingerprints: &[u64], like: &Query) -> Result<Vec<Matches>> {
        let except = like.except.as_deref();
        let sought = fingerprints.iter().map(|&fingerprint| Sought { fingerprint, except });
        self.search_each(&sought.collect::<Vec<_>>(), like)
    }

    /// Runs one search for each of many pages that are named with a fingerprint of theirs, with the
    /// settings of `like` (its own fingerprint is ignored, and so is what it leaves out). Each leaves
    /// its own page out of its answer. Answers come in the order of the pages.
    ///
    /// Costs what [`search_batch`](Snapshot::search_batch) does. No page is looked up: the fingerprint
    /// is searched for, whether the page has it or not.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Query, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.near_epoch();
    /// let pages = [(0b0111, "https://example.com/"), (0b1111, "https://example.org/")];
    /// for (fingerprint, url) in pages {
    ///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let answers = store.snapshot().search_batch_of_pages(&pages, &Query::new(0, 3))?;
    /// assert_eq!(answers[0].near.len(), 1);
    /// assert_eq!(answers[0].near[0].url, "https://example.org/");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn search_batch_of_pages(
        &self,
        pages: &[(u64, &str)],
        like: &Query,
    ) -> Result<Vec<Matches>> {
        let sought =
            pages.iter().map(|&(fingerprint, url)| Sought { fingerprint, except: Some(url) });
        self.search_each(&sought.collect::<Vec<_>>(), like)
    }

    fn search_each(&self, sought: &[Sought<'_>], like: &Query) -> Result<Vec<Matches>> {
        let matches = self.heed(|| search::search_batch(self, sought, like))?;
        matches.iter().for_each(|matches| self.view().metrics.searched(matches.complete));
        Ok(matches)
    }

    /// Explains how a search runs: what the planner chooses in each component and why, and what
    /// happened. Costs about three searches; page faults are counted in the first.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn explain(&self, query: &Query) -> Result<Explanation> {
        self.heed(|| super::explain::explain(self, query))
    }

    /// All pages, or those under a prefix, in SURT order, in which all pages of a host are
    /// neighbours.
    ///
    /// Reads lazily and mostly sequentially, some microseconds per page. Takes memory for one block
    /// of each segment.
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if what it touches is damaged; then the iterator ends.
    pub fn scan(&self, prefix: Option<&Prefix>) -> Scan {
        Scan::new(self, prefix)
    }

    /// The pages that are due: those of which a visit is worth most, the best first, then in SURT order.
    ///
    /// Reads 28 bytes for each page, in order and on all cores, and of the pages those that it returns.
    /// Takes the memory that [`Due::memory_bytes`](crate::due::Due::memory_bytes) allows, and some 64
    /// bytes for each page that is not sealed. Two calls that ask for the same time return the same.
    ///
    /// What a page is believed to change like goes by its own visits, and before that by those of its
    /// host and of all pages. That is [learned](Snapshot::learn) when it is first needed.
    ///
    /// If the policy goes by what a visit is worth, a page that another one
    /// [leads](field@crate::due::Decision::near) weighs a quarter, and never nothing. It is looked for
    /// when a page comes up. That costs one search, a microsecond or two if the store is in memory and
    /// in one segment, and some ten more if pages are near. Pages that are led are looked at before
    /// their turn comes: all that would be worth up to four times as much as the last that is returned.
    /// Where most pages are copies of others, that may be most of them, at some microseconds each.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::due::Due;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
    /// let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
    /// store.observe(Observation::content("https://example.com/a", start, 1, epoch))?;
    /// store.observe(Observation::content("https://example.com/b", start + 7 * DAY, 2, epoch))?;
    /// let best = store.snapshot().due(&Due::new(start + 30 * DAY, 1)).next().unwrap()?;
    /// assert_eq!(best.page.url, "https://example.com/a"); // a month, and nobody has looked
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`] if what it touches is damaged; then the iterator ends.
    pub fn due(&self, due: &Due) -> DuePages {
        DuePages::new(self, due)
    }

    /// What all pages tell of how pages change: a prior for each host. It is a function of the pages,
    /// not of the order in which visits came or of how they are stored.
    ///
    /// Two hosts share a prior if 16 bits of their hashes agree: 1 in 65,536 pairs of them. Hashes
    /// differ from store to store, also of the same pages.
    ///
    /// Reads 28 bytes for each page, or for a million of them where there are more; takes some 50 ms and
    /// 30 MB for a million. The next call on this snapshot or a clone returns it at once.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn learn(&self) -> Result<Learned> {
        self.heed(|| {
            self.view.check()?;
            self.learned()
        })
    }

    /// How to spend so many visits a day for ever: the threshold from which on a page is visited, and
    /// how fresh that keeps the pages. `due` says by what policy, under what prefix and by what rules;
    /// its budget, hints and bounds for hosts do not matter here. A plan does not know which pages are
    /// near others, so one that is [led](field@crate::due::Decision::near) weighs as any other: where
    /// there are many of them, fewer visits are spent than were asked for.
    ///
    /// Reads 28 bytes for each page, or for a million of them where there are more, and for policies
    /// that go by the order of comparisons each of these pages. Takes up to a second, and 100 MB for a
    /// million pages that are all different.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::due::Due;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
    /// let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
    /// for page in 0..100u64 {
    ///     let url = format!("https://example.com/{page}");
    ///     let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15); // near no other
    ///     store.observe(Observation::content(&url, start, fingerprint, epoch))?;
    ///     store.observe(Observation::content(&url, start + 7 * DAY, fingerprint, epoch))?;
    /// }
    /// let view = store.snapshot();
    /// let plan = view.plan(&Due::new(start + 8 * DAY, 0), 5.0)?;
    /// assert!(plan.visits_per_day() <= 5.0 && plan.freshness() > 0.5);
    /// // All of these pages are alike, so each is visited every 20 days.
    /// let decision = view.decide("https://example.com/1", &plan)?.unwrap();
    /// assert_eq!((decision.every.unwrap().days().round(), decision.due.is_some()), (20.0, true));
    /// assert!(plan.of_new("https://example.com/new")?.value > decision.value);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Option`](crate::Error::Option) if the visits a day are not positive and finite;
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn plan(&self, due: &Due, per_day: f64) -> Result<Plan> {
        self.heed(|| {
            self.view.check()?;
            Plan::new(self, due, per_day)
        })
    }

    /// How the pages of the store change, on the whole: how many were found changed, and how often pages
    /// change by tenths of them. It is a function of the pages, as what is [learned](Snapshot::learn)
    /// is.
    ///
    /// Reads what [`learn`](Snapshot::learn) reads once more, and no page. Takes up to a second, and 20
    /// MB for a million pages.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// const DAY: i64 = 86_400_000;
    /// let epoch = store.change_epoch();
    /// for (page, fingerprint) in [("a", 0b1), ("b", 0b1111_1111)] {
    ///     let url = format!("https://example.com/{page}");
    ///     store.observe(Observation::content(&url, Time::from_ms(0)?, 0b1, epoch))?;
    ///     store.observe(Observation::content(&url, Time::from_ms(7 * DAY)?, fingerprint, epoch))?;
    /// }
    /// let survey = store.snapshot().survey()?;
    /// assert_eq!((survey.compared, survey.changed), (2.0, 1.0));
    /// let deciles = survey.deciles.unwrap(); // one half seldom, and one often
    /// assert!(deciles[0] < deciles[8]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn survey(&self) -> Result<Survey> {
        self.heed(|| {
            self.view.check()?;
            Survey::new(self)
        })
    }

    /// Returns how many visits a day there were of late: those of the 28 days up to the latest visit,
    /// over 28, or over the days since the first visit of all if these are fewer, but one at least. A
    /// [plan](Snapshot::plan) may go by that for want of a better number. `due` says under what prefix;
    /// visits after its time count as if they were then. Without pages it is 0.
    ///
    /// Exact up to 65,536 pages; under a prefix a page counts once for each segment that has it. Of
    /// more, pages are sampled by their hashes, and the histories of at most 131,072 of them are read:
    /// some microseconds each. Besides, this reads what [`learn`](Snapshot::learn) reads, twice.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::due::Due;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// # const DAY: std::time::Duration = std::time::Duration::from_secs(86_400);
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// for page in 0..56 {
    ///     store.observe(Observation::gone(&format!("https://example.com/{page}"), start + page * DAY))?;
    /// }
    /// // One a day, and both ends of the 28 days count.
    /// assert_eq!(store.snapshot().pace(&Due::new(start + 90 * DAY, 0))?, 29.0 / 28.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged.
    pub fn pace(&self, due: &Due) -> Result<f64> {
        self.heed(|| {
            self.view.check()?;
            schedule::pace(self, due)
        })
    }

    /// What is decided about a page by a plan: what a visit is worth, when it is due, and why. `None`
    /// for an unknown page. It is what [`due`](Snapshot::due) returns of it with this plan, and costs
    /// reading one record in the newest segment that knows the page, and a search for the page that
    /// leads it.
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url), or [`Error::Corrupt`](crate::Error::Corrupt) if what it
    /// touches is damaged.
    pub fn decide(&self, url: &str, plan: &Plan) -> Result<Option<Decision>> {
        self.heed(|| plan.decide(self, url))
    }

    /// Every entry of every page: pages in SURT order, their entries in order of time.
    /// [`Store::load`](crate::Store::load) accepts these.
    ///
    /// Reads lazily and mostly sequentially. Takes the memory of a [`scan`](Snapshot::scan) and of
    /// the entries of one page.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// for observation in store.snapshot().observations() {
    ///     let (url, entry) = observation?;
    ///     println!("{} {url} {:?}", entry.time(), entry.content());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn observations(&self) -> Observations {
        self.observations_under(None)
    }

    /// Every entry of the pages under a prefix, as [`observations`](Snapshot::observations) returns
    /// them for all pages, at the cost of a [`scan`](Snapshot::scan) of the prefix.
    pub fn observations_under(&self, prefix: Option<&Prefix>) -> Observations {
        Observations::of(self.scan(prefix))
    }

    /// The history of every page, or of those under a prefix, in SURT order: what
    /// [`history`](Snapshot::history) answers for each. Reads each page once, lazily and mostly
    /// sequentially. Takes the memory of a [`scan`](Snapshot::scan) and of the history of one page.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::failed("https://example.com/", Time::now()))?;
    /// for page in store.snapshot().histories(None) {
    ///     let (url, history) = page?;
    ///     history.iter().for_each(|entry| println!("{url} {entry}"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An item is [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged; then the
    /// iterator ends.
    pub fn histories(&self, prefix: Option<&Prefix>) -> Histories {
        Histories::of(self.scan(prefix))
    }

    /// Stale pages, in SURT order: those whose version in force has a fingerprint, but none of this
    /// epoch. If `after` is given, begins with the first page after this URL.
    ///
    /// If you still have the content of such a page, give it a fingerprint of the epoch by
    /// [`Store::restate`](crate::Store::restate). To do this in several sittings, pass the last URL
    /// of the previous one. Costs a scan, some microseconds per page; nothing if there are no
    /// fingerprints of other epochs.
    ///
    /// # Errors
    ///
    /// Of the items: those of [`scan`](Snapshot::scan), and [`Error::UnknownEpoch`] or
    /// [`Error::EndedEpoch`].
    pub fn stale(&self, epoch: Epoch, after: Option<&str>) -> Stale {
        Stale::new(self, epoch, after)
    }

    /// What makes the fingerprints of an epoch. `None` if they are made elsewhere, under a name
    /// that means nothing to simkeep. Reads and checks the epoch's table, if it has one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`], [`Error::EndedEpoch`]; [`Error::Misuse`] if an earlier version of
    /// simkeep made the fingerprints; [`Error::NoTable`] if the table is not there, [`Error::Corrupt`]
    /// if it is damaged or another one, [`Error::Io`] if it cannot be read.
    pub fn origin(&self, epoch: Epoch) -> Result<Option<Origin>> {
        self.heed(|| origin_of(&self.view, epoch))
    }

    /// In how many bits fingerprints of near-duplicates differ at most, in an epoch: what its recipe
    /// [advises](crate::fingerprint::Recipe::near_distance), unless the store of this was opened with
    /// [another distance](crate::Options::near_distance). 3 if they are made elsewhere, under a name
    /// that means nothing to simkeep, or if there is no such epoch. Reads nothing.
    pub fn near_distance(&self, epoch: Epoch) -> u32 {
        self.view.epochs.near_distance(epoch, self.view.near_distance)
    }

    /// What a distance of fingerprints of an epoch means: what its recipe
    /// [says](crate::fingerprint::Recipe::meaning). What is said of
    /// [ready-made](crate::fingerprint::Meaning::ready_made) fingerprints if they are made elsewhere,
    /// under a name that means nothing to simkeep, or if there is no such epoch. Reads nothing.
    ///
    /// ```
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Options, Store};
    /// use simkeep::fingerprint::Band;
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.meaning(snapshot.change_epoch(), 4).band, Band::Moderate);
    /// # Ok(())
    /// # }
    /// ```
    pub fn meaning(&self, epoch: Epoch, distance: u32) -> Meaning {
        self.view.epochs.meaning(Distance { bits: distance, epoch })
    }

    /// The name of the file in the store's directory with an epoch's table of document frequencies.
    /// `None` if the epoch has no table, or has ended. Reads nothing.
    pub fn table_file(&self, epoch: Epoch) -> Option<String> {
        let info = known(self.epochs(), epoch).filter(|info| has_table(info));
        info.map(|info| self.view.files.table(info).to_string())
    }

    /// How many pages have content in force that no search of an epoch finds: it has no fingerprint of
    /// it, since its text is too short to tell or nobody has [restated](crate::Store::restate) it; of
    /// these classes, or of all with `None`. Costs a [scan](Snapshot::scan).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEpoch`], [`Error::EndedEpoch`], [`Error::Corrupt`] if what it touches is damaged.
    pub fn without_fingerprint(&self, epoch: Epoch, classes: Option<&Classes>) -> Result<u64> {
        check_live(self.epochs(), epoch)?;
        let has = |c: &Content| c.epoch == epoch && c.fingerprint.is_some();
        let is_meant = |page: &Page| classes.is_none_or(|classes| classes.have(page.class));
        let is_without = |page: &Page| {
            page.content.is_some() && !page.contents.iter().any(has) && is_meant(page)
        };
        let pages = self.scan(None).map(|page| page.map(|page| u64::from(is_without(&page))));
        pages.sum()
    }

    /// How many distinct fingerprints of an epoch can be searched. A fingerprint counts once for
    /// each segment that has it. Reads no table.
    pub fn fingerprints(&self, epoch: Epoch) -> u64 {
        self.view.components().map(|component| u64::from(component.fingerprints(epoch.0))).sum()
    }

    /// Sizes of what is seen; those of the catalog's file are for others to say.
    pub(crate) fn sizes(&self, epoch_visits: u64) -> Result<Stats> {
        let mut stats =
            Stats { epochs: self.epochs().to_vec(), sequence: self.sequence, ..Stats::default() };
        for live in self.view.segments.iter() {
            let numbers = live.segment.numbers();
            stats.segment_bytes += live.segment.file_bytes();
            stats.segments.push(SegmentStats {
                id: live.segment.id(),
                pages: numbers.pages,
                visits: numbers.visits,
                fingerprints: numbers.fingerprints,
                bytes: live.segment.file_bytes(),
            });
        }
        for memtable in &self.view.memtables {
            let inner = memtable.read();
            let visits = |page: PageOf<'_>| {
                page.entries_at(self.sequence).filter(Entry::is_visit).count() as u64
            };
            let unsealed = inner.pages().map(visits);
            stats.unsealed_visits += unsealed.sum::<u64>();
        }
        let Counted { pages, visits, .. } = self.count()?;
        (stats.pages, stats.visits) = (pages, visits);
        // There may be fewer visits than when it began, since some were forgotten.
        let since = |info: &EpochInfo| stats.visits.saturating_sub(info.begun);
        let in_use = || Role::USES.into_iter().filter_map(|is_for| in_use(self.epochs(), is_for));
        stats.epoch_visits = in_use().map(since).min().or_bug("every store has an epoch in use")?;
        let is_due = |info: &EpochInfo| has_table(info) && since(info) >= epoch_visits;
        stats.epoch_due = in_use().any(is_due);
        Ok(stats)
    }
}
