//! Compares figures over all pages with a loop over the pages.

use simkeep::disk::SimDisk;
use simkeep::due::{Due, Plan, Survey};
use simkeep::{Observation, Page, Prefix, Snapshot};
use simkeep_testing::{create, ms, small};

const DAY: i64 = 86_400_000;

/// The seconds from the last visit to a time.
fn since(page: &Page, now: i64) -> u64 {
    let seconds = |time: i64| (time - simkeep_testing::TIME_MIN).div_euclid(1000);
    u64::try_from(seconds(now) - seconds(page.last.time.as_ms())).unwrap_or(0)
}

/// Checks the pace and the survey of a view.
pub(super) fn check_figures(view: &Snapshot, now: i64) {
    let pages: Vec<Page> = view.scan(None).map(Result::unwrap).collect();
    let last: Vec<u64> = pages.iter().map(|page| since(page, now)).collect();
    let latest = last.iter().min();
    let upto = latest.map_or(now, |latest| now - i64::try_from(*latest).unwrap() * 1000);
    let visits: Vec<i64> = pages
        .iter()
        .flat_map(|page| view.history(&page.url).unwrap())
        .filter_map(|entry| entry.visit().map(|(visit, _)| visit.time.as_ms()))
        .collect();
    let of_late = visits.iter().filter(|time| **time >= upto - 28 * DAY).count();
    let days = visits.iter().min().map_or(1.0, |first| (upto - first) as f64 / DAY as f64);
    let due = Due::new(ms(now), 0);
    assert_eq!(due.pace(view).unwrap(), of_late as f64 / days.clamp(1.0, 28.0));

    let plan = Plan::of(view, &due, 1.0).unwrap();
    // A row stores the unchanged time only from half a second on.
    let changed = |page: &Page| page.changes.changes() + page.changes.returns() > 0;
    let is_compared = |page: &&Page| changed(page) || page.changes.unchanged_ms() >= 500;
    let compared: Vec<&Page> = pages.iter().filter(is_compared).collect();
    let rate = |page: &&Page| plan.decide(view, &page.url).unwrap().unwrap().rate.per_day;
    let mut rates: Vec<f64> = compared.iter().map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let changed = compared.iter().filter(|page| changed(page)).count();
    let survey = Survey::of(view).unwrap();
    let [all, compared, changed] = [pages.len(), compared.len(), changed].map(|count| count as f64);
    assert_eq!((survey.pages, survey.compared, survey.changed), (all, compared, changed));
    match survey.deciles {
        None => assert!(rates.is_empty()),
        Some(deciles) => {
            for (tenths, decile) in (1..).zip(deciles) {
                assert_eq!(decile, rates[(rates.len() * tenths).div_ceil(10) - 1]);
            }
        }
    }
}

#[test]
fn pace_counts_pages_under_a_prefix_up_to_now() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    for page in 0..100 {
        let host = ["a", "b"][usize::from(page >= 80)];
        let url = format!("https://{host}.example/{page}");
        store.observe(Observation::gone(&url, ms(page * DAY))).unwrap();
    }
    let pace = |now: i64, under: Option<&str>| {
        let due = Due::new(ms(now * DAY), 0);
        let under = under.map(|prefix| Prefix::parse(prefix).unwrap());
        let due = match under {
            Some(under) => due.under(under),
            None => due,
        };
        due.pace(&store.snapshot()).unwrap()
    };
    assert_eq!(pace(1000, None), 29.0 / 28.0);
    assert_eq!(pace(1000, Some("b.example")), 20.0 / 19.0, "first visited 19 days before");
    assert_eq!(pace(1000, Some("c.example")), 0.0);
    // Half of the visits are in the future: they count as if they were now.
    assert_eq!(pace(50, None), (28.0 + 50.0) / 28.0);
    assert_eq!(pace(-5, None), 100.0);
    // The busiest page counts with each of its visits.
    for hour in 0..28 * 24 {
        let time = 72 * DAY + hour * 3_600_000;
        store.observe(Observation::gone("https://a.example/busy", ms(time))).unwrap();
    }
    assert_eq!(pace(1000, None), (28.0 * 24.0 + 28.0) / 28.0);
}
