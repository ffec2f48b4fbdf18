//! What `ingest` reads: files, folders, JSON lines and web archives become one stream of items.
//!
//! [`Input`] goes through its sources in order. A source is unpacked ([`compression`]), its kind
//! found by its content ([`sniff`]), and it is read by the reader of that kind: [`warc`], [`arc`],
//! [`jsonl`] or [`page`]. Folders are walked ([`walk`]): what stands in them is a page each, whatever
//! it holds, unless its name promises an archive or JSON lines and its content does not deny it.
//! JSON lines in a folder must moreover begin with a record.
//!
//! Nothing is held but the record in hand, which may have [`RECORD_BYTES_MAX`] at most. A broken
//! record is an item like any other: it costs itself and never the rest of its file.

mod arc;
mod block;
mod capture;
mod compression;
mod content;
mod digest;
pub(crate) mod documents;
mod gzip;
mod http;
mod item;
mod jsonl;
mod page;
mod sniff;
mod stream;
mod time;
mod url;
mod walk;
mod warc;
mod window;
mod zstandard;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use simkeep::fingerprint::Document;

use super::escape::escape;
pub(crate) use digest::Declared;
use item::Fault;
pub(crate) use item::{Broken, Captured, Claim, Item, Payload, Record};
use sniff::Kind;
use stream::Stream;
use walk::{Walk, broken};
pub(crate) use zstandard::ZstdWindow;

/// Most bytes of a record as it stands in its file, unpacked, and again of a body that is packed
/// within the record.
pub(crate) const RECORD_BYTES_MAX: u64 = 64 << 20;

/// A time as people write it: RFC 3339, its date or less of that, or seconds since 1970; in
/// milliseconds since 1970.
pub(crate) fn time(text: &str) -> Option<i64> {
    time::parse(text).or_else(|| time::seconds(text.trim().parse().ok()?))
}

/// The same for an argument of the command line.
pub(crate) fn parse_time(text: &str) -> Result<i64, &'static str> {
    time(text).ok_or("write 2024-05-01T12:00:00Z, 2024-05-01 or 1714564800")
}

/// What a document is, read as a page in a folder: the visible text of HTML, by the ending of its name
/// or by content, with its marks. `None` if it is no text.
pub(crate) fn document(path: &Path, document: &[u8]) -> Option<Document> {
    content::document(document, page::kind(path), None)
}

/// Where to read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// Standard input.
    Stdin,
    /// A file or a folder.
    Path(PathBuf),
}

impl Source {
    /// What an argument names: `-` is standard input.
    pub(crate) fn from_argument(argument: &OsStr) -> Source {
        if argument == "-" { Source::Stdin } else { Source::Path(argument.into()) }
    }

    /// The bytes to be read, as [`Input::progress`] counts them; `None` if nobody can know. Looks at
    /// every file of a folder, so it takes its time.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let Source::Path(path) = self else { return None };
        let metadata = path.metadata().ok()?;
        if metadata.is_dir() {
            let files = Walk::new(path).ok()?.filter_map(Result::ok);
            Some(files.filter_map(|file| Some(file.metadata().ok()?.len())).sum())
        } else {
            metadata.is_file().then_some(metadata.len())
        }
    }
}

/// What an archive or lines hold, in order.
pub(crate) type Items = Box<dyn Iterator<Item = Item> + Send>;

/// The items of a stream that is no file. It is an archive or JSON lines, and if its start is broken,
/// then `expected` says which: the ending of a name.
pub(crate) fn items(
    name: &str,
    expected: &str,
    bytes: Box<dyn Read + Send>,
    progress: Arc<AtomicU64>,
    zstd_window: ZstdWindow,
) -> Result<Items, Item> {
    let mut stream = Stream::unpacked(name, bytes, progress, zstd_window)
        .map_err(|e| broken(Path::new(name), &e))?;
    let kind = sniff::kind(&mut stream, Some(OsStr::new(expected)));
    let start = stream.look_ahead(content::SNIFFED_BYTES);
    // A page has no URL here.
    if kind == Kind::Page || (kind == Kind::JsonLines && content::is_binary(start)) {
        let why = "neither JSON lines nor a web archive; name a file to read it as a page";
        return Err(Item::Broken(Broken { at: stream.name().into(), why: why.into() }));
    }
    Ok(archive(kind, stream))
}

fn archive(kind: Kind, stream: Stream) -> Items {
    match kind {
        Kind::Warc => Box::new(warc::Warc::new(stream)),
        Kind::Arc => Box::new(arc::Arc::new(stream)),
        // A page is read at once, and never comes here.
        Kind::JsonLines | Kind::Page => Box::new(jsonl::JsonLines::new(stream)),
    }
}

/// All items of some sources, in order: the same for the same files.
pub(crate) struct Input {
    sources: VecDeque<Source>,
    /// A folder within others that is not read.
    except: Option<PathBuf>,
    zstd_window: ZstdWindow,
    /// The folder that is being walked.
    walk: Option<Walk>,
    /// The archive or lines that are being read.
    reader: Option<Items>,
    progress: Arc<AtomicU64>,
}

impl Input {
    /// Reads these sources. Opens nothing yet.
    pub(crate) fn new(sources: impl IntoIterator<Item = Source>) -> Input {
        Input {
            sources: sources.into_iter().collect(),
            except: None,
            zstd_window: ZstdWindow::default(),
            walk: None,
            reader: None,
            progress: Arc::default(),
        }
    }

    /// The same without what stands in this folder, should it stand within another.
    pub(crate) fn except(mut self, folder: &Path) -> Input {
        // Where it is no folder, there is nothing to leave out.
        self.except = folder.canonicalize().ok();
        self
    }

    /// The same where zstd frames may ask for windows of this size.
    pub(crate) fn zstd_window(self, zstd_window: ZstdWindow) -> Input {
        Input { zstd_window, ..self }
    }

    /// The bytes read so far, still packed: a counter that other threads may look at.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// Begins a source; gives an item if that is all of it.
    fn open(&mut self, source: Source) -> Result<Option<Item>, Item> {
        match source {
            Source::Stdin => {
                let stdin = Box::new(io::stdin());
                let (progress, window) = (self.progress(), self.zstd_window);
                self.reader = Some(items("standard input", ".jsonl", stdin, progress, window)?);
                Ok(None)
            }
            Source::Path(path) if path.is_dir() => {
                self.walk = Some(Walk::new(&path)?.except(self.except.clone()));
                Ok(None)
            }
            Source::Path(path) => {
                let file = File::open(&path).map_err(|e| broken(&path, &e))?;
                let metadata = file.metadata().map_err(|e| broken(&path, &e))?;
                let name = path.to_string_lossy();
                let mut stream = self.unpacked(&name, file).map_err(|e| broken(&path, &e))?;
                match sniff::kind(&mut stream, path.file_name()) {
                    Kind::Page => Ok(Some(page::read(&path, &metadata, stream))),
                    kind => {
                        self.reader = Some(archive(kind, stream));
                        Ok(None)
                    }
                }
            }
        }
    }

    fn unpacked(&self, name: &str, file: File) -> io::Result<Stream> {
        Stream::unpacked(name, Box::new(file), self.progress(), self.zstd_window)
    }

    /// Begins a file that stands in a folder.
    fn open_within(&mut self, path: &Path) -> Result<Option<Item>, Item> {
        if let Some(promised) = path.file_name().and_then(sniff::by_name) {
            let file = File::open(path).map_err(|e| broken(path, &e))?;
            let name = path.to_string_lossy();
            let mut stream = self.unpacked(&name, file).map_err(|e| broken(path, &e))?;
            if sniff::kind(&mut stream, path.file_name()) == promised
                && (promised != Kind::JsonLines || sniff::holds_records(&mut stream))
            {
                self.reader = Some(archive(promised, stream));
                return Ok(None);
            }
        }
        let file = File::open(path).map_err(|e| broken(path, &e))?;
        let metadata = file.metadata().map_err(|e| broken(path, &e))?;
        let stream = Stream::plain(&path.to_string_lossy(), Box::new(file), self.progress());
        Ok(Some(page::read(path, &metadata, stream)))
    }
}

impl Iterator for Input {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.reader.as_mut().and_then(Iterator::next) {
                return Some(item);
            }
            self.reader = None;
            let begun = match self.walk.as_mut().and_then(Iterator::next) {
                Some(Ok(path)) => self.open_within(&path),
                Some(Err(item)) => return Some(item),
                None => {
                    self.walk = None;
                    let source = self.sources.pop_front()?;
                    self.open(source)
                }
            };
            match begun {
                Ok(None) => {}
                Ok(Some(item)) | Err(item) => return Some(item),
            }
        }
    }
}
