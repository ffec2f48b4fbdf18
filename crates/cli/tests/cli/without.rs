//! Pages without a fingerprint in the epoch that a verb uses.

use super::*;

const STRICT: &str = "html/3 words3-sqrt/2";

fn page(n: usize) -> String {
    let text = "Some words that stand on each of these pages, and a few that do not";
    format!("{{\"url\":\"https://example.com/{n}\",\"t\":1,\"text\":\"{text}: {}\"}}\n", n * 7919)
}

/// Five pages of a store. Two have no fingerprint in its newest epoch.
fn stale() -> TestFolder {
    let place = TestFolder::with(&(0..2).map(page).collect::<String>());
    place.done(&["epoch", "begin", "--recipe", "strict"]);
    place.ingest(&(2..5).map(page).collect::<String>());
    place
}

#[test]
fn verbs_count_pages_without_a_fingerprint_in_their_epoch() {
    let place = stale();
    let said = format!("2 pages have no fingerprint in the epoch {STRICT} and cannot be compared");
    let near = ["near", "--url", "https://example.com/4"];
    let all: &[&[&str]] = &[
        &["cluster"],
        &["cluster", "--balls"],
        &["cluster", "--components"],
        &["cluster", "--since", "1970-01-02"],
        &["dedup"],
        &["pairs"],
        &["aliases"],
        &["mirrors"],
        &near,
    ];
    for args in all {
        let ran = place.run_with_header(args);
        assert!((ran.out + &ran.err).contains(&said), "{args:?}: {}", ran.err);
    }
    let batch = place.write("batch.txt", "https://example.com/4\n");
    let ran = place.run(&["near", "--batch", &batch, "--lines", "url"]);
    assert!(ran.err.contains(&said), "{}", ran.err);
    for args in
        [&["cluster"][..], &["cluster", "--balls"], &["cluster", "--components"], &["dedup"], &near]
    {
        let args = [args, &["--json"]].concat();
        assert_eq!(place.run(&args).objects()[0]["without_fingerprint"], 2, "{args:?}");
    }
    // Under a prefix only its pages count.
    let ran = place.run(&["cluster", "--under", "example.com/1", "--json"]);
    assert_eq!(ran.objects()[0]["without_fingerprint"], 1);
    place.ingest_with(&["--restate"], &(0..2).map(page).collect::<String>());
    for args in all {
        let ran = place.run_with_header(args);
        assert!(!(ran.out + &ran.err).contains("no fingerprint"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn search_in_a_store_of_one_epoch_counts_nothing() {
    let place = TestFolder::with(&(page(1) + &page(2)));
    place.ingest(r#"{"url":"https://example.com/short","t":1,"text":"Not found"}"#);
    let near = place.run(&["near", "--url", "https://example.com/1", "--json"]);
    assert!(near.objects()[0]["without_fingerprint"].is_null() && near.err.is_empty());
    assert_eq!(place.run(&["cluster", "--json"]).objects()[0]["without_fingerprint"], 1);
}
