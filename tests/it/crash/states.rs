//! The possible states after a crash, one after another.

use simkeep::disk::{CrashUnit, SimDisk};

use simkeep_testing::choice;

/// Up to this number of units, every subset is tried: 2^11 states.
const WHOLE_MAX: usize = 11;
/// The maximum number of states by single sectors.
const SECTORS_MAX: usize = 24;

/// Passes the possible states after a crash to the callback. By pages of 4 KiB: every subset of the
/// unsynced ones or, for more than eleven units, the subsets that break programs most often (all but
/// one, only one, the first few) and some others. By sectors of 512 bytes, as torn pages: the first few,
/// all but one, only one. Then some random states, with stale bytes and noise where files grew. Returns
/// whether every subset of pages was included.
pub(crate) fn each(disk: &SimDisk, seed: u64, mut show: impl FnMut(SimDisk, &str)) -> bool {
    let mut random = choice(seed);
    let pages = disk.unsynced(CrashUnit::Page);
    let whole = pages <= WHOLE_MAX;
    if whole {
        for subset in 0..1u64 << pages {
            let kept = |unit: usize| subset >> unit & 1 == 1;
            show(
                disk.crash_keeping(CrashUnit::Page, kept),
                &format!("pages {subset:b} of {pages}"),
            );
        }
    } else {
        for (what, kept) in shapes(pages, usize::MAX) {
            show(disk.crash_keeping(CrashUnit::Page, kept), &format!("pages: {what} of {pages}"));
        }
        for n in 0..1 << (WHOLE_MAX - 4) {
            let state = disk.crash_keeping(CrashUnit::Page, |_| random(2) == 1);
            show(state, &format!("pages: subset {n} of {pages}"));
        }
    }
    let sectors = disk.unsynced(CrashUnit::Sector);
    for (what, kept) in shapes(sectors, SECTORS_MAX) {
        show(disk.crash_keeping(CrashUnit::Sector, kept), &format!("sectors: {what} of {sectors}"));
    }
    if pages > 0 {
        for n in 0..4 {
            show(disk.crash(&mut random), &format!("any, number {n}"));
        }
    }
    whole
}

/// Subsets of `n` units that break programs more often than others. They are taken at intervals, so
/// that there are not many more than `most` of each kind.
fn shapes(n: usize, most: usize) -> impl Iterator<Item = (String, Box<dyn FnMut(usize) -> bool>)> {
    let step = n.div_ceil(most).max(1);
    (0..=n).step_by(step).flat_map(move |at| {
        let first: Box<dyn FnMut(usize) -> bool> = Box::new(move |unit| unit < at);
        let but: Box<dyn FnMut(usize) -> bool> = Box::new(move |unit| unit != at);
        let only: Box<dyn FnMut(usize) -> bool> = Box::new(move |unit| unit == at);
        [
            (format!("first {at}"), first),
            (format!("all but {at}"), but),
            (format!("only {at}"), only),
        ]
    })
}
