//! Plans, which spend a number of visits a day, and the due time of each page in a plan.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::decide::DueContext;
use super::decision::{Decision, NewPage, legible};
use super::due::Due;
use super::host_limits::HostLimit;
use super::leader::RepresentativeCache;
use super::learned::{LearnedPriors, sample};
use super::limited::{LimitedHost, LimitedPage, LimitedPages};
use super::pages_by_score::rule_of;
use super::rows::{ComponentRow, each_page, part_of, source_of};
use super::rules::{RuleNumber, RulesByPage};
use super::score::{BeliefKey, DAY_SECONDS, ScoreCache, ScoreInput, Scorer, bounded, interval};
use super::sources::{RowSource, sources};
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::recrawl::{Belief, VisitValueTable};
use crate::threads;
use crate::url::check_url;

/// The number of hash ranges that threads share.
const PARTS: usize = 16;

/// A plan to spend a number of visits a day in the long run: the value threshold for a visit, and
/// the resulting freshness. From [`Plan::of`].
///
/// A plan reflects the state of the store when the plan is made. Make a new plan after many visits,
/// for example daily.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use std::time::Duration;
///
/// use simkeep::due::{Due, Plan};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// # const DAY: Duration = Duration::from_secs(86_400);
/// let (start, epoch) = (Time::from_ms(1_700_000_000_000)?, store.change_epoch());
/// for n in 0..100_u64 {
///     let (url, fingerprint) = (format!("https://example.com/{n}"), n << 40);
///     store.observe(Observation::content(&url, start, fingerprint, epoch))?;
///     store.observe(Observation::content(&url, start + 7 * DAY, fingerprint, epoch))?;
/// }
/// // How fresh are the pages with 5 visits a day, and how fresh with 50?
/// let plan = |visits| Plan::of(&store.snapshot(), &Due::new(start + 8 * DAY, 0), visits);
/// assert_eq!(plan(5.0)?.pages(), 100.0);
/// assert!(plan(5.0)?.freshness() < plan(50.0)?.freshness());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) due: Due,
    seed: u64,
    per_day: f64,
    outlook: PlanForecast,
    limited: Arc<[LimitedHost]>,
}

/// The results of a threshold.
#[derive(Clone, Copy, Debug, Default)]
struct PlanForecast {
    threshold: f64,
    pages: f64,
    visits: f64,
    fresh: f64,
    rare: f64,
    /// The number of hosts whose limits are reached.
    limited: usize,
}

impl Due {
    /// Adds due times by a plan to decisions, and uses the priors of the plan.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::due::{Due, Plan};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let seen = Observation::content("https://example.com/", start, 7, store.change_epoch());
    /// store.observe(seen)?;
    /// let due = Due::new(start + Duration::from_secs(86_400), 10);
    /// let plan = Plan::of(&store.snapshot(), &due, 0.1)?; // a visit in ten days
    /// let decision = store.snapshot().due(&due.plan(&plan)).next().unwrap()?;
    /// assert!(decision.due.is_some() && decision.every.is_some());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn plan(self, plan: &Plan) -> Due {
        let (learned, threshold) = (plan.due.learned.clone(), plan.due.threshold);
        Due { learned, threshold, prices: Arc::clone(&plan.due.prices), ..self }
    }
}

impl Plan {
    /// Computes a plan that spends `per_day` visits a day in the long run: the value threshold for
    /// a visit, and the resulting freshness. The policy, prefix and rules of `due` apply. The
    /// budget, hints and [`per_host`](Due::per_host) of `due` and of its rules do not apply: a page
    /// whose rule has a [`per_host`](field@super::Rule::per_host) of 0 gets visits in a plan. A plan
    /// does not search near pages.
    ///
    /// A host gets no more [visits a day](field@super::Rule::visits_per_day) than its rule allows, and
    /// other hosts get the rest. The pages of such a host are due at a price of their own, which is
    /// above the threshold: the value at which they take exactly the limit of the host.
    ///
    /// A [led](field@crate::due::Decision::near) page has its full weight in a plan, so with many
    /// led pages fewer visits are spent than planned.
    ///
    /// Reads 28 bytes for each page, or for a sample of a million pages in larger stores. Policies
    /// that use the order of comparisons also read each of these pages. Takes up to a second, and
    /// 100 MB for a million pages that are all different. Under rules with visits a day, a plan reads the
    /// URL of each page, and takes some 20 µs more for each page of a host at its limit.
    ///
    /// ```
    /// use simkeep::due::Plan;
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
    /// let plan = Plan::of(&view, &Due::new(start + 8 * DAY, 0), 5.0)?;
    /// assert!(plan.visits_per_day() <= 5.0 && plan.freshness() > 0.5);
    /// // All of these pages are alike, so each is visited every 20 days.
    /// let decision = plan.decide(&view, "https://example.com/1")?.unwrap();
    /// assert_eq!((decision.every.unwrap().days().round(), decision.due.is_some()), (20.0, true));
    /// assert!(plan.of_new("https://example.com/new")?.value > decision.value);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOption`](crate::Error::InvalidOption) if `per_day` is not positive and
    /// finite, such as the [pace](Due::pace) of a store without visits;
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the call reads damaged data.
    pub fn of(snapshot: &Snapshot, due: &Due, per_day: f64) -> Result<Plan> {
        snapshot.poison_on_bug(|| {
            snapshot.view.check()?;
            Plan::new(snapshot, due, per_day)
        })
    }

    pub(crate) fn new(snapshot: &Snapshot, due: &Due, per_day: f64) -> Result<Plan> {
        if !(per_day > 0.0 && per_day.is_finite()) {
            let takes = "a positive number; a store without visits has a pace of 0";
            return Err(Error::InvalidOption { name: "per_day", takes });
        }
        let learned = match &due.learned {
            Some(learned) => learned.clone(),
            None => LearnedPriors::kept(snapshot)?,
        };
        let asked = DueContext::new(snapshot, due.clone().learned(&learned))?;
        let (outlook, prices, limited) = PlanForecast::of(&asked, per_day)?;
        let (threshold, prices) = (Some(outlook.threshold), Arc::new(prices));
        let due = Due { threshold, prices, ..asked.due };
        Ok(Plan { due, seed: snapshot.view.seed, per_day, outlook, limited: limited.into() })
    }

    /// Returns the visits a day for which the plan was made.
    pub fn per_day(&self) -> f64 {
        self.per_day
    }

    /// Returns the [value](Decision::value) at which a page is due. The threshold is infinite if
    /// the visits do not suffice for the latest allowed dates of all pages.
    pub fn threshold(&self) -> f64 {
        self.outlook.threshold
    }

    /// Returns the visits a day that result from the threshold. The number exceeds
    /// [`per_day`](Plan::per_day) if a rule or the largest interval forces more visits. The number
    /// is below `per_day` if no page may be visited more often.
    pub fn visits_per_day(&self) -> f64 {
        self.outlook.visits
    }

    /// Returns the expected fraction of time that a page is unchanged since its last visit,
    /// averaged over pages.
    pub fn freshness(&self) -> f64 {
        self.outlook.fresh
    }

    /// Returns the number of pages, which is estimated from a sample above a million pages.
    pub fn pages(&self) -> f64 {
        self.outlook.pages
    }

    /// Returns the number of pages that are visited less often than once in 360 days.
    pub fn rarely_visited(&self) -> f64 {
        self.outlook.rare
    }

    /// Returns the hosts whose [visits a day](field@super::Rule::visits_per_day) are used up, the host
    /// first to which a visit a day more would gain most: at most 65,536 hosts. Above a million pages,
    /// the hosts are those of a sample.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use std::time::Duration;
    ///
    /// use simkeep::Prefix;
    /// use simkeep::due::{Due, Plan, Rule, Rules};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let start = Time::from_ms(1_700_000_000_000)?;
    /// let week = Duration::from_secs(7 * 86_400);
    /// for n in 0..100_u64 {
    ///     let url = format!("https://h{}.example/{n}", n % 2);
    ///     for (time, fingerprint) in [(start, n << 40), (start + week, !(n << 40))] {
    ///         store.observe(Observation::content(&url, time, fingerprint, store.change_epoch()))?;
    ///     }
    /// }
    /// let slow = Rule::under(Prefix::parse("h1.example")?).visits_per_day(1.0);
    /// let due = Due::new(start + week, 0).rules(&Rules::new([slow])?);
    /// let plan = Plan::of(&store.snapshot(), &due, 10.0)?;
    /// let [host] = plan.limited() else { panic!("one host is limited") };
    /// assert_eq!((host.host.as_str(), host.visits_per_day), ("h1.example", 1.0));
    /// assert!(host.price > plan.threshold());
    /// println!("{plan}"); // the other host gets nine visits a day
    /// # Ok(())
    /// # }
    /// ```
    pub fn limited(&self) -> &[LimitedHost] {
        &self.limited
    }

    /// Returns the values of a page without visits, from its host and its rule.
    ///
    /// Reads nothing. For a page with visits, use [`decide`](crate::due::Plan::decide).
    ///
    /// ```
    /// # use simkeep::{Options, Store, Time};
    /// use simkeep::due::{Due, Plan};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let plan = Plan::of(&store.snapshot(), &Due::new(Time::now(), 0), 1000.0)?;
    /// let page = plan.of_new("https://example.com/")?;
    /// assert!(page.value > 0.0); // compare it with the values of known pages
    /// println!("visit it every {}", page.every);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`] if the URL is invalid.
    pub fn of_new(&self, url: &str) -> Result<NewPage> {
        check_url(url)?;
        DueContext::new_page(&self.due, url, self.seed)
    }

    /// Returns the decision about a page by this plan: the value of a visit, the due time, and the
    /// reason. `None` for an unknown page. If [`due`](Snapshot::due) returns the page with this plan,
    /// it returns this decision. Costs one record in the newest segment with the page, and a search
    /// for the page's leader.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::due::{Due, Plan};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// store.observe(Observation::content(url, Time::now(), 7, store.change_epoch()))?;
    /// let snapshot = store.snapshot();
    /// let plan = Plan::of(&snapshot, &Due::new(Time::now(), 0), 1.0)?;
    /// assert_eq!(plan.decide(&snapshot, url)?.unwrap().page.url, url);
    /// assert!(plan.decide(&snapshot, "https://example.org/")?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Url`](crate::Error::Url) if the URL is invalid;
    /// [`Error::Corrupt`](crate::Error::Corrupt) if the call reads damaged data.
    pub fn decide(&self, snapshot: &Snapshot, url: &str) -> Result<Option<Decision>> {
        snapshot.poison_on_bug(|| {
            check_url(url)?;
            snapshot.view.check()?;
            let asked = DueContext::new(snapshot, self.due.clone())?;
            let Some(looked) = asked.load(url)? else { return Ok(None) };
            let leader = asked.leader(&looked, &mut RepresentativeCache::default())?;
            asked.decide(looked, leader, &mut ScoreCache::of(1)).map(Some)
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlanForecast { threshold, pages, visits, fresh, rare, limited } = self.outlook;
        write!(
            f,
            "{visits:.0} visits a day to {pages:.0} pages, each when a visit is worth {}",
            legible(threshold, 3)
        )?;
        write!(f, ": {:.1} % of the pages are fresh", fresh * 100.0)?;
        write!(f, "; {rare:.0} pages are visited less often than once in 360 days")?;
        match limited {
            0 => Ok(()),
            1 => f.write_str("; 1 host is at its limit of visits a day"),
            hosts => write!(f, "; {hosts} hosts are at their limits of visits a day"),
        }
    }
}

impl PlanForecast {
    /// Finds the threshold that spends `per_day` visits a day, and the results of the threshold: with
    /// the price of each host whose limit is reached, by the hash of the host.
    fn of(
        asked: &DueContext,
        per_day: f64,
    ) -> Result<(PlanForecast, HashMap<u64, f64>, Vec<LimitedHost>)> {
        let PlanPages { sources, kinds, limited, of_one } = PlanPages::of(asked)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        // The sample gets its share of the visits.
        let (threshold, priced) = limited.price(asked, &kinds, per_day / of_one, of_one, threads);
        let mut sums = kinds.outlook(asked, threshold);
        for (sum, change) in sums.iter_mut().zip(priced.outlook_change(asked, threshold, threads)) {
            *sum += change;
        }
        let [pages, visits, fresh, rare] = sums.map(|sum| sum * of_one);
        let fresh = if pages > 0.0 { fresh / pages } else { 1.0 };
        let limited = priced.len();
        let outlook = PlanForecast { threshold, pages, visits, fresh, rare, limited };
        Ok((outlook, priced.by_hash(), priced.hosts(asked, &sources, threshold)?))
    }
}

/// All pages or a sample.
struct PlanPages {
    sources: Vec<RowSource>,
    /// The kinds of all pages.
    kinds: PageKinds,
    /// The pages of hosts with a limit once more, by host.
    limited: LimitedPages,
    /// The number of pages that each of these pages represents.
    of_one: f64,
}

impl PlanPages {
    fn of(asked: &DueContext) -> Result<PlanPages> {
        let DueContext { snapshot, due, scorer } = asked;
        let (last, of_one) = sample(snapshot)?;
        let sources = sources(snapshot, due.under.as_ref())?;
        let held: Result<Vec<RulesByPage>> =
            sources.iter().map(|source| source.rules_by_page(&due.rules)).collect();
        let held = held?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let of_part = |(): &mut (), part: usize| -> Result<(Vec<PageKind>, Vec<LimitedPage>)> {
            let (mut kinds, mut limited) = (Vec::new(), Vec::new());
            let (from, upto) = part_of(last, part, PARTS);
            each_page(&sources, from, upto, |found| {
                let ComponentRow { hash, component, page, row } = &found;
                let number = rule_of(&held, *component, *page)?;
                let rule = due.rules.get(number);
                let source = source_of(&sources, *component)?;
                let recent = &asked.recent(source, &found, rule)?;
                let facts =
                    ScoreInput { hash: *hash, row, recent, rule, changed: None, led: false };
                let kind = scorer.kind(facts, number);
                kinds.push(kind);
                // A row has only a slot of the host, which other hosts share.
                if rule.visits_per_day.is_some()
                    && let Some(host) = HostLimit::of(&source.url(*page)?, rule, snapshot.view.seed)
                {
                    limited.push(LimitedPage::new(&host, kind, (*component, *page)));
                }
                Ok(())
            })?;
            kinds.sort_unstable();
            limited.sort_unstable();
            Ok((kinds, limited))
        };
        let (mut kinds, mut limited) = (Vec::new(), Vec::new());
        for part in threads::run_jobs(0..PARTS, threads, || (), of_part) {
            let (mut some, mut some_limited) = part?;
            kinds.append(&mut some);
            limited.append(&mut some_limited);
        }
        // The stable sort finds the sorted runs and only merges them.
        kinds.sort();
        limited.sort();
        let (kinds, limited) = (PageKinds::of(&kinds), LimitedPages::of(&limited, due));
        Ok(PlanPages { sources, kinds, limited, of_one })
    }
}

/// The number of kinds in a work item of a thread.
const TOGETHER: usize = 4096;

/// The minimum interval of a rarely visited page.
const RARE_SECONDS: u64 = 360 * 86_400;

/// The properties of a page that determine its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageKind {
    of: BeliefKey,
    // Kinds are compared and sorted, but floats have no total order. The bits of positive floats
    // have the order of the floats.
    /// The bits of the weight. The weight is positive.
    weight: u64,
    pub(super) rule: RuleNumber,
    /// The bits of the policy's interval in days, if the policy has an interval.
    days: Option<u64>,
}

/// All kinds with their numbers of pages, sorted.
#[derive(Debug)]
pub(super) struct PageKinds(Vec<(PageKind, u64)>);

impl Scorer {
    /// Returns the kind of a page.
    pub(super) fn kind(&self, of: ScoreInput<'_>, rule: RuleNumber) -> PageKind {
        let schedule = self.policy(of.rule).0.schedule(of.recent);
        let days = schedule.map(|schedule| schedule.next_days.to_bits());
        PageKind { of: self.of(of), weight: self.weight(&of).to_bits(), rule, days }
    }
}

/// Returns the seconds after which a visit to a page of weight 1 has a value; `None` if it never has.
type ReachValue<'a> = &'a dyn Fn(f64) -> Option<u64>;

impl PageKind {
    /// Returns the seconds between visits for a threshold.
    fn seconds(&self, asked: &DueContext, reach: Option<ReachValue<'_>>, threshold: f64) -> u64 {
        let rule = asked.due.rules.get(self.rule);
        let days = self.days.map(f64::from_bits);
        let own = match reach {
            Some(reach) => reach(threshold / f64::from_bits(self.weight)),
            // Without an index the score is the time since the last visit, in intervals of the
            // policy or in days. So the threshold is a factor of the interval.
            None => Some(interval(threshold * days.unwrap_or(1.0)).seconds()),
        };
        let of_rule = days.filter(|_| rule.policy.is_some()).map(|days| interval(days).seconds());
        // The maximum of the rule and the interval of the rule's policy can only shorten the
        // largest interval.
        let longest = rule.max.map_or(asked.due.largest(), |max| max.min(asked.due.largest()));
        let longest = longest.seconds().min(of_rule.unwrap_or(u64::MAX));
        bounded(own, rule.min, longest)
    }
}

impl PageKinds {
    /// Counts kinds in sorted pages.
    pub(super) fn of(pages: &[PageKind]) -> PageKinds {
        let kinds = pages.chunk_by(|a, b| a == b);
        PageKinds(kinds.filter_map(|kind| Some((*kind.first()?, kind.len() as u64))).collect())
    }

    /// Sums `add` over all kinds. `add` is called once for each belief. The result does not depend
    /// on the number of threads.
    fn sum<const N: usize>(
        &self,
        threads: usize,
        add: impl Fn(&mut [f64; N], &Belief, Option<ReachValue<'_>>, &[(PageKind, u64)]) + Sync,
    ) -> [f64; N] {
        let own = || ScoreCache::of(TOGETHER as u64);
        let of_part = |scores: &mut _, kinds: &[_]| sum_of(kinds, scores, &add);
        let parts = threads::run_jobs(self.0.chunks(TOGETHER), threads, own, of_part);
        // The parts have fixed sizes and are added in order, because float sums depend on the order
        // of additions.
        parts.iter().fold([0.0; N], |mut all, part| {
            all.iter_mut().zip(part).for_each(|(sum, of_part)| *sum += of_part);
            all
        })
    }

    /// Returns the visits a day for each threshold.
    pub(super) fn visits<const N: usize>(
        &self,
        asked: &DueContext,
        thresholds: &[f64; N],
        threads: usize,
    ) -> [f64; N] {
        self.sum(threads, add_visits(asked, thresholds))
    }

    /// Returns the [`visits`](PageKinds::visits) of a few pages. Starts no thread.
    pub(super) fn few_visits<const N: usize>(
        &self,
        asked: &DueContext,
        thresholds: &[f64; N],
        scores: &mut ScoreCache,
    ) -> [f64; N] {
        sum_of(&self.0, scores, &add_visits(asked, thresholds))
    }

    /// Returns four numbers for a threshold: pages, visits a day, fresh pages at a time, and rarely
    /// visited pages.
    pub(super) fn outlook(&self, asked: &DueContext, threshold: f64) -> [f64; 4] {
        self.sum(1, add_outlook(asked, threshold))
    }

    /// Returns the [`outlook`](PageKinds::outlook) of a few pages.
    pub(super) fn few_outlook(
        &self,
        asked: &DueContext,
        threshold: f64,
        scores: &mut ScoreCache,
    ) -> [f64; 4] {
        sum_of(&self.0, scores, &add_outlook(asked, threshold))
    }
}

/// The number of values above which all values of a belief are computed at once.
const REACHED_FEW: usize = 24;

/// Sums `add` over some kinds, sorted. `add` is called once for each belief.
fn sum_of<const N: usize>(
    kinds: &[(PageKind, u64)],
    scores: &mut ScoreCache,
    add: &impl Fn(&mut [f64; N], &Belief, Option<ReachValue<'_>>, &[(PageKind, u64)]),
) -> [f64; N] {
    let mut sums = [0.0; N];
    for alike in kinds.chunk_by(|(a, _), (b, _)| a.of == b.of) {
        // `of` is the first field of a kind, so kinds with the same belief are contiguous.
        let Some((PageKind { of, .. }, _)) = alike.first() else { continue };
        let belief = &scores.belief(*of);
        let table = of.index.map(VisitValueTable::of);
        // The curve is computed once for each belief. After that, each pair of a threshold and a weight
        // costs a bisection. For a few pairs, the bisection alone costs less.
        let curve =
            table.filter(|_| N * alike.len() > REACHED_FEW).map(|table| table.curve(belief));
        let by_curve = curve.as_ref().map(|curve| |worth| curve.reach(worth));
        let by_table = table.map(|table| |worth| table.reach(belief, worth));
        let reach = by_curve.as_ref().map(|reach| reach as ReachValue<'_>);
        let reach = reach.or(by_table.as_ref().map(|reach| reach as ReachValue<'_>));
        add(&mut sums, belief, reach, alike);
    }
    sums
}

/// Adds the visits a day for each threshold.
fn add_visits<const N: usize>(
    asked: &DueContext,
    thresholds: &[f64; N],
) -> impl Fn(&mut [f64; N], &Belief, Option<ReachValue<'_>>, &[(PageKind, u64)]) {
    move |sums, _, reach, alike| {
        for (kind, pages) in alike {
            for (sum, threshold) in sums.iter_mut().zip(thresholds) {
                let seconds = kind.seconds(asked, reach, *threshold);
                *sum += *pages as f64 * DAY_SECONDS / seconds as f64;
            }
        }
    }
}

/// Adds pages, visits a day, fresh pages at a time, and rarely visited pages for a threshold.
fn add_outlook(
    asked: &DueContext,
    threshold: f64,
) -> impl Fn(&mut [f64; 4], &Belief, Option<ReachValue<'_>>, &[(PageKind, u64)]) {
    let freshness = VisitValueTable::freshness();
    move |[pages, visits, fresh, rare], belief, reach, alike| {
        for (kind, count) in alike {
            let (seconds, count) = (kind.seconds(asked, reach, threshold), *count as f64);
            *pages += count;
            *visits += count * DAY_SECONDS / seconds as f64;
            *fresh += count * freshness.at(belief, seconds);
            *rare += if seconds >= RARE_SECONDS { count } else { 0.0 };
        }
    }
}
