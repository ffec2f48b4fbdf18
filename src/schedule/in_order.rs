//! All pages in the order of what each is worth by itself.

use super::by_rows::{ByRows, RowPlace};
use super::by_scan::{ByScan, ScanPlace};
use super::decide::Asked;
use super::score::Score;
use crate::bug::Bug;
use crate::engine::component::PageLocation;
use crate::error::Result;
use crate::page::surt;

/// All pages, the best first, then in SURT order; whether one leads another is not looked at.
pub(super) enum InOrder {
    ByRows(ByRows),
    ByScan(ByScan),
}

/// How far the pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    ByRows(RowPlace),
    ByScan(ScanPlace),
}

/// How many pages are found at once at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// How many will be asked for, the next one included.
    pub(super) pages: usize,
    pub(super) bytes: usize,
}

/// A page that comes next.
#[derive(Debug)]
pub(super) struct Coming {
    pub(super) score: Score,
    pub(super) url: String,
    /// Where its newest record stands, if that is known.
    pub(super) location: Option<PageLocation>,
}

impl Coming {
    /// Whether it comes before another one.
    pub(super) fn is_before(&self, other: &Coming) -> bool {
        if self.score != other.score {
            return self.score > other.score;
        }
        // Keys are computed for equal scores only.
        let place = |coming: &Coming| surt::key_of(&coming.url);
        place(self).cmp(&place(other)).then_with(|| self.url.cmp(&other.url)).is_lt()
    }
}

impl InOrder {
    pub(super) fn new(asked: &Asked) -> Result<InOrder> {
        // If one policy needs heads, all pages are found by heads: the two kinds are never merged.
        Ok(if asked.due.is_by_order() {
            InOrder::ByScan(ByScan::default())
        } else {
            InOrder::ByRows(ByRows::new(asked)?)
        })
    }

    pub(super) fn next(&mut self, asked: &Asked, most: Most) -> Result<Option<Coming>> {
        match self {
            InOrder::ByRows(pages) => pages.next(asked, most),
            InOrder::ByScan(pages) => pages.next(asked, most),
        }
    }

    /// The last page that was returned, if any was.
    pub(super) fn place(&self) -> Option<Place> {
        match self {
            InOrder::ByRows(pages) => pages.place().map(Place::ByRows),
            InOrder::ByScan(pages) => pages.place().map(Place::ByScan),
        }
    }

    /// Reads these pages once more: those that come after one of them, or all.
    pub(super) fn again_after(&self, place: Option<Place>) -> Result<InOrder, Bug> {
        match (self, place) {
            (InOrder::ByRows(pages), None) => Ok(InOrder::ByRows(pages.again_after(None))),
            (InOrder::ByRows(pages), Some(Place::ByRows(place))) => {
                Ok(InOrder::ByRows(pages.again_after(Some(place))))
            }
            (InOrder::ByScan(_), None) => Ok(InOrder::ByScan(ByScan::default())),
            (InOrder::ByScan(_), Some(Place::ByScan(place))) => {
                Ok(InOrder::ByScan(ByScan::after(Some(place))))
            }
            // All readers of a question are of one kind, and so are their places.
            _ => Err(Bug::new("a place is one of the pages that are read")),
        }
    }
}
