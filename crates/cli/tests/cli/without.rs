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
    // The short page is compared by its digest.
    assert_eq!(place.run(&["cluster", "--json"]).objects()[0]["without_fingerprint"], 0);
    assert_eq!(place.run(&["cluster", "--json"]).objects()[0]["pages"], 3);
}

#[test]
fn equal_content_without_a_fingerprint_is_a_copy_of_the_first() {
    let place = TestFolder::with(&page(1));
    for (name, time, text) in [("b", 2, "Not found"), ("a", 1, "Not found"), ("c", 1, "Loading")] {
        let url = format!("https://example.com/{name}");
        place.ingest(&format!("{{\"url\":\"{url}\",\"t\":{time},\"text\":\"{text}\"}}\n"));
    }
    let [first, copy] = ["https://example.com/a", "https://example.com/b"];
    let dropped = place.run(&["dedup", "--json"]).objects();
    assert_eq!((&dropped[0]["pages"], &dropped[0]["dropped"]), (&4.into(), &1.into()));
    let of_copy = dropped.iter().find(|line| line["url"] == copy).unwrap();
    assert_eq!((&of_copy["kept"], &of_copy["reason"]), (&first.into(), &"same-digest".into()));
    assert!(of_copy["fingerprint"].is_null() && of_copy["distance"] == 0, "{of_copy}");
    let cluster = &place.run(&["cluster", copy, "--json"]).objects()[0];
    assert_eq!((&cluster["leader"], &cluster["size"]), (&first.into(), &2.into()));
    assert!(cluster["fingerprint"].is_null(), "{cluster}");
    // The copy becomes another page.
    place.ingest(&format!("{{\"url\":\"{copy}\",\"t\":\"1970-01-03\",\"text\":\"Loading\"}}\n"));
    let changes = place.run(&["cluster", "--since", "1970-01-02", "--json"]).objects();
    let change = changes.iter().find(|line| line["url"] == copy).unwrap();
    assert_eq!((&change["leader_before"], &change["reason"]), (&first.into(), &"changed".into()));
    assert!(change["distance"].is_null() && change["leader_after"] == "https://example.com/c");
}
