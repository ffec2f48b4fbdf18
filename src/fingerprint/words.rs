//! The words of a text.

use std::sync::LazyLock;

use super::tables::{LOWER, WORD};

/// Takes the words of a text one after another: maximal runs of Unicode letters and digits,
/// lower-cased.
///
/// Letters and digits are the characters with the property `Alphabetic` or of a category `N*`, as
/// of Unicode 17. A word is lower-cased character by character, one for one: where lower case is
/// several characters (U+0130 alone) the first stands for all, and a final sigma counts as a sigma,
/// since capitals do not tell the two apart. The tables are frozen in the source: a newer Unicode
/// must not move a fingerprint.
///
/// ```
/// use simkeep::fingerprint::Words;
/// let mut words = Words::new("Don't PANIC, Ζορμπάς!");
/// let mut all = Vec::new();
/// while words.next_into(&mut all) {
///     all.push(b'|');
/// }
/// assert_eq!(String::from_utf8(all).unwrap(), "don|t|panic|ζορμπάσ|");
/// ```
#[derive(Clone, Debug)]
pub struct Words<'a> {
    text: &'a str,
    /// How many bytes of it have been passed.
    passed: usize,
}

impl<'a> Words<'a> {
    /// The words of `text`.
    pub fn new(text: &'a str) -> Words<'a> {
        Words { text, passed: 0 }
    }

    /// Appends the next word in UTF-8 to `out`; false if there is none. Linear in the bytes passed.
    pub fn next_into(&mut self, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        loop {
            while let Some(&byte) = self.text.as_bytes().get(self.passed) {
                match ASCII.get(usize::from(byte)) {
                    Some(0) if out.len() > start => return true,
                    Some(0) => {}
                    Some(&lower) => out.push(lower),
                    None => break,
                }
                self.passed += 1;
            }
            let Some(c) = self.text.get(self.passed..).and_then(|rest| rest.chars().next()) else {
                return out.len() > start;
            };
            match lower(c) {
                Some(lower) => {
                    out.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
                }
                None if out.len() > start => return true,
                None => {}
            }
            self.passed += c.len_utf8();
        }
    }
}

/// An ASCII letter or digit in lower case, or 0 for what separates words.
const ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            #[expect(clippy::indexing_slicing, reason = "bounded by the loop, at compile time")]
            {
                table[byte as usize] = byte.to_ascii_lowercase();
            }
        }
        byte += 1;
    }
    table
};

/// In [`Classes::pages`]: not part of a word. Any other value is the distance to the lower case.
const SEPARATOR: i32 = i32::MIN;

/// The frozen tables unfolded for direct look-up: 256 characters to a page, equal pages once.
struct Classes {
    /// The page of each character divided by 256.
    index: Vec<u16>,
    pages: Vec<[i32; 256]>,
}

static CLASSES: LazyLock<Classes> = LazyLock::new(|| {
    let mut all = vec![SEPARATOR; 0x11_0000];
    for range in WORD.chunks_exact(2) {
        if let &[first, last] = range
            && let Some(chars) = all.get_mut(first as usize..=last as usize)
        {
            chars.fill(0);
        }
    }
    for &(first, last, step, distance) in LOWER {
        for c in (first..=last).step_by(step) {
            if let Some(c) = all.get_mut(c as usize) {
                *c = distance;
            }
        }
    }
    let mut classes = Classes { index: Vec::new(), pages: Vec::new() };
    for page in all.as_chunks::<256>().0 {
        let known = classes.pages.iter().position(|p| p == page).unwrap_or_else(|| {
            classes.pages.push(*page);
            classes.pages.len() - 1
        });
        // There are 4,352 pages at most.
        classes.index.push(u16::try_from(known).unwrap_or_default());
    }
    classes
});

/// A letter or digit in lower case; `None` if the character separates words.
fn lower(c: char) -> Option<char> {
    let code = c as u32;
    let page = *CLASSES.index.get(code as usize >> 8)?;
    match *CLASSES.pages.get(usize::from(page))?.get(code as usize & 0xFF)? {
        SEPARATOR => None,
        distance => char::from_u32(code.checked_add_signed(distance)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Words::new(text);
        let mut all = Vec::new();
        let mut word = Vec::new();
        while words.next_into(&mut word) {
            all.push(String::from_utf8(std::mem::take(&mut word)).unwrap());
        }
        all
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(words("Hello, World-2!"), ["hello", "world", "2"]);
        assert_eq!(words("  \n\t "), [""; 0]);
        assert_eq!(words(""), [""; 0]);
        assert_eq!(words("ÄÖÜß ÉCOLE"), ["äöüß", "école"]);
        assert_eq!(words("ПРИВЕТ, мир…"), ["привет", "мир"]);
        assert_eq!(words("ΟΔΟΣ οδος οδός"), ["οδοσ", "οδοσ", "οδόσ"]);
        assert_eq!(words("北京2008年，奥运"), ["北京2008年", "奥运"]);
        assert_eq!(words("مرحبا بالعالم ٤٢"), ["مرحبا", "بالعالم", "٤٢"]);
        assert_eq!(words("İstanbul"), ["istanbul"]);
        assert_eq!(words("a👍b 🎉 c"), ["a", "b", "c"]);
        assert_eq!(words("ⅣⅤ ½"), ["ⅳⅴ", "½"]);
        assert_eq!(words("snake_case"), ["snake", "case"]);
        assert_eq!(words("ﷺ\u{10FFFF}\u{0}x"), ["ﷺ", "x"]);
    }

    #[test]
    fn the_frozen_tables_never_change() {
        // XXH3 over the lower case of every character. A new Unicode version is a new recipe.
        let mut all = Vec::new();
        for c in '\0'..=char::MAX {
            all.extend(lower(c).map_or(u32::MAX, |c| c as u32).to_le_bytes());
        }
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&all), 14_494_747_135_247_616_640);
    }

    /// Writes `tables.rs` from what the standard library knows of Unicode. Only for a new recipe.
    #[test]
    #[ignore = "writes a source file"]
    fn generate_tables() {
        use std::fmt::Write as _;
        let lower = |c: char| match c {
            'ς' => 'σ',
            c => c.to_lowercase().next().unwrap(),
        };
        let mut word: Vec<(u32, u32)> = Vec::new();
        let mut lowered: Vec<(u32, u32, u32, i32)> = Vec::new();
        for c in '\u{80}'..=char::MAX {
            let code = c as u32;
            if !c.is_alphanumeric() {
                continue;
            }
            match word.last_mut() {
                Some(range) if range.1 + 1 == code => range.1 = code,
                _ => word.push((code, code)),
            }
            let distance = lower(c) as i32 - code as i32;
            match lowered.last_mut() {
                _ if distance == 0 => {}
                Some(r) if r.3 == distance && r.0 == r.1 && code - r.1 <= 2 => {
                    (r.1, r.2) = (code, code - r.1);
                }
                Some(r) if r.3 == distance && r.0 != r.1 && code - r.1 == r.2 => r.1 = code,
                _ => lowered.push((code, code, 1, distance)),
            }
        }
        let mut out = String::from(
            "//! The letters and digits of Unicode 17 and their lower case, frozen.\n//!\n\
             //! Generated by the ignored test `generate_tables` from the standard library of the\n\
             //! day; never to be generated again for the recipe that uses it.\n\n\
             /// Letters and digits beyond ASCII: first and last of each range, in order.\n\
             #[rustfmt::skip]\npub(super) const WORD: &[u32] = &[",
        );
        for (i, range) in word.iter().enumerate() {
            let gap = if i % 5 == 0 { "\n    " } else { " " };
            write!(out, "{gap}0x{:x}, 0x{:x},", range.0, range.1).unwrap();
        }
        out += "\n];\n\n\
             /// Those with a lower case of their own: first, last and step of a range, and the\n\
             /// distance from each character to its lower case.\n\
             #[rustfmt::skip]\npub(super) const LOWER: &[(u32, u32, usize, i32)] = &[";
        for (i, r) in lowered.iter().enumerate() {
            let gap = if i % 3 == 0 { "\n    " } else { " " };
            write!(out, "{gap}(0x{:x}, 0x{:x}, {}, {}),", r.0, r.1, r.2, r.3).unwrap();
        }
        out += "\n];\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fingerprint/tables.rs");
        std::fs::write(path, out).unwrap();
    }

    proptest! {
        #[test]
        fn words_are_found_as_by_the_definition(text in "\\PC{0,40}") {
            let naive: Vec<String> = text
                .split(|c: char| lower(c).is_none() && !c.is_ascii_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(|word| word.chars().map(|c| {
                    if c.is_ascii() { c.to_ascii_lowercase() } else { lower(c).unwrap() }
                }).collect())
                .collect();
            prop_assert_eq!(words(&text), naive);
        }
    }
}
