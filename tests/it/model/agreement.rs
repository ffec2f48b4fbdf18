//! Runs on stores of every kind: sealed and merged on request or by themselves, synced at each call or
//! later, on a simulated disk or in a directory.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use simkeep::disk::SimDisk;
use simkeep::fingerprint::Bands;
use simkeep::{Durability, EpochOptions, Options, Role};

use super::operations::ops;
use super::run::{StoreHome, run};
use simkeep_testing::depth::deep;
use simkeep_testing::small;

/// `runs` at depth 1, on stores opened with these options.
fn agree(runs: u64, options: impl Strategy<Value = Options>) {
    agree_on(runs, options, || StoreHome::Simulated(SimDisk::new()));
}

fn agree_on(runs: u64, options: impl Strategy<Value = Options>, home: fn() -> StoreHome) {
    let cases = u32::try_from(deep(runs)).unwrap();
    let default = Config::default();
    let config = Config {
        cases,
        failure_persistence: None,
        // Fewer if `PROPTEST_MAX_SHRINK_ITERS` is lower.
        max_shrink_iters: default.max_shrink_iters.min(100_000),
        max_shrink_time: 60_000,
        ..default
    };
    let all = (options, epoch_options(), ops());
    let result = TestRunner::new(config).run(&all, |(options, epoch_options, ops)| {
        run(options, home(), epoch_options, ops);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// The role and bands of the second epoch.
fn epoch_options() -> impl Strategy<Value = EpochOptions> {
    let role = prop_oneof![2 => Just(Role::Both), 1 => Just(Role::Near), 1 => Just(Role::Change)];
    let minor = prop::option::of(0..20_u32);
    (role, minor).prop_map(|(role, minor)| {
        let epoch_options = EpochOptions::from(role);
        minor.map_or(epoch_options, |minor| epoch_options.bands(Bands { minor, moderate: 20 }))
    })
}

/// Now and then with limited answers, or with a larger distance.
fn asking(options: Options) -> impl Strategy<Value = Options> {
    let limit = prop_oneof![5 => Just(1000_usize), 1 => 1..4_usize];
    let distance = prop_oneof![4 => Just(3_u32), 1 => 0..20_u32];
    (limit, distance).prop_map(move |(near_limit, near_distance)| {
        options.clone().near_limit(near_limit).near_distance(Some(near_distance))
    })
}

#[test]
fn any_operations_agree_with_a_linear_scan() {
    agree(750, asking(small()));
}

#[test]
fn any_operations_agree_during_background_work() {
    agree(100, asking(small().background(true)));
}

#[test]
fn crash_without_syncs_keeps_flushed_and_maybe_later_operations() {
    agree(100, asking(small().durability(Durability::OnFlush)));
}

#[test]
fn grouped_commits_change_no_answer() {
    let durability = Durability::Grouped(Duration::from_micros(20));
    agree(45, asking(small().durability(durability)));
}

#[test]
fn any_operations_agree_in_a_real_directory() {
    let options = (any::<bool>(), asking(small()));
    let options = options.prop_map(|(background, options)| options.background(background));
    agree_on(5, options, || StoreHome::Real(tempfile::tempdir().unwrap()));
}
