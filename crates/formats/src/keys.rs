//! Reads texts in other JSON formats, under custom keys.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use simkeep::Digest;
use simkeep::fingerprint::Document;

use super::not_json::not_json;
use super::object::FieldValue;
use super::surrogates::with_whole_characters;
use super::{RecordPayload, ResponseFacts, SourceItem, VisitRecord, digest, escape, url};

/// The limit for the depth of a key.
const DEPTH_MAX: usize = 16;
/// The limit for the length of a key.
const KEY_BYTES_MAX: usize = 1024;

/// The path of a value in an object: a key, or keys with dots between them for nested objects, for
/// example `metadata.date`.
///
/// ```
/// use simkeep_formats::KeyPath;
/// let key: KeyPath = "metadata.date".parse()?; // of {"metadata":{"date":"2024-05-01"}}
/// assert_eq!(key.as_str(), "metadata.date");
/// assert!("metadata..date".parse::<KeyPath>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KeyPath(Box<str>);

impl KeyPath {
    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first part of the key, which is a key of the object itself.
    pub(super) fn first(&self) -> &str {
        self.0.split('.').next().unwrap_or(&self.0)
    }
}

impl FromStr for KeyPath {
    type Err = String;

    fn from_str(key: &str) -> Result<KeyPath, String> {
        if key.split('.').any(str::is_empty) {
            return Err("expected a key, or nested keys separated by dots, such as metadata.date"
                .to_owned());
        }
        if key.len() > KEY_BYTES_MAX || key.split('.').count() > DEPTH_MAX {
            return Err(format!(
                "at most {DEPTH_MAX} nested keys, with {KEY_BYTES_MAX} bytes in total, are possible"
            ));
        }
        Ok(KeyPath(key.into()))
    }
}

/// The keys for the name, the text and the time of a document in another format. All other keys are
/// ignored.
///
/// The name of a document becomes its URL in the store, in any form; an integer is converted to
/// digits. A time has a form that JSON lines allow, or the type of a column in a Parquet file.
///
/// ```
/// use simkeep_formats::{InputParts, SourceItem, DocumentKeys, InputSource};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("corpus.jsonl");
/// # let line = r#"{"id":4711,"text":"Some words.","metadata":{"date":"2004-02-29"}}"#;
/// # std::fs::write(&path, line)?;
/// let mut keys = DocumentKeys::default();
/// keys.url = "id".parse()?;
/// keys.time = "metadata.date".parse()?;
/// for chunk in InputParts::new([InputSource::Path(path)]).keys(keys).flatten() {
///     chunk.items(|item| {
///         assert!(matches!(item, SourceItem::Record(record) if record.url == "4711"));
///     });
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DocumentKeys {
    /// The key of the name. Default: `url`.
    pub url: KeyPath,
    /// The key of the text. Default: `text`.
    pub text: KeyPath,
    /// The key of the time. Default: `t`.
    pub time: KeyPath,
    /// The time of texts without a time, in milliseconds since 1970. If `None`, texts without a
    /// time are broken.
    pub at: Option<i64>,
}

impl Default for DocumentKeys {
    fn default() -> Self {
        let key = |key: &str| KeyPath(key.into());
        DocumentKeys { url: key("url"), text: key("text"), time: key("t"), at: None }
    }
}

impl DocumentKeys {
    /// Returns keys for documents without times, each with an `id` and a `text`.
    ///
    /// ```
    /// use simkeep_formats::{DocumentKeys, InputParts, InputSource, SourceItem};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pages.jsonl");
    /// # std::fs::write(&path, r#"{"id":"doc-17","text":"Fresh fish and chips daily."}"#)?;
    /// // The line {"id":"doc-17","text":"Fresh fish and chips daily."}
    /// let parts = InputParts::new([InputSource::Path(path)]).keys(DocumentKeys::of_documents());
    /// for chunk in parts.flatten() {
    ///     chunk.items(|item| {
    ///         assert!(matches!(item, SourceItem::Record(record) if record.url == "doc-17"));
    ///     });
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_documents() -> DocumentKeys {
        DocumentKeys { url: KeyPath("id".into()), at: Some(0), ..DocumentKeys::default() }
    }

    /// Parses a line.
    pub(super) fn item(&self, line: &[u8]) -> Result<SourceItem, String> {
        let keys = [&self.url, &self.text, &self.time].map(|key| Some(key.as_str()));
        let line = &*with_whole_characters(line);
        let [url, text, time] = find_values(line, keys)?;
        let time = match time {
            None | Some(FieldValue::Null) => Ok(None),
            Some(time) => time.time(self.time.as_str()).map(Some),
        };
        self.record(url, text, time).map(SourceItem::Record)
    }

    /// Returns the name and the text of the document in a line.
    pub(super) fn name<'l>(&self, line: &'l [u8]) -> Result<NamedText<'l>, String> {
        let keys = [Some(self.url.as_str()), Some(self.text.as_str()), None];
        match with_whole_characters(line) {
            Cow::Borrowed(line) => {
                let [page, text, _] = find_values(line, keys)?;
                Ok(NamedText::new(self.page(page)?, text))
            }
            Cow::Owned(line) => {
                let [page, text, _] = find_values(&line, keys)?;
                Ok(NamedText::new(self.page(page)?, text).into_owned())
            }
        }
    }

    /// Returns the URL of the page that this value names.
    pub(super) fn page<'v>(&self, value: Option<FieldValue<'v>>) -> Result<Cow<'v, str>, String> {
        let page = match value {
            Some(FieldValue::Text(page)) => page,
            Some(FieldValue::Whole(number)) => number.to_string().into(),
            Some(FieldValue::Large(number)) => number.to_string().into(),
            None | Some(FieldValue::Null) => {
                return Err(format!("{:?} is missing", self.url.as_str()));
            }
            Some(_) => {
                let key = self.url.as_str();
                return Err(format!("{key:?} must be a string or a whole number"));
            }
        };
        url::check(&page).map_err(|why| format!("{}: {why}", escape(&page)))?;
        Ok(page)
    }

    /// Returns the record with these values.
    pub(super) fn record(
        &self,
        page: Option<FieldValue<'_>>,
        text: Option<FieldValue<'_>>,
        time: Result<Option<i64>, String>,
    ) -> Result<VisitRecord, String> {
        let page = self.page(page)?.into_owned();
        let named = |why: String| format!("{}: {why}", escape(&page));
        let time = time.map_err(named)?.or(self.at);
        let missing = || {
            format!(
                "{:?} is missing: name the key of the time with --time-key, or set the time with --at",
                self.time.as_str()
            )
        };
        let time = time.ok_or_else(missing).map_err(named)?;
        let Some(FieldValue::Text(text)) = text else {
            return Err(named(format!("{:?} is missing or not a string", self.text.as_str())));
        };
        let digest = Some(digest::of(text.as_bytes()));
        let payload = RecordPayload::Text(Box::new(Document::new(text)));
        let (claim, status, modified) = (None, None, None);
        let (url, weight, class, epoch) = (page, None, None, None);
        Ok(VisitRecord {
            url,
            time,
            payload,
            digest,
            claim,
            status,
            modified,
            weight,
            class,
            epoch,
            facts: ResponseFacts::default(),
        })
    }
}

/// The name of a document, and the document's text.
///
/// ```
/// use simkeep_formats::{DocumentKeys, raw};
/// let line = br#"{"id":"doc-17","text":"Fresh fish and chips daily."}"#;
/// let named = raw::name(line, &DocumentKeys::of_documents())?.unwrap();
/// assert_eq!((&*named.url, named.text()), ("doc-17", Some("Fresh fish and chips daily.")));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct NamedText<'a> {
    /// The URL of the document in a store.
    pub url: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
}

impl<'a> NamedText<'a> {
    pub(super) fn new(url: Cow<'a, str>, text: Option<FieldValue<'a>>) -> NamedText<'a> {
        let text =
            text.and_then(|text| if let FieldValue::Text(text) = text { Some(text) } else { None });
        NamedText { url, text }
    }

    /// Converts to an owned name.
    pub(super) fn into_owned(self) -> NamedText<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        NamedText { url: owned(self.url), text: self.text.map(owned) }
    }

    /// Returns the text of the document, if the line has a text.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Returns the digest of the document's text, which equals the digest in a store that loaded
    /// the text; `None` without a text.
    pub fn digest(&self) -> Option<Digest> {
        self.text.as_ref().map(|text| digest::of(text.as_bytes()))
    }
}

/// Returns the values under some keys of a line.
fn find_values<'l>(
    line: &'l [u8],
    keys: [Option<&str>; 3],
) -> Result<[Option<FieldValue<'l>>; 3], String> {
    let mut found = [const { None }; 3];
    let mut json = serde_json::Deserializer::from_slice(line);
    let sought = KeySearch { keys, found: &mut found, is_whole: true };
    let read = sought.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|e| not_json(&e))?;
    Ok(found)
}

/// A search in a value: the rest of each key, empty for the value itself, and the values found.
struct KeySearch<'k, 'f, 'de> {
    keys: [Option<&'k str>; 3],
    found: &'f mut [Option<FieldValue<'de>>; 3],
    /// Whether the searched value is the value of a whole line.
    is_whole: bool,
}

impl<'de> KeySearch<'_, '_, 'de> {
    /// Returns the rest of the keys within the value of `key`; `None` if `key` is the first part of
    /// none of the keys.
    fn within<'k>(
        keys: &[Option<&'k str>; 3],
        found: &Self,
        key: &str,
    ) -> Option<[Option<&'k str>; 3]> {
        let mut left = [None; 3];
        for ((left, sought), found) in left.iter_mut().zip(keys).zip(&*found.found) {
            let rest = sought.and_then(|sought| sought.strip_prefix(key));
            let rest = rest
                .and_then(|rest| if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') });
            // If a key occurs twice, the first is used.
            *left = rest.filter(|_| found.is_none());
        }
        left.iter().any(Option::is_some).then_some(left)
    }

    /// Stores the value that was found.
    fn put(&mut self, value: impl Fn() -> FieldValue<'de>) {
        for (found, key) in self.found.iter_mut().zip(self.keys) {
            if key == Some("") && found.is_none() {
                *found = Some(value());
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for KeySearch<'_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.is_whole {
            deserializer.deserialize_map(self)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

impl<'de> Visitor<'de> for KeySearch<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_whole { "an object" } else { "a value" })
    }
    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.put(|| FieldValue::Null);
        Ok(())
    }
    fn visit_bool<E>(mut self, _: bool) -> Result<(), E> {
        self.put(|| FieldValue::Other);
        Ok(())
    }
    fn visit_i64<E>(mut self, number: i64) -> Result<(), E> {
        self.put(|| FieldValue::Whole(number));
        Ok(())
    }
    fn visit_u64<E>(mut self, number: u64) -> Result<(), E> {
        self.put(|| FieldValue::of(number));
        Ok(())
    }
    fn visit_f64<E>(mut self, number: f64) -> Result<(), E> {
        self.put(|| FieldValue::Decimal(number));
        Ok(())
    }
    fn visit_borrowed_str<E>(mut self, text: &'de str) -> Result<(), E> {
        self.put(|| FieldValue::Text(text.into()));
        Ok(())
    }
    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.put(|| FieldValue::Text(text.to_owned().into()));
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        self.put(|| FieldValue::Other);
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.put(|| FieldValue::Other);
        let keys = self.keys;
        while let Some(FieldValue::Text(key)) = map.next_key()? {
            match Self::within(&keys, &self, &key) {
                Some(keys) => {
                    let found = &mut *self.found;
                    map.next_value_seed(KeySearch { keys, found, is_whole: false })?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(url: &str, text: &str, time: &str, at: Option<i64>) -> DocumentKeys {
        let key = |key: &str| key.parse().unwrap();
        DocumentKeys { url: key(url), text: key(text), time: key(time), at }
    }

    fn read(keys: &DocumentKeys, line: &str) -> Result<(String, i64), String> {
        match keys.item(line.as_bytes())? {
            SourceItem::Record(VisitRecord { url, time, .. }) => Ok((url, time)),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn values_are_found_at_any_depth() {
        let nested = keys("id", "text", "metadata.date", None);
        let expected = Ok(("a/1".to_owned(), 1000));
        for line in [
            r#"{"id":"a/1","text":"x","metadata":{"date":"1970-01-01T00:00:01Z","text":7}}"#,
            r#"{"metadata":{"other":[{"date":5}],"date":1},"t":9,"text":"x","id":"a/1"}"#,
            r#"{"metadata.date":1.0,"id":"a/1","text":"x","status":"odd","weight":-1}"#,
            r#"{"metadata":{"date":1,"date":2},"id":"a/1","id":3,"text":"x"}"#,
            r#"{"metadata":7,"metadata":{"date":1},"id":"a/1","text":"x"}"#,
        ] {
            assert_eq!(read(&nested, line), expected, "{line}");
        }
        // One value may have two roles.
        let same = keys("text", "text", "a.b.c", Some(5));
        assert_eq!(read(&same, r#"{"text":"x","a":{"b":{"c":null}}}"#), Ok(("x".to_owned(), 5)));
        assert_eq!(read(&same, r#"{"text":"x","a":{"b":7}}"#), Ok(("x".to_owned(), 5)));
        let numbers = keys("n.id", "n.text", "t", None);
        let line = r#"{"n":{"id":-4711,"text":""},"t":0}"#;
        assert_eq!(read(&numbers, line), Ok(("-4711".to_owned(), 0)));
    }

    #[test]
    fn missing_fields_and_wrong_types_are_reported() {
        let nested = keys("id", "body.text", "metadata.date", None);
        let with_time = keys("id", "body.text", "metadata.date", Some(7));
        for (line, why) in [
            ("{", "ends too early"),
            ("[1]", "expected an object"),
            ("7", "expected an object"),
            ("{} {}", "after the object"),
            ("{}", "\"id\" is missing"),
            (r#"{"id":null}"#, "\"id\" is missing"),
            (r#"{"id":1.5}"#, "\"id\" must be"),
            (r#"{"id":18446744073709551616}"#, "\"id\" must be"),
            (r#"{"id":{"x":1}}"#, "\"id\" must be"),
            (r#"{"id":""}"#, "empty"),
            (r#"{"id":"a\u0007"}"#, "control"),
            (r#"{"id":"a","metadata":{"date":"soon"}}"#, "\"metadata.date\" must be"),
            (r#"{"id":"a","metadata":{"date":[1]}}"#, "\"metadata.date\" must be"),
            (r#"{"id":"a","metadata":{"date":{"x":1}}}"#, "\"metadata.date\" must be"),
            (r#"{"id":"a","metadata":{"date":1}}"#, "\"body.text\" is missing"),
            (r#"{"id":"a","metadata":{"date":1},"body":"x"}"#, "\"body.text\" is missing"),
            (
                r#"{"id":"a","metadata":{"date":1},"body":{"text":["x"]}}"#,
                "\"body.text\" is missing",
            ),
        ] {
            for keys in [&nested, &with_time] {
                let found = read(keys, line).unwrap_err();
                assert!(found.contains(why), "{line}: {found}");
            }
        }
        let undated = r#"{"id":"a","metadata":{},"body":{"text":"x"}}"#;
        assert!(read(&nested, undated).unwrap_err().contains("a: \"metadata.date\" is missing"));
        assert_eq!(read(&with_time, undated), Ok(("a".to_owned(), 7)));
    }

    #[test]
    fn empty_and_too_deep_keys_are_refused() {
        for key in ["", ".", "a.", ".a", "a..b"] {
            assert!(key.parse::<KeyPath>().is_err(), "{key}");
        }
        assert!("a.".repeat(15).to_owned().parse::<KeyPath>().is_err());
        assert!(vec!["a"; 16].join(".").parse::<KeyPath>().is_ok());
        assert!(vec!["a"; 17].join(".").parse::<KeyPath>().is_err());
        assert!("a".repeat(1025).parse::<KeyPath>().is_err());
    }

    #[test]
    fn deep_values_cost_nothing() {
        let (open, close) = ("[".repeat(1 << 20), "]".repeat(1 << 20));
        let keys = keys("id", "text", "t.a", Some(1));
        let beside = format!(r#"{{"x":{open}{close},"id":"a","text":"x"}}"#);
        assert!(read(&keys, &beside).is_ok());
        let within = format!(r#"{{"t":{{"b":{open}{close}}},"id":"a","text":"x"}}"#);
        assert!(read(&keys, &within).is_ok());
        let deep = format!(r#"{{"t":{{"a":{open}{close}}},"id":"a","text":"x"}}"#);
        assert!(read(&keys, &deep).is_err());
        let objects = format!(
            r#"{{"t":{}1{},"id":"a","text":"x"}}"#,
            "{\"a\":".repeat(9999),
            "}".repeat(9999)
        );
        assert!(read(&keys, &objects).is_err());
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "[\\[\\]{}:,\"a-c0-9.]{0,60}") {
            let _ = keys("a", "a.b", "b.a.c", None).item(line.as_bytes());
        }
    }
}
