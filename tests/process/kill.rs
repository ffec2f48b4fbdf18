//! Crawlers that are killed at random moments lose no acknowledged operation, and add nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use simkeep::{Options, Store};

use super::child::ChildProcess;
use super::crawl::{self, CrawlState, acknowledged, options};
use super::scene::{TestScene, say};
use simkeep_testing::compare::check_store;
use simkeep_testing::depth::deep;
use simkeep_testing::files::copy;
use simkeep_testing::{choice, sound};

/// The most time that opening after a crash may take, whatever the size of the store.
const RECOVERY_MAX: Duration = Duration::from_secs(1);

/// What a crawler was doing when it was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KillMoment {
    Observing,
    SealingOrMerging,
    Recovering,
}

const MOMENTS: [KillMoment; 3] =
    [KillMoment::Observing, KillMoment::SealingOrMerging, KillMoment::Recovering];

/// Returns whether a seal or merge was running when a crawler's reports ended. It was if the segment had
/// not been renamed. After the renaming comes the commit: a segment that is not live now was interrupted
/// before it, unless a later merge has removed it.
fn was_sealing(said: &[String], live: &[u64]) -> bool {
    let of = |line: &String, what: &str| -> Option<u64> {
        line.strip_prefix(what).map(|id| id.parse().unwrap())
    };
    said.iter().filter_map(|line| of(line, "begin ")).any(|id| {
        match said.iter().position(|line| of(line, "rename ") == Some(id)) {
            None => true,
            Some(at) => {
                let since = &said[at..];
                !live.contains(&id) && since.iter().all(|line| of(line, "begin ").is_none())
            }
        }
    })
}

/// A store whose crawler is killed again and again, and which is never closed in between.
struct KilledStore {
    store: PathBuf,
    seed: u64,
    expected: CrawlState,
    kills: u64,
    /// Whether the last kill left acknowledged operations only in the journal.
    unsealed: bool,
}

/// A checked kill.
struct CheckedKill {
    moment: KillMoment,
    /// Whether acknowledged operations were only in the journal.
    unsealed: bool,
    recovery: Duration,
}

/// Starts a crawler, and tries to kill it at a moment of a given kind.
fn strike(
    victim: &KilledStore,
    aim: KillMoment,
    choice: &mut impl FnMut(u64) -> u64,
) -> Vec<String> {
    let store = victim.store.display();
    let mut child = ChildProcess::start("crawl", &[&store, &victim.seed, &victim.expected.at]);
    let (line, count, delay_us) = match aim {
        KillMoment::Observing => ("ack ", 1 + choice(20), choice(1500)),
        KillMoment::SealingOrMerging => match choice(4) {
            0 => ("rename ", 1 + choice(3), choice(3000)),
            _ => ("write ", 1 + choice(9), choice(500)),
        },
        KillMoment::Recovering => ("recovering", 1 + choice(25), choice(300)),
    };
    let (mut said, mut met) = (Vec::new(), 0);
    while met < count {
        let Some(line_said) = child.receive() else {
            panic!("the crawler ended by itself: {said:?}")
        };
        met += u64::from(line_said.starts_with(line));
        // Recovery is over, so the kill comes at another moment than intended.
        let late = aim == KillMoment::Recovering && line_said == "opened";
        said.push(line_said);
        if late {
            break;
        }
    }
    sleep(Duration::from_micros(delay_us));
    said.extend(child.kill());
    said
}

/// Opens a store after a crash, and returns how long that took, without the time in which other programs
/// had the processor.
fn recover(path: &Path, options: Options) -> (Store, Duration) {
    let waited = || {
        let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanoseconds = statistics.split(' ').nth(1).and_then(|n| n.parse().ok());
        Duration::from_nanos(nanoseconds.unwrap_or(0))
    };
    let (since, before) = (Instant::now(), waited());
    let store = Store::open(path, options).unwrap();
    (store, since.elapsed().saturating_sub(waited() - before))
}

/// Opens a copy of the store as the kill left it, and compares it with the expected state.
fn examine(victim: &mut KilledStore, scene: &TestScene, said: &[String]) -> CheckedKill {
    let opened = said.iter().any(|line| line == "opened");
    let acknowledged = acknowledged(said).unwrap_or(victim.expected.at);
    let path = scene.path("copy");
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    copy(&victim.store, &path);
    let (store, recovery) = recover(&path, options().background(false));
    victim.expected.recognise(&store, acknowledged, opened);
    if victim.kills % 8 == 7 {
        check_store(&store, &victim.expected.model);
        sound(&store).unwrap();
    }
    let stats = store.stats().unwrap();
    let live: Vec<u64> = stats.segments.iter().map(|segment| segment.id).collect();
    let moment = match () {
        () if !opened => KillMoment::Recovering,
        () if was_sealing(said, &live) => KillMoment::SealingOrMerging,
        () => KillMoment::Observing,
    };
    // The operation that was not acknowledged may be one of the unsealed ones.
    let unsealed = stats.unsealed_visits > victim.expected.at - acknowledged;
    CheckedKill { moment, unsealed, recovery }
}

#[test]
fn c1_killed_crawler_loses_nothing_acknowledged() {
    /// The number of kills after which a store is replaced: histories grow, and so does the comparison.
    const LIVES: u64 = 20;
    let kills = deep(300);
    let quota = kills.div_ceil(3);
    let scene = TestScene::new("kill");
    let mut choice = choice(scene.seed);
    let (mut counts, mut other) = ([0; 3], 0);
    let mut recoveries = Vec::new();
    let mut victim: Option<KilledStore> = None;
    while let Some(aim) = MOMENTS.into_iter().min_by_key(|&moment| counts[moment as usize])
        && counts[aim as usize] < quota
    {
        let mut current = victim.take().unwrap_or_else(|| {
            let (store, seed) = (scene.path("crawl.simkeep"), choice(u64::MAX));
            if store.exists() {
                fs::remove_dir_all(&store).unwrap();
            }
            crawl::create(&store);
            KilledStore { store, seed, expected: CrawlState::new(seed), kills: 0, unsealed: false }
        });
        // If there is nothing to recover, a kill during recovery shows nothing.
        let aim = if current.unsealed { aim } else { KillMoment::Observing };
        let said = strike(&current, aim, &mut choice);
        let killed = examine(&mut current, &scene, &said);
        recoveries.push(killed.recovery);
        if killed.unsealed {
            counts[killed.moment as usize] += 1;
        } else {
            other += 1;
        }
        current.kills += 1;
        current.unsealed = killed.unsealed;
        victim = (current.kills < LIVES).then_some(current);
    }
    recoveries.sort();
    let (median, longest) = (recoveries[recoveries.len() / 2], recoveries[recoveries.len() - 1]);
    let all: u64 = counts.iter().sum();
    say(format!(
        "{all} kills: {} while observing, {} while sealing or merging, {} while recovering; 0 lost \
         (and {other} with nothing unsealed); opened after in {median:.1?}, at most {longest:.1?}; \
         seed {}",
        counts[0], counts[1], counts[2], scene.seed,
    ));
    assert!(all >= kills && counts.iter().all(|&count| count >= quota), "{counts:?}");
    assert!(longest < RECOVERY_MAX, "opening after a kill took {longest:?}");
}

/// Opens copies of a store whose crawler was killed. Checks how long that takes, and that all of its
/// pages are there and unsealed.
fn opens_soon(scene: &TestScene, store: &Path, pages: u64, what: &str) {
    // Take the shortest of three times: other programs use the processor's caches too.
    let recoveries = [1, 2, 3].map(|nth| {
        let path = scene.path(&format!("copy {nth}"));
        copy(store, &path);
        let options = Options::default().background(false);
        let (store, recovery) = recover(&path, options);
        let stats = store.stats().unwrap();
        assert_eq!((stats.pages, stats.unsealed_visits), (pages, pages));
        drop(store);
        fs::remove_dir_all(&path).unwrap();
        recovery
    });
    let recovery = recoveries.into_iter().min().unwrap();
    say(format!("{pages} visits{what} in the journals: opened after a kill in {recovery:.1?}"));
    assert!(recovery < RECOVERY_MAX, "opening took {recovery:?}");
}

#[test]
fn c5_killed_store_with_full_journals_opens_within_a_second() {
    let scene = TestScene::new("kill");
    let path = scene.path("crawl.simkeep");
    let mut child = ChildProcess::start("crawl much", &[&path.display()]);
    child.expect("done");
    child.kill();
    opens_soon(&scene, &path, crawl::MUCH, "");
}

#[test]
fn c5_killed_store_with_long_urls_opens_within_a_second() {
    let scene = TestScene::new("kill");
    // Nearly the largest number of pages, and the longest URLs.
    for url_bytes in [200, 8000] {
        let path = scene.path(&format!("{url_bytes}.simkeep"));
        let mut child = ChildProcess::start("crawl long", &[&path.display(), &url_bytes]);
        let pages = child.receive().unwrap().parse().unwrap();
        child.kill();
        opens_soon(&scene, &path, pages, &format!(" of URLs of {url_bytes} bytes"));
        fs::remove_dir_all(&path).unwrap();
    }
}
