//! An element whose content is dropped.

use super::elements::{ends_paragraph, is_container, is_parent, may_stay_open};

/// Finds the end of an element. Needs only counters, regardless of the depth of the page.
pub(super) struct DroppedElement {
    name: Vec<u8>,
    /// The number of open elements of the same name within the dropped element.
    same: u64,
    /// The number of open containers within the dropped element, for elements without a mandatory
    /// end tag.
    containers: u64,
}

impl DroppedElement {
    pub(super) fn new(name: Vec<u8>) -> DroppedElement {
        DroppedElement { name, same: 0, containers: 0 }
    }

    /// Takes a start tag within the element. Returns `false` if the tag ends this element, whose
    /// end tag may be omitted.
    pub(super) fn open(&mut self, name: &[u8], empty: bool) -> bool {
        if self.containers == 0 && self.ends_before(name) {
            return false;
        }
        if !empty {
            self.containers += u64::from(is_container(name));
            self.same += u64::from(self.name == name);
        }
        true
    }

    fn ends_before(&self, name: &[u8]) -> bool {
        match self.name.as_slice() {
            b"p" => ends_paragraph(name),
            b"li" => name == b"li",
            b"dt" | b"dd" => matches!(name, b"dt" | b"dd"),
            b"option" => matches!(name, b"option" | b"optgroup" | b"hr"),
            b"optgroup" => matches!(name, b"optgroup" | b"hr"),
            b"td" | b"th" => matches!(name, b"td" | b"th" | b"tr" | b"tbody" | b"thead" | b"tfoot"),
            b"tr" => matches!(name, b"tr" | b"tbody" | b"thead" | b"tfoot"),
            b"thead" | b"tbody" | b"tfoot" => matches!(name, b"thead" | b"tbody" | b"tfoot"),
            _ => false,
        }
    }

    /// Takes an end tag. Returns `false` for the end tag of the element or of its parent.
    pub(super) fn close(&mut self, name: &[u8]) -> bool {
        let own = self.name == name;
        let ended = if own {
            self.same == 0
        } else {
            may_stay_open(&self.name) && self.containers == 0 && is_parent(name)
        };
        if ended {
            return false;
        }
        self.same -= u64::from(own);
        self.containers = self.containers.saturating_sub(u64::from(is_container(name)));
        true
    }
}
