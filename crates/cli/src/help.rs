//! Layout of the help: verbs in groups, and lines as wide as the terminal allows.
//!
//! Text below the options is wrapped here. clap would break the lines of the source again, and does
//! not support items with a hanging indent.

use std::fmt::Write as _;

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory as _};

use crate::{Cli, store_argument};

/// The maximum width of a line in characters, since longer lines are hard to read.
const WIDEST: usize = 100;

/// The verbs, grouped by purpose.
const GROUPS: &[(&str, &[&str])] = &[
    ("Fill a store", &["ingest", "load"]),
    (
        "Ask about pages",
        &["aliases", "cluster", "dedup", "diff", "history", "mirrors", "near", "pairs", "scan"],
    ),
    ("Visit again", &["due", "recrawl", "simulate"]),
    ("Look at the store", &["inspect", "report", "stats", "tail", "verify"]),
    ("Change it", &["compact", "epoch", "forget"]),
    ("Save it", &["backup", "export", "publish", "repair"]),
    ("Make fingerprints", &["fingerprint", "evaluate", "df"]),
    ("For programs and shells", &["completions", "man", "schema"]),
];

/// The command line parser, with help as wide as the terminal, but at most [`WIDEST`].
pub(crate) fn command() -> Command {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| width.0.into());
    let of_variable = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    command_of_width(of_terminal.or_else(of_variable).unwrap_or(WIDEST).min(WIDEST))
}

/// The command line parser, with help whose paragraphs are not wrapped.
pub(crate) fn unwrapped() -> Command {
    lay_out(Cli::command(), 0)
}

/// The command line parser, with help of this width in characters; 0 disables wrapping.
fn command_of_width(width: usize) -> Command {
    lay_out(Cli::command(), width)
}

/// Lays out a command and its subcommands: shows the store in their usage, and wraps the text below
/// their options.
fn lay_out(command: Command, width: usize) -> Command {
    of_verb(command, &[], width)
}

/// Lays out the command of a verb and its subcommands. `verb` is empty for the program itself.
fn of_verb(command: Command, verb: &[&str], width: usize) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{after-help}}",
        listed(&command, verb.is_empty(), width)
    );
    let long = command.get_after_long_help().map(|text| wrapped(&text.to_string(), width));
    let short = command.get_after_help().map(|text| wrapped(&text.to_string(), width));
    let names: Vec<String> =
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    // `-k -1` is a wrong value, and no unknown option.
    let command = command.mut_args(|arg| {
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    });
    let mut command = with_store(command, verb).term_width(width).help_template(template);
    if let Some(long) = long {
        command = command.after_long_help(long);
    }
    if let Some(short) = short {
        command = command.after_help(short);
    }
    names.into_iter().fold(command, |command, name| {
        let verb = [verb, &[&name]].concat();
        command.mut_subcommand(&name, |command| of_verb(command, &verb, width))
    })
}

/// The arguments, options and subcommands of a command. The common options are listed only for the
/// program.
fn listed(command: &Command, is_program: bool, width: usize) -> String {
    let mut out = if is_program { grouped(command, width) } else { verbs(command, width) };
    let mut list = |heading: &str, args: &[&Arg]| {
        if !args.is_empty() {
            out += heading;
            out += ":\n";
            args.iter().for_each(|arg| of_arg(arg, width, &mut out));
            out.push('\n');
        }
    };
    // clap computes the number of values of each argument during the build.
    let mut built = command.clone();
    built.build();
    let command = &built;
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    list("Arguments", &positionals);
    let is_listed = |arg: &&Arg| !arg.is_positional() && (is_program || arg.get_id() != "help");
    let options: Vec<&Arg> = command.get_arguments().filter(is_listed).collect();
    let mut headings: Vec<Option<&str>> = vec![None];
    for option in &options {
        if !headings.contains(&option.get_help_heading()) {
            headings.push(option.get_help_heading());
        }
    }
    for heading in headings {
        let of_heading = options.iter().filter(|option| option.get_help_heading() == heading);
        list(heading.unwrap_or("Options"), &of_heading.copied().collect::<Vec<_>>());
    }
    if !is_program {
        item(COMMON, width, &mut out);
    }
    out.trim_end().to_owned()
}

/// The line that refers to the common options.
const COMMON: &str = "Options of all verbs (`simkeep help`): --store, --json, --no-header, --local";

/// The list of the subcommands of a command; empty if it has none.
fn verbs(command: &Command, width: usize) -> String {
    let mut out = String::new();
    for verb in command.get_subcommands() {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        item(&format!("  {:<11}  {about}", verb.get_name()), width, &mut out);
    }
    if out.is_empty() { out } else { format!("Commands:\n{out}\n") }
}

/// Appends an argument or option with its values, its default and its description.
fn of_arg(arg: &Arg, width: usize, out: &mut String) {
    /// The width of the column of names, in characters. Longer names get a line of their own.
    const NAMES: usize = 22;
    let shown = arg.to_string();
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {shown}"),
        (None, Some(_)) => format!("    {shown}"),
        _ => shown,
    };
    let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values = arg.get_possible_values();
    if arg.get_action().takes_values() && !values.is_empty() {
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        let _ = write!(help, ": {}", values.join(", "));
    }
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(help, " [default: {}]", defaults.join(" "));
    }
    let mut first = format!("  {name:<NAMES$}  ");
    if name.len() > NAMES {
        let _ = writeln!(out, "  {name}");
        first = " ".repeat(NAMES + 4);
    }
    fill(first, &help, NAMES + 4, width, out);
}

/// Shows the store as the first argument in the usage of a verb, if the verb uses a store.
fn with_store(command: Command, verb: &[&str]) -> Command {
    if !store_argument::uses(verb) || command.is_subcommand_required_set() {
        return command;
    }
    let name = format!("simkeep {}", verb.join(" "));
    let usage = command.clone().bin_name(&name).render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    match (usage.contains("[STORE]"), usage.contains("[OPTIONS]")) {
        (true, _) => command,
        (false, true) => command.override_usage(usage.replace("[OPTIONS]", "[STORE] [OPTIONS]")),
        // The verb has no options besides the common ones.
        (false, false) => {
            command.override_usage(usage.replacen(&name, &format!("{name} [STORE] [OPTIONS]"), 1))
        }
    }
}

/// The list of all verbs in their groups.
fn grouped(command: &Command, width: usize) -> String {
    let mut out = String::new();
    for (heading, verbs) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{heading}:");
        let named = |name: &&str| command.get_subcommands().find(|verb| verb.get_name() == *name);
        for verb in verbs.iter().filter_map(named) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            item(&format!("  {:<11}  {about}", verb.get_name()), width, &mut out);
        }
        out.push('\n');
    }
    out + "`simkeep help VERB` describes each.\n\n"
}

/// Joins the lines of a text to paragraphs and wraps them. A line with an indent of two spaces
/// begins an item; lines with a deeper indent continue it.
fn wrapped(text: &str, width: usize) -> String {
    let (mut out, mut held) = (String::new(), String::new());
    let end = |held: &mut String, out: &mut String| {
        if !held.is_empty() {
            item(held, width, out);
            held.clear();
        }
    };
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let goes_on = depth > 2 || depth == 0 && !held.starts_with("  ");
        if line.is_empty() || !goes_on {
            end(&mut held, &mut out);
        }
        match (line.is_empty(), held.is_empty()) {
            (true, _) => out.push('\n'),
            (false, true) => held += line,
            (false, false) => {
                // If an item's name has a line of its own, two spaces separate it from its meaning.
                let is_name = held.starts_with("  ") && !held.trim_start().contains("  ");
                held += if is_name { "  " } else { " " };
                held += line.trim_start();
            }
        }
    }
    end(&mut held, &mut out);
    out.trim_end().to_owned()
}

/// Appends a paragraph or an item in lines of at most this width. The lines of an item hang below
/// its description.
fn item(text: &str, width: usize, out: &mut String) {
    let indent = text.len() - text.trim_start().len();
    let name = text.trim_start();
    // Two spaces separate the name of an item from its description.
    let said = match (indent, name.find("  ")) {
        (0, _) | (_, None) => indent,
        (_, Some(at)) => text.len() - name[at..].trim_start().len(),
    };
    let hanging = match indent {
        0 => 0,
        // A very narrow terminal has no space for a deeper indent.
        _ if said == indent || said > width / 2 && width > 0 => indent + 2,
        _ => said,
    };
    let (first, rest) = text.split_at(said);
    fill(first.to_owned(), rest, hanging, width, out);
}

/// Appends words after the beginning of a line, and wraps them at this width. All lines but the
/// first are indented.
fn fill(mut line: String, words: &str, indent: usize, width: usize, out: &mut String) {
    let mut is_begun = false;
    for word in words.split(' ') {
        let room = line.chars().count() + usize::from(is_begun) + word.chars().count();
        if is_begun && width > 0 && room > width {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(indent);
            is_begun = false;
        }
        if is_begun {
            line.push(' ');
        }
        line += word;
        is_begun = true;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum length of a verb's long help at 80 columns, in lines. Longer texts belong in
    /// `docs/`.
    const LINES_MAX: usize = 60;

    /// Collects each verb by its full name, with its command.
    fn verbs_of<'c>(command: &'c Command, name: &str, found: &mut Vec<(String, &'c Command)>) {
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let name = format!("{name} {}", verb.get_name());
            found.push((name.clone(), verb));
            verbs_of(verb, &name, found);
        }
    }

    #[test]
    fn each_verb_is_described_by_an_imperative_of_ten_words() {
        let command = unwrapped();
        let mut verbs = Vec::new();
        verbs_of(&command, "simkeep", &mut verbs);
        let mut wrong = Vec::new();
        for (name, verb) in verbs {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let words: Vec<&str> = about.split_whitespace().collect();
            let first = words.first().copied().unwrap_or_default();
            // A verb in the third person or a plural noun would end in "s". "A page" is a noun.
            let is_imperative = first.len() > 1
                && first.chars().next().is_some_and(char::is_uppercase)
                && (!first.ends_with('s') || first.ends_with("ss"));
            if !is_imperative || words.len() > 10 || about.ends_with('.') {
                wrong.push(format!("{name}: {about}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn long_help_of_each_verb_fits_sixty_lines() {
        let mut command = command_of_width(80);
        command.build();
        let mut verbs = Vec::new();
        verbs_of(&command, "simkeep", &mut verbs);
        let lines = |verb: &Command| verb.clone().render_long_help().to_string().lines().count();
        let long = verbs.iter().map(|(name, verb)| (name, lines(verb)));
        let long: Vec<_> = long.filter(|(_, lines)| *lines > LINES_MAX).collect();
        assert!(long.is_empty(), "{long:?}");
    }

    #[test]
    fn usage_shows_the_store_within_eighty_columns() {
        let mut command = command_of_width(80);
        command.build();
        let mut verbs = Vec::new();
        verbs_of(&command, "simkeep", &mut verbs);
        for (name, verb) in verbs {
            let usage = verb.clone().render_usage().to_string();
            assert!(usage.lines().all(|line| line.chars().count() <= 80), "{usage}");
            let words: Vec<&str> = name.split(' ').skip(1).collect();
            let has_store = store_argument::uses(&words) && !verb.is_subcommand_required_set();
            assert_eq!(usage.contains("[STORE]"), has_store, "{usage}");
        }
    }

    /// Collects all help texts, each with the command line that prints it.
    fn all(command: &Command, asked: &str, found: &mut Vec<(String, String)>) {
        let asked = format!("{asked} {}", command.get_name());
        found.push((format!("{asked} --help"), command.clone().render_long_help().to_string()));
        found.push((format!("{asked} -h"), command.clone().render_help().to_string()));
        for verb in command.get_subcommands() {
            all(verb, &asked, found);
        }
    }

    #[test]
    fn each_verb_is_in_a_group() {
        let command = Cli::command();
        let verbs = command.get_subcommands().map(Command::get_name);
        let mut verbs: Vec<&str> = verbs.filter(|name| *name != "help").collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    /// No line is too long, and no line is broken although the next word would fit.
    #[test]
    fn help_fills_the_available_width() {
        let mut wrong = Vec::new();
        for width in [80, 100] {
            let mut found = Vec::new();
            let mut command = command_of_width(width);
            command.build();
            all(&command, "", &mut found);
            for (asked, help) in found {
                let lines: Vec<&str> = help.lines().collect();
                for (at, line) in
                    lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty())
                {
                    let length = line.trim_end().chars().count();
                    if length > width || line.contains('\\') {
                        wrong.push(format!("{asked}, {length} of {width}: {line}"));
                    }
                    let depth = |line: &str| line.len() - line.trim_start().len();
                    let Some(next) = lines.get(at + 1).filter(|next| !next.trim().is_empty())
                    else {
                        continue;
                    };
                    // A paragraph continues at the same depth. Items and lists of options begin
                    // anew.
                    let is_text = depth(line) == depth(next) && [0, 10].contains(&depth(line));
                    let is_list = next.trim_start().starts_with("- ") || line.ends_with(':');
                    if is_text && !is_list && !line.starts_with("Usage") {
                        let word = next.trim_start().split(' ').next().unwrap_or_default();
                        let room = length + 1 + word.chars().count();
                        if room <= width {
                            wrong.push(format!("{asked}, broken early: {line}\n  {next}"));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn paragraphs_are_wrapped_and_items_hang() {
        let text =
            "Examples:\n  one two\n\nA text\nof lines.\n  name  what it\n        means here\nMore.";
        let begins = "Examples:\n  one two\n\nA text of lines.\n  name  what it";
        assert_eq!(wrapped(text, 16), format!("{begins}\n        means\n        here\nMore."));
        // If the description does not fit next to the name, it hangs below the name.
        assert!(wrapped(text, 14).ends_with("\n  name  what\n    it means\n    here\nMore."));
        // The name has a line of its own.
        assert_eq!(wrapped("  name\n        means this", 40), "  name  means this");
        assert_eq!(wrapped("A text\nof lines.", 0), "A text of lines.");
    }
}
