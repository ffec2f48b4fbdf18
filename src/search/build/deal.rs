//! Putting the entries of a column in the order of their buckets, in bounded memory.
//!
//! A table is far larger than the processor's caches, and a counting sort straight to the places of
//! the entries would wait for memory at each of them. So entries are first dealt out to *groups* of
//! consecutive buckets, no more of them than pages stay at hand, and then each group, which is small
//! enough for a cache, is sorted by itself. Where there is no memory for all of that, entries go
//! straight to their places, as many at a time as there is memory for: that is less, and nearer. All
//! ways keep the order of the column.

use super::{Entry, Source};

/// Entries of a group, about.
const GROUP_ENTRIES: usize = 1 << 14;

/// Groups at most, about.
const GROUPS: usize = 2048;

/// Entries that are put into place at a time at least, that no setting asks for a pass for each.
const ENTRIES_MIN: usize = 256;

/// An entry that is dealt out.
#[derive(Clone, Copy, Default)]
struct Dealt {
    bucket: u32,
    entry: Entry,
}

/// Hands over the entries of all buckets, in the order of the buckets, and within each in that of the
/// column, some at a time.
///
/// `starts` are the places of the buckets, then the number of entries. `aim` says of a fingerprint to
/// which bucket it belongs and which of its bits are kept; a bucket beyond the last is none of these.
///
/// Reads the column once if there are 20 bytes of memory for each entry, else once for as many entries
/// as there are 8 bytes for.
pub(super) fn each_in_order<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    starts: &[u32],
    memory_bytes: usize,
    aim: impl Fn(u64) -> (u32, u32),
    mut visit: impl FnMut(&[Entry]) -> Result<(), E>,
) -> Result<(), E> {
    let entries = starts.last().copied().unwrap_or(0) as usize;
    if entries == 0 {
        return Ok(());
    }
    if memory_bytes / (size_of::<Dealt>() + size_of::<Entry>()) >= entries {
        let dealt = deal(column, starts, &aim)?;
        each_group(starts, &dealt, &mut visit)
    } else {
        let at_once = (memory_bytes / size_of::<Entry>()).max(ENTRIES_MIN).min(entries);
        each_part(column, starts, at_once, &aim, &mut visit)
    }
}

/// Puts entries straight into their places, so many at a time.
fn each_part<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    starts: &[u32],
    at_once: usize,
    aim: &impl Fn(u64) -> (u32, u32),
    visit: &mut impl FnMut(&[Entry]) -> Result<(), E>,
) -> Result<(), E> {
    let entries = starts.last().copied().unwrap_or(0);
    let mut part = vec![Entry::default(); at_once];
    let mut done = 0;
    while done < entries {
        #[expect(clippy::cast_possible_truncation, reason = "no more than is left of a u32")]
        let length = at_once.min((entries - done) as usize) as u32;
        let end = done + length;
        // Buckets with entries outside this part are passed over, or left to another one.
        let first = starts.partition_point(|start| *start <= done).saturating_sub(1);
        let last = starts.partition_point(|start| *start < end);
        let mut next = starts.get(first..last).unwrap_or(&[]).to_vec();
        column.each(|ordinal, fingerprint| {
            let (bucket, bits) = aim(fingerprint);
            let Some(place) = next.get_mut((bucket as usize).wrapping_sub(first)) else { return };
            if let Some(entry) = part.get_mut(place.wrapping_sub(done) as usize) {
                *entry = Entry { bits, ordinal };
            }
            *place += 1;
        })?;
        visit(part.get(..length as usize).unwrap_or(&[]))?;
        done = end;
    }
    Ok(())
}

/// How many buckets a group has, as a power of two.
fn group_bits(starts: &[u32]) -> u32 {
    let entries = starts.last().copied().unwrap_or(0) as usize;
    let groups = entries.div_ceil(GROUP_ENTRIES).clamp(1, GROUPS);
    (starts.len().saturating_sub(1) / groups).max(1).ilog2()
}

/// Puts entries into their groups.
fn deal<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    starts: &[u32],
    aim: &impl Fn(u64) -> (u32, u32),
) -> Result<Vec<Dealt>, E> {
    let bits = group_bits(starts);
    let mut next: Vec<u32> = starts.iter().step_by(1 << bits).copied().collect();
    let mut dealt = vec![Dealt::default(); starts.last().copied().unwrap_or(0) as usize];
    let buckets = starts.len().saturating_sub(1);
    column.each(|ordinal, fingerprint| {
        let (bucket, kept) = aim(fingerprint);
        if (bucket as usize) < buckets
            && let Some(place) = next.get_mut((bucket >> bits) as usize)
        {
            if let Some(dealt) = dealt.get_mut(*place as usize) {
                *dealt = Dealt { bucket, entry: Entry { bits: kept, ordinal } };
            }
            *place += 1;
        }
    })?;
    Ok(dealt)
}

/// Sorts each group by its buckets, and hands it over.
fn each_group<E>(
    starts: &[u32],
    dealt: &[Dealt],
    visit: &mut impl FnMut(&[Entry]) -> Result<(), E>,
) -> Result<(), E> {
    let length = 1 << group_bits(starts);
    let Some((&end, buckets)) = starts.split_last() else { return Ok(()) };
    let ends = || buckets.iter().skip(length).step_by(length).copied().chain([end]);
    let sizes = buckets.iter().step_by(length).zip(ends()).map(|(start, end)| end - start);
    let mut sorted = vec![Entry::default(); sizes.max().unwrap_or(0) as usize];
    let mut next = Vec::with_capacity(length);
    for ((first, group), end) in (0..).step_by(length).zip(buckets.chunks(length)).zip(ends()) {
        let Some(&start) = group.first() else { continue };
        next.clear();
        next.extend(group.iter().map(|at| at - start));
        for dealt in dealt.get(start as usize..end as usize).unwrap_or(&[]) {
            let bucket = dealt.bucket.wrapping_sub(first) as usize;
            let Some(place) = next.get_mut(bucket) else { continue };
            if let Some(sorted) = sorted.get_mut(*place as usize) {
                *sorted = dealt.entry;
            }
            *place += 1;
        }
        visit(sorted.get(..(end - start) as usize).unwrap_or(&[]))?;
    }
    Ok(())
}
