//! Exit codes of the program, and messages on standard error.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Command;
use simkeep::Error;
use simkeep::fingerprint::FingerprintError;
use simkeep::recrawl::RecrawlError;

use simkeep_formats::escape::{self, escape_untruncated};

use crate::output::json::{self, AnswerNote, StderrMessage, StoreState, WriterNotice};
use crate::{advice, signals, suggestion};

/// The table of exit codes in the help of the program.
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

/// The result of a verb that completed its work. The number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exit {
    /// The verb found an answer.
    Done = 0,
    /// The verb found nothing.
    Nothing = 1,
    /// The store is damaged, and the verb printed where.
    Damaged = 4,
}

/// The reason why a verb did not complete its work.
#[derive(Debug)]
pub(crate) enum VerbError {
    /// The arguments are not valid, or not valid for this store.
    Usage(String),
    /// A record is broken, and the options do not allow broken records.
    Broken(String),
    /// The library returned an error.
    Store(Error),
    /// The result cannot be written.
    Output(io::Error),
    /// The signal with this number asked the verb to stop.
    Stopped(i32),
    /// Any other failure, with its message.
    Other(String),
}

impl From<Error> for VerbError {
    fn from(error: Error) -> Self {
        VerbError::Store(error)
    }
}

impl From<FingerprintError> for VerbError {
    fn from(error: FingerprintError) -> Self {
        VerbError::Store(error.into())
    }
}

impl From<RecrawlError> for VerbError {
    fn from(error: RecrawlError) -> Self {
        VerbError::Store(error.into())
    }
}

impl From<io::Error> for VerbError {
    fn from(error: io::Error) -> Self {
        VerbError::Output(error)
    }
}

impl VerbError {
    fn code(&self) -> u8 {
        match self {
            VerbError::Usage(_) => 2,
            VerbError::Broken(_) => 3,
            VerbError::Store(error) => code_of(error),
            // 128 + signal, as a shell reports a program that a signal ended.
            VerbError::Stopped(signal) => u8::try_from(128 + signal).unwrap_or(5),
            VerbError::Output(_) | VerbError::Other(_) => 5,
        }
    }

    /// The kind of the failure, as JSON output names it.
    fn kind(&self) -> &'static str {
        match self {
            VerbError::Usage(_) => "usage",
            VerbError::Broken(_) => "broken-record",
            VerbError::Store(error) => kind_of(error),
            VerbError::Output(_) => "output",
            VerbError::Stopped(_) => "stopped",
            VerbError::Other(_) => "other",
        }
    }

    pub(crate) fn message(&self) -> String {
        match self {
            VerbError::Usage(why) | VerbError::Broken(why) | VerbError::Other(why) => why.clone(),
            VerbError::Store(error) => advice::message(error),
            VerbError::Output(error) => format!("cannot write the result: {error}"),
            VerbError::Stopped(signal) => format!("stopped by {}", signals::name(*signal)),
        }
    }
}

fn code_of(error: &Error) -> u8 {
    match error {
        Error::Url(_) | Error::Prefix(_) | Error::Time(_) | Error::InTheFuture { .. } => 2,
        Error::Corrupt(_) | Error::AmbiguousRepair { .. } => 4,
        // These kinds do not mean a failing disk: the contents of a file in the store are wrong.
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

/// The kind of an error, as JSON output names it.
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

/// The file or directory that an error is about, and the byte offset in it, if known.
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

/// Whether messages are printed as JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Prints all messages as JSON from now on if the command line contains `--json`. Scans the raw
/// words, because the command line may be invalid and messages about that must be JSON, too.
pub(crate) fn detect_json_flag<'w>(words: impl IntoIterator<Item = &'w OsString>) {
    let is_asked = words.into_iter().take_while(|word| *word != "--").any(|word| word == "--json");
    AS_JSON.store(is_asked, Ordering::Relaxed);
}

/// Prints a message on standard error. Control characters in it are escaped.
pub(crate) fn print_message(message: &str) {
    print_text_or_json(message, || StderrMessage::Note(AnswerNote { message }));
}

/// Prints a note that a writer is active, with the state of the store that the reader sees.
pub(crate) fn print_writer_notice(message: &str, saw: StoreState) {
    print_text_or_json(message, || StderrMessage::Beside(WriterNotice { message, saw }));
}

/// Prints a message as text, or the object as JSON if the user asked for JSON.
fn print_text_or_json<'m>(message: &str, object: impl FnOnce() -> StderrMessage<'m>) {
    // If standard error is closed, nobody can read the message.
    let mut stderr = io::stderr().lock();
    let _ = if AS_JSON.load(Ordering::Relaxed) {
        let line = serde_json::to_string(&object()).unwrap_or_default();
        writeln!(stderr, "{}", escape::json(&line))
    } else {
        writeln!(stderr, "simkeep: {}", escape_untruncated(message))
    };
}

/// Prints the message of a failure.
fn print_failure(failure: &VerbError) {
    let message = &failure.message();
    let (file, offset) = match failure {
        VerbError::Store(error) => place_of(error),
        _ => (None, None),
    };
    let (exit_code, kind) = (failure.code(), failure.kind());
    print_text_or_json(message, || {
        StderrMessage::Error(json::ErrorMessage { exit_code, kind, file, offset, message })
    });
}

/// Returns the exit code of a verb, and prints the message of a failure. A closed pipe is not a
/// failure: its reader has read enough.
pub(crate) fn code(done: Result<Exit, VerbError>) -> u8 {
    match done {
        Ok(exit) => exit as u8,
        Err(VerbError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Exit::Done as u8
        }
        Err(failure) => {
            print_failure(&failure);
            failure.code()
        }
    }
}

/// Prints requested help as it is. For an invalid command line, prints the error and what to type
/// instead, with quoted text escaped. Returns the exit code.
pub(crate) fn usage(command: &Command, words: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        return code(error.print().map(|()| Exit::Done).map_err(VerbError::Output));
    }
    let message = in_plain_words(&error.render().to_string());
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let message = message.trim_end().trim_end_matches("For more information, try '--help'.");
    let hint = suggestion::hint(command, words, error);
    let hint = hint.map(|hint| hint.lines().map(escape_untruncated).collect::<Vec<_>>().join("\n"));
    if AS_JSON.load(Ordering::Relaxed) {
        let lines = message.lines().chain(hint.iter().flat_map(|hint| hint.lines())).map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        return code(Err(VerbError::Usage(lines.join("; "))));
    }
    // A tip of clap would be less specific or wrong.
    let has_hint = hint.is_some();
    let is_tip = |line: &&str| line.trim_start().starts_with("tip:") && has_hint;
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "simkeep: ");
    let (mut was_empty, mut hint) = (false, hint);
    for line in message.trim_end().lines().filter(|line| !is_tip(line)) {
        // The hint is more specific than the usage, so it comes first.
        if line.starts_with("Usage:")
            && let Some(hint) = hint.take()
        {
            let _ = writeln!(stderr, "{hint}\n");
        }
        if !(line.is_empty() && was_empty) {
            let _ = writeln!(stderr, "{}", escape_untruncated(line));
        }
        was_empty = line.is_empty();
    }
    if let Some(hint) = hint {
        let _ = writeln!(stderr, "\n{hint}");
    }
    2
}

/// Replaces the messages of the parsers of numbers by plain words.
fn in_plain_words(message: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("invalid digit found in string", "write a whole number"),
        ("cannot parse integer from empty string", "write a whole number"),
        ("cannot parse float from empty string", "write a number"),
        ("invalid float literal", "write a number"),
        ("number would be zero for non-zero type", "write a number, at least 1"),
        ("number too large to fit in target type", "the number is too large"),
    ];
    let replace = |message: String, (parser, plain): &(&str, &str)| message.replace(parser, plain);
    WORDS.iter().fold(message.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisoned_store_exits_with_the_code_of_its_cause() {
        let damage =
            simkeep::Corruption { file: "catalog.redb".into(), offset: 0, what: "x".into() };
        let poisoned = Error::Poisoned(std::sync::Arc::new(Error::Corrupt(damage)));
        assert_eq!(VerbError::Store(poisoned).code(), 4);
        assert_eq!(VerbError::Store(Error::Closed).code(), 5);
    }
}
