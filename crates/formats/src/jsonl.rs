//! Reads JSON lines. Each line is an object: a record, a query, or the description of an epoch.

use std::sync::Arc;

use simkeep::EpochOptions;

use super::chunk::LazyRecord;
use super::epoch::{epoch_name, options};
use super::keys::DocumentKeys;
use super::lines::{LineBlock, has_key, without_mark};
use super::not_json::not_json;
use super::object::{FieldValue, LineObject};
use super::surrogates::with_whole_characters;
use super::visit::record;
use super::{
    BrokenRecord, InputQuery, InputQueryKind, SourceItem, VisitRecord, escape, export, time, url,
};

/// Lines of JSON, optionally with custom keys.
pub(super) struct JsonLines {
    pub(super) lines: LineBlock,
    pub(super) keys: Option<Arc<DocumentKeys>>,
    /// Records after this time are returned with their position.
    pub(super) late: Option<i64>,
}

impl LazyRecord for JsonLines {
    fn bytes(&self) -> usize {
        self.lines.bytes()
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(SourceItem)) {
        read(&self.lines, (self.keys.as_deref(), self.late), each);
    }
}

/// Reads lines of JSON.
///
/// A line is an object with `url` and `t` (seconds since 1970, integer or decimal, or RFC 3339).
/// The object also has the keys of one of these forms:
///
/// - `text`;
/// - `fingerprint` (16 hexadecimal digits; `null` with an `epoch` or a `digest` for content without
///   a fingerprint) and optionally `digest` (32 digits);
/// - `seen` (`"not-modified"`, `"gone"`, `"failed"`, `"redirect"` with a target `to`, or
///   `"content"` with a `digest` for content that is not text);
/// - only a `status` that has the meaning of one of these forms, by [`simkeep::Response`];
/// - only a `weight`, a `class` (an integer up to 4294967295), an `etag`, or a `canonical` URL; such a
///   line is not a visit.
///
/// A visit may also have a `weight` and a `class`. A visit may have `modified`, a time in the form
/// of `t`, which is ignored if it is more than a day later than `t`. `epoch` names the epoch of a
/// fingerprint. With `seen` `"restated"`, the fingerprint, or the absence of a fingerprint,
/// restates content that was seen before.
///
/// A line with only `epoch`, and optionally `role` (`"change"`, `"near"` or `"both"`), `minor` and
/// `moderate` (the largest distances of minor and moderate changes, in bits), describes an epoch of
/// later lines. A line with `url` and `ask` (`"near"`, `"history"` or `"latest"`) and without `t`
/// is a query. If a key occurs twice, the first is used. Other keys are ignored.
///
/// With custom keys, a line has a text under those keys.
fn read(
    lines: &LineBlock,
    (keys, late): (Option<&DocumentKeys>, Option<i64>),
    each: &mut dyn FnMut(SourceItem),
) {
    if lines.is_of_export() {
        return export::read(lines, each);
    }
    for (number, line) in lines.each() {
        let item = match line {
            Ok(line) => {
                let line = without_mark(line);
                if line.trim_ascii().is_empty() {
                    continue;
                }
                keys.map_or_else(|| item(line, || lines.at(number)), |keys| keys.item(line))
            }
            Err(why) => Err(why.to_owned()),
        };
        each(match item {
            Ok(SourceItem::Record(record)) if late.is_some_and(|late| record.time > late) => {
                SourceItem::Late(Box::new(record), lines.at(number))
            }
            Ok(item) => item,
            Err(why) => SourceItem::Broken(BrokenRecord { at: lines.at(number), why }),
        });
    }
}

/// Parses a line: a record, a query, or the name of an epoch.
fn item(line: &[u8], at: impl Fn() -> String) -> Result<SourceItem, String> {
    let line = &*with_whole_characters(line);
    let object: LineObject = serde_json::from_slice(line).map_err(|e| not_json(&e))?;
    if let (Some(ask), None) = (&object.ask, &object.t) {
        let (url, ask) = question(object.url, ask)?;
        return Ok(SourceItem::Question(InputQuery { url, ask, at: at() }));
    }
    if let (None, None, Some(FieldValue::Text(name))) = (&object.url, &object.t, &object.epoch) {
        return Ok(SourceItem::Epoch(epoch_name(name)?, described(&object)?));
    }
    if object.url.is_none() && object.has_others && has_key(line, "simkeep") {
        return Err(
            "the line is part of an export, but the file does not begin with the first line of an \
                    export"
                .into(),
        );
    }
    if object.url.is_none() {
        return Err(without_url(line));
    }
    let is_interim = matches!(object.status, Some(FieldValue::Whole(100..=199)));
    if is_interim && object.seen.is_none() && object.fingerprint.is_none() {
        return Ok(SourceItem::Passed("interim response"));
    }
    let mut record = record(object)?;
    let VisitRecord { time, modified, .. } = &mut record;
    *modified = modified.filter(|modified| time::is_modified_by_day(*modified, *time));
    Ok(SourceItem::Record(record))
}

/// Returns the reason for a line without `url`, with the keys that may be meant.
fn without_url(line: &[u8]) -> String {
    const SHOWN: usize = 3;
    let missing = "\"url\" is missing";
    let Ok(object) = serde_json::from_slice::<serde_json::Map<_, _>>(line) else {
        return missing.to_owned();
    };
    let mut likely: Vec<(bool, String)> = Vec::new();
    for (key, value) in &object {
        if let serde_json::Value::Object(inner) = value {
            for (name, value) in inner {
                likely.extend(like_url(name, value).map(|named| (named, format!("{key}.{name}"))));
            }
        }
        likely.extend(like_url(key, value).map(|named| (named, key.clone())));
    }
    likely.sort();
    let options = likely.iter().take(SHOWN).map(|(_, key)| format!("--url-key {}", escape(key)));
    let options = options.collect::<Vec<_>>().join(" or ");
    if likely.is_empty() { missing.to_owned() } else { format!("{missing}; try {options}") }
}

/// Whether the value of a key may be the URL or the name of a page: `Some(false)` for a URL, and
/// `Some(true)` for a usual key of a name.
fn like_url(key: &str, value: &serde_json::Value) -> Option<bool> {
    const NAMES: &[&str] =
        &["url", "uri", "link", "href", "page", "id", "_id", "doc_id", "docid", "document_id"];
    if value.as_str().is_some_and(|text| text.contains("://")) {
        return Some(false);
    }
    NAMES.contains(&key.to_ascii_lowercase().as_str()).then_some(true)
}

/// Parses a query and its page.
fn question(
    page: Option<FieldValue<'_>>,
    ask: &FieldValue<'_>,
) -> Result<(String, InputQueryKind), String> {
    let Some(FieldValue::Text(page)) = page else {
        return Err("\"url\" is missing or not a string".into());
    };
    url::check(&page).map_err(|why| format!("{}: {why}", escape(&page)))?;
    let asked = if let FieldValue::Text(text) = ask { InputQueryKind::parse(text) } else { None };
    let ask = asked.ok_or("\"ask\" must be \"near\", \"history\", \"latest\" or \"validators\"")?;
    Ok((page.into_owned(), ask))
}

/// Parses the options of an epoch.
fn described(object: &LineObject<'_>) -> Result<EpochOptions, String> {
    let role = match &object.role {
        None | Some(FieldValue::Null) => None,
        Some(FieldValue::Text(role)) => Some(&**role),
        Some(_) => Some(""),
    };
    let bits = |value: &Option<FieldValue<'_>>| match value {
        Some(FieldValue::Whole(bits)) => u64::try_from(*bits).unwrap_or(u64::MAX),
        _ => u64::MAX,
    };
    let bands = match (&object.minor, &object.moderate) {
        (None | Some(FieldValue::Null), None | Some(FieldValue::Null)) => None,
        (minor, moderate) => Some((bits(minor), bits(moderate))),
    };
    options(role, bands)
}

#[cfg(test)]
mod tests {
    use super::super::gzip::tests::gz;
    use super::super::lines::LineCutter;
    use super::super::stream::tests::stream;
    use super::super::{RecordPayload, ResponseFacts, digest};
    use super::*;
    use proptest::prelude::*;
    use simkeep::fingerprint::Document;
    use simkeep::{Digest, FetchFailure, Weight};

    fn read(line: &str) -> Result<VisitRecord, String> {
        match item(line.as_bytes(), String::new)? {
            SourceItem::Record(record) => Ok(record),
            other => Err(format!("{other:?}")),
        }
    }

    fn payload(line: &str) -> RecordPayload {
        read(line).unwrap().payload
    }

    #[test]
    fn text_is_read_with_its_digest() {
        let record =
            read(r#"{"k":"start","url":"http://a/","t":1.5,"text":"a\u00e9\n","text":"b"}"#);
        let expected = VisitRecord {
            url: "http://a/".into(),
            time: 1500,
            payload: RecordPayload::Text(Box::new(Document::new("aé\n"))),
            digest: Some(digest::of("aé\n".as_bytes())),
            claim: None,
            status: None,
            modified: None,
            weight: None,
            class: None,
            epoch: None,
            facts: ResponseFacts::default(),
        };
        assert_eq!(record, Ok(expected));
    }

    #[test]
    fn fingerprint_is_read_with_any_status() {
        let record = read(
            r#"{"t":"1970-01-01T00:00:01Z","digest":"000102030405060708090a0b0c0d0e0f","status":404,
               "fingerprint":"00000000000000fF","epoch":"mine","url":"x:"}"#,
        );
        let expected = VisitRecord {
            url: "x:".into(),
            time: 1000,
            payload: RecordPayload::Ready { fingerprint: Some(255) },
            digest: Some(Digest([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])),
            claim: None,
            status: Some(404),
            modified: None,
            weight: None,
            class: None,
            epoch: Some("mine".into()),
            facts: ResponseFacts::default(),
        };
        assert_eq!(record, Ok(expected));
    }

    #[test]
    fn null_fingerprint_needs_an_epoch() {
        let with = |rest: &str| read(&format!(r#"{{"url":"x:","t":1,"fingerprint":null{rest}}}"#));
        let none = with(r#","epoch":"e","status":404"#).unwrap();
        assert_eq!(none.payload, RecordPayload::Ready { fingerprint: None });
        let restated = with(r#","seen":"restated","epoch":"e""#).unwrap();
        assert_eq!(restated.payload, RecordPayload::Restated { fingerprint: None });
        assert!(with(r#","seen":"restated""#).unwrap_err().contains("needs \"epoch\""));
        assert!(with("").unwrap_err().contains("neither"));
    }

    #[test]
    fn line_gives_modification_time_and_weight() {
        let with = |rest: &str| read(&format!(r#"{{"url":"x:","t":10,{rest}}}"#));
        for (value, expected) in
            [("7", Some(7000)), ("1.5", Some(1500)), ("\"1970-01-01\"", Some(0)), ("null", None)]
        {
            let record = with(&format!(r#""text":"a","modified":{value}"#)).unwrap();
            assert_eq!((record.modified, record.weight), (expected, None), "{value}");
        }
        for (value, expected) in [
            ("2", Some(2.0)),
            ("0.3", Some(0.3)),
            ("1e-300", Some(1e-45)),
            ("12345678901234567890", Some(12_345_678_901_234_567_890.0)),
            ("null", None),
        ] {
            let record = with(&format!(r#""seen":"gone","weight":{value}"#)).unwrap();
            assert_eq!(record.payload, RecordPayload::Gone);
            assert_eq!(record.weight, expected.map(Weight::from), "{value}");
        }
        // A weight alone is not a visit.
        let alone = with(r#""weight":2.5"#).unwrap();
        assert_eq!(
            (alone.payload, alone.weight),
            (RecordPayload::Properties, Some(Weight::from(2.5)))
        );
        let with_status = with(r#""weight":2.5,"status":404"#).unwrap();
        assert_eq!(with_status.payload, RecordPayload::Gone);
        assert!(with(r#""weight":2.5,"status":200"#).unwrap_err().contains("neither"));
        for value in ["0", "-0.0", "-1", "\"2\"", "[]", "true"] {
            let why = with(&format!(r#""text":"a","weight":{value}"#)).unwrap_err();
            assert!(why.starts_with("x:: \"weight\" must be"), "{value}: {why}");
        }
        for value in ["\"yesterday\"", "1e300", "[]", "-99999999999999"] {
            let why = with(&format!(r#""text":"a","modified":{value}"#)).unwrap_err();
            assert!(why.starts_with("x:: \"modified\" must be"), "{value}: {why}");
        }
        let restated = r#""seen":"restated","fingerprint":null,"epoch":"e","weight":1"#;
        assert!(with(restated).unwrap_err().contains("cannot have \"weight\""));
    }

    #[test]
    fn modification_after_the_visit_is_dropped() {
        let with = |modified: &str| {
            let line = r#""url":"x:","t":"2024-05-01","text":"a","modified""#;
            read(&format!("{{{line}:\"{modified}\"}}")).unwrap().modified
        };
        // The time of day of the visit may be missing.
        for kept in ["1970-01-01", "2024-05-01", "2024-05-01T23:00Z", "2024-05-02"] {
            assert_eq!(with(kept), time::parse(kept), "{kept}");
        }
        for dropped in ["2024-05-02T00:00:01Z", "2098-01-01", "9999-12-31"] {
            assert_eq!(with(dropped), None, "{dropped}");
        }
    }

    #[test]
    fn line_gives_the_class_of_the_page() {
        let with = |rest: &str| read(&format!(r#"{{"url":"x:","t":1,{rest}}}"#));
        for (value, expected) in
            [("0", Some(0)), ("7", Some(7)), ("4294967295", Some(u32::MAX)), ("null", None)]
        {
            let record = with(&format!(r#""seen":"gone","class":{value}"#)).unwrap();
            assert_eq!((record.payload, record.class), (RecordPayload::Gone, expected), "{value}");
        }
        // A class alone is not a visit. Neither is a class with a weight.
        let alone = with(r#""class":0"#).unwrap();
        assert_eq!(
            (alone.payload, alone.class, alone.weight),
            (RecordPayload::Properties, Some(0), None)
        );
        let both = with(r#""class":3,"weight":2"#).unwrap();
        assert_eq!((both.payload, both.class), (RecordPayload::Properties, Some(3)));
        assert_eq!(both.weight, Some(Weight::from(2.0)));
        assert_eq!(with(r#""class":1,"status":404"#).unwrap().payload, RecordPayload::Gone);
        for value in ["-1", "4294967296", "1.0", "1e3", "\"1\"", "\"none\"", "[]", "true", "1e300"]
        {
            let why = with(&format!(r#""text":"a","class":{value}"#)).unwrap_err();
            assert!(why.starts_with("x:: \"class\" must be a whole number"), "{value}: {why}");
        }
        assert!(with(r#""class":null"#).unwrap_err().contains("neither"));
        let restated = r#""seen":"restated","fingerprint":null,"epoch":"e","class":1"#;
        assert!(with(restated).unwrap_err().contains("cannot have \"class\""));
    }

    #[test]
    fn line_without_content_gives_the_kind_of_visit() {
        let with = |rest: &str| payload(&format!(r#"{{"url":"x:","t":-1,{rest}}}"#));
        assert_eq!(with(r#""seen":"not-modified""#), RecordPayload::NotModified);
        assert_eq!(with(r#""seen":"gone","status":200"#), RecordPayload::Gone);
        let failed = |failure| RecordPayload::Failed(failure);
        assert_eq!(with(r#""seen":"failed","text":null"#), failed(FetchFailure::NoResponse));
        assert_eq!(with(r#""seen":"failed","status":503"#), failed(FetchFailure::ServerError));
        assert_eq!(with(r#""status":304,"fingerprint":null"#), RecordPayload::NotModified);
        assert_eq!(with(r#""status":410"#), RecordPayload::Gone);
        assert_eq!(with(r#""status":500"#), failed(FetchFailure::ServerError));
        assert_eq!(with(r#""status":404,"text":"Not found""#), RecordPayload::Gone);
        assert_eq!(with(r#""status":403,"text":"Go away""#), failed(FetchFailure::ClientError));
        assert_eq!(with(r#""status":301,"text":"moved""#), failed(FetchFailure::NoTarget));
        assert_eq!(with(r#""status":206,"text":"a part""#), failed(FetchFailure::Partial));
        assert_eq!(with(r#""status":204,"text":"""#), failed(FetchFailure::NoContent));
        assert_eq!(with(r#""status":304,"text":"old""#), RecordPayload::NotModified);
        assert_eq!(with(r#""seen":"gone","text":"sorry""#), RecordPayload::Gone);
    }

    #[test]
    fn redirect_is_identified_by_its_target() {
        let with = |rest: &str| read(&format!(r#"{{"url":"http://a/x","t":1,{rest}}}"#));
        let digest = Digest::redirect("http://a/x", "http://a/y");
        let marked = format!(r#""seen":"redirect","digest":"{digest}""#);
        for rest in [
            r#""seen":"redirect","to":"http://a/y""#,
            r#""seen":"redirect","to":"/y#top","status":301"#,
            r#""status":308,"to":"y""#,
            r#""status":302,"to":"/y","text":"You are being redirected""#,
            &marked,
        ] {
            let record = with(rest).unwrap();
            assert_eq!(
                (record.payload, record.digest),
                (RecordPayload::Redirect, Some(digest)),
                "{rest}"
            );
        }
        assert!(with(r#""seen":"redirect","to":7"#).is_err());
        for rest in [
            r#""seen":"redirect""#,
            r#""seen":"redirect","to":" ""#,
            r#""seen":"redirect","digest":"000102030405060708090a0b0c0d0e0f""#,
        ] {
            let payload = with(rest).unwrap().payload;
            assert_eq!(payload, RecordPayload::Failed(FetchFailure::NoTarget), "{rest}");
        }
        // A target has no effect on other responses.
        assert_eq!(with(r#""status":404,"to":"/y""#).unwrap().payload, RecordPayload::Gone);
    }

    #[test]
    fn target_is_the_first_valid_reference_of_the_content() {
        let with = |rest: &str| read(&format!("{{\"url\":\"http://a/x\",\"t\":1,{rest}}}"));
        for (line, target) in [
            (r#""status":301,"to":"/new","canonical":"/c""#, Some("/new")),
            (r#""status":301,"to":"/new","canonical":"""#, Some("/new")),
            (r#""status":301,"to":"/new","target":"http://a/t""#, Some("/new")),
            (r#""status":301,"to":"mailto:x","target":"http://a/t""#, Some("http://a/t")),
            (r#""text":"b","canonical":"/c","to":"/new""#, Some("/c")),
            (r#""text":"b","canonical":"/c","target":"""#, Some("/c")),
            (r#""text":"b","canonical":"/c","target":"http://a/t""#, Some("http://a/t")),
            (r#""text":"b","to":"/new""#, None),
            (r#""status":304,"to":"/new""#, None),
            (r#""canonical":"/c","to":"/new""#, Some("/c")),
            (r#""weight":2,"to":"/new""#, None),
        ] {
            let record = with(line).unwrap();
            assert_eq!(record.facts.target.as_deref(), target, "{line}");
        }
        let without = "the line has neither \"text\" nor \"fingerprint\"";
        let why = with(r#""to":"/new""#).unwrap_err();
        assert!(why.contains(without), "{why}");
        let why = with(r#""text":"b","canonical":7"#).unwrap_err();
        assert!(why.contains("\"canonical\" must be a string"), "{why}");
    }

    #[test]
    fn binary_content_is_identified_by_its_digest() {
        let with = |rest: &str| read(&format!(r#"{{"url":"x:","t":1{rest}}}"#));
        let digest = r#","digest":"000102030405060708090a0b0c0d0e0f""#;
        for rest in [r#","seen":"content""#, r#","status":200"#, r#","fingerprint":null"#] {
            let record = with(&format!("{rest}{digest}")).unwrap();
            assert_eq!(record.payload, RecordPayload::Binary, "{rest}");
            assert_eq!(record.digest.map(|digest| digest.0[1]), Some(1));
            assert!(with(rest).unwrap_err().contains("neither"), "{rest}");
        }
        assert!(with(digest).unwrap_err().contains("neither"));
    }

    #[test]
    fn line_may_be_a_question() {
        for (key, ask) in [
            ("near", InputQueryKind::Near),
            ("history", InputQueryKind::History),
            ("latest", InputQueryKind::Latest),
            ("validators", InputQueryKind::Validators),
        ] {
            let line = format!(r#"{{"ask":"{key}","url":"x:","k":3}}"#);
            let asked = item(line.as_bytes(), || "here".into()).unwrap();
            let question = InputQuery { url: "x:".into(), ask, at: "here".into() };
            assert_eq!(asked, SourceItem::Question(question), "{key}");
            assert_eq!(ask.key(), key);
        }
        // A line that is also a record stays a record.
        assert_eq!(
            payload(r#"{"url":"x:","t":1,"seen":"gone","ask":"near"}"#),
            RecordPayload::Gone
        );
    }

    #[test]
    fn broken_lines_are_explained() {
        for (line, why) in [
            ("{", "ends too early"),
            ("[1]", "expected an object"),
            (r#"{"t":1,"text":""}"#, "\"url\" is missing"),
            (r#"{"t":1,"text":"","link":"x://"}"#, "\"url\" is missing; try --url-key link"),
            (
                r#"{"ID":1,"text":"","meta":{"b":2,"a":"x://"}}"#,
                "\"url\" is missing; try --url-key meta.a or --url-key ID",
            ),
            (r#"{"url":7,"t":1,"text":""}"#, "\"url\" must be a string"),
            (r#"{"url":"x:","t":1714564800000,"text":""}"#, "milliseconds: divide it by 1000"),
            (r#"{"url":"","t":1,"text":""}"#, "empty"),
            (r#"{"url":"a\u0007","t":1,"text":""}"#, "control"),
            (r#"{"url":"x:","text":""}"#, "\"t\""),
            (r#"{"ask":"near"}"#, "\"url\""),
            (r#"{"url":1,"ask":"near"}"#, "\"url\""),
            (r#"{"url":"","ask":"near"}"#, "empty"),
            (r#"{"url":"x:","ask":"Near"}"#, "\"ask\" must be"),
            (r#"{"url":"x:","ask":null}"#, "\"ask\" must be"),
            (r#"{"url":"x:","t":"soon","text":""}"#, "\"t\""),
            (r#"{"url":"x:","t":253402300800,"text":""}"#, "\"t\""),
            (r#"{"url":"x:","t":99999999999999999999,"text":""}"#, "\"t\""),
            (r#"{"url":"x:","t":1}"#, "neither"),
            (r#"{"url":"x:","t":1,"status":200}"#, "neither"),
            (r#"{"url":"x:","t":1,"status":"ok","text":""}"#, "\"status\""),
            (r#"{"url":"x:","t":1,"status":-1,"text":""}"#, "\"status\""),
            (r#"{"url":"x:","t":1,"fingerprint":"12"}"#, "16"),
            (r#"{"url":"x:","t":1,"fingerprint":12}"#, "16"),
            (r#"{"url":"x:","t":1,"fingerprint":"0000000000000000","digest":"0"}"#, "32"),
            (r#"{"url":"x:","t":1,"seen":"yes"}"#, "seen"),
            (r#"{"url":"x:","t":1,"text":"\ud80"}"#, "column"),
        ] {
            let found = read(line).unwrap_err();
            assert!(found.contains(why), "{line}: {found}");
            assert!(!found.chars().any(char::is_control), "{found}");
        }
    }

    #[test]
    fn broken_lines_are_numbered_and_blank_ones_ignored() {
        let good = r#"{"url":"x:","t":1,"text":""}"#;
        let file = format!("\u{feff}{good}\n\n{{\r\n{good}\r\nnonsense\n{good}");
        for bytes in [file.clone().into_bytes(), gz(file.as_bytes())] {
            let mut items = Vec::new();
            LineCutter::new(stream(bytes))
                .for_each(|lines| super::read(&lines, (None, None), &mut |i| items.push(i)));
            let at: Vec<&str> = items
                .iter()
                .filter_map(
                    |i| if let SourceItem::Broken(b) = i { Some(b.at.as_str()) } else { None },
                )
                .collect();
            assert_eq!((items.len(), at), (5, vec!["test, line 3", "test, line 5"]));
        }
    }

    #[test]
    fn deep_values_of_other_keys_cost_nothing() {
        let deep = format!(
            r#"{{"x":{}{},"url":"x:","t":1,"text":""}}"#,
            "[".repeat(1 << 20),
            "]".repeat(1 << 20)
        );
        assert!(read(&deep).is_ok());
        let deep = format!(
            r#"{{"t":{}{},"url":"x:","text":""}}"#,
            "[".repeat(1 << 20),
            "]".repeat(1 << 20)
        );
        assert!(read(&deep).is_err());
    }

    proptest! {
        #[test]
        fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = item(&line, String::new);
        }

        #[test]
        fn nothing_record_like_panics(
            values in prop::collection::vec("(url|t|text|fingerprint|digest|status|seen|epoch|role|minor|moderate)\":(-?[0-9]{1,20}(\\.[0-9])?|\"[a-z0-9:-]{0,33}\"|null|true|\\[\\]|\\{\\})", 0..6),
        ) {
            let line = format!("{{{}}}", values.iter().map(|v| format!("\"{v}")).collect::<Vec<_>>().join(","));
            let _ = item(line.as_bytes(), String::new);
        }
    }
}
