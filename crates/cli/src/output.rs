//! Standard output: lines for people, and objects for programs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

use serde_json::Value;

use super::exit::say;
use simkeep_archive::escape::is_unfit;

/// Where results go, buffered.
pub(super) struct Output {
    stdout: BufWriter<Stdout>,
    /// Whether a person reads them.
    is_terminal: bool,
    /// Whether that terminal may be shown colours.
    has_colours: bool,
}

impl Output {
    pub(super) fn stdout() -> Output {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        // As asked for at no-color.org.
        let asked = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_colours = is_terminal && asked && !is_dumb;
        Output { stdout: BufWriter::with_capacity(64 << 10, stdout), is_terminal, has_colours }
    }

    /// Whether a person reads it at once.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A line above those it names the columns of: grey on a terminal, and none anywhere else.
    pub(super) fn heading(&mut self, line: &str) -> io::Result<()> {
        match (self.is_terminal, self.has_colours) {
            (false, _) => Ok(()),
            (true, false) => self.line(line),
            (true, true) => self.line(&format!("\u{1b}[90m{line}\u{1b}[0m")),
        }
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
