//! Readers in other processes: each sees one state of the store, and the writer does not notice them.

mod cost;
mod files;
mod live;
mod moments;
mod views;

use simkeep::{Digest, Epoch, Observation, Query, Reader, Store};
use simkeep_testing::ms;

const PAGES: u64 = 40;

/// The URL of operation number `n` of a long crawl: each page in turn, each time with another
/// fingerprint.
fn page(n: u64) -> String {
    format!("https://example.com/{}", n % PAGES)
}

fn numbered(url: &str, n: u64) -> Observation<'_> {
    let digest = Digest(u128::from(n).to_le_bytes());
    Observation::content(
        url,
        ms(n.cast_signed()),
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        Epoch::from_number(0),
    )
    .digest(digest)
}

fn crawl(store: &Store, from: u64, to: u64) {
    for n in from..to {
        store.observe(numbered(&page(n), n)).unwrap();
    }
}

/// Asserts that a reader sees the beginning of the crawl, up to the operation that it names.
fn check_beginning(reader: &Reader) {
    let last = reader.snapshot().sequence();
    let mut visits = 0;
    for first in 1..=PAGES.min(last) {
        let url = page(first);
        let history = reader.snapshot().history(&url).unwrap();
        let times: Vec<i64> = history.iter().map(|entry| entry.entry().time().as_ms()).collect();
        let expected: Vec<i64> =
            (first..=last).filter(|n| (n - first) % PAGES == 0).map(u64::cast_signed).collect();
        assert_eq!(times, expected, "{url} up to {last}");
        visits += times.len() as u64;
        let newest = *times.last().unwrap();
        let fingerprint = newest.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let near = reader
            .snapshot()
            .search(&Query::new(fingerprint, 0).epoch(Epoch::from_number(0)))
            .unwrap()
            .near;
        assert!(near.iter().any(|near| near.url == url), "{url} is not found by its fingerprint");
    }
    assert_eq!(visits, last);
    assert_eq!(reader.stats().unwrap().visits, last);
}
