//! Phrases that no comment, page, help or message contains, since they are hard to read.

use std::fs;
use std::path::{Path, PathBuf};

use simkeep_testing::in_repository;

/// Each phrase with its replacement.
const PHRASES: &[(&str, &str)] = &[
    ("told", "reported, printed, notified, or the specific verb"),
    ("untold", "unknown"),
    ("heed", "poison_on_bug, or the specific verb"),
    ("hand out", "lease"),
    ("hands out", "leases"),
    ("handed out", "leased"),
    ("handing out", "leasing"),
    ("hand back", "release"),
    ("hands back", "releases"),
    ("handed back", "released"),
    ("handing back", "releasing"),
    ("hand over", "pass"),
    ("hands over", "passes"),
    ("handed over", "passed"),
    ("handing over", "passing"),
    ("by lot", "at random"),
    ("at hand", "available"),
    ("so many", "N, or how many"),
    ("whoever", "the noun"),
];

/// A forbidden beginning of a sentence.
const BEGINNING: &str = ". Of which";

/// Files that may contain them: this one, and users of the crate `heed`.
const ALLOWED: &[&str] = &["tests/it/words.rs", "benches/peers"];

const EXTENSIONS: &[&str] =
    &["rs", "py", "md", "toml", "h", "c", "cpp", "go", "mjs", "ksy", "scala", "pyi"];

/// The texts of the repository that people read, by their paths.
fn texts() -> Vec<(PathBuf, String)> {
    let root = in_repository("");
    let mut folders = vec![root.clone()];
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_made = name.starts_with('.') || name == "target" || name == "node_modules";
            if path.is_dir() && !is_made {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known))
            {
                let text = fs::read_to_string(&path).unwrap();
                texts.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    assert!(texts.len() > 1_000, "{}", texts.len());
    texts
}

/// A text in one line, in lower case, without comment markers.
fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim_start();
        let line = ["///", "//!", "//", "#", "* "]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .unwrap_or(line);
        flat.push_str(line.trim());
        flat.push(' ');
    }
    flat.make_ascii_lowercase();
    flat
}

/// The positions of a phrase: only whole words that are not parts of a name.
fn places<'t>(text: &'t str, phrase: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        !is_part(text[..*at].chars().next_back())
            && !is_part(text[at + phrase.len()..].chars().next())
    })
}

fn is_allowed(path: &Path) -> bool {
    ALLOWED.iter().any(|allowed| path.starts_with(allowed))
}

#[test]
fn no_text_contains_a_banned_phrase() {
    let mut found = String::new();
    for (path, text) in texts().iter().filter(|(path, _)| !is_allowed(path)) {
        let flat = flat(text);
        let beginning = BEGINNING.to_ascii_lowercase();
        for (phrase, instead) in
            PHRASES.iter().copied().chain([(beginning.as_str(), "a full sentence")])
        {
            for at in places(&flat, phrase) {
                let around: String = flat[..at].chars().rev().take(30).collect();
                let around: String = around.chars().rev().collect();
                let after: String = flat[at..].chars().take(40).collect();
                found += &format!(
                    "{}: {around}{after}\n    instead of {phrase:?}: {instead}\n",
                    path.display()
                );
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}
