//! The operations of the journal are the acknowledged ones, with their verdicts.

#![expect(clippy::cast_possible_truncation, reason = "small random numbers")]

use simkeep::disk::SimDisk;
use simkeep::inspect::{LoggedOperation, OperationKind, Operations, Overview};
use simkeep::{
    Entry, Epoch, HistoryEntry, Observation, Reader, Restatement, Scope, Snapshot, Store, Verdict,
};
use simkeep_testing::depth::deep;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, create, ms, on, small};

fn all(view: &Snapshot, after: u64) -> Vec<LoggedOperation> {
    Operations::after(view, after).map(|operation| operation.unwrap()).collect()
}

fn visit(choose: &mut impl FnMut(u64) -> u64) -> Observation<'static> {
    let url = URLS[choose(6) as usize];
    let (time, epoch) = (choose(40) as i64 * 1000, Epoch::from_number(choose(2) as u32));
    let fingerprint = 1_u64 << choose(3);
    let visit = match choose(8) {
        0 => Observation::gone(url, ms(time)),
        1 => Observation::failed(url, ms(time)),
        2 => Observation::not_modified(url, ms(time)),
        3 => Observation::content(url, ms(time), None, epoch),
        4 => {
            let other = Epoch::from_number(1 - epoch.number());
            Observation::content(url, ms(time), fingerprint, epoch).also(fingerprint << 8, other)
        }
        _ => Observation::content(url, ms(time), fingerprint, epoch),
    };
    if choose(5) == 0 { visit.weight(0.5) } else { visit }
}

/// Performs a random call, and returns the expected operations, some with their verdict.
fn act(store: &Store, choose: &mut impl FnMut(u64) -> u64) -> ExpectedOperation {
    match choose(12) {
        0 => {
            let url = URLS[choose(6) as usize];
            let forgotten = store.forget(Scope::Url(url)).unwrap();
            ExpectedOperation::Forgot(url.to_owned(), forgotten.visits)
        }
        1 => {
            let prefix = PREFIXES[choose(PREFIXES.len() as u64) as usize].prefix();
            let forgotten = store.forget(Scope::Prefix(prefix.clone())).unwrap();
            ExpectedOperation::ForgotPrefix(prefix.to_string(), forgotten.pages, forgotten.visits)
        }
        _ => {
            let visit = visit(choose);
            let verdict = store.observe(visit).unwrap().verdict;
            ExpectedOperation::Visit(visit.url.to_owned(), Entry::from(visit.visit), verdict)
        }
    }
}

enum ExpectedOperation {
    Visit(String, Entry, Verdict),
    Forgot(String, u64),
    ForgotPrefix(String, u64, u64),
}

fn check(expected: &ExpectedOperation, found: &[LoggedOperation]) {
    let Some(first) = found.first() else {
        let nothing = match expected {
            ExpectedOperation::Visit(_, _, verdict) => *verdict == Verdict::Known,
            ExpectedOperation::Forgot(_, visits)
            | ExpectedOperation::ForgotPrefix(_, _, visits) => *visits == 0,
        };
        return assert!(nothing, "it did something");
    };
    match (expected, &first.kind) {
        (ExpectedOperation::Visit(url, visit, verdict), _) => {
            // A weight or class sent with a known visit is still an operation.
            let visits = usize::from(*verdict != Verdict::Known);
            for (at, operation) in found.iter().enumerate() {
                let OperationKind::Entry { url: of, entry } = &operation.kind else {
                    panic!("no entry")
                };
                assert_eq!(of, url);
                assert_eq!(entry.visit().is_some(), at < visits);
                if let HistoryEntry::Visit { verdict: logged, meaning, .. } = entry {
                    assert_eq!((entry.entry(), logged), (visit.clone(), verdict));
                    assert_eq!(meaning.is_some(), verdict.distance().is_some());
                }
            }
        }
        (
            ExpectedOperation::Forgot(url, visits),
            OperationKind::Forget { url: of, visits: logged },
        ) => {
            assert_eq!((of, logged, found.len()), (url, visits, 1));
        }
        (
            ExpectedOperation::ForgotPrefix(prefix, pages, visits),
            OperationKind::ForgetPrefix { prefix: of, pages: p, visits: v },
        ) => assert_eq!((of.to_string(), p, v), (prefix.clone(), pages, visits)),
        (_, other) => panic!("{other:?}"),
    }
}

#[test]
fn operations_match_what_was_acknowledged() {
    for seed in 0..deep(200) {
        let mut choose = choice(seed);
        let disk = SimDisk::new();
        let store = create(&disk, small().memtable_observations(1000));
        let (mut log, mut sealed) = (Vec::new(), 0);
        let mut early: Option<(Snapshot, Vec<LoggedOperation>)> = None;
        for _ in 0..60 {
            let before = store.snapshot().sequence();
            if choose(20) == 0 {
                store.seal().unwrap();
                sealed = before;
                continue;
            }
            let expected = act(&store, &mut choose);
            let view = store.snapshot();
            let found = all(&view, before);
            let numbers: Vec<u64> = found.iter().map(|operation| operation.sequence).collect();
            assert_eq!(numbers, (before + 1..=view.sequence()).collect::<Vec<_>>());
            check(&expected, &found);
            log.extend(found);
            if choose(30) == 0 {
                let held = log.iter().filter(|operation| operation.sequence > sealed);
                early = Some((view, held.cloned().collect()));
            }
        }
        let held: Vec<LoggedOperation> = log.into_iter().filter(|o| o.sequence > sealed).collect();
        let view = store.snapshot();
        assert_eq!(all(&view, 0), held);
        let ends = held.first().zip(held.last()).map(|(a, b)| a.sequence..=b.sequence);
        assert_eq!(Operations::after(&view, u64::MAX).available(), ends);
        // A snapshot keeps its operations, whatever follows.
        if let Some((view, held)) = early {
            assert_eq!(all(&view, 0), held);
        }
        let read = Reader::open(on(&disk)).unwrap().snapshot();
        assert_eq!(all(&read, 0), held);
        // Forgotten pages count by the state that they had.
        let states = |view: &Snapshot| {
            let overview = Overview::of(view).unwrap();
            (overview.pages, overview.in_force, overview.gone, overview.never)
        };
        assert_eq!(states(&read), states(&view));
    }
}

/// A later restatement, directly after its visit, looks as if it had been sent with the visit, as in a
/// history.
#[test]
fn late_restatement_is_an_operation_of_its_own() {
    let store = create(&SimDisk::new(), small());
    let (url, epoch) = (URLS[0], Epoch::from_number(1));
    store.observe(Observation::content(url, ms(5), 1, Epoch::from_number(0))).unwrap();
    store.restate(Restatement::new(url, ms(5), 9, epoch)).unwrap();
    let found = all(&store.snapshot(), 1);
    let OperationKind::Entry { entry: HistoryEntry::Restated(restated), .. } = &found[0].kind
    else {
        panic!("{found:?}")
    };
    assert_eq!((restated.time, restated.fingerprint, found.len()), (ms(5), Some(9), 1));
}
