//! When a page was modified, according to its server.

use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{Epoch, Observation, Progress, Store, Time};
use simkeep_testing::{TIME_MAX, TIME_MIN, create, ms, open, small};

const URL: &str = "https://example.com/";

fn content(time: i64) -> Observation<'static> {
    Observation::content(URL, ms(time), time.cast_unsigned(), Epoch::from_number(0))
}

/// The modification time of the page, which must be the same after the store is sealed, merged and
/// reopened.
fn modified(disk: &SimDisk, store: Store) -> Option<i64> {
    let modified = |store: &Store| store.snapshot().latest(URL).unwrap().unwrap().modified;
    let first = modified(&store).map(Time::as_ms);
    store.seal().unwrap();
    assert_eq!(modified(&store), first.map(ms));
    store.merge(&Progress::default()).unwrap();
    assert_eq!(modified(&store), first.map(ms));
    drop(store);
    assert_eq!(modified(&open(disk, small())), first.map(ms));
    first
}

#[test]
fn page_reports_the_latest_modified_date_of_its_content() {
    let (failed, gone) =
        (|time| Observation::failed(URL, ms(time)), |time| Observation::gone(URL, ms(time)));
    let word = |time| Observation::not_modified(URL, ms(time));
    let cases: [(&[Observation<'_>], Option<i64>); 8] = [
        (&[content(1_000)], None),
        (&[content(1_000).modified(ms(7))], Some(7)),
        (&[content(1_000).modified(ms(7)), word(2_000), failed(3_000)], Some(7)),
        (&[content(1_000).modified(ms(7)), word(2_000).modified(ms(5)), gone(3_000)], Some(5)),
        (&[content(1_000), word(2_000).modified(ms(5)), word(3_000)], Some(5)),
        // An older date does not apply to content without a date.
        (&[content(1_000).modified(ms(7)), word(2_000).modified(ms(7)), content(3_000)], None),
        (&[word(1_000).modified(ms(7)), failed(2_000)], None),
        // At one time, the later date wins.
        (
            &[
                content(1_000).modified(ms(9)),
                word(1_000).modified(ms(8)),
                content(1_000).modified(ms(7)),
            ],
            Some(9),
        ),
    ];
    for (visits, expected) in cases {
        let backwards: Vec<_> = visits.iter().rev().copied().collect();
        for visits in [visits, &backwards] {
            let disk = SimDisk::new();
            let store = create(&disk, small());
            for visit in visits {
                store.observe(*visit).unwrap();
                // Each visit is in its own segment.
                store.seal().unwrap();
            }
            assert_eq!(modified(&disk, store), expected, "{visits:?}");
            let disk = SimDisk::new();
            let store = create(&disk, small());
            store.load(visits.iter().map(Ok), LoadOptions::default()).unwrap();
            assert_eq!(modified(&disk, store), expected, "{visits:?}");
        }
    }
}

#[test]
fn implausible_date_is_kept_unchanged() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let dates = [TIME_MIN, -1, 0, 999, 1_000, 1_001, 50_000, TIME_MAX];
    let visits: Vec<_> =
        (0..).zip(dates).map(|(at, date)| content(at).modified(ms(date))).collect();
    store.observe_batch(&visits).unwrap();
    store.seal().unwrap();
    let history = store.history(URL).unwrap();
    let kept = history.iter().filter_map(|entry| Some(entry.entry().visit()?.modified));
    assert_eq!(kept.collect::<Vec<_>>(), dates.map(|date| Some(ms(date))));
}

#[test]
fn visits_that_differ_only_in_date_are_two() {
    let disk = SimDisk::new();
    let store = create(&disk, small());
    let all = [content(1).modified(ms(5)), content(1), content(1).modified(ms(4))];
    store.observe_batch(&all).unwrap();
    store.observe_batch(&all).unwrap();
    let dates = |store: &Store| -> Vec<Option<Time>> {
        let history = store.history(URL).unwrap();
        history.iter().filter_map(|entry| Some(entry.entry().visit()?.modified)).collect()
    };
    assert_eq!(dates(&store), [None, Some(ms(4)), Some(ms(5))]);
    store.seal().unwrap();
    store.observe_batch(&all).unwrap();
    assert_eq!(dates(&store), [None, Some(ms(4)), Some(ms(5))]);
}
