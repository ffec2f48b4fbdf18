//! How the store is named, and what is said where a name is not quite right.

use super::*;

/// Runs the tool without `SIMKEEP_STORE`.
fn run(place: &Place, args: &[&str]) -> Ran {
    Ran::from(place.command(args).env_remove("SIMKEEP_STORE").output().unwrap())
}

#[test]
fn the_store_is_named_before_and_behind_the_verb_and_by_itself_where_nothing_else_is() {
    let place = Place::with(CRAWL);
    let expected = place.done(&["stats"]);
    for args in [
        &["stats", "store"][..],
        &["stats", "--store", "store"],
        &["stats", "-s", "store"],
        &["--store", "store", "stats"],
        &["-s", "store", "stats"],
    ] {
        let ran = run(&place, args);
        assert_eq!((ran.code, ran.err.as_str(), ran.out == expected), (0, "", true), "{args:?}");
    }
    for verb in [&["verify"][..], &["epoch", "list"], &["df", "list"]] {
        let ran = run(&place, &[verb, &["store"]].concat());
        assert_eq!(ran.code, 0, "{verb:?}: {}", ran.err);
    }
    let json = run(&place, &["--json", "-s", "store", "scan", "example.com"]);
    assert_eq!(json.objects().len(), 3);
    // An argument goes before the variable.
    let other = Place::new();
    assert_eq!(other.run(&["stats", place.store().to_str().unwrap()]).out, expected);
}

#[test]
fn a_store_that_is_not_named_is_not_guessed_and_what_to_type_is_said() {
    let place = Place::with(CRAWL);
    let said = |args: &[&str]| {
        let ran = run(&place, args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        ran.err
    };
    let lies_here = "simkeep: no store is named: say --store PATH, or set SIMKEEP_STORE; \
                     here lies one: --store store\n";
    assert_eq!(said(&["scan"]), lies_here);
    assert_eq!(said(&["stats"]), lies_here);
    let other = Place::with(CRAWL);
    std::fs::rename(other.store(), place.path("it's")).unwrap();
    assert!(said(&["scan"]).ends_with("set SIMKEEP_STORE\n"));
    let unexpected = said(&["history", "https://example.com/terms", "it's"]);
    assert!(unexpected.ends_with("\nit's is a store: name it with --store 'it'\\''s'\n"));
    assert!(!said(&["history", "https://example.com/terms", "none"]).contains("is a store"));
    let two = said(&["stats", "store", "--store", "it's"]);
    assert_eq!(two, "simkeep: two stores are named: store and that of --store; name one\n");
    let none = said(&["fingerprint", "--recipes", "--store", "store"]);
    assert_eq!(none, "simkeep: this verb needs no store: leave --store out\n");
    let empty = place.command(&["scan"]).env("SIMKEEP_STORE", "").output().unwrap();
    assert_eq!(empty.status.code(), Some(2));
}

#[test]
fn a_page_that_is_there_by_another_spelling_is_named() {
    let line =
        |url: &str| format!("{{\"url\":\"{url}\",\"t\":0,\"fingerprint\":\"{:016x}\"}}\n", 1);
    let urls = ["https://example.com/a", "http://www.example.com/a", "https://example.com/b/"];
    let place = Place::with(&urls.map(line).concat());
    let said = |args: &[&str]| {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        ran.err
    };
    assert_eq!(
        said(&["history", "example.com/a"]),
        "simkeep: example.com/a is not known in this store; these are: https://example.com/a, \
         http://www.example.com/a\n"
    );
    let b = "simkeep: http://example.com/b is not known in this store; https://example.com/b/ is";
    assert!(said(&["near", "--url", "http://example.com/b"]).starts_with(b));
    assert!(said(&["recrawl", "http://example.com/b"]).starts_with(b));
    assert!(said(&["forget", "http://example.com/b"]).starts_with(b));
    let c = said(&["history", "example.com/c"]);
    assert_eq!(c, "simkeep: example.com/c is not known in this store\n");
    let long = format!("example.com/{}", "x".repeat(8192 - "example.com/".len()));
    assert!(said(&["history", &long]).ends_with("is not known in this store\n"));
}

#[test]
fn times_are_told_by_the_clock() {
    let place = Place::with(CRAWL);
    let url = "https://example.com/terms";
    let by_date = place.done(&["history", url, "--as-of", "2024-01-03"]);
    for time in ["2024-01-03 00:00", "2024-01-03T00:00:00", "1704240000"] {
        assert_eq!(place.done(&["history", url, "--as-of", time]), by_date, "{time}");
    }
    let now = place.done(&["history", url, "--as-of", "now"]);
    assert_ne!(now, by_date);
    for time in ["yesterday", "3d ago", "1 hour ago"] {
        assert_eq!(place.done(&["history", url, "--as-of", time]), now, "{time}");
    }
    let wrong = place.run(&["history", url, "--as-of", "3 fortnights ago"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("'3d ago'"), "{}", wrong.err);
}
