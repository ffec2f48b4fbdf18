//! The iterator over due pages, the most valuable first. Pages that are led by other pages wait for
//! their turn.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use super::decide::{DueContext, LoadedPage, differs};
use super::decision::Decision;
use super::due::Due;
use super::leader::RepresentativeCache;
use super::pages_by_score::{ComponentCandidate, PagesByScore, PassLimits, ScoredPage};
use super::rules::RuleNumber;
use super::score::ScoreCache;
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::surt;

impl Snapshot {
    /// Returns the most valuable pages to visit, the best page first; pages with equal scores are
    /// in SURT order. Two calls for the same time return the same pages.
    ///
    /// Reads 28 bytes for each page, sequentially and on all cores, and the records of the pages it
    /// returns. Policies that use the order of comparisons (`thesis`, `nutch`, `stormcrawler`) read
    /// every page, which takes 1 to 2 µs per page if the store fits into memory, otherwise one
    /// random read per page. Takes the memory of [`Due::memory_bytes`], and about 64 bytes for each
    /// page that is not in a segment yet.
    ///
    /// The change rate of a page is estimated from its own visits and from a prior for its host.
    /// The priors are [learned](crate::due::LearnedPriors::of) on first use.
    ///
    /// If the policy uses the value of a visit, a page that another page
    /// [leads](field@crate::due::Decision::near) has a quarter of its weight. The leader of a page
    /// is searched when the iterator reaches the page. A search takes one or two microseconds if
    /// the store is in memory and in one segment, and about ten microseconds more if near pages
    /// exist. All led pages whose full value is up to four times the value of the last returned
    /// page are examined. In a store that consists mostly of copies, most pages are examined, at
    /// some microseconds each.
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
    /// An item is [`Error::Corrupt`](crate::Error::Corrupt) if the query reads damaged data. The
    /// iterator ends after this item.
    pub fn due(&self, due: &Due) -> DuePages {
        DuePages::new(self, due)
    }
}

/// The divisor of the memory for the share of led pages that wait. `OF_LEFT_OUT` is the divisor for
/// reading again the led pages that did not fit.
const OF_WAITING: usize = 8;
const OF_LEFT_OUT: usize = 8;

/// The maximum number of pages for which beliefs are cached.
const BELIEVED: u64 = 1 << 8;

/// An iterator over due pages, from [`Snapshot::due`](crate::Snapshot::due). The iterator ends
/// after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::Due;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let start = Time::from_ms(1_700_000_000_000)?;
/// let (month, epoch) = (Duration::from_secs(30 * 86_400), store.change_epoch());
/// for (url, fingerprint) in [("https://example.com/", 0x00), ("https://example.org/", !0)] {
///     store.observe(Observation::content(url, start, fingerprint, epoch))?;
/// }
/// let mut values = Vec::new();
/// for decision in store.snapshot().due(&Due::new(start + month, 10)) {
///     values.push(decision?.value);
/// }
/// assert!(values.len() == 2 && values[0] >= values[1]); // the best page first
/// # Ok(())
/// # }
/// ```
pub struct DuePages {
    snapshot: Snapshot,
    state: DueIterState,
}

enum DueIterState {
    /// The query before the first read.
    New(Due),
    Reading(Box<DueMerge>),
    Ended,
}

/// The state after the first read.
struct DueMerge {
    asked: DueContext,
    /// All pages in the order of their own scores. `next` is the next page of this order.
    pages: PagesByScore,
    next: Option<ScoredPage>,
    /// Led pages in the order of their reduced scores, which are not reached yet.
    waiting: LedQueue,
    crowds: RepresentativeCache,
    scores: ScoreCache,
    /// The number of pages still to be returned.
    left: usize,
    /// The number of pages examined.
    looked_at: usize,
    /// Whether some policy needs leaders.
    minds_leaders: bool,
    /// Whether some hosts have a limit.
    bounded: bool,
    hosts: HostCounts,
}

impl fmt::Debug for DuePages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuePages").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

impl DuePages {
    pub(crate) fn new(snapshot: &Snapshot, due: &Due) -> DuePages {
        DuePages { snapshot: snapshot.clone(), state: DueIterState::New(due.clone()) }
    }

    fn find(&mut self) -> Result<Option<Decision>> {
        self.snapshot.view.check()?;
        // The first read is lazy, so that `Snapshot::due` cannot fail: errors are items.
        if let DueIterState::New(due) = &self.state {
            let reading = DueMerge::new(&self.snapshot, due.clone())?;
            self.state = DueIterState::Reading(Box::new(reading));
        }
        match &mut self.state {
            DueIterState::Reading(reading) => reading.next(),
            DueIterState::New(_) | DueIterState::Ended => Ok(None),
        }
    }
}

impl Iterator for DuePages {
    type Item = Result<Decision>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find();
        // Frees the memory at the end, and also ends the iterator after an error.
        if !matches!(found, Ok(Some(_))) {
            self.state = DueIterState::Ended;
        }
        self.snapshot.poison_on_bug(|| found).transpose()
    }
}

impl DueMerge {
    fn new(snapshot: &Snapshot, due: Due) -> Result<DueMerge> {
        let bounded = due.per_host != usize::MAX
            || due.rules.all().iter().any(|rule| rule.per_host.is_some());
        let (left, minds_leaders) = (due.budget, due.uses_leaders());
        let asked = DueContext::new(snapshot, due)?;
        let pages = PagesByScore::new(&asked)?;
        let waiting = LedQueue::new(asked.due.memory_bytes / OF_WAITING, !bounded);
        let (next, crowds, looked_at) = (None, RepresentativeCache::default(), 0);
        let (scores, hosts) = (ScoreCache::of(BELIEVED), HostCounts::default());
        Ok(DueMerge {
            asked,
            pages,
            next,
            waiting,
            crowds,
            scores,
            left,
            looked_at,
            minds_leaders,
            bounded,
            hosts,
        })
    }

    fn next(&mut self) -> Result<Option<Decision>> {
        while self.left > 0 {
            // The queue is filled first: if it is empty and its end was left out, the merge below
            // would miss pages.
            self.fill_waiting()?;
            if self.next.is_none() {
                let most = self.most();
                self.next = self.pages.next(&self.asked, most)?;
            }
            // Merges two ordered sequences: pages by their own scores, and led pages by a quarter
            // of their scores. Multiplication by a quarter is exact in binary, so led pages stay in
            // order and a queue is enough.
            let led = self.waiting.first();
            let comes = |next: &mut ScoredPage| led.is_none_or(|led| next.is_before(led));
            let decision = if let Some(next) = self.next.take_if(comes) {
                self.look_at(&next)?
            } else if let Some(led) = self.waiting.pop() {
                self.decide_led(led)?
            } else {
                return Ok(None);
            };
            if let Some(decision) = decision {
                let url = &decision.page.url;
                self.hosts.count(url, self.asked.due.rules.number_of(url), &self.asked.due);
                self.left -= 1;
                return Ok(Some(decision));
            }
        }
        Ok(None)
    }

    /// Returns the limits for one pass over the rows: the number of pages to select, and the
    /// memory.
    fn most(&self) -> PassLimits {
        let bytes = self.asked.due.memory_bytes;
        // An eighth of the memory is for the pages that wait, and an eighth for reading again the
        // pages that did not fit.
        let others = if self.minds_leaders { bytes / OF_WAITING + bytes / OF_LEFT_OUT } else { 0 };
        // With a limit for hosts, any number of pages may be skipped. If many pages are led, more
        // pages are examined than returned. Each pass then selects as many pages as were examined
        // so far, so that rows are read only a few times.
        let pages = if self.bounded { usize::MAX } else { self.left.max(self.looked_at) };
        PassLimits { pages, bytes: bytes - others }
    }

    /// Returns the decision about the next page; `None` if the page must wait or its host is full.
    fn look_at(&mut self, next: &ScoredPage) -> Result<Option<Decision>> {
        let DueMerge { asked, pages, waiting, crowds, scores, .. } = self;
        self.looked_at += 1;
        let (mut led, mut decision) = (None, None);
        // The check comes before the page is read, so a page of a full host costs neither a record
        // nor a search.
        if !self.hosts.is_full(&next.url, asked.due.rules.number_of(&next.url), &asked.due) {
            let looked = asked.load_scored(next)?;
            let leader = asked.leader(&looked, crowds)?;
            led = asked.led(&looked, next, leader.as_ref(), scores)?;
            if led.is_none() {
                decision = Some(asked.decide(looked, leader, scores)?);
            }
        }
        // Also called for pages that do not wait, because `looked_at` must follow every page that
        // was read.
        waiting.note(pages, led, self.left)?;
        Ok(decision)
    }

    /// Returns the decision about a led page; `None` if its host is full.
    fn decide_led(&mut self, LedPage { coming, leader }: LedPage) -> Result<Option<Decision>> {
        let DueMerge { asked, hosts, scores, .. } = self;
        let url = &coming.url;
        // The host is checked again, because other pages of the host may have been returned while
        // this page waited.
        if hosts.is_full(url, asked.due.rules.number_of(url), &asked.due) {
            return Ok(None);
        }
        asked.decide(asked.load_scored(&coming)?, Some(leader), scores).map(Some)
    }

    /// Refills the queue of led pages with pages that did not fit into memory.
    fn fill_waiting(&mut self) -> Result<()> {
        let DueMerge { asked, waiting, crowds, scores, hosts, left, .. } = self;
        let bytes = asked.due.memory_bytes / OF_LEFT_OUT;
        let most = PassLimits { pages: usize::MAX, bytes };
        // This second reader starts at the place where the queue was cut off, and never goes back.
        // So each page is examined at most twice. A new start after each overflow would take
        // quadratic time.
        while let Some(pages) = waiting.left_out(*left) {
            let next = pages.next(asked, most)?.or_bug("rows that were read can be read again")?;
            if hosts.is_full(&next.url, asked.due.rules.number_of(&next.url), &asked.due) {
                continue;
            }
            let looked = asked.load_scored(&next)?;
            let leader = asked.leader(&looked, crowds)?;
            if let Some(led) = asked.led(&looked, &next, leader.as_ref(), scores)? {
                waiting.push(led)?;
            }
        }
        Ok(())
    }
}

impl DueContext {
    /// Returns the led page to queue, if another page leads the page and its score is lower for
    /// this reason.
    fn led(
        &self,
        looked: &LoadedPage<'_>,
        ScoredPage { score, url, location }: &ScoredPage,
        leader: Option<&String>,
        scores: &mut ScoreCache,
    ) -> Result<Option<LedPage>> {
        let Some(leader) = leader else { return Ok(None) };
        let led = self.score_of_led(looked, scores)?;
        let (url, leader) = (url.clone(), leader.clone());
        let coming = ScoredPage { score: led, url, location: *location };
        // Scores of 0 and scores of overdue pages do not depend on the weight. A page with such a
        // score does not wait.
        Ok((led < *score).then_some(LedPage { coming, leader }))
    }
}

/// The group for which returned pages are counted: a host, or a host and a rule with its own limit.
type HostGroup = (Vec<u8>, Option<RuleNumber>);

/// The number of pages returned for each host. Takes memory for each host with returned pages.
#[derive(Debug, Default)]
pub(super) struct HostCounts {
    returned: HashMap<HostGroup, usize>,
}

impl HostCounts {
    /// Whether the group of the page has reached its limit, so that the page is skipped.
    pub(super) fn is_full(&self, url: &str, rule: RuleNumber, due: &Due) -> bool {
        let counted = group_and_limit(url, rule, due);
        counted.is_some_and(|(of, most)| self.returned.get(&of).copied().unwrap_or(0) >= most)
    }

    /// Counts a returned page.
    pub(super) fn count(&mut self, url: &str, rule: RuleNumber, due: &Due) {
        if let Some((of, _)) = group_and_limit(url, rule, due) {
            *self.returned.entry(of).or_default() += 1;
        }
    }
}

/// Returns the group and the limit of a page; `None` without a limit.
fn group_and_limit(url: &str, rule: RuleNumber, due: &Due) -> Option<(HostGroup, usize)> {
    // Pages of a rule with its own limit are counted separately, so the rule is part of the key.
    let own = due.rules.get(rule).per_host;
    let most = own.unwrap_or(due.per_host);
    if most == usize::MAX {
        return None;
    }
    let mut host = Vec::new();
    surt::host(url, &mut host);
    Some(((host, own.map(|_| rule)), most))
}

/// The approximate size of a queued page without URLs.
const PAGE_BYTES: usize = 80;

/// A page that another page leads, with its reduced score.
#[derive(Debug)]
pub(super) struct LedPage {
    pub(super) coming: ScoredPage,
    pub(super) leader: String,
}

/// The queue of led pages.
pub(super) struct LedQueue {
    line: VecDeque<LedPage>,
    bytes: usize,
    /// The maximum number of bytes of the queue.
    most_bytes: usize,
    /// Whether at most the best `wanted` pages can be returned, so that worse pages are dropped.
    only_best: bool,
    /// Reads again the pages cut off at the end of the queue. `filling` is true while the queue is
    /// being refilled.
    left_out: Option<PagesByScore>,
    filling: bool,
    /// The last page whose leader was searched.
    looked_at: Option<ComponentCandidate>,
}

impl LedQueue {
    pub(super) fn new(most_bytes: usize, only_best: bool) -> LedQueue {
        LedQueue {
            line: VecDeque::new(),
            bytes: 0,
            most_bytes,
            only_best,
            left_out: None,
            filling: false,
            looked_at: None,
        }
    }

    /// The first led page in the queue; `None` if the queue is empty.
    pub(super) fn first(&self) -> Option<&ScoredPage> {
        self.line.front().map(|led| &led.coming)
    }

    pub(super) fn pop(&mut self) -> Option<LedPage> {
        let first = self.line.pop_front()?;
        self.bytes -= first.bytes();
        Some(first)
    }

    /// Whether another page fits into the queue, if `wanted` pages are still to be returned.
    fn has_room(&self, wanted: usize) -> bool {
        // One page always fits, because otherwise a long URL would block the queue for ever.
        self.line.is_empty()
            || self.bytes < self.most_bytes && (!self.only_best || self.line.len() < wanted)
    }

    /// # Errors
    ///
    /// If the score of the page is above the score of the page before it: then the schedule's rows
    /// do not match the page records.
    pub(super) fn push(&mut self, led: LedPage) -> Result<()> {
        // Led pages must come in order, because otherwise the merge in `next` would return pages in
        // the wrong order.
        if self.line.back().is_some_and(|last| last.coming.score < led.coming.score) {
            return Err(differs(&led.coming.url));
        }
        self.bytes += led.bytes();
        self.line.push_back(led);
        Ok(())
    }

    /// Records that the last page read was examined. Queues the page if it is led.
    pub(super) fn note(
        &mut self,
        pages: &PagesByScore,
        led: Option<LedPage>,
        wanted: usize,
    ) -> Result<()> {
        // `before` is the page before the current page, so a reader that starts after it begins
        // with the current page.
        let before = std::mem::replace(&mut self.looked_at, pages.last_returned());
        // While the end of the queue is left out, the second reader finds the current page later.
        let Some(led) = led.filter(|_| self.left_out.is_none()) else { return Ok(()) };
        if self.has_room(wanted) {
            self.push(led)?;
        } else if !self.only_best || self.line.len() < wanted {
            // If `wanted` better pages are already waiting, the current page is never returned and
            // needs no second reader.
            self.left_out = Some(pages.again_after(before));
        }
        Ok(())
    }

    /// Returns the iterator to refill from if the queue is empty or being refilled.
    pub(super) fn left_out(&mut self, wanted: usize) -> Option<&mut PagesByScore> {
        let looked_at = self.looked_at;
        // The second reader has caught up with the first: the queue is complete, and `note` extends
        // it.
        self.left_out.take_if(|pages| pages.last_returned() == looked_at);
        // Continues until the queue is full, so that a refill is one run and not one page.
        let goes_on = self.filling || self.line.is_empty();
        self.filling = self.left_out.is_some() && goes_on && self.has_room(wanted);
        self.left_out.as_mut().filter(|_| self.filling)
    }
}

impl LedPage {
    fn bytes(&self) -> usize {
        self.coming.url.len() + self.leader.len() + PAGE_BYTES
    }
}
