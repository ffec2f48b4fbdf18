//! Where the pages of a merge's inputs go.

use byteorder::{ByteOrder, LittleEndian};

use super::build::Spilled;
use super::postings::Posting;

/// Where a page of an input went.
#[derive(Clone, Copy)]
pub(super) struct Moved(pub(super) u32);

impl Moved {
    /// Nowhere: the page is hidden.
    pub(super) const GONE: Moved = Moved(u32::MAX);
    /// A newer input has the page too, and says what is in force.
    const OLD: u32 = 1 << 31;

    pub(super) fn to(page: u32, newest: bool) -> Moved {
        Moved(if newest { page } else { page | Moved::OLD })
    }

    pub(super) fn posting(self, posting: Posting) -> Option<Posting> {
        let page = self.0 & !Moved::OLD;
        let in_force = posting.in_force && !self.is_old();
        (self.0 != Moved::GONE.0).then_some(Posting { page, in_force })
    }

    /// Whether a newer input has the page too.
    pub(super) fn is_old(self) -> bool {
        self.0 & Moved::OLD != 0
    }

    pub(super) fn page(self) -> Option<u32> {
        (self.0 != Moved::GONE.0).then_some(self.0 & !Moved::OLD)
    }
}

/// Where the pages of one input went, by ordinal.
pub(super) struct Moves(pub(super) Spilled);

impl Moves {
    #[expect(clippy::indexing_slicing, reason = "an ordinal is compared with the pages when read")]
    pub(super) fn of(&self, ordinal: u32) -> Moved {
        let (moves, _) = self.0.as_chunks::<4>();
        Moved(LittleEndian::read_u32(&moves[ordinal as usize]))
    }
}
