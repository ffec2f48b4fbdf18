//! Every example in every help runs.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime};

use flate2::write::GzEncoder;

use super::archive::response;
use super::*;

/// The widest width of a help text.
const WIDTH: &str = "100";
/// Far longer than any example takes to print its first lines.
const PATIENCE: Duration = Duration::from_secs(60);
/// Other programs that examples use together with the tool. A script replaces a missing program, so that
/// the example can still be tested.
const STAND_INS: &[(&str, &str)] = &[
    ("curl", "exec cat > /dev/null"),
    ("jq", "exec cat > /dev/null"),
    ("man", "exec cat > /dev/null"),
    // The tool decompresses by itself.
    ("zstd", "for last; do :; done; exec cat \"$last\""),
];

/// Options with large numbers of random visits and crawls, and smaller numbers to test that an example
/// runs.
const FEWER: &[(&str, &str)] = &[
    ("--per-day 5000", "--per-day 50"),
    ("--per-day 71", "--per-day 71 --seeds 1"),
    ("--seeds 20", "--seeds 2"),
];

/// A text with unique words.
fn text(of: &str, words: usize) -> String {
    (0..words).map(|n| format!("{of}{n} ")).collect()
}

/// A visit `day` days after 2024-01-01.
fn visit(url: &str, day: u64, more: &Value) -> String {
    let mut line = json!({"url": url, "t": 1_704_067_200 + 86_400 * day});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

/// Pages of a few sites, some that change and some that do not, and two that are near each other.
fn pages() -> String {
    let mut lines = String::new();
    for day in 0..60 {
        let news = text(&format!("day{day}x"), 120);
        lines += &visit("https://example.com/news", day, &json!({ "text": news }));
        for page in ["", "private", "docs", "docs/first"] {
            let url = format!("https://example.com/{page}");
            lines += &visit(&url, day, &json!({ "text": text(&format!("{page}x"), 150) }));
        }
    }
    let terms = [text("terms", 200), text("terms", 190) + "and another end of the last sentence"];
    for (day, version) in [(0, 0), (100, 1), (200, 0)] {
        lines += &visit("https://example.com/terms", day, &json!({ "text": terms[version] }));
    }
    lines += &visit("https://example.org/terms", 50, &json!({"text": terms[0].clone() + "also"}));
    for (url, words) in [("https://docs.example.com/", "docs"), ("https://www.example.com/", "x")] {
        lines += &visit(url, 50, &json!({ "text": text(words, 150) }));
    }
    for (page, visitor) in (0..12).flat_map(|page| [(page, ""), (page, "?sid=1")]) {
        let url = format!("https://example.com/item/{page}{visitor}");
        lines += &visit(&url, 50, &json!({ "text": text(&format!("item{page}x"), 100) }));
    }
    for (host, page) in (0..48).map(|n| (["docs", "www"][n % 2], n / 2)) {
        let url = format!("https://{host}.example.com/{page}");
        lines += &visit(&url, 50, &json!({ "text": text(&format!("{page}m"), 90) }));
    }
    lines += &visit("file:///home/x/notes", 50, &json!({ "text": text("notes", 100) }));
    for (page, fingerprint) in [("one", "0123456789abcdef"), ("two", "0123456789abcdee")] {
        let made = json!({"fingerprint": fingerprint, "epoch": "html/3 words2-sqrt/2"});
        lines += &visit(&format!("https://example.com/{page}"), 50, &made);
    }
    lines
}

/// A recent visit.
fn late() -> String {
    let today = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() - 3600;
    let page = json!({"url": "https://example.com/today", "t": today, "text": text("t", 90)});
    format!("{page}\n")
}

fn gz(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes.as_ref()).unwrap();
    packer.finish().unwrap()
}

fn zst(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    zstd::encode_all(bytes.as_ref(), 1).unwrap()
}

/// All stores, archives, files and folders that the examples name.
fn inputs() -> TestFolder {
    let place = TestFolder::new();
    let pages = pages();
    place.write("pages.jsonl", &pages);
    place.write("late.jsonl", late());
    for name in ["pages.jsonl.zst", "pages-1.jsonl.zst", "pages-2.jsonl.zst"] {
        place.write(name, zst(&pages));
    }
    for name in ["crawl", "yesterday", "old"] {
        // A segment, and a journal.
        let store = format!("{name}.simkeep");
        place.done(&["load", "pages.jsonl", "--store", &store]);
        if name == "crawl" {
            // Publishing seals the store first.
            place.done(&["publish", "-s", &store, "--to", "srv/crawl"]);
        }
        place.done(&["ingest", "late.jsonl", "--store", &store]);
    }
    place.done(&["load", "crawl.simkeep", "--store", "copy.simkeep"]);
    place.done(&["backup", "backup/crawl.simkeep", "--store", "crawl.simkeep"]);
    place.done(&["export", "-o", "crawl.jsonl.zst", "--store", "crawl.simkeep"]);
    let urls = ["https://example.com/terms", "https://example.net/a", "https://example.net/b"];
    let record = |url: &&str| {
        let text = text(url.rsplit('/').next().unwrap(), 80);
        response(url, 9, &archive::sha1(&text), &text)
    };
    let archive = gz(urls.iter().map(record).collect::<String>());
    for name in ["crawl", "crawl-1", "crawl-2", "crawl-2024-1", "site-1", "site-2", "pages"] {
        place.write(&format!("{name}.warc.gz"), &archive);
    }
    for name in ["page", "terms", "privacy"] {
        place.write(&format!("{name}.html"), format!("<p>{}</p>", text(name, 200)));
    }
    place.write("documents/a.txt", text("a", 30));
    let document = |n: usize| {
        // Every third one is nearly equal to the one before it.
        let words = text(&format!("w{}x", n - n % 3), 60 + n % 3);
        format!("{}\n", json!({"id": n.to_string(), "text": words}))
    };
    let documents: String = (0..60).map(document).collect();
    place.write("documents.jsonl.zst", zst(&documents));
    place.write("documents.jsonl", &documents);
    place.write(
        "pairs.tsv",
        (0..20).map(|n| format!("{}\t{}\t0.9\n", 3 * n, 3 * n + 1)).collect::<String>(),
    );
    let version = |n: usize| {
        let words = text("w", 150).replace("w7 ", &format!("other{n} ")) + &"more ".repeat(n);
        visit("https://example.com/terms", n as u64, &json!({ "text": words }))
    };
    place.write("histories.jsonl", (0..20).map(version).collect::<String>());
    place.write("fingerprints.txt", "0123456789abcdef\n0123456789abcdee\n");
    place.write("urls.txt", "https://example.com/terms\nhttps://example.com/none\n");
    place.write("rules.jsonl", "{\"under\":\"example.com/news\",\"max\":\"1d\"}\n");
    let hint = "<loc>https://example.com/news</loc><lastmod>2024-05-01</lastmod>";
    let sitemap = format!("<urlset><url>{hint}</url></urlset>");
    place.write("sitemap.xml.gz", gz(sitemap));
    place.write("fish.txt", "fish and chips, and chips and fish ".repeat(20));
    place.done(&["df", "build", "fish.txt", "pages.jsonl", "--output", "2025.df"]);
    let foreign = json!({"id": "a-1", "text": text("a", 30), "metadata": {"date": "2004-02-01"}});
    place.write("corpus.jsonl", format!("{foreign}\n"));
    for folder in [".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"]
    {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    for (program, script) in STAND_INS {
        // A test makes no requests.
        if *program == "curl" || Command::new(program).arg("--version").output().is_err() {
            eprintln!("stood in for: {program}");
            let path = place.write(&format!("bin/{program}"), format!("#!/bin/sh\n{script}\n"));
            let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(path, may_run).unwrap();
        }
    }
    place
}

/// The arguments that request each help: of the tool, its verbs, and their subcommands.
fn helps(place: &TestFolder) -> Vec<Vec<String>> {
    place.done(&["man", "--to", "pages-of-man"]);
    let names = files(&place.path("pages-of-man")).into_iter().map(|(path, ..)| path);
    let name = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    names.map(|path| name(path).split('-').skip(1).map(str::to_owned).collect()).collect()
}

/// The command lines of the examples in a printed help: those of its list, and each one that is alone on
/// a line further down.
fn examples(help: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_list, mut is_one) = (false, false);
    for line in help.lines() {
        // An indented line continues the one before.
        let hangs = line.starts_with("   ");
        is_list = line == "Examples:" || is_list && !line.is_empty();
        is_one = line.starts_with("  ")
            && (is_one && hangs || is_list || line.starts_with("  simkeep "));
        match found.last_mut() {
            _ if !is_one => {}
            Some(last) if hangs => *last += &format!(" {}", line.trim_start()),
            _ => found.push(line.trim_start().to_owned()),
        }
    }
    // Two spaces separate a command from its explanation.
    found.iter().map(|line| line.split("  ").next().unwrap().to_owned()).collect()
}

/// The verb and subcommand of each command of an example.
fn asked<'h>(example: &str, helps: &'h [Vec<String>]) -> Vec<&'h Vec<String>> {
    let calls = example.split('|').filter_map(|part| part.trim().strip_prefix("simkeep "));
    let longest = |call: &str| {
        let words: Vec<&str> = call.split_whitespace().collect();
        let fits = helps
            .iter()
            .filter(|help| words.len() >= help.len() && help.iter().eq(&words[..help.len()]));
        fits.max_by_key(|help| help.len()).unwrap()
    };
    calls.map(longest).collect()
}

/// The example as a shell runs it in this folder.
fn shell(place: &TestFolder, example: &str) -> Command {
    let mut command = Command::new("bash");
    // This folder replaces the root of the disk.
    let mut line = example.to_owned();
    for folder in ["backup", "srv"] {
        line = line.replace(&format!(" /{folder}/"), &format!(" {}/", place.file(folder)));
    }
    for (many, fewer) in FEWER {
        line = line.replace(many, fewer);
    }
    command.args(["-o", "pipefail", "-c", &line]).current_dir(place.path("."));
    let tool = Path::new(env!("CARGO_BIN_EXE_simkeep")).parent().unwrap().to_owned();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = [place.path("bin"), tool].into_iter().chain(std::env::split_paths(&paths));
    command.env("PATH", std::env::join_paths(paths).unwrap());
    command.env("HOME", place.path(".")).env("MANPATH", place.path(".local/share/man"));
    // An example may name its store first.
    let is_store = |word: &str| word.ends_with(".simkeep") || word.ends_with("srv/crawl");
    if line.split(' ').any(is_store) {
        command.env_remove("SIMKEEP_STORE");
    } else {
        command.env("SIMKEEP_STORE", "crawl.simkeep");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the examples of one help one after another in their own folder, since one may need the output of
/// another.
fn tried(inputs: &TestFolder, examples: &[String]) -> Vec<String> {
    let place = TestFolder::new();
    let copied = Command::new("cp").arg("-r").args([inputs.path("."), place.path(".")]).status();
    assert!(copied.unwrap().success());
    let mut wrong = Vec::new();
    for example in examples {
        let mut command = shell(&place, example);
        // It goes on until it is stopped.
        if example.starts_with("simkeep tail -f") {
            let mut running = command.spawn().unwrap();
            let out = BufReader::new(running.stdout.take().unwrap());
            let (heard, saw) = channel();
            std::thread::spawn(move || {
                let mut lines = out.lines().map_while(Result::ok);
                let _ = heard.send(lines.any(|line| line.contains("://example.com/")));
            });
            let shown = saw.recv_timeout(PATIENCE).is_ok_and(|shown| shown);
            let ended = running.try_wait().unwrap();
            let _ = running.kill();
            let _ = running.wait();
            if ended.is_some() || !shown {
                wrong.push(format!("{example}: {ended:?}, {shown}"));
            }
            continue;
        }
        let ran = ToolRun::from(command.output().unwrap());
        if ran.code != 0 {
            wrong.push(format!("{example}: {}: {}{}", ran.code, ran.out, ran.err));
        }
    }
    wrong
}

#[test]
fn every_help_example_runs_and_each_verb_has_one() {
    let inputs = inputs();
    let helps = helps(&inputs);
    let (mut wrong, mut shown, mut count) = (Vec::new(), Vec::new(), 0);
    for help in &helps {
        let asks = [help.iter().map(String::as_str).collect(), vec!["--help"]].concat();
        let printed = ToolRun::from(inputs.command(&asks).env("COLUMNS", WIDTH).output().unwrap());
        assert_eq!(printed.code, 0, "{help:?}");
        let examples = examples(&printed.out);
        count += examples.len();
        for example in &examples {
            let asked = asked(example, &helps);
            assert!(!asked.is_empty() || example.starts_with("man simkeep"), "{example}");
            shown.extend(asked);
        }
        wrong.extend(tried(&inputs, &examples));
    }
    for help in helps.iter().filter(|help| !help.is_empty() && !shown.contains(help)) {
        // What only leads to those below it.
        let leads = helps.iter().any(|other| other.len() > help.len() && other.starts_with(help));
        if !leads {
            wrong.push(format!("{help:?} has no example"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 100, "{count}");
}

#[test]
fn examples_are_distinguished_from_their_explanations() {
    let list = "Examples:\n  simkeep a 'b c' |\n    jq d      that\n  simkeep e   which\n\n";
    let help = format!("Usage\n\n{list}Text\n  name  simkeep\n  simkeep f\n    g\n");
    assert_eq!(examples(&help), ["simkeep a 'b c' | jq d", "simkeep e", "simkeep f g"]);
}
