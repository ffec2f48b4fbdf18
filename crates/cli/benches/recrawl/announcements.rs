//! Announcements of sources that are reliable to different degrees: how much fresher a crawl is that
//! judges them.

use std::collections::HashMap;

use simkeep::recrawl::{
    Announcements, Belief, Change, Comparison, Likelihood, Prior, PriorityIndex, SourceCounts,
    SourceReliability,
};

use super::lots::Lots;

const HOSTS: usize = 40;
const PAGES: usize = 20;
/// The days between two visits of a page, on average.
const EVERY: f64 = 14.0;
/// The time between two rounds of visits, in days.
const STEP: f64 = 0.5;
const SEEDS: u64 = 4;

/// A kind of source: the share of changes that it announces, and the share of its announcements that
/// are true.
#[derive(Clone, Copy, PartialEq)]
struct SourceKind {
    name: &'static str,
    recall: f64,
    precision: f64,
}

const KINDS: [SourceKind; 6] = [
    SourceKind { name: "1/1", recall: 1.0, precision: 1.0 },
    SourceKind { name: ".9/.5", recall: 0.9, precision: 0.5 },
    SourceKind { name: ".5/.9", recall: 0.5, precision: 0.9 },
    SourceKind { name: ".1/.1", recall: 0.1, precision: 0.1 },
    SourceKind { name: ".5/.05", recall: 0.5, precision: 0.05 },
    SourceKind { name: "none", recall: 0.0, precision: 1.0 },
];

/// How a crawl treats announcements.
#[derive(Clone, Copy, PartialEq)]
enum Treatment {
    Ignore,
    Learn,
    Know,
}

/// The events of a page in the order of time: changes and announcements, in days.
struct AnnouncedPage {
    host: usize,
    changes: Vec<f64>,
    announcements: Vec<f64>,
}

/// Hosts with their sources, and pages with all of their events.
struct AnnouncedWeb {
    sources: Vec<SourceReliability>,
    pages: Vec<AnnouncedPage>,
    days: f64,
}

impl AnnouncedWeb {
    /// Draws a web in which each host has one source. `kind` returns the kind of a host's source from a
    /// random number. At `deploy`, if any, all sources announce all pages.
    fn new(seed: u64, days: f64, kind: &dyn Fn(f64) -> SourceKind, deploy: Option<f64>) -> Self {
        let mut lots = Lots::new(seed);
        let (mut sources, mut pages) = (Vec::new(), Vec::new());
        for host in 0..HOSTS {
            let kind = kind(lots.next());
            let median = 0.06 * (1.4 * lots.normal()).exp();
            let rates: Vec<f64> =
                (0..PAGES).map(|_| median * (0.6 * lots.normal()).exp()).collect();
            let mean = rates.iter().sum::<f64>() / PAGES as f64;
            let false_per_day = kind.recall * mean * (1.0 - kind.precision) / kind.precision;
            sources.push(SourceReliability::new(kind.recall, false_per_day).unwrap());
            for rate in rates {
                let changes = lots.times(rate, days);
                let mut announcements = lots.times(false_per_day, days);
                announcements.extend(changes.iter().filter(|_| lots.next() < kind.recall));
                announcements.extend(deploy.filter(|_| kind.recall > 0.0));
                announcements.sort_by(f64::total_cmp);
                pages.push(AnnouncedPage { host, changes, announcements });
            }
        }
        AnnouncedWeb { sources, pages, days }
    }

    /// Crawls the web. Returns the share of pages that are fresh, from a day on.
    fn crawl(&self, index: PriorityIndex, treatment: Treatment, from: f64) -> f64 {
        let mut crawl = AnnouncedCrawl::new(self, index, treatment);
        let (mut budget, mut fresh, mut counted) = (0.0, 0.0, 0.0);
        for round in 1.. {
            let day = f64::from(round) * STEP;
            if day > self.days {
                return fresh / counted;
            }
            budget += self.pages.len() as f64 / EVERY * STEP;
            let visits = budget.floor();
            budget -= visits;
            crawl.visit_best(day, visits as usize);
            if day >= from {
                fresh += crawl.fresh(day);
                counted += 1.0;
            }
        }
        unreachable!("the days end")
    }
}

/// What a crawler knows of a page.
#[derive(Clone)]
struct CrawledPage {
    last: f64,
    likelihood: Likelihood,
    belief: Belief,
}

struct AnnouncedCrawl<'w> {
    web: &'w AnnouncedWeb,
    index: PriorityIndex,
    treatment: Treatment,
    pages: Vec<CrawledPage>,
    counts: Vec<SourceCounts>,
}

impl<'w> AnnouncedCrawl<'w> {
    fn new(web: &'w AnnouncedWeb, index: PriorityIndex, treatment: Treatment) -> Self {
        let likelihood = Likelihood::flat();
        let belief = Belief::new(&Prior::default(), &likelihood);
        let page = CrawledPage { last: 0.0, likelihood, belief };
        let (pages, counts) = (vec![page; web.pages.len()], vec![SourceCounts::default(); HOSTS]);
        AnnouncedCrawl { web, index, treatment, pages, counts }
    }

    /// Returns the reliability of each host's source, as the crawl treats it.
    fn reliabilities(&self) -> Vec<SourceReliability> {
        let mut all = SourceCounts::default();
        self.counts.iter().for_each(|counts| all.add(counts));
        let learned = |counts: &SourceCounts| counts.reliability(all.false_per_day()).unwrap();
        match self.treatment {
            Treatment::Ignore => vec![SourceReliability::new(0.0, 0.0).unwrap(); HOSTS],
            Treatment::Know => self.web.sources.clone(),
            Treatment::Learn => self.counts.iter().map(learned).collect(),
        }
    }

    fn visit_best(&mut self, day: f64, visits: usize) {
        let reliabilities = self.reliabilities();
        let value = |(page, known): (&AnnouncedPage, &CrawledPage)| {
            let days = day - known.last;
            if self.treatment == Treatment::Ignore {
                return known.belief.worth(self.index, 1.0, days).unwrap();
            }
            let count = between(&page.announcements, known.last, day) as u32;
            let announced = [Announcements { source: reliabilities[page.host], count }];
            known.belief.announced(self.index, 1.0, days, &announced).unwrap()
        };
        let values: Vec<f64> = self.web.pages.iter().zip(&self.pages).map(value).collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        order.truncate(visits);
        for page in order {
            self.visit(page, day);
        }
    }

    fn visit(&mut self, number: usize, day: f64) {
        let (page, known) = (&self.web.pages[number], &mut self.pages[number]);
        let days = day - known.last;
        let is_changed = between(&page.changes, known.last, day) > 0;
        let announced = between(&page.announcements, known.last, day) as u32;
        self.counts[page.host].add_visit((days * 86_400.0) as u64, is_changed, announced);
        let change = if is_changed { Change::Undated } else { Change::None };
        known.likelihood.add(Comparison::new(days, change).unwrap(), 1.0).unwrap();
        known.belief = Belief::new(&Prior::default(), &known.likelihood);
        known.last = day;
    }

    fn fresh(&self, day: f64) -> f64 {
        let pages = self.web.pages.iter().zip(&self.pages);
        let fresh = pages.filter(|(page, known)| between(&page.changes, known.last, day) == 0);
        fresh.count() as f64 / self.pages.len() as f64
    }
}

/// Returns the number of times after one day and up to another.
fn between(times: &[f64], from: f64, upto: f64) -> usize {
    times.partition_point(|time| *time <= upto) - times.partition_point(|time| *time <= from)
}

/// Prints the freshness of crawls beyond the freshness of a crawl that ignores announcements.
pub(crate) fn run() {
    println!(
        "\n{HOSTS} hosts of {PAGES} pages, a visit in {EVERY} days, days 60 to 180, {SEEDS} seeds: \
         fresher than a crawl that ignores announcements\n"
    );
    println!(
        "| sources (recall/precision) | index | learned | known | learned after 100 visits a host |"
    );
    println!("|---|---|---|---|---|");
    for index in [PriorityIndex::CrawlValue, PriorityIndex::Value] {
        for kind in KINDS {
            row(kind.name, index, &|_| kind, None);
        }
        let mixed = |lot: f64| KINDS[(lot * KINDS.len() as f64) as usize];
        row("mixed by host", index, &mixed, None);
        let touched = |_| KINDS[1];
        row(".9/.5, and all pages at once on day 90", index, &touched, Some(90.0));
    }
}

fn row(name: &str, index: PriorityIndex, kind: &dyn Fn(f64) -> SourceKind, deploy: Option<f64>) {
    let mut sums: HashMap<&str, Vec<f64>> = HashMap::new();
    for seed in 1..=SEEDS {
        let web = AnnouncedWeb::new(seed, 180.0, kind, deploy);
        let ignored = web.crawl(index, Treatment::Ignore, 60.0);
        let beyond = |treatment| web.crawl(index, treatment, 60.0) - ignored;
        sums.entry("learned").or_default().push(beyond(Treatment::Learn));
        sums.entry("known").or_default().push(beyond(Treatment::Know));
        // On average, a host has 1.4 visits a day.
        let longer = AnnouncedWeb::new(seed, 300.0, kind, deploy);
        let known = longer.crawl(index, Treatment::Know, 100.0);
        let learned = longer.crawl(index, Treatment::Learn, 100.0);
        sums.entry("after").or_default().push(learned / known - 1.0);
    }
    let mean = |name: &str| sums[name].iter().sum::<f64>() / SEEDS as f64;
    println!(
        "| {name} | {index:?} | {:+.4} | {:+.4} | {:+.1} % of known |",
        mean("learned"),
        mean("known"),
        100.0 * mean("after")
    );
}
