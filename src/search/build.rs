//! Building the rotations of a canonical column, in bounded memory.

use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use super::probe::{BLOCK_BITS, BLOCKS, Block};

/// Where the rotations are written to.
///
/// For each rotation, 0 to 3 in turn: its directory once, then planes and ordinals by and by, both
/// from the first entry to the last.
pub trait Sink {
    /// What writing can fail with.
    type Error;

    /// Takes the whole directory of a rotation.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn directory(&mut self, rotation: usize, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Appends to the planes of a rotation.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    fn planes(&mut self, rotation: usize, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Appends to the ordinals of a rotation.
    ///
    /// # Errors
    ///
    /// They cannot be written.
    fn ordinals(&mut self, rotation: usize, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// Fingerprints read at a time.
const STRIDE: u32 = 8192;

/// Bytes of the scatter buffer for one entry.
const ENTRY_BYTES: usize = 8;

/// Entries the scatter buffer has at least, that no setting asks for a pass for every entry.
const BUFFER_ENTRIES_MIN: usize = 256;

/// Builds the four rotations of a canonical column of `n` fingerprints, addressed by `bits` bits
/// (see [`rotation_bits`](super::rotation_bits)).
///
/// `read` fills its slice with the fingerprints from an ordinal on. It is called for consecutive
/// pieces of the column from start to end, once for counting, and for each rotation once for every
/// `memory_bytes` of the 8 bytes an entry takes while it is put into place: so `1 + 4 * ceil(8 * n
/// / memory_bytes)` times, 5 if `memory_bytes` is at least `8 * n`. The bytes written are the same
/// whatever `memory_bytes` is.
///
/// A counting sort: one pass counts the entries of each bucket, another puts them into place. It is
/// stable, so each bucket keeps the canonical order. Memory: `memory_bytes` (2 KiB at least) plus
/// 1.7 MiB at most. Time: 10 to 16 ns for each entry and rotation in one pass.
///
/// # Errors
///
/// The first error of `read` or of `sink`.
pub fn build_rotations<E, S: Sink<Error = E>>(
    n: u32,
    bits: u32,
    memory_bytes: usize,
    mut read: impl FnMut(u32, &mut [u64]) -> Result<(), E>,
    sink: &mut S,
) -> Result<(), E> {
    let bits = bits.min(BLOCK_BITS);
    let mut strider = Strider { n, read: &mut read, buffer: Vec::new() };
    let mut directories = count(&mut strider, bits)?;
    let entries_max = (memory_bytes / ENTRY_BYTES).max(BUFFER_ENTRIES_MIN);
    let mut scatter = Vec::new();
    let mut next = Vec::new();
    for (rotation, (block, starts)) in Block::ALL.into_iter().zip(&mut directories).enumerate() {
        turn_into_starts(starts);
        let directory: Vec<U32> = starts.iter().copied().map(U32::new).collect();
        sink.directory(rotation, directory.as_bytes())?;
        let mut done = 0_u32;
        while done < n {
            let left = (n - done) as usize;
            scatter.clear();
            scatter.resize(left.min(entries_max), Entry::default());
            next.clone_from(starts);
            strider.each(|ordinal, fingerprint| {
                let Some(place) = next.get_mut(block.bucket(fingerprint, bits) as usize) else {
                    return;
                };
                // Entries whose place is outside the part at hand are left to another pass.
                if let Some(entry) = scatter.get_mut(place.wrapping_sub(done) as usize) {
                    *entry = Entry { plane: block.plane(fingerprint), ordinal };
                }
                *place = place.wrapping_add(1);
            })?;
            write(&scatter, rotation, sink)?;
            #[expect(clippy::cast_possible_truncation, reason = "no more than is left of n")]
            let part = scatter.len() as u32;
            done += part;
        }
    }
    Ok(())
}

/// An entry on its way to its place; both halves together, so that they share a memory line.
#[derive(Clone, Copy, Default)]
struct Entry {
    plane: u32,
    ordinal: u32,
}

/// Reads the column from start to end, piece by piece.
struct Strider<'r, R> {
    n: u32,
    read: &'r mut R,
    buffer: Vec<u64>,
}

impl<E, R: FnMut(u32, &mut [u64]) -> Result<(), E>> Strider<'_, R> {
    /// Calls `visit` with every ordinal and its fingerprint, in order.
    fn each(&mut self, mut visit: impl FnMut(u32, u64)) -> Result<(), E> {
        let mut start = 0;
        while start < self.n {
            let length = STRIDE.min(self.n - start);
            self.buffer.resize(length as usize, 0);
            (self.read)(start, &mut self.buffer)?;
            for (ordinal, &fingerprint) in (start..).zip(&self.buffer) {
                visit(ordinal, fingerprint);
            }
            start += length;
        }
        Ok(())
    }
}

/// How many entries each bucket of each rotation has, and a 0 after the last bucket.
fn count<E, R: FnMut(u32, &mut [u64]) -> Result<(), E>>(
    strider: &mut Strider<'_, R>,
    bits: u32,
) -> Result<[Vec<u32>; BLOCKS], E> {
    let mut counts = [const { Vec::new() }; BLOCKS];
    for counts in &mut counts {
        counts.resize((1 << bits) + 1, 0);
    }
    strider.each(|_, fingerprint| {
        for (counts, block) in counts.iter_mut().zip(Block::ALL) {
            if let Some(count) = counts.get_mut(block.bucket(fingerprint, bits) as usize) {
                *count += 1;
            }
        }
    })?;
    Ok(counts)
}

/// Replaces each count by the sum of those before it.
fn turn_into_starts(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        let start = sum;
        sum += *count;
        *count = start;
    }
}

/// Writes entries that are in their places.
fn write<S: Sink>(entries: &[Entry], rotation: usize, sink: &mut S) -> Result<(), S::Error> {
    let mut planes = Vec::with_capacity(STRIDE as usize);
    let mut ordinals = Vec::with_capacity(STRIDE as usize);
    for piece in entries.chunks(STRIDE as usize) {
        planes.clear();
        ordinals.clear();
        planes.extend(piece.iter().map(|entry| U32::new(entry.plane)));
        ordinals.extend(piece.iter().map(|entry| U32::new(entry.ordinal)));
        sink.planes(rotation, planes.as_bytes())?;
        sink.ordinals(rotation, ordinals.as_bytes())?;
    }
    Ok(())
}
