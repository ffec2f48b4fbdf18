//! Long operations can be watched and cancelled.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::query::{DistinctFingerprints, FingerprintPairs};
use simkeep::repair::{RepairOptions, repair};
use simkeep::verify::VerifyOptions;
use simkeep::{Error, Observation, Progress, Query, Result, Scope, Stage, Store};
use simkeep_testing::compare::dump;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::{create, ms, on, small, sound};

/// Enough pages for a merge to check more than once whether it is cancelled.
const PAGES: u64 = 6000;

fn page(n: u64) -> String {
    format!("http://a.example/{n}")
}

/// A store with three segments of the same size.
fn segments(disk: &SimDisk) -> Store {
    let store = create(disk, small().memtable_observations(100_000));
    let epoch = store.change_epoch();
    for part in 0..3 {
        let pages: Vec<String> = (0..PAGES / 3).map(|n| page(3 * n + part)).collect();
        let seen = pages.iter().zip(0..).map(|(url, n)| {
            Observation::content(
                url,
                ms(1),
                (n * 3 + part).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                epoch,
            )
        });
        store.observe_batch(&seen.collect::<Vec<_>>()).unwrap();
        store.seal().unwrap();
    }
    store
}

/// A progress that is already cancelled.
fn cancelled() -> Progress {
    let progress = Progress::default();
    progress.cancel();
    progress
}

fn is_cancelled<T: std::fmt::Debug>(ended: Result<T>) {
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
}

#[test]
fn long_operations_stop_when_cancelled() {
    let disk = SimDisk::new();
    let store = segments(&disk);
    let before = dump(&store.snapshot()).unwrap();
    is_cancelled(store.merge(&cancelled()));
    is_cancelled(store.snapshot().warm_up(&cancelled()));
    is_cancelled(store.verify(VerifyOptions::default().progress(cancelled())));
    let pairs = |_: &[_]| -> ControlFlow<()> { panic!("it is cancelled") };
    is_cancelled(FingerprintPairs::selected_by(&Query::new(0, 3)).run(
        &store.snapshot(),
        &cancelled(),
        pairs,
    ));
    is_cancelled(FingerprintPairs::selected_by(&Query::new(0, 3)).with(&[1]).run(
        &store.snapshot(),
        &cancelled(),
        pairs,
    ));
    let all = |_: &[u64]| ControlFlow::Continue(());
    is_cancelled(DistinctFingerprints::selected_by(&Query::new(0, 3)).run(
        &store.snapshot(),
        &cancelled(),
        all,
    ));
    assert_eq!(store.stats().unwrap().segments.len(), 3);
    assert!(dump(&store.snapshot()).unwrap() == before);
    let gone = page(0);
    is_cancelled(store.purge(Scope::Url(&gone), &cancelled()));
    assert!(dump(&store.snapshot()).unwrap() == before);
    let nothing = std::iter::empty::<Result<Observation<'_>>>();
    is_cancelled(store.load(nothing, LoadOptions::default().progress(cancelled())));
    assert_eq!(store.purge(Scope::Url(&gone), &Progress::default()).unwrap().pages, 1);
    sound(&store).unwrap();
    store.close().unwrap();
    let to = SimDisk::new();
    is_cancelled(repair(on(&disk), on(&to), RepairOptions::default().progress(cancelled())));
    let none = Store::open(on(&to), small());
    assert!(matches!(none, Err(Error::NotAStore { .. })), "{none:?}");
}

#[test]
fn progress_grows_to_its_total() {
    let disk = SimDisk::new();
    drop(segments(&disk));
    let (progress, watched) = (Progress::default(), Progress::default());
    let (seen, most) = (watched.clone(), Arc::new(AtomicU64::new(0)));
    let on_its_way = Arc::clone(&most);
    let hooked = HookDisk::new(on(&disk), move |_, _| {
        assert!(seen.total().is_none_or(|of| seen.done() <= of));
        on_its_way.fetch_max(seen.done(), Ordering::Relaxed);
    });
    let store = Store::open(Arc::new(hooked), small()).unwrap();
    let whole = |progress: &Progress, stage| {
        assert_eq!((progress.stage(), progress.fraction()), (stage, Some(1.0)));
        assert_eq!(progress.total(), Some(progress.done()));
    };
    store.snapshot().warm_up(&watched).unwrap();
    whole(&watched, Stage::Checking);
    most.store(0, Ordering::Relaxed);
    store.merge(&watched).unwrap();
    whole(&watched, Stage::Merging);
    // The end always reports completion. The last report before it shows the progress so far.
    let most = most.load(Ordering::Relaxed);
    assert!(most > PAGES, "{most} of {}", 2 * PAGES);
    let pages = store.stats().unwrap().pages;
    assert_eq!((pages, watched.done()), (PAGES, 2 * PAGES), "pages, and with their fingerprints");
    store.purge(Scope::Url(&page(1)), &watched).unwrap();
    whole(&watched, Stage::Merging);
    let verified = store.verify(VerifyOptions::default().progress(progress.clone())).unwrap();
    whole(&progress, Stage::Checking);
    assert_eq!((progress.found(), verified.flaws), (0, vec![]));
    let epoch = store.change_epoch();
    store.observe(Observation::content("http://b.example/", ms(1), 1, epoch)).unwrap();
    let all = |_: &[_]| ControlFlow::Continue(());
    let joined =
        FingerprintPairs::selected_by(&Query::new(0, 1)).run(&store.snapshot(), &watched, all);
    joined.unwrap();
    whole(&watched, Stage::Joining);
    assert_eq!(watched.found(), 1);
}
