//! The marks at a position of a page, from the open elements.

use crate::fingerprint::document::Marks;

/// Elements that emphasise.
const EMPHASIS: [&[u8]; 6] = [b"b", b"strong", b"i", b"em", b"u", b"mark"];

/// The open elements. Needs only flags and counters, regardless of the depth of the page.
#[derive(Default)]
pub(super) struct OpenMarkup {
    title: bool,
    heading: bool,
    anchor: bool,
    /// The number of open elements for each of [`EMPHASIS`].
    emphasis: [u32; EMPHASIS.len()],
}

impl OpenMarkup {
    pub(super) fn open(&mut self, name: &[u8]) {
        self.set(name, true);
    }

    pub(super) fn close(&mut self, name: &[u8]) {
        self.set(name, false);
    }

    fn set(&mut self, name: &[u8], opened: bool) {
        match name {
            b"title" => self.title = opened,
            // The end tag of any heading ends a heading. The start of the next link ends a link.
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => self.heading = opened,
            b"a" => self.anchor = opened,
            _ => {
                for (element, count) in EMPHASIS.into_iter().zip(&mut self.emphasis) {
                    if element == name {
                        let step = i32::from(opened) * 2 - 1;
                        *count = count.saturating_add_signed(step);
                    }
                }
            }
        }
    }

    /// Returns all marks.
    pub(super) fn marks(&self) -> Marks {
        let mut marks = Marks::NONE;
        for (open, mark) in [
            (self.title, Marks::TITLE),
            (self.heading, Marks::HEADING),
            (self.anchor, Marks::ANCHOR),
            (self.emphasis.iter().any(|count| *count > 0), Marks::EMPHASIS),
        ] {
            if open {
                marks |= mark;
            }
        }
        marks
    }
}
