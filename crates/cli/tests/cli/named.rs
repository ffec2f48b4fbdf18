//! How the store is named, and the suggestions for a wrong name.

use super::*;

/// Runs the tool without `SIMKEEP_STORE`.
fn run(place: &TestFolder, args: &[&str]) -> ToolRun {
    ToolRun::from(place.command(args).env_remove("SIMKEEP_STORE").output().unwrap())
}

#[test]
fn store_is_named_by_option_or_first_argument() {
    let place = TestFolder::with(CRAWL);
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
    let url = "https://example.com/terms";
    for args in [
        &["history", "store", url][..],
        &["near", "store", "--url", url],
        &["near", "-k", "8", "--url", url, "store"],
        &["near", "store", url],
        &["inspect", "page", "store", url],
        &["backup", "store", "copy"],
        &["repair", "store", "--to", "repaired"],
        &["diff", "store", "--since", "2000-01-01"],
        &["diff", "store", "copy"],
    ] {
        let ran = run(&place, args);
        assert!(ran.code < 2, "{args:?}: {}", ran.err);
    }
    // If the environment names a store, no argument does.
    let why = "the store is named twice, as store and by SIMKEEP_STORE: unset SIMKEEP_STORE, or use --store store";
    for args in [
        &["stats", "store"][..],
        &["near", "store", url],
        &["history", "store", url],
        &["inspect", "store"],
        &["scan", "store"],
        &["forget", "store"],
        &["backup", "store", "other"],
        &["ingest", "store", "crawl.jsonl"],
        &["diff", "store", "--since", "2000-01-01"],
    ] {
        let both = place.run(args);
        let expected = format!("simkeep: {why}\n");
        assert_eq!((both.code, both.out.as_str(), both.err), (2, "", expected), "{args:?}");
    }
}

#[test]
fn unnamed_store_is_not_guessed_but_suggested() {
    let place = TestFolder::with(CRAWL);
    let said = |args: &[&str]| {
        let ran = run(&place, args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        ran.err
    };
    let is_here = "simkeep: no store is named: give its directory as the first argument or with --store, or set SIMKEEP_STORE; \
                   the current directory has one: --store store\n";
    assert_eq!(said(&["scan"]), is_here);
    assert_eq!(said(&["stats"]), is_here);
    for (args, line) in [
        (&["history", "https://example.com/terms"][..], "history store https://example.com/terms"),
        (&["near", "0123456789abcdef", "-k", "8"], "near store 0123456789abcdef -k 8"),
        (&["ingest", "crawl.jsonl"], "ingest store crawl.jsonl"),
        (&["--json", "near", "https://example.com/"], "--json near store https://example.com/"),
    ] {
        std::fs::write(place.path("crawl.jsonl"), "").unwrap();
        let ran = run(&place, args);
        let expected = format!("no store is named: write simkeep --no-header {line}");
        assert_eq!((ran.code, ran.err.contains(&expected)), (2, true), "{args:?}: {}", ran.err);
    }
    let other = TestFolder::with(CRAWL);
    std::fs::rename(other.store(), place.path("it's")).unwrap();
    assert!(said(&["scan"]).ends_with("set SIMKEEP_STORE\n"));
    let unexpected = said(&["history", "store", "https://example.com/terms", "it's"]);
    assert!(
        unexpected.contains("\nit's is a store: give it as the first argument, or with --store\n")
    );
    assert!(
        !said(&["history", "store", "https://example.com/terms", "none"]).contains("is a store")
    );
    let two = said(&["stats", "store", "--store", "it's"]);
    assert!(
        two.ends_with("the store is named twice, as store and by --store: leave one of them out\n"),
        "{two}"
    );
    let none = said(&["fingerprint", "--recipes", "--store", "store"]);
    assert_eq!(none, "simkeep: this verb uses no store: leave --store out\n");
    let empty = place.command(&["scan"]).env("SIMKEEP_STORE", "").output().unwrap();
    assert_eq!(empty.status.code(), Some(2));
}

#[test]
fn similar_spelling_of_an_unknown_page_is_suggested() {
    let line =
        |url: &str| format!("{{\"url\":\"{url}\",\"t\":0,\"fingerprint\":\"{:016x}\"}}\n", 1);
    let urls = ["https://example.com/a", "http://www.example.com/a", "https://example.com/b/"];
    let place = TestFolder::with(&urls.map(line).concat());
    let said = |args: &[&str]| {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        ran.err
    };
    assert_eq!(
        said(&["history", "example.com/a"]),
        "simkeep: example.com/a is not known in this store; these are known: https://example.com/a, \
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
fn times_are_shown_by_the_clock() {
    let place = TestFolder::with(CRAWL);
    let url = "https://example.com/terms";
    let by_date = place.done(&["history", url, "--at", "2024-01-03"]);
    for time in ["2024-01-03 00:00", "2024-01-03T00:00:00", "1704240000"] {
        assert_eq!(place.done(&["history", url, "--at", time]), by_date, "{time}");
    }
    let now = place.done(&["history", url, "--at", "now"]);
    assert_ne!(now, by_date);
    for time in ["yesterday", "3d ago", "1 hour ago"] {
        assert_eq!(place.done(&["history", url, "--at", time]), now, "{time}");
    }
    let wrong = place.run(&["history", url, "--at", "3 fortnights ago"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("3d (three days ago)"), "{}", wrong.err);
}
