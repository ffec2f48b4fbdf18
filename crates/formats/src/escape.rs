//! Makes external text safe to display.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The number of characters of an external text that a message shows.
const SHOWN_CHARS: usize = 200;

/// Escapes `text` for a message. Characters that could control a terminal, reorder the line or be
/// invisible are written as `\u{…}`, and the text is truncated after 200 characters.
///
/// ```
/// use simkeep_formats::escape::escape;
/// assert_eq!(escape("naïve"), "naïve");
/// assert_eq!(escape("red \u{1b}[31m"), r"red \u{1b}[31m");
/// assert!(escape(&"a".repeat(500)).ends_with('…'));
/// ```
pub fn escape(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS).map(|(at, _)| at);
    let mut out = escape_untruncated(end.and_then(|end| text.get(..end)).unwrap_or(text));
    if end.is_some() {
        out.push('…');
    }
    out
}

/// Escapes `text` by the rules of [`escape`], without truncation. For results, which users copy as
/// a whole.
pub fn escape_untruncated(text: &str) -> String {
    if text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if needs_escape(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns equivalent JSON that cannot control a terminal. Outside of its strings JSON is ASCII
/// without control characters, so escapes are needed in strings only.
///
/// ```
/// use simkeep_formats::escape;
/// assert_eq!(escape::json("\"right-to-left \u{202e}\""), r#""right-to-left \u202e""#);
/// ```
pub fn json(json: &str) -> Cow<'_, str> {
    let harmless = json.bytes().fold(true, |all, b| all & (0x20..0x7f).contains(&b));
    if harmless || !json.chars().any(needs_escape) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if needs_escape(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a character must be escaped in output: control characters, line ends of any kind,
/// direction marks, and characters without width.
pub fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        assert_eq!(escape("a\x1b[31mb\r\n\t\u{9b}c"), "a\\u{1b}[31mb\\r\\n\\t\\u{9b}c");
        assert_eq!(escape("\u{202e}gpj.exe"), "\\u{202e}gpj.exe");
        assert_eq!(escape("https://пример.рф/名 \"x\""), "https://пример.рф/名 \"x\"");
    }

    #[test]
    fn terminal_control_characters_are_escaped_in_json() {
        let quoted = serde_json::Value::from("a\u{1b}\u{9b}é\u{202e}\u{e0001}\u{7f}").to_string();
        assert_eq!(json(&quoted), r#""a\u001b\u009bé\u202e\udb40\udc01\u007f""#);
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(escape(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(escape(&"é".repeat(201)), "é".repeat(200) + "…");
    }

    proptest! {
        #[test]
        fn escaped_json_keeps_its_meaning(text in any::<String>()) {
            let quoted = serde_json::Value::from(text.as_str()).to_string();
            let escaped = json(&quoted);
            prop_assert!(!escaped.chars().any(needs_escape));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }

        #[test]
        fn no_unsafe_character_is_left(text in any::<String>()) {
            prop_assert!(!escape(&text).chars().any(needs_escape));
            prop_assert!(!escape_untruncated(&text).chars().any(needs_escape));
        }
    }
}
