//! What texts say of nodes whose fingerprints are near: whether they are alike indeed.

use super::column::Column;
use crate::error::Result;
use crate::fingerprint::BitSketch;
use crate::sort::Workspace;

/// The sketches of the texts of leaders, and how far others may be from them.
pub(super) struct Texts {
    apart_max: u32,
    of_leaders: Column<BitSketch>,
}

impl Texts {
    /// No leader yet, with an eighth of the memory; texts are near that resemble each other so much.
    pub(super) fn new(resemblance: f64, work: &Workspace) -> Texts {
        // `distance_at` turns the resemblance into a number of bits
        // once, so a pair of texts costs popcounts.
        let of_leaders = Column::new(work, work.part(8));
        Texts { apart_max: BitSketch::distance_at(resemblance), of_leaders }
    }

    /// These nodes lead, too.
    pub(super) fn lead(&mut self, sketches: impl Iterator<Item = BitSketch>) -> Result<()> {
        self.of_leaders.append(sketches)
    }

    /// The sketch of a leader.
    pub(super) fn of_leader(&self, number: u32) -> Result<BitSketch> {
        self.of_leaders.get(number)
    }

    /// In how many bits two sketches differ; `None` if their texts are not near.
    #[expect(clippy::cast_possible_truncation, reason = "a sketch has 512 bits")]
    pub(super) fn apart(&self, one: &BitSketch, other: &BitSketch) -> Option<u16> {
        let apart = one.distance(other);
        (apart <= self.apart_max).then_some(apart as u16)
    }
}
