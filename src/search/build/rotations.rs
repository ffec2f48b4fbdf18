//! Building one rotation.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::super::probe::Block;
use super::super::rotation::Address;
use super::{Entry, Part, STRIDE, Sink, Source, buffer_entries, turn_into_starts};

/// Writes the rotation of one block.
pub(super) fn build<E, S: Sink<Error = E>>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    address: Address,
    table: usize,
    block: Block,
    memory_bytes: usize,
    sink: &S,
) -> Result<(), E> {
    let mut starts = vec![0; address.steps() as usize + 1];
    column.each(|_, fingerprint| {
        if let Some(count) = starts.get_mut(address.step(block, fingerprint) as usize) {
            *count += 1;
        }
    })?;
    turn_into_starts(&mut starts);
    for piece in starts.chunks(STRIDE as usize) {
        let piece: Vec<U32> = piece.iter().copied().map(U32::new).collect();
        sink.write(Part::Directory(table), piece.as_bytes())?;
    }
    let entries_max = buffer_entries(memory_bytes);
    let mut scatter: Vec<Entry> = Vec::new();
    let mut done = 0_u32;
    while done < column.n {
        scatter.clear();
        scatter.resize(((column.n - done) as usize).min(entries_max), Entry::default());
        #[expect(clippy::cast_possible_truncation, reason = "no more than is left of n")]
        let end = done + scatter.len() as u32;
        // Steps with entries outside the part at hand are passed over, or left to another pass.
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 steps")]
        let first = starts.partition_point(|start| *start <= done).saturating_sub(1) as u32;
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^32 steps")]
        let last = starts.partition_point(|start| *start < end) as u32;
        let mut next = starts.get(first as usize..last as usize).unwrap_or(&[]).to_vec();
        column.each(|ordinal, fingerprint| {
            let step = address.step(block, fingerprint);
            let Some(place) = next.get_mut(step.wrapping_sub(first) as usize) else { return };
            if let Some(entry) = scatter.get_mut(place.wrapping_sub(done) as usize) {
                *entry = Entry { bits: block.plane(fingerprint), ordinal };
            }
            *place += 1;
        })?;
        let (mut planes, mut ordinals) = (Vec::new(), Vec::new());
        for piece in scatter.chunks(STRIDE as usize) {
            planes.clear();
            ordinals.clear();
            planes.extend(piece.iter().map(|entry| U32::new(entry.bits)));
            ordinals.extend(piece.iter().map(|entry| U32::new(entry.ordinal)));
            sink.write(Part::Planes(table), planes.as_bytes())?;
            sink.write(Part::Ordinals(table), ordinals.as_bytes())?;
        }
        done = end;
    }
    Ok(())
}
