//! A crawl of a made site with conditional requests, and the same crawl without.
//!
//! A third of the hosts are honest: they answer a condition correctly. A third send no validators. A
//! third lie: they ignore conditions, and send a new entity tag or the current date with content that
//! has not changed.

use std::ops::ControlFlow;

use simkeep::disk::SimDisk;
use simkeep::inspect::{HostRequests, RequestCounts, RequestSurvey};
use simkeep::{Digest, Observation, Options, Progress, Store, Time, Verdict};
use simkeep_testing::{create, depth, ms};

const HOSTS: u64 = 30;
const DAYS: i64 = 60;
const DAY_MS: i64 = 86_400_000;

/// The behaviour of a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HostKind {
    Honest,
    WithoutValidators,
    /// Sends a new entity tag each time.
    NewTags,
    /// Sends the current date as the time of the last modification.
    NewDates,
}

impl HostKind {
    fn of(host: u64) -> HostKind {
        match host % 6 {
            0 | 3 => HostKind::Honest,
            1 | 4 => HostKind::WithoutValidators,
            2 => HostKind::NewTags,
            _ => HostKind::NewDates,
        }
    }
}

/// A page of the site. Its content changes every few days, or never.
struct SitePage {
    url: String,
    number: u64,
    kind: HostKind,
}

/// A response of the site: no content is "not modified".
struct SiteResponse {
    content: Option<u64>,
    etag: Option<String>,
    modified: Option<Time>,
}

impl SitePage {
    fn new(number: u64) -> SitePage {
        let host = number % HOSTS;
        let url = format!("https://host-{host:02}.example/{number}");
        SitePage { url, number, kind: HostKind::of(host) }
    }

    /// The day on which the current content of a day appeared.
    fn changed(&self, day: i64) -> i64 {
        match i64::try_from(self.number % 20).unwrap() {
            0 => 0,
            every => day / every * every,
        }
    }

    fn bytes(&self) -> u64 {
        2_000 + self.number % 977 * 40
    }

    fn get(&self, day: i64, headers: &[(&str, Vec<u8>)]) -> SiteResponse {
        let changed = self.changed(day);
        let date = |day: i64| ms(day * DAY_MS);
        let etag = format!("\"{}-{changed}\"", self.number);
        let (etag, modified) = match self.kind {
            HostKind::Honest => (Some(etag), Some(date(changed))),
            HostKind::WithoutValidators => (None, None),
            HostKind::NewTags => (Some(format!("\"{}-{day}\"", self.number)), None),
            HostKind::NewDates => (None, Some(date(day))),
        };
        let is_not_modified = self.kind == HostKind::Honest
            && headers.iter().any(|(name, value)| {
                *name == "If-None-Match"
                    && Some(value.as_slice()) == etag.as_deref().map(str::as_bytes)
            });
        let content = (!is_not_modified).then(|| self.number << 32 | changed.cast_unsigned());
        SiteResponse { content, etag, modified }
    }
}

/// The verdicts of a crawl, and the bytes that it transferred.
#[derive(Default)]
struct CrawlResult {
    changes: Vec<bool>,
    bytes: u64,
    not_modified: u64,
}

fn crawl(store: &Store, pages: &[SitePage], is_conditional: bool) -> CrawlResult {
    let mut result = CrawlResult::default();
    let epoch = store.change_epoch();
    for day in 0..DAYS {
        let snapshot = store.snapshot();
        let headers = |page: &SitePage| {
            let known = snapshot.latest(&page.url).unwrap().filter(|_| is_conditional);
            known.map_or_else(Vec::new, |known| known.conditional_headers())
        };
        let fetched = pages.iter().map(|page| {
            let headers = headers(page);
            (page, page.get(day, &headers), !headers.is_empty())
        });
        let fetched: Vec<_> = fetched.collect();
        let observed = fetched.iter().map(|(page, response, is_conditional)| {
            let time = ms(day * DAY_MS + 1_000);
            let mut seen = match response.content {
                None => Observation::not_modified(&page.url, time).status(304),
                Some(content) => {
                    let fingerprint = content.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    let mut digest = [7; 16];
                    digest[..8].copy_from_slice(&fingerprint.to_le_bytes());
                    let seen = Observation::content(&page.url, time, fingerprint, epoch);
                    seen.status(200).digest(Digest(digest)).bytes(page.bytes())
                }
            };
            if *is_conditional {
                seen = seen.conditional();
            }
            if let Some(modified) = response.modified {
                seen = seen.modified(modified);
            }
            match &response.etag {
                Some(etag) => seen.etag(etag.as_bytes()),
                None => seen,
            }
        });
        let observed: Vec<_> = observed.collect();
        for outcome in store.observe_batch(&observed).unwrap() {
            result.changes.push(!matches!(outcome.verdict, Verdict::Same(_)));
        }
        for (page, response, _) in &fetched {
            result.not_modified += u64::from(response.content.is_none());
            result.bytes += response.content.map_or(0, |_| page.bytes());
        }
    }
    result
}

fn by_host(store: &Store) -> Vec<HostRequests> {
    let mut hosts = Vec::new();
    let survey = RequestSurvey::default().copies(true);
    survey
        .run(&store.snapshot(), &Progress::default(), |host| {
            hosts.push(host);
            ControlFlow::Continue(())
        })
        .unwrap();
    hosts
}

#[test]
fn conditional_crawl_learns_which_hosts_honor_conditions() {
    let pages: Vec<SitePage> = (0..depth::up_to(2_000_u64).max(300)).map(SitePage::new).collect();
    let (disk, other) = (SimDisk::new(), SimDisk::new());
    let options = || Options::default().background(false);
    let (conditional, plain) = (create(&disk, options()), create(&other, options()));
    let with = crawl(&conditional, &pages, true);
    let without = crawl(&plain, &pages, false);
    assert!(with.changes == without.changes, "the verdicts differ");
    let requests = pages.len() as u64 * DAYS.cast_unsigned();
    println!(
        "{requests} requests each; with conditions {} not modified and {} bytes, without {} bytes",
        with.not_modified, with.bytes, without.bytes
    );
    let hosts = by_host(&conditional);
    assert_eq!(hosts.len() as u64, HOSTS);
    let mut totals = RequestCounts::default();
    for HostRequests { host, counts, .. } in &hosts {
        println!(
            "{host}: {} conditional, {} not modified, {} sent again, {} of {} dates newer",
            counts.conditional,
            counts.not_modified.count,
            counts.conditional_unchanged,
            counts.unchanged_redated,
            counts.unchanged_dated
        );
        let number: u64 = host[5..7].parse().unwrap();
        let newer =
            counts.unchanged_redated == counts.unchanged_dated && counts.unchanged_dated > 0;
        match HostKind::of(number) {
            HostKind::Honest => {
                assert_eq!((counts.honored(), counts.unchanged_dated), (Some(1.0), 0))
            }
            HostKind::WithoutValidators => {
                assert_eq!((counts.honored(), counts.unchanged_dated), (None, 0))
            }
            HostKind::NewTags => {
                assert_eq!((counts.honored(), counts.unchanged_dated), (Some(0.0), 0))
            }
            HostKind::NewDates => assert!(counts.honored() == Some(0.0) && newer),
        }
        totals += *counts;
    }
    assert_eq!(totals.requests, requests);
    assert_eq!(totals.not_modified.count, with.not_modified);
    assert_eq!(totals.transferred.bytes, with.bytes);
    assert_eq!(totals.transferred.bytes + totals.not_modified.bytes, without.bytes);
    assert_eq!((totals.not_modified.unknown, totals.copies.count), (0, 0));
    assert!(with.bytes * 10 < without.bytes * 9, "{} of {}", with.bytes, without.bytes);
}
