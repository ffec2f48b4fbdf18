//! The store as the first argument of a verb: `simkeep near STORE ...`.
//!
//! All verbs follow one rule. If neither `--store` nor `SIMKEEP_STORE` names the store, the first
//! argument that is not an option is the store. If one of them names it, there is no such argument.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Arg, Command};

use crate::common;
use crate::input::fingerprint::parse_fingerprint;

/// Verbs that use no store. `diff` uses a store only if it compares two times.
const WITHOUT: &[&[&str]] = &[
    &["fingerprint"],
    &["evaluate"],
    &["df", "build"],
    &["df", "compare"],
    &["df", "freeze"],
    &["df", "show"],
    &["completions"],
    &["man"],
    &["schema"],
];

/// Verbs whose other arguments may be stores, too.
const OF_STORES: &[&str] = &["backup", "diff", "ingest", "load"];

/// Whether a verb uses a store. The verb is empty for `simkeep help near`.
pub(crate) fn uses(verb: &[&str]) -> bool {
    !verb.is_empty() && !WITHOUT.contains(&verb)
}

/// Inserts `--store` before the first argument, unless the store is named otherwise. `is_set` is
/// whether the environment names it.
///
/// # Errors
///
/// The command line to type instead, if the first argument is a URL, a fingerprint or a file, or if
/// the store is named twice.
pub(crate) fn insert_store_option(
    command: &Command,
    mut words: Vec<OsString>,
    is_set: bool,
) -> Result<Vec<OsString>, String> {
    let line = CommandLine::read(command, &words);
    let is_named = is_set || line.names_store;
    let compares_stores = line.verb == ["diff"] && !line.has_since;
    let takes_stores = line.verb.first().is_some_and(|verb| OF_STORES.contains(verb));
    // The first of several arguments of these verbs is not their input or their backup.
    let is_input = match line.verb.first() {
        Some(&("backup" | "ingest")) => line.arguments == 1,
        Some(&"diff") => compares_stores,
        _ => takes_stores,
    };
    if is_named
        && uses(&line.verb)
        && !is_input
        && let Some(first) = line.first.and_then(|at| words.get(at))
        && common::is_read(Path::new(first))
    {
        return Err(named_twice(first, line.names_store));
    }
    let Some(at) = line.first.filter(|_| !is_named && !compares_stores && uses(&line.verb)) else {
        return Ok(words);
    };
    let takes_arguments = line.takes_arguments || line.verb == ["inspect"];
    if takes_arguments && words.get(at).is_some_and(|first| is_no_store(first)) {
        let is_next = |next: &OsString| !takes_stores && common::is_read(Path::new(next));
        return Err(match words.get(at + 1).filter(|next| is_next(next)) {
            Some(_) => {
                words.swap(at, at + 1);
                format!("the store comes first: write {}", common::as_typed(&words))
            }
            None => common::without_store(&words, at),
        });
    }
    // Words after `--` are not options.
    let before = if line.is_behind_dashes { at - 1 } else { at };
    let store = words.remove(at);
    words.splice(before..before, ["--store".into(), store]);
    Ok(words)
}

/// The message for a store as an argument although an option or the environment names a store.
fn named_twice(store: &OsStr, by_option: bool) -> String {
    let store = common::quoted(store);
    if by_option {
        return format!(
            "the store is named twice, as {store} and by --store: leave one of them out"
        );
    }
    format!(
        "the store is named twice, as {store} and by SIMKEEP_STORE: unset SIMKEEP_STORE, or use \
         --store {store}"
    )
}

/// The verb of a command line, with its subcommand.
pub(crate) fn verb_of<'a>(command: &'a Command, words: &[OsString]) -> Vec<&'a str> {
    CommandLine::read(command, words).verb
}

/// The index of the first positional argument of a command line.
pub(crate) fn first_argument(command: &Command, words: &[OsString]) -> Option<usize> {
    CommandLine::read(command, words).first
}

/// Whether a word is a URL, a fingerprint or a file, and therefore not the directory of a store.
fn is_no_store(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    text.contains("://") || parse_fingerprint(&text).is_ok() || Path::new(word).is_file()
}

/// The parts of a command line that matter for the store, read before clap parses it.
#[derive(Default)]
struct CommandLine<'a> {
    verb: Vec<&'a str>,
    names_store: bool,
    has_since: bool,
    /// Whether the verb takes positional arguments besides the store.
    takes_arguments: bool,
    /// The number of positional arguments, and the index of the first one.
    arguments: usize,
    first: Option<usize>,
    /// Whether `--` immediately precedes that argument.
    is_behind_dashes: bool,
}

impl<'a> CommandLine<'a> {
    fn read(root: &'a Command, words: &[OsString]) -> CommandLine<'a> {
        let (mut line, mut command) = (CommandLine::default(), root);
        let mut words = words.iter().enumerate().skip(1).peekable();
        while let Some((index, word)) = words.next() {
            let text = word.to_string_lossy();
            let option = match text.strip_prefix("--") {
                Some("") => {
                    line.is_behind_dashes = line.first.is_none();
                    line.arguments += words.len();
                    line.first = line.first.or(words.next().map(|(index, _)| index));
                    break;
                }
                Some(long) => {
                    let (name, value) =
                        long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
                    option_of(root, command, |arg| arg.get_long() == Some(name))
                        .map(|arg| (arg, value.is_some()))
                }
                None if text.len() > 1 && text.starts_with('-') => {
                    last_of_cluster(root, command, text.trim_start_matches('-'))
                }
                None => {
                    match command.find_subcommand(&**word).filter(|_| line.first.is_none()) {
                        Some(verb) => {
                            command = verb;
                            line.verb.push(verb.get_name());
                        }
                        None => {
                            line.arguments += 1;
                            line.first = line.first.or(Some(index));
                        }
                    }
                    continue;
                }
            };
            let Some((arg, has_value)) = option else { continue };
            line.names_store |= arg.get_id() == "store";
            line.has_since |= arg.get_id() == "since";
            if !has_value && takes_value(arg, words.peek().map(|(_, next)| next.as_os_str())) {
                words.next();
            }
        }
        line.takes_arguments = command.get_positionals().next().is_some();
        line
    }
}

/// Finds an option of a verb, or a common option.
fn option_of<'a>(
    root: &'a Command,
    command: &'a Command,
    is_meant: impl Fn(&Arg) -> bool,
) -> Option<&'a Arg> {
    command.get_arguments().chain(root.get_arguments()).find(|arg| is_meant(arg))
}

/// Returns the last option of a group such as `-vs`, which may take a value, and whether the group
/// contains that value. `None` if a letter is not an option.
fn last_of_cluster<'a>(
    root: &'a Command,
    command: &'a Command,
    letters: &str,
) -> Option<(&'a Arg, bool)> {
    let mut last = None;
    for (index, letter) in letters.char_indices() {
        let arg = option_of(root, command, |arg| arg.get_short() == Some(letter))?;
        let rest = letters.get(index + letter.len_utf8()..).unwrap_or_default();
        last = Some((arg, !rest.is_empty()));
        if arg.get_action().takes_values() {
            break;
        }
    }
    last
}

/// Whether an option takes the next word as its value.
fn takes_value(arg: &Arg, next: Option<&OsStr>) -> bool {
    let Some(next) = next.filter(|_| arg.get_action().takes_values()) else { return false };
    let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    !is_optional || !next.to_string_lossy().starts_with('-') || next == "-"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help;

    fn named_of(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = insert_store_option(&help::unwrapped(), words, false).unwrap();
        words.join(OsStr::new(" ")).to_string_lossy().into_owned()
    }

    #[test]
    fn first_argument_is_the_store() {
        for (line, expected) in [
            ("simkeep stats a", "simkeep stats --store a"),
            ("simkeep --json stats a", "simkeep --json stats --store a"),
            ("simkeep scan a example.com", "simkeep scan --store a example.com"),
            ("simkeep near a -k 8 --text t.html", "simkeep near --store a -k 8 --text t.html"),
            ("simkeep near -k 8 --text t.html a", "simkeep near -k 8 --text t.html --store a"),
            ("simkeep near -k8 --url=u a", "simkeep near -k8 --url=u --store a"),
            ("simkeep epoch list a", "simkeep epoch list --store a"),
            ("simkeep df list a", "simkeep df list --store a"),
            ("simkeep inspect page a u", "simkeep inspect page --store a u"),
            ("simkeep repair a --to b", "simkeep repair --store a --to b"),
            ("simkeep ingest a - --durability end", "simkeep ingest --store a - --durability end"),
            ("simkeep diff a --since 1d", "simkeep diff --store a --since 1d"),
            ("simkeep scan -- a b", "simkeep scan --store a -- b"),
            ("simkeep scan a -- b", "simkeep scan --store a -- b"),
            // Opening the store will report what is wrong with its name.
            ("simkeep stats https://a/", "simkeep stats --store https://a/"),
        ] {
            assert_eq!(named_of(line), expected);
        }
    }

    #[test]
    fn store_named_by_option_is_not_inserted() {
        for line in [
            "simkeep stats",
            "simkeep stats --store a",
            "simkeep -s a history u",
            "simkeep -sa history u",
            "simkeep history --store=a u",
            "simkeep diff a b",
            "simkeep fingerprint file",
            "simkeep df show table",
            "simkeep help near",
            "simkeep completions bash",
        ] {
            assert_eq!(named_of(line), line);
        }
        let words: Vec<OsString> = ["simkeep", "history", "u"].map(OsString::from).to_vec();
        assert_eq!(insert_store_option(&help::unwrapped(), words.clone(), true).unwrap(), words);
    }
}
