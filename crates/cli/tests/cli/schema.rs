//! JSON schemas, and tests that the JSON output of all verbs matches them.

use simkeep_testing::depth::up_to;
use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// The schemas that are published.
fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")
}

/// The schema of each verb.
fn schemas() -> BTreeMap<String, Value> {
    let printed: Value = serde_json::from_str(&TestFolder::new().done(&["schema"])).unwrap();
    printed.as_object().unwrap().clone().into_iter().collect()
}

/// The files that are to be in `docs/schema`.
fn files_of_schemas() -> BTreeMap<String, String> {
    let file = |(verb, schema): (String, Value)| {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        (format!("{}.json", verb.replace(' ', "-")), text)
    };
    schemas().into_iter().map(file).collect()
}

#[test]
fn schemas_in_docs_match_the_printed_ones() {
    let names = std::fs::read_dir(published()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let read = |name: String| {
        let text = std::fs::read_to_string(published().join(&name)).unwrap();
        (name, text)
    };
    let found: BTreeMap<String, String> = names.map(read).collect();
    let made = files_of_schemas();
    let all: BTreeSet<&String> = found.keys().chain(made.keys()).collect();
    let other: Vec<&&String> =
        all.iter().filter(|name| found.get(**name) != made.get(**name)).collect();
    assert!(
        other.is_empty(),
        "docs/schema is not what `simkeep schema` prints: {other:?}. No key may be renamed; if some were \
         added, make it anew:\n  cargo test --release -p simkeep-cli --test cli make_schemas -- --ignored"
    );
    for verb in ["history", "inspect page", "messages"] {
        let words = verb.split(' ').collect::<Vec<_>>();
        let one = TestFolder::new().done(&[&["schema"], &words[..]].concat());
        assert_eq!(made[&format!("{}.json", verb.replace(' ', "-"))], one);
    }
}

#[test]
#[ignore = "writes docs/schema"]
fn make_schemas() {
    let _ = std::fs::remove_dir_all(published());
    std::fs::create_dir_all(published()).unwrap();
    for (name, text) in files_of_schemas() {
        std::fs::write(published().join(name), text).unwrap();
    }
}

/// Forbids keys that the schema does not name. The published schemas allow them, since a later version
/// may add some.
fn closed(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") {
                object.entry("additionalProperties").or_insert(false.into());
            }
            object.values_mut().for_each(closed);
        }
        Value::Array(all) => all.iter_mut().for_each(closed),
        _ => {}
    }
}

/// The schemas that validate answers, and the verbs that were run.
struct SchemaChecker {
    schemas: boon::Schemas,
    verbs: BTreeMap<String, boon::SchemaIndex>,
    seen: BTreeSet<String>,
    wrong: Vec<String>,
}

impl SchemaChecker {
    fn new() -> SchemaChecker {
        let (mut compiler, mut schemas) = (boon::Compiler::new(), boon::Schemas::new());
        compiler.enable_format_assertions();
        let mut verbs = BTreeMap::new();
        for (verb, mut schema) in self::schemas() {
            closed(&mut schema);
            let name = format!("simkeep:///{}", verb.replace(' ', "-"));
            compiler.add_resource(&name, schema).unwrap();
            verbs.insert(verb, compiler.compile(&name, &mut schemas).unwrap());
        }
        SchemaChecker { schemas, verbs, seen: BTreeSet::new(), wrong: Vec::new() }
    }

    fn check(&mut self, verb: &str, args: &[&str], line: &str) {
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(e) => return self.wrong.push(format!("{args:?}: {e}: {line}")),
        };
        self.seen.insert(verb.to_owned());
        if let Err(e) = self.schemas.validate(&value, self.verbs[verb]) {
            self.wrong.push(format!("{args:?} is not as its schema says: {e:#}\n{line}"));
        }
    }

    /// Runs a verb, and validates all its output against its schema.
    fn run(&mut self, place: &TestFolder, args: &[&str]) -> ToolRun {
        self.run_with(place, args, "")
    }

    fn run_with(&mut self, place: &TestFolder, args: &[&str], input: &str) -> ToolRun {
        let two = args.iter().take(2).copied().collect::<Vec<_>>().join(" ");
        let verb = if self.verbs.contains_key(&two) { two } else { args[0].to_owned() };
        let ran = place.run_with_input(&[args, &["--json"]].concat(), input);
        ran.out.lines().for_each(|line| self.check(&verb, args, line));
        ran.err.lines().for_each(|line| self.check("messages", args, line));
        if ran.code > 1 && ran.err.is_empty() && ran.out.is_empty() {
            self.wrong.push(format!("{args:?} ended with {} and said nothing", ran.code));
        }
        ran
    }

    /// Runs all reading verbs on a store with this page and this epoch.
    fn ask(&mut self, place: &TestFolder, url: &str, epoch: &str) {
        let print = "00000000000000ff";
        let all: &[&[&str]] = &[
            &["stats"],
            &["stats", "--changes"],
            &["stats", "--saved"],
            &["stats", "--saved", "--by-host"],
            &["stats", "--validators"],
            &["verify"],
            &["inspect"],
            &["inspect", "--deep"],
            &["inspect", "page", url],
            &["inspect", "page", url, "--limit", "all"],
            &["inspect", "host", "example.com"],
            &["inspect", "host", "example.org"],
            &["inspect", "fingerprint", print, "-k", "9", "--epoch", epoch],
            &["inspect", "segment", "1"],
            &["inspect", "segment", "1", "--dump", "--limit", "all"],
            &["inspect", "segment", "2"],
            &["inspect", "epoch", epoch],
            &["inspect", "journal"],
            &["tail", "-n", "100"],
            &["tail", "--under", "example.com", "--near"],
            &["history", url],
            &["history", url, "--at", "2024-01-03"],
            &["near", "--url", url],
            &["near", print, "--epoch", epoch, "--ever", "--explain", "-k", "64"],
            &["near", print, "--epoch", epoch, "--nearest", "2"],
            &["near", "--batch", "lines", "--epoch", epoch],
            &["near", "--batch", "lines", "--lines", "url"],
            &["near", "--batch", "lines", "--lines", "text"],
            &["aliases", "--all", "-k", "64", "--min-pairs", "0"],
            &["aliases", "--under", "example.com"],
            &["pairs", "-k", "30"],
            &["pairs", "--pages"],
            &["cluster"],
            &["cluster", "--members", "--min-size", "1"],
            &["cluster", "--by-page", "-o", "leaders.jsonl"],
            &["cluster", "--balls"],
            &["cluster", "--components", "-k", "30"],
            &["cluster", "--since", "2024-01-01", "-k", "30"],
            &["cluster", "https://example.com/terms"],
            &["dedup", "-k", "30", "-o", "plan.jsonl"],
            &["dedup", "-k", "30", "--sample", "1"],
            &["scan"],
            &["mirrors"],
            &["mirrors", "--min-paths", "2"],
            &["scan", "example.com"],
            &["diff", "--since", "2024-01-02"],
            &["due"],
            &["due", "--by-host"],
            &["due", "--only-due", "--per-day", "5", "--now", "2030-01-01"],
            &["due", "--policy", "fixed:1d"],
            &["recrawl", url],
            &["recrawl", url, "--per-day", "0.000001"],
            &["recrawl", "https://none.example/"],
            &["simulate", "--policy", "value"],
            &["epoch", "list"],
            &["epoch", "stale"],
            &["df", "list"],
            &["export"],
            &["export", "-o", "export.jsonl"],
            &["export", "--under", "example.com", "--since", "2024-01-02"],
            &["export", "--in-force", "--no-tables"],
            &["report", "-o", "report.html"],
            &["forget", url, "--dry-run"],
        ];
        place.write("lines", [b"\xff\x1b\n", print.as_bytes(), b"\n", url.as_bytes()].concat());
        for args in all {
            self.run(place, args);
        }
    }

    /// Asserts that all output was valid.
    fn finish(&self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

const TERMS: &str = "https://example.com/terms";

/// A copy of a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() { copy(&from, &to) } else { std::fs::copy(&from, &to).map(drop).unwrap() }
    }
}

/// A folder with a sealed store, and the segments of the store.
fn sealed(lines: &str) -> (TestFolder, Vec<PathBuf>) {
    let place = TestFolder::with(lines);
    place.open().seal().unwrap();
    let found = files(&place.store()).into_iter().map(|(path, ..)| path);
    let segments = found.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect();
    (place, segments)
}

#[test]
fn output_of_queries_matches_the_schemas() {
    let mut checker = SchemaChecker::new();
    let empty = TestFolder::new();
    empty.done(&["epoch", "begin"]);
    checker.ask(&empty, TERMS, "html/3 words2-sqrt/2");
    checker.ask(&TestFolder::with(CRAWL), TERMS, "e");
    checker.ask(&sealed(CRAWL).0, TERMS, "e");
    checker.ask(&TestFolder::new(), TERMS, "e");

    let golden = TestFolder::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../format/golden/v6"), &golden.store());
    let page = golden.run(&["scan", "--json"]).objects().remove(0)["url"].take();
    let epochs = golden.run(&["epoch", "list", "--json"]).objects();
    for epoch in epochs.iter().take(up_to(epochs.len())) {
        checker.ask(&golden, page.as_str().unwrap(), epoch["epoch"].as_str().unwrap());
    }
    assert!(epochs.len() > 1);
    checker.finish();
}

#[test]
fn output_about_damage_matches_the_schemas() {
    let mut checker = SchemaChecker::new();
    for offset in [0, 70, 4000] {
        let (place, segments) = sealed(CRAWL);
        let mut bytes = std::fs::read(&segments[0]).unwrap();
        let at = offset.min(bytes.len() - 5);
        bytes[at] ^= 1;
        std::fs::write(&segments[0], bytes).unwrap();
        checker.ask(&place, TERMS, "e");
        checker.run(&place, &["repair", "--to", "saved"]);
    }
    let (place, segments) = sealed(CRAWL);
    std::fs::remove_file(&segments[0]).unwrap();
    checker.ask(&place, TERMS, "e");
    checker.run(&place, &["repair", "--to", "saved"]);
    let place = TestFolder::with(CRAWL);
    std::fs::write(place.path("store/catalog.redb"), [7; 9000]).unwrap();
    checker.ask(&place, TERMS, "e");
    checker.run(&place, &["repair", "--to", "saved"]);
    let (place, _) = sealed(CRAWL);
    checker.run(&place, &["repair", "--to", "saved"]);
    checker.finish();
}

/// Hostile URLs and names: quotes, markup, direction marks, and 8 KiB of them.
#[test]
fn output_with_untrusted_text_matches_the_schemas() {
    let mut checker = SchemaChecker::new();
    let long = format!("https://example.com/{}", "\u{202e}é\"".repeat(1360));
    let urls = [
        "https://example.com/\u{202e}\"</svg>\\",
        "javascript:alert('\"')",
        "=cmd|' /C calc'!A0",
        "https://example.com/\u{feff}\u{200b}?a=\u{e0001}",
        &long,
    ];
    let epoch = "\u{202e}\"e\" </script>";
    let mut lines = String::new();
    for (n, url) in urls.iter().enumerate() {
        for (t, print) in [(1_704_067_200, n), (1_704_153_600, n + 7), (1_704_240_000, n)] {
            let line = json!({
                "url": url, "t": t, "fingerprint": format!("{print:016x}"), "epoch": epoch,
                "digest": format!("{print:032x}"), "weight": 2.5, "modified": t - 1, "status": 200,
                "class": n % 2,
            });
            lines += &format!("{line}\n");
        }
    }
    let (place, _) = sealed(&lines);
    for url in urls {
        checker.ask(&place, url, epoch);
    }
    checker.ask(&place, "no\u{7f}url", "none");
    let writer = place.open();
    checker.ask(&place, urls[0], epoch);
    drop(writer);
    checker.finish();
}

/// The output of the other verbs; also asserts that no verb was left out.
#[test]
#[expect(clippy::too_many_lines, reason = "a list of commands")]
fn output_of_all_other_verbs_matches_the_schemas() {
    let mut checker = SchemaChecker::new();
    let place = TestFolder::new();
    let text = |from: usize| (from..from + 150).map(|n| format!("word{n} ")).collect::<String>();
    let page =
        |url: &str, t: u64, text: &str| json!({"url": url, "t": t, "text": text}).to_string();
    let mut pages = Vec::new();
    for n in 0..6 {
        for version in 0..4_u64 {
            let (url, t) = (format!("https://example.com/{n}"), 1_704_067_200 + version * 400_000);
            pages.push(page(&url, t, &text(n + usize::from(version == 2))));
            pages.push(page(&url.replace("com", "org"), t + 60, &text(n)));
            pages.push(page(&format!("{url}?sid={version}"), t, &text(n)));
        }
    }
    let lines = place.write("pages.jsonl", pages.join("\n"));
    let documents = (0..6).map(|n| {
        let url = format!("https://example.net/{n}");
        json!({"id": n.to_string(), "url": url, "t": 1, "text": text(n % 4)}).to_string()
    });
    let documents = place.write("documents.jsonl", documents.collect::<Vec<_>>().join("\n"));
    let pairs = place.write("pairs.tsv", "0\t1\t0.9\n1\t2\t0.6\n");
    place.write("text.txt", text(0));
    place.write("short.txt", "a few");
    place.write("broken.jsonl", "{\"url\":1}\n");
    let asks = ["near", "history", "latest"].map(|ask| format!("\"ask\":\"{ask}\""));
    let urls = ["https://example.com/1", "urn:none"].map(|url| format!("\"url\":\"{url}\""));
    let questions =
        urls.iter().flat_map(|url| asks.iter().map(move |ask| format!("{{{url},{ask}}}\n")));
    place.write("questions.jsonl", questions.collect::<String>());
    let recipe = ["--recipe", "words-idf"];
    for args in [
        &["df", "build", &lines, "--output", "a.df", "--recipe", "words-idf"][..],
        &["df", "build", &documents, "--output", "b.df", "--recipe", "words-idf"],
        &["df", "freeze", "a.df", "b.df", "--output", "c.df"],
        &["df", "show", "a.df"],
        &["df", "show", "a.df", "word1 word2", "word7"],
        &["df", "compare", "a.df", "b.df"],
        &["df", "compare", "a.df", "b.df", &lines],
        &["df", "compare", "a.df", "none.df"],
        &["epoch", "begin"],
        &["ingest", &lines],
        &["ingest", &lines],
        &["ingest", "broken.jsonl"],
        &["ingest", "broken.jsonl", "--strict"],
        &["ingest", "text.txt", "short.txt"],
        &[
            "ingest",
            &lines,
            "broken.jsonl",
            &documents,
            "questions.jsonl",
            "text.txt",
            "--outcomes",
        ],
        &["epoch", "begin", recipe[0], recipe[1], "--df", "a.df"],
        &["epoch", "stale"],
        &["ingest", &lines, "--restate"],
        &["epoch", "end", "html/3 words2-sqrt/2", "--left", "9"],
        &["epoch", "end", "none"],
        &["load", "store", "--store", "loaded"],
        &["load", &lines, "--store", "other"],
        &["load", &lines, "--store", "other"],
        &["load", "broken.jsonl", "--store", "none"],
        &["dedup", "--filter", &lines, &documents, "--to", "clean"],
        &["dedup", "--filter", &lines, "--to", "clean"],
        &["diff", "store", "other"],
        &["diff", "other", "store"],
        &["diff", "--exact", "store", "other"],
        &["fingerprint", "text.txt", "short.txt", "none.txt"],
        &["fingerprint", "text.txt", "--explain"],
        &["fingerprint", "text.txt", "--explain", recipe[0], recipe[1], "--df", "a.df"],
        &["fingerprint", "--recipes"],
        &["aliases", "--all"],
        &["near", "--text", "text.txt"],
        &["near", "--text", "short.txt"],
        &["mirrors", "--min-paths", "2"],
        &["evaluate", &documents, "--pairs", &pairs, "--seeds", "2"],
        &["evaluate", &documents, "--shingles", "2"],
        &["evaluate", "--versions", &lines, "--magnitude"],
        &["simulate", "--random", "by-host", "--days", "9", "--seeds", "2"],
        &["simulate"],
        &["tail", "-n", "100", "--near"],
        &["inspect", "journal"],
        &["backup", "safe"],
        &["backup", "safe"],
        &["backup", "saved", "--copy"],
        &["backup", "other"],
        &["publish", "-s", "other", "--to", "public"],
        &["publish", "--to", "public", "--list"],
        &["compact", "--dry-run", "other"],
        &["compact", "-s", "other"],
        &["inspect", "journal"],
        &["tail"],
        &["repair", "--to", "saved"],
        &["repair", "--to", "saved2"],
        &["forget", "https://example.com/1"],
        &["forget", "--under", "example.com", "--purge", "--published", "public"],
        &["forget", "https://example.com/1", "--under", "x"],
    ] {
        checker.run(&place, args);
    }
    checker.ask(&place, TERMS, "html/3 words2-sqrt/2");
    let loaded = TestFolder::with(CRAWL);
    checker.ask(&loaded, TERMS, "e");
    checker.finish();
    // None may be without an answer that was looked at.
    let all: BTreeSet<String> = checker.verbs.keys().cloned().collect();
    assert_eq!(all.difference(&checker.seen).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// An unknown or missing key is detected.
#[test]
fn object_with_other_keys_violates_its_schema() {
    let mut checker = SchemaChecker::new();
    let line = TestFolder::with(CRAWL).done(&["stats", "--json"]);
    let stats: Value = serde_json::from_str(&line).unwrap();
    for (key, value) in [("pages", None), ("bytes", Some(json!(1))), ("pages", Some(json!("1")))] {
        let mut changed = stats.clone();
        match value {
            Some(value) => drop(changed.as_object_mut().unwrap().insert(key.to_owned(), value)),
            None => drop(changed.as_object_mut().unwrap().remove(key)),
        }
        checker.check("stats", &[], &changed.to_string());
    }
    assert_eq!(checker.wrong.len(), 3);
    checker.check("stats", &[], line.trim_end());
    assert_eq!(checker.wrong.len(), 3);
}
