//! The power fails at every operation that changes the directory.

use super::*;
use crate::backup::crash::{crashes, power_failure};
use simkeep_testing::ms;

#[test]
fn crash_while_publishing_leaves_only_whole_generations() {
    let _again = simkeep_testing::rerun_hint();
    let (from, store) = source();
    let earlier = SimDisk::new();
    store.publish(on(&earlier), options()).unwrap();
    let first = generation(&earlier, 1);
    store.observe(Observation::gone(URLS[1], ms(3_000))).unwrap();
    store.publish(on(&earlier), options()).unwrap();
    let second = generation(&earlier, 2);
    go_on(&store);
    let third = sealed(&store);
    for (options, first_run) in [
        (options(), false),
        (options().copy(true), true),
        (strict(1), false),
        (strict(2).copy(true), false),
    ] {
        let begin = || if first_run { SimDisk::new() } else { earlier.crash_all_kept() };
        let whole = begin();
        let made = publish(on(&from), on(&whole), options.clone()).unwrap();
        let remaining = numbers(&whole);
        let changes = whole.changes();
        let (mut old, mut new) = (0, 0);
        for stop in 1..=changes {
            let to = begin();
            to.fail(power_failure(stop));
            assert!(publish(on(&from), on(&to), options.clone()).is_err(), "change {stop}");
            for (nth, left) in crashes(&to, stop).into_iter().enumerate() {
                let what = format!("{options:?}: change {stop}, state {nth}");
                let all = match generations(on(&left)) {
                    Err(Error::NotAStore { .. }) if first_run => Vec::new(),
                    all => all.unwrap_or_else(|e| panic!("{what}: {e}")),
                };
                let all: Vec<u64> = all.iter().map(|of| of.number).collect();
                for number in &all {
                    let of = match (first_run, number) {
                        (false, 1) => &first,
                        (false, 2) => &second,
                        _ => &third,
                    };
                    assert!(generation(&left, *number) == *of, "{what}: {number}");
                }
                if all.last() == Some(&made.generation) {
                    new += 1;
                } else {
                    old += 1;
                    assert_eq!(all, if first_run { vec![] } else { vec![1, 2] }, "{what}");
                }
                publish(on(&from), on(&left), options.clone())
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(numbers(&left), remaining, "{what}");
                assert!(generation(&left, made.generation) == third, "{what}");
                let files = names(&left, Dir::Files);
                assert_eq!(files, names(&whole, Dir::Files), "{what}");
            }
        }
        assert!(old > 0 && new > 0, "{old} {new}");
    }
}
