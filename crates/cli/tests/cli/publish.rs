//! `publish`, and what `forget` says of it.

use super::*;
use simkeep_testing::ms;

fn numbers(object: &Value, key: &str) -> Vec<u64> {
    object[key].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn a_store_is_published_and_older_generations_go() {
    let place = Place::with(CRAWL);
    let said = place.done(&["publish", place.store().to_str().unwrap(), "--to", "public"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        lines[0].starts_with("published and checked: generation 1, up to operation "),
        "{said}"
    );
    assert!(lines[1].starts_with("linked    1 file, ") && lines.len() == 2, "{said}");
    let again = place.done(&["publish", "--to", "public"]);
    assert!(again.starts_with("nothing is new since: generation 1, "), "{again}");

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
fn what_is_purged_is_said_to_be_in_what_was_published_before() {
    let place = Place::with(CRAWL);
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
    assert!(said.contains("in files there still, of 1: publish with --keep 1 --grace 0"), "{said}");
    let held = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
    assert_eq!(numbers(&held, "held_by_generations"), [1]);
    place.done(&["publish", "--to", "public", "--keep", "1", "--grace", "0"]);
    let said = place.done(&args);
    assert!(said.contains("no generation that is published there holds any of it"), "{said}");
    assert!(!found());
}

#[test]
fn beside_a_writer_what_is_sealed_is_published() {
    let place = Place::with(CRAWL);
    let writer = place.open();
    writer.seal().unwrap();
    writer.observe(simkeep::Observation::gone("http://d.example/", ms(20))).unwrap();
    let ran = place.run(&["publish", "--to", "public", "--json"]);
    let made = ran.objects().remove(0);
    assert_eq!((&made["is_new"], &made["unsealed_operations"]), (&json!(true), &json!(1)));
    assert!(ran.err.contains("1 operation is not sealed and not published"), "{}", ran.err);
}

#[test]
fn other_places_and_odd_times_are_refused() {
    let place = Place::with(CRAWL);
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
