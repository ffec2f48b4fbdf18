//! Turns the input into entries, which `ingest` observes and `load` loads.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arrayvec::ArrayVec;
use simkeep::fingerprint::Fingerprinter;
use simkeep::{
    Content, Digest, ETag, Epoch, EpochOptions, FetchFailure, Operation, Origin, Property,
    Restated, Seen, Target, Time, Visit, Weight,
};

use crate::exit::VerbError;
use crate::input::epochs::EpochFingerprint;
use crate::input::pipeline::{self, ChunkResults, PipelineNext, WorkPipeline, WorkerOptions};
use crate::input::reading::{ReadingArgs, SchemeArgs};
use simkeep_formats::escape;
use simkeep_formats::export::ExportLine;
use simkeep_formats::{
    BrokenRecord, DigestClaim, DocumentKeys, InputParts, InputQuery, InputSource, RecordPayload,
    ResponseFacts, SourceChunk, SourceItem, VisitRecord,
};

/// The properties that a record sets, with a visit or without.
#[derive(Clone, Default)]
pub(crate) struct PageProperties {
    pub(crate) weight: Option<Weight>,
    pub(crate) class: Option<u32>,
    pub(crate) etag: Option<Box<[u8]>>,
    /// A reference to the target of the page, perhaps relative.
    pub(crate) target: Option<Box<str>>,
}

impl PageProperties {
    /// The properties of a record without a visit. An entity tag or a target that cannot be stored
    /// is left out.
    pub(crate) fn of_page(&self, url: &str) -> impl Iterator<Item = Property> + use<> {
        let etag = self.etag.as_deref().and_then(ETag::new);
        let target = self.target.as_deref().and_then(|target| Target::new(url, target));
        let all = [
            self.weight.map(Property::Weight),
            self.class.map(Property::Class),
            etag.map(Property::ETag),
            target.map(Property::Target),
        ];
        all.into_iter().flatten()
    }

    /// Whether there is an entity tag that is too long for a store.
    pub(crate) fn has_long_etag(&self) -> bool {
        self.etag.as_ref().is_some_and(|etag| etag.len() > ETag::BYTES_MAX)
    }

    /// The bytes of the owned values.
    fn bytes(&self) -> usize {
        let etag = self.etag.as_ref().map_or(0, |etag| etag.len());
        etag + self.target.as_ref().map_or(0, |target| target.len())
    }
}

/// The operation for an entry. A visit also gets the fingerprint of another epoch and the
/// properties.
pub(crate) fn request<'u>(
    url: &'u str,
    entry: simkeep::Entry,
    also: Option<EpochFingerprint>,
    given: &'u PageProperties,
) -> Operation<'u> {
    match Operation::of(url, entry) {
        Operation::Observe(mut observation) => {
            observation.also = also;
            (observation.weight, observation.class) = (given.weight, given.class);
            observation.etag = given.etag.as_deref();
            observation.target = given.target.as_deref();
            Operation::Observe(observation)
        }
        other => other,
    }
}

/// A record that is ready to be observed.
pub(crate) struct InputEntry {
    pub(crate) url: String,
    /// The time of the visit, in milliseconds since 1970.
    pub(crate) time: i64,
    pub(crate) status: Option<u16>,
    /// The `Last-Modified` time that the server reported, in milliseconds since 1970.
    pub(crate) modified: Option<i64>,
    /// The number of bytes of the content as transferred.
    pub(crate) bytes: Option<u64>,
    pub(crate) conditional: bool,
    /// The properties that the record sets.
    pub(crate) given: PageProperties,
    pub(crate) digest: Option<Digest>,
    /// The digest that an archive declares.
    pub(crate) claim: Option<Box<DigestClaim>>,
    pub(crate) found: EntryPayload,
    /// The file and the position in it, if the visit may be refused for its time.
    pub(crate) at: Option<Box<str>>,
}

impl InputEntry {
    /// The bytes that it takes in addition to its own size.
    fn bytes(&self) -> usize {
        let found = match &self.found {
            EntryPayload::Ready(_, name) => name.as_ref().map_or(0, String::len),
            EntryPayload::Restated(_, name) => name.len(),
            EntryPayload::Revisit(refers_to, _) => refers_to.as_ref().map_or(0, String::len),
            EntryPayload::Text(_)
            | EntryPayload::Binary
            | EntryPayload::BinaryFile
            | EntryPayload::Properties => 0,
            EntryPayload::Redirect(_)
            | EntryPayload::NotModified
            | EntryPayload::Gone
            | EntryPayload::Failed(_) => 0,
        };
        let claim = self.claim.as_ref().map_or(0, |_| size_of::<DigestClaim>());
        let at = self.at.as_ref().map_or(0, |at| at.len());
        self.url.len()
            + self.given.bytes()
            + found
            + claim
            + at
            + self.wrong().map_or(0, BrokenRecord::bytes)
    }

    /// The visit that saw this.
    pub(crate) fn visit(&self, seen: Seen) -> simkeep::Entry {
        let &InputEntry { time, status, modified, bytes, conditional, .. } = self;
        let modified = modified.map(Time::from_ms_unchecked);
        let time = Time::from_ms_unchecked(time);
        // The length of an error page or of an empty answer is not the length of the content.
        let bytes = bytes.filter(|_| seen.content().is_some());
        simkeep::Entry::Visit(Visit { time, seen, status, modified, bytes, conditional })
    }

    /// The visit that saw content with this fingerprint.
    pub(crate) fn content(&self, (fingerprint, epoch): EpochFingerprint) -> simkeep::Entry {
        self.visit(Seen::Content(Content { fingerprint, digest: self.digest, epoch }))
    }

    /// The content of an earlier visit, with a fingerprint of another epoch.
    pub(crate) fn restated(&self, fingerprint: Option<u64>, epoch: Epoch) -> simkeep::Entry {
        let &InputEntry { time, digest, .. } = self;
        simkeep::Entry::Restated(Restated {
            time: Time::from_ms_unchecked(time),
            fingerprint,
            digest,
            epoch,
        })
    }

    /// The message if the declared digest is wrong.
    pub(crate) fn wrong(&self) -> Option<&BrokenRecord> {
        self.claim.as_ref()?.wrong.as_ref()
    }
}

/// The result of a visit, or another kind of record.
pub(crate) enum EntryPayload {
    /// A text.
    Text(FingerprintedText),
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
pub(crate) struct FingerprintedText {
    /// The fingerprint by each origin; `None` for a text without one, such as a text that is too
    /// short.
    pub(crate) fingerprints: ArrayVec<Option<u64>, 2>,
    /// Whether the text is that of a file, whose time is its last modification.
    pub(crate) is_file: bool,
}

/// An item of the input.
pub(crate) enum InputItem {
    Entry(InputEntry),
    Question(InputQuery),
    Broken(BrokenRecord),
    /// A source that cannot be read by design, with the alternative to read.
    Refused(BrokenRecord),
    /// The name of an epoch and its options. Older epochs come first.
    Epoch(String, EpochOptions),
    /// A line of an export that is not an entry.
    Export(ExportLine),
    /// A record of this kind, which is not a visit to a page.
    Passed(&'static str),
}

impl InputItem {
    /// The bytes that it takes in addition to its own size.
    fn bytes(&self) -> usize {
        match self {
            InputItem::Entry(entry) => entry.bytes(),
            InputItem::Question(question) => question.url.len() + question.at.len(),
            InputItem::Broken(broken) | InputItem::Refused(broken) => broken.bytes(),
            InputItem::Epoch(name, _) => name.len(),
            InputItem::Export(line) => line.bytes(),
            InputItem::Passed(_) => 0,
        }
    }
}

/// Reads records, and makes the fingerprints of their texts, on all threads.
pub(crate) struct InputFeed<'o> {
    pipeline: WorkPipeline<SourceChunk, InputItem>,
    fingerprinters: Vec<Fingerprinter<'o>>,
    bytes: Arc<AtomicU64>,
    walk_failed: Arc<AtomicBool>,
}

impl<'o> InputFeed<'o> {
    /// Begins to read, and to make fingerprints of texts by each of these origins.
    ///
    /// With `keys`, JSON lines are texts under these keys. Entries after `late` have their position.
    /// The store may be in a folder that is read; its own files are not read.
    pub(crate) fn start(
        sources: Vec<InputSource>,
        reading: ReadingArgs,
        store: &Path,
        origins: &'o [Origin],
        (keys, schemes, late): (Option<DocumentKeys>, &SchemeArgs, Option<Time>),
    ) -> Result<InputFeed<'o>, VerbError> {
        let input = InputParts::new(sources).except(store).zstd_window(reading.zstd_window());
        let input = input.schemes(schemes.names()).late(late.map(Time::as_ms));
        let input = match keys {
            Some(keys) => input.keys(keys),
            None => input,
        };
        let (bytes, walk_failed) = (input.progress(), input.walk_failed());
        let fingerprinters = fingerprinters(origins)?;
        let crew = WorkerOptions { threads: reading.threads(), live: input.is_live() };
        let origins = origins.to_vec();
        let pipeline = WorkPipeline::start(Box::new(input), crew, move |shared| {
            // A fingerprinter was created a moment ago. If it fails now, the other threads do the
            // work.
            let Ok(mut fingerprinters) = self::fingerprinters(&origins) else { return };
            shared.serve(&mut |chunk, fed| read(chunk, &mut fingerprinters, fed));
        });
        Ok(InputFeed { pipeline, fingerprinters, bytes, walk_failed })
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
    pub(crate) fn next(
        &mut self,
        patience: Duration,
    ) -> Result<PipelineNext<InputItem>, VerbError> {
        let InputFeed { pipeline, fingerprinters, .. } = self;
        pipeline.next(patience, &mut |chunk, fed| read(chunk, fingerprinters, fed))
    }

    /// The number of bytes of the files that were read so far, before decompression.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl pipeline::WorkUnit for SourceChunk {
    fn bytes(&self) -> usize {
        SourceChunk::bytes(self)
    }
}

fn fingerprinters(origins: &[Origin]) -> simkeep::Result<Vec<Fingerprinter<'_>>> {
    origins.iter().map(Origin::fingerprinter).collect()
}

/// Processes each record of a chunk, on any thread: parses it, and makes the fingerprints of its
/// text.
fn read(
    chunk: SourceChunk,
    fingerprinters: &mut [Fingerprinter<'_>],
    into: &mut ChunkResults<InputItem>,
) {
    chunk.items(|item| {
        let fed = prepare(item, fingerprinters);
        let bytes = fed.bytes();
        into.push(fed, bytes);
    });
}

fn prepare(item: SourceItem, fingerprinters: &mut [Fingerprinter<'_>]) -> InputItem {
    let (record, at) = match item {
        SourceItem::Record(record) => (record, None),
        SourceItem::Late(record, at) => (*record, Some(at.into_boxed_str())),
        SourceItem::Question(question) => return InputItem::Question(question),
        SourceItem::Broken(broken) => return InputItem::Broken(broken),
        SourceItem::Passed(kind) => return InputItem::Passed(kind),
        SourceItem::Epoch(name, options) => return InputItem::Epoch(name, options),
        SourceItem::Export(line) => return InputItem::Export(line),
        SourceItem::Refused(broken) => return InputItem::Refused(broken),
        _ => return InputItem::Passed("unknown"),
    };
    let VisitRecord {
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
        ..
    } = record;
    let found = match payload_of(payload, (&url, digest, epoch), fingerprinters) {
        Ok(Some(found)) => found,
        Ok(None) => return InputItem::Passed("unknown"),
        Err(broken) => return InputItem::Broken(broken),
    };
    let ResponseFacts { bytes, conditional, etag, target } = facts;
    let given = PageProperties { weight, class, etag, target };
    InputItem::Entry(InputEntry {
        url,
        time,
        status,
        modified,
        bytes,
        conditional,
        given,
        digest,
        claim,
        found,
        at,
    })
}

/// Makes the fingerprints of a record's text. Returns `None` for an unknown kind of record.
fn payload_of(
    payload: RecordPayload,
    (url, digest, epoch): (&str, Option<Digest>, Option<Box<str>>),
    fingerprinters: &mut [Fingerprinter<'_>],
) -> Result<Option<EntryPayload>, BrokenRecord> {
    let broken = |why: String| {
        let at = escape::escape_untruncated(url);
        BrokenRecord { at, why }
    };
    let is_file = matches!(payload, RecordPayload::File(_));
    Ok(Some(match payload {
        RecordPayload::Text(document) | RecordPayload::File(document) => {
            let made = fingerprinters.iter_mut().map(|f| f.of_page(&document));
            let fingerprints =
                made.collect::<Result<_, _>>().map_err(|error| broken(error.to_string()))?;
            EntryPayload::Text(FingerprintedText { fingerprints, is_file })
        }
        RecordPayload::Ready { fingerprint } => {
            EntryPayload::Ready(fingerprint, epoch.map(String::from))
        }
        RecordPayload::Restated { fingerprint } => {
            EntryPayload::Restated(fingerprint, epoch.map(String::from).unwrap_or_default())
        }
        RecordPayload::Properties => EntryPayload::Properties,
        RecordPayload::NotModified => EntryPayload::NotModified,
        RecordPayload::Gone => EntryPayload::Gone,
        RecordPayload::Failed(failure) => EntryPayload::Failed(failure),
        RecordPayload::Binary => EntryPayload::Binary,
        RecordPayload::BinaryFile => EntryPayload::BinaryFile,
        RecordPayload::Redirect => {
            let why = "a redirect has no digest; this is a bug";
            EntryPayload::Redirect(digest.ok_or_else(|| broken(why.to_owned()))?)
        }
        RecordPayload::Revisit { refers_to, refers_time } => {
            EntryPayload::Revisit(refers_to, refers_time)
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simkeep_formats::DeclaredDigest;

    #[test]
    fn entries_are_counted_by_all_their_strings() {
        let long = || "x".repeat(1000);
        let entry = |found, claim| InputEntry {
            url: long(),
            time: 0,
            status: None,
            modified: None,
            bytes: None,
            conditional: false,
            given: PageProperties::default(),
            digest: None,
            claim,
            found,
            at: None,
        };
        let wrong = Some(BrokenRecord { at: long(), why: long() });
        let declared = DeclaredDigest::parse("md5:d41d8cd98f00b204e9800998ecf8427e").unwrap();
        let claim = Some(Box::new(DigestClaim { declared, wrong }));
        for (entry, least) in [
            (entry(EntryPayload::Gone, None), 1000),
            (entry(EntryPayload::Revisit(Some(long()), None), None), 2000),
            (entry(EntryPayload::Ready(Some(0), Some(long())), None), 2000),
            (entry(EntryPayload::Restated(Some(0), long()), None), 2000),
            (entry(EntryPayload::Gone, claim), 3000),
        ] {
            assert!(InputItem::Entry(entry).bytes() >= least);
        }
    }
}
