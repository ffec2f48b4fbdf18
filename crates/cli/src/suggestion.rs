//! Suggests the command line that was probably meant instead of an invalid one.

use std::ffi::OsString;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::common::{is_read, of_environment, quoted, store_name};
use crate::store_argument::{first_argument, verb_of};

/// Other words for verbs.
const VERBS: &[(&str, &str)] = &[
    ("add", "ingest"),
    ("check", "verify"),
    ("compare", "diff"),
    ("copies", "near"),
    ("delete", "forget"),
    ("dump", "export"),
    ("dup", "dedup"),
    ("dups", "dedup"),
    ("duplicates", "dedup"),
    ("fsck", "verify"),
    ("gc", "compact"),
    ("get", "history"),
    ("hash", "fingerprint"),
    ("import", "load"),
    ("info", "stats"),
    ("list", "scan"),
    ("log", "history"),
    ("ls", "scan"),
    ("nearest", "near"),
    ("next", "due"),
    ("query", "near"),
    ("remove", "forget"),
    ("rm", "forget"),
    ("schedule", "due"),
    ("search", "near"),
    ("show", "inspect"),
    ("similar", "near"),
    ("vacuum", "compact"),
    ("watch", "tail"),
    ("why", "recrawl"),
];

/// Other words for options. If a word has several meanings, the likeliest comes first.
const OPTIONS: &[(&str, &str)] = &[
    ("--after", "--since"),
    ("--as-of", "--at"),
    ("--before", "--until"),
    ("--bits", "-k"),
    ("--budget", "--limit"),
    ("--count", "--limit"),
    ("--date", "--at"),
    ("--distance", "-k"),
    ("--domain", "--under"),
    ("--file", "--text"),
    ("--from", "--since"),
    ("--host", "--under"),
    ("--id-key", "--url-key"),
    ("--k", "-k"),
    ("--max", "--limit"),
    ("--out", "--output"),
    ("--prefix", "--under"),
    ("--site", "--under"),
    ("--time", "--at"),
    ("--to", "--output"),
    ("--to", "--until"),
    ("--when", "--at"),
    ("-n", "--limit"),
];

/// Verbs that take no argument, and the option that was probably meant by one.
const ARGUMENTS: &[(&str, &str)] = &[
    ("aliases", "--under"),
    ("dedup", "--filter"),
    ("due", "--under"),
    ("export", "--output"),
    ("man", "--to"),
    ("mirrors", "--under"),
    ("pairs", "--under"),
    ("publish", "--to"),
    ("repair", "--to"),
    ("report", "--output"),
    ("stats", "--output"),
    ("tail", "--under"),
];

/// Verbs with a positional argument, and the option that users try instead of it.
const POSITIONAL: &[(&str, &str)] =
    &[("backup", "--output"), ("backup", "--to"), ("forget", "--url"), ("history", "--url")];

/// Returns what to type instead of a command line that clap rejected.
pub(crate) fn hint(root: &Command, words: &[OsString], error: &clap::Error) -> Option<String> {
    let mut line: Vec<String> =
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    *line.first_mut()? = "simkeep".to_owned();
    let verb = verb_of(root, words);
    let hint = match error.kind() {
        ErrorKind::WrongNumberOfValues if verb == ["diff"] => {
            one_store(line.get(first_argument(root, words)?)?)
        }
        ErrorKind::InvalidSubcommand => wrong_verb(root, &line, error),
        ErrorKind::UnknownArgument => wrong_argument(root, &verb, &line, error),
        ErrorKind::ArgumentConflict if verb == ["inspect"] => wrong_order(root, &line),
        ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand => {
            wrong_store(&line, &verb)
        }
        _ => None,
    };
    let takes_more = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::UnknownArgument,
        ErrorKind::WrongNumberOfValues,
    ];
    let example = || takes_more.contains(&error.kind()).then(|| example(root, &verb))?;
    hint.or_else(example).or_else(|| Some(help_of(&verb)))
}

/// The command that shows the help of a verb.
fn help_of(verb: &[&str]) -> String {
    format!("Try: simkeep help {}", verb.join(" ")).trim_end().to_owned()
}

/// For `diff` with one store: it compares two, or two times.
fn one_store(store: &str) -> Option<String> {
    let store = quoted(store.as_ref());
    Some(format!(
        "Write: simkeep diff {store} --since 3d, or name two stores: simkeep diff OLDER {store}"
    ))
}

/// The word that clap rejected, and its index.
fn refused(line: &[String], error: &clap::Error, kind: ContextKind) -> Option<(usize, String)> {
    let Some(ContextValue::String(word)) = error.get(kind) else { return None };
    let is_it = |other: &String| other.split('=').next() == Some(word) || other == word;
    let at = line.iter().position(is_it)?;
    Some((at, word.clone()))
}

/// The command line to type, quoted for a shell.
fn written(line: &[String]) -> String {
    let words: Vec<String> = line.iter().map(|word| quoted(word.as_ref())).collect();
    format!("Write: {}", words.join(" "))
}

/// Handles a word that is not a verb: a store in front of its verb, or another word for a verb.
fn wrong_verb(root: &Command, line: &[String], error: &clap::Error) -> Option<String> {
    let (at, word) = refused(line, error, ContextKind::InvalidSubcommand)?;
    let mut line = line.to_vec();
    if is_read(Path::new(&word)) {
        let above = line.get(..at)?.last()?.clone();
        let command = root.find_subcommand(&above).unwrap_or(root);
        let is_verb = |next: &String| command.find_subcommand(next).is_some();
        if line.get(at + 1).is_some_and(is_verb) {
            line.swap(at, at + 1);
        } else {
            let usual = if command.get_name() == root.get_name() { "inspect" } else { "list" };
            line.insert(at, usual.to_owned());
        }
        return Some(written(&line));
    }
    if at > 1 && line.get(1).is_some_and(|first| first != "help") {
        return None;
    }
    let (_, verb) = VERBS.iter().find(|(other, _)| *other == word)?;
    *line.get_mut(at)? = (*verb).to_owned();
    Some(written(&line))
}

/// Handles an option or an argument that a verb does not have.
fn wrong_argument(
    root: &Command,
    verb: &[&str],
    line: &[String],
    error: &clap::Error,
) -> Option<String> {
    let (at, word) = refused(line, error, ContextKind::InvalidArg)?;
    let command = verb.iter().try_fold(root, |command, name| command.find_subcommand(name))?;
    let mut line = line.to_vec();
    if !word.starts_with('-') {
        if is_read(Path::new(&word)) {
            return Some(format!(
                "{word} is a store: give it as the first argument, or with --store"
            ));
        }
        let (_, option) = ARGUMENTS.iter().find(|(name, _)| verb == [*name])?;
        line.insert(at, (*option).to_owned());
        return Some(written(&line));
    }
    let meant = OPTIONS.iter().filter(|(other, _)| *other == word).map(|(_, option)| *option);
    if let Some(option) = meant.into_iter().find(|option| has(command, option)) {
        let value = line.get(at)?.split_once('=').map(|(_, value)| value.to_owned());
        let value = value.map(|value| format!("={value}")).unwrap_or_default();
        *line.get_mut(at)? = format!("{option}{value}");
        return Some(written(&line));
    }
    let is_of = |(other, option): &&(&str, &str)| verb == [*other] && *option == word;
    if let Some((_, option)) = POSITIONAL.iter().find(is_of) {
        let end = option.len() + 1;
        match line.get(at)?.get(end..).map(str::to_owned) {
            Some(value) => *line.get_mut(at)? = value,
            None => drop(line.remove(at)),
        }
        return Some(written(&line));
    }
    if let Some(hint) = epoch_of_recipe(verb, &line, (at, &word)) {
        return Some(hint);
    }
    if let Some(ContextValue::String(option)) = error.get(ContextKind::SuggestedArg) {
        let value = line.get(at)?.split_once('=').map(|(_, value)| format!("={value}"));
        *line.get_mut(at)? = option.clone() + &value.unwrap_or_default();
        return Some(written(&line));
    }
    let others: Vec<&str> =
        root.get_subcommands().filter(|verb| has(verb, &word)).map(Command::get_name).collect();
    let names = others.join(", ");
    (!others.is_empty()).then(|| format!("{word} is an option of: {names}"))
}

/// Handles `--recipe` of a verb that fills a store: the epoch of the store has the recipe.
fn epoch_of_recipe(verb: &[&str], line: &[String], (at, word): (usize, &str)) -> Option<String> {
    const FILLING: [&str; 2] = ["ingest", "load"];
    let [verb] = verb else { return None };
    if word != "--recipe" || !FILLING.contains(verb) {
        return None;
    }
    let recipe = match line.get(at)?.split_once('=') {
        Some((_, recipe)) => Some(recipe),
        None => line.get(at + 1).map(String::as_str),
    };
    let recipe = recipe.map_or_else(|| "near".to_owned(), |recipe| quoted(recipe.as_ref()));
    let first = line.iter().skip_while(|word| word != verb).nth(1);
    let first = first.filter(|first| !first.starts_with('-') && of_environment().is_none());
    let store = first.map(|first| format!("{} ", quoted(first.as_ref()))).unwrap_or_default();
    Some(format!(
        "The epoch of a store sets the recipe of its fingerprints. Before you {verb}, write: \
         simkeep epoch begin {store}--recipe {recipe}"
    ))
}

/// Whether a verb has an option, given as it is typed.
fn has(command: &Command, option: &str) -> bool {
    command.get_arguments().any(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| option == format!("-{short}")),
    })
}

/// Handles `inspect` with its store before its subcommand.
fn wrong_order(root: &Command, line: &[String]) -> Option<String> {
    let inspect = line.iter().position(|word| word == "inspect")?;
    let (store, subject) = (inspect + 1, inspect + 2);
    let mut line = line.to_vec();
    let command = root.find_subcommand("inspect")?;
    if command.find_subcommand(line.get(subject)?).is_some() {
        line.swap(store, subject);
    } else {
        line.insert(store, "page".to_owned());
    }
    Some(written(&line))
}

/// Handles a verb whose only argument was taken for the store.
fn wrong_store(line: &[String], verb: &[&str]) -> Option<String> {
    let [.., before, last] = line else { return None };
    let is_verb = verb.last().is_some_and(|verb| verb == before);
    if is_verb && of_environment().is_none() && !Path::new(last).exists() {
        let mut line = line.to_vec();
        line.insert(line.len() - 1, store_name());
        return Some(format!("There is no store {}. {}", quoted(last.as_ref()), written(&line)));
    }
    let [name @ ("epoch" | "df")] = verb else { return None };
    let at = line.iter().position(|word| word == name)?;
    let mut line = line.to_vec();
    line.insert(at + 1, "list".to_owned());
    Some(written(&line))
}

/// The first example in the help of a verb.
fn example(root: &Command, verb: &[&str]) -> Option<String> {
    let command = verb.iter().try_fold(root, |command, name| command.find_subcommand(name))?;
    let help = command.get_after_long_help()?.to_string();
    let first = help.lines().skip_while(|line| *line != "Examples:").nth(1)?;
    let first = first.trim_start();
    let first = first.split("  ").next().unwrap_or(first);
    Some(format!("Example: {first}\n{}", help_of(verb)))
}
