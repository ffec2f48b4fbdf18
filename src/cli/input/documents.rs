//! Documents with names: JSON lines of `{"id": …, "text": …}`.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use simkeep::fingerprint::Document;

use super::stream::{Line, Stream};
use super::{RECORD_BYTES_MAX, ZstdWindow, escape};

/// A document to measure recipes by.
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) document: Document,
}

/// The lines of a file that may be packed, one after another.
pub(crate) struct Lines {
    stream: Stream,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Opens a file; standard input is `-`.
    pub(crate) fn open(path: &Path, zstd_window: ZstdWindow) -> Result<Lines, String> {
        let name = path.to_string_lossy();
        let cannot = |e: std::io::Error| format!("cannot read {name}: {e}");
        let bytes: Box<dyn std::io::Read + Send> = if name == "-" {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).map_err(cannot)?)
        };
        let stream = Stream::unpacked(&name, bytes, Arc::default(), zstd_window).map_err(cannot)?;
        Ok(Lines { stream, line: Vec::new(), number: 0 })
    }

    /// The next line that is not blank; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, String> {
        let limit = usize::try_from(RECORD_BYTES_MAX).unwrap_or(usize::MAX);
        loop {
            self.number += 1;
            match self.stream.line(&mut self.line, limit) {
                Ok(Line::End) => return Ok(None),
                Ok(Line::Whole) if self.line.trim_ascii().is_empty() => {}
                Ok(Line::Whole) => break,
                Ok(Line::TooLong) => {
                    let limit = RECORD_BYTES_MAX >> 20;
                    return Err(self.fault(&format!("the line is longer than {limit} MiB")));
                }
                Err(e) => return Err(self.fault(&escape(&e.to_string()))),
            }
        }
        Ok(Some(&self.line))
    }

    /// What is wrong with the line at hand, and where it is.
    pub(crate) fn fault(&self, what: &str) -> String {
        format!("{}, line {}: {what}", self.stream.name(), self.number)
    }
}

/// All documents of a file, made of their texts by `document`.
pub(crate) fn read(
    mut lines: Lines,
    document: impl Fn(String) -> Document,
) -> Result<Vec<Named>, String> {
    let mut documents = Vec::new();
    let mut ids = HashSet::new();
    while let Some(line) = lines.next()? {
        let parsed = serde_json::from_slice(line).map_err(|e| escape(&e.to_string()));
        match parsed {
            Ok(Value::Object(mut object)) => {
                let mut take = |key| match object.remove(key) {
                    Some(Value::String(text)) => Some(text),
                    _ => None,
                };
                match (take("id"), take("text")) {
                    (Some(id), Some(_)) if !ids.insert(id.clone()) => {
                        return Err(lines.fault("a document with this \"id\" was there before"));
                    }
                    (Some(id), Some(text)) => {
                        documents.push(Named { id, document: document(text) });
                    }
                    _ => return Err(lines.fault("\"id\" and \"text\" must be strings")),
                }
            }
            Ok(_) => return Err(lines.fault("no object with \"id\" and \"text\"")),
            Err(why) => return Err(lines.fault(&why)),
        }
    }
    Ok(documents)
}
