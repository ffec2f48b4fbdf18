//! Sorts the fingerprints of one segment in memory, on all cores.
//!
//! It sorts by popcount first, then each popcount by its top bits, then each group with equal top
//! bits in the processor's cache.

use std::cmp::Reverse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::huge::HugePageArray;
use crate::times::threads;

/// A fingerprint and its page.
pub(crate) type SortEntry = [u64; 2];

/// The number of popcounts of 64 bits.
const POPCOUNTS: usize = 65;
/// The approximate number of entries in a group that is sorted by comparison.
const COMPARED: usize = 512;
/// The maximum number of top bits by which entries are distributed.
const BITS_MAX: u32 = 12;

/// Sorts entries in canonical order.
pub(crate) fn sorted(entries: HugePageArray<SortEntry>) -> HugePageArray<SortEntry> {
    let mut sorted = HugePageArray::zeroed(entries.len());
    let pieces: Vec<&[SortEntry]> = entries.chunks(entries.len().div_ceil(threads())).collect();
    let counts = each_at_once(&pieces, |piece| {
        let mut counts = [0; POPCOUNTS];
        piece.iter().for_each(|entry| counts[popcount(entry)] += 1);
        counts
    });
    // The destinations of the entries of each piece, by popcount.
    let mut rooms: Vec<Vec<&mut [SortEntry]>> = pieces.iter().map(|_| Vec::new()).collect();
    let mut rest: &mut [SortEntry] = &mut sorted;
    for popcount in 0..POPCOUNTS {
        for (rooms, counts) in rooms.iter_mut().zip(&counts) {
            rooms.push(rest.split_off_mut(..counts[popcount]).unwrap());
        }
    }
    let dealt: Vec<_> = pieces.into_iter().zip(rooms).map(|both| Mutex::new(Some(both))).collect();
    each_at_once(&dealt, |both| {
        let (piece, rooms) = both.lock().unwrap().take().unwrap();
        let mut rooms: Vec<_> = rooms.into_iter().map(<[SortEntry]>::iter_mut).collect();
        for entry in piece {
            *rooms[popcount(entry)].next().unwrap() = *entry;
        }
    });
    drop(dealt);
    drop(entries);
    let mut rest: &mut [SortEntry] = &mut sorted;
    let mut shards = Vec::new();
    for popcount in 0..POPCOUNTS {
        let length = counts.iter().map(|counts| counts[popcount]).sum::<usize>();
        shards.push(Mutex::new(rest.split_off_mut(..length).unwrap()));
    }
    // The largest first, so that no thread begins a large one at the end.
    shards.sort_by_cached_key(|shard| Reverse(shard.lock().unwrap().len()));
    each_at_once(&shards, |shard| sort(&mut shard.lock().unwrap()));
    drop(shards);
    sorted
}

fn popcount(entry: &SortEntry) -> usize {
    entry[0].count_ones() as usize
}

/// Runs a function on each item, on all cores. Returns the results in order.
fn each_at_once<T: Sync, R: Send>(all: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<R>>> = all.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads() {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = all.get(at) else { break };
                    *done[at].lock().unwrap() = Some(run(one));
                }
            });
        }
    });
    done.into_iter().map(|one| one.into_inner().unwrap().unwrap()).collect()
}

/// Sorts entries with equal popcounts.
fn sort(entries: &mut [SortEntry]) {
    let bits = (entries.len() / COMPARED).max(1).ilog2().min(BITS_MAX);
    if bits == 0 {
        return entries.sort_unstable();
    }
    let top = |entry: &SortEntry| (entry[0] >> (u64::BITS - bits)) as usize;
    let mut starts = vec![0; (1 << bits) + 1];
    entries.iter().for_each(|entry| starts[top(entry) + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut dealt = HugePageArray::zeroed(entries.len());
    let dealt: &mut [SortEntry] = &mut dealt;
    let mut next = starts.clone();
    for entry in &*entries {
        let next = &mut next[top(entry)];
        dealt[*next] = *entry;
        *next += 1;
    }
    for bounds in starts.windows(2) {
        let group = &mut dealt[bounds[0]..bounds[1]];
        group.sort_unstable();
        entries[bounds[0]..bounds[1]].copy_from_slice(group);
    }
}
