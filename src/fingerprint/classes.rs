//! The classes of characters, and their lower case.

use std::sync::LazyLock;

use super::char_table::{ASSIGNED, CharTable};
#[cfg(test)]
use super::compose::is_inert;
use super::compose::{is_yes, not_inert};
use super::tables::{IGNORED, LOWER, MARKS, NUMERIC, UNSPACED, WORD};
use super::utf8::code_at;

/// The role of a character in words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CharClass {
    /// A character that ends a word.
    Separator,
    /// A letter or digit, in lower case.
    Letter(char),
    /// A letter or digit of a script without spaces between words.
    Unspaced,
    /// A character that continues a word and begins none.
    Mark,
    /// A character that is skipped.
    Ignored,
}

impl CharClass {
    /// Returns the class of a character. ASCII needs no table, so a text in ASCII builds none.
    #[inline]
    pub(super) fn of(c: char) -> CharClass {
        match c {
            '0'..='9' | 'A'..='Z' | 'a'..='z' => CharClass::Letter(c.to_ascii_lowercase()),
            '\0'..='\x7f' => CharClass::Separator,
            _ => CharClass::in_table(c),
        }
    }

    fn in_table(c: char) -> CharClass {
        match CODES.of(c as u32) {
            SEPARATOR => CharClass::Separator,
            UNSPACED_LETTER => CharClass::Unspaced,
            MARK => CharClass::Mark,
            IGNORABLE => CharClass::Ignored,
            distance => (c as u32)
                .checked_add_signed(distance)
                .and_then(char::from_u32)
                .map_or(CharClass::Separator, CharClass::Letter),
        }
    }
}

/// Whether a word contains a digit or another numeral.
pub(super) fn has_numeral(word: &[u8]) -> bool {
    word.iter().any(u8::is_ascii_digit)
        || (!word.is_ascii() && String::from_utf8_lossy(word).chars().any(is_numeral))
}

fn is_numeral(c: char) -> bool {
    let (ranges, _) = NUMERIC.as_chunks::<2>();
    let after = ranges.partition_point(|&[first, _]| first <= c as u32);
    ranges.get(after.wrapping_sub(1)).is_some_and(|&[_, last]| c as u32 <= last)
}

/// A value in [`CODES`]. Any other value is a letter's distance to its lower case.
const SEPARATOR: i32 = i32::MIN;
const UNSPACED_LETTER: i32 = i32::MIN + 1;
const MARK: i32 = i32::MIN + 2;
const IGNORABLE: i32 = i32::MIN + 3;

/// The treatment of a character on the fast path through a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq, PartialOrd)]
#[repr(u8)]
pub(super) enum CharKind {
    /// A character that ends a word.
    Separator,
    /// A letter or digit that equals its lower case.
    Letter,
    /// A letter whose lower case has the same length.
    Capital,
    /// A letter or digit of a script without spaces between words.
    Unspaced,
    /// A character that continues a word and begins none.
    Mark,
    /// A character that is skipped.
    Ignored,
    /// A letter whose lower case has another length.
    Resized,
    /// A mark that changes nothing unless another mark is next to it; continues a word.
    LoneMark,
    /// A letter or digit that, as a mark, changes nothing unless another mark is next to it.
    LoneLetter,
    /// A character that may change with the text before it, or change the text before it.
    Joining,
}

impl CharKind {
    /// Returns the kind of a character.
    #[inline]
    pub(super) fn of(code: u32) -> CharKind {
        KINDS.of(code)
    }

    /// Whether the character is not inert, so that the text before it may change.
    #[inline]
    pub(super) fn joins(self) -> bool {
        self >= CharKind::LoneMark
    }

    /// Returns the kind of an inert character.
    fn inert(c: char) -> CharKind {
        match CharClass::of(c) {
            CharClass::Separator => CharKind::Separator,
            CharClass::Letter(lower) if lower == c => CharKind::Letter,
            CharClass::Letter(lower) if lower.len_utf8() == c.len_utf8() => CharKind::Capital,
            CharClass::Letter(_) => CharKind::Resized,
            CharClass::Unspaced => CharKind::Unspaced,
            CharClass::Mark => CharKind::Mark,
            CharClass::Ignored => CharKind::Ignored,
        }
    }

    /// Returns the kind of a character that is not inert.
    fn joining(c: char) -> CharKind {
        match CharClass::of(c) {
            CharClass::Mark if is_yes(c) => CharKind::LoneMark,
            CharClass::Letter(lower) if is_yes(c) && lower == c => CharKind::LoneLetter,
            _ => CharKind::Joining,
        }
    }
}

/// The kinds of characters, for fast look-up. Building the tables takes some milliseconds, once in
/// a process; a text in ASCII never needs them.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharKinds {
    /// The characters of up to two bytes.
    short: &'static [CharKind; SHORT],
    all: &'static CharTable<CharKind>,
}

/// The number of characters of up to two bytes.
const SHORT: usize = 0x800;

impl CharKinds {
    pub(super) fn new() -> CharKinds {
        let short = &SHORT_KINDS;
        CharKinds { short, all: &KINDS }
    }

    /// Returns the kind, the code and the length of the character at byte `at`.
    #[inline(always)]
    pub(super) fn at(self, bytes: &[u8], at: usize) -> (CharKind, u32, usize) {
        let (code, size) = code_at(bytes, at);
        let kind = match self.short.get(code as usize) {
            Some(kind) => *kind,
            None => self.all.of(code),
        };
        (kind, code, size)
    }
}

/// The frozen tables, unfolded.
static CODES: LazyLock<CharTable<i32>> = LazyLock::new(unfolded);

static KINDS: LazyLock<CharTable<CharKind>> = LazyLock::new(|| {
    let mut all = vec![CharKind::Separator; 0x11_0000];
    let mut set = |c: char, to: CharKind| {
        if let Some(kind) = all.get_mut(c as usize) {
            *kind = to;
        }
    };
    let assigned = ASSIGNED.into_iter().flatten().filter_map(char::from_u32);
    assigned.for_each(|c| set(c, CharKind::inert(c)));
    not_inert().for_each(|c| set(c, CharKind::joining(c)));
    CharTable::new(&all)
});

static SHORT_KINDS: LazyLock<[CharKind; SHORT]> = LazyLock::new(|| {
    let mut short = [CharKind::Separator; SHORT];
    (0..).zip(&mut short).for_each(|(code, kind)| *kind = KINDS.of(code));
    short
});

#[expect(
    clippy::indexing_slicing,
    reason = "the tables have characters, and there is room for all"
)]
fn unfolded() -> CharTable<i32> {
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
    // Letters that are also marks may begin a word.
    fill(WORD, &|_| 0);
    fill(UNSPACED, &|code| if code == 0 { UNSPACED_LETTER } else { code });
    fill(IGNORED, &|_| IGNORABLE);
    for &(first, last, step, distance) in LOWER {
        for c in (first..=last).step_by(step) {
            all[c as usize] = distance;
        }
    }
    CharTable::new(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_tables_never_change() {
        // XXH3 over the class of every character. Another Unicode version needs another recipe
        // version.
        let mut all = Vec::new();
        for c in '\0'..=char::MAX {
            all.extend(CODES.of(c as u32).to_le_bytes());
            all.push(u8::from(is_numeral(c)));
        }
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&all), 6_709_457_088_004_541_638);
        assert!(('\0'..='\x7f').all(|c| CharClass::of(c) == CharClass::in_table(c)));
    }

    #[test]
    fn kinds_match_classes_and_composition() {
        for c in '\0'..=char::MAX {
            let kind = CharKind::of(c as u32);
            assert_eq!(
                kind,
                if is_inert(c) { CharKind::inert(c) } else { CharKind::joining(c) },
                "{c:?}"
            );
            assert_eq!(kind.joins(), !is_inert(c), "{c:?}");
            let mut utf8 = [0; 4];
            let size = c.encode_utf8(&mut utf8).len();
            let (found, code, of) = CharKinds::new().at(&utf8, 0);
            assert_eq!((found, code, of), (kind, c as u32, size), "{c:?}");
            // The fast path looks at no character that begins with a byte below 0xCC.
            assert!(c >= '\u{300}' || !kind.joins(), "{c:?}");
        }
        let of = |c: char| CharKind::of(c as u32);
        let kinds =
            ['é', 'É', 'ẞ', '漢', '\u{ad}', '’', '\u{94d}', '\u{5b4}', '\u{301}', '\u{212b}'];
        use CharKind::{
            Capital, Ignored, Joining, Letter, LoneLetter, LoneMark, Resized, Separator, Unspaced,
        };
        let expected = [
            Letter, Capital, Resized, Unspaced, Ignored, Separator, LoneMark, LoneLetter, Joining,
            Joining,
        ];
        assert_eq!(kinds.map(of), expected);
    }

    #[test]
    fn characters_have_their_classes() {
        use CharClass::{Ignored, Letter, Mark, Separator, Unspaced};
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
            assert_eq!(CharClass::of(c), class, "{c:?}");
        }
    }

    #[test]
    fn numerals_are_recognized_in_any_script() {
        for word in ["1", "x2", "½", "٤٢", "Ⅳ", "年一〇"] {
            assert!(has_numeral(word.as_bytes()), "{word}");
        }
        for word in ["", "x", "é", "年", "\u{80}"] {
            assert!(!has_numeral(word.as_bytes()), "{word}");
        }
    }
}
