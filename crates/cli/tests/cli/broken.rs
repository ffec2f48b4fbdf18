//! Broken lines of every kind, and lone surrogates, which are not broken.

use super::*;

const WORDS: &str =
    "the harbour office publishes a list of all ships that are expected before noon";

#[test]
fn lone_surrogates_are_read_by_all_json_readers() {
    let place = TestFolder::new();
    let text = |end: &str| format!("\"text\":\"{WORDS} {end}\"");
    let lines = [
        format!("{{\"id\":\"d1\",{}}}", text("cut \\ud83d")),
        format!("{{\"id\":\"d2\",{}}}", text("\\ude00\\ud83d turned")),
        format!("{{\"id\":\"d3\",{}}}", text("\\ud83d\\ude00 whole")),
        format!("{{\"id\":\"d\\udfff\",{},\"\\ud800\":[\"\\ud800\"]}}", text("no \\\\ud83d")),
    ];
    let file = place.write("input.jsonl", lines.join("\n"));
    let keys = ["--url-key", "id", "--at", "2024-05-01", "--json"];
    let ran = place.run(&[&["load", &file][..], &keys].concat());
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let export = place.export();
    assert_eq!(entries(&export).len(), 4);
    assert!(export.contains("d\u{fffd}"), "{export}");
    let ran = place.run(&[&["ingest", &file][..], &keys].concat());
    assert_eq!(ran.objects()[0]["known"], 4, "{}", ran.err);
    // The names and digests of `dedup --filter` match those that were loaded.
    let drop =
        ["dedup", "--filter", &file, "--to", &place.file("out"), "--url-key", "id", "--json"];
    let ran = place.run(&drop);
    assert!(!ran.out.contains("\"broken\":1"), "{} {}", ran.out, ran.err);
    let rules = place.write("rules.jsonl", "{\"under\":\"a.example/\\ud83d\",\"max\":\"1d\"}\n");
    let ran = place.run(&["due", "--rules", &rules, "--now", "2024-06-01"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let asked = "{\"url\":\"d\\udfff\",\"ask\":\"latest\"}\n";
    let answer = place.run_with_input(&["ingest", "-", "--outcomes"], asked).objects().remove(0);
    assert_eq!(answer["page"]["visits"], 1, "{answer}");
}

#[test]
fn load_skips_one_bad_line_of_any_kind() {
    let good = |number: u32| {
        let url = format!("http://a/{number}");
        json!({"url": url, "t": "2024-05-01", "text": format!("{WORDS} {number}")}).to_string()
    };
    let with = |rest: &str| format!("{{\"url\":\"http://b/\",\"t\":1,{rest}}}").into_bytes();
    for (why, line) in [
        ("no JSON", b"{nonsense".to_vec()),
        ("cut", b"{\"url\":\"http://b/\",\"t\":1,\"te".to_vec()),
        ("no object", b"[1]".to_vec()),
        ("no UTF-8", with("\"text\":\"\u{e9}\"").into_iter().filter(|b| *b != 0xc3).collect()),
        ("a NUL", b"\0\0\0".to_vec()),
        ("no URL", b"{\"t\":1,\"text\":\"x\"}".to_vec()),
        ("no time", b"{\"url\":\"http://b/\",\"text\":\"x\"}".to_vec()),
        ("no such day", b"{\"url\":\"http://b/\",\"t\":\"2024-02-30\",\"text\":\"x\"}".to_vec()),
        ("the future", b"{\"url\":\"http://b/\",\"t\":\"2099\",\"text\":\"x\"}".to_vec()),
        ("nothing", with("\"x\":1")),
        ("a weight that is none", with("\"seen\":\"gone\",\"weight\":-1")),
        ("a fingerprint that is none", with("\"fingerprint\":\"x\"")),
        ("an epoch of ours", with("\"fingerprint\":\"0000000000000000\",\"epoch\":\"html/9 x\"")),
        ("an ended epoch", with("\"fingerprint\":\"0000000000000000\",\"epoch\":\"old\"")),
        ("an ended epoch alone", b"{\"epoch\":\"old\"}".to_vec()),
        (
            "a long URL",
            format!("{{\"url\":\"{}\",\"t\":1,\"seen\":\"gone\"}}", "x".repeat(9000)).into(),
        ),
        ("a question", b"{\"url\":\"http://b/\",\"ask\":\"near\"}".to_vec()),
    ] {
        let place = TestFolder::with(&good(0));
        let store = place.open();
        let old = store.register_epoch("old", simkeep::Role::Near).unwrap();
        store.register_epoch("newer", simkeep::Role::Near).unwrap();
        store.end_epoch(old, u64::MAX).unwrap();
        store.close().unwrap();
        let lines = [good(1).as_bytes(), &line, good(2).as_bytes()].join(&b'\n');
        let file = place.write("input.jsonl", lines);
        let failed = place.run(&["load", &file, "--json"]);
        let ran = place.run(&["load", &file, "--skip-broken", "--json"]);
        if why == "an epoch of ours" && ran.err.is_empty() {
            // A name like any other.
            continue;
        }
        assert_eq!(failed.code, 3, "{why}: {}", failed.err);
        assert_eq!(ran.code, 0, "{why}: {}", ran.err);
        let summary = ran.objects().remove(0);
        assert_eq!((&summary["visits"], &summary["broken"]), (&2.into(), &1.into()), "{why}");
        assert_eq!(ran.said().len(), 1, "{why}: {}", ran.err);
    }
}

#[test]
fn wholly_broken_input_fails_with_hints() {
    let place = TestFolder::new();
    let lines = r#"{"link":"https://a.example/","t":1,"text":"x"}
{"id":7,"meta":{"uri":"https://a.example/"},"t":1,"text":"x"}
nonsense
{"url":"x:","text":"a"}
{"url":"x:","t":1714564800000,"text":"a"}
{"url":"x:","t":1,"seen":true}
"#;
    let ran = place.run_with_input(&["ingest", "-"], lines);
    assert_eq!(ran.code, 3, "{}", ran.out);
    let expected = [
        "line 1: \"url\" is missing; try --url-key link; skipped",
        "line 2: \"url\" is missing; try --url-key meta.uri or --url-key id; skipped",
        "line 3: not valid JSON at column 2: a string must be in double quotation marks; skipped",
        "line 4: x:: \"t\" is missing: add the time of the visit, or name its key with --time-key",
        "line 5: x:: \"t\" looks like milliseconds: divide it by 1000; skipped",
        "line 6: x:: \"seen\" must be \"content\", \"redirect\", \"not-modified\"",
        "all 6 records are broken: nothing was stored",
    ];
    for (line, expected) in ran.err.lines().zip(expected) {
        assert!(line.contains(expected), "{line}");
    }
    assert_eq!(ran.err.lines().count(), expected.len(), "{}", ran.err);
    let good = r#"{"url":"x:","t":1,"text":"a"}"#;
    assert_eq!(place.run_with_input(&["ingest", "-"], &format!("{lines}{good}")).code, 0);
}
