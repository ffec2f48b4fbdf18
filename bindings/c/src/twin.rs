//! Tests that a store through C and a store through the crate return the same results for the same
//! calls.

#![expect(clippy::cast_possible_truncation, reason = "the numbers of a test are small")]

mod asks;
mod writes;

use std::ffi::{CString, c_char};
use std::ptr;

use simkeep::{
    Digest, Durability, Epoch, Observation, Options, Outcome, Prefix, Query, Reader, Store, Time,
    Verdict, Versions,
};

use crate::abi::{column, is_null};
use crate::code::{SIMKEEP_NONE, SIMKEEP_OK};
use crate::distances;
use crate::failure::Failure;
use crate::open::options::{DurabilityCode, simkeep_options_init};
use crate::open::snapshot::{SnapshotHandle, simkeep_snapshot_free, simkeep_store_snapshot};
use crate::open::store::{
    StoreHandle, simkeep_merge, simkeep_seal, simkeep_store_close, simkeep_store_create,
    simkeep_store_free, simkeep_store_open,
};
use crate::read::entry::Entry;
use crate::read::page::Page;
use crate::read::{history, matches, pages, query};
use crate::texts::Texts;
use crate::write::outcomes::Outcomes;
use crate::write::verdict::VerdictCode;
use crate::write::visit::Visit;
use crate::write::{observe, outcomes};

/// The number of calls to each of the two stores.
const CALLS: f64 = 10_000.0;

/// Returns the number of calls: fewer at a depth below 1, as in all tests with random inputs.
fn calls() -> u64 {
    let depth = std::env::var("SIMKEEP_DEPTH").map_or(1.0, |depth| depth.parse().unwrap());
    (CALLS * f64::clamp(depth, 0.1, 1.0)) as u64
}

/// Random numbers (Marsaglia's xorshift).
struct TwinRandom(u64);

impl TwinRandom {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn url(&mut self) -> String {
        let host = ["example.com", "www.example.com", "example.org"][self.roll(3) as usize];
        format!("https://{host}/{}", self.roll(300))
    }

    /// Returns a fingerprint from a small set of fingerprints that are near each other.
    fn fingerprint(&mut self) -> u64 {
        0x0123_4567_89ab_cdef ^ (1 << self.roll(4)) ^ (1 << self.roll(64))
    }

    fn time(&mut self) -> i64 {
        self.roll(1000) as i64
    }
}

/// Returns the result of a call through C, which must succeed.
fn made<T>(call: impl FnOnce(*mut *mut Failure) -> Option<Box<T>>) -> Box<T> {
    let mut error = ptr::null_mut();
    let made = call(&raw mut error);
    assert!(is_null(error), "{:?}", crate::abi::handle(error, "error"));
    made.unwrap()
}

/// Makes a call through C, which must succeed.
fn done(call: impl FnOnce(*mut *mut Failure) -> i32) -> i32 {
    let mut error = ptr::null_mut();
    let code = call(&raw mut error);
    assert!(is_null(error) && code <= SIMKEEP_NONE, "{:?}", crate::abi::handle(error, "error"));
    code
}

/// Converts a text for C.
fn c_text(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

/// Returns the texts of a column.
fn texts(texts: *const Texts) -> Vec<String> {
    let texts = &column(texts, 1)[0];
    let offsets = column(texts.offsets, texts.count + 1);
    let bytes = column(texts.bytes.cast::<u8>(), offsets[texts.count] as usize);
    let text =
        |at: &[u64]| String::from_utf8(bytes[at[0] as usize..at[1] as usize].to_vec()).unwrap();
    offsets.windows(2).map(text).collect()
}

/// The store through C and the store through the crate.
struct TwinStores {
    path: CString,
    c: Box<StoreHandle>,
    rust: Store,
    epoch: Epoch,
}

fn options() -> Options {
    let options = Options::default().background(false).durability(Durability::OnFlush);
    options.near_distance(Some(6)).memtable_observations(600).refers_to(true)
}

fn c_options() -> crate::open::options::Options {
    let mut options = crate::open::options::Options::default();
    done(|error| simkeep_options_init(&raw mut options, size_of_val(&options), error));
    (options.background, options.near_distance, options.memtable_observations) = (0, 6, 600);
    options.refers_to = 1;
    options.durability = DurabilityCode::OnFlush as i32;
    options
}

impl TwinStores {
    fn c(&self) -> *mut StoreHandle {
        ptr::from_ref(&*self.c).cast_mut()
    }

    /// Returns the current snapshot of the C store.
    fn view(&self) -> Box<SnapshotHandle> {
        made(|error| simkeep_store_snapshot(self.c(), error))
    }

    /// Observes some visits, in one call.
    fn observe(&self, dice: &mut TwinRandom) {
        let urls: Vec<String> = (0..=dice.roll(6)).map(|_| dice.url()).collect();
        let mut visits = Vec::new();
        let mut observations = Vec::new();
        for url in &urls {
            let (time, print) = (dice.time(), dice.fingerprint());
            let mut observation = match dice.roll(8) {
                0 => Observation::gone(url, Time::from_ms_unchecked(time)),
                1 => Observation::failed(url, Time::from_ms_unchecked(time)),
                2 => Observation::not_modified(url, Time::from_ms_unchecked(time)),
                3 => Observation::content(url, Time::from_ms_unchecked(time), None, self.epoch),
                _ => Observation::content(url, Time::from_ms_unchecked(time), print, self.epoch),
            };
            let mut visit = Visit::at_epoch(self.epoch.number());
            (visit.url, visit.url_len) = c_text(url);
            visit.time_ms = time;
            visit.seen = crate::write::visit::seen_code(&observation.visit.seen) as i32;
            if observation.visit.seen.content().is_some_and(|seen| seen.fingerprint.is_some()) {
                visit.has |= crate::write::visit::SIMKEEP_HAS_FINGERPRINT;
                visit.fingerprint = print;
            }
            if dice.roll(2) == 0 {
                visit.has |= crate::write::visit::SIMKEEP_HAS_DIGEST;
                visit.digest[0] = dice.roll(4) as u8;
                observation = observation.digest(Digest(visit.digest));
            }
            if dice.roll(3) == 0 {
                visit.has |= crate::write::visit::SIMKEEP_HAS_STATUS
                    | crate::write::visit::SIMKEEP_HAS_MODIFIED;
                (visit.status, visit.modified_ms) = (200 + dice.roll(5) as u32, dice.time());
                observation = observation
                    .status(visit.status as u16)
                    .modified(Time::from_ms_unchecked(visit.modified_ms));
            }
            if dice.roll(4) == 0 {
                visit.has |= crate::write::visit::SIMKEEP_HAS_WEIGHT
                    | crate::write::visit::SIMKEEP_HAS_CLASS;
                (visit.weight, visit.page_class) =
                    (dice.roll(9) as f64 / 4.0 + 0.1, dice.roll(3) as u32);
                observation = observation.weight(visit.weight).class(visit.page_class);
            }
            if dice.roll(3) == 0 {
                let etag = ["W/\"1\"", "\"2\"", "\u{e9}"][dice.roll(3) as usize];
                visit.has |= crate::write::visit::SIMKEEP_HAS_ETAG
                    | crate::write::visit::SIMKEEP_HAS_TARGET
                    | crate::write::visit::SIMKEEP_HAS_BYTES
                    | crate::write::visit::SIMKEEP_HAS_CONDITIONAL;
                (visit.etag, visit.etag_len) = c_text(etag);
                (visit.target, visit.target_len) = c_text("/canonical");
                visit.bytes = dice.roll(100_000);
                observation = observation.etag(etag.as_bytes()).canonical("/canonical");
                observation = observation.bytes(visit.bytes).conditional();
            }
            visits.push(visit);
            observations.push(observation);
        }
        let (count, size) = (visits.len(), size_of::<Visit>());
        let of_c = made(|error| {
            observe::simkeep_observe_batch(self.c(), visits.as_ptr(), count, size, error)
        });
        same_outcomes(&of_c, &self.rust.observe_batch(&observations).unwrap());
    }

    /// Searches, in a random way.
    fn search(&self, dice: &mut TwinRandom) {
        let mut query = query::Query::default();
        let (print, k) = (dice.fingerprint(), dice.roll(12) as u32);
        done(|error| query::simkeep_query_init(&raw mut query, query.size, print, k, error));
        let mut like = Query::new(print, k);
        query.limit = 1 + dice.roll(40);
        like = like.limit(query.limit as usize);
        let (under, exclude) = ("example.com", dice.url());
        if dice.roll(2) == 0 {
            (query.under, query.under_len) = c_text(under);
            like = like.under(Prefix::parse(under).unwrap());
        }
        if dice.roll(2) == 0 {
            (query.exclude, query.exclude_len) = c_text(&exclude);
            like = like.exclude(&exclude);
        }
        (query.from_ms, query.to_ms) = (dice.time(), 1000);
        query.versions = dice.roll(4) as i32;
        like = like.versions(match query.versions {
            0 => Versions::InForce,
            1 => Versions::At(Time::from_ms_unchecked(query.from_ms)),
            2 => Versions::Seen(
                Time::from_ms_unchecked(query.from_ms),
                Time::from_ms_unchecked(query.to_ms),
            ),
            _ => Versions::Ever,
        });
        let prints = [print, dice.fingerprint(), 0];
        let view = self.view();
        let of_c = made(|error| {
            let (at, like) = (prints.as_ptr(), &raw const query);
            query::simkeep_snapshot_search_batch(&raw const *view, at, 3, like, error)
        });
        simkeep_snapshot_free(Some(view));
        let of_rust = like.run_batch(&self.rust.snapshot(), &prints).unwrap();
        let urls = texts(matches::simkeep_matches_urls(&raw const *of_c));
        let offsets = column(matches::simkeep_matches_offsets(&raw const *of_c), 4);
        let bits = column(matches::simkeep_matches_distances(&raw const *of_c), urls.len());
        let found = column(matches::simkeep_matches_fingerprints(&raw const *of_c), urls.len());
        let complete = column(matches::simkeep_matches_complete(&raw const *of_c), 3);
        let within = column(matches::simkeep_matches_within(&raw const *of_c), 3);
        for (nth, matches) in of_rust.iter().enumerate() {
            let at = offsets[nth] as usize..offsets[nth + 1] as usize;
            assert_eq!(at.len(), matches.near.len());
            for (at, near) in at.zip(&matches.near) {
                assert_eq!((&urls[at], bits[at]), (&near.url, near.distance as u8));
                assert_eq!(found[at], near.fingerprint);
            }
            assert_eq!(
                (complete[nth] == 1, within[nth]),
                (matches.complete, matches.within.map_or(255, |bits| bits as u8))
            );
        }
        matches::simkeep_matches_free(Some(of_c));
    }

    /// Queries the state of a page.
    fn ask(&self, dice: &mut TwinRandom) {
        let url = dice.url();
        let (text, len) = c_text(&url);
        let view = self.view();
        let at = &raw const *view;
        let of_c = made(|error| history::simkeep_snapshot_history(at, text, len, error));
        let of_rust = self.rust.history(&url).unwrap();
        assert_eq!(history::simkeep_entries_count(&raw const *of_c), of_rust.len());
        for (nth, entry) in of_rust.iter().enumerate() {
            let mut got: Entry = crate::abi::zeroed();
            done(|error| {
                history::simkeep_entries_get(
                    &raw const *of_c,
                    nth,
                    &raw mut got,
                    size_of::<Entry>(),
                    error,
                )
            });
            let text = Entry::text(&url, entry);
            for (at, len) in [(&mut got.etag, got.etag_len), (&mut got.target, got.target_len)] {
                if len != 0 {
                    assert_eq!(column(at.cast::<u8>(), len), &*text);
                    *at = text.as_ptr().cast();
                }
            }
            assert_eq!(got, Entry::of(entry, &text));
            assert_eq!(got.time_ms, entry.entry().time().as_ms());
            let content = entry.entry().content();
            let fingerprint = content.and_then(|content| content.fingerprint);
            assert_eq!(got.fingerprint, fingerprint.unwrap_or(0));
        }
        history::simkeep_entries_free(Some(of_c));

        let mut page = page();
        let code = done(|error| {
            let size = size_of::<Page>();
            pages::simkeep_snapshot_latest(at, text, len, &raw mut page, size, error)
        });
        simkeep_snapshot_free(Some(view));
        let latest = self.rust.snapshot().latest(&url).unwrap();
        assert_eq!(code == SIMKEEP_OK, latest.is_some());
        if let Some(mut latest) = latest {
            latest.target = None;
            same_page(&page, &latest);
        }
    }

    /// Iterates over all pages.
    fn scan(&self) {
        let view = self.view();
        let of_c =
            made(|error| pages::simkeep_snapshot_scan(&raw const *view, ptr::null(), 0, error));
        simkeep_snapshot_free(Some(view));
        let at = (&raw const *of_c).cast_mut();
        let mut page = page();
        let next = |page: &mut Page| {
            done(|error| pages::simkeep_pages_next(at, page, size_of::<Page>(), error))
        };
        for of_rust in self.rust.snapshot().scan(None) {
            assert_eq!(next(&mut page), SIMKEEP_OK);
            same_page(&page, &of_rust.unwrap());
        }
        assert_eq!(next(&mut page), SIMKEEP_NONE);
        pages::simkeep_pages_free(Some(of_c));
    }

    fn maintain(&self, dice: &mut TwinRandom) {
        if dice.roll(3) == 0 {
            done(|error| simkeep_merge(self.c(), ptr::null(), error));
            self.rust.merge(&simkeep::Progress::default()).unwrap();
        } else {
            done(|error| simkeep_seal(self.c(), error));
            self.rust.seal().unwrap();
        }
    }

    /// Closes and reopens the C store.
    fn reopen(mut self) -> TwinStores {
        done(|error| simkeep_store_close(self.c(), error));
        simkeep_store_free(Some(self.c));
        let options = c_options();
        self.c = made(|error| simkeep_store_open(self.path.as_ptr(), &raw const options, error));
        self
    }
}

fn page() -> Page {
    crate::abi::zeroed()
}

fn same_page(page: &Page, of_rust: &simkeep::Page) {
    let url = column(page.url.cast::<u8>(), page.url_len);
    assert_eq!(url, of_rust.url.as_bytes());
    match &of_rust.target {
        Some(target) => {
            assert_eq!(column(page.target.cast::<u8>(), page.target_len), target.as_bytes());
        }
        None => assert!(page.target.is_null()),
    }
    let target = page.target;
    assert_eq!(*page, Page { target, ..Page::new(of_rust, (page.url, page.url_len)) });
    assert_eq!((page.visits, page.last_ms), (of_rust.visits, of_rust.last.time.as_ms()));
    let fingerprint = of_rust.content.and_then(|content| content.fingerprint);
    assert_eq!(page.fingerprint, fingerprint.unwrap_or(0));
}

fn same_outcomes(of_c: &Outcomes, of_rust: &[Outcome]) {
    let c = ptr::from_ref(of_c);
    let count = outcomes::simkeep_outcomes_count(c);
    assert_eq!(count, of_rust.len());
    let verdicts = column(outcomes::simkeep_outcomes_verdicts(c), count);
    let bits = column(outcomes::simkeep_outcomes_distances(c), count);
    let to = column(outcomes::simkeep_outcomes_to(c), count);
    let priorities = column(outcomes::simkeep_outcomes_priorities(c), count);
    let novel = column(outcomes::simkeep_outcomes_novel(c), count);
    let complete = column(outcomes::simkeep_outcomes_complete(c), count);
    let originals = texts(outcomes::simkeep_outcomes_originals(c));
    let refers_to = texts(outcomes::simkeep_outcomes_refers_to_urls(c));
    let refers_to_at = column(outcomes::simkeep_outcomes_refers_to_times(c), count);
    let (copies, near) = (
        texts(outcomes::simkeep_outcomes_copy_urls(c)),
        texts(outcomes::simkeep_outcomes_near_urls(c)),
    );
    let copy_at = column(outcomes::simkeep_outcomes_copy_offsets(c), count + 1);
    let near_at = column(outcomes::simkeep_outcomes_near_offsets(c), count + 1);
    let near_bits = column(outcomes::simkeep_outcomes_near_distances(c), near.len());
    for (nth, outcome) in of_rust.iter().enumerate() {
        let is_right = match outcome.verdict {
            Verdict::New => matches!(verdicts[nth], VerdictCode::New),
            Verdict::Same(_) => matches!(verdicts[nth], VerdictCode::Same),
            Verdict::Unseen => matches!(verdicts[nth], VerdictCode::Unseen),
            Verdict::Changed { .. } => matches!(verdicts[nth], VerdictCode::Changed),
            Verdict::Reverted { to: when, .. } => {
                matches!(verdicts[nth], VerdictCode::Reverted) && to[nth] == when.as_ms()
            }
            Verdict::Gone => matches!(verdicts[nth], VerdictCode::Gone),
            Verdict::Failed => matches!(verdicts[nth], VerdictCode::Failed),
            Verdict::OutOfOrder => matches!(verdicts[nth], VerdictCode::OutOfOrder),
            Verdict::Known => matches!(verdicts[nth], VerdictCode::Known),
            _ => false,
        };
        assert!(is_right, "{:?} is {:?}", outcome.verdict, verdicts[nth]);
        let distance = outcome.verdict.distance().map(|distance| distance.bits);
        assert_eq!(bits[nth], distances::of(distance));
        assert_eq!(priorities[nth].to_bits(), outcome.priority.to_bits());
        assert_eq!((novel[nth] == 1, complete[nth] == 1), (outcome.novel, outcome.complete));
        let original = outcome.original.as_ref().map_or("", |original| &original.url);
        assert_eq!(originals[nth], original);
        let (url, time) = match &outcome.refers_to {
            Some(capture) => (capture.url.as_str(), capture.time.as_ms()),
            None => ("", 0),
        };
        assert_eq!((refers_to[nth].as_ref(), refers_to_at[nth]), (url, time));
        let of = copy_at[nth] as usize..copy_at[nth + 1] as usize;
        assert!(copies[of].iter().eq(outcome.copies.iter().map(|copy| &copy.url)));
        let of = near_at[nth] as usize..near_at[nth + 1] as usize;
        assert!(near[of.clone()].iter().eq(outcome.near.iter().map(|near| &near.url)));
        let distances = outcome.near.iter().map(|near| near.distance as u8);
        assert!(near_bits[of].iter().copied().eq(distances));
    }
}

#[test]
fn random_calls_match_the_crate() {
    let dir = tempfile::tempdir().unwrap();
    let (c, rust) = (dir.path().join("c"), dir.path().join("rust"));
    let path = CString::new(c.to_str().unwrap()).unwrap();
    let c_options = c_options();
    let store = made(|error| simkeep_store_create(path.as_ptr(), &raw const c_options, error));
    let rust_store = Store::create(&rust, options()).unwrap();
    let epoch = rust_store.change_epoch();
    let mut twins = TwinStores { path, c: store, rust: rust_store, epoch };
    let mut dice = TwinRandom(0x9e37_79b9_7f4a_7c15);
    for _ in 0..calls() {
        match dice.roll(1000) {
            0..400 => twins.observe(&mut dice),
            400..630 => twins.search(&mut dice),
            630..930 => twins.ask(&mut dice),
            930..945 => twins.set_properties(&mut dice),
            945..950 => twins.load(&mut dice),
            950..954 => twins.due(&mut dice),
            954..956 => twins.take(&mut dice),
            956..958 => twins.clusters(&mut dice),
            958..964 => twins.cluster_of(&mut dice),
            964..966 => twins.pairs(&mut dice),
            966..980 => twins.forget(&mut dice),
            980..990 => twins.scan(),
            990..998 => twins.maintain(&mut dice),
            _ => twins = twins.reopen(),
        }
    }
    let all = |path| {
        let reader = Reader::open(path).unwrap();
        reader.snapshot().observations(None).collect::<simkeep::Result<Vec<_>>>().unwrap()
    };
    assert_eq!(all(&c), all(&rust));
    assert!(!all(&c).is_empty());
    simkeep_store_free(Some(twins.c));
}
