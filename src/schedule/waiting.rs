//! Pages that others lead, until their turn comes.
//!
//! To weigh a quarter is to be worth exactly a quarter. So of the pages that are led each comes after
//! those that were worth more before it was known that they are: they wait in a line, whose first is
//! compared with the next of all pages. If memory does not hold the line, its end is left out, and read
//! once more when its beginning has gone; so a page is looked at twice at most.

use std::collections::VecDeque;

use super::in_order::{Coming, InOrder, Place};
use super::pages::differs;
use crate::error::Result;

/// What a page takes beside URLs, about.
const PAGE_BYTES: usize = 80;

/// A page that another leads, with the score that it has for that.
#[derive(Debug)]
pub(super) struct Led {
    pub(super) coming: Coming,
    pub(super) leader: String,
}

/// Pages that others lead.
pub(super) struct Waiting {
    line: VecDeque<Led>,
    bytes: usize,
    /// How many bytes the line may take.
    most_bytes: usize,
    /// Whether pages that are worse than as many as are wanted are never asked for.
    only_best: bool,
    /// Reads again where the end of the line was left out; and whether the line is being filled by that.
    left_out: Option<InOrder>,
    filling: bool,
    /// The last page of which it is known whether it is led.
    looked_at: Option<Place>,
}

impl Waiting {
    pub(super) fn new(most_bytes: usize, only_best: bool) -> Waiting {
        Waiting {
            line: VecDeque::new(),
            bytes: 0,
            most_bytes,
            only_best,
            left_out: None,
            filling: false,
            looked_at: None,
        }
    }

    /// The first page of those that wait, if the line was filled.
    pub(super) fn first(&self) -> Option<&Coming> {
        self.line.front().map(|led| &led.coming)
    }

    pub(super) fn pop(&mut self) -> Option<Led> {
        let first = self.line.pop_front()?;
        self.bytes -= first.bytes();
        Some(first)
    }

    /// Whether there is room for another page, if so many are wanted still.
    fn has_room(&self, wanted: usize) -> bool {
        self.line.is_empty()
            || self.bytes < self.most_bytes && (!self.only_best || self.line.len() < wanted)
    }

    /// # Errors
    ///
    /// If it is worth more than one before it, so that the rows of the two do not say what their records
    /// do.
    pub(super) fn push(&mut self, led: Led) -> Result<()> {
        if self.line.back().is_some_and(|last| last.coming.score < led.coming.score) {
            return Err(differs(&led.coming.url));
        }
        self.bytes += led.bytes();
        self.line.push_back(led);
        Ok(())
    }

    /// Notes that a page was looked at, the last that was read of all, and that it is led, if it is.
    pub(super) fn note(&mut self, pages: &InOrder, led: Option<Led>, wanted: usize) -> Result<()> {
        let before = std::mem::replace(&mut self.looked_at, pages.place());
        let Some(led) = led.filter(|_| self.left_out.is_none()) else { return Ok(()) };
        if self.has_room(wanted) {
            self.push(led)?;
        } else if !self.only_best || self.line.len() < wanted {
            self.left_out = Some(pages.again_after(before)?);
        }
        Ok(())
    }

    /// Those of which the end was left out, to read the next of, if the line is empty or being filled.
    pub(super) fn left_out(&mut self, wanted: usize) -> Option<&mut InOrder> {
        let looked_at = self.looked_at;
        // Up to there they are all. What is looked at from now on comes after them.
        self.left_out.take_if(|pages| pages.place() == looked_at);
        let goes_on = self.filling || self.line.is_empty();
        self.filling = self.left_out.is_some() && goes_on && self.has_room(wanted);
        self.left_out.as_mut().filter(|_| self.filling)
    }
}

impl Led {
    fn bytes(&self) -> usize {
        self.coming.url.len() + self.leader.len() + PAGE_BYTES
    }
}
