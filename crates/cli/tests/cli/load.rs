//! `load`: all of it or nothing, from lines and from other stores.

use super::*;

#[test]
fn load_stores_the_same_as_ingest() {
    let (ingested, loaded) = (TestFolder::with(CRAWL), TestFolder::new());
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
fn stores_and_lines_are_loaded_together() {
    let (first, second) = (TestFolder::with(CRAWL), TestFolder::new());
    let other =
        r#"{"url":"https://example.com/terms","t":9,"fingerprint":"0000000000000007","epoch":"x"}"#;
    second.load(other);
    let all = TestFolder::new();
    let lines = all.write("more.jsonl", r#"{"url":"http://a.example/","t":1,"text":"a"}"#);
    let (one, two) = (first.store(), second.store());
    let out = all.done(&["load", one.to_str().unwrap(), &lines, two.to_str().unwrap()]);
    assert!(out.starts_with(&format!("{:<25}{:>13}\n", "records", 12)), "{out}");
    let expected = TestFolder::with(&format!("{CRAWL}\n{other}"));
    expected.ingest_beginning(r#"{"url":"http://a.example/","t":1,"text":"a"}"#);
    assert_eq!(all.export(), expected.export());
}

#[test]
fn broken_record_leaves_the_store_unchanged() {
    let place = TestFolder::with(CRAWL);
    let before = place.export();
    let lines = "{\"url\":\"http://a.example/\",\"t\":1,\"text\":\"a\"}\n{\"url\":\n";
    let load = ["load", "-", "--begin-epoch"];
    let ran = place.run_with_input(&load, lines);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("line 2") && ran.err.contains("nothing was stored"), "{}", ran.err);
    assert_eq!(place.export(), before);
    let skip = ["--skip-broken", "--json"];
    let ran = place.run_with_input(&[&load[..], &skip].concat(), lines);
    assert_eq!(ran.code, 0);
    let summary = ran.objects().remove(0);
    assert_eq!((&summary["broken"], &summary["pages"]), (&1.into(), &1.into()));
    assert_ne!(place.export(), before);
}

#[test]
fn properties_that_cannot_be_stored_are_left_out() {
    let tag = "x".repeat(129);
    for property in [format!("\"etag\":\"{tag}\""), r#""canonical":"mailto:x""#.to_owned()] {
        let place = TestFolder::with(TEXT);
        let before = place.export();
        let line = |rest| format!("{{\"url\":\"http://a.example/\",\"t\":2,{rest}{property}}}\n");
        for verb in ["ingest", "load"] {
            let ran = place.run_with_input(&[verb, "-"], &line(""));
            assert_eq!(ran.code, 0, "{verb}: {}", ran.err);
            assert_eq!(place.export(), before, "{verb}");
        }
        // The other property of the line is stored.
        let ran = place.run_with_input(&["load", "-"], &line("\"weight\":7,"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(place.export().contains("\"weight\":7"));
    }
}

#[test]
fn damaged_store_is_not_loaded() {
    let source = TestFolder::with(CRAWL);
    source.open().seal().unwrap();
    let segment = source.store().join("segments/0000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let place = TestFolder::new();
    let ran = place.run(&["load", source.store().to_str().unwrap()]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("0000000001.seg"), "{}", ran.err);
    assert!(!place.store().exists(), "it was made");
}

#[test]
fn store_is_not_loaded_into_itself() {
    let place = TestFolder::with(CRAWL);
    let ran = place.run(&["load", place.store().to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("into itself"), "{}", ran.err);
}

/// The epochs of a list, by name and state.
fn epochs(place: &TestFolder) -> Vec<(String, String)> {
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
fn failed_load_leaves_no_epoch() {
    let place = TestFolder::with(TEXT);
    let before = (epochs(&place), files(&place.store().join("segments")));
    let lines = format!("{{\"epoch\":\"{OURS}\"}}\n{}{{broken", ready(1, "other"));
    for options in [&["--begin-epoch"][..], &[]] {
        let ran = place.run_with_input(&[&["load", "-"], options].concat(), &lines);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("nothing was stored"), "{}", ran.err);
        let now = (epochs(&place), files(&place.store().join("segments")));
        assert!(now == before, "{:?}", now.0);
    }
    // A failing load from a store with one more epoch does not begin it either.
    let other = TestFolder::with(&ready(1, "other"));
    let broken = other.write("broken.jsonl", "{");
    let store = other.store();
    let load = ["load", store.to_str().unwrap(), &broken];
    let ran = place.run(&[&load[..], &["--begin-epoch"]].concat());
    assert_eq!((ran.code, epochs(&place)), (3, before.0.clone()));
    let ran = place.run(&load);
    assert_eq!((ran.code, epochs(&place)), (2, before.0));
}

#[test]
fn input_begins_an_epoch_only_with_the_option() {
    let lines = ready(1, "mine") + &ready(2, OURS) + &ready(3, "mine");
    for verb in ["ingest", "load"] {
        let place = TestFolder::with(TEXT);
        let (before, export) = (epochs(&place), place.export());
        let skip = ["load", "-", "--skip-broken", "--json"];
        let refused = match verb {
            "ingest" => place.run_with_input(&["ingest", "-", "--json"], &lines),
            _ => place.run_with_input(&skip, &lines),
        };
        let code = if verb == "ingest" { 3 } else { 0 };
        assert_eq!(refused.code, code, "{}", refused.err);
        for said in ["http://r.example/2: ", OURS, "mine", before[0].0.as_str(), "--begin-epoch"] {
            assert!(refused.err.contains(said), "{said}: {}", refused.err);
        }
        let summary = &refused.objects()[0];
        assert_eq!((&summary["broken"], &summary["epochs_begun"]), (&3.into(), &json!([])));
        assert_eq!((epochs(&place), place.export()), (before, export));

        let ran = place.run_with_input(&[verb, "-", "--begin-epoch"], &lines);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let line = format!("{:<25}{:>13}  mine, {OURS}\n", "epochs begun", 2);
        assert!(ran.out.contains(&line), "{}", ran.out);
        assert_eq!(epochs(&place)[2], (OURS.to_owned(), "in-use".to_owned()));
    }
}

#[test]
fn fingerprints_without_a_known_epoch_are_refused() {
    let plain = ready(2, OURS).replace(&format!(",\"epoch\":\"{OURS}\""), "");
    for verb in ["ingest", "load"] {
        let place = TestFolder::with(TEXT);
        let before = epochs(&place);
        for (options, name) in [(&[][..], "external"), (&["--epoch", OURS], OURS)] {
            let args = [&[verb, "-"], options].concat();
            let refused = place.run_with_input(&args, &plain);
            assert_eq!((refused.code, epochs(&place)), (2, before.clone()), "{}", refused.err);
            for said in [name, before[0].0.as_str(), "--begin-epoch"] {
                assert!(refused.err.contains(said), "{said}: {}", refused.err);
            }
        }
        let ran = place.run_with_input(&[verb, "-", "--epoch", OURS, "--begin-epoch"], &plain);
        assert_eq!((ran.code, epochs(&place).len()), (0, 2), "{}", ran.err);
        // A store without pages loses none.
        let empty = TestFolder::new();
        empty.done(&["epoch", "begin"]);
        let ran = empty.run_with_input(&[verb, "-"], &plain);
        assert_eq!((ran.code, epochs(&empty).len()), (0, 2), "{}", ran.err);
    }
}

#[test]
fn texts_are_refused_if_all_fingerprints_are_external() {
    let text = TEXT.replace("of a page", "of a page with more than eight words in it");
    for verb in ["ingest", "load"] {
        let place = TestFolder::with(&ready(1, "mine"));
        let (before, export) = (epochs(&place), place.export());
        let refused = place.run_with_input(&[verb, "-"], &text);
        assert_eq!(refused.code, 2, "{}", refused.err);
        for said in ["mine", "html/3 words2-sqrt/2", "--begin-epoch", "simkeep epoch end"] {
            assert!(refused.err.contains(said), "{said}: {}", refused.err);
        }
        assert_eq!((epochs(&place), place.export()), (before.clone(), export));
        let again = place.run(&["epoch", "begin"]);
        assert!(again.code == 2 && again.err.contains("no epoch began"), "{}", again.err);
        assert_eq!(epochs(&place), before);
        let ran = place.run_with_input(&[verb, "-", "--begin-epoch"], &text);
        assert_eq!((ran.code, epochs(&place)), (0, before), "{}", ran.err);
        // From then on it has pages of both epochs.
        assert_eq!(place.ingest(&text.replace("\"t\":1", "\"t\":2"))["epochs_begun"], json!([]));
    }
}

#[test]
fn advice_for_refused_texts_works() {
    let text = TEXT.replace("of a page", "of a page with more than eight words in it");
    for advice in
        [&["epoch", "end", "mine", "--left", "1"][..], &["epoch", "begin", "--recipe", "strict"]]
    {
        let place = TestFolder::with(&ready(1, "mine"));
        assert_eq!(place.run_with_input(&["ingest", "-"], &text).code, 2);
        place.done(advice);
        assert_eq!(place.run_with_input(&["ingest", "-"], &text).code, 0, "{advice:?}");
    }
    let place = TestFolder::with(&ready(1, "mine"));
    place.done(&["epoch", "end", "html/3 words2-sqrt/2"]);
    let refused = place.run_with_input(&["ingest", "-"], &text);
    assert!(refused.err.contains("has ended") && !refused.err.contains("--begin-epoch"));
    place.done(&["epoch", "begin", "--recipe", "strict"]);
    assert_eq!(place.run_with_input(&["ingest", "-"], &text).code, 0);
    let again = place.run(&["epoch", "begin", "--recipe", "strict"]);
    assert!(again.code == 0 && again.err.contains("no epoch began"), "{}", again.err);
}

#[test]
fn texts_are_fingerprinted_with_the_recipe_of_the_store() {
    let text = TEXT.replace("of a page", "of a page with more than eight words in it");
    for (name, made) in
        [("words3-sqrt/2", true), ("html/3 words3-sqrt/2", true), ("mine/1 words3-sqrt/2", false)]
    {
        let place = TestFolder::new();
        let options = simkeep::Options::default().epoch(name.to_owned());
        simkeep::Store::create(place.store(), options).unwrap().close().unwrap();
        let ran = place.run_with_input(&["ingest", "-"], &text);
        assert_eq!((ran.code, epochs(&place).len()), (if made { 0 } else { 2 }, 1), "{}", ran.err);
        let file = place.write("text.txt", "Some text of a page with more than eight words in it");
        let near = place.run(&["near", "--text", &file, "--json"]);
        match made {
            true => assert_eq!(near.objects()[0]["epoch"], name),
            false => assert!(ran.err.contains(name) && near.code == 2, "{}", near.err),
        }
    }
}

#[test]
fn whole_export_brings_its_epochs_only_into_new_stores() {
    let source = TestFolder::with(TEXT);
    source.done(&["epoch", "begin", "--recipe", "words3-sqrt/2", "--json"]);
    source.ingest_beginning(&(TEXT.replace("page", "other page") + "\n" + &ready(4, "mine")));
    let (export, store) = (source.export(), source.store());
    let store = store.to_str().unwrap();
    let lines = plain(&export);
    for (args, export) in
        [(&["load", "-"][..], &export), (&["ingest", "-"], &lines), (&["load", store], &export)]
    {
        let copy = TestFolder::new();
        let ran = copy.run_with_input(args, export);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert_eq!(epochs(&copy), epochs(&source));
        assert_eq!(entries(&copy.export()), entries(&source.export()));
        let other = TestFolder::with(&TEXT.replace("a.example", "b.example"));
        let before = epochs(&other);
        let ran = other.run_with_input(args, export);
        assert!(ran.err.contains("--begin-epoch"), "{args:?}: {}", ran.err);
        assert_eq!(epochs(&other), before);
        let ran = other.run_with_input(&[args, &["--begin-epoch"]].concat(), export);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(epochs(&other).iter().any(|(name, _)| name == OURS));
    }
    // What stands further down is no head.
    let place = TestFolder::new();
    let late = format!("{}{{\"epoch\":\"{OURS}\"}}\n", ready(1, "mine"));
    let ran = place.run_with_input(&["load", "-"], &late);
    assert_eq!((ran.code, files(&place.store()).len()), (3, 0), "{}", ran.err);
}

#[test]
fn input_begins_a_limited_number_of_epochs() {
    let lines: String = (0..5).map(|n| ready(n, &format!("e{}", n % 4))).collect();
    let place = TestFolder::with(TEXT);
    let args = ["ingest", "-", "--begin-epoch", "--max-epochs", "3", "--json"];
    let ran = place.run_with_input(&args, &lines);
    let summary = &ran.objects()[0];
    assert_eq!(summary["epochs_begun"], json!(["e0", "e1", "e2"]));
    assert_eq!((&summary["broken"], &summary["new_pages"]), (&1.into(), &4.into()));
    assert!(ran.err.contains("e3") && ran.err.contains("--max-epochs"), "{}", ran.err);
    // Those that are there already are no new ones.
    let most = |most| ["load", "-", "--begin-epoch", "--max-epochs", most];
    let ran = place.run_with_input(&most("0"), &lines);
    assert!(ran.code == 3 && ran.err.contains("e3"), "{}", ran.err);
    let ran = place.run_with_input(&most("1"), &lines);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // The default limit is 1,000.
    let many: String = (0..1002).map(|n| format!("{{\"epoch\":\"n{n}\"}}\n")).collect();
    let ran = TestFolder::new().run_with_input(&["ingest", "-", "--json"], &many);
    assert_eq!(ran.objects()[0]["broken"], 2);
    assert_eq!(ran.objects()[0]["epochs_begun"].as_array().unwrap().len(), 1000);
    let ran = TestFolder::new().run_with_input(&["load", "-"], &many);
    assert!(ran.code == 3 && ran.err.contains("1,000"), "{}", ran.err);
}

#[test]
fn failure_before_the_first_record_leaves_no_store() {
    for args in [&["load", "-"][..], &["ingest", "-", "--strict"]] {
        let place = TestFolder::new();
        for lines in ["{", "{\"epoch\":\"x\"}\n\n{"] {
            let ran = place.run_with_input(args, lines);
            assert_eq!((ran.code, place.store().exists()), (3, false), "{}", ran.err);
            assert!(ran.err.contains("nothing was stored"), "{}", ran.err);
        }
        let ran = place.run(&[args[0], "not-there.jsonl"]);
        assert_eq!((ran.code, place.store().exists()), (5, false), "{}", ran.err);
    }
    // A load does so whenever it fails.
    let place = TestFolder::new();
    let ran = place.run_with_input(&["load", "-"], &format!("{TEXT}\n{{"));
    assert_eq!((ran.code, files(&place.store()).len()), (3, 0), "{}", ran.err);
    let missing = place.run(&["stats"]);
    assert!(missing.err.contains("is not a simkeep store"), "{}", missing.err);
    place.ingest(TEXT);
}
