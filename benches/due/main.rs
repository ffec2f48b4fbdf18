//! The cost of finding the due pages, compared with a scan of all pages and with summing the bytes
//! that it reads; and the cost per returned page, which includes the search for near pages.
//!
//! `cargo bench --bench due -- --json` prints one JSON object a line; without `--json` it prints
//! text. Everything runs on a real disk, in a directory that is removed at the end.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_wrap,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use simkeep::due::{Due, LearnedPriors, Plan};
use simkeep::load::LoadOptions;
use simkeep::recrawl::{Interval, Policy};
use simkeep::{Content, Entry, Options, Seen, Snapshot, Store, Visit};
use simkeep_testing::bench::arguments::{self, RemainingArguments};
use simkeep_testing::bench::report::{BenchReport, BenchRow};
use simkeep_testing::ms;

const USAGE: &str = "\
cargo bench --bench due -- [OPTIONS]

  --json           one JSON object a line
  --pages N        pages, of three visits each (default 1,000,000)
  --budget N       pages to find (default 10,000)
  --rounds N       how often each is measured; the median counts (default 5)
  --dir PATH       where to work (default: under target/)
";

const DAY: i64 = 86_400_000;

/// A time some weeks after the last visit.
const NOW: i64 = 120 * DAY;

/// The bytes read for each page: hashes, their pages and rows.
const ROW_BYTES: usize = 28;

/// The number of segments of the store in which each page is in two segments.
const SEGMENTS: u64 = 20;

struct DueBenchArguments {
    json: bool,
    pages: u64,
    budget: usize,
    rounds: usize,
    dir: PathBuf,
}

impl DueBenchArguments {
    fn read(given: &mut RemainingArguments) -> Result<DueBenchArguments, String> {
        let mut read = DueBenchArguments {
            json: false,
            pages: 1_000_000,
            budget: 10_000,
            rounds: 5,
            dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        };
        while let Some(argument) = given.argument() {
            match argument.as_str() {
                "--json" => read.json = true,
                "--pages" => read.pages = given.number()? as u64,
                "--budget" => read.budget = given.number()?,
                "--rounds" => read.rounds = given.number()?,
                "--dir" => read.dir = PathBuf::from(given.value()?),
                _ => return given.unknown(),
            }
        }
        if read.pages < SEGMENTS || read.rounds == 0 {
            return Err("there are at least 20 pages and one round".to_owned());
        }
        Ok(read)
    }
}

fn main() {
    let arguments = arguments::read(USAGE, DueBenchArguments::read);
    std::fs::create_dir_all(&arguments.dir).unwrap();
    let dir = tempfile::Builder::new().prefix("due-").tempdir_in(&arguments.dir).unwrap();
    let one = fill(&dir.path().join("one"), &arguments, &[(0, arguments.pages)], scattered);
    let found = measure("one_segment", &arguments, &one.snapshot(), arguments.pages);
    one.close().unwrap();
    // Each page is in two segments that are half of all segments apart.
    let share = arguments.pages * 2 / SEGMENTS;
    let half = SEGMENTS / 2;
    let parts = (0..SEGMENTS).map(|part| (part % half * share, (part % half + 1) * share));
    let parts: Vec<_> = parts.collect();
    let many = fill(&dir.path().join("many"), &arguments, &parts, scattered);
    let rows = share * SEGMENTS;
    let in_many = measure("many_segments", &arguments, &many.snapshot(), rows);
    many.close().unwrap();
    // Stores in which four pages share each content, and in which all pages share one.
    let near = |bench: &'static str, fingerprint: &dyn Fn(u64) -> u64| {
        let all = [(0, arguments.pages)];
        let store = fill(&dir.path().join(bench), &arguments, &all, fingerprint);
        measure_each(bench, &arguments, &store.snapshot());
        store.close().unwrap();
    };
    near("four_alike", &|version| scattered(version % arguments.pages.div_ceil(4)));
    near("all_alike", &|_| 1);
    let ratio = BenchRow::new("ratio").number("many_segments_to_one", in_many / found);
    BenchReport { json: arguments.json }.print(ratio);
}

/// A number that looks random.
fn mixed(n: u64) -> u64 {
    scattered(n) >> 11
}

/// A fingerprint that is not near the fingerprints of other numbers.
fn scattered(n: u64) -> u64 {
    let mixed = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A store with a segment for each part of all pages, with three visits to each page of the part.
fn fill(
    path: &Path,
    arguments: &DueBenchArguments,
    parts: &[(u64, u64)],
    fingerprint: impl Fn(u64) -> u64,
) -> Store {
    let options = Options::default().background(false);
    let store = Store::create(path, options).unwrap();
    let epoch = store.change_epoch();
    for (number, (from, upto)) in (0..).zip(parts) {
        let round = i64::from(number >= SEGMENTS / 2);
        let visits = (*from..*upto).flat_map(|page| visits(page, round));
        let visits = visits.map(|(url, time, version)| {
            let fingerprint = Some(fingerprint(version));
            let content = Content { fingerprint, digest: None, epoch };
            let (seen, status, modified) = (Seen::Content(content), None, None);
            Ok((url, Entry::Visit(Visit { status, modified, ..Visit::new(ms(time), seen) })))
        });
        let load = LoadOptions::default().segment_pages(arguments.pages.max(1 << 20));
        store.load(visits, load).unwrap();
    }
    store
}

/// The visits of a page in a round. They are a day to three weeks apart, and find changes now and
/// then, on some hosts more often.
fn visits(page: u64, round: i64) -> impl Iterator<Item = (String, i64, u64)> {
    let (host, lot) = (mixed(page / 100) % 1_000_000, mixed(page));
    (0..3).map(move |nth| {
        let url = format!("https://h{host}.example/{page}");
        let apart = DAY + (lot / 86_400 % 20 * 86_400 + lot % 86_400) as i64 * 1000;
        let time = round * 45 * DAY + nth * apart + (lot % 1_000_003) as i64;
        let drawn = mixed(lot + 3 * round.unsigned_abs() + nth as u64);
        let changes = drawn.is_multiple_of(3 + host % 20);
        let version = if changes { nth as u64 + 1 } else { 0 };
        (url, time, page ^ version << 40)
    })
}

fn seconds_of<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let since = Instant::now();
    let came_to = run();
    (since.elapsed().as_secs_f64(), came_to)
}

fn median(mut each: Vec<f64>) -> f64 {
    each.sort_unstable_by(f64::total_cmp);
    each[each.len() / 2]
}

/// The microseconds for each returned page after the first, when all rows were read; and the ratio
/// of pages that have a leader.
fn each_us(arguments: &DueBenchArguments, view: &Snapshot, policy: Policy) -> (f64, f64) {
    let never = Interval::from_seconds(100_000 * 86_400).unwrap();
    let due = Due::new(ms(NOW), arguments.budget).policy(policy).largest_interval(never);
    let ask = |_| {
        let mut pages = view.due(&due);
        pages.next().unwrap().unwrap();
        let (seconds, led) = seconds_of(|| {
            let led = pages.map(|page| u64::from(page.unwrap().near.is_some()));
            led.collect::<Vec<_>>()
        });
        let of_one = 1.0 / led.len().max(1) as f64;
        (seconds * 1e6 * of_one, led.iter().sum::<u64>() as f64 * of_one)
    };
    let (us, led): (Vec<_>, Vec<_>) = (0..arguments.rounds).map(ask).unzip();
    (median(us), led[0])
}

/// Measures the cost of each page, with and without a search for near pages.
fn measure_each(bench: &'static str, arguments: &DueBenchArguments, view: &Snapshot) {
    let (us, led) = each_us(arguments, view, Policy::default());
    let (unsought_us, _) = each_us(arguments, view, Policy::UNIFORM);
    let row = BenchRow::new(bench)
        .number("each_us", us)
        .number("unsought_us", unsought_us)
        .number("led", led);
    BenchReport { json: arguments.json }.print(row);
}

/// Measures a store with `rows` rows; returns the seconds of one query.
fn measure(bench: &'static str, arguments: &DueBenchArguments, view: &Snapshot, rows: u64) -> f64 {
    let due = Due::new(ms(NOW), arguments.budget);
    let ask = || seconds_of(|| view.due(&due).filter(Result::is_ok).count());
    let (learn, learned) = seconds_of(|| LearnedPriors::of(view).unwrap());
    let (first, found) = ask();
    let (plan, planned) =
        seconds_of(|| Plan::of(view, &due, arguments.pages as f64 / 20.0).unwrap());
    let urls: Vec<String> = view.due(&due).map(|page| page.unwrap().page.url).collect();
    let (decide, _) = seconds_of(|| {
        urls.iter().filter(|url| planned.decide(view, url).unwrap().is_some()).count()
    });
    let next = median((0..arguments.rounds).map(|_| ask().0).collect());
    let (scan, pages) = seconds_of(|| view.scan(None).filter(Result::is_ok).count());
    let words = vec![1u64; usize::try_from(rows).unwrap() * ROW_BYTES / 8];
    let sum = || std::hint::black_box(words.iter().sum::<u64>());
    let sum = median((0..arguments.rounds).map(|_| seconds_of(sum).0).collect());
    let row = BenchRow::new(bench)
        .count("pages", pages as u64)
        .count("rows", rows)
        .count("found", found as u64)
        .count("compared", learned.pages() as u64)
        .number("learn_s", learn)
        .number("first_s", first)
        .number("plan_s", plan)
        .number("decide_us", decide * 1e6 / urls.len() as f64)
        .number("next_s", next)
        .number("scan_s", scan)
        .number("sum_s", sum)
        .number("scan_to_next", scan / next)
        .number("next_to_sum", next / sum);
    BenchReport { json: arguments.json }.print(row);
    measure_each("each_page", arguments, view);
    next
}
