//! Pairs of fingerprints, and of pages.

use serde_json::json;

use super::TestFolder;

fn store() -> TestFolder {
    let place = TestFolder::new();
    let pages = [
        ("a", 0xff_u64),
        ("b", 0xff),
        ("c", 0xff),
        ("d", 0xfe),
        ("e", 0xfe),
        ("f\u{202e}", 1 << 60),
    ];
    let lines = pages.map(|(page, fingerprint)| {
        let url = format!("https://example.com/{page}");
        json!({"url": url, "t": "2024-01-01", "fingerprint": format!("{fingerprint:016x}")})
            .to_string()
    });
    let file = place.write("pages.jsonl", lines.join("\n"));
    place.done(&["load", &file]);
    place
}

/// The last letters of the URLs of each pair, in order.
fn urls(place: &TestFolder, args: &[&str]) -> Vec<String> {
    let shown = place.done(&[&["pairs"], args].concat());
    let of = |line: &str| -> String {
        let urls =
            line.split_whitespace().filter_map(|part| part.strip_prefix("https://example.com/"));
        urls.collect()
    };
    let mut all: Vec<String> = shown.lines().map(of).collect();
    all.sort();
    all
}

#[test]
fn pages_are_paired_with_the_first_of_a_fingerprint() {
    let place = store();
    // The smaller fingerprint comes first.
    assert_eq!(urls(&place, &[]), ["da"]);
    assert_eq!(urls(&place, &["--pages"]), ["ab", "ac", "da", "de"]);
    assert_eq!(urls(&place, &["--pages", "-k", "0"]), ["ab", "ac", "de"]);
    let two = ["ab", "ac", "bc", "da", "db", "de", "ea", "eb"];
    assert_eq!(urls(&place, &["--pages", "--pages-per-fingerprint", "2"]), two);
    let all = ["ab", "ac", "bc", "da", "db", "dc", "de", "ea", "eb", "ec"];
    assert_eq!(urls(&place, &["--pages", "--pages-per-fingerprint", "all"]), all);
    let shown = place.done(&["pairs", "--pages", "-k", "64"]);
    assert!(shown.contains("f\\u{202e}"), "{shown}");
    let objects = place.run(&["pairs", "--pages", "-k", "0", "--json"]).objects();
    let copy = objects.iter().find(|pair| pair["right"]["url"] == "https://example.com/b").unwrap();
    assert_eq!((&copy["distance"], &copy["band"]), (&json!(0), &json!("none")));
    assert_eq!(copy["left"]["fingerprint"], "00000000000000ff");
    let ran = place.run(&["pairs", "--pages", "-k", "0", "--under", "example.org"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("no two pages have fingerprints within 0 bits"), "{}", ran.err);
}

#[test]
fn distance_zero_needs_the_pages_option() {
    let ran = store().run(&["pairs", "-k", "0"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("use -k 0 with --pages"), "{}", ran.err);
}
