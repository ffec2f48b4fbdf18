//! Phrases that no comment, page, help or message contains, since they are hard to read.

use std::collections::BTreeMap;
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

/// Names that no type has: they say what a value does or where it is, not what it is.
const TYPES: &[(&str, &str)] = &[
    ("After", "a noun"),
    ("Behind", "a noun"),
    ("Course", "PageHistory"),
    ("Deal", "Partitioner"),
    ("Effort", "LookupBudget"),
    ("Found", "a noun, such as HitSet"),
    ("Ground", "LookupContext"),
    ("Hand", "Chunk"),
    ("Held", "a noun"),
    ("House", "module"),
    ("Lot", "SegmentId, or batch"),
    ("Own", "a noun, such as SingleProbe"),
    ("Part", "a noun, such as KeyBits or Partition"),
    ("Place", "PageLocation, or the noun"),
    ("Reach", "ProbeRadius"),
    ("Room", "Arena, or module"),
    ("Seeing", "Comparison"),
    ("Share", "Ratio"),
    ("Standing", "PolicyInput, or the noun"),
    ("Taken", "InForcePage, or the noun"),
];

/// Names that no function has.
const FUNCTIONS: &[(&str, &str)] = &[
    ("crowd", "the noun"),
    ("deal", "distribute"),
    ("give", "set_property, or the specific verb"),
    ("given", "the noun"),
    ("hand", "the specific verb"),
    ("hear", "the specific verb"),
    ("tell", "the specific verb"),
];

/// Words that no name of a type, a function or a module contains.
const WORDS: &[(&str, &str)] = &[
    ("bearer", "PagesOfFingerprint"),
    ("bearers", "PagesOfFingerprint"),
    ("classed", "class"),
    ("contender", "RankedHit"),
    ("doubtful", "ambiguous"),
    ("heed", "poison_on_bug"),
    ("judged", "decided, or verdict"),
    ("judgement", "decision"),
    ("misuse", "invalid, or InvalidArgument"),
    ("patience", "WorkLimit"),
    ("ruling", "decision"),
    ("tally", "Histogram, or counts"),
    ("tells", "the specific verb"),
    ("told", "reported, or the specific verb"),
    ("untold", "unknown"),
    ("weighed", "weight"),
    ("wheel", "RingBuffer"),
];

/// Types that are defined several times: aliases of one meaning, and the metrics with and without their
/// feature.
const SEVERAL: &[&str] = &["Metrics", "Result", "Timing"];

/// The bindings call a type like the type of the library that it contains.
const BINDINGS: &[&str] = &["bindings/c", "bindings/python"];

/// The names that a Rust or Python text defines: of types, functions and modules, with their lines.
fn definitions(text: &str) -> impl Iterator<Item = (usize, &'static str, String)> {
    const MODIFIERS: &[&str] = &["async", "const", "default", "extern", "pub", "unsafe"];
    const KEYWORDS: &[&str] =
        &["class", "def", "enum", "fn", "mod", "struct", "trait", "type", "union"];
    text.lines().enumerate().filter_map(|(number, line)| {
        let mut tokens = line.split_whitespace().skip_while(|token| {
            MODIFIERS.contains(token) || token.starts_with("pub(") || token.starts_with('"')
        });
        let keyword = tokens.next()?;
        let keyword = KEYWORDS.iter().find(|known| **known == keyword)?;
        let is_part = |letter: &char| letter.is_alphanumeric() || *letter == '_';
        let name: String = tokens.next()?.chars().take_while(is_part).collect();
        (!name.is_empty()).then_some((number + 1, *keyword, name))
    })
}

/// The words of a name in snake case or camel case, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

fn is_type(keyword: &str) -> bool {
    !["def", "fn", "mod"].contains(&keyword)
}

#[test]
fn no_name_is_one_that_readers_stumble_over() {
    let mut found = String::new();
    for (path, text) in texts().iter().filter(|(path, _)| !is_allowed(path)) {
        if !path.extension().is_some_and(|end| end == "rs" || end == "py") {
            continue;
        }
        for (line, keyword, name) in definitions(text) {
            // An associated type is not one that a reader looks up.
            if keyword == "type" && text.lines().nth(line - 1).is_some_and(|l| l.starts_with(' ')) {
                continue;
            }
            let exact = if is_type(keyword) { TYPES } else { FUNCTIONS };
            let exact = exact.iter().filter(|(bad, _)| keyword != "mod" && *bad == name);
            let words = words_of(&name);
            let in_words = WORDS.iter().filter(|(bad, _)| words.iter().any(|word| word == bad));
            for (bad, instead) in exact.chain(in_words) {
                found += &format!(
                    "{}:{line}: {keyword} {name}\n    instead of {bad:?}: {instead}\n",
                    path.display()
                );
            }
        }
    }
    assert!(found.is_empty(), "\n{found}");
}

#[test]
fn each_type_name_is_defined_once() {
    let mut places: BTreeMap<(Option<&str>, String), Vec<String>> = BTreeMap::new();
    for (path, text) in texts() {
        if path.extension().is_none_or(|end| end != "rs") || path.starts_with("fuzz") {
            continue;
        }
        // Types within functions and associated types are indented.
        let at_top: String = text
            .split_inclusive('\n')
            .map(|line| if line.starts_with(char::is_whitespace) { "\n" } else { line })
            .collect();
        for (line, _, name) in definitions(&at_top).filter(|(_, keyword, _)| is_type(keyword)) {
            let binding = BINDINGS.iter().copied().find(|binding| path.starts_with(binding));
            places.entry((binding, name)).or_default().push(format!("{}:{line}", path.display()));
        }
    }
    places.retain(|(_, name), places| places.len() > 1 && !SEVERAL.contains(&name.as_str()));
    assert!(places.is_empty(), "{places:#?}");
}
