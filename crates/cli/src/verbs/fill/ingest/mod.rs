//! `ingest`: everything that was crawled, into the store.
//!
//! All threads read and make fingerprints ([`feed`](crate::input::feed)); one of them observes in
//! batches ([`observer`]) what is ready. The order of the records is kept: a run that was interrupted
//! and is begun again ends with the same store.

mod histories;
mod observer;
mod originals;
mod outcomes;
mod pending;
mod present;
mod progress;
mod question;
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
use crate::exit::{Exit, Failure, say};
use crate::input::clock::{ClockCheck, ClockOptions};
use crate::input::epochs::{Admission, FromInput, existing};
use crate::input::feed::{Fed, Feed};
use crate::input::keys::{self, Foreign};
use crate::input::pipeline::{Next, PATIENCE};
use crate::input::reading::{Reading, Schemes};
use crate::output::Output;
use crate::output::words::many;
use crate::{Common, signals};
use observer::Observer;
pub(crate) use outcomes::Line;
use outcomes::Outcomes;
use progress::Progress;
use simkeep_formats::{Broken, Question, Source, export};
use start::{Before, InitialCounts};
use summary::Summary;
use sync::Sync;

/// Read files, folders, JSON lines and web archives into a store
///
/// Makes the store if there is none. You may interrupt it at any time and run it again: what is
/// known already changes nothing. Prints what it found: "new pages" were not in the store; a
/// "version" is content that is the first of its page, has changed, or has reverted to an earlier
/// version.
#[derive(Args)]
#[command(after_long_help = concat!("Examples:
  simkeep ingest crawl-*.warc.gz --store crawl.simkeep
  simkeep ingest ~/documents --sync --store documents.simkeep
  zstd -dc pages.jsonl.zst | simkeep ingest - --store pages.simkeep
  simkeep ingest crawl-*.warc.gz --restate --store crawl.simkeep
  zstd -dc pages.jsonl.zst | simkeep ingest - --outcomes --store pages.simkeep

What it reads, plain or packed with gzip or zstd:
  folders     each file is a page file://..., seen at the time of its last modification; if the store
              has a later version of it, as after a restore, at the time of reading. Files that are no
              text are passed over. --sync reports files that are no longer there as gone
  JSON lines  {\"url\", \"t\", \"text\"}, or {\"url\", \"t\", \"fingerprint\", \"digest\"} ready-made (16 and
              32 hexadecimal digits), or {\"url\", \"t\", \"seen\"}: \"redirect\" (with the target as \"to\"),
              \"not-modified\", \"gone\", \"failed\", or \"content\" with the \"digest\" of what is not text;
              \"t\" in seconds since 1970 or RFC 3339; \"status\" if known, \"modified\" (as \"t\"; the
              Last-Modified of archives), \"weight\" (above 0; 1 if none was ever given) and \"class\" (a
              whole number up to 4294967295); alone these are no visit, and are left out for a page
              without visits at the end of the input, or with --outcomes when they come; other keys are
              ignored
  archives    WARC, WET and ARC: responses, revisits, resources and conversions

The status of a response says what the visit found: content (2xx), a redirect (301, 302, 303, 307, 308 with
a target), not modified (304), gone (404, 410), or nothing (all else, 202, 204, 205, parts, and what was cut).
Content that is not text has no fingerprint and is compared by its digest. Answers to HEAD and POST, and
records about pages (urn:, metadata:, screenshot:), are no visits. \"failures\" and \"skipped\" count them.

The digest of a page is 128 bits of the SHA-1 of what came: a file, the \"text\" of a line, or what a
server sent, without the chunks of the transfer. What an archive declares is checked: a right SHA-1 is
kept, a wrong digest is named and counted. A revisit counts as the content that it repeats, where that is found: in its
page's history, in that of the page it refers to, or among the last contents of the same run.

Texts get fingerprints of the newest epochs of simkeep's own that verdicts and near-duplicates go by. If
that is one, and the one before has not ended, they get those of that too: see `simkeep epoch`. A store
whose fingerprints are all made elsewhere takes no texts, unless --begin-epoch is given. Those of fewer than 8 words are too short to tell from others: they get none, are near to nothing, and are
compared by their digests. With --json, \"short_texts\" counts them. A visit that is known by its time,
status and digest is not stored again: fingerprints that it has not are restated.

In a new store, or with --begin-epoch, an epoch that is named first by a record begins, with the role both
and the bands of its recipe, unless a line {\"epoch\", \"role\", \"minor\", \"moderate\"} came before.
Verdicts, searches and pairs go by it then: it is named as in use now, with --json as \"epochs_in_use\". In a
store with pages such a record is broken without --begin-epoch: the pages have no fingerprint in the epoch.
One that is there keeps what it began with.

Of changed pages it is counted how many changed by under 1 % of their words, about (minor), by 1 to 10 %
(moderate), and by more (major), where their distance is known. A distance means the same here as in
`simkeep history`: a store does not know how long a text is, and in one of fewer than 100 words a distance
means little. \"Novel\" is content that is the first of its page, or more than a minor change away from each
of its last versions.

", keys::help!(), "

With --outcomes there is a JSON line for each record, in their order, once it is durable, and as soon as the
input waits: \"url\" and \"t\"; \"stored\" (whether the store has anything by it that it had not); \"verdict\",
with \"by\", \"to\", \"distance\", \"band\" and \"words_changed\" as `history --json` has them, null of what is no
visit; \"novel\" and \"priority\"; \"copies\", \"near\" and \"original\", other pages with this content or near
it; \"complete\" (whether none is missing). A broken record gets its \"at\", \"why\" and \"is_broken\". So any
program can start simkeep, and write to it and read from it in turns. Lines {\"url\", \"ask\"} are answered in
between: \"near\", \"history\" or \"latest\". With --json the sums come last.

Broken records are named, counted and skipped. So are visits later than now and a day (--clock-tolerance),
which would be the last of their pages until then, and captures of archives from before 1990. If the last
visit in the store is later than that too, the clock is named, and no visit is refused for its time.

At its end it seals what the journal holds, if that is more than 1,000 operations or 1 MiB: damage of
a segment takes less than damage of the journal.

On SIGINT, SIGTERM or SIGHUP it makes all durable that it has said of records, seals in the same way, and ends
with 128 and the number of the signal; a second one ends it at once. What `simkeep export` wrote is loaded by `simkeep load`."))]
pub(crate) struct Ingest {
    /// Files and folders; - is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<OsString>,
    /// The epoch of ready-made fingerprints, if a record does not name one
    #[arg(long, value_name = "NAME", default_value = "external", value_parser = parse_epoch)]
    epoch: String,
    /// Record no visits: give pages that were seen before, at the same times, their fingerprints in
    /// the newest epoch
    #[arg(long)]
    restate: bool,
    /// Stop at the first broken record, with exit code 3
    #[arg(long)]
    strict: bool,
    /// Print a JSON line for each record: what became of it. Questions are answered between records
    #[arg(long)]
    outcomes: bool,
    /// When records are durable
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Group)]
    durability: When,
    /// How many observations become durable together
    #[arg(long, value_name = "COUNT", default_value = "1000")]
    batch: NonZeroUsize,
    /// Report pages of files as gone that are no longer in the folders that are read. Nothing is
    /// reported if a folder cannot be read as a whole, or if more than half of its known files are
    /// missing
    #[arg(long, conflicts_with = "restate")]
    sync: bool,
    /// With --sync, report pages as gone however many are missing
    #[arg(long, requires = "sync")]
    yes: bool,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    foreign: Foreign,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    schemes: Schemes,
    #[command(flatten)]
    from_input: FromInput,
}

/// When records are durable.
#[derive(Clone, Copy, ValueEnum)]
enum When {
    /// Before anything is said of them: those that wait together share one commit
    Group,
    /// After five minutes at the latest, and at the end: until then what was said of them may be lost
    /// if the process is killed
    End,
}

impl From<When> for Durability {
    fn from(when: When) -> Durability {
        match when {
            When::Group => Durability::Each,
            When::End => Durability::OnFlush,
        }
    }
}

pub(crate) fn parse_epoch(name: &str) -> Result<String, &'static str> {
    if name.is_empty() || name.len() > 256 || name.chars().any(char::is_control) {
        return Err("an epoch's name has 1 to 256 bytes and no control characters");
    }
    Ok(name.to_owned())
}

impl Ingest {
    pub(crate) fn run(self, common: &Common, output: &mut Output) -> Result<Exit, Failure> {
        self.paths.iter().try_for_each(check)?;
        let place = common.store()?;
        self.paths.iter().try_for_each(|path| refuse_store(path, &place))?;
        let folders = self.sync.then(|| sync::folders(&self.paths)).transpose()?;
        let store = existing(&place, self.options())?;
        let before = store.as_ref().map(Store::snapshot);
        let clock = ClockCheck::new(self.clock, before.as_ref());
        let now = clock.now();
        let makers = self.from_input.makers(before.as_ref())?;
        let mut admission = Admission::new(&self.from_input, before.as_ref(), &self.epoch, clock)?;
        drop(before);
        let sources: Vec<Source> =
            self.paths.iter().map(|path| Source::from_argument(path)).collect();
        let mut progress = Progress::new(&sources);
        let mut feed = Feed::start(
            sources,
            self.reading,
            &place,
            makers.as_deref().unwrap_or_default(),
            (self.foreign.keys(), &self.schemes),
        )?;
        let mut outcomes = self.outcomes.then(|| Outcomes::new(output));
        let before =
            self.before_records(&mut feed, &mut admission, &mut progress, outcomes.as_mut())?;
        let store = match store {
            Some(store) => store,
            None => self.create(&place, &before, &mut progress)?,
        };
        // Without it, a signal ends the process at once.
        let _watch = watch(&feed, &store).ok();
        let sync = folders.map(|folders| Sync::new(folders, store.snapshot(), self.yes));
        let initial = InitialCounts::of(&store)?;
        let ready_made = self.epoch.clone();
        let mut observer =
            Observer::new(&store, makers.clone(), ready_made, self.restate, self.batch, outcomes);
        observer.now = self.clock.now();
        let stopped = self
            .take_all(before, &mut feed, &mut admission, &mut observer, &mut progress)
            .and_then(|stopped| observer.give_late().map(|()| stopped));
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
        let Some(Broken { at, why }) = stopped else { return synced.map(|()| Exit::Done) };
        Err(Failure::Broken(format!(
            "{at}: {why}; stopped, as --strict says: what came before it is stored"
        )))
    }

    /// The options of the store.
    fn options(&self) -> Options {
        Options::default().durability(self.durability.into())
    }

    /// Makes a store where there is none. With `--strict` a broken record before the first sound one is
    /// an error, and no store is made.
    fn create(
        &self,
        place: &Path,
        before: &Before,
        progress: &mut Progress,
    ) -> Result<Store, Failure> {
        if let Some(Broken { at, why }) = &before.stopped {
            progress.finish();
            return Err(Failure::Broken(format!(
                "{at}: {why}; stopped, as --strict says: nothing was stored"
            )));
        }
        Ok(Store::open_or_create(place, before.first_epoch(self.options()))?)
    }

    /// Prints what was found, if that is asked for. It stands before the reason why it is not whole.
    fn print(
        &self,
        summary: &Summary,
        common: &Common,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if common.json {
            output.object(&Line::Summary(summary.answer()))?;
        } else if !self.outcomes {
            summary.lines(self.strict).iter().try_for_each(|line| output.line(line))?;
        }
        Ok(output.finish()?)
    }

    /// What comes next, as far as it may come.
    fn next(
        &self,
        feed: &mut Feed<'_>,
        admission: &mut Admission,
        patience: Duration,
    ) -> Result<Next<Fed>, Failure> {
        Ok(match feed.next(patience)? {
            Next::Result(fed) => {
                let fed = admission.clock.check(fed);
                Next::Result(match admission.admit(fed)? {
                    Fed::Question(Question { at, .. }) if !self.outcomes => {
                        let why = "a question; --outcomes answers those".to_owned();
                        Fed::Broken(Broken { at, why })
                    }
                    fed => fed,
                })
            }
            other => other,
        })
    }

    /// Takes what comes before the first record: until there is one, no store is made.
    fn before_records(
        &self,
        feed: &mut Feed<'_>,
        admission: &mut Admission,
        progress: &mut Progress,
        mut outcomes: Option<&mut Outcomes<'_>>,
    ) -> Result<Before, Failure> {
        let mut before = Before::default();
        loop {
            let fed = match self.next(feed, admission, PATIENCE)? {
                Next::Result(fed) => fed,
                Next::Idle => continue,
                Next::End => return Ok(before),
            };
            match fed {
                first @ (Fed::Entry(_) | Fed::Question(_)) => {
                    before.first = Some(first);
                    return Ok(before);
                }
                // As many as may begin at most.
                Fed::Epoch(name, _) if before.epochs.iter().any(|(known, _)| *known == name) => {}
                Fed::Epoch(name, terms) => before.epochs.push((name, terms)),
                Fed::Passed(kind) => {
                    before.summary.passed(kind);
                    if let Some(outcomes) = &mut outcomes {
                        outcomes.passed(kind);
                        outcomes.pay_at_once()?;
                    }
                }
                Fed::Export(line) => return Err(exported(&line)),
                Fed::Refused(source) => return Err(refused(&source)),
                Fed::Broken(broken) => {
                    before.summary.broken += 1;
                    if let Some(outcomes) = &mut outcomes {
                        outcomes.broken(broken.clone());
                        outcomes.pay_at_once()?;
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

    /// Counts and names a broken record. Returns whether it is the last one, as --strict says.
    fn stops_at(
        &self,
        broken: &Broken,
        observer: &mut Observer<'_>,
        progress: &mut Progress,
    ) -> Result<bool, Failure> {
        observer.take_broken(broken)?;
        if self.strict {
            observer.rest()?;
        } else {
            progress.broken(broken);
        }
        Ok(self.strict)
    }

    /// Takes all that is read; gives the broken record that it stopped at.
    fn take_all(
        &self,
        before: Before,
        feed: &mut Feed<'_>,
        admission: &mut Admission,
        observer: &mut Observer<'_>,
        progress: &mut Progress,
    ) -> Result<Option<Broken>, Failure> {
        observer.summary = before.summary;
        before.epochs.iter().try_for_each(|(name, terms)| observer.epoch(name, *terms))?;
        if before.stopped.is_some() {
            return Ok(before.stopped);
        }
        let mut first = before.first;
        loop {
            if let Some(signal) = signals::asked() {
                observer.stop()?;
                return Err(Failure::Stopped(signal));
            }
            let next = match first.take() {
                Some(first) => Next::Result(first),
                None => self.next(feed, admission, observer.patience())?,
            };
            match next {
                Next::Result(Fed::Entry(entry)) => {
                    entry.wrong().into_iter().for_each(|wrong| progress.wrong(wrong));
                    if let Some(broken) = observer.take(entry)?
                        && self.stops_at(&broken, observer, progress)?
                    {
                        return Ok(Some(broken));
                    }
                }
                Next::Result(Fed::Question(question)) => observer.answer(&question)?,
                Next::Result(Fed::Broken(broken)) => {
                    if self.stops_at(&broken, observer, progress)? {
                        return Ok(Some(broken));
                    }
                }
                Next::Result(Fed::Passed(kind)) => observer.take_passed(kind)?,
                Next::Result(Fed::Epoch(name, terms)) => observer.epoch(&name, terms)?,
                Next::Result(Fed::Export(line)) => {
                    observer.rest()?;
                    return Err(exported(&line));
                }
                Next::Result(Fed::Refused(source)) => {
                    observer.rest()?;
                    return Err(refused(&source));
                }
                Next::Idle => observer.rest()?,
                Next::End => {
                    observer.rest()?;
                    return Ok(None);
                }
            }
            progress.show(feed.bytes_read(), &observer.summary);
        }
    }
}

/// Seals what was stored before an error, and says how much it was.
fn end_early(store: &Store, summary: &Summary) {
    // If it fails, that is why it ended, or all stays in the journal.
    let _ = unsealed::seal(store);
    let stored = many(summary.observed(), "record was", "records were");
    say(&format!("{stored} stored before it ended; run it again to go on"));
}

/// Watches for signals: what was said of records is made durable at once, and the verb ends.
fn watch(feed: &Feed<'_>, store: &Store) -> std::io::Result<signals::Watch> {
    let (wake, store) = (feed.waker(), store.clone());
    signals::Watch::new(move || {
        // If it fails, the verb says so when it ends.
        let _ = store.flush();
        wake();
    })
}

/// Why an export is not taken: a store that is observed record by record has other epochs.
fn exported(line: &export::Line) -> Failure {
    Failure::Broken(format!("{}: an export of a whole store, which `simkeep load` reads", line.at))
}

/// Why a source is not taken.
fn refused(Broken { at, why }: &Broken) -> Failure {
    Failure::Broken(format!("{at}: {why}"))
}

/// A store is no folder of documents, and neither is a directory where one is published.
fn refuse_store(path: &OsString, store: &Path) -> Result<(), Failure> {
    if path == "-" || !is_read(Path::new(path)) {
        return Ok(());
    }
    let what = match is_published(Path::new(path)) {
        Ok(true) => "what a store has published",
        _ => "a store",
    };
    let (path, store) = (quoted(path), quoted(store.as_os_str()));
    Err(Failure::Usage(format!(
        "{path} is {what}, and no folder of documents; load it: simkeep load {path} --store {store}"
    )))
}

/// A file that was named and is not there is a mistake, not a broken record.
pub(crate) fn check(path: &OsString) -> Result<(), Failure> {
    if path == "-" {
        return Ok(());
    }
    let path = Path::new(path);
    let readable = path.metadata().and_then(|metadata| {
        // To open a pipe would take from it.
        if metadata.is_file() { std::fs::File::open(path).map(drop) } else { Ok(()) }
    });
    readable.map_err(|e| Failure::Other(format!("cannot read {}: {e}", path.display())))
}
