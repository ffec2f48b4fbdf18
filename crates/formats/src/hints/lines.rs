//! URLs in lines: of JSON, or one URL in each line.

use serde_json::Value;

use super::super::not_json::not_json;
use super::super::numbered::NumberedLines;
use super::super::stream::SourceStream;
use super::super::surrogates::with_whole_characters;
use super::super::{BrokenRecord, escape, time, url};
use super::{ListedUrl, Purpose, date};

/// The URLs in lines.
pub(super) struct UrlLines {
    lines: NumberedLines,
    form: LineForm,
}

/// The form of a line.
#[derive(Clone, Copy)]
pub(super) enum LineForm {
    /// An object of JSON.
    Json(Purpose),
    /// A URL. A line that begins with `#` is a comment.
    Url,
}

impl UrlLines {
    pub(super) fn new(stream: SourceStream, form: LineForm) -> UrlLines {
        UrlLines { lines: NumberedLines::new(stream), form }
    }
}

impl Iterator for UrlLines {
    type Item = Result<ListedUrl, BrokenRecord>;

    fn next(&mut self) -> Option<Result<ListedUrl, BrokenRecord>> {
        loop {
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(broken) => return Some(Err(broken)),
            }
            let listed = match (self.form, self.lines.text()) {
                (LineForm::Url, [b'#', ..]) => continue,
                (LineForm::Url, line) => plain(line),
                (LineForm::Json(purpose), line) => json(line, purpose),
            };
            return Some(listed.map_err(|why| self.lines.broken(why)));
        }
    }
}

/// Reads a line with a URL.
fn plain(line: &[u8]) -> Result<ListedUrl, String> {
    let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    let named = |why: String| format!("{}: {why}", escape(text));
    if text.contains(|each: char| each.is_ascii_whitespace()) {
        return Err(named("a line must have a single URL".to_owned()));
    }
    url::check(text).map_err(named)?;
    Ok(ListedUrl { url: text.to_owned(), modified: None })
}

fn json(line: &[u8], purpose: Purpose) -> Result<ListedUrl, String> {
    let line = &*with_whole_characters(line);
    let mut value: Value = serde_json::from_slice(line).map_err(|e| not_json(&e))?;
    let Some(Value::String(page)) = value.get_mut("url").map(Value::take) else {
        return Err("\"url\" is missing or not a string".into());
    };
    let named = |why: &str| format!("{}: {why}", escape(&page));
    url::check(&page).map_err(|why| named(&why))?;
    let modified = match value.get("modified") {
        Some(Value::String(text)) => date::parse(text),
        Some(Value::Number(number)) => match number.as_i64() {
            Some(number) => time::number(number),
            None => number.as_f64().and_then(time::decimal),
        },
        _ => None,
    };
    if modified.is_none() && purpose == Purpose::Times {
        return Err(named(
            "\"modified\" must be a time in the years 1 to 9999, such as 2024-05-01T12:00:00Z, or seconds since 1970",
        ));
    }
    Ok(ListedUrl { url: page, modified })
}
