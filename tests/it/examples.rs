//! The examples run, and print the expected output. `cargo test` builds them with the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use simkeep_testing::in_repository;

/// The output of an example, line by line.
fn lines(example: &str) -> Vec<String> {
    lines_in(Path::new("."), example)
}

/// The output of an example that runs in this folder.
fn lines_in(folder: &Path, example: &str) -> Vec<String> {
    let tests = std::env::current_exe().unwrap();
    let target: PathBuf = tests.ancestors().nth(2).unwrap().into();
    let output = Command::new(target.join("examples").join(example))
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("{e}; `cargo build --release --examples` builds {example}"));
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn crawler_example_prints_the_outcome_of_each_page() {
    let expected = [
        "day 1",
        "  https://example.com/                  new",
        "  https://example.com/calendar?month=1  new",
        "  https://example.com/news              new",
        "  https://example.com/offer             new",
        "  https://example.com/terms             new",
        "  https://example.com/calendar?month=2  new, a copy of https://example.com/calendar?month=1",
        "  https://example.org/rules             new, 2 bits away from https://example.com/terms",
        "day 2",
        "  https://example.com/                  unchanged",
        "  https://example.com/calendar?month=1  unchanged",
        "  https://example.com/calendar?month=2  unchanged",
        "  https://example.com/news              changed by 32 bits",
        "  https://example.com/offer             gone",
        "  https://example.com/terms             unchanged",
        "  https://example.org/rules             unchanged",
        "day 3",
        "  https://example.com/news              back to what it was on day 1",
    ];
    assert_eq!(lines("crawler"), expected);
}

#[test]
fn async_crawler_example_follows_no_links_of_copies() {
    let mut printed = lines("crawler_async");
    // Tasks end in any order.
    printed.sort();
    let expected = [
        "https://example.com/: New",
        "https://example.com/calendar?month=1: New",
        "https://example.com/calendar?month=2: New, a copy of https://example.com/calendar?month=1",
        "https://example.com/news: New",
        "https://example.com/offer: New",
        "https://example.com/terms: New",
        "https://example.org/rules: New, 2 bits away from https://example.com/terms",
    ];
    assert_eq!(printed, expected);
}

#[test]
fn history_example_prints_what_each_visit_meant() {
    let expected = [
        "1970-01-02T00:00:00Z: new",
        "1970-01-09T00:00:00Z: same (fingerprint)",
        "1970-01-16T00:00:00Z: failed",
        "1970-01-20T00:00:00Z: changed by 35 bits: much, some 87 to 100 % of its words",
        "1970-01-23T00:00:00Z: same (fingerprint)",
        "1970-01-30T00:00:00Z: reverted to the version of 1970-01-09T00:00:00Z, 35 bits from the \
         previous version: much, some 87 to 100 % of its words",
        "on day 16, what was seen on day 8 was in force",
        "on day 25, what was seen on day 22 was in force",
        "6 visits, the last on day 29",
    ];
    assert_eq!(lines("history"), expected);
}

#[test]
fn crawler_of_the_docs_finds_its_page_unchanged_on_rerun() {
    let page = fs::read_to_string(in_repository("docs/crawl.md")).unwrap();
    let shown = page.split_once("```rust,no_run\n").unwrap().1.split_once("```\n").unwrap().0;
    let program = fs::read_to_string(in_repository("tests/examples/crawl.rs")).unwrap();
    assert_eq!(program.split_once("\n\n").unwrap().1, shown, "copy it to tests/examples/crawl.rs");
    let folder = tempfile::tempdir().unwrap();
    for (verdict, visits) in [("never seen before", 1), ("unchanged", 2)] {
        let said = lines_in(folder.path(), "crawl");
        assert_eq!(said[..2], [verdict.to_owned(), format!("visits so far: {visits}")]);
        assert!(said[2].ends_with("was current then") && said.len() == 3, "{said:?}");
    }
}
