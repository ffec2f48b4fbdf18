//! `load`: loads large inputs in bulk, all or nothing.

mod existing;
mod export;
mod summary;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use simkeep::load::{AsOperation, LoadEpochs, LoadOptions, Loaded};
use simkeep::{
    Content, Entry, Error, Operation, Options, Origin, PropertyEntry, Seen, Snapshot, Store, Time,
};
use simkeep_formats::{BrokenRecord, DocumentKeys, InputQuery, InputSource};

use crate::CommonArgs;
use crate::common::is_read;
use crate::exit::{Exit, VerbError, print_message};
use crate::input::clock::{ClockCheck, ClockOptions};
use crate::input::complaints::ComplaintLog;
use crate::input::epochs::{
    EpochAdmission, EpochFingerprint, EpochTarget, InputEpochArgs, InputEpochs, existing,
    in_use_now, is_of_record,
};
use crate::input::feed::{
    self, EntryPayload, FingerprintedText, InputFeed, InputItem, PageProperties,
};
use crate::input::keys::InputKeyArgs;
use crate::input::origin::TextOrigins;
use crate::input::pipeline::{PATIENCE, PipelineNext};
use crate::input::reading::{ReadingArgs, SchemeArgs};
use crate::output::Output;
use crate::output::progress::with_progress_bar;
use crate::verbs::fill::ingest::{check, parse_epoch};
use export::ExportReader;
use summary::LoadSummary;

pub(crate) use summary::LoadResult;

/// Load stores, exports and crawls in bulk, all or nothing
///
/// Reads what `ingest` reads, and other stores. Makes the store if it does not exist. A run that
/// fails or is killed leaves the store as it was. Other programs may read the store meanwhile. With
/// fingerprints in the input it takes about a third of the time of `ingest`, with texts of 60 words
/// two thirds.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep load new.simkeep old.simkeep
  simkeep load new.simkeep /srv/crawl         the newest published generation
  simkeep load copy.simkeep crawl.jsonl.zst   an export
  simkeep load corpus.simkeep corpus.jsonl --url-key id --time-key metadata.date

A broken record ends the run with exit code 3, unless --skip-broken is given. A revisit
record of a web archive counts as broken: only `ingest` looks up what it repeats.

Exports, epochs, other keys: docs/tool.md#load"#)]
pub(crate) struct LoadArgs {
    /// Stores, files and folders; - is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,
    /// Epoch of fingerprints whose record has none
    #[arg(long, value_name = "NAME", default_value = "external", value_parser = parse_epoch)]
    epoch: String,
    /// Name broken records and leave them out
    #[arg(long)]
    skip_broken: bool,
    /// Memory to use, in MiB
    #[arg(long, value_name = "MIB", default_value = "512")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    memory: u32,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    foreign: InputKeyArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    schemes: SchemeArgs,
    #[command(flatten)]
    from_input: InputEpochArgs,
}

impl LoadArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        self.paths.iter().try_for_each(check)?;
        let place = common.store()?;
        let store = existing(&place, Options::default())?;
        let snapshot = store.as_ref().map(Store::snapshot);
        let makers = self.from_input.makers(snapshot.as_ref())?;
        let epochs = LoadEpochs::default();
        let taken = RefCell::new(self.begin((&place, snapshot), &epochs, &makers)?);
        let into = LoadTarget {
            store: &place,
            origins: makers.as_deref().unwrap_or_default(),
            reading: self.reading,
            keys: self.foreign.keys(),
            schemes: self.schemes.clone(),
        };
        let mut observations = self
            .parts()
            .into_iter()
            .flat_map(|part| match part.open(&into, &taken) {
                Ok(observations) => observations,
                Err(failure) => Box::new(std::iter::once(taken.borrow_mut().fail(failure))),
            })
            .peekable();
        let started = Instant::now();
        let mut new = Options::default();
        if store.is_none() {
            // The lines before the first record may set the first epoch of a new store.
            observations.peek();
            if let Some(first) = taken.borrow_mut().first_epoch.take() {
                new.epoch = first;
            }
            new.epoch_bands = taken.borrow_mut().epochs.first_bands(&new.epoch);
        }
        let loaded = with_progress_bar(|progress| {
            let options = LoadOptions::default()
                .memory_bytes(usize::try_from(self.memory).unwrap_or(1) << 20)
                .epochs(epochs.clone())
                .progress(progress.clone());
            match store {
                Some(store) => store.load(observations, options).map(|loaded| (store, loaded)),
                None => Store::create_from(&place, new, observations, options),
            }
        });
        let elapsed = started.elapsed();
        let mut taken = taken.into_inner();
        // The reason why the stream ended is more specific than the error of the load.
        let (store, loaded) =
            loaded.map_err(|e| taken.failure.take().unwrap_or(VerbError::Store(e)))?;
        let summary = taken.summary(loaded, &store, elapsed);
        store.close()?;
        if common.json {
            output.object(&summary.answer())?;
        } else {
            summary.lines().iter().try_for_each(|line| output.line(line))?;
        }
        Ok(Exit::Done)
    }

    /// Prepares a load into the store at this path, or into a new one.
    fn begin<'s>(
        &'s self,
        (place, store): (&'s Path, Option<Snapshot>),
        coming: &'s LoadEpochs,
        makers: &TextOrigins,
    ) -> Result<LoadInput<'s>, VerbError> {
        let clock = ClockCheck::new(self.clock, store.as_ref());
        let known = store.as_ref().map(|store| store.epochs().to_vec());
        let admission = EpochAdmission::new(&self.from_input, store.as_ref(), &self.epoch, clock)?;
        let register = EpochTarget::with(coming, known);
        Ok(LoadInput {
            load_epochs: coming,
            at_start: store.is_none(),
            store,
            admission,
            ready_made: &self.epoch,
            place,
            first_epoch: None,
            export: None,
            exported_at: String::new(),
            skip_broken: self.skip_broken,
            epochs: InputEpochs::new(register, makers.clone()),
            more: Vec::new(),
            restated: 0,
            given: 0,
            too_short: 0,
            long_etags: 0,
            broken: ComplaintLog::broken(),
            wrong: ComplaintLog::wrong(),
            passed: BTreeMap::new(),
            failure: None,
        })
    }

    /// The inputs that the arguments name: stores, and between them sources that `ingest` reads.
    fn parts(&self) -> Vec<LoadSource<'_>> {
        let mut parts = Vec::new();
        for path in &self.paths {
            let folder = Path::new(path);
            if path != "-" && is_read(folder) {
                parts.push(LoadSource::Store(folder));
                continue;
            }
            let source = InputSource::from_argument(path);
            match parts.last_mut() {
                Some(LoadSource::Sources(sources)) => sources.push(source),
                _ => parts.push(LoadSource::Sources(vec![source])),
            }
        }
        parts
    }
}

/// An input to load.
enum LoadSource<'p> {
    Store(&'p Path),
    Sources(Vec<InputSource>),
}

/// The destination of the load, and the settings for reading sources.
struct LoadTarget<'t> {
    store: &'t Path,
    origins: &'t [Origin],
    reading: ReadingArgs,
    keys: Option<DocumentKeys>,
    schemes: SchemeArgs,
}

type RecordIter<'t> = Box<dyn Iterator<Item = simkeep::Result<OwnedRecord>> + 't>;

/// An entry that owns its URL.
struct OwnedRecord {
    url: String,
    entry: Entry,
    also: Option<EpochFingerprint>,
    given: PageProperties,
}

impl OwnedRecord {
    /// An entry without further fingerprints or properties.
    fn alone(url: String, entry: Entry) -> OwnedRecord {
        OwnedRecord { url, entry, also: None, given: PageProperties::default() }
    }
}

impl AsOperation for OwnedRecord {
    fn operation(&self) -> Operation<'_> {
        feed::request(&self.url, self.entry.clone(), self.also, &self.given)
    }
}

impl LoadSource<'_> {
    /// Opens an iterator over its observations.
    fn open<'t>(
        self,
        into: &LoadTarget<'t>,
        taken: &'t RefCell<LoadInput<'_>>,
    ) -> Result<RecordIter<'t>, VerbError> {
        match self {
            LoadSource::Store(path) => {
                if path.canonicalize().ok() == into.store.canonicalize().ok() {
                    return Err(VerbError::Usage(
                        "a store cannot be loaded into itself".to_owned(),
                    ));
                }
                let snapshot = crate::common::read(path)?.snapshot();
                taken.borrow_mut().at_start = false;
                taken.borrow_mut().admission.admit_store(&snapshot)?;
                taken.borrow_mut().epochs.add_store_epochs(snapshot.epochs());
                let numbers = taken.borrow().load_epochs.of(&snapshot)?;
                let observations = snapshot.observations(None).renumbered(numbers);
                Ok(Box::new(observations.map(move |observation| {
                    let (url, entry) = observation?;
                    taken.borrow_mut().restated += u64::from(entry.is_restated());
                    taken.borrow_mut().given += u64::from(entry.property().is_some());
                    Ok(OwnedRecord::alone(url.to_string(), entry))
                })))
            }
            LoadSource::Sources(sources) => {
                let late = taken.borrow().admission.clock.limit();
                let mut feed = InputFeed::start(
                    sources,
                    into.reading,
                    into.store,
                    into.origins,
                    (into.keys.clone(), &into.schemes, late),
                )?;
                Ok(Box::new(std::iter::from_fn(move || {
                    loop {
                        if let Some(more) = taken.borrow_mut().more.pop() {
                            return Some(Ok(more));
                        }
                        let fed = match feed.next(PATIENCE) {
                            Ok(PipelineNext::Result(fed)) => fed,
                            Ok(PipelineNext::Idle) => continue,
                            Ok(PipelineNext::End) => return taken.borrow_mut().end(),
                            Err(failure) => return Some(taken.borrow_mut().fail(failure)),
                        };
                        if let Some(observation) = taken.borrow_mut().take(fed) {
                            return Some(observation);
                        }
                    }
                })))
            }
        }
    }
}

/// The state of the load.
struct LoadInput<'s> {
    load_epochs: &'s LoadEpochs,
    /// The store before the load, if it exists.
    store: Option<Snapshot>,
    admission: EpochAdmission,
    /// The epoch of ready-made fingerprints that name no epoch.
    ready_made: &'s str,
    /// The path of the store.
    place: &'s Path,
    /// Whether the store is new and nothing has arrived yet.
    at_start: bool,
    /// The name of the first epoch of a new store, if an export sets it.
    first_epoch: Option<String>,
    /// The state of the export that is being read, and the position of its last line that is not an
    /// entry.
    export: Option<ExportReader>,
    exported_at: String,
    skip_broken: bool,
    epochs: InputEpochs<'s>,
    /// The next record to return, which came from the same input record.
    more: Vec<OwnedRecord>,
    /// Records that are restatements instead of visits.
    restated: u64,
    /// Records that are weights and classes instead of visits.
    given: u64,
    /// Texts without a fingerprint, because they are too short.
    too_short: u64,
    /// Records whose entity tag is too long to be kept.
    long_etags: u64,
    broken: ComplaintLog,
    wrong: ComplaintLog,
    passed: BTreeMap<&'static str, u64>,
    /// The reason why the stream ended early.
    failure: Option<VerbError>,
}

impl LoadInput<'_> {
    /// The summary of the load. Prints how many broken records were not named.
    fn summary(self, loaded: Loaded, store: &Store, elapsed: Duration) -> LoadSummary {
        let rest = [self.broken.suppressed_message(), self.wrong.suppressed_message()];
        rest.into_iter().flatten().for_each(|message| print_message(&message));
        LoadSummary {
            in_use: in_use_now(&loaded.begun, &store.snapshot()),
            loaded,
            restated: self.restated,
            given: self.given,
            too_short: self.too_short,
            broken: self.broken.count(),
            future_visits: self.admission.clock.refused(),
            wrong_digests: self.wrong.count(),
            long_etags: self.long_etags,
            passed: self.passed,
            elapsed,
        }
    }

    /// Ends the stream.
    fn fail(&mut self, failure: VerbError) -> simkeep::Result<OwnedRecord> {
        self.failure = Some(failure);
        Err(Error::Cancelled)
    }

    /// Ends the sources. An export that has no end is a failure.
    fn end(&mut self) -> Option<simkeep::Result<OwnedRecord>> {
        let why = "the last line of an export is missing; nothing was stored";
        self.export.take().map(|_| self.fail(VerbError::Broken(why.to_owned())))
    }

    /// The observation of an item; `None` if there is nothing to observe.
    fn take(&mut self, fed: InputItem) -> Option<simkeep::Result<OwnedRecord>> {
        // A store has accepted the visits of an export before, so the clock does not check them.
        let fed = if self.export.is_some() { fed } else { self.admission.clock.check(fed) };
        let fed = match self.admission.admit(fed) {
            Ok(fed) => fed,
            Err(failure) => return Some(self.fail(failure)),
        };
        self.at_start &= matches!(fed, InputItem::Export(_));
        if let Some(Err(flaw)) = self.export.as_mut().map(|export| export.admit(&fed)) {
            return Some(self.flawed(&format!("behind {}", self.exported_at), flaw));
        }
        match fed {
            InputItem::Entry(feed::InputEntry { found: EntryPayload::BinaryFile, .. }) => {
                *self.passed.entry("binary").or_default() += 1;
                None
            }
            InputItem::Entry(entry) => self.take_entry(entry),
            InputItem::Question(InputQuery { at, .. }) => {
                let why = "a question; only `ingest --outcomes` answers questions".to_owned();
                self.broken(BrokenRecord { at, why })
            }
            InputItem::Broken(broken) => self.broken(broken),
            InputItem::Refused(BrokenRecord { at, why }) => {
                let why = format!("{at}: {why}; nothing was stored");
                Some(self.fail(VerbError::Broken(why)))
            }
            InputItem::Passed(kind) => {
                *self.passed.entry(kind).or_default() += 1;
                None
            }
            InputItem::Epoch(name, terms) => match self.epochs.find_or_begin(&name, terms) {
                Ok(_) => None,
                Err(e) if is_of_record(&e) => {
                    let at = "a line that only names an epoch".to_owned();
                    self.broken(BrokenRecord { at, why: e.to_string() })
                }
                Err(e) => Some(Err(e)),
            },
            InputItem::Export(line) => self.exported(line),
        }
    }

    /// The observation of an entry; `None` if there is nothing to observe.
    fn take_entry(&mut self, entry: feed::InputEntry) -> Option<simkeep::Result<OwnedRecord>> {
        if let (EntryPayload::Text(_), Some(why)) = (&entry.found, self.epochs.why_no_texts()) {
            return Some(self.fail(VerbError::Usage(why.to_owned())));
        }
        let wrong = entry.wrong().and_then(|wrong| self.wrong.add(wrong));
        wrong.into_iter().for_each(|message| print_message(&message));
        self.long_etags += u64::from(entry.given.has_long_etag());
        let url = entry.url.clone();
        let at = || simkeep_formats::escape::escape_untruncated(&url);
        if matches!(entry.found, EntryPayload::Revisit(..)) {
            let why = "a revisit; only `ingest` looks up the record that it repeats".to_owned();
            return self.broken(BrokenRecord { at: at(), why });
        }
        match self.record(entry) {
            Err(e) if is_of_record(&e) => {
                self.broken(BrokenRecord { at: at(), why: e.to_string() })
            }
            record => record.transpose(),
        }
    }

    fn broken(&mut self, broken: BrokenRecord) -> Option<simkeep::Result<OwnedRecord>> {
        let message = self.broken.add(&broken);
        if !self.skip_broken {
            let BrokenRecord { at, why } = broken;
            let why =
                format!("{at}: {why}; nothing was stored; --skip-broken skips broken records");
            return Some(self.fail(VerbError::Broken(why)));
        }
        message.into_iter().for_each(|message| print_message(&message));
        None
    }

    /// The observation of an entry; `None` if there is nothing to observe. A revisit is not
    /// observed, nor are properties that cannot be stored.
    fn record(&mut self, from: feed::InputEntry) -> simkeep::Result<Option<OwnedRecord>> {
        let (entry, also) = match &from.found {
            EntryPayload::Text(_) | EntryPayload::Binary => self.content(&from)?,
            EntryPayload::Ready(fingerprint, name) => {
                let name = name.as_deref().unwrap_or(self.ready_made);
                (from.content((*fingerprint, self.epoch(name)?)), None)
            }
            EntryPayload::Restated(fingerprint, name) => {
                self.restated += 1;
                (from.restated(*fingerprint, self.epoch(name)?), None)
            }
            EntryPayload::Properties => return Ok(self.properties(from)),
            EntryPayload::NotModified => {
                (from.visit(Seen::NotModified { digest: from.digest }), None)
            }
            EntryPayload::Gone => (from.visit(Seen::Gone), None),
            EntryPayload::Redirect(digest) => {
                (from.visit(Seen::Content(Content::redirect(*digest))), None)
            }
            EntryPayload::Failed(_) => (from.visit(Seen::Failed), None),
            EntryPayload::Revisit(..) | EntryPayload::BinaryFile => return Ok(None),
        };
        let feed::InputEntry { url, given, .. } = from;
        Ok(Some(OwnedRecord { url, entry, also, given }))
    }

    /// The visit that saw a text or binary content, and the fingerprint of another epoch.
    fn content(
        &mut self,
        from: &feed::InputEntry,
    ) -> simkeep::Result<(Entry, Option<EpochFingerprint>)> {
        let (made, other) = match &from.found {
            EntryPayload::Text(FingerprintedText { fingerprints, .. }) => {
                let made = self.epochs.of_texts(fingerprints)?;
                self.too_short += u64::from(made.0.0.is_none());
                made
            }
            _ => self.epochs.of_binary()?,
        };
        let visit = (from.time, from.status, from.digest);
        let all = [Some(made), other].into_iter().flatten();
        Ok(match self.existing_visit(&from.url, visit, all)? {
            Some((visit, missing)) => (Entry::Visit(visit), missing),
            None => (from.content(made), other),
        })
    }

    /// The observation of one property of an entry. The others wait.
    fn properties(&mut self, from: feed::InputEntry) -> Option<OwnedRecord> {
        let feed::InputEntry { url, time, given, .. } = from;
        let time = Time::from_ms_unchecked(time);
        self.more.extend(given.of_page(&url).map(|property| {
            OwnedRecord::alone(url.clone(), Entry::Property(PropertyEntry { time, property }))
        }));
        self.given += self.more.len() as u64;
        self.more.pop()
    }
}
