//! Turns the input into entries, which `ingest` observes and `load` loads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arrayvec::ArrayVec;
use simkeep::fingerprint::Fingerprinter;
use simkeep::{
    Content, Digest, Epoch, EpochOptions, FetchFailure, Operation, Origin, Property, Restated,
    Seen, Time, Visit,
};

use crate::exit::Failure;
use crate::input::epochs::Made;
use crate::input::pipeline::{self, Crew, Next, Pipeline, Results};
use crate::input::reading::{Reading, Schemes};
use simkeep_formats::escape;
use simkeep_formats::export::Line;
use simkeep_formats::{Broken, Chunk, Claim, Input, Item, Keys, Payload, Question, Record, Source};

/// The properties that a record sets, with a visit or without: at most one of each kind.
pub(crate) type Properties = ArrayVec<Property, 2>;

/// The operation for an entry. A visit also gets the fingerprint of another epoch and the
/// properties.
pub(crate) fn request<'u>(
    url: &'u str,
    entry: simkeep::Entry,
    also: Option<Made>,
    given: &Properties,
) -> Operation<'u> {
    match Operation::of(url, entry) {
        Operation::Observe(mut observation) => {
            observation.also = also;
            Operation::Observe(given.iter().fold(observation, |o, property| o.property(*property)))
        }
        other => other,
    }
}

/// A record that is ready to be observed.
pub(crate) struct Entry {
    pub(crate) url: String,
    /// The time of the visit, in milliseconds since 1970.
    pub(crate) time: i64,
    pub(crate) status: Option<u16>,
    /// The `Last-Modified` time that the server reported, in milliseconds since 1970.
    pub(crate) modified: Option<i64>,
    /// The properties that the record sets.
    pub(crate) given: Properties,
    pub(crate) digest: Option<Digest>,
    /// The digest that an archive declares.
    pub(crate) claim: Option<Box<Claim>>,
    pub(crate) found: Found,
    /// The file and the position in it, if the visit may be refused for its time.
    pub(crate) at: Option<Box<str>>,
}

impl Entry {
    /// The bytes that it takes in addition to its own size.
    fn bytes(&self) -> usize {
        let found = match &self.found {
            Found::Ready(_, name) => name.as_ref().map_or(0, String::len),
            Found::Restated(_, name) => name.len(),
            Found::Revisit(refers_to, _) => refers_to.as_ref().map_or(0, String::len),
            Found::Text(_) | Found::Binary | Found::BinaryFile | Found::Properties => 0,
            Found::Redirect(_) | Found::NotModified | Found::Gone | Found::Failed(_) => 0,
        };
        let claim = self.claim.as_ref().map_or(0, |_| size_of::<Claim>());
        let at = self.at.as_ref().map_or(0, |at| at.len());
        self.url.len() + found + claim + at + self.wrong().map_or(0, Broken::bytes)
    }

    /// The visit that saw this.
    pub(crate) fn visit(&self, seen: Seen) -> simkeep::Entry {
        let &Entry { time, status, modified, .. } = self;
        simkeep::Entry::Visit(Visit {
            time: Time::from_ms_unchecked(time),
            seen,
            status,
            modified: modified.map(Time::from_ms_unchecked),
        })
    }

    /// The visit that saw content with this fingerprint.
    pub(crate) fn content(&self, (fingerprint, epoch): Made) -> simkeep::Entry {
        self.visit(Seen::Content(Content { fingerprint, digest: self.digest, epoch }))
    }

    /// The content of an earlier visit, with a fingerprint of another epoch.
    pub(crate) fn restated(&self, fingerprint: Option<u64>, epoch: Epoch) -> simkeep::Entry {
        let &Entry { time, digest, .. } = self;
        simkeep::Entry::Restated(Restated {
            time: Time::from_ms_unchecked(time),
            fingerprint,
            digest,
            epoch,
        })
    }

    /// The message if the declared digest is wrong.
    pub(crate) fn wrong(&self) -> Option<&Broken> {
        self.claim.as_ref()?.wrong.as_ref()
    }
}

/// The result of a visit, or another kind of record.
pub(crate) enum Found {
    /// A text.
    Text(Text),
    /// Binary content: it has a digest and no fingerprint.
    Binary,
    /// A binary file. Its digest is not computed yet.
    BinaryFile,
    /// A redirect, with the digest that identifies its target.
    Redirect(Digest),
    /// Content with a ready-made fingerprint, if it has one, and its epoch, if the record names
    /// one.
    Ready(Option<u64>, Option<String>),
    /// The fingerprint, in the epoch of this name, of content that was seen before.
    Restated(Option<u64>, String),
    /// No visit, only properties of the page.
    Properties,
    NotModified,
    Gone,
    Failed(FetchFailure),
    /// The content of an earlier record, with its URL and time if they are known.
    Revisit(Option<String>, Option<i64>),
}

/// The fingerprints of a text.
pub(crate) struct Text {
    /// The fingerprint by each origin; `None` for a text without one, such as a text that is too
    /// short.
    pub(crate) fingerprints: ArrayVec<Option<u64>, 2>,
    /// Whether the text is that of a file, whose time is its last modification.
    pub(crate) is_file: bool,
}

/// An item of the input.
pub(crate) enum Fed {
    Entry(Entry),
    Question(Question),
    Broken(Broken),
    /// A source that cannot be read by design, with the alternative to read.
    Refused(Broken),
    /// The name of an epoch and its options. Older epochs come first.
    Epoch(String, EpochOptions),
    /// A line of an export that is not an entry.
    Export(Line),
    /// A record of this kind, which is not a visit to a page.
    Passed(&'static str),
}

impl Fed {
    /// The bytes that it takes in addition to its own size.
    fn bytes(&self) -> usize {
        match self {
            Fed::Entry(entry) => entry.bytes(),
            Fed::Question(question) => question.url.len() + question.at.len(),
            Fed::Broken(broken) | Fed::Refused(broken) => broken.bytes(),
            Fed::Epoch(name, _) => name.len(),
            Fed::Export(line) => line.bytes(),
            Fed::Passed(_) => 0,
        }
    }
}

/// Reads records, and makes the fingerprints of their texts, on all threads.
pub(crate) struct Feed<'o> {
    pipeline: Pipeline<Chunk, Fed>,
    fingerprinters: Vec<Fingerprinter<'o>>,
    bytes: Arc<AtomicU64>,
    walk_failed: Arc<AtomicBool>,
}

impl<'o> Feed<'o> {
    /// Begins to read, and to make fingerprints of texts by each of these origins.
    ///
    /// With `keys`, JSON lines are texts under these keys. Entries after `late` have their position.
    /// The store may be in a folder that is read; its own files are not read.
    pub(crate) fn start(
        sources: Vec<Source>,
        reading: Reading,
        store: &Path,
        origins: &'o [Origin],
        (keys, schemes, late): (Option<Keys>, &Schemes, Option<Time>),
    ) -> Result<Feed<'o>, Failure> {
        let input = Input::new(sources).except(store).zstd_window(reading.zstd_window());
        let input = input.schemes(schemes.names()).late(late.map(Time::as_ms));
        let input = match keys {
            Some(keys) => input.keys(keys),
            None => input,
        };
        let (bytes, walk_failed) = (input.progress(), input.walk_failed());
        let fingerprinters = fingerprinters(origins)?;
        let crew = Crew { threads: reading.threads(), live: input.is_live() };
        let origins = origins.to_vec();
        let pipeline = Pipeline::start(Box::new(input), crew, move |shared| {
            // A fingerprinter was created a moment ago. If it fails now, the other threads do the
            // work.
            let Ok(mut fingerprinters) = self::fingerprinters(&origins) else { return };
            shared.serve(&mut |chunk, fed| read(chunk, &mut fingerprinters, fed));
        });
        Ok(Feed { pipeline, fingerprinters, bytes, walk_failed })
    }

    /// Returns a function that wakes the thread which waits for the next item.
    pub(crate) fn waker(&self) -> impl Fn() + Send + use<> {
        self.pipeline.waker()
    }

    /// Whether a folder could not be read completely.
    pub(crate) fn walk_failed(&self) -> &AtomicBool {
        &self.walk_failed
    }

    /// Returns the next item, in the order of the input.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Next<Fed>, Failure> {
        let Feed { pipeline, fingerprinters, .. } = self;
        pipeline.next(patience, &mut |chunk, fed| read(chunk, fingerprinters, fed))
    }

    /// The number of bytes of the files that were read so far, before decompression.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl pipeline::Chunk for Chunk {
    fn bytes(&self) -> usize {
        Chunk::bytes(self)
    }
}

fn fingerprinters(origins: &[Origin]) -> simkeep::Result<Vec<Fingerprinter<'_>>> {
    origins.iter().map(Origin::fingerprinter).collect()
}

/// Processes each record of a chunk, on any thread: parses it, and makes the fingerprints of its
/// text.
fn read(chunk: Chunk, fingerprinters: &mut [Fingerprinter<'_>], into: &mut Results<Fed>) {
    chunk.items(|item| {
        let fed = prepare(item, fingerprinters);
        let bytes = fed.bytes();
        into.push(fed, bytes);
    });
}

fn prepare(item: Item, fingerprinters: &mut [Fingerprinter<'_>]) -> Fed {
    let (record, at) = match item {
        Item::Record(record) => (record, None),
        Item::Late(record, at) => (*record, Some(at.into_boxed_str())),
        Item::Question(question) => return Fed::Question(question),
        Item::Broken(broken) => return Fed::Broken(broken),
        Item::Passed(kind) => return Fed::Passed(kind),
        Item::Epoch(name, options) => return Fed::Epoch(name, options),
        Item::Export(line) => return Fed::Export(line),
        Item::Refused(broken) => return Fed::Refused(broken),
        _ => return Fed::Passed("unknown"),
    };
    let Record {
        url, time, payload, digest, claim, status, modified, weight, class, epoch, ..
    } = record;
    let is_file = matches!(payload, Payload::File(_));
    let found = match payload {
        Payload::Text(document) | Payload::File(document) => {
            match fingerprinters.iter_mut().map(|f| f.of_page(&document)).collect() {
                Ok(fingerprints) => Found::Text(Text { fingerprints, is_file }),
                Err(error) => {
                    let at = escape::whole(&url);
                    return Fed::Broken(Broken { at, why: error.to_string() });
                }
            }
        }
        Payload::Ready { fingerprint } => Found::Ready(fingerprint, epoch.map(String::from)),
        Payload::Restated { fingerprint } => {
            Found::Restated(fingerprint, epoch.map(String::from).unwrap_or_default())
        }
        Payload::Properties => Found::Properties,
        Payload::NotModified => Found::NotModified,
        Payload::Gone => Found::Gone,
        Payload::Failed(failure) => Found::Failed(failure),
        Payload::Binary => Found::Binary,
        Payload::BinaryFile => Found::BinaryFile,
        Payload::Redirect => match digest {
            Some(digest) => Found::Redirect(digest),
            None => {
                let why = "a redirect has no digest; this is a bug".to_owned();
                return Fed::Broken(Broken { at: escape::whole(&url), why });
            }
        },
        Payload::Revisit { refers_to, refers_time } => Found::Revisit(refers_to, refers_time),
        _ => return Fed::Passed("unknown"),
    };
    let weight = weight.map(Property::Weight);
    let given = weight.into_iter().chain(class.map(Property::Class)).collect();
    Fed::Entry(Entry { url, time, status, modified, given, digest, claim, found, at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simkeep_formats::Declared;

    #[test]
    fn entries_are_counted_by_all_their_strings() {
        let long = || "x".repeat(1000);
        let entry = |found, claim| {
            let (status, modified, given, digest) = (None, None, Properties::new(), None);
            let at = None;
            Entry { url: long(), time: 0, status, modified, given, digest, claim, found, at }
        };
        let wrong = Some(Broken { at: long(), why: long() });
        let declared = Declared::parse("md5:d41d8cd98f00b204e9800998ecf8427e").unwrap();
        let claim = Some(Box::new(Claim { declared, wrong }));
        for (entry, least) in [
            (entry(Found::Gone, None), 1000),
            (entry(Found::Revisit(Some(long()), None), None), 2000),
            (entry(Found::Ready(Some(0), Some(long())), None), 2000),
            (entry(Found::Restated(Some(0), long()), None), 2000),
            (entry(Found::Gone, claim), 3000),
        ] {
            assert!(Fed::Entry(entry).bytes() >= least);
        }
    }
}
