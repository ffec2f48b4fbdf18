//! The states of a file and a directory that power loss may leave.

use std::sync::Arc;

use super::directory::{DirEntries, Directory};
use super::inode::{FileChange, Inode, SECTOR_BYTES, copy};

/// The smallest unit that a medium keeps or loses as a whole in a power loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashUnit {
    /// 512 bytes, the smallest unit of any medium.
    Sector,
    /// 4,096 bytes, the unit of most media.
    Page,
}

impl CrashUnit {
    fn bytes(self) -> usize {
        match self {
            CrashUnit::Sector => SECTOR_BYTES,
            CrashUnit::Page => 4096,
        }
    }
}

/// Returns a uniformly random number below its argument. The argument is never 0.
pub(super) type RandomChoice<'a> = dyn FnMut(u64) -> u64 + 'a;

/// Chooses an index below `n`, 0 if `n` is 0; clamped in case the source misbehaves.
fn below(n: usize, choice: &mut RandomChoice<'_>) -> usize {
    if n < 2 {
        return 0;
    }
    usize::try_from(choice(n as u64)).unwrap_or(0).min(n - 1)
}

/// Chooses which of `n` changes persist. Every subset is possible. Subsets that often break
/// programs are more likely than with `n` coin tosses: none, all, all but one, only one, the first
/// few.
pub(super) fn subset(n: usize, choice: &mut RandomChoice<'_>) -> Vec<bool> {
    let shape = if n < 2 { 5 } else { below(6, choice) };
    match shape {
        0 => vec![false; n],
        1 => vec![true; n],
        2 | 3 => {
            let one = below(n, choice);
            (0..n).map(|i| (i == one) == (shape == 3)).collect()
        }
        4 => {
            let first = below(n, choice);
            (0..n).map(|i| i < first).collect()
        }
        _ => (0..n).map(|_| below(2, choice) == 1).collect(),
    }
}

/// The entries after a crash: the durable entries, with any subset of the changes since.
pub(super) fn entries(directory: &Directory, kept: &[bool]) -> DirEntries {
    let mut entries = directory.durable_entries().clone();
    for (change, kept) in directory.pending().iter().zip(kept) {
        if *kept {
            change.apply(&mut entries);
        }
    }
    entries
}

/// A part of a change that persists or is lost independently of other parts.
enum CrashEvent<'a> {
    /// The file grew to `to` by a write at `offset`, whether or not the written bytes persist.
    Grow {
        offset: usize,
        to: usize,
    },
    SetLen(usize),
    /// Bytes within one unit.
    Piece {
        offset: usize,
        data: &'a [u8],
    },
    /// Bytes within one sector whose sync failed. They persist only if no later sync of the sector
    /// succeeded, and do not extend the file.
    LostPiece {
        offset: usize,
        data: &'a [u8],
    },
}

/// Splits a write into units.
fn pieces(offset: usize, data: &[u8], unit: CrashUnit) -> impl Iterator<Item = (usize, &[u8])> {
    let bytes = unit.bytes();
    let first = (bytes - offset % bytes).min(data.len());
    let (head, rest) = data.split_at(first);
    let rest_at = offset + first;
    let rest = rest.chunks(bytes).enumerate();
    std::iter::once((offset, head)).chain(rest.map(move |(i, piece)| (rest_at + i * bytes, piece)))
}

fn events(inode: &Inode, unit: CrashUnit) -> Vec<CrashEvent<'_>> {
    let mut events = Vec::new();
    for change in inode.lost() {
        if let FileChange::Write { offset, data, .. } = change {
            // The write is split into sectors, because a later sync may have made some of them
            // durable.
            let lost = pieces(*offset, data, CrashUnit::Sector)
                .filter(|(offset, _)| inode.differs(offset / SECTOR_BYTES))
                .map(|(offset, data)| CrashEvent::LostPiece { offset, data });
            events.extend(lost);
        }
    }
    for change in inode.pending() {
        match change {
            FileChange::Write { offset, data, before } => {
                let to = offset + data.len();
                if to > *before {
                    events.push(CrashEvent::Grow { offset: *offset.max(before), to });
                }
                let pieces = pieces(*offset, data, unit);
                events.extend(pieces.map(|(offset, data)| CrashEvent::Piece { offset, data }));
            }
            FileChange::SetLen { to, .. } => events.push(CrashEvent::SetLen(*to)),
        }
    }
    events
}

/// The number of independent parts of the writes to a file since the last sync.
pub(super) fn units(inode: &Inode, unit: CrashUnit) -> usize {
    events(inode, unit).len()
}

/// The contents after a crash of bytes by which a file grew although the written data was lost.
pub(super) enum Fill {
    Zero,
    Noise(u64),
    /// Stale bytes on the medium, which another file had at this offset.
    Stale(Arc<Vec<u8>>),
}

impl Fill {
    pub(super) fn choose(others: &[Arc<Vec<u8>>], choice: &mut RandomChoice<'_>) -> Fill {
        match below(4, choice) {
            0 | 1 => Fill::Zero,
            2 => Fill::Noise(choice(u64::MAX)),
            _ => others
                .get(below(others.len(), choice))
                .map_or(Fill::Zero, |other| Fill::Stale(Arc::clone(other))),
        }
    }

    fn apply(&mut self, offset: usize, place: &mut [u8]) {
        match self {
            Fill::Zero => {}
            Fill::Noise(state) => {
                for byte in place {
                    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    [*byte, ..] = state.to_be_bytes();
                }
            }
            Fill::Stale(other) => copy(place, other.get(offset..).unwrap_or_default()),
        }
    }
}

/// The contents after a crash: the durable contents, with any subset of the sectors written since,
/// and any subset of the changes of length.
#[expect(clippy::indexing_slicing, reason = "the image is made as long as what it is to have")]
pub(super) fn content(
    inode: &Inode,
    unit: CrashUnit,
    kept: &[bool],
    fill: impl FnOnce() -> Fill,
) -> Arc<Vec<u8>> {
    let durable = inode.durable_content();
    if !kept.contains(&true) {
        return durable;
    }
    let mut image = Arc::unwrap_or_clone(durable);
    let (mut choose, mut fill) = (Some(fill), None);
    for (event, kept) in events(inode, unit).into_iter().zip(kept) {
        if !*kept {
            continue;
        }
        match event {
            CrashEvent::Grow { offset, to } if to > image.len() => {
                // The gap between the old end and the write is a hole, which is always zero.
                let offset = offset.max(image.len());
                image.resize(to, 0);
                let place = &mut image[offset..];
                let fill = fill.get_or_insert_with(|| choose.take().map_or(Fill::Zero, |f| f()));
                fill.apply(offset, place);
            }
            CrashEvent::Grow { .. } => {}
            CrashEvent::SetLen(len) => image.resize(len, 0),
            CrashEvent::Piece { offset, data } => {
                let end = offset + data.len();
                image.resize(image.len().max(end), 0);
                image[offset..end].copy_from_slice(data);
            }
            CrashEvent::LostPiece { offset, data } => {
                copy(image.get_mut(offset..).unwrap_or_default(), data);
            }
        }
    }
    Arc::new(image)
}
