//! Asks a store everything.

use std::fmt::Debug;
use std::sync::LazyLock;

use simkeep::cluster::Clustering;
use simkeep::disk::{FileName, LockMode, SimDisk};
use simkeep::due::Due;
use simkeep::query::StalePages;
use simkeep::verify::{Verified, VerifyOptions, verify};
use simkeep::{
    Epoch, Error, Observation, Origin, Prefix, Progress, Query, Reader, Restatement, Result, Role,
    Scope, Snapshot, Stats, Store, Versions,
};

use crate::disks::changing_catalog_disk;
use crate::fuzz::store::{disk, golden, on, open};
use crate::{ms, sound};

/// The maximum number of pages of a hostile store to ask about.
const PAGES_MAX: usize = 64;

/// A time in the middle of the golden store's visits.
const TIME: i64 = 1_770_000_000_000;

/// The questions, with the answers of the store.
pub type NamedAnswers = Vec<(String, Result<String, Error>)>;

const PREFIXES: [&str; 6] =
    ["com", "example.com", "example.com/docs", "shop.example/cart", "urn:isbn", "file:///home"];

fn record_answer(answers: &mut NamedAnswers, question: String, answer: Result<impl Debug>) {
    answers.push((question, answer.map(|answer| format!("{answer:?}"))));
}

/// The URLs of a view, as far as they can be read.
pub fn urls(view: &Snapshot) -> Vec<String> {
    view.scan(None).map_while(|page| page.ok().map(|page| page.url)).collect()
}

/// Asks about these pages and fingerprints, and asks all questions that are not about a page.
pub fn questions(
    view: &Snapshot,
    stats: Result<Stats>,
    urls: &[String],
    fingerprints: &[u64],
) -> NamedAnswers {
    let mut answers = NamedAnswers::new();
    answers.push(("epochs".to_owned(), Ok(format!("{:?}", view.epochs()))));
    for info in view.epochs().iter().filter(|info| !info.ended) {
        let origin = Origin::of(view, info.epoch).map(|origin| origin.map(|origin| origin.name()));
        record_answer(&mut answers, format!("origin {:?}", info.epoch), origin);
    }
    let stale: Result<Vec<_>> = StalePages::of(view, view.change_epoch(), None).collect();
    record_answer(&mut answers, "stale".to_owned(), stale);
    let counts = stats.map(|s| (s.pages, s.visits, s.unsealed_visits, s.sequence));
    record_answer(&mut answers, "stats".to_owned(), counts);
    let scan: Result<Vec<_>> = view.scan(None).collect();
    record_answer(&mut answers, "scan".to_owned(), scan);
    for text in PREFIXES {
        let prefix = Prefix::parse(text).unwrap();
        let scan: Result<Vec<_>> = view.scan(Some(&prefix)).collect();
        record_answer(&mut answers, format!("scan {text}"), scan);
    }
    for policy in ["value", "crawl-value", "harmonic", "fixed:7d", "thesis"] {
        let like = Due::new(ms(TIME), 20).policy(policy.parse().unwrap());
        let under = like.clone().under(Prefix::parse("com").unwrap()).per_host(1);
        for due in [like.clone().memory_bytes(0), like, under] {
            let pages: Result<Vec<_>> = view.due(&due).collect();
            record_answer(&mut answers, format!("{due:?}"), pages);
        }
    }
    for asked in [Clustering::within(3), Clustering::within(64).at(ms(TIME))] {
        let clusters = asked.run(view, &Progress::default());
        let pages = clusters.and_then(|clusters| clusters.by_page(1)?.collect::<Result<Vec<_>>>());
        record_answer(&mut answers, format!("{asked:?}"), pages);
    }
    for url in urls {
        record_answer(&mut answers, format!("history {url}"), view.history(url));
        record_answer(&mut answers, format!("latest {url}"), view.latest(url));
        record_answer(&mut answers, format!("{url} as of {TIME}"), view.as_of(url, ms(TIME)));
    }
    for &fingerprint in fingerprints {
        for (epoch, k) in [(0, 0), (0, 3), (1, 3), (1, 9), (0, 64), (RESERVED, 3), (RESERVED, 20)] {
            let query = Query::new(fingerprint, k).epoch(Epoch::from_number(epoch)).limit(20);
            record_answer(&mut answers, format!("{query:?}"), view.search(&query));
            let query = query.versions(Versions::Ever);
            record_answer(&mut answers, format!("{query:?}"), view.search(&query));
        }
    }
    answers
}

/// Fingerprints of the golden store, and others.
pub const FINGERPRINTS: [u64; 5] =
    [0xfedc_ba98_7654_3210, 0, u64::MAX, 0x0123_4567_89ab_cdef, 0xa5ff_00ff_1234_5678];

/// The epochs of the golden store: one that reserves bits, and one that has a table.
const RESERVED: u32 = 8 << 24 | 3;
const WEIGHED: u32 = 4;

/// The answers of the sound golden store.
pub static GOLDEN: LazyLock<(Vec<String>, NamedAnswers)> = LazyLock::new(|| {
    let store = open(&disk(golden())).unwrap();
    let urls = urls(&store.snapshot());
    let answers = questions(&store.snapshot(), store.stats(), &urls, &FINGERPRINTS);
    assert!(answers.iter().all(|(_, answer)| answer.is_ok()));
    (urls, answers)
});

/// The answers of a reader that cannot follow an active writer: only sealed data.
static SEALED: LazyLock<NamedAnswers> = LazyLock::new(|| {
    let disk = disk(golden());
    let _writer = on(&disk).lock(FileName::Lock, LockMode::Exclusive).unwrap();
    let reader = Reader::open(changing_catalog_disk(&disk)).unwrap();
    let answers = questions(&reader.snapshot(), reader.stats(), &GOLDEN.0, &FINGERPRINTS);
    assert!(answers.iter().all(|(_, answer)| answer.is_ok()));
    answers
});

/// Checks that a store with damaged files of the golden store gives the answers of the golden
/// store, or reports damage.
///
/// # Panics
///
/// If it gives another answer.
pub fn check_same(store: &Store) {
    let found = questions(&store.snapshot(), store.stats(), &GOLDEN.0, &FINGERPRINTS);
    compare(&found, &GOLDEN.1, &sound(store));
}

/// Checks that a reader of the golden files answers as the store does, also while a writer is
/// active.
///
/// # Panics
///
/// In the same cases as [`check_same`].
pub fn check_same_reader(reader: &Reader, disk: &SimDisk) {
    let expected = if reader.fell_back() { &*SEALED } else { &GOLDEN.1 };
    let verified = verify(on(disk), VerifyOptions::default()).and_then(Verified::sound);
    let found = questions(&reader.snapshot(), reader.stats(), &GOLDEN.0, &FINGERPRINTS);
    compare(&found, expected, &verified);
}

fn compare(found: &NamedAnswers, expected: &NamedAnswers, verified: &Result<Verified>) {
    assert_eq!(found.len(), expected.len());
    for ((question, found), (_, expected)) in found.iter().zip(expected) {
        match found {
            Ok(found) => assert_eq!(Some(found), expected.as_ref().ok(), "{question}"),
            Err(e) => assert!(verified.is_err(), "{question}: {e}, and verify finds nothing"),
        }
    }
}

/// Asks a reader everything, whatever it shows.
pub fn read_all(reader: &Reader) {
    let mut urls = urls(&reader.snapshot());
    urls.truncate(PAGES_MAX);
    urls.extend(GOLDEN.0.iter().step_by(8).cloned());
    questions(&reader.snapshot(), reader.stats(), &urls, &FINGERPRINTS);
}

/// Asks a store everything, whatever it contains, and then writes to it.
pub fn query_and_write(store: &Store) {
    let _ = sound(store);
    let mut urls = urls(&store.snapshot());
    urls.truncate(PAGES_MAX);
    let known = GOLDEN.0.iter().step_by(8).cloned();
    urls.extend(known);
    questions(&store.snapshot(), store.stats(), &urls, &FINGERPRINTS);
    let some: Vec<&String> = urls.iter().step_by(urls.len().div_ceil(8).max(1)).collect();
    for (time, url) in (0..).zip(&some) {
        let time = time * 1_000_000_000_000;
        let epoch = store.change_epoch();
        let content = Observation::content(url, ms(time), FINGERPRINTS[0] ^ 1, epoch);
        let _ = store.observe(content);
        let _ = store.observe(content.also(FINGERPRINTS[4], Epoch::from_number(RESERVED)));
        let _ = store.observe(Observation::not_modified(url, ms(time)));
        if let Ok(Some(page)) = store.snapshot().latest(url)
            && let Some(time) = page.content_seen
        {
            let _ = store.restate(Restatement::new(
                url,
                time,
                FINGERPRINTS[3],
                Epoch::from_number(WEIGHED),
            ));
        }
    }
    if let Some(url) = some.first() {
        let _ = store.forget(Scope::Url(url));
    }
    let _ = store.seal();
    let _ = store.forget(Scope::Prefix(Prefix::parse("example.com/docs").unwrap()));
    let _ = store.seal();
    let _ = store.register_epoch("words2-sqrt-reserved4/2", Role::Both);
    let _ = store.end_epoch(Epoch::from_number(1), 0);
    let _ = store.end_epoch(Epoch::from_number(RESERVED), u64::MAX);
    let _ = store.merge(&Progress::default());
    if let Some(url) = some.last() {
        let _ = store.purge(Scope::Url(url), &Progress::default());
    }
    questions(&store.snapshot(), store.stats(), &[], &FINGERPRINTS[..1]);
    let _ = sound(store);
}
