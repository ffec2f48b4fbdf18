//! Input names epochs and their options. Repeated input is recognized, whichever epochs are live.

use super::epoch::{OLD, first};
use super::*;

/// Both `ingest` and `load` recognize repeated visits, whichever epochs are live.
#[test]
fn repeated_visits_are_not_stored_twice() {
    let again = |verb: &str, place: &TestFolder| {
        let ran = place.run_with_input(&[verb, "-", "--json"], &first());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        let summary = ran.objects().remove(0);
        let visits = place.run(&["stats", "--json"]).objects()[0]["visits"].as_u64().unwrap();
        ([&summary["known"], &summary["restated"]].map(|n| n.as_u64().unwrap()), visits)
    };
    let places = ["ingest", "load"].map(|verb| {
        let place = TestFolder::with(&first());
        place.done(&["epoch", "begin", "--recipe", "strict"]);
        assert_eq!(again(verb, &place), ([0, 10], 10), "{verb}");
        assert_eq!(again(verb, &place), ([10, 0], 10), "{verb}");
        assert_eq!(place.run(&["epoch", "stale"]).out, "");
        // Two more epochs. The first has no fingerprint yet.
        for (recipe, role) in [("near", "near"), ("charikar", "change")] {
            place.done(&["epoch", "begin", "--recipe", recipe, "--role", role]);
        }
        let restated = again(verb, &place);
        assert_eq!((restated.0[1], restated.1), (20, 10), "{verb}");
        place.done(&["epoch", "end", OLD]);
        assert_eq!(again(verb, &place), ([10, 0], 10), "{verb}");
        place.done(&["verify"]);
        place
    });
    assert_eq!(places[0].export(), places[1].export());
}

#[test]
fn input_epoch_keeps_its_role_and_takeover_is_reported() {
    let line = r#"{"url":"http://a/","t":9,"fingerprint":"00000000000000ff","epoch":"x"}"#;
    let roles = |place: &TestFolder| -> Vec<Value> {
        let epochs = place.run(&["epoch", "list", "--json"]).objects();
        epochs.into_iter().map(|mut epoch| epoch["role"].take()).collect()
    };
    for verb in ["ingest", "load"] {
        let place = TestFolder::with(&first());
        let input = |lines: &str| place.run_with_input(&[verb, "-", "--begin-epoch"], lines);
        let ran = input(&format!("{{\"epoch\":\"x\",\"role\":\"near\"}}\n{line}\n"));
        assert_eq!((ran.code, roles(&place)), (0, vec![json!("both"), json!("near")]));
        assert!(ran.out.contains(&format!("{:<25}{:>13}  x (near)\n", "  in use now", 1)));
        // Later options of the input change nothing.
        let later = line.replace(":9,", ":10,");
        for role in ["near", "change", "both"] {
            let ran = input(&format!("{{\"epoch\":\"x\",\"role\":\"{role}\"}}\n{later}\n"));
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{verb} {role}");
        }
        assert_eq!(roles(&place), ["both", "near"]);
        let other = line.replace("\"x\"", "\"y\"");
        let ran = place.run_with_input(&[verb, "-", "--json", "--begin-epoch"], &other);
        let ran = ran.objects().remove(0);
        assert_eq!(ran["epochs_in_use"], json!(["y"]));
        assert_eq!(roles(&place), ["both", "near", "both"]);
        // A new store says nothing, and has what its first epoch always has.
        let own = format!("{{\"epoch\":\"{OLD}\",\"role\":\"near\"}}\n{line}\n");
        let new = TestFolder::new();
        let ran = new.run_with_input(&[verb, "-"], &own);
        assert_eq!((ran.code, ran.err.as_str(), roles(&new)), (0, "", vec![json!("both"); 2]));
        // A store that comes brings its roles, whatever names its epochs first afterwards.
        let both = TestFolder::new();
        if verb == "load" {
            let lines = both.write("x.jsonl", line.replace("http://a/", "http://b/"));
            let ran = both.run(&["load", place.store().to_str().unwrap(), &lines]);
            assert_eq!((ran.code, roles(&both)), (0, roles(&place)), "{}", ran.err);
        }
    }
}

#[test]
fn epoch_bands_are_set_shown_and_kept() {
    let place = TestFolder::new();
    let begin = ["epoch", "begin", "--minor", "1", "--moderate", "4", "--json"];
    let bands = |object: &Value| (object["minor"].as_u64(), object["moderate"].as_u64());
    let begun = place.run(&begin).objects().remove(0);
    assert_eq!(bands(&begun), (Some(1), Some(4)));
    assert_eq!(place.run(&["epoch", "begin", "--minor", "1"]).code, 2);
    for (minor, moderate, why) in [
        ("5", "4", "--minor at most --moderate"),
        ("0", "65", "at most 64"),
        ("2", "9", "these bands cannot change"),
    ] {
        let ran = place.run(&["epoch", "begin", "--minor", minor, "--moderate", moderate]);
        assert!(ran.code != 0 && ran.err.contains(why), "{}", ran.err);
    }
    place.ingest(&first());
    let line = r#"{"epoch":"x","role":"near","minor":0,"moderate":64}"#;
    let ready = r#"{"url":"http://a/","t":9,"fingerprint":"00000000000000ff","epoch":"x"}"#;
    place.ingest_beginning(&format!("{line}\n{ready}\n"));
    let epochs = |place: &TestFolder| place.run(&["epoch", "list", "--json"]).objects();
    let all: Vec<_> = epochs(&place).iter().map(bands).collect();
    assert_eq!(all, [(Some(1), Some(4)), (Some(0), Some(64))]);
    assert!(
        place.done(&["epoch", "list"]).contains("in use  1   4"),
        "{}",
        place.done(&["epoch", "list"])
    );
    let own = format!("{{\"epoch\":\"{OLD}\",\"minor\":1,\"moderate\":4,\"begun_at_visit\":0}}");
    let begun = line.replace('}', ",\"begun_at_visit\":");
    assert!(place.export().contains(&format!("\n{own}\n{begun}")), "{}", place.export());
    let near = ["near", "--epoch", "x", "00000000000000ee", "--json", "-k", "4"];
    assert_eq!(place.run(&near).objects()[0]["near"][0]["band"], "moderate");
    // Into new stores, from lines and from the store.
    let export = place.write("export.jsonl", place.export());
    let lines = place.write("plain.jsonl", plain(&place.export()));
    for (verb, from) in [
        ("ingest", &lines),
        ("load", &export),
        ("load", &place.store().to_str().unwrap().to_owned()),
    ] {
        let copy = TestFolder::new();
        copy.done(&[verb, from]);
        let both =
            [epochs(&copy), epochs(&place)].map(|of| of.iter().map(bands).collect::<Vec<_>>());
        assert_eq!(both[0], both[1], "{verb} {from}");
        assert_eq!(entries(&copy.export()), entries(&place.export()));
        copy.done(&["verify"]);
    }
    // What is no band is a broken line.
    for wrong in [
        r#""minor":1"#,
        r#""minor":5,"moderate":4"#,
        r#""minor":-1,"moderate":4"#,
        r#""minor":"1","moderate":4"#,
    ] {
        let ran = place.run_with_input(
            &["ingest", "-", "--strict"],
            &format!("{{\"epoch\":\"y\",{wrong}}}\n"),
        );
        assert!(
            ran.code == 3 && ran.err.contains("must be numbers of bits"),
            "{wrong}: {}",
            ran.err
        );
    }
}
