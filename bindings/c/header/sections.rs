//! The sections of the header, its table of contents, and its example.

/// The sections of functions: the folders of the source in their order, each with its title.
/// Functions that are in no folder come first.
const FOLDERS: &[(&str, &str)] = &[
    ("", "Errors, progress and versions"),
    ("open/", "Stores, readers and snapshots"),
    ("write/", "Fingerprints, visits and loads"),
    ("read/", "Searches, histories and pages"),
    ("cluster/", "Clusters, and pages to drop"),
    ("schedule/", "Pages to visit next"),
    ("maintain/", "Epochs, deletion, checks, backups and repairs"),
];

/// The sections before those of functions: the title, and how the first line of each begins.
const DECLARATIONS: &[(&str, &str)] = &[
    ("Error codes and flags", "#define SIMKEEP_OK "),
    ("Enumerations", "enum simkeep_"),
    ("Handles", "typedef struct simkeep_"),
    ("Structures", "typedef struct simkeep_options {"),
];

/// The longest line of the table of contents.
const WIDTH: usize = 100;

/// The header with a heading for each section, and with the table of contents and the example in
/// its first comment. `sources` are expanded, by their paths.
pub(crate) fn with_sections(header: &str, sources: &[(String, String)], example: &str) -> String {
    let lines: Vec<&str> = header.lines().collect();
    let mut titles: Vec<(usize, &str)> = Vec::new();
    for (title, begin) in DECLARATIONS {
        titles.push((
            beginning(&lines, lines.iter().position(|line| line.starts_with(begin))),
            title,
        ));
    }
    let mut contents = String::new();
    for (number, (title, _)) in DECLARATIONS.iter().enumerate() {
        contents += &format!(" * {}. {title}\n", number + 1);
    }
    let functions = functions(&lines);
    for (number, (folder, title)) in (DECLARATIONS.len() + 1..).zip(FOLDERS) {
        let is_of = |name: &str| {
            sources.iter().any(|(path, source)| is_in(path, folder) && declares(source, name))
        };
        let of_section: Vec<_> = functions.iter().filter(|(_, name)| is_of(name)).collect();
        titles.push((beginning(&lines, of_section.first().map(|(line, _)| *line)), title));
        let names =
            of_section.iter().map(|(_, name)| *name).filter(|name| !name.ends_with("_free"));
        contents += &format!(" * {number}. {title}\n{}", listed(names));
    }
    assert!(titles.is_sorted(), "sections are not in the order of the header: {titles:?}");
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        for (number, (_, title)) in titles.iter().enumerate().filter(|(_, (first, _))| *first == at)
        {
            let rule = "=".repeat(WIDTH - 4);
            out += &format!("/* {rule}\n * {}. {title}\n * {rule} */\n\n", number + 1);
        }
        match line.trim() {
            "* @CONTENTS@" => out += &contents,
            "* @EXAMPLE@" => out += &commented(example),
            _ => out += &format!("{line}\n"),
        }
    }
    out
}

/// The line at which a declaration begins with its comment.
fn beginning(lines: &[&str], declared: Option<usize>) -> usize {
    let declared = declared.expect("each section has a declaration");
    lines[..declared].iter().rposition(|line| *line == "/**").expect("a declaration has a comment")
}

/// The functions of a header: the line of each, and its name.
fn functions<'h>(lines: &[&'h str]) -> Vec<(usize, &'h str)> {
    let name = |line: &'h str| {
        let (before, _) = line.split_once('(')?;
        let is_declared = line.starts_with(|first: char| first.is_ascii_lowercase());
        let name = before.rsplit([' ', '*']).next()?;
        (is_declared && name.starts_with("simkeep_")).then_some(name)
    };
    let named = lines.iter().enumerate().filter_map(|(at, line)| Some((at, name(line)?)));
    named.collect()
}

fn is_in(path: &str, folder: &str) -> bool {
    if folder.is_empty() {
        !FOLDERS[1..].iter().any(|(of, _)| path.starts_with(of))
    } else {
        path.starts_with(folder)
    }
}

fn declares(source: &str, name: &str) -> bool {
    source.contains(&format!("extern \"C\" fn {name}("))
}

/// Names, as many on a line as there is space for.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for name in names {
        if line.len() + name.len() > WIDTH - 8 {
            out += &format!(" *    {line}\n");
            line.clear();
        }
        line += &format!(" {name}");
    }
    format!("{out} *    {line}\n")
}

/// A program as a part of a comment, without what it includes and its own comments of a whole line.
fn commented(example: &str) -> String {
    let code = example.replace("/* ", "// ").replace(" */", "");
    let lines = code.lines().map(|line| format!(" *     {line}").trim_end().to_owned() + "\n");
    lines.collect()
}
