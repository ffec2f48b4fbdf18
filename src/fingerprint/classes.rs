//! What kind of character each is, and its lower case.

use std::sync::LazyLock;

use super::tables::{IGNORED, LOWER, MARKS, NUMERIC, UNSPACED, WORD};

/// What a character does to words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    /// Ends a word.
    Separator,
    /// A letter or digit, in lower case.
    Letter(char),
    /// A letter or digit of a script that puts no spaces between words.
    Unspaced,
    /// Goes on with what is before it, and begins nothing.
    Mark,
    /// Is passed over.
    Ignored,
}

impl Class {
    /// The class of a character.
    #[inline]
    pub(super) fn of(c: char) -> Class {
        match CODES.of(c) {
            SEPARATOR => Class::Separator,
            UNSPACED_LETTER => Class::Unspaced,
            MARK => Class::Mark,
            IGNORABLE => Class::Ignored,
            distance => (c as u32)
                .checked_add_signed(distance)
                .and_then(char::from_u32)
                .map_or(Class::Separator, Class::Letter),
        }
    }
}

/// Whether a word has a digit or another numeral in it.
pub(super) fn has_numeral(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit)
        || (!word.is_ascii() && String::from_utf8_lossy(word).chars().any(is_numeral))
}

fn is_numeral(c: char) -> bool {
    let (ranges, _) = NUMERIC.as_chunks::<2>();
    let after = ranges.partition_point(|&[first, _]| first <= c as u32);
    ranges.get(after.wrapping_sub(1)).is_some_and(|&[_, last]| c as u32 <= last)
}

/// In [`Codes::pages`]. Any other value is a letter's distance to its lower case.
const SEPARATOR: i32 = i32::MIN;
const UNSPACED_LETTER: i32 = i32::MIN + 1;
const MARK: i32 = i32::MIN + 2;
const IGNORABLE: i32 = i32::MIN + 3;

/// The frozen tables unfolded for direct look-up: 256 characters to a page, equal pages once.
struct Codes {
    /// The page of each character divided by 256.
    index: Vec<u16>,
    pages: Vec<[i32; 256]>,
}

impl Codes {
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a page for each character")]
    fn of(&self, c: char) -> i32 {
        let code = c as usize;
        self.pages[usize::from(self.index[code >> 8])][code & 0xFF]
    }
}

static CODES: LazyLock<Codes> = LazyLock::new(unfolded);

#[expect(
    clippy::indexing_slicing,
    reason = "the tables have characters, and there is room for all"
)]
#[expect(clippy::cast_possible_truncation, reason = "there are 4,352 pages at most")]
fn unfolded() -> Codes {
    let mut all = vec![SEPARATOR; 0x11_0000];
    for ascii in (b'0'..=b'z').filter(u8::is_ascii_alphanumeric) {
        all[usize::from(ascii)] = i32::from(ascii.to_ascii_lowercase()) - i32::from(ascii);
    }
    let mut fill = |ranges: &[u32], code: &dyn Fn(i32) -> i32| {
        for &[first, last] in ranges.as_chunks::<2>().0 {
            all[first as usize..=last as usize].iter_mut().for_each(|c| *c = code(*c));
        }
    };
    fill(MARKS, &|_| MARK);
    // Letters that are marks as well may begin a word.
    fill(WORD, &|_| 0);
    fill(UNSPACED, &|code| if code == 0 { UNSPACED_LETTER } else { code });
    fill(IGNORED, &|_| IGNORABLE);
    for &(first, last, step, distance) in LOWER {
        for c in (first..=last).step_by(step) {
            all[c as usize] = distance;
        }
    }
    let mut codes = Codes { index: Vec::new(), pages: Vec::new() };
    for page in all.as_chunks::<256>().0 {
        let known = codes.pages.iter().position(|p| p == page).unwrap_or_else(|| {
            codes.pages.push(*page);
            codes.pages.len() - 1
        });
        codes.index.push(known as u16);
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frozen_tables_never_change() {
        // XXH3 over the class of every character. Another Unicode version is another recipe.
        let mut all = Vec::new();
        for c in '\0'..=char::MAX {
            all.extend(CODES.of(c).to_le_bytes());
            all.push(u8::from(is_numeral(c)));
        }
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&all), 6_709_457_088_004_541_638);
    }

    #[test]
    fn characters_have_their_classes() {
        use Class::{Ignored, Letter, Mark, Separator, Unspaced};
        for (c, class) in [
            ('a', Letter('a')),
            ('Z', Letter('z')),
            ('7', Letter('7')),
            ('_', Separator),
            ('É', Letter('é')),
            ('ß', Letter('ß')),
            ('ς', Letter('σ')),
            ('İ', Letter('i')),
            ('½', Letter('½')),
            ('٤', Letter('٤')),
            ('한', Letter('한')),
            ('京', Unspaced),
            ('あ', Unspaced),
            ('ー', Unspaced),
            ('ไ', Unspaced),
            ('\u{e48}', Mark),
            ('\u{301}', Mark),
            ('\u{94d}', Mark),
            ('。', Separator),
            ('👍', Separator),
            ('\u{200d}', Ignored),
            ('\u{ad}', Ignored),
            ('\u{feff}', Ignored),
            ('\u{fe0f}', Ignored),
            ('\u{10FFFF}', Separator),
        ] {
            assert_eq!(Class::of(c), class, "{c:?}");
        }
    }

    #[test]
    fn numerals_are_known_in_any_script() {
        for word in ["1", "x2", "½", "٤٢", "Ⅳ", "年一〇"] {
            assert!(has_numeral(word.as_bytes()), "{word}");
        }
        for word in ["", "x", "é", "年", "\u{80}"] {
            assert!(!has_numeral(word.as_bytes()), "{word}");
        }
    }
}
