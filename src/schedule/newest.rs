//! Which of the rows of some hashes are the newest of their pages.

use super::sources::Source;
use crate::segment::{RowFlags, Rows};

/// What is known of the rows of each hash of a few, so that those of one page need not be sought.
///
/// Each page that is known has one row at least that tells of all of its visits alone: its *first*. What
/// newer components forgot was left out, and a row that knows of no page may be the end of any. So if
/// each row of a hash knows a page, one alone is a first, and no component has two, there is one page.
#[derive(Debug)]
pub(super) struct Newest {
    /// An open table; places without rows are free.
    hashes: Vec<OfHash>,
}

/// The rows of a hash.
#[derive(Clone, Copy, Debug, Default)]
struct OfHash {
    hash: u64,
    /// The newest component that has one.
    component: u32,
    /// How many there are, or very many.
    rows: u16,
    firsts: u8,
    /// Whether one knows of no page, or a component has two.
    is_doubtful: bool,
}

/// How a row stands to the others of its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is the newest of its page.
    Newest,
    /// There is a newer one of its page.
    Superseded,
    /// Their URLs decide.
    Unclear,
}

impl Newest {
    /// Of the rows of all components, the oldest first, as far as they are looked at; none if there is
    /// one component alone, whose rows are all the newest.
    pub(super) fn new(sources: &[Source], rows: &[Rows<'_>]) -> Option<Newest> {
        if sources.len() < 2 {
            return None;
        }
        let all: usize = rows.iter().map(Rows::len).sum();
        let places = (2 * all).next_power_of_two();
        let mut newest = Newest { hashes: vec![OfHash::default(); places] };
        for ((component, rows), source) in rows.iter().enumerate().zip(sources) {
            for at in (0..rows.len()).filter(|at| source.sees(rows.page(*at))) {
                newest.add(component, rows.hash(at), rows.flags(at));
            }
        }
        Some(newest)
    }

    fn add(&mut self, component: usize, hash: u64, row: RowFlags) {
        let place = self.place(hash);
        #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
        let of = &mut self.hashes[place];
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer components than 2^32")]
        let component = component as u32;
        let is_second = of.rows > 0 && of.component == component;
        *of = OfHash {
            hash,
            component,
            rows: of.rows.saturating_add(1),
            firsts: of.firsts.saturating_add(row.first.into()),
            is_doubtful: of.is_doubtful || is_second || !row.known,
        };
    }

    /// How a row of a component stands that was looked at.
    #[inline]
    pub(super) fn location(&self, component: usize, hash: u64) -> Standing {
        #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
        let of = &self.hashes[self.place(hash)];
        if of.rows == 1 {
            Standing::Newest
        } else if of.is_doubtful || of.firsts != 1 {
            Standing::Unclear
        } else if of.component as usize == component {
            Standing::Newest
        } else {
            Standing::Superseded
        }
    }

    /// The place of a hash, or the one where it may be put.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "a place is less than there are")]
    fn place(&self, hash: u64) -> usize {
        let last = self.hashes.len() - 1;
        let mut place = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & last;
        while self.hashes[place].rows > 0 && self.hashes[place].hash != hash {
            place = (place + 1) & last;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_has_one_first_row_and_none_that_knows_of_no_page() {
        let none = RowFlags { known: false, first: false };
        let [first, later] = [true, false].map(|first| RowFlags { known: true, first });
        let location = |rows: &[(usize, RowFlags)], of: usize| {
            let mut newest = Newest { hashes: vec![OfHash::default(); 16] };
            rows.iter().for_each(|(component, row)| newest.add(*component, 7, *row));
            newest.add(of, 8, first);
            assert_eq!(newest.location(of, 8), Standing::Newest);
            newest.location(of, 7)
        };
        let one = [(0, first), (1, later), (3, later)];
        assert_eq!(location(&one, 3), Standing::Newest);
        assert_eq!([0, 1].map(|of| location(&one, of)), [Standing::Superseded; 2]);
        let several: [&[(usize, RowFlags)]; 5] = [
            // Two pages, or one that was forgotten in between.
            &[(0, first), (1, first)],
            &[(0, first), (0, later)],
            // A page and what ended another, or itself.
            &[(0, first), (1, none)],
            // What is left of two, of which one was forgotten.
            &[(0, later), (1, later)],
            &[(0, later), (1, first), (1, later)],
        ];
        for rows in several {
            assert_eq!(location(rows, 0), Standing::Unclear);
        }
    }
}
