//! `publish`, and what `forget` reports about it.

use super::*;
use simkeep_testing::ms;

fn numbers(object: &Value, key: &str) -> Vec<u64> {
    object[key].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn store_is_published_and_old_generations_are_removed() {
    let place = TestFolder::with(CRAWL);
    let said = place.done(&["publish", "-s", place.store().to_str().unwrap(), "--to", "public"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("published: generation 1, up to operation "), "{said}");
    assert!(lines[1].starts_with("linked    1 file, ") && lines.len() == 3, "{said}");
    assert!(lines[2].starts_with("checked   1 file, "), "{said}");
    let again = place.done(&["publish", "--to", "public"]);
    assert!(again.starts_with("nothing new since: generation 1, "), "{again}");

    place.ingest("{\"url\":\"http://c.example/\",\"t\":9,\"status\":404}");
    let second = place.run(&["publish", "--to", "public", "--copy", "--json"]).objects().remove(0);
    assert_eq!((&second["generation"], &second["is_new"]), (&json!(2), &json!(true)));
    assert_eq!((&second["copied_files"], &second["kept_files"]), (&json!(1), &json!(1)));
    assert_eq!(numbers(&second, "older_generations"), [1]);
    let listed = place.run(&["publish", "--to", "public", "--list", "--json"]).objects();
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[1]["generation"], &listed[1]["files"]), (&json!(2), &json!(2)));
    assert_eq!(place.done(&["publish", "--to", "public", "--list"]).lines().count(), 2);

    let third = place.run(&["publish", "--to", "public", "--keep", "1", "--grace", "0", "--json"]);
    let third = third.objects().remove(0);
    assert_eq!(numbers(&third, "removed_generations"), [1]);
    assert!(numbers(&third, "older_generations").is_empty());
}

#[test]
fn purge_names_generations_that_still_have_the_page() {
    let place = TestFolder::with(CRAWL);
    let (url, name) = ("http://purged.example/a-name-of-its-own", "a-name-of-its-own");
    place.ingest(&format!("{{\"url\":\"{url}\",\"t\":9,\"status\":404}}"));
    place.done(&["publish", "--to", "public"]);
    let found = || {
        let mut grep = Command::new("grep");
        let found = grep.args(["-rFl", name, "public"]).current_dir(place.dir.path()).output();
        !found.unwrap().stdout.is_empty()
    };
    assert!(found());
    let args = ["forget", url, "--purge", "--published", "public"];
    let said = place.done(&args);
    assert!(
        said.contains("still contain these pages: 1; publish with --keep 1 --grace 0"),
        "{said}"
    );
    let held = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
    assert_eq!(numbers(&held, "in_generations"), [1]);
    place.done(&["publish", "--to", "public", "--keep", "1", "--grace", "0"]);
    let said = place.done(&args);
    assert!(said.contains("no published generation contains these pages"), "{said}");
    assert!(!found());
}

#[test]
fn publish_during_writing_publishes_sealed_data() {
    let place = TestFolder::with(CRAWL);
    let writer = place.open();
    writer.seal().unwrap();
    writer.observe(simkeep::Observation::gone("http://d.example/", ms(20))).unwrap();
    let ran = place.run(&["publish", "--to", "public", "--json"]);
    let made = ran.objects().remove(0);
    assert_eq!((&made["is_new"], &made["unsealed_operations"]), (&json!(true), &json!(1)));
    assert!(ran.err.contains("1 operation is not sealed yet, and not published"), "{}", ran.err);
}

#[test]
fn other_directories_and_invalid_times_are_refused() {
    let place = TestFolder::with(CRAWL);
    place.write("full/notes", "mine");
    for (code, args) in [
        (5, &["publish", "--to", "full"][..]),
        (5, &["publish", "--to", "nowhere", "--list"]),
        (2, &["publish"]),
        (2, &["publish", "--to", "public", "--grace", "soon"]),
        (2, &["publish", "--to", "public", "--keep", "-1"]),
        (2, &["forget", "x", "--published", "public"]),
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
    }
}

#[test]
fn damaged_file_is_replaced_and_only_read_files_count_checked() {
    let place = TestFolder::with(CRAWL);
    place.done(&["publish", "--to", "public", "--copy"]);
    let files = std::fs::read_dir(place.dir.path().join("public/files")).unwrap();
    let file = files.map(|file| file.unwrap().path()).next().unwrap();
    let whole = std::fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    damaged[100] ^= 4;
    std::fs::write(&file, damaged).unwrap();
    place.ingest("{\"url\":\"http://c.example/\",\"t\":9,\"status\":404}");
    let said = place.done(&["publish", "--to", "public", "--copy"]);
    assert!(said.starts_with("published: generation 2, "), "{said}");
    assert!(
        said.contains("\nchecked   1 file, ") && said.contains("\nunchecked 1 file, "),
        "{said}"
    );
    let all =
        place.run(&["publish", "--to", "public", "--check-kept", "--json"]).objects().remove(0);
    let count = |key: &str| all[key].as_u64().unwrap();
    let counted = ["checked_files", "unchecked_files", "replaced_files", "copied_files"].map(count);
    assert_eq!(counted, [2, 0, 1, 1]);
    assert_eq!(std::fs::read(&file).unwrap(), whole);
    place.done(&["verify", "--store", "public"]);
}

#[test]
fn publish_warns_of_forgotten_pages_only_if_any() {
    let place = TestFolder::with(CRAWL);
    place.done(&["publish", "--to", "public"]);
    place.ingest("{\"url\":\"http://c.example/\",\"t\":9,\"status\":404}");
    let said = place.done(&["publish", "--to", "public"]);
    assert!(said.ends_with("\nolder     1\n"), "{said}");
    place.done(&["forget", "http://c.example/"]);
    let said = place.done(&["publish", "--to", "public"]);
    assert!(said.ends_with("\nolder     1, 2: with pages forgotten since\n"), "{said}");
    // None of a unit is none at all.
    for (nth, grace) in ["0s", "0", "0d"].iter().enumerate() {
        place.ingest(&format!("{{\"url\":\"http://c.example/\",\"t\":1{nth},\"status\":404}}"));
        let run = ["publish", "--to", "public", "--keep", "1", "--grace", grace, "--json"];
        let made = place.run(&run).objects().remove(0);
        assert!(numbers(&made, "older_generations").is_empty(), "{grace}: {made}");
    }
}

#[test]
fn older_or_diverged_copy_of_the_store_is_refused() {
    let place = TestFolder::with(CRAWL);
    let copied = Command::new("cp").arg("-r").args([place.store(), place.path("other")]).status();
    assert!(copied.unwrap().success());
    place.ingest("{\"url\":\"http://c.example/\",\"t\":9,\"status\":404}");
    place.done(&["publish", "--to", "public"]);
    let refused = |part: &str| {
        let ran = place.run(&["publish", "-s", "other", "--to", "public"]);
        assert_eq!(ran.code, 5, "{}", ran.err);
        let begin = "public does not contain an earlier state of this store: generation 1 is not an earlier state: ";
        assert!(ran.err.contains(begin) && ran.err.contains(part), "{}", ran.err);
    };
    refused("but the last operation of the store is ");
    place.write("more", "{\"url\":\"http://d.example/\",\"t\":8,\"status\":404}");
    place.done(&["ingest", "more", "--store", "other"]);
    refused("its segment ");
}

/// All reading verbs accept a published directory.
#[test]
fn every_reading_verb_accepts_a_published_directory() {
    let place = TestFolder::with(CRAWL);
    place.done(&["publish", "--to", "public"]);
    for verb in [
        &["scan"][..],
        &["stats"],
        &["inspect"],
        &["inspect", "journal"],
        &["due", "--now", "2001-01-01"],
        &["export"],
        &["cluster"],
        &["pairs", "-k", "3"],
        &["history", "http://a.example/"],
        &["epoch", "list"],
        &["df", "list"],
        &["verify"],
        &["diff", "--since", "1970-01-01"],
        &["tail"],
        &["compact", "--dry-run"],
    ] {
        let of = |store: &str| place.run(&[verb, &["--store", store]].concat());
        let (here, there) = (of(place.store().to_str().unwrap()), of("public"));
        assert_eq!((here.code, &there.err[..]), (there.code, &here.err[..]), "{verb:?}");
        if ["scan", "history", "export", "cluster", "pairs", "due", "diff"].contains(&verb[0]) {
            assert_eq!(here.out, there.out, "{verb:?}");
        }
    }
    place.done(&["stats", "-s", "public"]);
    let store = place.store();
    place.same(&["--exact", store.to_str().unwrap(), "public"]);
    let saw = place.run(&["stats", "-s", "public", "--json"]).objects().remove(0);
    assert_eq!(saw["saw"]["generation"], json!(1));
    // And it makes a store: never one of its files.
    place.done(&["load", "public", "--store", "loaded"]);
    place.same(&["--exact", store.to_str().unwrap(), "loaded"]);

    let before = files(&place.path("public"));
    let refused = |args: &[&str], part: &str| {
        let ran = place.run(args);
        assert!(ran.code != 0 && ran.err.contains(part), "{args:?} {}: {}", ran.code, ran.err);
    };
    place.write("more", "{\"url\":\"http://d.example/\",\"t\":8,\"status\":404}");
    for args in [
        &["ingest", "more", "--store", "public"][..],
        &["load", "more", "--store", "public"],
        &["compact", "-s", "public"],
        &["forget", "http://a.example/", "--store", "public"],
        &["epoch", "begin", "--store", "public"],
        &["epoch", "end", "x", "--store", "public"],
        &["backup", "new", "--store", "public"],
        &["publish", "-s", "public", "--to", "new"],
        &["repair", "--to", "new", "--store", "public"],
    ] {
        refused(args, "it contains published generations, which are read-only");
    }
    refused(
        &["ingest", "public", "--store", "new"],
        "load it with: simkeep load public --store new",
    );
    let other = store.to_str().unwrap();
    refused(&["ingest", other, "--store", "new"], "is a store, not a folder of documents");
    assert!(!place.dir.path().join("new").exists());
    assert!(files(&place.path("public")) == before);
}

#[test]
fn readers_report_falling_back_from_an_incomplete_generation() {
    let place = TestFolder::with(CRAWL);
    place.done(&["publish", "--to", "public"]);
    let whole = place.done(&["scan", "--store", "public"]);
    place.write("public/generations/0000000002", "");
    for verb in ["scan", "verify"] {
        let ran = place.run(&[verb, "--store", "public"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let part = "generation 2 is incomplete, so the answer is from generation 1: generations/0000000002 is cut";
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    assert_eq!(place.run(&["scan", "--store", "public"]).out, whole);
    place.write("public/generations/0000000001", "simk");
    let ran = place.run(&["scan", "--store", "public"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
}
