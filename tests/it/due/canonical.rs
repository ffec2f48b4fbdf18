//! The requests that canonical URLs save at equal freshness.
//!
//! A made site serves each article under its canonical URL and under three others, which were found
//! first. Readers ask for the canonical page only. Without canonical URLs the page that was seen first
//! leads the near-duplicates, so most requests go to a page that nobody reads.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use simkeep::disk::SimDisk;
use simkeep::due::Due;
use simkeep::{Observation, Options, Store};
use simkeep_testing::depth;
use simkeep_testing::{choice, create, ms};

const DAY_MS: i64 = 86_400_000;
const DAYS: u64 = 60;

/// The day from which freshness is measured: before, the store learns how often pages change.
const MEASURED_FROM: u64 = 20;

/// The URLs of an article. The last one is canonical.
const URLS: u64 = 4;

fn url(article: u64, nth: u64) -> String {
    match nth {
        0 => format!("https://example.com/{article}?utm_source=feed"),
        1 => format!("https://example.com/{article}?print=1"),
        2 => format!("https://m.example.com/{article}"),
        _ => format!("https://example.com/{article}"),
    }
}

/// The day of the article's last change, up to a day. Articles change every 2 to 32 days on average.
fn version(article: u64, day: u64) -> u64 {
    let changes = |day: &u64| choice(article << 20 | day)(2 << (article % 5)) == 0;
    (1..=day).rev().find(changes).unwrap_or(0)
}

fn visit(store: &Store, article: u64, nth: u64, day: u64, has_canonical: bool) {
    let fingerprint = choice(article << 32 | version(article, day))(u64::MAX);
    let time = ms(day.cast_signed() * DAY_MS + 1_000 * nth.cast_signed());
    let (url, epoch) = (url(article, nth), store.change_epoch());
    let seen = Observation::content(&url, time, fingerprint, epoch);
    let canonical = self::url(article, URLS - 1);
    let seen = if has_canonical { seen.canonical(&canonical) } else { seen };
    store.observe(seen).unwrap();
}

/// Visits the pages that are due, `requests` each day. Returns the mean ratio of canonical pages whose
/// last visit saw their current version.
fn freshness(articles: u64, requests: usize, has_canonical: bool) -> f64 {
    let disk = SimDisk::new();
    let store = create(&disk, Options::default().background(false));
    for nth in 0..URLS {
        (0..articles).for_each(|article| visit(&store, article, nth, 0, has_canonical));
    }
    let mut seen = vec![0; articles as usize];
    let (mut fresh, mut measured) = (0, 0);
    for day in 1..DAYS {
        let due = Due::new(ms(day.cast_signed() * DAY_MS), requests);
        let urls: Vec<String> =
            store.snapshot().due(&due).map(|decision| decision.unwrap().page.url).collect();
        for due in urls {
            let number = due.rsplit('/').next().unwrap().split('?').next().unwrap();
            let article: u64 = number.parse().unwrap();
            let nth = (0..URLS).find(|nth| url(article, *nth) == due).unwrap();
            visit(&store, article, nth, day, has_canonical);
            if nth == URLS - 1 {
                seen[article as usize] = version(article, day);
            }
        }
        if day >= MEASURED_FROM {
            let is_fresh = |article: &u64| seen[*article as usize] == version(*article, day);
            fresh += (0..articles).filter(is_fresh).count();
            measured += articles as usize;
        }
    }
    fresh as f64 / measured as f64
}

/// The requests with which a crawl is as fresh, between two measured numbers of requests.
fn requests_for(freshness: f64, measured: &[(usize, f64)]) -> Option<f64> {
    measured.windows(2).find_map(|pair| {
        let [(fewer, less), (more, greater)] = *pair else { return None };
        let part = (freshness - less) / (greater - less);
        (0.0..=1.0).contains(&part).then(|| fewer as f64 + part * (more - fewer) as f64)
    })
}

#[test]
fn canonical_urls_save_requests_at_equal_freshness() {
    let articles = depth::up_to(250_u64).max(50);
    let budgets = [1, 2, 4, 8, 16].map(|part| (articles * part / 10) as usize);
    let [without, with] = [false, true].map(|has_canonical| {
        budgets.map(|requests| (requests, freshness(articles, requests, has_canonical)))
    });
    for ((requests, without), (_, with)) in without.iter().zip(&with) {
        println!(
            "{requests} requests a day: fresh {without:.3} without canonical URLs, {with:.3} with"
        );
    }
    let mut compared = 0;
    for (requests, fresh) in without {
        let Some(needed) = requests_for(fresh, &with) else { continue };
        let saved = 1.0 - needed / requests as f64;
        println!(
            "fresh {fresh:.3}: {requests} requests without, {needed:.0} with: {saved:.2} saved"
        );
        assert!(saved > 0.2, "{saved} of {requests} requests are saved");
        compared += 1;
    }
    assert!(compared >= 2, "{without:?}, {with:?}");
}
