//! `load`: all of it or nothing, from lines and from other stores.

use super::*;

fn load(place: &Place, lines: &str) -> Value {
    let ran = place.run_with_input(&["load", "-", "--json"], lines);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    ran.objects().remove(0)
}

#[test]
fn what_is_loaded_is_what_would_be_ingested() {
    let (ingested, loaded) = (Place::with(CRAWL), Place::new());
    let summary = load(&loaded, CRAWL);
    assert_eq!(loaded.export(), ingested.export());
    for (key, number) in [("records", 10), ("visits", 10), ("pages", 4), ("new", 4), ("known", 0)] {
        assert_eq!(summary[key], number, "{key}");
    }
    let again = load(&loaded, CRAWL);
    assert_eq!((&again["known"], &again["segments"]), (&10.into(), &0.into()));
    assert_eq!(loaded.export(), ingested.export());
    loaded.done(&["verify"]);
}

#[test]
fn other_stores_and_lines_are_loaded_together() {
    let (first, second) = (Place::with(CRAWL), Place::new());
    let other =
        r#"{"url":"https://example.com/terms","t":9,"fingerprint":"0000000000000007","epoch":"x"}"#;
    load(&second, other);
    let all = Place::new();
    let lines = all.write("more.jsonl", r#"{"url":"http://a.example/","t":1,"text":"a"}"#);
    let (one, two) = (first.store(), second.store());
    let out = all.done(&["load", one.to_str().unwrap(), &lines, two.to_str().unwrap()]);
    assert!(out.starts_with(&format!("{:<25}{:>13}\n", "records", 12)), "{out}");
    let expected = Place::with(&format!("{CRAWL}\n{other}"));
    expected.ingest(r#"{"url":"http://a.example/","t":1,"text":"a"}"#);
    assert_eq!(all.export(), expected.export());
}

#[test]
fn a_broken_record_leaves_the_store_as_it_was() {
    let place = Place::with(CRAWL);
    let before = place.export();
    let lines = "{\"url\":\"http://a.example/\",\"t\":1,\"text\":\"a\"}\n{\"url\":\n";
    let ran = place.run_with_input(&["load", "-"], lines);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("line 2") && ran.err.contains("nothing was stored"), "{}", ran.err);
    assert_eq!(place.export(), before);
    let ran = place.run_with_input(&["load", "-", "--skip-broken", "--json"], lines);
    assert_eq!(ran.code, 0);
    let summary = ran.objects().remove(0);
    assert_eq!((&summary["broken"], &summary["pages"]), (&1.into(), &1.into()));
    assert_ne!(place.export(), before);
}

#[test]
fn a_damaged_store_is_not_loaded_from() {
    let source = Place::with(CRAWL);
    source.open().seal().unwrap();
    let segment = source.store().join("segments/0000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let place = Place::new();
    let ran = place.run(&["load", source.store().to_str().unwrap()]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("0000000001.seg"), "{}", ran.err);
    assert_eq!(place.export(), "");
}

#[test]
fn a_store_is_not_loaded_into_itself() {
    let place = Place::with(CRAWL);
    let ran = place.run(&["load", place.store().to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("into itself"), "{}", ran.err);
}
