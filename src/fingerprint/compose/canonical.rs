//! Canonical equivalence of characters.

use std::sync::LazyLock;

use super::pairs::{COMPOSITES, EXCLUDED};
use super::singles::{CLASSES, SINGLES};
use crate::fingerprint::char_table::CharTable;

/// The constants of Hangul syllables and their parts (The Unicode Standard, section 3.12).
const LEADING: u32 = 0x1100;
const VOWELS: u32 = 0x1161;
const TRAILING: u32 = 0x11a7;
const SYLLABLES: u32 = 0xac00;
const LEADING_COUNT: u32 = 19;
const VOWEL_COUNT: u32 = 21;
/// Includes the syllables without a trailing consonant.
const TRAILING_COUNT: u32 = 28;
const SYLLABLE_COUNT: u32 = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT;

/// The canonical combining class of each indecomposable character: 0 for a starter.
static PARTS: LazyLock<CharTable<u8>> = LazyLock::new(|| {
    let mut all = vec![0; 0x11_0000];
    let pairs = COMPOSITES.iter().chain(EXCLUDED).map(|row| row.0);
    let decomposed = pairs.chain(SINGLES.iter().map(|row| row.0)).map(|code| (code, DECOMPOSED));
    let syllables = (SYLLABLES..SYLLABLES + SYLLABLE_COUNT).map(|code| (code, DECOMPOSED));
    let ranges =
        CLASSES.iter().flat_map(|&(first, last, class)| (first..=last).map(move |c| (c, class)));
    for (code, class) in ranges.chain(decomposed).chain(syllables) {
        if let Some(room) = all.get_mut(code as usize) {
            *room = class;
        }
    }
    CharTable::new(&all)
});

/// The value in [`PARTS`] of a decomposable character. All combining classes are lower.
const DECOMPOSED: u8 = u8::MAX;

/// Returns the canonical combining class of an indecomposable character.
pub(super) fn class(part: char) -> u8 {
    PARTS.of(part as u32)
}

/// Whether a text with this character may already be normalised (`NFC_Quick_Check=Yes`).
pub(in crate::fingerprint) fn is_yes(c: char) -> bool {
    let code = c as u32;
    let is_vowel = (VOWELS..VOWELS + VOWEL_COUNT).contains(&code);
    let is_trailing = (TRAILING + 1..TRAILING + TRAILING_COUNT).contains(&code);
    let is_changed = row(EXCLUDED, code).is_some() || single(code).is_some();
    let is_second = SECONDS.binary_search(&initial(code)).is_ok();
    !is_vowel && !is_trailing && !is_changed && !is_second
}

/// Returns the first character of a composite's decomposition, or the character itself if it is not
/// a composite.
fn initial(code: u32) -> u32 {
    let mut first = code;
    while let Some((_, one, _)) = row(COMPOSITES, first) {
        first = one;
    }
    first
}

/// Whether normalisation never changes the character together with text before it.
#[cfg(test)]
pub(in crate::fingerprint) fn is_inert(c: char) -> bool {
    !CLASSES.iter().any(|(first, last, _)| (*first..=*last).contains(&(c as u32))) && is_yes(c)
}

/// Returns all characters that are not inert; some characters occur twice.
pub(in crate::fingerprint) fn not_inert() -> impl Iterator<Item = char> {
    let marks = CLASSES.iter().flat_map(|(first, last, _)| *first..=*last);
    let changed = EXCLUDED.iter().map(|row| row.0).chain(SINGLES.iter().map(|row| row.0));
    let vowels = VOWELS..VOWELS + VOWEL_COUNT;
    let trailing = TRAILING + 1..TRAILING + TRAILING_COUNT;
    let composites = COMPOSITES.iter().map(|row| row.0);
    let seconds = SECONDS
        .iter()
        .copied()
        .chain(composites.filter(|code| SECONDS.binary_search(&initial(*code)).is_ok()));
    let seconds = seconds.chain(vowels).chain(trailing);
    marks.chain(changed).chain(seconds).filter_map(char::from_u32)
}

/// Passes the full decomposition of a character to `give`.
pub(super) fn decompose(c: char, give: &mut impl FnMut(char)) {
    let code = c as u32;
    if PARTS.of(code) != DECOMPOSED {
        return give(c);
    }
    if let Some(syllable) = code.checked_sub(SYLLABLES).filter(|s| *s < SYLLABLE_COUNT) {
        return decompose_syllable(syllable, give);
    }
    // The second character cannot be decomposed. The first character can be decomposed once, twice
    // or three times.
    let (mut first, mut behind, mut count) = (code, ['\0'; DEPTH_MAX], 0);
    loop {
        if let Some(other) = single(first) {
            first = other;
        } else if let Some((_, one, two)) = row(COMPOSITES, first).or_else(|| row(EXCLUDED, first))
        {
            first = one;
            if let (Some(room), Some(two)) = (behind.get_mut(count), char::from_u32(two)) {
                *room = two;
                count += 1;
            }
        } else {
            break;
        }
    }
    char::from_u32(first).into_iter().for_each(&mut *give);
    behind.iter().take(count).rev().for_each(|c| give(*c));
}

/// The maximum number of decomposition steps of a character.
const DEPTH_MAX: usize = 3;

fn decompose_syllable(syllable: u32, give: &mut impl FnMut(char)) {
    let (pair, trailing) = (syllable / TRAILING_COUNT, syllable % TRAILING_COUNT);
    let parts = [LEADING + pair / VOWEL_COUNT, VOWELS + pair % VOWEL_COUNT, TRAILING + trailing];
    let count = if trailing == 0 { 2 } else { 3 };
    parts.into_iter().take(count).filter_map(char::from_u32).for_each(give);
}

/// Returns the primary composite of two characters.
pub(super) fn compose(first: char, second: char) -> Option<char> {
    let (a, b) = (first as u32, second as u32);
    if let (0..LEADING_COUNT, 0..VOWEL_COUNT) = (a.wrapping_sub(LEADING), b.wrapping_sub(VOWELS)) {
        let pair = (a - LEADING) * VOWEL_COUNT + b - VOWELS;
        return char::from_u32(SYLLABLES + pair * TRAILING_COUNT);
    }
    let syllable = a.wrapping_sub(SYLLABLES);
    let is_open = syllable < SYLLABLE_COUNT && syllable.is_multiple_of(TRAILING_COUNT);
    if let (true, 1..TRAILING_COUNT) = (is_open, b.wrapping_sub(TRAILING)) {
        return char::from_u32(a + b - TRAILING);
    }
    let at = COMPOSED.binary_search_by_key(&(a, b), |(a, b, _)| (*a, *b)).ok()?;
    COMPOSED.get(at).map(|(.., composite)| *composite)
}

/// The composites, sorted by their parts.
static COMPOSED: LazyLock<Vec<(u32, u32, char)>> = LazyLock::new(|| {
    let swapped = |&(c, a, b): &(u32, u32, u32)| char::from_u32(c).map(|c| (a, b, c));
    let mut composed: Vec<_> = COMPOSITES.iter().filter_map(swapped).collect();
    composed.sort_unstable();
    composed
});

/// The second parts of composites.
static SECONDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut seconds: Vec<u32> = COMPOSITES.iter().map(|(.., second)| *second).collect();
    seconds.sort_unstable();
    seconds.dedup();
    seconds
});

/// Finds the row of a character.
fn row(table: &[(u32, u32, u32)], code: u32) -> Option<(u32, u32, u32)> {
    let at = table.binary_search_by_key(&code, |(code, ..)| *code).ok()?;
    table.get(at).copied()
}

/// Returns the single character that replaces this character.
fn single(code: u32) -> Option<u32> {
    let at = SINGLES.binary_search_by_key(&code, |(code, _)| *code).ok()?;
    SINGLES.get(at).map(|(_, other)| *other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::char as oracle;
    use unicode_normalization::{IsNormalized, UNICODE_VERSION, is_nfc_quick};

    fn all() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    #[test]
    fn frozen_tables_match_unicode_17() {
        assert_eq!(UNICODE_VERSION, (17, 0, 0));
        for c in all() {
            if class(c) != DECOMPOSED {
                assert_eq!(class(c), oracle::canonical_combining_class(c), "{c:?}");
            }
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            decompose(c, &mut |part| found.push(part));
            oracle::decompose_canonical(c, |part| expected.push(part));
            assert_eq!(found, expected, "{c:?}");
            assert_eq!(class(c) == DECOMPOSED, found != [c], "{c:?}");
            let quick = is_nfc_quick(std::iter::once(c));
            assert_eq!(is_yes(c), quick == IsNormalized::Yes, "{c:?}");
        }
    }

    #[test]
    fn pairs_compose_as_in_unicode_17() {
        let starters: Vec<char> =
            COMPOSED.iter().filter_map(|(a, ..)| char::from_u32(*a)).collect();
        let mut seconds: Vec<char> = SECONDS.iter().copied().filter_map(char::from_u32).collect();
        seconds.extend("a한\u{1161}\u{11a7}\u{11a8}\u{11c2}\u{1175}\u{1176}\u{11c3}".chars());
        for first in starters.into_iter().chain("가각\u{1100}\u{1112}\u{1113}힣".chars()) {
            for second in &seconds {
                assert_eq!(compose(first, *second), oracle::compose(first, *second));
            }
        }
    }

    #[test]
    fn inert_character_leaves_preceding_text_unchanged() {
        let not_inert: std::collections::HashSet<char> = not_inert().collect();
        assert!(all().all(|c| is_inert(c) != not_inert.contains(&c)));
        for c in all().filter(|c| is_inert(*c)) {
            let mut first = None;
            decompose(c, &mut |part| first = first.or(Some(part)));
            let first = first.unwrap();
            assert!(class(first) == 0 && is_yes(first), "{c:?}");
        }
        // All characters below U+0300 are inert. Composed text in most European languages has no
        // other characters, and one byte is enough to recognise them.
        assert!(('\0'..'\u{300}').all(is_inert));
    }

    #[test]
    fn frozen_tables_never_change() {
        // XXH3 over the properties of each character. Another Unicode version needs another recipe
        // version.
        let mut rows = Vec::new();
        for (c, a, b) in COMPOSITES.iter().chain(EXCLUDED) {
            rows.extend([c, a, b].map(|code| code.to_le_bytes()).concat());
        }
        for (c, other) in SINGLES {
            rows.extend([c, other].map(|code| code.to_le_bytes()).concat());
        }
        for (first, last, class) in CLASSES {
            rows.extend([first, last, &u32::from(*class)].map(|code| code.to_le_bytes()).concat());
        }
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&rows), 11_144_170_983_131_104_211);
    }
}
