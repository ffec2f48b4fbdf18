//! Recrawl rules as JSON lines.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use simkeep::due::{Rule, Rules, RulesError};

use super::not_json::not_json;
use super::numbered::NumberedLines;
use super::stream::SourceStream;
use super::surrogates::with_whole_characters;
use super::{BrokenRecord, ZstdWindow, escape};

/// Reads the rules in a file of JSON lines, which may be compressed; `-` is standard input.
///
/// ```json
/// {"max":"30d"}
/// {"under":"example.com/news","min":"1h","max":"7d","weight":2,"per_host":100,"policy":"fixed:1d"}
/// ```
///
/// A line is a [`Rule`]. A rule without `under` applies to all pages that match no other rule.
/// `under` is a [`Prefix`](simkeep::Prefix), `min` and `max` are
/// [intervals](simkeep::recrawl::Interval), and `policy` is a [`Policy`](simkeep::recrawl::Policy).
/// All keys are optional; `null` has the meaning of a missing key.
///
/// ```
/// use simkeep_formats::{ZstdWindow, rules};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("rules.jsonl");
/// std::fs::write(&path, r#"{"under":"example.com/news","max":"6h"}"#).unwrap();
/// let rules = rules::open(&path, ZstdWindow::default())?;
/// assert_eq!(rules.of("https://example.com/news/today").max, Some("6h".parse().unwrap()));
/// assert_eq!(rules.of("https://example.com/terms").max, None);
/// # Ok::<(), simkeep_formats::BrokenRecord>(())
/// ```
///
/// # Errors
///
/// Returns an error if the file cannot be read. For an invalid line, the error has the number of
/// the line, or of both lines, and the problem: an unknown or repeated key, an invalid value, a
/// `min` above `max`, or a prefix of an earlier line.
pub fn open(path: &Path, zstd_window: ZstdWindow) -> Result<Rules, BrokenRecord> {
    let stream = SourceStream::open(path, zstd_window);
    rules(stream.map_err(|e| BrokenRecord::source(&path.to_string_lossy(), &e))?)
}

/// Reads the rules in JSON lines from a reader. See [`open`].
///
/// ```
/// use std::io::Cursor;
///
/// use simkeep_formats::{ZstdWindow, rules};
///
/// let lines = "{\"max\":\"30d\"}\n{\"under\":\"example.com/news\",\"max\":\"1d\"}";
/// let rules = rules::read("rules.jsonl", Box::new(Cursor::new(lines)), ZstdWindow::default())?;
/// assert_eq!(rules.of("https://example.com/news/today").max, Some("1d".parse().unwrap()));
///
/// let wrong = Box::new(Cursor::new("{\"max\":\"7 days\"}"));
/// let broken = rules::read("rules.jsonl", wrong, ZstdWindow::default()).unwrap_err();
/// assert_eq!(broken.at, "rules.jsonl, line 1");
/// # Ok::<(), simkeep_formats::BrokenRecord>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`open`].
pub fn read(
    name: &str,
    bytes: Box<dyn Read + Send>,
    zstd_window: ZstdWindow,
) -> Result<Rules, BrokenRecord> {
    let stream = SourceStream::unpacked(name, bytes, Arc::default(), zstd_window);
    rules(stream.map_err(|e| BrokenRecord::source(name, &e))?)
}

fn rules(stream: SourceStream) -> Result<Rules, BrokenRecord> {
    let mut lines = NumberedLines::new(stream);
    let (mut rules, mut numbers) = (Vec::new(), Vec::new());
    while lines.advance()? {
        rules.push(rule(lines.text()).map_err(|why| lines.broken(why))?);
        numbers.push(lines.number());
    }
    Rules::new(rules).map_err(|error| refused(&lines, &numbers, error))
}

/// Builds the error, with the numbers of lines instead of the numbers of rules.
#[expect(clippy::indexing_slicing, reason = "each rule has a line, and rules are counted from 1")]
fn refused(lines: &NumberedLines, numbers: &[u64], error: RulesError) -> BrokenRecord {
    match error {
        RulesError::Rule { nth, cause } => lines.broken_at(numbers[nth - 1], cause.to_string()),
        RulesError::Twice { under, first, second } => {
            let whose = under.map_or("all pages".to_owned(), |prefix| escape(&prefix.to_string()));
            let (first, second) = (numbers[first - 1], numbers[second - 1]);
            let why =
                format!("line {first} has a rule for {whose} already; merge them into one rule");
            lines.broken_at(second, why)
        }
        other => lines.broken(other.to_string()),
    }
}

/// Parses the rule in a line.
fn rule(line: &[u8]) -> Result<Rule, String> {
    let line = &*with_whole_characters(line);
    let RuleObject(pairs) = serde_json::from_slice(line).map_err(|e| not_json(&e))?;
    let mut rule = Rule::everywhere();
    for (nth, (key, value)) in pairs.iter().enumerate() {
        if pairs.iter().take(nth).any(|(earlier, _)| earlier == key) {
            return Err(format!("{key:?} occurs twice"));
        }
        match key.as_str() {
            "under" => rule.under = text(key, value)?,
            "min" => rule.min = text(key, value)?,
            "max" => rule.max = text(key, value)?,
            "policy" => rule.policy = text(key, value)?,
            "weight" if value.is_null() => {}
            "weight" => {
                let weight = value.as_f64();
                rule.weight = weight.ok_or("\"weight\" must be a number")?;
            }
            "per_host" if value.is_null() => {}
            "per_host" => {
                let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
                rule.per_host = Some(count.ok_or("\"per_host\" must be a whole number")?);
            }
            _ => {
                return Err(escape(&format!(
                    "unknown key {key:?}; a rule may have under, min, max, weight, per_host and policy"
                )));
            }
        }
    }
    Ok(rule)
}

/// Parses a text; `None` for null.
fn text<T: FromStr<Err: fmt::Display>>(key: &str, value: &Value) -> Result<Option<T>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(why) => Err(escape(&format!("{key:?}: {why}"))),
        },
        _ => Err(format!("{key:?} must be a string")),
    }
}

/// The keys and values of an object, with duplicates.
struct RuleObject(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for RuleObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleObject, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = RuleObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RuleObject, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(RuleObject(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gzip::tests::gz;
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn read(file: impl Into<Vec<u8>>) -> Result<Rules, String> {
        let bytes = Box::new(Cursor::new(file.into()));
        super::read("test", bytes, ZstdWindow::default())
            .map_err(|BrokenRecord { at, why }| format!("{at}: {why}"))
    }

    #[test]
    fn each_line_is_a_rule() {
        let file = "\u{feff}{\"max\":\"30d\"}\n\n \r\n\
            {\"under\":\"example.com/news\",\"min\":\"1h\",\"max\":\"7d\",\"weight\":2,\
             \"per_host\":100,\"policy\":\"fixed:1d\"}\r\n\
            {\"policy\":\"uniform\",\"under\":\"org,example\",\"min\":null}";
        for bytes in [file.as_bytes().to_vec(), gz(file.as_bytes())] {
            let rules = read(bytes).unwrap();
            let news = Rule::under("example.com/news".parse().unwrap())
                .min("1h".parse().unwrap())
                .max("7d".parse().unwrap())
                .weight(2.0)
                .per_host(100)
                .policy("fixed:1d".parse().unwrap());
            assert_eq!(rules.of("https://example.com/news/1"), &news);
            let uniform = Rule::under("example.org".parse().unwrap());
            let uniform = uniform.policy("uniform".parse().unwrap());
            assert_eq!(rules.of("https://www.example.org/"), &uniform);
            let everywhere = Rule::everywhere().max("30d".parse().unwrap());
            assert_eq!(rules.of("https://example.com/"), &everywhere);
        }
        assert_eq!(read("").unwrap().of("x:"), &Rule::everywhere());
    }

    #[test]
    fn errors_name_their_line() {
        let (a, b) = (r#"{"under":"a.example"}"#, r#"{"under":"b.example"}"#);
        for (line, why) in [
            ("{", "ends too early"),
            ("[]", "expected an object"),
            (r#"{"undr":"x.example"}"#, "unknown key \"undr\"; a rule may have under, min"),
            (r#"{"Under":"x.example"}"#, "unknown key \"Under\""),
            (r#"{"min":"1h","min":"2h"}"#, "\"min\" occurs twice"),
            (r#"{"under":""}"#, "\"under\": the prefix is empty"),
            (r#"{"under":"a b.example"}"#, "not a valid host"),
            (r#"{"under":["a.example"]}"#, "\"under\" must be a string"),
            (r#"{"min":3600}"#, "\"min\" must be a string"),
            (r#"{"min":"1.5h"}"#, "\"min\": \"1.5h\" is not an interval"),
            (r#"{"min":"-1h"}"#, "is not an interval"),
            (r#"{"max":"0s"}"#, "is not an interval"),
            (r#"{"max":"NaN"}"#, "is not an interval"),
            (r#"{"min":"1w","max":"6d"}"#, "min must be at most max"),
            (r#"{"weight":0}"#, "weight must be from 1e-100 to 1e100"),
            (r#"{"weight":-1}"#, "weight must be from 1e-100 to 1e100"),
            (r#"{"weight":NaN}"#, "column"),
            (r#"{"weight":1e999}"#, "number out of range"),
            (r#"{"weight":"2"}"#, "\"weight\" must be a number"),
            (r#"{"per_host":1.5}"#, "\"per_host\" must be a whole number"),
            (r#"{"per_host":-1}"#, "\"per_host\" must be a whole number"),
            (
                r#"{"policy":"weekly"}"#,
                "there is no policy \"weekly\"; the policies are value, crawl-value, harmonic",
            ),
            (r#"{"policy":"fixed:0d"}"#, "has wrong parameters"),
            (r#"{"under":"A.example","max":"1d"}"#, "line 1 has a rule for a.example already"),
            ("{\"\u{202e}\":1}", "unknown key"),
        ] {
            let said = read(format!("{a}\n\n{line}\n{b}\n")).unwrap_err();
            assert!(said.starts_with("test, line 3: ") && said.contains(why), "{line}: {said}");
            assert!(!said.chars().any(super::super::escape::needs_escape), "{said}");
        }
        let everywhere = read("{}\n{}").unwrap_err();
        assert_eq!(
            everywhere,
            "test, line 2: line 1 has a rule for all pages already; merge them into one rule"
        );
    }

    #[test]
    fn overlong_line_is_not_buffered() {
        let said = read(format!("{a}\n{{\"under\":\"{}\"}}\n", "x".repeat(1 << 20), a = "{}"));
        assert_eq!(said.unwrap_err(), "test, line 2: the line is longer than 65536 bytes");
        let deep = format!("{{\"under\":{}}}", "[".repeat(60_000));
        assert!(read(deep).unwrap_err().contains("recursion limit"));
    }

    proptest! {
        #[test]
        fn nothing_rule_like_panics(
            pairs in prop::collection::vec("\"(under|min|max|weight|per_host|policy)\":(-?[0-9]{1,20}(\\.[0-9])?|\"[a-z0-9:./,]{0,20}\"|null|\\{\\})", 0..6),
        ) {
            let _ = read(format!("{{{}}}", pairs.join(",")));
        }
    }
}
