//! Arguments that `due` and `recrawl` share: the policy that decides when pages are visited again.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use simkeep::due::{Due, Hints, Plan, Rules};
use simkeep::recrawl::{Interval, Policy};
use simkeep::{Snapshot, Time};
use simkeep_formats::hints::Hint;
use simkeep_formats::{BrokenRecord, ZstdWindow, hints, rules};

use crate::exit::{Exit, VerbError, print_message};
use crate::input::complaints::ComplaintLog;
use crate::output::words::abbreviated_names;
use crate::time;

/// The options that decide when pages are visited again.
#[derive(Args)]
pub(crate) struct PolicyArgs {
    /// Visits a day, from which intervals and dates follow [default: the mean of the last 28 days]
    #[arg(long, value_name = "VISITS", value_parser = parse_visits)]
    per_day: Option<f64>,
    /// How pages are ranked
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(crate) policy: Policy,
    /// JSON lines with limits for prefixes
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// When pages changed: a sitemap, a feed, or JSON lines with "url" and "modified"; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    hints: Vec<PathBuf>,
    /// Visit each page at least this often
    #[arg(long, value_name = "DURATION", default_value = "365d", value_parser = time::interval)]
    max_interval: Interval,
    /// Time to use instead of the clock of this machine
    #[arg(long, value_name = "TIME", value_parser = time::parse, allow_hyphen_values = true)]
    now: Option<Time>,
}

/// Parses a number of visits a day.
pub(crate) fn parse_visits(text: &str) -> Result<f64, &'static str> {
    let visits = text.parse().ok().filter(|visits| (1e-6..=1e12).contains(visits));
    visits.ok_or("write a number from 0.000001 to 1000000000000")
}

/// A query for due pages, with its parameters.
pub(crate) struct ScheduleQuery {
    pub(crate) due: Due,
    pub(crate) now: Time,
    pub(crate) rules: Rules,
    /// The interval after which a page comes first.
    pub(crate) largest: Interval,
    /// The files of hints from which no hint could be read.
    pub(crate) unread: Vec<String>,
}

/// Ends a verb whose answer used only the hints that could be read.
///
/// # Errors
///
/// [`VerbError::Broken`] if no hint could be read from one of the files.
pub(crate) fn ended(exit: Exit, unread: &[String]) -> Result<Exit, VerbError> {
    if unread.is_empty() {
        return Ok(exit);
    }
    let names = abbreviated_names(unread.iter().map(String::as_str));
    Err(VerbError::Broken(format!(
        "the hints in {names} could not be read; the answer does not use them"
    )))
}

impl PolicyArgs {
    /// The query, with a budget of 0 pages. Reads the rules and hints.
    pub(crate) fn question(&self, snapshot: &Snapshot) -> Result<ScheduleQuery, VerbError> {
        let now = self.now.unwrap_or_else(Time::now);
        let largest = self.max_interval;
        let mut due = Due::new(now, 0).policy(self.policy).largest_interval(largest);
        let rules = match &self.rules {
            Some(file) => read_rules(file)?,
            None => Rules::default(),
        };
        due = due.rules(&rules);
        let mut unread = Vec::new();
        if !self.hints.is_empty() {
            due = due.hints(&read_hints(&self.hints, snapshot, &mut unread)?);
        }
        Ok(ScheduleQuery { due, now, rules, largest, unread })
    }

    /// The plan that gives pages their dates; `None` if there are no pages.
    pub(crate) fn plan(&self, snapshot: &Snapshot, due: &Due) -> Result<Option<Plan>, VerbError> {
        let per_day = match self.per_day {
            Some(visits) => visits,
            None => due.pace(snapshot)?,
        };
        let has_pace = per_day > 0.0;
        Ok(has_pace.then(|| Plan::of(snapshot, due, per_day)).transpose()?)
    }

    /// Whether the user set the number of visits a day.
    pub(crate) fn has_visits(&self) -> bool {
        self.per_day.is_some()
    }
}

/// Reads the rules in a file.
fn read_rules(file: &Path) -> Result<Rules, VerbError> {
    check_readable(file)?;
    let broken = |BrokenRecord { at, why }| VerbError::Broken(format!("{at}: {why}"));
    rules::open(file, ZstdWindow::default()).map_err(broken)
}

/// Reads the hints in some files. Names and skips broken hints. Adds to `unread` the files that
/// have broken hints and no valid one.
fn read_hints(
    files: &[PathBuf],
    snapshot: &Snapshot,
    unread: &mut Vec<String>,
) -> Result<Hints, VerbError> {
    files.iter().try_for_each(|file| check_readable(file))?;
    let mut read =
        HintFiles { files: files.iter(), open: None, named: ComplaintLog::broken(), unread };
    let hints = Hints::of(snapshot, &mut read)?;
    read.named.suppressed_message().iter().for_each(|message| print_message(message));
    Ok(hints)
}

/// Checks that a file can be opened. A file that cannot be opened is not a broken record.
fn check_readable(file: &Path) -> Result<(), VerbError> {
    if file == Path::new("-") {
        return Ok(());
    }
    let cannot = |e| VerbError::Other(format!("cannot read {}: {e}", file.display()));
    File::open(file).map(drop).map_err(cannot)
}

/// Reads the hints of several files in sequence.
struct HintFiles<'a> {
    files: std::slice::Iter<'a, PathBuf>,
    open: Option<OpenHintFile>,
    named: ComplaintLog,
    unread: &'a mut Vec<String>,
}

/// A file of hints that is being read.
struct OpenHintFile {
    name: String,
    hints: hints::HintReader,
    has_hint: bool,
    is_broken: bool,
}

impl HintFiles<'_> {
    fn name(&mut self, broken: &BrokenRecord) {
        self.named.add(broken).iter().for_each(|message| print_message(message));
    }
}

impl Iterator for HintFiles<'_> {
    type Item = (String, simkeep::Time);

    fn next(&mut self) -> Option<(String, simkeep::Time)> {
        loop {
            let Some(open) = &mut self.open else {
                let file = self.files.next()?;
                let name = file.display().to_string();
                match hints::open(file, ZstdWindow::default()) {
                    Ok(hints) => {
                        let (has_hint, is_broken) = (false, false);
                        self.open = Some(OpenHintFile { name, hints, has_hint, is_broken });
                    }
                    Err(broken) => {
                        self.name(&broken);
                        self.unread.push(name);
                    }
                }
                continue;
            };
            match open.hints.next() {
                Some(Ok(Hint { url, modified })) => {
                    open.has_hint = true;
                    return Some((url, Time::from_ms_unchecked(modified)));
                }
                Some(Err(broken)) => {
                    open.is_broken = true;
                    self.name(&broken);
                }
                None => {
                    let open = self.open.take();
                    let unread = open.filter(|open| open.is_broken && !open.has_hint);
                    self.unread.extend(unread.map(|open| open.name));
                }
            }
        }
    }
}
