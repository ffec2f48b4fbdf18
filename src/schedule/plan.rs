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
use super::page_kinds::{PageKind, PageKinds};
use super::pages_by_score::rule_of;
use super::rows::{ComponentRow, each_page, part_of, source_of};
use super::rules::RulesByPage;
use super::score::{ScoreCache, ScoreInput};
use super::sources::{RowSource, sources};
use crate::engine::snapshot::Snapshot;
use crate::error::{Error, Result};
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
    /// 100 MB for a million pages that are all different.
    ///
    /// A plan reads the URL of each page whose rule has visits a day, takes 200 bytes more for it, and
    /// some 20 µs if its host is at the limit. Finding the threshold then takes a few times as long.
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

    /// Returns the [value](Decision::value) at which a page is due, unless its host has a
    /// [price](field@Decision::price). The threshold is infinite if the visits do not suffice for the
    /// latest allowed dates of all pages.
    pub fn threshold(&self) -> f64 {
        self.outlook.threshold
    }

    /// Returns the visits a day that result from the threshold. The number exceeds
    /// [`per_day`](Plan::per_day) if a rule or the largest interval forces more visits. The number
    /// is below `per_day` if no page may be visited more often, or if all hosts are at their limits.
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
    /// a plan knows the limits only of hosts with at least 16 pages in its sample of half a million.
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

    /// Returns the decision about a page, or a [found](crate::Store::discover) URL, by this plan: the
    /// value of a visit, the due time, and the reason. `None` for an unknown URL. If [`due`](Snapshot::due) returns the page with this plan,
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
    /// assert_eq!(plan.decide(&snapshot, url)?.unwrap().url, url);
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
            let scores = &mut ScoreCache::of(1);
            let Some(looked) = asked.load(url)? else { return asked.decide_found(url, scores) };
            let leader = asked.leader(&looked, &mut RepresentativeCache::default())?;
            asked.decide(looked, leader, scores).map(Some)
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
        let threads = threads::up_to(usize::MAX);
        // The sample gets its share of the visits.
        let (threshold, priced) = limited.price(asked, &kinds, per_day / of_one, threads);
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
        let threads = threads::up_to(usize::MAX);
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
        let (kinds, limited) = (PageKinds::of(&kinds), LimitedPages::of(&limited, due, of_one));
        Ok(PlanPages { sources, kinds, limited, of_one })
    }
}
