//! A file that is a page by itself.

use std::fs::Metadata;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::content::{self, Kind, SNIFFED_BYTES};
use super::stream::Stream;
use super::{Broken, Fault, Item, Payload, RECORD_BYTES_MAX, Record, digest, time, url};

/// Reads a file as a page: its URL is `file://` and the absolute path, its visit the time of its
/// last modification. HTML, by ending or content, is reduced to the visible text.
pub(super) fn read(path: &Path, metadata: &Metadata, mut stream: Stream) -> Item {
    match page(path, metadata, &mut stream) {
        Ok(item) => item,
        Err(Fault::Record(why) | Fault::Lost(why)) => {
            Item::Broken(Broken { at: stream.name().into(), why })
        }
    }
}

fn page(path: &Path, metadata: &Metadata, stream: &mut Stream) -> Result<Item, Fault> {
    if content::is_binary(stream.look_ahead(SNIFFED_BYTES)) {
        return Ok(Item::Passed("binary"));
    }
    let url = url::of_file(&absolute(path)?);
    url::check(&url).map_err(Fault::Record)?;
    let time = modified(metadata)
        .ok_or_else(|| Fault::Record("the modification time is unknown or out of range".into()))?;
    let mut bytes = Vec::new();
    stream.take(RECORD_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > RECORD_BYTES_MAX {
        let limit = RECORD_BYTES_MAX >> 20;
        return Err(Fault::Record(format!("the file has more than {limit} MiB")));
    }
    let Some(document) = content::document(&bytes, kind(path), None) else {
        return Ok(Item::Passed("binary"));
    };
    let digest = Some(digest::of(&bytes));
    let payload = Payload::Text(Box::new(document));
    Ok(Item::Record(Record { url, time, payload, digest, claim: None, status: None, epoch: None }))
}

/// What the ending of a name says of a document.
pub(super) fn kind(path: &Path) -> Kind {
    let ending = path.extension().unwrap_or_default();
    let is_html = ["html", "htm", "xhtml"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    if is_html { Kind::Html } else { Kind::Unsaid }
}

/// The absolute path; `..` is resolved as the system does, other links are left.
fn absolute(path: &Path) -> std::io::Result<std::path::PathBuf> {
    let absolute = std::path::absolute(path)?;
    if absolute.components().any(|part| part == std::path::Component::ParentDir) {
        return absolute.canonicalize();
    }
    Ok(absolute)
}

fn modified(metadata: &Metadata) -> Option<i64> {
    let modified = metadata.modified().ok()?;
    let ms = match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_nanos().div_ceil(1_000_000)).ok()?,
    };
    time::checked(ms)
}
