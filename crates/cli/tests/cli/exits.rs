//! The exit code of each verb, as in the table at the end of `simkeep --help`.

use std::io::{BufRead as _, BufReader};

use super::*;

/// A store that has no page and one that has some; files to read, whole and broken; no store at all.
fn place() -> TestFolder {
    let place = TestFolder::with(CRAWL);
    let text: String = (0..200).map(|n| format!("word{n} ")).collect();
    place.write("text.txt", &text);
    place.write("short.txt", "a few words");
    place.write(
        "good.jsonl",
        r#"{"url":"http://a/","t":1,"fingerprint":"00000000000000ff","epoch":"e"}"#,
    );
    place.write("broken.jsonl", "{\"url\":\"http://a/\"\n");
    place.write("broken.rules", "{\"max\":\"soon\"}\n");
    place.write("df/broken.df", "no table");
    place.write("nothing/here.txt", "");
    place.write("urls", "https://example.org/\n");
    for store in ["empty", "damaged"] {
        place.done(&["epoch", "begin", "--store", store]);
    }
    let mirrored = (0..24).map(|n| {
        let (host, page) = (n % 2, n / 2);
        format!(r#"{{"url":"http://{host}.example/{page}","t":1,"fingerprint":"{page:016x}"}}"#)
    });
    let mirrored = place.write("mirrored.jsonl", mirrored.collect::<Vec<_>>().join("\n"));
    place.done(&["load", &mirrored, "--store", "mirrored"]);
    let catalog = place.path("damaged/catalog.redb");
    std::fs::write(catalog, [7; 9000]).unwrap();
    place
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn each_verb_exits_with_the_documented_code() {
    let place = place();
    let known = "https://example.com/terms";
    let table: &[(i32, &[&str])] = &[
        // Done. A list without rows is no failure, since nothing in particular was requested.
        (0, &["history", known]),
        (0, &["near", "--url", known]),
        (0, &["pairs"]),
        (0, &["pairs", "-k", "64", "--pages", "--pages-per-fingerprint", "all"]),
        (0, &["cluster"]),
        (0, &["cluster", known]),
        (0, &["cluster", "--balls"]),
        (0, &["cluster", "--components"]),
        (0, &["dedup"]),
        (0, &["dedup", "--filter", "good.jsonl", "--to", "filtered"]),
        (0, &["scan"]),
        (0, &["mirrors", "--store", "mirrored"]),
        (0, &["inspect"]),
        (0, &["inspect", "-s", "empty", "--deep"]),
        (0, &["inspect", "page", known]),
        (0, &["inspect", "epoch", "e"]),
        (0, &["inspect", "journal"]),
        (0, &["inspect", "journal", "--store", "empty"]),
        (0, &["inspect", "fingerprint", "00000000000000ff"]),
        (0, &["diff", "--since", "2024-01-02"]),
        (0, &["report", "-o", "report.html"]),
        (0, &["backup", "backup"]),
        (0, &["backup", "backup", "--copy"]),
        (0, &["publish", "--to", "public"]),
        (0, &["compact", "--dry-run"]),
        (0, &["compact", "-s", "empty"]),
        (0, &["stats"]),
        (0, &["stats", "-s", "empty"]),
        (0, &["stats", "-s", "empty", "--prometheus"]),
        (0, &["tail"]),
        (0, &["tail", "-s", "empty"]),
        (0, &["verify"]),
        (0, &["verify", "-s", "empty"]),
        (0, &["export"]),
        (0, &["export", "--store", "empty"]),
        (0, &["epoch", "list"]),
        (0, &["epoch", "stale"]),
        (0, &["epoch", "stale", "--store", "empty"]),
        (0, &["df", "list"]),
        (0, &["due"]),
        (0, &["due", "--store", "empty"]),
        (0, &["recrawl", known]),
        (0, &["fingerprint", "text.txt"]),
        (0, &["fingerprint", "short.txt"]),
        (0, &["df", "build", "text.txt", "--output", "text.df"]),
        (0, &["df", "show", "text.df"]),
        (0, &["ingest", "good.jsonl", "--store", "new"]),
        (0, &["ingest", "good.jsonl", "broken.jsonl", "--store", "new"]),
        (0, &["ingest", "nothing", "--store", "texts"]),
        (0, &["load", "good.jsonl", "--store", "loaded"]),
        (0, &["forget", known, "--dry-run"]),
        (0, &["--help"]),
        (0, &["schema"]),
        (0, &["completions", "fish"]),
        (0, &["man"]),
        (0, &["man", "--to", "pages/man1"]),
        (0, &["schema", "inspect", "page"]),
        (0, &["--version"]),
        // The requested page does not exist.
        (1, &["history", "https://example.com/none"]),
        (1, &["history", known, "--at", "1970"]),
        (1, &["inspect", "page", "https://example.com/none"]),
        (1, &["inspect", "segment", "9"]),
        (1, &["inspect", "segment", "9", "--dump"]),
        (1, &["inspect", "host", "example.net"]),
        (1, &["near", "--url", "https://example.com/none"]),
        (1, &["near", "5555555555555555", "--epoch", "e"]),
        (1, &["near", "--text", "short.txt", "--store", "empty"]),
        (1, &["near", "--batch", "nothing/here.txt", "--epoch", "e"]),
        (1, &["near", "--batch", "urls", "--lines", "url", "-k", "0"]),
        (1, &["aliases"]),
        (1, &["aliases", "--store", "empty"]),
        (1, &["pairs", "--store", "empty"]),
        (1, &["pairs", "--pages", "-k", "0", "--store", "empty"]),
        (1, &["cluster", "--store", "empty"]),
        (1, &["cluster", "--balls", "--store", "empty"]),
        (1, &["cluster", "--components", "--store", "empty"]),
        (1, &["cluster", "--under", "example.net"]),
        (1, &["cluster", "https://example.com/none"]),
        (1, &["cluster", "--since", "2300-01-01"]),
        (1, &["dedup", "--store", "empty"]),
        (1, &["dedup", "--under", "example.net"]),
        (1, &["scan", "example.net"]),
        (1, &["mirrors"]),
        (1, &["mirrors", "--store", "empty"]),
        (1, &["scan", "--store", "empty"]),
        (1, &["forget", "https://example.com/none"]),
        (1, &["due", "--under", "example.net"]),
        (1, &["recrawl", "https://example.com/none"]),
        (1, &["simulate", "--store", "empty"]),
        // The command line is invalid.
        (2, &["mirrors", "--min-share", "0"]),
        (2, &["mirrors", "--min-paths", "1"]),
        (2, &[]),
        (2, &["look"]),
        (2, &["schema", "look"]),
        (2, &["completions", "none"]),
        (2, &["backup"]),
        (2, &["diff"]),
        (2, &["inspect", "epoch", "none"]),
        (2, &["inspect", "segment", "9", "--section", "pages"]),
        (2, &["cluster", "--rule", "oldest"]),
        (2, &["cluster", "--since", "2024-02-01", "--until", "2024-01-01"]),
        (2, &["cluster", "--labels", "text.txt"]),
        (2, &["dedup", "--filter", "good.jsonl"]),
        (2, &["dedup", "--filter", "df", "--to", "filtered"]),
        (2, &["history"]),
        (2, &["history", known, "--at", "soon"]),
        (2, &["history", "no\u{7f}url"]),
        (2, &["near"]),
        (2, &["near", "123"]),
        (2, &["aliases", "--min-share", "1.1"]),
        (2, &["aliases", "--under", "no..host"]),
        (2, &["near", "--url"]),
        (2, &["near", "--text"]),
        (2, &["near", "--text", "text.txt"]),
        (2, &["near", "--batch", "urls", "--url", known]),
        (2, &["near", "--batch", "urls", "--text", "x"]),
        (2, &["near", "--batch", "urls", "--explain"]),
        (2, &["near", "5555555555555555", "--batch", "urls"]),
        (2, &["pairs", "-k", "0"]),
        (2, &["pairs", "--pages-per-fingerprint", "2"]),
        (2, &["pairs", "--pages", "--pages-per-fingerprint", "0"]),
        (2, &["near", "5555555555555555", "--epoch", "none"]),
        (2, &["scan", "no..host"]),
        (2, &["epoch", "begin", "--recipe", "words-idf"]),
        (2, &["epoch", "begin", "--recipe", "none"]),
        (2, &["fingerprint", "text.txt", "--recipe", "words-idf"]),
        (2, &["fingerprint", "text.txt", "--store", "empty"]),
        (2, &["stats", "empty", "--store", "new"]),
        (2, &["stats", "--prometheus", "--json"]),
        (2, &["stats", "--prometheus", "--changes"]),
        (2, &["stats", "-o", "simkeep.prom"]),
        // A record is broken where that is not allowed.
        (3, &["ingest", "broken.jsonl", "--strict"]),
        (3, &["ingest", "broken.jsonl", "--store", "new"]),
        (3, &["load", "broken.jsonl", "--store", "never"]),
        (3, &["near", "--batch", "urls"]),
        (3, &["dedup", "--filter", "text.txt", "--to", "filtered"]),
        (3, &["due", "--rules", "broken.rules"]),
        (3, &["evaluate", "broken.jsonl", "--shingles", "2"]),
        // Something is damaged.
        (4, &["inspect", "-s", "damaged"]),
        (4, &["stats", "-s", "damaged"]),
        (4, &["tail", "-s", "damaged"]),
        (4, &["verify", "-s", "damaged"]),
        (4, &["backup", "never", "--store", "damaged"]),
        (4, &["compact", "-s", "damaged"]),
        (4, &["near", "5555555555555555", "--store", "damaged"]),
        (4, &["mirrors", "--store", "damaged"]),
        (4, &["ingest", "good.jsonl", "--store", "damaged"]),
        // Another failure.
        (5, &["report", "-s", "none", "-o", "report.html"]),
        (5, &["stats", "-s", "none"]),
        (5, &["tail", "-s", "none"]),
        (5, &["man", "--to", "text.txt/man1"]),
        (5, &["backup", "never", "--store", "none"]),
        (5, &["backup", "df"]),
        (5, &["compact", "-s", "none"]),
        (5, &["history", known, "--store", "none"]),
        (5, &["near", "--batch", "none.txt"]),
        (5, &["verify", "-s", "text.txt"]),
        (5, &["dedup", "--filter", "none.jsonl", "--to", "filtered"]),
        (5, &["due", "--rules", "none.rules"]),
        (5, &["df", "show", "none.df"]),
        (5, &["df", "show", "df/broken.df"]),
        (5, &["ingest", "none.jsonl"]),
        (5, &["ingest", "good.jsonl", "--store", "text.txt/store"]),
    ];
    let mut wrong = Vec::new();
    for (code, args) in table {
        let ran = place.run(args);
        // Every failure is explained; `verify` reports damage as its result.
        let says_why = !ran.err.is_empty() || !ran.out.is_empty();
        if ran.code != *code || !says_why && *code != 0 {
            wrong.push(format!("{args:?}: {} for {code}: {}{}", ran.code, ran.out, ran.err));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn store_locked_by_a_writer_exits_with_5() {
    let place = TestFolder::with(CRAWL);
    let _writer = place.open();
    for args in [&["ingest", "-"][..], &["forget", "http://a/"], &["epoch", "begin"]] {
        assert_eq!(place.run(args).code, 5, "{args:?}");
    }
}

#[test]
fn verb_that_waits_for_a_writer_names_it_once() {
    let place = TestFolder::with(CRAWL);
    let writer = place.open();
    let mut waiting = place.command(&["forget", "https://example.com/terms"]).spawn().unwrap();
    let mut err = BufReader::new(waiting.stderr.take().unwrap()).lines();
    let note = err.next().unwrap().unwrap();
    // Some file systems report other inode numbers than the list of locks.
    let process = format!("process {}", std::process::id());
    assert!(note.contains(&process) || note.contains("another process"), "{note}");
    assert!(note.contains(" is using ") && note.contains("up to 5 seconds"), "{note}");
    drop(writer);
    assert!(waiting.wait().unwrap().success());
    assert_eq!(err.count(), 0);
}
