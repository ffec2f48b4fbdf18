//! Building one rotation.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::super::probe::Block;
use super::super::rotation::Address;
use super::deal::Dealer;
use super::{Part, STRIDE, Sink, Source, count, turn_into_starts};

/// Writes the rotation of one block.
pub(super) fn build<E, S: Sink<Error = E>>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    address: Address,
    table: usize,
    block: Block,
    dealer: &mut Dealer,
    sink: &S,
) -> Result<(), E> {
    let step = |fingerprint| address.step(block, fingerprint);
    let mut starts = count::count(column, address.steps() as usize, step)?;
    turn_into_starts(&mut starts);
    for piece in starts.chunks(STRIDE as usize) {
        let piece: Vec<U32> = piece.iter().copied().map(U32::new).collect();
        sink.write(Part::Directory(table), piece.as_bytes())?;
    }
    let aim = |fingerprint| (step(fingerprint), block.plane(fingerprint));
    let (mut planes, mut ordinals) = (Vec::new(), Vec::new());
    dealer.each_in_order(column, &starts, aim, |entries| {
        for piece in entries.chunks(STRIDE as usize) {
            planes.clear();
            ordinals.clear();
            planes.extend(piece.iter().map(|entry| U32::new(entry.bits)));
            ordinals.extend(piece.iter().map(|entry| U32::new(entry.ordinal)));
            sink.write(Part::Planes(table), planes.as_bytes())?;
            sink.write(Part::Ordinals(table), ordinals.as_bytes())?;
        }
        Ok(())
    })
}
