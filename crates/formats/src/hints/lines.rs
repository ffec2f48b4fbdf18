//! Hints as JSON lines.

use serde_json::Value;

use super::super::not_json::not_json;
use super::super::numbered::NumberedLines;
use super::super::stream::SourceStream;
use super::super::surrogates::with_whole_characters;
use super::super::{BrokenRecord, escape, time, url};
use super::{Hint, date};

/// The hints in lines of JSON.
pub(super) struct HintLines {
    lines: NumberedLines,
}

impl HintLines {
    pub(super) fn new(stream: SourceStream) -> HintLines {
        HintLines { lines: NumberedLines::new(stream) }
    }
}

impl Iterator for HintLines {
    type Item = Result<Hint, BrokenRecord>;

    fn next(&mut self) -> Option<Result<Hint, BrokenRecord>> {
        match self.lines.advance() {
            Ok(true) => Some(hint(self.lines.text()).map_err(|why| self.lines.broken(why))),
            Ok(false) => None,
            Err(broken) => Some(Err(broken)),
        }
    }
}

fn hint(line: &[u8]) -> Result<Hint, String> {
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
    let modified = modified.ok_or_else(|| {
        named("\"modified\" must be a time in the years 1 to 9999, such as 2024-05-01T12:00:00Z, or seconds since 1970")
    })?;
    Ok(Hint { url: page, modified })
}
