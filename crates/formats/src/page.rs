//! A file that is itself a page.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::UNIX_EPOCH;

use simkeep::Digest;

use super::chunk::LazyRecord;
use super::content::{self, Charset, ContentKind, SNIFFED_BYTES};
use super::stream::SourceStream;
use super::walk::broken;
use super::window::BUFFER_BYTES;
use super::{
    BrokenRecord, RECORD_BYTES_MAX, RecordFault, RecordPayload, ResponseFacts, SourceItem,
    VisitRecord, digest, time, url,
};

/// An unread file that is a page.
pub(super) struct PageFile {
    path: PathBuf,
    /// The size of the file on disk, compressed or not.
    size: u64,
    content: PageContent,
}

/// The content of a page.
enum PageContent {
    /// The unopened file, with the progress counter.
    File(Arc<AtomicU64>),
    /// A stream that was opened to read its start, and that may be compressed.
    Opened(Metadata, Box<SourceStream>),
}

impl PageFile {
    /// Creates a page from an uncompressed file, which is opened when it is read.
    pub(super) fn plain(path: PathBuf, progress: Arc<AtomicU64>) -> PageFile {
        // A file without metadata cannot be read, either.
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        PageFile { path, size, content: PageContent::File(progress) }
    }

    /// Creates a page from an opened file.
    pub(super) fn opened(path: PathBuf, metadata: Metadata, stream: SourceStream) -> PageFile {
        let size = metadata.len();
        PageFile { path, size, content: PageContent::Opened(metadata, Box::new(stream)) }
    }
}

impl LazyRecord for PageFile {
    /// Returns the bytes of memory that the page takes while it is read; for an open file also
    /// before. The number is high for an open file, so that few files are open at once.
    fn bytes(&self) -> usize {
        let size = usize::try_from(self.size.min(RECORD_BYTES_MAX)).unwrap_or(usize::MAX);
        match self.content {
            PageContent::File(_) => size,
            PageContent::Opened(..) => size.saturating_add(BUFFER_BYTES),
        }
    }

    fn read(self: Box<Self>, each: &mut dyn FnMut(SourceItem)) {
        each(read(*self));
    }
}

/// Reads a file as a page: its URL is `file://` and the absolute path, and the time of its visit is
/// the time of its last modification. HTML, detected by extension or content, is reduced to its
/// visible text.
fn read(PageFile { path, content, .. }: PageFile) -> SourceItem {
    let (metadata, mut stream) = match content {
        PageContent::Opened(metadata, stream) => (metadata, *stream),
        PageContent::File(progress) => {
            let opened = File::open(&path).and_then(|file| Ok((file.metadata()?, file)));
            match opened {
                Ok((metadata, file)) => {
                    let name = path.to_string_lossy();
                    (metadata, SourceStream::plain(&name, Box::new(file), progress))
                }
                Err(error) => return SourceItem::Broken(broken(&path, &error)),
            }
        }
    };
    match page(&path, &metadata, &mut stream) {
        Ok(item) => item,
        Err(RecordFault::Record(why) | RecordFault::Lost(why)) => {
            SourceItem::Broken(BrokenRecord { at: stream.name().to_string(), why })
        }
    }
}

fn page(
    path: &Path,
    metadata: &Metadata,
    stream: &mut SourceStream,
) -> Result<SourceItem, RecordFault> {
    let is_binary = content::is_binary(stream.look_ahead(SNIFFED_BYTES));
    let url = url(path)?;
    url::check(&url).map_err(RecordFault::Record)?;
    let time = modified(metadata).ok_or_else(|| {
        RecordFault::Record(
            "the modification time of the file is unknown, or not in the years 1 to 9999".into(),
        )
    })?;
    let (payload, digest) =
        if is_binary { (RecordPayload::BinaryFile, None) } else { held(path, stream)? };
    let (claim, status, modified) = (None, None, None);
    let (weight, class, epoch) = (None, None, None);
    let target = payload.canonical(&url).map(Box::from);
    let facts = ResponseFacts { target, ..ResponseFacts::default() };
    let record = VisitRecord {
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
        facts,
    };
    Ok(SourceItem::Record(record))
}

/// Returns the text of a file with its digest, or a binary payload if the file is not text.
fn held(
    path: &Path,
    stream: &mut SourceStream,
) -> Result<(RecordPayload, Option<Digest>), RecordFault> {
    let mut bytes = Vec::new();
    stream.take(RECORD_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > RECORD_BYTES_MAX {
        let limit = RECORD_BYTES_MAX >> 20;
        return Err(RecordFault::Record(format!("the file is larger than {limit} MiB")));
    }
    Ok(match content::document(&bytes, kind(path), Charset::default()) {
        Some(document) => (RecordPayload::File(Box::new(document)), Some(digest::of(&bytes))),
        None => (RecordPayload::BinaryFile, None),
    })
}

/// Returns the URL of a file or a folder, in the form of a page's URL.
pub(super) fn url(path: &Path) -> std::io::Result<String> {
    // The path has no slash at the end, and no double slashes.
    let path: PathBuf = absolute(path)?.components().collect();
    Ok(url::of_file(&path))
}

/// Returns the kind of a document by the extension of its name.
pub(super) fn kind(path: &Path) -> ContentKind {
    let ending = path.extension().unwrap_or_default();
    let is_html = ["html", "htm", "xhtml"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    if is_html { ContentKind::Html } else { ContentKind::Unsaid }
}

/// Returns the absolute path. `..` is resolved like the operating system resolves it; symbolic
/// links are kept otherwise.
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
