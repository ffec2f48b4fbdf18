//! `ingest`: observes everything that was crawled, record by record.
//!
//! All threads read and make fingerprints ([`feed`](crate::input::feed)). One thread observes the
//! results in batches ([`observer`]). The order of the records is kept, so a run that was
//! interrupted and is started again ends with the same store.

mod histories;
mod observer;
mod originals;
mod outcomes;
mod pending;
mod present;
mod progress;
mod query;
mod revisit;
mod start;
mod summary;
mod sync;
mod unsealed;
mod unvisited;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use simkeep::publish::is_published;
use simkeep::{Durability, Options, Store};

use crate::common::{is_read, quoted};
use crate::exit::{Exit, VerbError, print_message};
use crate::input::clock::{ClockCheck, ClockOptions};
use crate::input::epochs::{EpochAdmission, InputEpochArgs, existing};
use crate::input::feed::{InputFeed, InputItem};
use crate::input::keys::InputKeyArgs;
use crate::input::pipeline::{PATIENCE, PipelineNext};
use crate::input::reading::{ReadingArgs, SchemeArgs};
use crate::output::Output;
use crate::output::words::many;
use crate::{CommonArgs, signals};
use observer::BatchObserver;
pub(crate) use outcomes::OutcomeLine;
use outcomes::OutcomePrinter;
use progress::IngestProgress;
use simkeep_formats::{BrokenRecord, InputQuery, InputSource, export};
use start::{IngestPreamble, InitialCounts};
use summary::IngestSummary;
use sync::FolderSync;

/// Read files, JSON lines and web archives into a store
///
/// Makes the store if it does not exist. Input that is already in the store changes nothing, so an
/// interrupted run can be repeated. Broken records are named, counted and skipped; if all are
/// broken, the exit code is 3.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep ingest crawl.simkeep crawl-*.warc.gz
  simkeep ingest notes.simkeep ~/documents --sync
  zstd -dc pages.jsonl.zst | simkeep ingest pages.simkeep - --outcomes

Input, plain or packed with gzip or zstd:
  folders     each text file is a page, seen when it was last modified
  JSON lines  {"url", "t", "text"}, or "fingerprint" and "digest", or "seen"
  archives    WARC, WET and ARC

Keys, HTTP statuses, outcomes, signals: docs/tool.md#ingest"#)]
pub(crate) struct IngestArgs {
    /// Files and folders; - is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,
    /// Epoch of fingerprints whose record has none
    #[arg(long, value_name = "NAME", default_value = "external", value_parser = parse_epoch)]
    epoch: String,
    /// Add fingerprints of the newest epoch to known visits, and record no new visits
    #[arg(long)]
    restate: bool,
    /// Stop at the first broken record, with exit code 3
    #[arg(long)]
    strict: bool,
    /// Print a line of JSON for each record, and answer questions between records
    #[arg(long)]
    outcomes: bool,
    /// When records are durable
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = DurabilityChoice::Group)]
    durability: DurabilityChoice,
    /// Records that become durable together
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    group_size: NonZeroUsize,
    /// Report files missing from their folder as gone
    #[arg(long, conflicts_with = "restate")]
    sync: bool,
    /// With --sync, even if more than half are missing
    #[arg(long, requires = "sync")]
    yes: bool,
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

/// When records are durable.
#[derive(Clone, Copy, ValueEnum)]
enum DurabilityChoice {
    /// Before their outcomes are printed: records that wait together share one commit
    Group,
    /// After five minutes at the latest, and at the end: if the process is killed, records whose
    /// outcomes were printed may be lost
    End,
}

impl From<DurabilityChoice> for Durability {
    fn from(when: DurabilityChoice) -> Durability {
        match when {
            DurabilityChoice::Group => Durability::Each,
            DurabilityChoice::End => Durability::OnFlush,
        }
    }
}

pub(crate) fn parse_epoch(name: &str) -> Result<String, &'static str> {
    if name.is_empty() || name.len() > 256 || name.chars().any(char::is_control) {
        return Err("the name of an epoch must have 1 to 256 bytes and no control characters");
    }
    Ok(name.to_owned())
}

impl IngestArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        self.paths.iter().try_for_each(check)?;
        let place = common.store()?;
        self.paths.iter().try_for_each(|path| refuse_store(path, &place))?;
        let folders = self.sync.then(|| sync::folders(&self.paths)).transpose()?;
        let store = existing(&place, self.options())?;
        let before = store.as_ref().map(Store::snapshot);
        let clock = ClockCheck::new(self.clock, before.as_ref());
        let (now, late) = (clock.now(), clock.limit());
        let makers = self.from_input.makers(before.as_ref())?;
        let mut admission =
            EpochAdmission::new(&self.from_input, before.as_ref(), &self.epoch, clock)?;
        drop(before);
        let sources: Vec<InputSource> =
            self.paths.iter().map(|path| InputSource::from_argument(path)).collect();
        let mut progress = IngestProgress::new(&sources);
        let mut feed = InputFeed::start(
            sources,
            self.reading,
            &place,
            makers.as_deref().unwrap_or_default(),
            (self.foreign.keys(), &self.schemes, late),
        )?;
        let mut outcomes = self.outcomes.then(|| OutcomePrinter::new(output));
        let before =
            self.before_records(&mut feed, &mut admission, &mut progress, outcomes.as_mut())?;
        let store = match store {
            Some(store) => store,
            None => self.create(&place, &before, &mut progress)?,
        };
        // If signals cannot be watched, a signal ends the process at once.
        let _watch = watch(&feed, &store).ok();
        let sync = folders.map(|folders| FolderSync::new(folders, store.snapshot(), self.yes));
        let initial = InitialCounts::of(&store)?;
        let ready_made = self.epoch.clone();
        let mut observer = BatchObserver::new(
            &store,
            makers.clone(),
            ready_made,
            self.restate,
            self.group_size,
            outcomes,
        );
        observer.now = self.clock.now();
        let stopped = self
            .take_all(before, &mut feed, &mut admission, &mut observer, &mut progress)
            .and_then(|stopped| observer.set_late_properties().map(|()| stopped));
        progress.finish();
        let stopped = stopped.inspect_err(|_| end_early(&store, &observer.summary))?;
        let synced = match sync.filter(|_| stopped.is_none()) {
            Some(sync) => sync.run(&place, feed.walk_failed(), now.as_ms(), &mut observer),
            None => Ok(()),
        };
        let mut summary = observer.summary;
        summary.bytes = feed.bytes_read();
        summary.future_visits = admission.clock.refused();
        initial.compare(&store, &mut summary)?;
        unsealed::seal(&store)?;
        store.close()?;
        summary.elapsed = progress.elapsed();
        self.print(&summary, common, output)?;
        let Some(BrokenRecord { at, why }) = stopped else {
            synced?;
            let failure = summary.none_sound().filter(|_| !self.outcomes);
            return failure.map_or(Ok(Exit::Done), Err);
        };
        Err(VerbError::Broken(format!(
            "{at}: {why}; stopped because of --strict; all earlier records are stored"
        )))
    }

    /// The options of the store.
    fn options(&self) -> Options {
        Options::default().durability(self.durability.into()).refers_to(self.outcomes)
    }

    /// Creates the store. With `--strict`, a broken record before the first sound one is an error,
    /// and no store is created.
    fn create(
        &self,
        place: &Path,
        before: &IngestPreamble,
        progress: &mut IngestProgress,
    ) -> Result<Store, VerbError> {
        if let Some(BrokenRecord { at, why }) = &before.stopped {
            progress.finish();
            return Err(VerbError::Broken(format!(
                "{at}: {why}; stopped because of --strict; nothing was stored"
            )));
        }
        Ok(Store::open_or_create(place, before.first_epoch(self.options()))?)
    }

    /// Prints the summary, unless outcomes are printed. The summary precedes the message of a
    /// failure.
    fn print(
        &self,
        summary: &IngestSummary,
        common: &CommonArgs,
        output: &mut Output,
    ) -> Result<(), VerbError> {
        if common.json {
            output.object(&OutcomeLine::Summary(summary.answer()))?;
        } else if !self.outcomes {
            summary.lines(self.strict).iter().try_for_each(|line| output.line(line))?;
        }
        Ok(output.finish()?)
    }

    /// Returns the next item of the input, if the clock and the epochs admit it, or else a broken
    /// record.
    fn next(
        &self,
        feed: &mut InputFeed<'_>,
        admission: &mut EpochAdmission,
        patience: Duration,
    ) -> Result<PipelineNext<InputItem>, VerbError> {
        Ok(match feed.next(patience)? {
            PipelineNext::Result(fed) => {
                let fed = admission.clock.check(fed);
                PipelineNext::Result(match admission.admit(fed)? {
                    InputItem::Question(InputQuery { at, .. }) if !self.outcomes => {
                        let why = "a question, which is answered only with --outcomes".to_owned();
                        InputItem::Broken(BrokenRecord { at, why })
                    }
                    fed => fed,
                })
            }
            other => other,
        })
    }

    /// Takes the items before the first record. No store is created before there is a record.
    fn before_records(
        &self,
        feed: &mut InputFeed<'_>,
        admission: &mut EpochAdmission,
        progress: &mut IngestProgress,
        mut outcomes: Option<&mut OutcomePrinter<'_>>,
    ) -> Result<IngestPreamble, VerbError> {
        let mut before = IngestPreamble::default();
        loop {
            let fed = match self.next(feed, admission, PATIENCE)? {
                PipelineNext::Result(fed) => fed,
                PipelineNext::Idle => continue,
                PipelineNext::End => return Ok(before),
            };
            match fed {
                first @ (InputItem::Entry(_) | InputItem::Question(_)) => {
                    before.first = Some(first);
                    return Ok(before);
                }
                // Bounded by the number of epochs that the input may begin.
                InputItem::Epoch(name, _)
                    if before.epochs.iter().any(|(known, _)| *known == name) => {}
                InputItem::Epoch(name, terms) => before.epochs.push((name, terms)),
                InputItem::Passed(kind) => {
                    before.summary.passed(kind);
                    if let Some(outcomes) = &mut outcomes {
                        outcomes.passed(kind);
                        outcomes.write_and_flush()?;
                    }
                }
                InputItem::Export(line) => return Err(exported(&line)),
                InputItem::Refused(source) => return Err(refused(&source)),
                InputItem::Broken(broken) => {
                    before.summary.broken += 1;
                    if let Some(outcomes) = &mut outcomes {
                        outcomes.broken(broken.clone());
                        outcomes.write_and_flush()?;
                    }
                    if self.strict {
                        before.stopped = Some(broken);
                        return Ok(before);
                    }
                    progress.broken(&broken);
                }
            }
        }
    }

    /// Counts and names a broken record. Returns whether the run stops there, as `--strict`
    /// demands.
    fn stops_at(
        &self,
        broken: &BrokenRecord,
        observer: &mut BatchObserver<'_>,
        progress: &mut IngestProgress,
    ) -> Result<bool, VerbError> {
        observer.take_broken(broken)?;
        if self.strict {
            observer.flush_pending()?;
        } else {
            progress.broken(broken);
        }
        Ok(self.strict)
    }

    /// Takes the whole input. Returns the broken record at which it stopped, if any.
    fn take_all(
        &self,
        before: IngestPreamble,
        feed: &mut InputFeed<'_>,
        admission: &mut EpochAdmission,
        observer: &mut BatchObserver<'_>,
        progress: &mut IngestProgress,
    ) -> Result<Option<BrokenRecord>, VerbError> {
        observer.summary = before.summary;
        before.epochs.iter().try_for_each(|(name, terms)| observer.epoch(name, *terms))?;
        if before.stopped.is_some() {
            return Ok(before.stopped);
        }
        let mut first = before.first;
        loop {
            if let Some(signal) = signals::received_signal() {
                observer.stop()?;
                return Err(VerbError::Stopped(signal));
            }
            let next = match first.take() {
                Some(first) => PipelineNext::Result(first),
                None => self.next(feed, admission, observer.input_timeout())?,
            };
            match next {
                PipelineNext::Result(InputItem::Entry(entry)) => {
                    entry.wrong().into_iter().for_each(|wrong| progress.report_wrong_digest(wrong));
                    if let Some(broken) = observer.take(entry)?
                        && self.stops_at(&broken, observer, progress)?
                    {
                        return Ok(Some(broken));
                    }
                }
                PipelineNext::Result(InputItem::Question(question)) => {
                    observer.answer(&question)?
                }
                PipelineNext::Result(InputItem::Broken(broken)) => {
                    if self.stops_at(&broken, observer, progress)? {
                        return Ok(Some(broken));
                    }
                }
                PipelineNext::Result(InputItem::Passed(kind)) => observer.take_passed(kind)?,
                PipelineNext::Result(InputItem::Epoch(name, terms)) => {
                    observer.epoch(&name, terms)?
                }
                PipelineNext::Result(InputItem::Export(line)) => {
                    observer.flush_pending()?;
                    return Err(exported(&line));
                }
                PipelineNext::Result(InputItem::Refused(source)) => {
                    observer.flush_pending()?;
                    return Err(refused(&source));
                }
                PipelineNext::Idle => observer.flush_pending()?,
                PipelineNext::End => {
                    observer.flush_pending()?;
                    return Ok(None);
                }
            }
            progress.show(feed.bytes_read(), &observer.summary);
        }
    }
}

/// Seals what was stored before an error, and prints how many records were stored.
fn end_early(store: &Store, summary: &IngestSummary) {
    // If sealing fails, the operations stay in the journal, and the caller reports the first error.
    let _ = unsealed::seal(store);
    let stored = many(summary.observed(), "record was", "records were");
    print_message(&format!("{stored} stored before the error; run the command again to continue"));
}

/// Watches for signals. On a signal, it makes all acknowledged records durable, and the verb stops.
fn watch(feed: &InputFeed<'_>, store: &Store) -> std::io::Result<signals::SignalWatch> {
    let (wake, store) = (feed.waker(), store.clone());
    signals::SignalWatch::new(move || {
        // If the flush fails, the verb reports it when it stops.
        let _ = store.flush();
        wake();
    })
}

/// The failure for an export. `ingest` does not read exports, since their store has other epochs.
fn exported(line: &export::ExportLine) -> VerbError {
    VerbError::Broken(format!(
        "{}: an export of a whole store; read it with `simkeep load`",
        line.at
    ))
}

/// The failure for a source that cannot be ingested.
fn refused(BrokenRecord { at, why }: &BrokenRecord) -> VerbError {
    VerbError::Broken(format!("{at}: {why}"))
}

/// Refuses a store or a published directory as input, since neither is a folder of documents.
fn refuse_store(path: &OsString, store: &Path) -> Result<(), VerbError> {
    if path == "-" || !is_read(Path::new(path)) {
        return Ok(());
    }
    let what = match is_published(Path::new(path)) {
        Ok(true) => "a published store",
        _ => "a store",
    };
    let (path, store) = (quoted(path), quoted(store.as_os_str()));
    Err(VerbError::Usage(format!(
        "{path} is {what}, not a folder of documents; load it with: simkeep load {path} --store {store}"
    )))
}

/// Checks that an input can be read. A missing file is a mistake of the user, not a broken record.
pub(crate) fn check(path: &OsString) -> Result<(), VerbError> {
    if path == "-" {
        return Ok(());
    }
    let path = Path::new(path);
    let readable = path.metadata().and_then(|metadata| {
        // Opening a pipe would consume its data.
        if metadata.is_file() { std::fs::File::open(path).map(drop) } else { Ok(()) }
    });
    readable.map_err(|e| VerbError::Other(format!("cannot read {}: {e}", path.display())))
}
