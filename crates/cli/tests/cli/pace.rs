//! The default number of visits per day: `recrawl` counts recent visits.

use serde_json::{Value, json};

use super::TestFolder;

const DAYS: u64 = 60;
const PAGES: u64 = 1_000;
/// Visits per day: one of each busiest page, and the rest of other pages.
const BUSIEST: u64 = 10;
const REST: usize = 90;
const VISITS_PER_DAY: u32 = 100;

fn url(page: u64) -> String {
    format!("https://site{}.example/{page}", page % 7)
}

/// The busiest pages are visited daily, and the remaining visits go to all others in turn. Each page
/// changes after its own number of days, at least twelve.
fn crawl() -> String {
    let mut lines = String::new();
    let mut others = (BUSIEST..PAGES).cycle();
    for day in 0..DAYS {
        let rest = others.by_ref().take(REST);
        for (visit, page) in (0..).zip((0..BUSIEST).chain(rest)) {
            let version = (day + page) / (12 + page % 9);
            let fingerprint = (page * DAYS + version + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let line = json!({
                "url": url(page),
                "t": 1_704_067_200 + day * 86_400 + visit * 600,
                "fingerprint": format!("{fingerprint:016x}"),
                "epoch": "e",
            });
            lines += &format!("{line}\n");
        }
    }
    lines
}

/// The output of `recrawl` for a page a day after the crawl.
fn said(place: &TestFolder, page: u64, args: &[&str]) -> Value {
    let url = url(page);
    let args = [&["recrawl", &url, "--now", "2024-03-02", "--json"], args].concat();
    super::objects(&place.done(&args)).remove(0)
}

#[test]
fn dates_of_the_busiest_pages_match_recent_visits() {
    let place = TestFolder::with(&crawl());
    for page in 0..BUSIEST {
        let of_late = said(&place, page, &[]);
        let asked = said(&place, page, &["--per-day", &VISITS_PER_DAY.to_string()]);
        let every = |said: &Value| said["every_seconds"].as_f64().unwrap() / 86_400.0;
        // A page that is hardly worth a visit has the longest interval, whatever the pace.
        assert!(every(&asked) < 30.0, "page {page}: {asked}");
        let ratio = every(&of_late) / every(&asked);
        assert!((0.5..=2.0).contains(&ratio), "page {page}: {of_late}, and when asked {asked}");
        let pace = of_late["visits_per_day"].as_f64().unwrap();
        assert!((pace / f64::from(VISITS_PER_DAY) - 1.0).abs() < 0.05, "page {page}: {of_late}");
    }
}
