//! Frozen tables unfolded for direct look-up.

/// Something about each character, for direct look-up: 256 characters to a page, equal pages once.
#[derive(Debug)]
pub(super) struct Pages<T> {
    /// The page of each character divided by 256.
    index: Vec<u16>,
    pages: Vec<[T; 256]>,
}

impl<T: Copy + PartialEq> Pages<T> {
    /// What is known of a character.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a page for each character")]
    pub(super) fn of(&self, code: u32) -> T {
        self.pages[usize::from(self.index[code as usize >> 8])][code as usize & 0xFF]
    }

    /// From a value for each character, in order.
    #[expect(clippy::cast_possible_truncation, reason = "there are 4,352 pages at most")]
    pub(super) fn new(all: &[T]) -> Pages<T> {
        let mut pages = Pages { index: Vec::new(), pages: Vec::new() };
        for page in all.as_chunks::<256>().0 {
            let known = pages.pages.iter().rposition(|p| p == page).unwrap_or_else(|| {
                pages.pages.push(*page);
                pages.pages.len() - 1
            });
            pages.index.push(known as u16);
        }
        pages
    }
}
