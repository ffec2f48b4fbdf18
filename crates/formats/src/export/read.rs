//! Reads the lines of an export.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use simkeep::EpochOptions;

use super::super::epoch::{epoch_name, options};
use super::super::lines::{LineBlock, has_key, without_mark};
use super::super::not_json::not_json;
use super::super::object::{self, LineObject};
use super::super::surrogates::with_whole_characters;
use super::super::{BrokenRecord, RecordPayload, SourceItem, VisitRecord, escape, visit};
use super::{
    ExportLine, ExportLineKind, ExportedEpoch, HEAD_BYTES_MAX, LINE_BYTES_MAX, PART_BYTES_MAX,
    TablePart, VERSION,
};

/// Whether the first line of a file begins an export of any version.
pub(in super::super) fn is_head(line: &[u8]) -> bool {
    let looks_like_it = line.len() <= HEAD_BYTES_MAX && has_key(line, "simkeep");
    match looks_like_it.then(|| serde_json::from_slice(line)) {
        Some(Ok(Value::Object(keys))) => keys.contains_key("simkeep") && !keys.contains_key("url"),
        _ => false,
    }
}

/// Reads lines of an export.
pub(in super::super) fn read(lines: &LineBlock, each: &mut dyn FnMut(SourceItem)) {
    if let Some(number) = lines.export_has_ended() {
        return each(SourceItem::Export(ExportLine {
            at: lines.at(number),
            kind: ExportLineKind::FileEnd,
        }));
    }
    let cut = lines.cut();
    for (number, line) in lines.each() {
        let says = |says| SourceItem::Export(ExportLine { at: lines.at(number), kind: says });
        let flawed = |why: String| says(ExportLineKind::Flawed(why));
        let line = match line {
            Ok(line) => with_whole_characters(without_mark(line)),
            Err(why) => {
                each(flawed(why.to_owned()));
                continue;
            }
        };
        let line = &*line;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let item = match serde_json::from_slice::<LineObject<'_>>(line) {
            Ok(object) if object.url.is_some() => match record(object) {
                Ok(record) => SourceItem::Record(record),
                Err(why) => SourceItem::Broken(BrokenRecord { at: lines.at(number), why }),
            },
            Ok(_) => match parse_line(line, number) {
                Ok(said) => says(said),
                Err(why) => flawed(why),
            },
            Err(_) if cut == Some(number) => {
                flawed("the file ends within this line: the export is incomplete".to_owned())
            }
            Err(why) => SourceItem::Broken(BrokenRecord {
                at: lines.at(number),
                why: escape(&why.to_string()),
            }),
        };
        each(item);
    }
}

/// Parses an entry of a page; other keys are an error.
fn record(object: LineObject<'_>) -> Result<VisitRecord, String> {
    let named = |why: &str| match &object.url {
        Some(object::FieldValue::Text(url)) => format!("{}: {why}", escape(url)),
        _ => why.to_owned(),
    };
    let of_epochs = [&object.role, &object.minor, &object.moderate];
    if object.has_others || of_epochs.iter().any(|value| value.is_some()) {
        return Err(named("the line has a key that an export cannot have"));
    }
    if object.text.is_some() {
        return Err(named("the line has a \"text\", which an export cannot have"));
    }
    if object.fingerprint.is_some() && object.epoch.is_none() {
        return Err(named("the line has a \"fingerprint\" but no \"epoch\""));
    }
    let record = visit::record(object)?;
    let is_ready =
        matches!(record.payload, RecordPayload::Ready { .. } | RecordPayload::Restated { .. });
    if is_ready && record.epoch.is_none() {
        return Err(format!("{}: \"epoch\" is not the name of an epoch", escape(&record.url)));
    }
    Ok(record)
}

/// Parses a line that is not a record.
fn parse_line(line: &[u8], number: u64) -> Result<ExportLineKind, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("the line is longer than {} KiB", LINE_BYTES_MAX >> 10));
    }
    let keys = serde_json::from_slice(line).map_err(|e| not_json(&e))?;
    let mut keys = LineKeys { keys, wrong: None };
    let has = |key: &str| keys.keys.contains_key(key);
    let says =
        match (has("simkeep"), has("epoch"), has("base64")) {
            (true, ..) => keys.mark(number)?,
            (_, true, _) => ExportLineKind::Epoch(keys.epoch()?),
            (.., true) => ExportLineKind::Table(keys.part()?),
            _ => return Err(
                "the line is not part of an export: it is neither a page nor an epoch nor a table"
                    .to_owned(),
            ),
        };
    if let Some(key) = keys.wrong {
        return Err(format!("\"{key}\" is missing or invalid"));
    }
    match keys.keys.keys().next() {
        Some(key) => Err(format!("this line of an export cannot have the key \"{}\"", escape(key))),
        None => Ok(says),
    }
}

/// The keys of a line. Each key can be taken once.
struct LineKeys {
    keys: Map<String, Value>,
    /// The first key with an invalid value.
    wrong: Option<&'static str>,
}

impl LineKeys {
    /// Parses the value of a key; the default if the key is missing and optional.
    fn take<T: Default>(
        &mut self,
        key: &'static str,
        needed: bool,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> T {
        let value = self.keys.remove(key);
        let read = value.as_ref().map(|value| read(value).ok_or(()));
        match read {
            Some(Ok(value)) => return value,
            None if !needed => {}
            _ => self.wrong = self.wrong.or(Some(key)),
        }
        T::default()
    }

    fn text(&mut self, key: &'static str) -> String {
        self.take(key, true, |value| value.as_str().map(str::to_owned))
    }

    fn number(&mut self, key: &'static str, needed: bool) -> u64 {
        self.take(key, needed, Value::as_u64)
    }

    fn flag(&mut self, key: &'static str) -> bool {
        self.take(key, false, Value::as_bool)
    }

    /// Parses the checksum of a table.
    fn id(&mut self, needed: bool) -> Option<u64> {
        self.take("table", needed, |value| {
            let digits = value.as_str()?;
            let plain = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
            plain.then(|| u64::from_str_radix(digits, 16).ok())
        })
    }

    /// Parses the start or the end of an export.
    fn mark(&mut self, number: u64) -> Result<ExportLineKind, String> {
        let kind = self.text("simkeep");
        match (kind.as_str(), number) {
            ("export", 1) => {
                let version = self.number("version", true);
                if version != VERSION && self.wrong.is_none() {
                    return Err(format!(
                        "the export has format version {version}; this simkeep reads version {VERSION}"
                    ));
                }
                let _ = self.take("under", false, |value| value.as_str().map(str::to_owned));
                let _ = self.take("since", false, |value| value.as_str().map(str::to_owned));
                let _ = self.take("until", false, |value| value.as_str().map(str::to_owned));
                let _ = self.flag("in_force_only");
                Ok(ExportLineKind::Begin)
            }
            ("export", _) => {
                Err("a second export begins here: pass each export as a separate file".to_owned())
            }
            ("end", _) => {
                let lines = self.number("lines", true);
                if lines != number && self.wrong.is_none() {
                    return Err(format!(
                        "\"lines\" is {lines}, but this last line is line {number}: lines are missing \
                         or were added"
                    ));
                }
                Ok(ExportLineKind::End)
            }
            _ => {
                Err(format!("\"simkeep\" must be \"export\" or \"end\", not \"{}\"", escape(&kind)))
            }
        }
    }

    fn epoch(&mut self) -> Result<ExportedEpoch, String> {
        let name = self.text("epoch");
        let role = self.take("role", false, |value| Some(Some(value.as_str()?.to_owned())));
        let [minor, moderate] = ["minor", "moderate"].map(|key| self.number(key, true));
        let options: EpochOptions = options(role.as_deref(), Some((minor, moderate)))?;
        let begun = self.number("begun_at_visit", true);
        let reserved = self.take("reserved", false, |value| {
            u32::try_from(value.as_u64()?).ok().filter(|bits| *bits <= u64::BITS)
        });
        let (ended, table) = (self.flag("ended"), self.id(false));
        Ok(ExportedEpoch { name: epoch_name(&name)?, reserved, options, begun, ended, table })
    }

    fn part(&mut self) -> Result<TablePart, String> {
        let id = self.id(true).unwrap_or_default();
        let [at, of] = ["offset", "table_bytes"].map(|key| self.number(key, true));
        let text = self.text("base64");
        let bytes = BASE64_STANDARD
            .decode(text.as_bytes())
            .map_err(|_| "\"base64\" is not valid base64")?;
        if bytes.is_empty() || bytes.len() > PART_BYTES_MAX {
            let most = PART_BYTES_MAX;
            return Err(format!(
                "the part of the table has {} bytes; it must have 1 to {most}",
                bytes.len()
            ));
        }
        if at.checked_add(bytes.len() as u64).is_none_or(|end| end > of) {
            return Err("the part ends beyond the end of its table".to_owned());
        }
        Ok(TablePart { id, at, of, bytes })
    }
}
