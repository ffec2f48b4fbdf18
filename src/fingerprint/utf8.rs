//! Finds characters of a text by their UTF-8 bytes.

/// Returns the start of the character before `at`; 0 if there is none.
#[expect(clippy::indexing_slicing, reason = "a byte of the text")]
pub(super) fn before(bytes: &[u8], at: usize) -> usize {
    let mut before = at.saturating_sub(1);
    while before > 0 && is_inside(bytes[before]) {
        before -= 1;
    }
    before
}

/// Whether a byte continues a character.
pub(super) fn is_inside(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Returns the character that begins at `at`, and its length.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "a character of a text is whole")]
pub(super) fn code_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let first = u32::from(bytes[at]);
    let next = |n: usize| u32::from(bytes[at + n]) & 0x3f;
    if first < 0x80 {
        (first, 1)
    } else if first < 0xe0 {
        ((first & 0x1f) << 6 | next(1), 2)
    } else if first < 0xf0 {
        ((first & 0xf) << 12 | next(1) << 6 | next(2), 3)
    } else {
        ((first & 0x7) << 18 | next(1) << 12 | next(2) << 6 | next(3), 4)
    }
}

/// Returns the length of a non-ASCII character from its first byte.
pub(super) fn size_of(first: u8) -> u16 {
    match first {
        ..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}
