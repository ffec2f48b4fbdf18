//! Arguments that all verbs share: the store, and the format of the output.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use simkeep::publish::is_published;
use simkeep::{Error, LockHolder, Options, Reader, Store};
use simkeep_formats::escape::escape_untruncated;

use crate::exit::{VerbError, print_message, print_writer_notice};
use crate::output::json::StoreState;
use crate::output::words;
use crate::time::TimeFormat;

/// The environment variable that names the store if no argument does.
const VARIABLE: &str = "SIMKEEP_STORE";
/// The file that every store contains.
const CATALOG: &str = "catalog.redb";

/// The arguments of every verb.
#[derive(Args)]
pub(crate) struct CommonArgs {
    /// The store, a directory [default: SIMKEEP_STORE, or the first argument]
    #[arg(short, long, value_name = "STORE", global = true, help_heading = "Common options")]
    store: Option<PathBuf>,
    /// Print JSON, one object per line
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
    /// Print the rows of tables only, without header and summary lines
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) no_header: bool,
    /// Show times in the zone of this machine instead of UTC
    #[arg(long, global = true, help_heading = "Common options")]
    local: bool,
}

impl CommonArgs {
    /// The store that the arguments or the environment name; a usage error if neither does.
    pub(crate) fn store(&self) -> Result<PathBuf, VerbError> {
        self.store_path().ok_or_else(|| VerbError::Usage(unnamed(Path::new("."))))
    }

    /// The store that the arguments or the environment name, if any.
    pub(crate) fn store_path(&self) -> Option<PathBuf> {
        self.store.clone().or_else(of_environment)
    }

    /// Whether tables have a header line. With --json there are no tables.
    pub(crate) fn has_header(&self) -> bool {
        !self.no_header && !self.json
    }

    /// The clock that formats times for tables.
    pub(crate) fn clock(&self) -> TimeFormat {
        TimeFormat::new(self.local)
    }

    /// Opens the store for reading.
    pub(crate) fn read(&self) -> Result<Reader, VerbError> {
        read(&self.store()?)
    }

    /// Returns an error if a store is named. For verbs that use no store.
    pub(crate) fn without_store(&self) -> Result<(), VerbError> {
        match &self.store {
            None => Ok(()),
            Some(_) => {
                Err(VerbError::Usage("this verb uses no store: leave --store out".to_owned()))
            }
        }
    }
}

/// The store that `SIMKEEP_STORE` names. An empty value counts as unset.
pub(crate) fn of_environment() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Opens a store, or the newest generation of a published store, for reading. Writes nothing to its
/// directory. Prints a note if a writer is active, which says whether all stored operations are
/// visible. Also prints a note if a newer generation is incomplete.
pub(crate) fn read(store: &Path) -> Result<Reader, VerbError> {
    let reader = Reader::open(store)?;
    if reader.generation().is_some() {
        print_generation_notice(&reader);
    } else if let Some(written) = reader.written() {
        let sealed = reader.fell_back().then(|| (written, reader.behind()));
        print_writer_notice(&words::writer_note(sealed), StoreState::of(&reader));
    }
    Ok(reader)
}

/// Opens a store for writing. If another process still has the store locked after half a second,
/// prints a note about this process, and waits for the rest of the time.
pub(crate) fn write(store: &Path, options: Options) -> simkeep::Result<Store> {
    const SILENT: Duration = Duration::from_millis(500);
    let wait = options.lock_wait;
    match Store::open(store, options.clone().lock_wait(wait.min(SILENT))) {
        Err(Error::Locked { location, holder })
            if wait > SILENT && holder != LockHolder::ThisProcess =>
        {
            print_message(&words::waiting_note(holder, &location, wait));
            Store::open(store, options.lock_wait(wait.saturating_sub(SILENT)))
        }
        opened => opened,
    }
}

/// Prints a note if a generation newer than the current one is incomplete.
pub(crate) fn print_generation_notice(reader: &Reader) {
    if let Some((newer, number)) = reader.incomplete().zip(reader.generation()) {
        print_message(&words::incomplete(newer, number));
    }
}

/// Returns the command line to type instead if the first argument, at index `at`, is not a store.
pub(crate) fn without_store(words: &[OsString], at: usize) -> String {
    let mut line = line_of(words);
    let at = at.min(line.len());
    line.insert(at, quoted(store_name().as_ref()));
    if line.get(at - 1).is_some_and(|verb| verb == "inspect") {
        line.insert(at, "page".to_owned());
    }
    format!("no store is named: write {}", line.join(" "))
}

/// A command line as a shell takes it.
pub(crate) fn as_typed(words: &[OsString]) -> String {
    line_of(words).join(" ")
}

/// The words of a command line, each as a shell takes it.
fn line_of(words: &[OsString]) -> Vec<String> {
    let mut line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    if let Some(program) = line.first_mut() {
        *program = "simkeep".to_owned();
    }
    line
}

/// The name of the only store in the current directory, or the placeholder `STORE`.
pub(crate) fn store_name() -> String {
    let mut stores = stores_in(Path::new(".")).into_iter();
    match (stores.next(), stores.next()) {
        (Some(only), None) => only.to_string_lossy().into_owned(),
        _ => "STORE".to_owned(),
    }
}

/// The message for a command line without a store. Proposes the only store in `place`, if there is
/// one.
fn unnamed(place: &Path) -> String {
    let mut stores = stores_in(place).into_iter();
    let example = match (stores.next(), stores.next()) {
        (Some(only), None) => format!("; the current directory has one: {}", option(&only)),
        _ => String::new(),
    };
    format!(
        "no store is named: give its directory as the first argument or with --store, or set \
         {VARIABLE}{example}"
    )
}

/// The `--store` option with this store, quoted for a shell.
fn option(store: &OsStr) -> String {
    format!("--store {}", quoted(store))
}

/// A path, quoted for a shell if necessary.
pub(crate) fn quoted(path: &OsStr) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=:@%".contains(c);
    if path.chars().all(is_plain) {
        path.into_owned()
    } else {
        format!("'{}'", escape_untruncated(&path.replace('\'', "'\\''")))
    }
}

/// The names of at most two stores in a directory.
fn stores_in(place: &Path) -> Vec<OsString> {
    /// The maximum number of entries to examine, since a directory may have millions of files.
    const LOOKED_AT: usize = 1000;
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let names = entries.take(LOOKED_AT).filter_map(Result::ok);
    let stores = names.filter(|entry| is_store(&entry.path()));
    stores.take(2).map(|entry| entry.file_name()).collect()
}

pub(crate) fn is_store(path: &Path) -> bool {
    path.join(CATALOG).is_file()
}

/// Whether reading verbs accept a path as a store: a store, or the directory of a published store.
pub(crate) fn is_read(path: &Path) -> bool {
    is_store(path) || is_published(path).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_argument_is_shell_quoted() {
        assert_eq!(option("a/b-1.simkeep".as_ref()), "--store a/b-1.simkeep");
        assert_eq!(option("it's mine".as_ref()), "--store 'it'\\''s mine'");
        assert_eq!(option("a\u{1b}b".as_ref()), "--store 'a\\u{1b}b'");
    }

    #[test]
    fn the_only_store_of_a_directory_is_suggested() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            std::fs::create_dir(place.path().join(name)).unwrap();
            std::fs::write(place.path().join(name).join(CATALOG), "").unwrap();
        };
        std::fs::create_dir(place.path().join("other")).unwrap();
        assert!(unnamed(place.path()).ends_with("set SIMKEEP_STORE"));
        make("one");
        assert!(unnamed(place.path()).ends_with("; the current directory has one: --store one"));
        make("two");
        assert!(unnamed(place.path()).ends_with("set SIMKEEP_STORE"));
        assert!(unnamed(&place.path().join("none")).ends_with("set SIMKEEP_STORE"));
    }
}
