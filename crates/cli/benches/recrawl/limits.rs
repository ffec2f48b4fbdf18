//! Hosts with a limit of visits a day: how much of the optimum a crawl reaches.

use simkeep::due::{Due, Rule, Rules};
use simkeep::recrawl::{
    Interval, KnownHost, KnownPage, LimitedOptimum, PriorityIndex, VisitAllowance, fixed_intervals,
    limited_intervals,
};
use simkeep::{Observation, Options, Prefix, Store, Time};

use super::lots::Lots;

const HOSTS: usize = 1000;
const PAGES: usize = 20_000;
/// The days between two visits of a page, on average.
const EVERY: f64 = 14.0;
/// The days of a simulation, and the day from which it is measured.
const DAYS: (u32, u32) = (300, 100);
/// The calls of a crawler in a day.
const CALLS: u32 = 24;

/// A page with its known rate and weight.
#[derive(Clone, Copy)]
struct WeightedPage {
    host: usize,
    rate: f64,
    weight: f64,
}

/// Hosts with their pages, and the limit of each host.
struct LimitedWeb {
    pages: Vec<WeightedPage>,
    limits: Vec<Option<f64>>,
    best: LimitedOptimum,
}

/// How a crawler chooses.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    /// The best pages that their hosts allow.
    Counted,
    /// The best pages; visits that a host does not allow are lost.
    Dropped,
    /// The pages that have reached the price of their host or the threshold.
    Dated,
}

impl LimitedWeb {
    /// Draws pages; a third of the hosts allows a share of what an optimum without limits gives it.
    fn new(seed: u64, share: f64) -> LimitedWeb {
        let mut lots = Lots::new(seed);
        let sizes: f64 = (1..=HOSTS).map(|rank| 1.0 / rank as f64).sum();
        let mut pages = Vec::new();
        for host in 0..HOSTS {
            let size = ((PAGES as f64 / sizes / (host + 1) as f64).round() as usize).max(1);
            let median = 0.06 * (1.4 * lots.normal()).exp();
            pages.extend((0..size).map(|_| {
                let rate = median * (0.6 * lots.normal()).exp();
                WeightedPage { host, rate, weight: (0.5 * lots.normal()).exp() }
            }));
        }
        let per_day = pages.len() as f64 / EVERY;
        let (_, taken) = without_limits(&pages);
        let limits: Vec<Option<f64>> = taken
            .iter()
            .map(|taken| (lots.next() < 1.0 / 3.0 && *taken > 0.0).then_some(share * taken))
            .collect();
        let hosts: Vec<KnownHost> = (0..HOSTS)
            .map(|host| KnownHost {
                pages: pages
                    .iter()
                    .filter(|page| page.host == host)
                    .map(WeightedPage::known)
                    .collect(),
                visits_per_day: limits[host],
            })
            .collect();
        let best = limited_intervals(&hosts, per_day).unwrap();
        LimitedWeb { pages, limits, best }
    }

    fn per_day(&self) -> f64 {
        self.pages.len() as f64 / EVERY
    }

    /// Returns the freshness in the long run if each host is visited as without limits, and all its
    /// pages are cut alike.
    fn cut_alike(&self) -> f64 {
        let (visits, taken) = without_limits(&self.pages);
        let (mut fresh, mut weights) = (0.0, 0.0);
        for (page, visits) in self.pages.iter().zip(&visits) {
            let cut =
                self.limits[page.host].map_or(1.0, |limit| (limit / taken[page.host]).min(1.0));
            let visits = visits * cut;
            if visits > 0.0 {
                fresh += page.weight * visits / page.rate * -(-page.rate / visits).exp_m1();
            }
            weights += page.weight;
        }
        fresh / weights
    }

    /// Crawls with known rates. Returns the freshness and the share of the visits that were made.
    fn crawl(&self, choice: Choice) -> (f64, f64) {
        let mut last = vec![0.0; self.pages.len()];
        let mut hosts = vec![VisitAllowance::new(0.0, 0.0).unwrap(); HOSTS];
        let mut measure = Measure::default();
        let (mut budget, step) = (0.0, 1.0 / f64::from(CALLS));
        for call in 1..=DAYS.0 * CALLS {
            let day = f64::from(call) * step;
            budget = (budget + self.per_day() * step).min(self.per_day());
            let value = |(page, last): (&WeightedPage, &f64)| {
                PriorityIndex::CrawlValue.worth(page.weight, page.rate, day - last).unwrap()
            };
            let values: Vec<f64> = self.pages.iter().zip(&last).map(value).collect();
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_unstable_by(|a, b| values[*b].total_cmp(&values[*a]));
            let mut visits = 0_u32;
            for page in order {
                let host = self.pages[page].host;
                if budget < 1.0 || choice == Choice::Dated && values[page] < self.best.threshold {
                    break;
                }
                if choice == Choice::Dated && values[page] < self.best.prices[host] {
                    continue;
                }
                if let Some(limit) = self.limits[host] {
                    hosts[host].accrue(day, limit).unwrap();
                    if !hosts[host].take() {
                        budget -= if choice == Choice::Dropped { 1.0 } else { 0.0 };
                        continue;
                    }
                }
                budget -= 1.0;
                visits += 1;
                last[page] = day;
            }
            measure.add(&self.pages, &last, day, step, visits);
        }
        measure.result(self.per_day())
    }

    /// Crawls with the leases of a store, which learns the rates.
    fn crawl_by_store(&self, seed: u64) -> (f64, f64) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
        let limit = |(host, limit): (usize, &Option<f64>)| {
            let prefix: Prefix = format!("h{host}.example").parse().unwrap();
            limit.map(|limit| Rule::under(prefix).visits_per_day(limit.max(1e-6)))
        };
        let rules = Rules::new(self.limits.iter().enumerate().filter_map(limit)).unwrap();
        let mut crawl =
            StoreCrawl { web: self, store: &store, lots: Lots::new(seed), last: Vec::new() };
        crawl.discover();
        let mut measure = Measure::default();
        let (mut budget, step) = (0.0, 1.0 / f64::from(CALLS));
        for call in 1..=DAYS.0 * CALLS {
            let day = f64::from(call) * step;
            budget = (budget + self.per_day() * step).min(self.per_day());
            let due = Due::new(time(day), budget as usize).rules(&rules);
            let leased = store.lease_due(&due, Interval::from_seconds(600).unwrap()).unwrap();
            leased.iter().for_each(|decision| crawl.visit(&decision.url, day));
            budget -= leased.len() as f64;
            measure.add(&self.pages, &crawl.last, day, step, leased.len() as u32);
        }
        measure.result(self.per_day())
    }
}

fn time(day: f64) -> Time {
    Time::from_ms(1_700_000_000_000 + (day * 86_400_000.0) as i64).unwrap()
}

impl WeightedPage {
    fn known(&self) -> KnownPage {
        KnownPage::new(self.rate, self.weight).unwrap()
    }
}

/// Returns the optimal visits a day of each page without limits, and their sum for each host.
fn without_limits(pages: &[WeightedPage]) -> (Vec<f64>, Vec<f64>) {
    let known: Vec<KnownPage> = pages.iter().map(WeightedPage::known).collect();
    let best = fixed_intervals(&known, pages.len() as f64 / EVERY).unwrap();
    let mut taken = vec![0.0; HOSTS];
    for (page, visits) in pages.iter().zip(&best.visits_per_day) {
        taken[page.host] += visits;
    }
    (best.visits_per_day, taken)
}

/// A crawl with a store.
struct StoreCrawl<'w> {
    web: &'w LimitedWeb,
    store: &'w Store,
    lots: Lots,
    last: Vec<f64>,
}

impl StoreCrawl<'_> {
    /// Visits all pages on the first day.
    fn discover(&mut self) {
        for (number, page) in self.web.pages.iter().enumerate() {
            let url = format!("https://h{}.example/{number}", page.host);
            let content = (self.lots.next() * 2_f64.powi(63)) as u64;
            let seen = Observation::content(&url, time(0.0), content, self.store.change_epoch());
            self.store.observe(seen.weight(page.weight)).unwrap();
            self.last.push(0.0);
        }
    }

    fn visit(&mut self, url: &str, day: f64) {
        let number: usize = url.rsplit('/').next().unwrap().parse().unwrap();
        let page = &self.web.pages[number];
        let is_changed = self.lots.next() < -(-page.rate * (day - self.last[number])).exp_m1();
        let latest = self.store.snapshot().latest(url).unwrap().unwrap();
        let content = match latest.contents[0].fingerprint {
            Some(content) if !is_changed => content,
            _ => (self.lots.next() * 2_f64.powi(63)) as u64,
        };
        let seen = Observation::content(url, time(day), content, self.store.change_epoch());
        self.store.observe(seen).unwrap();
        self.last[number] = day;
    }
}

/// Sums of what a crawl reaches.
#[derive(Default)]
struct Measure {
    fresh: f64,
    weights: f64,
    visits: f64,
    days: f64,
}

impl Measure {
    /// Adds the time until the next call.
    fn add(&mut self, pages: &[WeightedPage], last: &[f64], day: f64, step: f64, visits: u32) {
        if day < f64::from(DAYS.1) {
            return;
        }
        for (page, last) in pages.iter().zip(last) {
            // The mean probability that the page is unchanged since its visit.
            let changes = page.rate * step;
            let fresh = (-page.rate * (day - last)).exp() * -(-changes).exp_m1() / changes;
            self.fresh += page.weight * fresh;
            self.weights += page.weight;
        }
        self.visits += f64::from(visits);
        self.days += step;
    }

    fn result(&self, per_day: f64) -> (f64, f64) {
        (self.fresh / self.weights, self.visits / self.days / per_day)
    }
}

pub(crate) fn run() {
    println!(
        "\n{HOSTS} hosts, about {PAGES} pages, a visit for each in {EVERY} days; a third of the hosts \
         allows a share of the visits that an optimum without limits gives it\n"
    );
    println!("| share | seed | crawl | fresh | of the optimum | visits used |");
    println!("|---|---|---|---|---|---|");
    for (share, seed) in [(0.4, 1), (0.4, 2), (0.1, 1), (0.1, 2)] {
        let web = LimitedWeb::new(seed, share);
        let best = web.best.freshness;
        let row = |name: &str, fresh: f64, used: f64| {
            println!(
                "| {share} | {seed} | {name} | {fresh:.4} | {:.4} | {used:.3} |",
                fresh / best
            );
        };
        row(
            "optimum, in the long run",
            best,
            web.best.visits_per_day.iter().flatten().sum::<f64>() / web.per_day(),
        );
        row(
            "without limits, all pages of a host cut alike, in the long run",
            web.cut_alike(),
            f64::NAN,
        );
        for (name, choice) in [
            ("the best pages, what a host refuses is lost", Choice::Dropped),
            ("the best pages that hosts allow", Choice::Counted),
            ("by date, with prices", Choice::Dated),
        ] {
            let (fresh, used) = web.crawl(choice);
            row(name, fresh, used);
        }
        let (fresh, used) = web.crawl_by_store(seed);
        row("a store, by leases, with learned rates", fresh, used);
    }
}
