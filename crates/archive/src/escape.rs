//! Making text from elsewhere safe to show.

/// How many characters of a foreign text a message shows.
const SHOWN_CHARS: usize = 200;

/// `text` for a message. Characters that could control a terminal, reorder the line or hide in it
/// are written as `\u{…}`, and the text is cut after 200 characters.
pub fn escape(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS).map(|(at, _)| at);
    let mut out = whole(end.and_then(|end| text.get(..end)).unwrap_or(text));
    if end.is_some() {
        out.push('…');
    }
    out
}

/// `text` as [`escape`] writes it, but uncut: for results, which users copy as a whole.
pub fn whole(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unfit(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a character must not be printed as it is: control characters, line ends of any kind,
/// marks of direction, and characters without width.
pub fn is_unfit(c: char) -> bool {
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
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(escape("a\x1b[31mb\r\n\t\u{9b}c"), "a\\u{1b}[31mb\\r\\n\\t\\u{9b}c");
        assert_eq!(escape("\u{202e}gpj.exe"), "\\u{202e}gpj.exe");
        assert_eq!(escape("https://пример.рф/名 \"x\""), "https://пример.рф/名 \"x\"");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(escape(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(escape(&"é".repeat(201)), "é".repeat(200) + "…");
    }

    proptest! {
        #[test]
        fn nothing_unfit_is_left(text in any::<String>()) {
            prop_assert!(!escape(&text).chars().any(is_unfit));
            prop_assert!(!whole(&text).chars().any(is_unfit));
        }
    }
}
