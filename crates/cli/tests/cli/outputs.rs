//! Output files never overwrite a file of a store.

use std::collections::BTreeSet;

use super::*;

/// The options that write a file or a folder, each with a command that ends in its value.
const WRITING: [(&str, &[&str]); 17] = [
    ("cluster --output", &["cluster", "--output"]),
    ("dedup --output", &["dedup", "--output"]),
    ("dedup --drop-list", &["dedup", "--drop-list"]),
    ("dedup --keep-list", &["dedup", "--keep-list"]),
    ("dedup --to", &["dedup", "--filter", "corpus.jsonl", "--to"]),
    ("df-build --output", &["df", "build", "corpus.jsonl", "--output"]),
    ("df-freeze --output", &["df", "freeze", "corpus.df", "--output"]),
    ("evaluate --plot", &["evaluate", "corpus.jsonl", "--pairs", "pairs.tsv", "--plot"]),
    ("export --output", &["export", "--output"]),
    ("export --output", &["export", "--format", "csv", "--output"]),
    ("forget --published", &["forget", "--under", "x.example", "--purge", "--yes", "--published"]),
    ("man --to", &["man", "--to"]),
    ("publish --to", &["publish", "--to"]),
    ("repair --to", &["repair", "--to"]),
    ("report --output", &["report", "--output"]),
    ("simulate --plot", &["simulate", "--per-day", "5", "--plot"]),
    ("stats --output", &["stats", "--prometheus", "--output"]),
];

/// The options that read a file or a folder, or whose files in a folder have no chosen name.
const READING: [&str; 15] = [
    "cluster --labels",
    "cluster --scratch",
    "dedup --filter",
    "dedup --scratch",
    "due --hints",
    "due --rules",
    "epoch-begin --df",
    "evaluate --pairs",
    "evaluate --versions",
    "fingerprint --df",
    "near --batch",
    "near --html",
    "near --text",
    "recrawl --hints",
    "recrawl --rules",
];

/// Each option in the manual whose value is a file or a folder, with its verb.
fn with_files() -> BTreeSet<String> {
    let place = TestFolder::new();
    place.done(&["man", "--to", "man1"]);
    let mut found = BTreeSet::new();
    for (path, _, bytes) in files(&place.path("man1")) {
        let verb = path.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in String::from_utf8(bytes).unwrap().lines() {
            let line = line.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "");
            let Some((options, value)) = line.split_once(" \\fI") else { continue };
            let kinds = ["FILE", "FILES", "FOLDER", "DIR", "PATH"];
            let value = value.trim_start_matches(['<', '[']);
            let is_file = value.split(['>', ']']).next().is_some_and(|kind| kinds.contains(&kind));
            if let (true, Some(option)) =
                (is_file, options.split(", ").find(|o| o.starts_with("--")))
            {
                let verb = verb.trim_start_matches("simkeep").trim_start_matches('-');
                found.insert(format!("{verb} {option}").trim().to_owned());
            }
        }
    }
    found
}

/// The files of a store and their contents, without `LOCK`, which names the process that opened it.
fn held(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = files(store).into_iter().map(|(path, _, bytes)| (path, bytes));
    all.filter(|(path, _)| !path.ends_with("LOCK")).collect()
}

/// A new option is added to one of the two lists.
#[test]
fn each_file_option_is_listed_as_reading_or_writing() {
    let known = WRITING.iter().map(|(name, _)| *name).chain(READING);
    assert_eq!(with_files(), known.map(str::to_owned).collect::<BTreeSet<_>>());
}

#[test]
fn output_never_overwrites_a_file_of_a_store() {
    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    let (other, store) = (TestFolder::with(CRAWL), place.store());
    std::os::unix::fs::symlink(&store, place.path("link")).unwrap();
    std::os::unix::fs::symlink(store.join("LOCK"), place.path("file")).unwrap();
    let document = |id| {
        format!(
            "{{\"id\":\"{id}\",\"url\":\"https://{id}.example/\",\"t\":1,\"text\":\"a b c d e f g h\"}}\n"
        )
    };
    place.write("corpus.jsonl", document("a") + &document("b"));
    place.write("pairs.tsv", "a\tb\n");
    place.done(&["df", "build", "corpus.jsonl", "--output", "corpus.df"]);
    let before = held(&store);
    let targets = [
        "store",
        "store/catalog.redb",
        "store/LOCK",
        "store/new",
        "store/segments/new",
        "link/new",
    ];
    for target in targets.iter().map(|target| place.file(target)).chain([place.file("file")]) {
        for (name, args) in WRITING {
            let args = [args, &[&target]].concat();
            let mut command = place.command(&args);
            let needs_none = ["df", "evaluate", "man"].iter().any(|verb| name.starts_with(verb));
            // Whatever store is read, if any is. To publish, a store is opened by its writer, which may
            // write to it.
            let stores = match name {
                _ if needs_none => vec![None],
                "publish --to" => vec![Some(&other)],
                _ => vec![Some(&place), Some(&other)],
            };
            for of in stores {
                match of {
                    Some(of) => command.env("SIMKEEP_STORE", of.store()),
                    None => command.env_remove("SIMKEEP_STORE"),
                };
                let ran = ToolRun::from(command.output().unwrap());
                assert_eq!(ran.code, 5, "{args:?}: {}", ran.err);
                assert!(held(&store) == before, "{args:?}: {}", ran.err);
            }
        }
    }
    place.done(&["verify"]);
}
