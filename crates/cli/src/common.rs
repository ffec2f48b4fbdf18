//! Arguments that all verbs share: which store, and how to print.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;
use simkeep::Reader;
use simkeep::publish::is_published;
use simkeep_formats::escape::whole;

use crate::exit::{Failure, say, say_beside};
use crate::output::json::Saw;
use crate::output::words;
use crate::time::Clock;

/// The variable that names the store where no argument does.
const VARIABLE: &str = "SIMKEEP_STORE";
/// What every store has.
const CATALOG: &str = "catalog.redb";

/// The arguments of every verb.
#[derive(Args)]
pub(crate) struct Common {
    /// The store, a directory [default: SIMKEEP_STORE, or the first argument]
    #[arg(short, long, value_name = "STORE", global = true, help_heading = "Common options")]
    store: Option<PathBuf>,
    /// Print JSON, one object per line
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) json: bool,
    /// Leave out the header line of tables
    #[arg(long, global = true, help_heading = "Common options")]
    no_header: bool,
    /// Show times in the zone of this machine instead of UTC
    #[arg(long, global = true, help_heading = "Common options")]
    local: bool,
}

impl Common {
    /// The store that was named.
    pub(crate) fn store(&self) -> Result<PathBuf, Failure> {
        self.named().ok_or_else(|| Failure::Usage(unnamed(Path::new("."))))
    }

    /// The store that was named, if any was.
    pub(crate) fn named(&self) -> Option<PathBuf> {
        self.store.clone().or_else(of_environment)
    }

    /// Whether tables have a header line. With --json there are no tables.
    pub(crate) fn has_header(&self) -> bool {
        !self.no_header && !self.json
    }

    /// Times as tables show them.
    pub(crate) fn clock(&self) -> Clock {
        Clock::new(self.local)
    }

    /// Opens the store for reading.
    pub(crate) fn read(&self) -> Result<Reader, Failure> {
        read(&self.store()?)
    }

    /// For a verb that needs no store: refuses one.
    pub(crate) fn without_store(&self) -> Result<(), Failure> {
        match &self.store {
            None => Ok(()),
            Some(_) => Err(Failure::Usage("this verb uses no store: leave --store out".to_owned())),
        }
    }
}

/// The store that `SIMKEEP_STORE` names.
pub(crate) fn of_environment() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Opens a store for reading, or the newest generation of one that is published; nothing is written to
/// its directory. Says so if a writer is at work, and whether all is seen that it had stored; and if a
/// newer generation is not whole.
pub(crate) fn read(store: &Path) -> Result<Reader, Failure> {
    let reader = Reader::open(store)?;
    if reader.generation().is_some() {
        say_generation(&reader);
    } else if let Some(written) = reader.written() {
        let sealed = reader.fell_back().then(|| (written, reader.behind()));
        say_beside(&words::beside_writer(sealed), Saw::of(&reader));
    }
    Ok(reader)
}

/// Says so if a newer generation than the one that is read is not whole.
pub(crate) fn say_generation(reader: &Reader) {
    if let Some((newer, number)) = reader.incomplete().zip(reader.generation()) {
        say(&words::incomplete(newer, number));
    }
}

/// What to type where the first argument, at this index, is no store.
pub(crate) fn without_store(words: &[OsString], at: usize) -> String {
    let mut line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    if let Some(program) = line.first_mut() {
        *program = "simkeep".to_owned();
    }
    let at = at.min(line.len());
    line.insert(at, quoted(store_name().as_ref()));
    if line.get(at - 1).is_some_and(|verb| verb == "inspect") {
        line.insert(at, "page".to_owned());
    }
    format!("no store is named: write {}", line.join(" "))
}

/// The only store of this directory, or the word that stands for one.
pub(crate) fn store_name() -> String {
    let mut stores = stores_in(Path::new(".")).into_iter();
    match (stores.next(), stores.next()) {
        (Some(only), None) => only.to_string_lossy().into_owned(),
        _ => "STORE".to_owned(),
    }
}

/// What to type where no store is named.
fn unnamed(place: &Path) -> String {
    let mut stores = stores_in(place).into_iter();
    let example = match (stores.next(), stores.next()) {
        (Some(only), None) => format!("; there is one here: {}", option(&only)),
        _ => String::new(),
    };
    format!(
        "no store is named: give it as the first argument or with --store, or set {VARIABLE}{example}"
    )
}

/// The option that names this store, as a shell takes it.
fn option(store: &OsStr) -> String {
    format!("--store {}", quoted(store))
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &OsStr) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+=:@%".contains(c);
    if path.chars().all(is_plain) {
        path.into_owned()
    } else {
        format!("'{}'", whole(&path.replace('\'', "'\\''")))
    }
}

/// The names of the stores in a directory: of the first few, if there are many.
fn stores_in(place: &Path) -> Vec<OsString> {
    /// What is looked at in a directory that may have millions of files.
    const LOOKED_AT: usize = 1000;
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let names = entries.take(LOOKED_AT).filter_map(Result::ok);
    let stores = names.filter(|entry| is_store(&entry.path()));
    stores.take(2).map(|entry| entry.file_name()).collect()
}

fn is_store(path: &Path) -> bool {
    path.join(CATALOG).is_file()
}

/// Whether a path is read like a store: one, or a directory where one is published.
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
        assert!(unnamed(place.path()).ends_with("; there is one here: --store one"));
        make("two");
        assert!(unnamed(place.path()).ends_with("set SIMKEEP_STORE"));
        assert!(unnamed(&place.path().join("none")).ends_with("set SIMKEEP_STORE"));
    }
}
