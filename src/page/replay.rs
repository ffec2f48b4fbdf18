//! The history of a page as the truth of a simulated crawl.

use std::sync::Arc;

use smallvec::SmallVec;

use super::compare::is_minor;
use super::epoch::detects_changes;
use super::fold::{Fold, restatements_of};
use super::head::{bits_between, fingerprints, have_digest};
use super::{Changes, Content, Distance, Entry, EpochInfo, Restated, Seen, Visit};
use crate::recrawl::simulate::{Notes, SimulatedPage, VersionDifference};
use crate::recrawl::{Likelihood, Pseudocounts, RecentComparisons, RecrawlError, irregular};
use crate::time::Time;

const MS_PER_DAY: f64 = 86_400_000.0;

/// A page of a store whose history is the truth of a simulated crawl.
///
/// Each version is current from the visit that found it until the visit that found the next one.
/// Changes between visits are unknown.
///
/// Versions whose fingerprints belong to different epochs cannot be compared, and count as equal:
/// the epochs differ, not the pages. If epochs change between two versions, their difference is the
/// sum of the differences before and after the change of epochs.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::Changes;
/// use simkeep::recrawl::simulate::SimulatedPage;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (day, fingerprint) in [(0, 0x00), (1, 0x00), (4, 0xffff)] {
///     let time = Time::from_ms(day * 86_400_000)?;
///     store.observe(Observation::content(url, time, fingerprint, epoch))?;
/// }
/// let replay = store.snapshot().replay(None, 1_000, Changes::RETURN_SHARE)?;
/// assert_eq!(replay.pages[0].starts(), [0.0, 4.0]); // two versions, from these days on
/// assert_eq!(replay.pages[0].difference(0, 1).divergence, 16.0 / 64.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ReplayedPage {
    host: u32,
    /// The weight of a return relative to a change.
    return_share: f64,
    /// The time at the beginning of day 0.
    first: Time,
    starts: Vec<f64>,
    versions: Vec<ReplayedVersion>,
    /// The first and the last version of each run of comparable versions.
    runs: Vec<(usize, usize)>,
    epochs: Arc<[EpochInfo]>,
}

/// A content of the page, or the state that the page is gone.
#[derive(Clone, Debug)]
struct ReplayedVersion {
    seen: Seen,
    also: SmallVec<[Content; 1]>,
    /// The number of the version's run.
    run: usize,
    /// The number of changes up to the version that are more than minor.
    changes: u64,
}

/// A simulated crawler's data about a page: the fold that a store would compute from its visits.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::Changes;
/// use simkeep::recrawl::simulate::{Notes, SimulatedPage};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # let (url, epoch) = ("https://example.com/", store.change_epoch());
/// # for (day, fingerprint) in [(0, 0x00), (4, 0xffff)] {
/// #     let time = Time::from_ms(day * 86_400_000)?;
/// #     store.observe(Observation::content(url, time, fingerprint, epoch))?;
/// # }
/// let replay = store.snapshot().replay(None, 1_000, Changes::RETURN_SHARE)?;
/// let page = &replay.pages[0];
/// // A crawler discovers the page on day 1, and visits it again on day 5.
/// let mut notes = page.found(1.0, 0);
/// page.visited(&mut notes, 5.0, 1)?;
/// assert_eq!(notes.comparisons(), 1);
/// assert!(notes.recent().changes().eq([true]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ReplayedState {
    fold: Fold,
    return_share: f64,
    first: Time,
    last: Time,
    comparisons: u64,
}

impl ReplayedPage {
    /// Creates a page from its entries in order; `None` if the page never had content. Day 0 begins
    /// at `first`.
    pub(crate) fn new(
        (host, return_share): (u32, f64),
        first: Time,
        entries: &[Entry],
        epochs: &Arc<[EpochInfo]>,
    ) -> Option<ReplayedPage> {
        let (starts, versions, runs) = (Vec::new(), Vec::new(), Vec::new());
        let epochs = Arc::clone(epochs);
        let mut page = ReplayedPage { host, return_share, first, starts, versions, runs, epochs };
        let mut content: Option<ReplayedVersion> = None;
        let mut rest = entries;
        while let [entry, following @ ..] = rest {
            rest = following;
            let Entry::Visit(visit) = entry else { continue };
            match visit.seen {
                Seen::Failed => {}
                Seen::Gone => {
                    page.push(visit.time, ReplayedVersion::new(visit.seen, SmallVec::new()))
                }
                Seen::NotModified { .. } => {
                    content.iter().for_each(|version| page.push(visit.time, version.clone()));
                }
                Seen::Content(_) => {
                    let also = restatements_of(entry, following).collect();
                    let version = content.insert(ReplayedVersion::new(visit.seen, also)).clone();
                    page.push(visit.time, version);
                }
            }
        }
        content.is_some().then_some(page)
    }

    /// Adds the content that a visit saw, unless the previous visit saw the same content.
    fn push(&mut self, time: Time, mut version: ReplayedVersion) {
        let number = self.versions.len();
        if let Some(before) = self.versions.last() {
            let difference = self.compare(before, &version);
            if difference.is_some_and(|difference| difference.same) {
                return;
            }
            let is_change = difference.is_some_and(|difference| !difference.near);
            version.changes = before.changes + u64::from(is_change);
            version.run = before.run + usize::from(difference.is_none());
        }
        match self.runs.last_mut() {
            Some(run)
                if version.run < number
                    && self.versions.last().is_some_and(|v| v.run == version.run) =>
            {
                run.1 = number;
            }
            _ => self.runs.push((number, number)),
        }
        self.starts.push(time.as_ms().saturating_sub(self.first.as_ms()) as f64 / MS_PER_DAY);
        self.versions.push(version);
    }

    /// The difference of two versions; `None` if the versions cannot be compared.
    fn compare(&self, a: &ReplayedVersion, b: &ReplayedVersion) -> Option<VersionDifference> {
        const SAME: VersionDifference =
            VersionDifference { same: true, near: true, divergence: 0.0 };
        const OTHER: VersionDifference =
            VersionDifference { same: false, near: false, divergence: 0.5 };
        let (x, y) = match (&a.seen, &b.seen) {
            (Seen::Content(x), Seen::Content(y)) => (x, y),
            (Seen::Gone, Seen::Gone) => return Some(SAME),
            _ => return Some(OTHER),
        };
        if have_digest(x, y) {
            return Some(SAME);
        }
        if x.is_redirect() || y.is_redirect() {
            return Some(OTHER);
        }
        let is_other = x.digest.is_some() && y.digest.is_some();
        let tells = |content: &&Content| detects_changes(&self.epochs, content.epoch);
        let of_a = || fingerprints(x, &a.also).filter(tells);
        let pairs = fingerprints(y, &b.also).filter(tells).filter_map(|of_b| {
            let bits = of_a().find_map(|of_a| bits_between(of_a, of_b))?;
            Some((of_b.epoch, bits))
        });
        match pairs.max_by_key(|(epoch, _)| epoch.count()) {
            Some((epoch, bits)) => Some(VersionDifference {
                same: bits == 0 && !is_other,
                near: is_minor(&self.epochs, Distance { bits, epoch }),
                divergence: f64::from(bits) / 64.0,
            }),
            // Both contents have no fingerprint by a rule of the epoch.
            None if x.epoch == y.epoch && x.fingerprint.is_none() && y.fingerprint.is_none() => {
                Some(if is_other { OTHER } else { SAME })
            }
            None => None,
        }
    }

    fn between(&self, a: usize, b: usize) -> VersionDifference {
        const UNKNOWN: VersionDifference =
            VersionDifference { same: false, near: false, divergence: 0.5 };
        match (self.versions.get(a), self.versions.get(b)) {
            (Some(x), Some(y)) => self.compare(x, y).unwrap_or(UNKNOWN),
            _ => UNKNOWN,
        }
    }

    fn time(&self, day: f64) -> Time {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let since = (day * MS_PER_DAY) as i64;
        Time::from_ms_unchecked(self.first.as_ms().saturating_add(since))
    }
}

impl ReplayedVersion {
    fn new(seen: Seen, also: SmallVec<[Content; 1]>) -> ReplayedVersion {
        ReplayedVersion { seen, also, run: 0, changes: 0 }
    }
}

impl SimulatedPage for ReplayedPage {
    type VisitNotes = ReplayedState;

    fn host(&self) -> u32 {
        self.host
    }

    fn per_day(&self) -> Option<f64> {
        None
    }

    fn starts(&self) -> &[f64] {
        &self.starts
    }

    fn difference(&self, held: usize, now: usize) -> VersionDifference {
        let run_of = |version: usize| self.versions.get(version).map_or(0, |version| version.run);
        let (first, last) = (run_of(held), run_of(now));
        let mut sum = VersionDifference { same: true, near: true, divergence: 0.0 };
        for run in first..=last {
            let Some((begins, ends)) = self.runs.get(run).copied() else { continue };
            let from = if run == first { held } else { begins };
            let to = if run == last { now } else { ends };
            let part = self.between(from, to);
            sum.same &= part.same;
            sum.near &= part.near;
            sum.divergence = (sum.divergence + part.divergence).min(1.0);
        }
        sum
    }

    fn changes(&self, version: usize) -> u64 {
        self.versions.get(version).map_or(0, |version| version.changes)
    }

    fn found(&self, day: f64, version: usize) -> ReplayedState {
        let (first, return_share) = (self.time(day), self.return_share);
        let fold = Fold::default();
        let mut notes = ReplayedState { fold, return_share, first, last: first, comparisons: 0 };
        notes.visit(self, first, version);
        notes
    }

    fn visited(
        &self,
        notes: &mut ReplayedState,
        day: f64,
        version: usize,
    ) -> Result<(), RecrawlError> {
        notes.visit(self, self.time(day), version);
        Ok(())
    }
}

impl ReplayedState {
    /// Adds a visit in the same way as a store.
    fn visit(&mut self, page: &ReplayedPage, time: Time, version: usize) {
        let Some(ReplayedVersion { seen, also, .. }) = page.versions.get(version) else { return };
        let visit = Visit::new(time, *seen);
        let before = self.fold.changes;
        self.fold.take(&Entry::Visit(visit), || also.clone(), &page.epochs);
        for Content { fingerprint, digest, epoch } in also.iter().copied() {
            let restated = Restated { time, fingerprint, digest, epoch };
            self.fold.take(&Entry::Restated(restated), SmallVec::new, &page.epochs);
        }
        self.comparisons += u64::from(self.fold.changes != before);
        self.last = time;
    }

    fn changes(&self) -> &Changes {
        &self.fold.changes
    }
}

impl Notes for ReplayedState {
    fn comparisons(&self) -> u64 {
        self.comparisons
    }

    fn likelihood(&self) -> Likelihood {
        let mut likelihood = Likelihood::flat();
        for (comparison, times) in self.changes().counted(self.return_share) {
            likelihood.multiply(comparison, times);
        }
        likelihood
    }

    fn recent(&self) -> RecentComparisons {
        self.changes().recent(self.first, self.last)
    }

    fn estimate(&self) -> Result<f64, RecrawlError> {
        let mut all = Vec::new();
        for (comparison, times) in self.changes().counted(self.return_share) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "up to 127"
            )]
            let times = times.round() as usize;
            all.extend(std::iter::repeat_n(comparison, times));
        }
        irregular(&all, Pseudocounts::Both)
    }
}
