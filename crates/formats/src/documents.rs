//! Documents with names: JSON lines of `{"id": …, "text": …}`.

use std::path::Path;

use serde_json::Value;
use simkeep::fingerprint::Document;

pub use super::lines::{LineCutter, Lines};
use super::stream::Stream;
use super::surrogates::with_whole_characters;
use super::{Source, ZstdWindow, escape};

/// A document with a name, to evaluate recipes on.
pub struct Named {
    /// Its name.
    pub id: String,
    /// Its text.
    pub document: Document,
}

/// Opens a file of lines, which may be compressed; `-` is standard input. Reads its first bytes. Of what
/// is no file, such as a pipe, lines are handed over as they come.
///
/// # Errors
///
/// What to tell the user, if the file cannot be read.
pub fn open(path: &Path, zstd_window: ZstdWindow) -> Result<LineCutter, String> {
    let stream = Stream::open(path, zstd_window);
    let cannot = |e| format!("cannot read {}: {e}", path.display());
    let is_live = Source::from_argument(path.as_os_str()).is_live();
    Ok(LineCutter::new(stream.map_err(cannot)?.live(is_live)))
}

/// The documents in some lines, made from their texts by `document`, each with the place of its
/// line, or with what is wrong with the line.
pub fn read(
    lines: &Lines,
    document: impl Fn(String) -> Document,
    mut each: impl FnMut(String, Result<Named, String>),
) {
    for (number, line) in lines.each() {
        let named = match line {
            Ok(line) if line.trim_ascii().is_empty() => continue,
            Ok(line) => named(line, &document),
            Err(why) => Err(why.to_owned()),
        };
        each(lines.at(number), named);
    }
}

fn named(line: &[u8], document: impl Fn(String) -> Document) -> Result<Named, String> {
    match serde_json::from_slice(&with_whole_characters(line))
        .map_err(|e| escape(&e.to_string()))?
    {
        Value::Object(mut object) => {
            let mut take = |key| match object.remove(key) {
                Some(Value::String(text)) => Some(text),
                _ => None,
            };
            match (take("id"), take("text")) {
                (Some(id), Some(text)) => Ok(Named { id, document: document(text) }),
                _ => Err("\"id\" and \"text\" must be strings".into()),
            }
        }
        _ => Err("no object with \"id\" and \"text\"".into()),
    }
}
