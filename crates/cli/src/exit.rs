//! How the program ends: exit codes, and the message on standard error.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Command;
use simkeep::Error;
use simkeep::fingerprint::FingerprintError;
use simkeep::recrawl::RecrawlError;

use simkeep_formats::escape::{self, whole};

use crate::output::json::{self, Beside, Message, Note, Saw};
use crate::{advice, signals, suggestion};

/// The exit codes, for the help of the program.
macro_rules! help {
    () => {
        "Exit codes:
  0  done
  1  nothing found
  2  wrong command line
  3  a broken record
  4  the store or a table is damaged, or repair lost something
  5  another failure: no store, locked by a writer, disk errors
  129, 130, 143
     ingest was stopped by SIGHUP, SIGINT or SIGTERM; the store keeps what was stored"
    };
}
pub(crate) use help;

pub(crate) const HELP: &str = help!();

/// How a verb ends that did its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exit {
    /// With an answer.
    Done = 0,
    /// There was nothing to be found.
    Nothing = 1,
    /// The store is damaged, and it was said where.
    Damaged = 4,
}

/// Why a verb could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments make no sense for this store.
    Usage(String),
    /// A record is broken, and that was not to be.
    Broken(String),
    /// The store refused.
    Store(Error),
    /// The result could not be written.
    Output(io::Error),
    /// A signal asked it to end.
    Stopped(i32),
    /// Something else, in words.
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Store(error)
    }
}

impl From<FingerprintError> for Failure {
    fn from(error: FingerprintError) -> Self {
        Failure::Store(error.into())
    }
}

impl From<RecrawlError> for Failure {
    fn from(error: RecrawlError) -> Self {
        Failure::Store(error.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Broken(_) => 3,
            Failure::Store(error) => code_of(error),
            // As a shell reports a program that a signal has ended.
            Failure::Stopped(signal) => u8::try_from(128 + signal).unwrap_or(5),
            Failure::Output(_) | Failure::Other(_) => 5,
        }
    }

    /// What kind of failure it is, for programs.
    fn kind(&self) -> &'static str {
        match self {
            Failure::Usage(_) => "usage",
            Failure::Broken(_) => "broken-record",
            Failure::Store(error) => kind_of(error),
            Failure::Output(_) => "output",
            Failure::Stopped(_) => "stopped",
            Failure::Other(_) => "other",
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Failure::Usage(why) | Failure::Broken(why) | Failure::Other(why) => why.clone(),
            Failure::Store(error) => advice::message(error),
            Failure::Output(error) => format!("cannot write the result: {error}"),
            Failure::Stopped(signal) => format!("stopped by {}", signals::name(*signal)),
        }
    }
}

fn code_of(error: &Error) -> u8 {
    match error {
        Error::Url(_) | Error::Prefix(_) | Error::Time(_) | Error::InTheFuture { .. } => 2,
        Error::Corrupt(_) | Error::AmbiguousRepair { .. } => 4,
        // Not what a system says of a disk that fails: a file of the store is not what it must be.
        Error::Io { source, .. }
            if matches!(
                source.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
            ) =>
        {
            4
        }
        Error::Poisoned(cause) | Error::LoadRejected { cause, .. } => code_of(cause),
        _ => 5,
    }
}

/// The kind of an error, as programs read it.
fn kind_of(error: &Error) -> &'static str {
    match error {
        Error::Poisoned(cause) | Error::LoadRejected { cause, .. } => kind_of(cause),
        error if code_of(error) == 4 => "damaged",
        error if code_of(error) == 2 => "usage",
        Error::Io { .. } => "io",
        Error::NotAStore { .. } | Error::Unfinished { .. } => "not-a-store",
        Error::NotATable { .. } | Error::NoTable { .. } => "no-table",
        Error::AlreadyExists { .. } | Error::StoreExists { .. } => "already-exists",
        Error::Version { .. } | Error::UrlHash { .. } => "version",
        Error::Locked { .. } => "locked",
        Error::UnknownEpoch(_) | Error::EndedEpoch(_) | Error::EpochInUse { .. } => "epoch",
        Error::Limit { .. } => "limit",
        Error::Bug(_) => "bug",
        _ => "other",
    }
}

/// The file that an error is about, and where in it, if it says so.
fn place_of(error: &Error) -> (Option<&str>, Option<u64>) {
    match error {
        Error::Corrupt(flaw) => (Some(&flaw.file), Some(flaw.offset)),
        Error::Io { file, .. }
        | Error::NotATable { file, .. }
        | Error::AlreadyExists { file, .. }
        | Error::Version { file, .. }
        | Error::UrlHash { file, .. }
        | Error::Replaced { file }
        | Error::NoTable { file, .. } => (Some(file), None),
        Error::NotAStore { location, .. }
        | Error::Unfinished { location }
        | Error::StoreExists { location }
        | Error::Locked { location, .. } => (Some(location), None),
        Error::Catalog(_) => (Some("catalog.redb"), None),
        Error::Poisoned(cause) | Error::LoadRejected { cause, .. } => place_of(cause),
        _ => (None, None),
    }
}

/// Whether programs read what is said.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Says everything as JSON from now on, if the command line asks for it. That is known before it is
/// parsed, since it may be wrong.
pub(crate) fn say_as_asked<'w>(words: impl IntoIterator<Item = &'w OsString>) {
    let is_asked = words.into_iter().take_while(|word| *word != "--").any(|word| word == "--json");
    AS_JSON.store(is_asked, Ordering::Relaxed);
}

/// A message to the user, whatever it may quote.
pub(crate) fn say(message: &str) {
    say_or(message, || Message::Note(Note { message }));
}

/// That a writer is at work, and what is seen of the store.
pub(crate) fn say_beside(message: &str, saw: Saw) {
    say_or(message, || Message::Beside(Beside { message, saw }));
}

/// A message to people, or an object to programs.
fn say_or<'m>(message: &str, object: impl FnOnce() -> Message<'m>) {
    // Where standard error is closed, nobody is left to tell.
    let mut stderr = io::stderr().lock();
    let _ = if AS_JSON.load(Ordering::Relaxed) {
        let line = serde_json::to_string(&object()).unwrap_or_default();
        writeln!(stderr, "{}", escape::json(&line))
    } else {
        writeln!(stderr, "simkeep: {}", whole(message))
    };
}

/// Says why a verb failed.
fn say_why(failure: &Failure) {
    let message = &failure.message();
    let (file, offset) = match failure {
        Failure::Store(error) => place_of(error),
        _ => (None, None),
    };
    let (exit_code, kind) = (failure.code(), failure.kind());
    say_or(message, || Message::Error(json::Error { exit_code, kind, file, offset, message }));
}

/// The exit code of a verb; says why if it failed. A reader that has seen enough is no failure.
pub(crate) fn code(done: Result<Exit, Failure>) -> u8 {
    match done {
        Ok(exit) => exit as u8,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Exit::Done as u8
        }
        Err(failure) => {
            say_why(&failure);
            failure.code()
        }
    }
}

/// Prints help as it is, and a wrong command line with what to type instead. Quoted text is escaped.
pub(crate) fn usage(command: &Command, words: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        return code(error.print().map(|()| Exit::Done).map_err(Failure::Output));
    }
    let message = error.render().to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let message = message.trim_end().trim_end_matches("For more information, try '--help'.");
    let hint = suggestion::hint(command, words, error).map(|hint| whole(&hint));
    if AS_JSON.load(Ordering::Relaxed) {
        let lines = message.lines().chain(hint.as_deref()).map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        return code(Err(Failure::Usage(lines.join("; "))));
    }
    // A tip of clap's would say less, or lead astray.
    let is_tip = |line: &&str| line.trim_start().starts_with("tip:") && hint.is_some();
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "simkeep: ");
    let mut was_empty = false;
    for line in message.trim_end().lines().filter(|line| !is_tip(line)) {
        if !(line.is_empty() && was_empty) {
            let _ = writeln!(stderr, "{}", whole(line));
        }
        was_empty = line.is_empty();
    }
    let hint = hint.unwrap_or_else(|| "Try: simkeep help".to_owned());
    let _ = writeln!(stderr, "\n{hint}");
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisoned_store_exits_with_the_code_of_its_cause() {
        let damage =
            simkeep::Corruption { file: "catalog.redb".into(), offset: 0, what: "x".into() };
        let poisoned = Error::Poisoned(std::sync::Arc::new(Error::Corrupt(damage)));
        assert_eq!(Failure::Store(poisoned).code(), 4);
        assert_eq!(Failure::Store(Error::Closed).code(), 5);
    }
}
