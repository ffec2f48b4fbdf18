//! The iterator over due pages, the best first. Pages that others lead wait until it is their turn.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use super::decide::{Asked, Looked, differs};
use super::decision::Decision;
use super::due::Due;
use super::in_order::{Coming, InOrder, Most, RowPlace};
use super::leader::Crowds;
use super::rules::RuleNumber;
use super::score::ScoreCache;
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::surt;

impl Snapshot {
    /// The pages that are due: those of which a visit is worth most, the best first, then in SURT order.
    ///
    /// Reads 28 bytes for each page, in order and on all cores, and of the pages those that it returns.
    /// Under policies that go by the order of comparisons (`thesis`, `nutch`, `stormcrawler`) it reads
    /// each page: 1 to 2 µs each if the store fits into memory, or else a random read.
    /// Takes the memory that [`Due::memory_bytes`] allows, and some 64
    /// bytes for each page that is not sealed. Two calls that ask for the same time return the same.
    ///
    /// What a page is believed to change like goes by its own visits, and before that by those of its
    /// host and of all pages. That is [learned](crate::due::Learned::of) when it is first needed.
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
    /// An item is [`Error::Corrupt`](crate::Error::Corrupt) if what it touches is damaged; then the
    /// iterator ends.
    pub fn due(&self, due: &Due) -> DuePages {
        DuePages::new(self, due)
    }
}

/// What part of the memory is for pages that others lead, if any may; and what part for reading again
/// those of them that did not fit.
const OF_WAITING: usize = 8;
const OF_LEFT_OUT: usize = 8;

/// Pages of which it is kept what was worked out.
const BELIEVED: u64 = 1 << 8;

/// An iterator over pages that are due, from [`Snapshot::due`](crate::Snapshot::due). It ends after an
/// error.
pub struct DuePages {
    snapshot: Snapshot,
    state: State,
}

enum State {
    /// Nothing was read yet.
    New(Due),
    Reading(Box<Reading>),
    Ended,
}

/// The pages that are still to be returned.
struct Reading {
    asked: Asked,
    /// All pages, and the next of them.
    pages: InOrder,
    next: Option<Coming>,
    /// Those that were read and come later than it seemed.
    waiting: Waiting,
    crowds: Crowds,
    scores: ScoreCache,
    /// How many may still be returned.
    left: usize,
    /// How many were looked at.
    looked_at: usize,
    /// Whether some policy minds who leads a page.
    minds_leaders: bool,
    /// Whether some hosts have a bound.
    bounded: bool,
    hosts: Hosts,
}

impl fmt::Debug for DuePages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuePages").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

impl DuePages {
    pub(crate) fn new(snapshot: &Snapshot, due: &Due) -> DuePages {
        DuePages { snapshot: snapshot.clone(), state: State::New(due.clone()) }
    }

    fn find(&mut self) -> Result<Option<Decision>> {
        self.snapshot.view.check()?;
        // Lazy, so that `Snapshot::due` cannot fail: errors come as items.
        if let State::New(due) = &self.state {
            let reading = Reading::new(&self.snapshot, due.clone())?;
            self.state = State::Reading(Box::new(reading));
        }
        match &mut self.state {
            State::Reading(reading) => reading.next(),
            State::New(_) | State::Ended => Ok(None),
        }
    }
}

impl Iterator for DuePages {
    type Item = Result<Decision>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.find();
        // Frees the memory at the end, and ends the iterator after an error.
        if !matches!(found, Ok(Some(_))) {
            self.state = State::Ended;
        }
        self.snapshot.poison_on_bug(|| found).transpose()
    }
}

impl Reading {
    fn new(snapshot: &Snapshot, due: Due) -> Result<Reading> {
        let bounded = due.per_host != usize::MAX
            || due.rules.all().iter().any(|rule| rule.per_host.is_some());
        let (left, minds_leaders) = (due.budget, due.minds_leaders());
        let asked = Asked::new(snapshot, due)?;
        let pages = InOrder::new(&asked)?;
        let waiting = Waiting::new(asked.due.memory_bytes / OF_WAITING, !bounded);
        let (next, crowds, looked_at) = (None, Crowds::default(), 0);
        let (scores, hosts) = (ScoreCache::of(BELIEVED), Hosts::default());
        Ok(Reading {
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
            // First: if the queue is empty and its end was left out, the merge below would miss pages.
            self.fill_waiting()?;
            if self.next.is_none() {
                let most = self.most();
                self.next = self.pages.next(&self.asked, most)?;
            }
            // Merges two ordered sequences: pages by their own score, and led pages by a quarter of it.
            // A quarter is exact in binary, so led pages stay in order and a queue is enough.
            let led = self.waiting.first();
            let comes = |next: &mut Coming| led.is_none_or(|led| next.is_before(led));
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

    /// How many of all pages are found at once.
    fn most(&self) -> Most {
        let bytes = self.asked.due.memory_bytes;
        // An eighth for the pages that wait, and an eighth to read again those that did not fit.
        let others = if self.minds_leaders { bytes / OF_WAITING + bytes / OF_LEFT_OUT } else { 0 };
        // With a bound for hosts, any number of pages may be skipped. Where many pages
        // are led, more pages are examined than returned: each pass then finds as many
        // again, so that rows are read a few times only.
        let pages = if self.bounded { usize::MAX } else { self.left.max(self.looked_at) };
        Most { pages, bytes: bytes - others }
    }

    /// What is decided about the next of all pages, unless it has to wait or its host is full.
    fn look_at(&mut self, next: &Coming) -> Result<Option<Decision>> {
        let Reading { asked, pages, waiting, crowds, scores, .. } = self;
        self.looked_at += 1;
        let (mut led, mut decision) = (None, None);
        // Before the page is read: a page of a full host costs neither a record nor a search.
        if !self.hosts.is_full(&next.url, asked.due.rules.number_of(&next.url), &asked.due) {
            let looked = asked.look_at(next)?;
            let leader = asked.leader(&looked, crowds)?;
            led = asked.led(&looked, next, leader.as_ref(), scores)?;
            if led.is_none() {
                decision = Some(asked.decide(looked, leader, scores)?);
            }
        }
        // Also for pages that do not wait: `looked_at` must follow every page that was read.
        waiting.note(pages, led, self.left)?;
        Ok(decision)
    }

    /// What is decided about a page that another leads, unless its host is full.
    fn decide_led(&mut self, Led { coming, leader }: Led) -> Result<Option<Decision>> {
        let Reading { asked, hosts, scores, .. } = self;
        let url = &coming.url;
        // Checked again: other pages of the host may have been returned while this one waited.
        if hosts.is_full(url, asked.due.rules.number_of(url), &asked.due) {
            return Ok(None);
        }
        asked.decide(asked.look_at(&coming)?, Some(leader), scores).map(Some)
    }

    /// Fills the line of those that wait, where memory did not hold it.
    fn fill_waiting(&mut self) -> Result<()> {
        let Reading { asked, waiting, crowds, scores, hosts, left, .. } = self;
        let bytes = asked.due.memory_bytes / OF_LEFT_OUT;
        let most = Most { pages: usize::MAX, bytes };
        // This second reader starts where the queue was cut and never goes back. So each page is
        // examined at most twice, where starting anew after each overflow would cost the square.
        while let Some(pages) = waiting.left_out(*left) {
            let next = pages.next(asked, most)?.or_bug("what was read is there to read again")?;
            if hosts.is_full(&next.url, asked.due.rules.number_of(&next.url), &asked.due) {
                continue;
            }
            let looked = asked.look_at(&next)?;
            let leader = asked.leader(&looked, crowds)?;
            if let Some(led) = asked.led(&looked, &next, leader.as_ref(), scores)? {
                waiting.push(led)?;
            }
        }
        Ok(())
    }
}

impl Asked {
    /// A page as it has to wait, if another leads it and it is worth less for that.
    fn led(
        &self,
        looked: &Looked<'_>,
        Coming { score, url, location }: &Coming,
        leader: Option<&String>,
        scores: &mut ScoreCache,
    ) -> Result<Option<Led>> {
        let Some(leader) = leader else { return Ok(None) };
        let led = self.score_of_led(looked, scores)?;
        let (url, leader) = (url.clone(), leader.clone());
        let coming = Coming { score: led, url, location: *location };
        // Scores of 0 and of overdue pages do not depend on the weight. Such a page comes at once.
        Ok((led < *score).then_some(Led { coming, leader }))
    }
}

/// Whose pages are counted together: those of a host, and of a rule with a number of its own by
/// themselves.
type Of = (Vec<u8>, Option<RuleNumber>);

/// How many pages of each host were returned. Takes memory for each of these hosts.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    returned: HashMap<Of, usize>,
}

impl Hosts {
    /// Whether there are as many pages of its host as there may be, so that a page is passed over.
    pub(super) fn is_full(&self, url: &str, rule: RuleNumber, due: &Due) -> bool {
        let counted = counted(url, rule, due);
        counted.is_some_and(|(of, most)| self.returned.get(&of).copied().unwrap_or(0) >= most)
    }

    /// Counts a page that is returned.
    pub(super) fn count(&mut self, url: &str, rule: RuleNumber, due: &Due) {
        if let Some((of, _)) = counted(url, rule, due) {
            *self.returned.entry(of).or_default() += 1;
        }
    }
}

/// With which others a page is counted, and how many there may be; none if any number.
fn counted(url: &str, rule: RuleNumber, due: &Due) -> Option<(Of, usize)> {
    // Pages of a rule with its own bound are counted apart, so the rule is part of the key.
    let own = due.rules.get(rule).per_host;
    let most = own.unwrap_or(due.per_host);
    if most == usize::MAX {
        return None;
    }
    let mut host = Vec::new();
    surt::host(url, &mut host);
    Some(((host, own.map(|_| rule)), most))
}

/// What a page takes beside URLs, about.
const PAGE_BYTES: usize = 80;

/// A page that another leads, with the score that it has for that.
#[derive(Debug)]
pub(super) struct Led {
    pub(super) coming: Coming,
    pub(super) leader: String,
}

/// Pages that others lead.
pub(super) struct Waiting {
    line: VecDeque<Led>,
    bytes: usize,
    /// How many bytes the line may take.
    most_bytes: usize,
    /// Whether pages that are worse than as many as are wanted are never asked for.
    only_best: bool,
    /// Reads again where the end of the line was left out; and whether the line is being filled by that.
    left_out: Option<InOrder>,
    filling: bool,
    /// The last page of which it is known whether it is led.
    looked_at: Option<RowPlace>,
}

impl Waiting {
    pub(super) fn new(most_bytes: usize, only_best: bool) -> Waiting {
        Waiting {
            line: VecDeque::new(),
            bytes: 0,
            most_bytes,
            only_best,
            left_out: None,
            filling: false,
            looked_at: None,
        }
    }

    /// The first page of those that wait, if the line was filled.
    pub(super) fn first(&self) -> Option<&Coming> {
        self.line.front().map(|led| &led.coming)
    }

    pub(super) fn pop(&mut self) -> Option<Led> {
        let first = self.line.pop_front()?;
        self.bytes -= first.bytes();
        Some(first)
    }

    /// Whether there is room for another page, if so many are wanted still.
    fn has_room(&self, wanted: usize) -> bool {
        // One page always fits. Otherwise a long URL would block the queue for ever.
        self.line.is_empty()
            || self.bytes < self.most_bytes && (!self.only_best || self.line.len() < wanted)
    }

    /// # Errors
    ///
    /// If it is worth more than one before it, so that the rows of the two do not say what their records
    /// do.
    pub(super) fn push(&mut self, led: Led) -> Result<()> {
        // Led pages must come in order, or the merge in `next` would return pages in the wrong order.
        if self.line.back().is_some_and(|last| last.coming.score < led.coming.score) {
            return Err(differs(&led.coming.url));
        }
        self.bytes += led.bytes();
        self.line.push_back(led);
        Ok(())
    }

    /// Notes that a page was looked at, the last that was read of all, and that it is led, if it is.
    pub(super) fn note(&mut self, pages: &InOrder, led: Option<Led>, wanted: usize) -> Result<()> {
        // `before` is the page before this one, so a reader that starts after it begins with this page.
        let before = std::mem::replace(&mut self.looked_at, pages.place());
        // While the end of the queue is left out, the second reader finds this page in its turn.
        let Some(led) = led.filter(|_| self.left_out.is_none()) else { return Ok(()) };
        if self.has_room(wanted) {
            self.push(led)?;
        } else if !self.only_best || self.line.len() < wanted {
            // Not if as many better pages wait as are wanted: then this page is never returned.
            self.left_out = Some(pages.again_after(before));
        }
        Ok(())
    }

    /// Those of which the end was left out, to read the next of, if the line is empty or being filled.
    pub(super) fn left_out(&mut self, wanted: usize) -> Option<&mut InOrder> {
        let looked_at = self.looked_at;
        // The second reader has caught up with the first: the queue is complete, and goes on by `note`.
        self.left_out.take_if(|pages| pages.place() == looked_at);
        // Goes on until the queue is full, so that a refill is one run and not one page.
        let goes_on = self.filling || self.line.is_empty();
        self.filling = self.left_out.is_some() && goes_on && self.has_room(wanted);
        self.left_out.as_mut().filter(|_| self.filling)
    }
}

impl Led {
    fn bytes(&self) -> usize {
        self.coming.url.len() + self.leader.len() + PAGE_BYTES
    }
}
