//! How the program ends: exit codes, and the message on standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use simkeep::Error;

use simkeep_archive::escape::whole;

use super::{advice, common};

/// The exit codes, for the help of the program.
macro_rules! help {
    () => {
        "Exit codes:
  0  done
  1  nothing found: near, pairs, history, scan, inspect, forget, recrawl, simulate
  2  the command line is wrong
  3  a broken record: with ingest --strict, load and evaluate, and in --rules
  4  the store, or a table of df, is damaged; with repair: something is lost
  5  another failure: no store there, in use by a writer, the disk"
    };
}
pub(super) use help;

pub(super) const HELP: &str = help!();

/// How a verb ends that did its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Exit {
    /// With an answer.
    Done = 0,
    /// There was nothing to be found.
    Nothing = 1,
    /// The store is damaged, and it was said where.
    Damaged = 4,
}

/// Why a verb could not do its work.
#[derive(Debug)]
pub(super) enum Failure {
    /// The arguments make no sense for this store.
    Usage(String),
    /// A record is broken, and that was not to be.
    Broken(String),
    /// The store refused.
    Store(Error),
    /// The result could not be written.
    Output(io::Error),
    /// Something else, in words.
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Store(error)
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
            Failure::Output(_) | Failure::Other(_) => 5,
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Failure::Usage(why) | Failure::Broken(why) | Failure::Other(why) => why.clone(),
            Failure::Store(error) => advice::message(error),
            Failure::Output(error) => format!("cannot write the result: {error}"),
        }
    }
}

fn code_of(error: &Error) -> u8 {
    match error {
        Error::Url(_) | Error::Prefix(_) | Error::Time(_) => 2,
        Error::Corrupt(_) | Error::Doubtful { .. } => 4,
        // Not what a system says of a disk that fails: a file of the store is not what it must be.
        Error::Io { source, .. }
            if matches!(
                source.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
            ) =>
        {
            4
        }
        Error::Poisoned(cause) | Error::Load { cause, .. } => code_of(cause),
        _ => 5,
    }
}

/// A message to the user, whatever it may quote.
pub(super) fn say(message: &str) {
    // Where standard error is closed, nobody is left to tell.
    let _ = writeln!(io::stderr().lock(), "simkeep: {}", whole(message));
}

/// The exit code of a verb; says why if it failed. A reader that has seen enough is no failure.
pub(super) fn code(done: Result<Exit, Failure>) -> ExitCode {
    match done {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            say(&failure.message());
            ExitCode::from(failure.code())
        }
    }
}

/// Prints what clap has to say: help as it is, mistakes with what they quote made harmless.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return code(error.print().map(|()| Exit::Done).map_err(Failure::Output));
    }
    let message = error.render().to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let hint = common::hint(error);
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "simkeep: ");
    for line in message.lines() {
        let _ = writeln!(stderr, "{}", whole(line));
    }
    if let Some(hint) = hint {
        let _ = writeln!(stderr, "\n{hint}");
    }
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_counts_as_what_it_failed_of() {
        let damage =
            simkeep::Corruption { file: "catalog.redb".into(), offset: 0, what: "x".into() };
        let poisoned = Error::Poisoned(std::sync::Arc::new(Error::Corrupt(damage)));
        assert_eq!(Failure::Store(poisoned).code(), 4);
        assert_eq!(Failure::Store(Error::Closed).code(), 5);
    }
}
