//! Putting the entries of a column in the order of their buckets, in bounded memory.
//!
//! A table is far larger than the processor's caches, and a counting sort straight to the places of
//! the entries would wait for memory at each of them. So entries are first dealt out to *groups* of
//! consecutive buckets, no more of them than lines and pages stay at hand, and then each group, which
//! is small enough for a cache, is sorted by itself. Both steps keep the order of the column.

use super::{Entry, Source};

/// Entries of a group, about.
const GROUP_ENTRIES: usize = 1 << 14;

/// Entries that are dealt out at a time at least, that no setting asks for a pass for every entry.
const ENTRIES_MIN: usize = 256;

/// An entry that is dealt out.
#[derive(Clone, Copy, Default)]
struct Dealt {
    /// Its bucket, counted from the first one at hand.
    bucket: u32,
    entry: Entry,
}

/// The entries that can be dealt out in so many bytes: each of them, and a group, which may be all.
fn entries_max(memory_bytes: usize) -> u32 {
    let entries = (memory_bytes / (size_of::<Dealt>() + size_of::<Entry>())).max(ENTRIES_MIN);
    u32::try_from(entries).unwrap_or(u32::MAX)
}

/// Hands over the entries of consecutive buckets, in the order of the buckets, and within each in that
/// of the column, some at a time.
///
/// `starts` are the places of the buckets, then the number of entries. `aim` says of a fingerprint to
/// which bucket it belongs and which of its bits are kept; a bucket beyond the last is none of these.
///
/// Reads the column as often as the memory asks for: once if it holds 20 bytes for each entry.
pub(super) fn each_in_order<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    starts: &[u32],
    memory_bytes: usize,
    aim: impl Fn(u64) -> (u32, u32),
    mut visit: impl FnMut(&[Entry]) -> Result<(), E>,
) -> Result<(), E> {
    let entries_max = entries_max(memory_bytes);
    let (mut dealt, mut sorted) = (Vec::new(), Vec::new());
    let mut rest = (0, starts);
    while let (first, [start, _, ..]) = rest {
        // As many whole buckets as there is memory for; or one for which there is not.
        let limit = start.saturating_add(entries_max);
        let buckets = rest.1.partition_point(|start| *start <= limit).saturating_sub(1).max(1);
        let (Some(of_these), Some(others)) = (rest.1.get(..=buckets), rest.1.get(buckets..)) else {
            break;
        };
        let entries = of_these.last().map_or(0, |end| end - start);
        if entries > entries_max {
            each_of_one(column, first, entries_max, &aim, &mut visit)?;
        } else if entries > 0 {
            deal(column, first, of_these, &aim, &mut dealt)?;
            each_group(of_these, &dealt, &mut sorted, &mut visit)?;
        }
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 buckets")]
        let next = first + buckets as u32;
        rest = (next, others);
    }
    Ok(())
}

/// The entries of one bucket, however many they are: they are in order.
fn each_of_one<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    bucket: u32,
    entries_max: u32,
    aim: &impl Fn(u64) -> (u32, u32),
    visit: &mut impl FnMut(&[Entry]) -> Result<(), E>,
) -> Result<(), E> {
    let (mut entries, mut end) = (Vec::new(), Ok(()));
    column.each(|ordinal, fingerprint| {
        let (of_this, bits) = aim(fingerprint);
        if of_this == bucket && end.is_ok() {
            entries.push(Entry { bits, ordinal });
            if entries.len() >= entries_max as usize {
                end = visit(&entries);
                entries.clear();
            }
        }
    })?;
    end?;
    visit(&entries)
}

/// How many buckets a group has, as a power of two.
fn group_bits(starts: &[u32]) -> u32 {
    let entries = starts.last().zip(starts.first()).map_or(0, |(end, start)| end - start) as usize;
    let buckets = starts.len().saturating_sub(1);
    let each = buckets / entries.div_ceil(GROUP_ENTRIES).max(1);
    each.max(1).ilog2()
}

/// Puts the entries of buckets into their groups.
fn deal<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    first: u32,
    starts: &[u32],
    aim: &impl Fn(u64) -> (u32, u32),
    dealt: &mut Vec<Dealt>,
) -> Result<(), E> {
    let bits = group_bits(starts);
    let [start, .., end] = starts else { return Ok(()) };
    let mut next: Vec<u32> = starts.iter().step_by(1 << bits).map(|at| at - start).collect();
    let entries = (end - start) as usize;
    if dealt.len() < entries {
        dealt.resize(entries, Dealt::default());
    }
    let buckets = starts.len() - 1;
    column.each(|ordinal, fingerprint| {
        let (bucket, kept) = aim(fingerprint);
        let bucket = bucket.wrapping_sub(first);
        if (bucket as usize) < buckets
            && let Some(place) = next.get_mut((bucket >> bits) as usize)
        {
            if let Some(dealt) = dealt.get_mut(*place as usize) {
                *dealt = Dealt { bucket, entry: Entry { bits: kept, ordinal } };
            }
            *place += 1;
        }
    })
}

/// Sorts each group by its buckets, and hands it over.
fn each_group<E>(
    starts: &[u32],
    dealt: &[Dealt],
    sorted: &mut Vec<Entry>,
    visit: &mut impl FnMut(&[Entry]) -> Result<(), E>,
) -> Result<(), E> {
    let length = 1 << group_bits(starts);
    let Some((&end, buckets)) = starts.split_last() else { return Ok(()) };
    let Some(&start) = starts.first() else { return Ok(()) };
    let mut next = Vec::new();
    let ends = buckets.iter().skip(length).step_by(length).copied().chain([end]);
    for ((first, group), end) in (0..).step_by(length).zip(buckets.chunks(length)).zip(ends) {
        let Some(&of_group) = group.first() else { continue };
        next.clear();
        next.extend(group.iter().map(|at| at - of_group));
        let entries = (end - of_group) as usize;
        if sorted.len() < entries {
            sorted.resize(entries, Entry::default());
        }
        let at = (of_group - start) as usize;
        for dealt in dealt.get(at..at + entries).unwrap_or(&[]) {
            let bucket = dealt.bucket.wrapping_sub(first) as usize;
            let Some(place) = next.get_mut(bucket) else { continue };
            if let Some(sorted) = sorted.get_mut(*place as usize) {
                *sorted = dealt.entry;
            }
            *place += 1;
        }
        visit(sorted.get(..entries).unwrap_or(&[]))?;
    }
    Ok(())
}
