//! Runs the tool while a crawler observes as fast as it can.

use simkeep_testing::ms;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use simkeep::disk::{Disk, DiskTraffic, Meter, RealDisk};
use simkeep::{Digest, Epoch, Observation};
use simkeep_testing::depth::deep;

/// Pages that the crawler visits in turn.
const PAGES: u64 = 50_000;

/// Visits per batch.
const BATCH: u64 = 1_000;

/// A page that is visited in every batch, last.
const OFTEN: &str = "https://example.com/often";

/// A near page, which is visited just before it.
const NEAR: &str = "https://example.org/often";

/// The fingerprint of the page that is visited often.
const F: u64 = 0x0123_4567_89ab_cdef;

/// Runs of each verb on one store, which grows in the meantime.
const RUNS: u64 = 50;

/// Observes the batch that begins with operation `first`. Operation `n` is at `n` seconds.
fn observe(store: &Store, first: u64) {
    let often = first + BATCH - 1;
    let page = |n: u64| match often - n {
        0 => (OFTEN.to_owned(), F),
        1 => (NEAR.to_owned(), F ^ 1),
        _ => {
            let url = format!("https://example.com/{}", n % PAGES);
            (url, n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }
    };
    let pages = Vec::from_iter((first..=often).map(page));
    let visits = pages.iter().zip(first..).map(|((url, fingerprint), n)| {
        let fingerprint = *fingerprint;
        let visit =
            Observation::content(url, ms(n as i64 * 1000), fingerprint, Epoch::from_number(0));
        visit.digest(Digest(u128::from(n).to_le_bytes()))
    });
    store.observe_batch(&Vec::from_iter(visits)).unwrap();
}

/// The cost of observations: syncs per thousand, and bytes for each.
fn cost(counts: &DiskTraffic, observed: u64) -> (f64, f64) {
    let observed = observed as f64;
    let syncs = (counts.file_syncs + counts.dir_syncs) as f64;
    (syncs * 1000.0 / observed, counts.bytes_written as f64 / observed)
}

/// The number of the operation at this time.
fn operation_at(time: &Value) -> u64 {
    let text = time.as_str().unwrap();
    let part = |from: usize, to: usize| text[from..to].parse::<u64>().unwrap();
    assert_eq!(part(0, 4), 1970, "{text}");
    let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().zip(1..);
    let before: u64 =
        months.take_while(|(_, month)| *month < part(5, 7)).map(|(days, _)| days).sum();
    let days = before + part(8, 10) - 1;
    ((days * 24 + part(11, 13)) * 60 + part(14, 16)) * 60 + part(17, 19)
}

/// The last operation that an answer includes, or `None` if it covers only sealed data.
fn saw(verb: &str, ran: &ToolRun) -> Option<u64> {
    assert_eq!(ran.code, 0, "{verb}: {}{}", ran.err, ran.out);
    if ran.err.contains("what it had sealed") {
        return None;
    }
    assert!(ran.err.contains("all that it stored until now"), "{verb}: {}", ran.err);
    let last = ran.objects().pop().unwrap();
    Some(match verb {
        "tail" => last["operation"].as_u64().unwrap(),
        "history" => operation_at(&last["t"]),
        _ => last["saw"]["sequence"].as_u64().unwrap(),
    })
}

#[test]
fn each_verb_sees_what_a_crawler_has_acknowledged() {
    // At depth 50, a thousand runs of each and twenty reports.
    let (mut left, mut runs, mut behind) = (deep(20), 0, 0);
    while left > 0 {
        let now = left.min(RUNS);
        behind += beside_one_store(now);
        (runs, left) = (runs + 4 * now, left - now);
    }
    println!("{runs} runs; {behind} of them saw only sealed data");
    assert!(behind <= 1 + runs / 1000, "{behind} of {runs} fell back");
}

/// Stops the crawler on drop, so that a failing test does not wait for it forever.
struct CrawlerStop<'a>(&'a AtomicBool);

impl Drop for CrawlerStop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs each verb `runs` times while a crawler writes to one store, and returns how many runs fell back.
fn beside_one_store(runs: u64) -> u64 {
    let place = TestFolder::new();
    let meter = Meter::counting(Arc::new(RealDisk::new(place.store())));
    let disk: Arc<dyn Disk> = Arc::new(meter.clone());
    let store = Store::create(disk, Options::default()).unwrap();
    let (acknowledged, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut behind = 0;
    let count = || (meter.counts(), acknowledged.load(Ordering::Acquire));
    thread::scope(|scope| {
        let crawler = scope.spawn(|| {
            let mut first = 1;
            while !stop.load(Ordering::Acquire) {
                observe(&store, first);
                first += BATCH;
                acknowledged.store(first - 1, Ordering::Release);
            }
        });
        let stopped = CrawlerStop(&stop);
        while acknowledged.load(Ordering::Acquire) < 2 * PAGES && !crawler.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        let (before, since) = (count(), Instant::now());
        let verbs: [&[&str]; 4] = [
            &["inspect"],
            &["near", "--url", OFTEN],
            &["history", OFTEN, "--at", "2026-01-01"],
            &["tail", "-n", "100"],
        ];
        let report: &[&str] = &["report", "-o", "report.html"];
        for run in 0..runs {
            for args in verbs.into_iter().chain((run % 50 == 0).then_some(report)) {
                let from = acknowledged.load(Ordering::Acquire);
                let ran = place.run(&[args, &["--json"]].concat());
                match saw(args[0], &ran) {
                    Some(last) => assert!(last >= from, "{} saw {last}, not {from}", args[0]),
                    None => behind += 1,
                }
            }
        }
        let (beside, took) = (count(), since.elapsed());
        thread::sleep(took.min(Duration::from_secs(5)));
        let alone = count();
        drop(stopped);
        let cost = |from: &(DiskTraffic, u64), to: &(DiskTraffic, u64)| {
            cost(&to.0.since(&from.0), to.1 - from.1)
        };
        let (syncs, bytes) = cost(&before, &beside);
        let (alone_syncs, alone_bytes) = cost(&beside, &alone);
        println!(
            "{} observed with readers: {syncs:.2} syncs for a thousand and {bytes:.1} bytes each; {} alone: \
             {alone_syncs:.2} and {alone_bytes:.1}",
            beside.1 - before.1,
            alone.1 - beside.1,
        );
    });
    behind
}
