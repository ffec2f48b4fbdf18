//! How help is laid out: verbs in groups, and all lines as wide as there is room for.
//!
//! What stands below the options is wrapped here and not by clap, which would break the lines of the
//! sources once more, and knows no items with a hanging indent.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use crate::Cli;

/// The widest that is read well.
const WIDEST: usize = 100;

/// The verbs, by what people want of them.
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

/// The command line, with its help as wide as the terminal is.
pub(crate) fn command() -> Command {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| width.0.into());
    let told = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    of_width(of_terminal.or_else(told).unwrap_or(WIDEST).min(WIDEST))
}

/// The command line, with help whose lines are as long as their paragraphs.
pub(crate) fn unwrapped() -> Command {
    laid_out(Cli::command(), 0)
}

/// The command line, with help of this width; 0 for lines that are never wrapped.
fn of_width(width: usize) -> Command {
    let command = laid_out(Cli::command(), width);
    let verbs = grouped(&command, width);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}{{after-help}}"
    ))
}

/// A command and those below it, with what stands behind their options wrapped.
fn laid_out(command: Command, width: usize) -> Command {
    let long = command.get_after_long_help().map(|text| wrapped(&text.to_string(), width));
    let short = command.get_after_help().map(|text| wrapped(&text.to_string(), width));
    let names: Vec<String> =
        command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let mut command = command.term_width(width);
    if let Some(long) = long {
        command = command.after_long_help(long);
    }
    if let Some(short) = short {
        command = command.after_help(short);
    }
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |verb| laid_out(verb, width)))
}

/// The list of all verbs.
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
    out + "`simkeep help VERB` says more of each.\n\n"
}

/// Text whose lines are joined to paragraphs and wrapped anew. A line that begins with two spaces is an
/// item, and deeper ones below it go on with it.
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
                // A name of an item that stands by itself is told from what it means.
                let is_name = held.starts_with("  ") && !held.trim_start().contains("  ");
                held += if is_name { "  " } else { " " };
                held += line.trim_start();
            }
        }
    }
    end(&mut held, &mut out);
    out.trim_end().to_owned()
}

/// One paragraph or item in lines of at most this width. Those of an item hang below what it says.
fn item(text: &str, width: usize, out: &mut String) {
    let indent = text.len() - text.trim_start().len();
    let name = text.trim_start();
    // From two spaces on it is said what the name means.
    let said = match (indent, name.find("  ")) {
        (0, _) | (_, None) => indent,
        (_, Some(at)) => text.len() - name[at..].trim_start().len(),
    };
    let hanging = match indent {
        0 => 0,
        // On a very narrow terminal there is no room for more.
        _ if said == indent || said > width / 2 && width > 0 => indent + 2,
        _ => said,
    };
    let (first, rest) = text.split_at(said);
    let mut line = first.to_owned();
    let mut is_begun = false;
    for word in rest.split(' ') {
        let room = line.chars().count() + usize::from(is_begun) + word.chars().count();
        if is_begun && width > 0 && room > width {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(hanging);
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

    /// All help there is, each with the words that ask for it.
    fn all(command: &Command, asked: &str, found: &mut Vec<(String, String)>) {
        let asked = format!("{asked} {}", command.get_name());
        found.push((format!("{asked} --help"), command.clone().render_long_help().to_string()));
        found.push((format!("{asked} -h"), command.clone().render_help().to_string()));
        for verb in command.get_subcommands() {
            all(verb, &asked, found);
        }
    }

    #[test]
    fn all_verbs_are_in_a_group() {
        let command = Cli::command();
        let verbs = command.get_subcommands().map(Command::get_name);
        let mut verbs: Vec<&str> = verbs.filter(|name| *name != "help").collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        verbs.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    /// No line is too long, and none is broken while the next word had room.
    #[test]
    fn help_is_as_wide_as_there_is_room_for() {
        let mut wrong = Vec::new();
        for width in [80, 100] {
            let mut found = Vec::new();
            let mut command = of_width(width);
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
                    // A paragraph goes on in the same depth; items and lists of options begin anew.
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
    fn paragraphs_are_joined_and_items_hang() {
        let text =
            "Examples:\n  one two\n\nA text\nof lines.\n  name  what it\n        means here\nMore.";
        let begins = "Examples:\n  one two\n\nA text of lines.\n  name  what it";
        assert_eq!(wrapped(text, 16), format!("{begins}\n        means\n        here\nMore."));
        // Where there is no room beside the name, it hangs below that.
        assert!(wrapped(text, 14).ends_with("\n  name  what\n    it means\n    here\nMore."));
        // A name that stands by itself.
        assert_eq!(wrapped("  name\n        means this", 40), "  name  means this");
        assert_eq!(wrapped("A text\nof lines.", 0), "A text of lines.");
    }
}
