//! Plans, which spend a number of visits a day, and the due time of each page in a plan.

use std::fmt;

use super::decide::DueContext;
use super::decision::{Decision, NewPage, legible};
use super::due::Due;
use super::leader::RepresentativeCache;
use super::learned::{LearnedPriors, sample};
use super::pages_by_score::rule_of;
use super::rows::{ComponentRow, each_page, part_of, source_of};
use super::rules::{RuleNumber, RulesByPage};
use super::score::{BeliefKey, DAY_SECONDS, ScoreCache, ScoreInput, Scorer, bounded, interval};
use super::sources::sources;
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::recrawl::{Belief, ValueCurve, VisitValueTable, spend};
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
}

/// The results of a threshold.
#[derive(Clone, Copy, Debug, Default)]
struct PlanForecast {
    threshold: f64,
    pages: f64,
    visits: f64,
    fresh: f64,
    rare: f64,
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
        Due { learned, threshold, ..self }
    }
}

impl Plan {
    /// Computes a plan that spends `per_day` visits a day in the long run: the value threshold for
    /// a visit, and the resulting freshness. The policy, prefix and rules of `due` apply. The
    /// budget, hints and limits for hosts of `due` and of its rules do not apply: a page whose rule
    /// has a [`per_host`](field@super::Rule::per_host) of 0 gets visits in a plan. A plan does not
    /// search near pages.
    /// A [led](field@crate::due::Decision::near) page has its full weight in a plan, so with many
    /// led pages fewer visits are spent than planned.
    ///
    /// Reads 28 bytes for each page, or for a sample of a million pages in larger stores. Policies
    /// that use the order of comparisons also read each of these pages. Takes up to a second, and
    /// 100 MB for a million pages that are all different.
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
        let outlook = PlanForecast::of(&asked, per_day)?;
        let due = Due { threshold: Some(outlook.threshold), ..asked.due };
        Ok(Plan { due, seed: snapshot.view.seed, per_day, outlook })
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
        let PlanForecast { threshold, pages, visits, fresh, rare } = self.outlook;
        write!(
            f,
            "{visits:.0} visits a day to {pages:.0} pages, each when a visit is worth {}",
            legible(threshold, 3)
        )?;
        write!(f, ": {:.1} % of the pages are fresh", fresh * 100.0)?;
        write!(f, "; {rare:.0} pages are visited less often than once in 360 days")
    }
}

impl PlanForecast {
    /// Finds the threshold that spends `per_day` visits a day, and the results of the threshold.
    fn of(asked: &DueContext, per_day: f64) -> Result<PlanForecast> {
        let (kinds, of_one) = kinds(asked)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let visits = |tried: &_| kinds.visits(asked, tried, threads);
        // The sample gets its share of the visits. If there is no threshold, the maximum intervals
        // alone take more visits than `per_day`, so each page is visited as rarely as allowed.
        let threshold = spend(per_day / of_one, visits).unwrap_or(f64::INFINITY);
        let [pages, visits, fresh, rare] = kinds.outlook(asked, threshold).map(|sum| sum * of_one);
        let fresh = if pages > 0.0 { fresh / pages } else { 1.0 };
        Ok(PlanForecast { threshold, pages, visits, fresh, rare })
    }
}

/// Returns the kinds of all pages or of a sample, and the number of pages that each of these pages
/// represents.
fn kinds(asked: &DueContext) -> Result<(PageKinds, f64)> {
    let DueContext { snapshot, due, scorer } = asked;
    let (last, of_one) = sample(snapshot)?;
    let sources = sources(snapshot, due.under.as_ref())?;
    let held: Result<Vec<RulesByPage>> =
        sources.iter().map(|source| source.rules_by_page(&due.rules)).collect();
    let held = held?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let of_part = |(): &mut (), part: usize| -> Result<Vec<PageKind>> {
        let mut kinds = Vec::new();
        let (from, upto) = part_of(last, part, PARTS);
        each_page(&sources, from, upto, |found| {
            let ComponentRow { hash, component, page, row } = &found;
            let number = rule_of(&held, *component, *page)?;
            let rule = due.rules.get(number);
            let recent = &asked.recent(source_of(&sources, *component)?, &found, rule)?;
            let facts = ScoreInput { hash: *hash, row, recent, rule, changed: None, led: false };
            kinds.push(scorer.kind(facts, number));
            Ok(())
        })?;
        kinds.sort_unstable();
        Ok(kinds)
    };
    let sorted: Result<Vec<Vec<PageKind>>> =
        threads::run_jobs(0..PARTS, threads, || (), of_part).into_iter().collect();
    let mut all = sorted?.concat();
    // The stable sort finds the sorted runs and only merges them.
    all.sort();
    Ok((PageKinds::of(&all), of_one))
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
    rule: RuleNumber,
    /// The bits of the policy's interval in days, if the policy has an interval.
    days: Option<u64>,
}

/// All kinds with their numbers of pages, sorted.
pub(super) struct PageKinds(Vec<(PageKind, u64)>);

impl Scorer {
    /// Returns the kind of a page.
    pub(super) fn kind(&self, of: ScoreInput<'_>, rule: RuleNumber) -> PageKind {
        let schedule = self.policy(of.rule).0.schedule(of.recent);
        let days = schedule.map(|schedule| schedule.next_days.to_bits());
        PageKind { of: self.of(of), weight: self.weight(&of).to_bits(), rule, days }
    }
}

impl PageKind {
    /// Returns the seconds between visits for a threshold.
    fn seconds(&self, asked: &DueContext, curve: Option<&ValueCurve>, threshold: f64) -> u64 {
        let rule = asked.due.rules.get(self.rule);
        let days = self.days.map(f64::from_bits);
        let own = match curve {
            Some(curve) => curve.reach(threshold / f64::from_bits(self.weight)),
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
        add: impl Fn(&mut [f64; N], &Belief, Option<&ValueCurve>, &[(PageKind, u64)]) + Sync,
    ) -> [f64; N] {
        let of_part = |scores: &mut ScoreCache, kinds: &[(PageKind, u64)]| {
            let mut sums = [0.0; N];
            for alike in kinds.chunk_by(|(a, _), (b, _)| a.of == b.of) {
                // `of` is the first field of a kind, so kinds with the same belief are contiguous.
                let Some((PageKind { of, .. }, _)) = alike.first() else { continue };
                let belief = &scores.belief(*of);
                // The curve is computed once for each belief. After that, each pair of a threshold
                // and a weight costs a bisection.
                let curve = of.index.map(|index| VisitValueTable::of(index).curve(belief));
                add(&mut sums, belief, curve.as_ref(), alike);
            }
            sums
        };
        let own = || ScoreCache::of(TOGETHER as u64);
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
        self.sum(threads, |sums, _, curve, alike| {
            for (kind, pages) in alike {
                for (sum, threshold) in sums.iter_mut().zip(thresholds) {
                    let seconds = kind.seconds(asked, curve, *threshold);
                    *sum += *pages as f64 * DAY_SECONDS / seconds as f64;
                }
            }
        })
    }

    /// Returns four numbers for a threshold: pages, visits a day, fresh pages at a time, and rarely
    /// visited pages.
    pub(super) fn outlook(&self, asked: &DueContext, threshold: f64) -> [f64; 4] {
        let freshness = VisitValueTable::freshness();
        self.sum(1, |[pages, visits, fresh, rare], belief, curve, alike| {
            for (kind, count) in alike {
                let (seconds, count) = (kind.seconds(asked, curve, threshold), *count as f64);
                *pages += count;
                *visits += count * DAY_SECONDS / seconds as f64;
                *fresh += count * freshness.at(belief, seconds);
                *rare += if seconds >= RARE_SECONDS { count } else { 0.0 };
            }
        })
    }
}
