//! `forget`.

use super::*;

#[test]
fn a_page_is_forgotten_and_begins_anew() {
    let place = Place::with(CRAWL);
    let url = "https://example.com/terms";
    assert_eq!(place.done(&["forget", url]), "forgot 1 page with 6 visits\n");
    assert_eq!(place.run(&["history", url]).code, 1);
    assert_eq!(place.run(&["forget", url]).code, 1);
    let summary = place.ingest(CRAWL);
    assert_eq!((&summary["new"], &summary["known"]), (&1.into(), &4.into()));
}

#[test]
fn a_prefix_is_forgotten_up_to_its_boundary() {
    let place = Place::with(CRAWL);
    let forgotten = place.done(&["forget", "--prefix", "example.com/"]);
    assert_eq!(forgotten, "forgot 2 pages with 8 visits\n");
    let left = place.done(&["scan"]);
    assert_eq!(left.lines().count(), 2);
    assert!(left.contains("https://docs.example.com/terms"));
}

#[test]
fn what_is_purged_stands_in_no_file() {
    let place = Place::with(CRAWL);
    place.open().seal().unwrap();
    place.ingest(r#"{"url":"https://example.com/terms","t":0,"text":"a text"}"#);
    // Forgotten before, and still in the files.
    place.done(&["forget", "https://example.com/old"]);
    let forgotten = place.done(&["forget", "--prefix", "example.com", "--purge"]);
    assert_eq!(forgotten, "forgot 2 pages with 8 visits, in every file\n");
    for (path, _, bytes) in files(&place.store()) {
        for part in ["terms", "/old", "docs"] {
            let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!found, "{part} in {}", path.display());
        }
    }
    let again = place.done(&["forget", "https://example.com/old", "--purge"]);
    assert!(again.starts_with("nothing was known"), "{again}");
    assert_eq!(place.done(&["scan"]).lines().count(), 1);
    place.done(&["verify"]);
}
