//! `load`: all of it or nothing, from lines and from other stores.

use super::*;

#[test]
fn what_is_loaded_is_what_would_be_ingested() {
    let (ingested, loaded) = (Place::with(CRAWL), Place::new());
    let summary = loaded.load(CRAWL);
    assert_eq!(loaded.export(), ingested.export());
    for (key, number) in
        [("records", 10), ("visits", 10), ("pages", 4), ("new_pages", 4), ("known", 0)]
    {
        assert_eq!(summary[key], number, "{key}");
    }
    let again = loaded.load(CRAWL);
    assert_eq!((&again["known"], &again["new_segments"]), (&10.into(), &0.into()));
    assert_eq!(loaded.export(), ingested.export());
    loaded.done(&["verify"]);
}

#[test]
fn other_stores_and_lines_are_loaded_together() {
    let (first, second) = (Place::with(CRAWL), Place::new());
    let other =
        r#"{"url":"https://example.com/terms","t":9,"fingerprint":"0000000000000007","epoch":"x"}"#;
    second.load(other);
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
    assert!(!place.store().exists(), "it was made");
}

#[test]
fn a_store_is_not_loaded_into_itself() {
    let place = Place::with(CRAWL);
    let ran = place.run(&["load", place.store().to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("into itself"), "{}", ran.err);
}

/// What an epoch list says, by name and state.
fn epochs(place: &Place) -> Vec<(String, String)> {
    let of = |info: &Value, key: &str| info[key].as_str().unwrap().to_owned();
    let listed = place.run(&["epoch", "list", "--json"]).objects();
    listed.iter().map(|info| (of(info, "epoch"), of(info, "state"))).collect()
}

const TEXT: &str = r#"{"url":"http://a.example/","t":1,"text":"some text of a page"}"#;
const OURS: &str = "html/3 words3-sqrt/2";

fn ready(n: usize, epoch: &str) -> String {
    let fingerprint = 0xff << n;
    format!(
        "{{\"url\":\"http://r.example/{n}\",\"t\":1,\"fingerprint\":\"{fingerprint:016x}\",\"epoch\":\"{epoch}\"}}\n"
    )
}

#[test]
fn a_load_that_fails_leaves_no_epoch() {
    let place = Place::with(TEXT);
    let before = (epochs(&place), files(&place.store().join("segments")));
    let lines = format!("{{\"epoch\":\"{OURS}\"}}\n{}{{broken", ready(1, "other"));
    for options in [&["--epochs-from-input"][..], &[]] {
        let ran = place.run_with_input(&[&["load", "-"], options].concat(), &lines);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("nothing was stored"), "{}", ran.err);
        let now = (epochs(&place), files(&place.store().join("segments")));
        assert!(now == before, "{:?}", now.0);
    }
    // And so a store that is loaded from, which has one more.
    let other = Place::with(&ready(1, "other"));
    let broken = other.write("broken.jsonl", "{");
    let store = other.store();
    let ran = place.run(&["load", store.to_str().unwrap(), &broken]);
    assert_eq!((ran.code, epochs(&place)), (3, before.0));
}

#[test]
fn data_begins_an_epoch_of_our_recipes_only_when_that_is_asked_for() {
    let lines = ready(1, "mine") + &ready(2, OURS) + &ready(3, "mine");
    for verb in ["ingest", "load"] {
        let place = Place::with(TEXT);
        let before = epochs(&place);
        let skip = ["load", "-", "--skip-broken", "--json"];
        let refused = match verb {
            "ingest" => place.run_with_input(&["ingest", "-", "--json"], &lines),
            _ => place.run_with_input(&skip, &lines),
        };
        assert_eq!(refused.code, 0, "{}", refused.err);
        assert!(refused.err.contains("http://r.example/2: ") && refused.err.contains(OURS));
        assert!(refused.err.contains("--epochs-from-input"), "{}", refused.err);
        let summary = &refused.objects()[0];
        assert_eq!((&summary["broken"], &summary["epochs_begun"][0]), (&1.into(), &"mine".into()));
        assert_eq!(epochs(&place)[..1], [(before[0].0.clone(), "live".to_owned())]);
        assert_eq!(epochs(&place).len(), 2);
        // Texts get the fingerprints that they had.
        let summary = place.ingest(&TEXT.replace("page", "changed page"));
        assert_eq!(summary["epochs_begun"], serde_json::json!([]));

        let ran = place.run_with_input(&[verb, "-", "--epochs-from-input"], &lines);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let line = format!("{:<25}{:>13}  {OURS}\n", "epochs begun", 1);
        assert!(ran.out.contains(&line), "{}", ran.out);
        assert_eq!(epochs(&place)[2], (OURS.to_owned(), "in-use".to_owned()));
        // Named by the user, it is no other's word.
        let place = Place::with(TEXT);
        let plain = ready(2, OURS).replace(&format!(",\"epoch\":\"{OURS}\""), "");
        let ran = place.run_with_input(&[verb, "-", "--epoch", OURS], &plain);
        assert_eq!((ran.code, epochs(&place).len()), (0, 2), "{}", ran.err);
    }
}

#[test]
fn a_whole_export_brings_its_epochs_into_a_new_store_and_into_no_other() {
    let source = Place::with(TEXT);
    source.done(&["epoch", "begin", "--recipe", "words3-sqrt/2", "--json"]);
    source.ingest(&(TEXT.replace("page", "other page") + "\n" + &ready(4, "mine")));
    let (export, store) = (source.export(), source.store());
    let store = store.to_str().unwrap();
    let names: Vec<String> = epochs(&source).into_iter().map(|(name, _)| name).collect();
    let lines = plain(&export);
    for (args, export) in
        [(&["load", "-"][..], &export), (&["ingest", "-"], &lines), (&["load", store], &export)]
    {
        let copy = Place::new();
        let ran = copy.run_with_input(args, export);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(epochs(&copy), epochs(&source));
        assert_eq!(entries(&copy.export()), entries(&source.export()));
        let other = Place::with(&TEXT.replace("a.example", "b.example"));
        let before = epochs(&other);
        let ran = other.run_with_input(args, export);
        assert!(ran.err.contains("--epochs-from-input"), "{args:?}: {}", ran.err);
        assert_eq!(epochs(&other)[..1], [(names[0].clone(), epochs(&other)[0].1.clone())]);
        assert!(epochs(&other).iter().all(|(name, _)| name != OURS));
        if args[0] == "load" {
            assert_eq!(epochs(&other), before);
        }
        let ran = other.run_with_input(&[args, &["--epochs-from-input"]].concat(), export);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(epochs(&other).iter().any(|(name, _)| name == OURS));
    }
    // What stands further down is no head.
    let place = Place::new();
    let late = format!("{}{{\"epoch\":\"{OURS}\"}}\n", ready(1, "mine"));
    let ran = place.run_with_input(&["load", "-"], &late);
    assert_eq!((ran.code, files(&place.store()).len()), (3, 0), "{}", ran.err);
}

#[test]
fn an_input_begins_so_many_epochs_and_no_more() {
    let lines: String = (0..5).map(|n| ready(n, &format!("e{}", n % 4))).collect();
    let place = Place::with(TEXT);
    let ran = place.run_with_input(&["ingest", "-", "--max-epochs", "3", "--json"], &lines);
    let summary = &ran.objects()[0];
    assert_eq!(summary["epochs_begun"], serde_json::json!(["e0", "e1", "e2"]));
    assert_eq!((&summary["broken"], &summary["new_pages"]), (&1.into(), &4.into()));
    assert!(ran.err.contains("e3") && ran.err.contains("--max-epochs"), "{}", ran.err);
    // Those that are there already are no new ones.
    let ran = place.run_with_input(&["load", "-", "--max-epochs", "0"], &lines);
    assert!(ran.code == 3 && ran.err.contains("e3"), "{}", ran.err);
    let ran = place.run_with_input(&["load", "-", "--max-epochs", "1"], &lines);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // A thousand, unless told otherwise.
    let many: String = (0..1002).map(|n| format!("{{\"epoch\":\"n{n}\"}}\n")).collect();
    let ran = Place::new().run_with_input(&["ingest", "-", "--json"], &many);
    assert_eq!(ran.objects()[0]["broken"], 2);
    assert_eq!(ran.objects()[0]["epochs_begun"].as_array().unwrap().len(), 1000);
    let ran = Place::new().run_with_input(&["load", "-"], &many);
    assert!(ran.code == 3 && ran.err.contains("1,000"), "{}", ran.err);
}

#[test]
fn what_fails_before_its_first_record_leaves_no_store() {
    for args in [&["load", "-"][..], &["ingest", "-", "--strict"]] {
        let place = Place::new();
        for lines in ["{", "{\"epoch\":\"x\"}\n\n{"] {
            let ran = place.run_with_input(args, lines);
            assert_eq!((ran.code, place.store().exists()), (3, false), "{}", ran.err);
            assert!(ran.err.contains("nothing was stored"), "{}", ran.err);
        }
        let ran = place.run(&[args[0], "not-there.jsonl"]);
        assert_eq!((ran.code, place.store().exists()), (5, false), "{}", ran.err);
    }
    // A load does so whenever it fails.
    let place = Place::new();
    let ran = place.run_with_input(&["load", "-"], &format!("{TEXT}\n{{"));
    assert_eq!((ran.code, files(&place.store()).len()), (3, 0), "{}", ran.err);
    let missing = place.run(&["stats"]);
    assert!(missing.err.contains("is not a simkeep store"), "{}", missing.err);
    place.ingest(TEXT);
}
