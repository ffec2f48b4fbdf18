//! Pages from web archives, JSON lines and folders, as [simkeep] takes them.
//!
//! [`Input`] reads WARC, WET and ARC archives, JSON lines, and plain files, alone or in folders, packed
//! with gzip or zstd or not. What a file is, its content says. Out of it come [`Item`]s: a [`Record`] is
//! one visit to one page, with its time, its status, its digest, and the text that is to be
//! fingerprinted; HTML is reduced to what one can see, whatever its encoding.
//!
//! ```
//! use simkeep_archive::{Input, Item, Source};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("pages.jsonl");
//! # let line = r#"{"url":"https://example.com/","t":"2024-05-01","text":"Some words."}"#;
//! # std::fs::write(&path, line)?;
//! let mut urls = Vec::new();
//! for chunk in Input::new([Source::Path(path)]).flatten() {
//!     chunk.items(|item| match item {
//!         Item::Record(record) => urls.push(record.url),
//!         Item::Broken(broken) => eprintln!("{}: {}", broken.at, broken.why),
//!         _ => {}
//!     });
//! }
//! assert_eq!(urls, ["https://example.com/"]);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! `examples/deduplicate.rs` observes what it reads, and says which pages are alike.
//!
//! # Two steps
//!
//! Reading is done in two steps, so that many threads can share it. The first is to *cut*: [`Input`]
//! goes through its sources in order and gives a [`Part`] for each archive, and for pages that follow
//! one another. A source is unpacked, and cut into records, some at a time: a [`Chunk`]. Where a record
//! ends is known only by unpacking it, so one thread cuts a part. The second step is to *read* the
//! records of a chunk ([`Chunk::items`]): all that can be done without knowing what came before, in any
//! thread.
//!
//! # Folders
//!
//! What stands in a folder is a page each, whatever it holds, unless its name promises an archive or
//! JSON lines and its content does not deny it. JSON lines in a folder must moreover begin with a
//! record. The URL of such a page is that of its file.
//!
//! # What it costs, and what is broken
//!
//! A part holds nothing but the chunk in hand, a record of which may have [`RECORD_BYTES_MAX`] at most,
//! unpacked. A broken record is an item like any other: it costs itself and never the rest of its file.

mod arc;
mod block;
mod capture;
mod chunk;
mod compression;
mod content;
mod digest;
pub mod documents;
pub mod escape;
mod gzip;
mod http;
mod item;
mod jsonl;
mod lines;
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

pub use chunk::Chunk;
use chunk::Cut;
pub use digest::Declared;
use escape::escape;
use item::Fault;
pub use item::{Broken, Captured, Claim, Item, Payload, Record};
use lines::LineCutter;
use page::Page;
use sniff::Kind;
use stream::Stream;
use walk::{Except, Walk, broken};
pub use zstandard::ZstdWindow;

/// Most bytes of a record as it stands in its file, unpacked, and again of a body that is packed
/// within the record.
pub const RECORD_BYTES_MAX: u64 = 64 << 20;

/// A time as people write it: RFC 3339, its date or less of that, or seconds since 1970; in
/// milliseconds since 1970.
pub fn time(text: &str) -> Option<i64> {
    time::parse(text).or_else(|| time::seconds(text.trim().parse().ok()?))
}

/// What a document is, read as a page in a folder: the visible text of HTML, by the ending of its name
/// or by content, with its marks. `None` if it is no text.
pub fn document(path: &Path, document: &[u8]) -> Option<Document> {
    content::document(document, page::kind(path), None)
}

/// Where to read.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file or a folder.
    Path(PathBuf),
}

impl Source {
    /// What an argument names: `-` is standard input.
    pub fn from_argument(argument: &OsStr) -> Source {
        if argument == "-" { Source::Stdin } else { Source::Path(argument.into()) }
    }

    /// Whether it is no file or folder, so that one may have to wait for what comes.
    fn is_live(&self) -> bool {
        match self {
            Source::Stdin => !stdin_is_file(),
            Source::Path(path) => path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()),
        }
    }

    /// The bytes to be read, as [`Input::progress`] counts them; `None` if nobody can know. Looks at
    /// every file of a folder, so it takes its time.
    pub fn bytes(&self) -> Option<u64> {
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

fn stdin_is_file() -> bool {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    stdin.and_then(|stdin| stdin.metadata()).is_ok_and(|metadata| metadata.is_file())
}

/// What is read one after another: the chunks of one archive, or some pages.
pub type Part = Box<dyn Iterator<Item = Chunk> + Send>;

/// The records of a stream that is no file, and for which one may have to wait if it is `live`. It is
/// an archive or JSON lines, and if its start is broken, then `expected` says which: the ending of a
/// name.
pub fn part(
    name: &str,
    expected: &str,
    bytes: Box<dyn Read + Send>,
    progress: Arc<AtomicU64>,
    zstd_window: ZstdWindow,
    live: bool,
) -> Result<Part, Item> {
    let stream = Stream::unpacked(name, bytes, progress, zstd_window);
    let mut stream = stream.map_err(|e| broken(Path::new(name), &e))?.live(live);
    let kind = sniff::kind(&mut stream, Some(OsStr::new(expected)));
    let start = stream.look_ahead(content::SNIFFED_BYTES);
    // A page has no URL here.
    if kind == Kind::Page || (kind == Kind::JsonLines && content::is_binary(start)) {
        let why = "neither JSON lines nor a web archive; name a file to read it as a page";
        return Err(Item::Broken(Broken { at: stream.name().to_string(), why: why.into() }));
    }
    Ok(archive(kind, stream))
}

fn archive(kind: Kind, stream: Stream) -> Part {
    match kind {
        Kind::Warc => Box::new(warc::Warc::new(stream)),
        Kind::Arc => Box::new(arc::Arc::new(stream)),
        // A page is no archive, and never comes here.
        Kind::JsonLines | Kind::Page => {
            Box::new(LineCutter::new(stream).map(|lines| Chunk::of(Cut::Lines(lines))))
        }
    }
}

/// All parts of some sources, in order: the same for the same files.
///
/// A source that cannot be opened is an item, and the next one is read.
pub struct Input {
    sources: VecDeque<Source>,
    /// A folder within others that is not read.
    except: Option<Except>,
    zstd_window: ZstdWindow,
    /// The folder that is being walked.
    walk: Option<Walk>,
    /// Pages that come before `next`.
    pages: Chunk,
    /// The archive that comes next.
    next: Option<Part>,
    progress: Arc<AtomicU64>,
}

/// What a file turned out to be.
enum Opened {
    Archive(Part),
    /// A page, or why it is none.
    Cut(Cut),
}

impl Input {
    /// Reads these sources. Opens nothing yet.
    pub fn new(sources: impl IntoIterator<Item = Source>) -> Input {
        Input {
            sources: sources.into_iter().collect(),
            except: None,
            zstd_window: ZstdWindow::default(),
            walk: None,
            pages: Chunk::default(),
            next: None,
            progress: Arc::default(),
        }
    }

    /// Leaves out what stands in this folder, should it stand within another.
    pub fn except(mut self, folder: &Path) -> Input {
        self.except = Some(Except::new(folder));
        self
    }

    /// Lets zstd frames ask for windows of this size.
    pub fn zstd_window(self, zstd_window: ZstdWindow) -> Input {
        Input { zstd_window, ..self }
    }

    /// The bytes read so far, still packed: a counter that other threads may look at.
    pub fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.progress)
    }

    /// Whether one may have to wait for what comes: it is no file.
    pub fn is_live(&self) -> bool {
        self.sources.iter().any(Source::is_live)
    }

    /// Begins a source; a folder is walked.
    fn open(&mut self, source: Source) -> Result<Option<Opened>, Item> {
        let live = source.is_live();
        match source {
            Source::Stdin => {
                let stdin = Box::new(io::stdin());
                let (progress, window) = (self.progress(), self.zstd_window);
                let part = part("standard input", ".jsonl", stdin, progress, window, live)?;
                Ok(Some(Opened::Archive(part)))
            }
            Source::Path(path) if path.is_dir() => {
                self.walk = Some(Walk::new(&path)?.except(self.except.clone()));
                Ok(None)
            }
            Source::Path(path) => {
                let file = File::open(&path).map_err(|e| broken(&path, &e))?;
                let metadata = file.metadata().map_err(|e| broken(&path, &e))?;
                let name = path.to_string_lossy();
                let stream = self.unpacked(&name, file).map_err(|e| broken(&path, &e))?;
                let mut stream = stream.live(live);
                Ok(Some(match sniff::kind(&mut stream, path.file_name()) {
                    Kind::Page => Opened::Cut(Cut::Page(Page::opened(path, metadata, stream))),
                    kind => Opened::Archive(archive(kind, stream)),
                }))
            }
        }
    }

    fn unpacked(&self, name: &str, file: File) -> io::Result<Stream> {
        Stream::unpacked(name, Box::new(file), self.progress(), self.zstd_window)
    }

    /// Begins a file that stands in a folder.
    fn open_within(&self, path: PathBuf) -> Result<Opened, Item> {
        if let Some(promised) = path.file_name().and_then(sniff::by_name) {
            let file = File::open(&path).map_err(|e| broken(&path, &e))?;
            let name = path.to_string_lossy();
            let mut stream = self.unpacked(&name, file).map_err(|e| broken(&path, &e))?;
            if sniff::kind(&mut stream, path.file_name()) == promised
                && (promised != Kind::JsonLines || sniff::holds_records(&mut stream))
            {
                return Ok(Opened::Archive(archive(promised, stream)));
            }
        }
        Ok(Opened::Cut(Cut::Page(Page::plain(path, self.progress()))))
    }

    /// The pages that have come so far.
    fn take_pages(&mut self) -> Part {
        Box::new(std::iter::once(std::mem::take(&mut self.pages)))
    }
}

impl Iterator for Input {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        if let Some(part) = self.next.take() {
            return Some(part);
        }
        while !self.pages.is_full() {
            let opened = match self.walk.as_mut().and_then(Iterator::next) {
                Some(Ok(path)) => self.open_within(path).map(Some),
                Some(Err(item)) => Err(item),
                None => {
                    self.walk = None;
                    match self.sources.pop_front() {
                        Some(source) => self.open(source),
                        None if self.pages.is_empty() => return None,
                        None => break,
                    }
                }
            };
            match opened {
                Ok(None) => {}
                Ok(Some(Opened::Cut(cut))) => self.pages.push(cut),
                Err(item) => self.pages.push(Cut::Clear(item)),
                Ok(Some(Opened::Archive(part))) if self.pages.is_empty() => return Some(part),
                Ok(Some(Opened::Archive(part))) => {
                    self.next = Some(part);
                    break;
                }
            }
        }
        Some(self.take_pages())
    }
}
