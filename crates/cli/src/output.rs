//! Standard output: lines for people, and objects for programs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Stdout, Write};

use serde_json::Value;

use super::exit::say;
use simkeep_archive::escape::is_unfit;

/// Where results go, buffered.
pub(super) struct Output {
    stdout: BufWriter<Stdout>,
}

impl Output {
    pub(super) fn stdout() -> Output {
        Output { stdout: BufWriter::with_capacity(64 << 10, io::stdout()) }
    }

    /// A line for people. What it quotes has been escaped.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        self.stdout.write_all(line.as_bytes())?;
        self.stdout.write_all(b"\n")
    }

    /// A JSON object on a line of its own.
    pub(super) fn object(&mut self, object: &Value) -> io::Result<()> {
        self.stdout.write_all(escaped(&object.to_string()).as_bytes())?;
        self.stdout.write_all(b"\n")
    }

    /// Says something about the lines before it, on standard error, and behind them.
    pub(super) fn note(&mut self, message: &str) -> io::Result<()> {
        self.finish()?;
        say(message);
        Ok(())
    }

    /// Passes on what is still held.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// JSON that says the same with nothing in it that could steer a terminal. Outside of its strings
/// JSON is ASCII without control characters, so whatever is found stands in a string.
fn escaped(json: &str) -> Cow<'_, str> {
    let harmless = json.bytes().fold(true, |all, b| all & (0x20..0x7f).contains(&b));
    if harmless || !json.chars().any(is_unfit) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_unfit(c) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_a_terminal_is_written_by_its_number() {
        let json = Value::from("a\u{1b}\u{9b}é\u{202e}\u{e0001}\u{7f}").to_string();
        assert_eq!(escaped(&json), r#""a\u001b\u009bé\u202e\udb40\udc01\u007f""#);
    }

    proptest! {
        #[test]
        fn json_says_the_same_when_it_is_escaped(text in any::<String>()) {
            let json = Value::from(text.as_str()).to_string();
            let escaped = escaped(&json);
            prop_assert!(!escaped.chars().any(is_unfit));
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
