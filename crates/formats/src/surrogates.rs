//! Lone surrogates in JSON, which represent no character.
//!
//! RFC 8259, section 8.2, allows `"\uDEAD"` in its grammar and leaves its meaning open. Python and
//! JavaScript write such escapes for texts that were cut between the two halves of a character.
//! Each lone half becomes U+FFFD, as in the WHATWG's UTF-16 decoder and in every browser.

use std::borrow::Cow;

use memchr::memchr;

/// The length of an escape, for example `\ud83d`.
const ESCAPE_BYTES: usize = 6;

/// The escape of U+FFFD, which has the same length.
const REPLACEMENT: &[u8; ESCAPE_BYTES] = b"\\ufffd";

/// Replaces each escape of a lone surrogate in a line of JSON with the escape of U+FFFD. The two
/// escapes have the same length, so no offset changes. A line without a lone surrogate is returned
/// unchanged.
///
/// Costs one pass over the line, and a copy of it if it has a lone surrogate.
///
/// ```
/// use simkeep_formats::with_whole_characters;
///
/// let line = with_whole_characters(br#"{"text":"cut \ud83d"}"#);
/// assert_eq!(&*line, br#"{"text":"cut \ufffd"}"#);
/// ```
pub fn with_whole_characters(line: &[u8]) -> Cow<'_, [u8]> {
    let mut whole = Cow::Borrowed(line);
    let mut at = 0;
    while let Some(found) = line.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        let escape = at + found;
        at = match (unit(line, escape), unit(line, escape + ESCAPE_BYTES)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => escape + 2 * ESCAPE_BYTES,
            (Some(0xd800..=0xdfff), _) => {
                let end = escape + ESCAPE_BYTES;
                if let Some(lone) = whole.to_mut().get_mut(escape..end) {
                    lone.copy_from_slice(REPLACEMENT);
                }
                end
            }
            (Some(_), _) => escape + ESCAPE_BYTES,
            // Another escape, for example the escape of a backslash.
            (None, _) => escape + 2,
        };
    }
    whole
}

/// Returns the UTF-16 code unit of the escape at this position, if the line has an escape there.
fn unit(line: &[u8], at: usize) -> Option<u16> {
    let digits = line.get(at..at + ESCAPE_BYTES)?.strip_prefix(b"\\u")?;
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    let unit = digits.map(|digit| u16::try_from(digit?).ok());
    unit.reduce(|unit, digit| Some(unit? << 4 | digit?))?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decodes a string of JSON unit by unit, in the simplest way.
    fn naive(escaped: &str) -> Option<String> {
        let mut units = Vec::new();
        let mut chars = escaped.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next()? {
                    'u' => {
                        let digits: String = chars.by_ref().take(4).collect();
                        units.push(u16::from_str_radix(&digits, 16).ok()?);
                    }
                    other => units.extend(other.encode_utf16(&mut [0; 2]).iter()),
                },
                c => units.extend(c.encode_utf16(&mut [0; 2]).iter()),
            }
        }
        Some(String::from_utf16_lossy(&units))
    }

    fn read(escaped: &str) -> String {
        let json = format!("\"{escaped}\"");
        serde_json::from_slice(&with_whole_characters(json.as_bytes())).unwrap()
    }

    #[test]
    fn each_lone_surrogate_is_replaced() {
        for (escaped, text) in [
            (r"a\ud83d", "a\u{fffd}"),
            (r"a\uD83D b", "a\u{fffd} b"),
            (r"\ude00", "\u{fffd}"),
            (r"\ud83d\ude00", "\u{1f600}"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
            (r"\ud83d\ude00\ude00", "\u{1f600}\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\ud83d\n\ude00", "\u{fffd}\n\u{fffd}"),
            (r"\ud83d\\ude00", "\u{fffd}\\ude00"),
            (r"\\ud83d", r"\ud83d"),
            (r"\\\ud83d", "\\\u{fffd}"),
            (r"\\\\ud83d", r"\\ud83d"),
            (r#"\"\ud83d\""#, "\"\u{fffd}\""),
            (r"\ud7ff\ue000", "\u{d7ff}\u{e000}"),
            (r"\uDBFF\uDFFF", "\u{10ffff}"),
        ] {
            assert_eq!(read(escaped), text, "{escaped}");
        }
    }

    #[test]
    fn line_without_lone_surrogates_is_not_copied() {
        for line in ["", "\\", "\\u", "\\ud8", r#"{"a":"\u00e9\ud83d\ude00\\ud83d"}"#, "{\"a\":1}"]
        {
            assert!(matches!(with_whole_characters(line.as_bytes()), Cow::Borrowed(_)), "{line}");
        }
    }

    proptest! {
        #[test]
        fn strings_keep_their_other_code_units(
            parts in prop::collection::vec(
                prop_oneof![
                    "\\\\u[dD][89abAB][0-9a-f]{2}",
                    "\\\\u[dD][c-fC-F][0-9a-f]{2}",
                    "\\\\u00[0-9a-f]{2}",
                    Just("\\\\".to_owned()),
                    Just("\\\"".to_owned()),
                    "[ a-z]{1,2}|é|😀",
                ],
                0..12,
            ),
        ) {
            let escaped = parts.concat();
            prop_assert_eq!(Some(read(&escaped)), naive(&escaped));
        }

        #[test]
        fn no_bytes_panic_and_length_is_kept(line in "(\\\\|u|d|8|c|[^a]){0,40}") {
            prop_assert_eq!(with_whole_characters(line.as_bytes()).len(), line.len());
        }
    }
}
