//! `near`, `history`, `scan` and `stats`.

use super::*;
use simkeep_testing::ms;

#[test]
fn history_shows_the_meaning_of_each_visit() {
    let place = TestFolder::with(CRAWL);
    let history = place.done(&["history", "https://example.com/terms"]);
    let a = "00000000000000ff  e  00010203";
    let b = "00000000000000f0  e  ff010203";
    let none = "-                 -  -       ";
    let four = "moderately, some 0.4 to 4 % of its words";
    let expected = [
        format!("2024-01-01 00:00  200  {a}  new"),
        format!("2024-01-02 00:00  200  {a}  same (digest)"),
        format!("2024-01-03 00:00  200  {b}  changed by 4 bits: {four}"),
        format!(
            "2024-01-04 00:00  200  {a}  reverted to the version of 2024-01-02 00:00, 4 bits from \
             the previous version: {four}"
        ),
        format!("2024-01-05 00:00  304  {none}  same (not modified)"),
        format!("2024-01-06 00:00    -  {none}  failed"),
    ];
    assert_eq!(history.lines().collect::<Vec<_>>(), expected);
    let terms = ["history", "https://example.com/terms"];
    let wide = place.done(&[&terms[..], &["--wide"]].concat());
    assert!(wide.contains("  000102030405060708090a0b0c0d0e0f  new\n"), "{wide}");
    // The row of the visit and its meaning.
    let third = place.done(&[&terms[..], &["--at", "2024-01-03 18:00"]].concat());
    assert_eq!(third, format!("{}\n", expected[2]));
    let in_zone = |args: &[&str]| {
        let mut command = place.command(&[&terms[..], args, &["--local"]].concat());
        ToolRun::from(command.env("TZ", "UTC-5:30").output().unwrap()).out
    };
    let local = in_zone(&["--at", "2024-01-03"]);
    assert!(local.starts_with("2024-01-03 05:30  200  "), "{local}");
    // The time of the version to which the page returned is shown, too.
    let local = in_zone(&[]);
    assert!(local.contains("reverted to the version of 2024-01-02 05:30, 4 bits"), "{local}");
}

/// The content of a page in another epoch is shown below the visit.
#[test]
fn restatement_is_shown_below_its_visit() {
    let place = TestFolder::with(
        r#"
{"epoch":"e"}
{"url":"http://a/","t":0,"fingerprint":"0000000000000001","digest":"000102030405060708090a0b0c0d0e0f","epoch":"e"}
{"epoch":"another"}
{"url":"http://a/","t":0,"fingerprint":"00000000000000f1","epoch":"another","seen":"restated"}
{"url":"http://a/","t":86400,"fingerprint":"00000000000000f1","epoch":"another"}
"#,
    );
    let history = "\
1970-01-01 00:00  -  0000000000000001  e        00010203  new
                     00000000000000f1  another            restated
1970-01-02 00:00  -  00000000000000f1  another  -         same (fingerprint)
";
    assert_eq!(place.done(&["history", "http://a/"]), history);
    let first = place.done(&["history", "http://a/", "--at", "1970"]);
    assert_eq!(first, "1970-01-01 00:00  -  0000000000000001  e  00010203  new\n");
}

/// On a terminal the columns have names.
#[test]
fn table_has_a_heading_on_a_terminal() {
    let place = TestFolder::with(CRAWL);
    let scan = |variables: &[(&str, &str)]| {
        let ran = place.on_terminal(&["scan", "org,example"], variables, "");
        ran.map(|ran| ran.out.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>())
    };
    let heading = "last visit (UTC)  fingerprint       visits  URL";
    let row = "2024-01-01 00:00  ffffffffffffff00       1  https://example.org/";
    let Some(lines) = scan(&[("TERM", "xterm"), ("NO_COLOR", "")]) else {
        return eprintln!("skipped: there is no `script` here");
    };
    assert_eq!(lines, [&format!("\u{1b}[90m{heading}\u{1b}[0m"), row]);
    for without in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        assert_eq!(scan(&[("TERM", "xterm"), ("NO_COLOR", ""), without]).unwrap(), [heading, row]);
    }
}

#[test]
fn json_history_has_export_keys_and_the_verdict() {
    let place = TestFolder::with(CRAWL);
    let ran = place.run(&["history", "https://example.com/terms", "--json"]);
    let objects = ran.objects();
    assert_eq!(objects[0]["verdict"], "new");
    assert_eq!(objects[0]["fingerprint"], "00000000000000ff");
    assert_eq!(objects[1]["by"], "digest");
    assert_eq!(objects[2]["distance"], 4);
    assert_eq!(objects[2]["band"], "moderate");
    assert_eq!(objects[2]["words_changed"], json!([0.0038, 0.044]));
    assert_eq!(objects[3]["verdict"], "reverted");
    assert_eq!(objects[3]["to"], "2024-01-02T00:00:00Z");
    assert_eq!(objects[4]["seen"], "not-modified");
    assert_eq!(objects[5]["verdict"], "failed");
}

#[test]
fn history_at_a_time_shows_the_version_in_force() {
    let place = TestFolder::with(CRAWL);
    let as_of = |url: &str, time: &str| {
        let ran = place.run(&["history", url, "--at", time, "--json"]);
        match ran.objects().as_slice() {
            [visit] => (ran.code, visit["t"].as_str().unwrap().to_owned()),
            _ => (ran.code, ran.err),
        }
    };
    let terms = "https://example.com/terms";
    assert_eq!(as_of(terms, "2024-01-03T23:59:59Z"), (0, "2024-01-03T00:00:00Z".into()));
    assert_eq!(as_of(terms, "2024-01-03"), (0, "2024-01-03T00:00:00Z".into()));
    assert_eq!(as_of(terms, "1704196800.5"), (0, "2024-01-02T00:00:00Z".into()));
    assert_eq!(as_of(terms, "2030"), (0, "2024-01-04T00:00:00.250Z".into()));
    assert_eq!(as_of(terms, "-1").0, 1);
    assert_eq!(as_of("https://example.com/old", "2024-01-02").0, 1);
    assert_eq!(as_of(terms, "soon").0, 2);
}

#[test]
fn near_lists_other_current_pages_nearest_first() {
    let place = TestFolder::with(CRAWL);
    let near = place.done(&["near", "--url", "https://example.com/terms"]);
    assert_eq!(near, "1  minor  00000000000000fd  https://docs.example.com/terms\n");
    // The explanation does not count it either.
    let explain = ["near", "--url", "https://example.com/terms", "--explain"];
    for seal in [false, true] {
        if seal {
            place.open().seal().unwrap();
        }
        let object = place.run(&[&explain[..], &["--json"]].concat()).objects().remove(0);
        assert_eq!(object["explain"]["components"][0]["hits"], 1);
        let lines = place.done(&explain);
        assert!(lines.lines().all(|line| line.chars().count() <= 100), "{lines}");
    }
    let ran = place.run(&["near", "00000000000000FF", "--ever", "-k", "4", "--json"]);
    let object = ran.objects().remove(0);
    let found: Vec<_> = object["near"]
        .as_array()
        .unwrap()
        .iter()
        .map(|near| (near["url"].as_str().unwrap(), near["distance"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("https://example.com/terms", 0),
        ("https://example.com/old", 1),
        ("https://docs.example.com/terms", 1),
        ("https://example.com/terms", 4),
    ];
    assert_eq!(found, expected);
    assert_eq!((&object["complete"], &object["epoch"]), (&true.into(), &"e".into()));
}

#[test]
fn near_at_searches_with_the_content_of_that_time() {
    let place = TestFolder::with(CRAWL);
    let near = |time: &str| {
        place.run(&["near", "--url", "https://example.com/terms", "--at", time, "--json"])
    };
    for (time, fingerprint, distance) in [
        ("2024-01-02T12:00:00Z", "00000000000000ff", 1),
        ("2024-01-03T12:00:00Z", "00000000000000f0", 3),
        ("2024-01-09T12:00:00Z", "00000000000000ff", 1),
    ] {
        let answer = near(time).objects().remove(0);
        assert_eq!(answer["fingerprint"], fingerprint, "{time}");
        assert_eq!(answer["near"][0]["distance"], distance, "{time}");
    }
    let ran = near("2023-01-01");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.said()[0].contains("had no content at 2023-01-01T00:00:00Z"), "{}", ran.err);
    // A fingerprint that was restated later counts for its visit.
    let lines = r#"
{"url":"https://example.com/terms","t":"2024-01-03T00:00:00Z","seen":"restated","fingerprint":"00000000000000f1","digest":"ff0102030405060708090a0b0c0d0e0f","epoch":"later"}
"#;
    place.ingest_beginning(lines);
    let answer = near("2024-01-03T12:00:00Z").objects().remove(0);
    assert_eq!(
        (&answer["fingerprint"], &answer["epoch"]),
        (&"00000000000000f1".into(), &"later".into())
    );
    let batch = place.write("urls", "https://example.com/terms\n");
    let args = ["near", "--batch", &batch, "--lines", "url", "--at", "2024-01-02", "--json"];
    assert_eq!(place.run(&args).objects()[0]["fingerprint"], "00000000000000ff");
}

#[test]
fn near_reports_more_pages_than_the_limit() {
    let place = TestFolder::with(CRAWL);
    let ran = place.run(&["near", "00000000000000ff", "--limit", "1"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1));
    assert!(ran.err.contains("--limit"), "{}", ran.err);
    let url = ["near", "--url", "https://example.com/terms", "-k", "64", "--json", "--limit"];
    let limited = |limit| {
        let object = place.run(&[&url[..], &[limit]].concat()).objects().remove(0);
        (object["near"].as_array().unwrap().len(), object["complete"].as_bool().unwrap())
    };
    assert_eq!(limited("1"), (1, false));
    assert_eq!(limited("2"), (2, true));
    assert_eq!(limited("3"), (2, true));
}

/// No nearer page is missing from the result, whatever the requested number.
#[test]
fn nearest_pages_are_complete_for_any_count() {
    let place = TestFolder::with(CRAWL);
    let nearest = |count| {
        let args = ["near", "00000000000000ff", "--nearest", count, "--json"];
        let object = place.run(&args).objects().remove(0);
        (object["near"].as_array().unwrap().len(), object["complete"].as_bool().unwrap())
    };
    assert_eq!(["1", "2", "3", "4"].map(nearest), [(1, true), (2, true), (3, true), (3, true)]);
}

/// An answer with one object reports the operations that it saw, and how many followed since.
#[test]
fn answers_report_the_operations_they_saw() {
    let place = TestFolder::with(CRAWL);
    let saw = || place.run(&["stats", "--json"]).objects().remove(0)["saw"].take();
    let sequence = saw()["sequence"].as_u64().unwrap();
    assert_eq!(
        saw(),
        json!({"sequence": sequence, "generation": null, "written": null, "behind": 0})
    );
    let writer = place.open();
    let epoch = writer.snapshot().near_epoch();
    writer.observe(simkeep::Observation::content("http://a/", ms(1), 7, epoch)).unwrap();
    let seen = saw();
    assert_eq!((&seen["sequence"], &seen["behind"]), (&json!(sequence + 1), &json!(0)));
    assert!(seen["written"].as_str().unwrap().ends_with('Z'), "{seen}");
    // If the answer is lines, the state is reported on the error output.
    let scan = place.run(&["scan", "--json"]);
    assert_eq!(objects(&scan.err)[0]["saw"]["sequence"], json!(sequence + 1));
}

#[test]
fn failures_are_json_objects_with_json_output() {
    let place = TestFolder::with(CRAWL);
    let failure = |args: &[&str]| {
        let ran = place.run(args);
        let said = objects(&ran.err).pop().unwrap();
        assert_eq!((said["exit_code"].as_i64(), ran.out.as_str()), (Some(ran.code.into()), ""));
        said
    };
    let damaged = place.path("damaged/catalog.redb");
    std::fs::create_dir_all(damaged.parent().unwrap()).unwrap();
    std::fs::write(damaged, [7; 9000]).unwrap();
    let said = failure(&["stats", "-s", "damaged", "--json"]);
    assert_eq!((&said["exit_code"], &said["kind"]), (&4.into(), &"damaged".into()));
    assert!(said["file"].as_str().unwrap().ends_with("catalog.redb"), "{said}");
    assert!(said["offset"].is_u64() && said["message"].is_string(), "{said}");
    let said = failure(&["stats", "-s", "none", "--json"]);
    assert_eq!((&said["kind"], &said["file"]), (&"not-a-store".into(), &"none".into()));
    // Also if the command line is invalid.
    assert_eq!(failure(&["--json", "near"])["kind"], "usage");
    assert_eq!(failure(&["history", "--json", "--at", "soon", "u"])["kind"], "usage");
    // A message that is not a failure is a note.
    let ran = place.run(&["history", "http://none/", "--json"]);
    assert_eq!((ran.code, objects(&ran.err)[0].get("exit_code")), (1, None));
}

#[test]
fn near_reads_texts_like_ingest() {
    let place = TestFolder::new();
    let page = "<!doctype html><title>Terms</title><p>The quick brown fox jumps over the lazy dog";
    let path = place.write("pages/terms.html", page);
    place.write("pages/other.txt", "something else that has nothing to do with it at all");
    place.done(&["ingest", "pages"]);
    let near = place.done(&["near", "--html", &path]);
    // With so few words a distance means little, so no band is shown.
    assert!(near.starts_with("0  -  "), "{near}");
    assert!(near.ends_with("/pages/terms.html\n"), "{near}");
    let object = place.run(&["near", "--html", &path, "--json"]).objects().remove(0);
    assert_eq!(
        (&object["near"][0]["distance"], &object["near"][0]["band"]),
        (&json!(0), &Value::Null)
    );
    let long: String = (0..100).map(|n| format!("word{n} ")).collect();
    let long = place.write("pages/long.txt", long);
    place.done(&["ingest", "pages"]);
    let object = place.run(&["near", "--text", &long, "--json"]).objects().remove(0);
    assert_eq!(object["near"][0]["band"], "none");
    assert!(place.done(&["near", "--text", &long]).starts_with("0  none  "));
    let ran = place.run_with_input(&["near", "--html", "-"], page);
    assert_eq!(ran.out, near);
    // HTML tags are not words of a text, and a text can be read as HTML.
    let ran = place.run(&["near", "--text", &path]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.ends_with("terms.html is HTML; use --html instead of --text\n"), "{}", ran.err);
    assert!(place.done(&["near", "--html", &long]).starts_with("0  none  "));
    let ran = place.run(&["near", "--text", "nowhere"]);
    assert_eq!(ran.code, 5);
    place.write("binary", [0, 1, 2]);
    assert_eq!(place.run(&["near", "--text", "binary"]).code, 2);
}

#[test]
fn fingerprint_needs_an_epoch_only_if_several_have_pages() {
    let place = TestFolder::with(CRAWL);
    let (fingerprint, two) = ("00000000000000ff", "the store has fingerprints of several epochs");
    assert_eq!(place.run(&["near", fingerprint]).code, 0);
    place.ingest_beginning(
        r#"{"url":"https://example.net/","t":0,"text":"a text of its own, with a few more words"}"#,
    );
    let ran = place.run(&["near", fingerprint]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(two) && ran.err.contains("words2-sqrt/2, e"), "{}", ran.err);
    let near = place.run(&["near", fingerprint, "--epoch", "e"]);
    assert_eq!((near.code, near.out.lines().count()), (0, 2));
    assert!(near.err.contains("1 page has no fingerprint in the epoch e"), "{}", near.err);
    assert_eq!(place.run(&["near", fingerprint, "--epoch", "nobody's"]).code, 2);
}

#[test]
fn scan_lists_a_site_in_one_run() {
    let place = TestFolder::with(CRAWL);
    let all = "\
2024-01-06 00:00  00000000000000ff  6  https://example.com/terms
2024-01-01 00:00  00000000000000fd  1  https://docs.example.com/terms
2024-01-01 00:00  ffffffffffffff00  1  https://example.org/
";
    let old = "2024-01-02 00:00  gone              2  https://example.com/old\n";
    assert_eq!(place.done(&["scan"]), format!("{old}{all}"));
    let alone = place.done(&["scan", "example.com/old"]);
    assert_eq!(alone, "2024-01-02 00:00  gone  2  https://example.com/old\n");
    let page = place.run(&["scan", "org,example", "--json"]).objects().remove(0);
    assert_eq!(page["url"], "https://example.org/");
    assert_eq!((&page["visits"], &page["is_gone"]), (&1.into(), &false.into()));
    assert_eq!(page["last"], "2024-01-01T00:00:00Z");
    assert_eq!(place.run(&["scan", "no..host"]).code, 2);
}

#[test]
fn content_without_a_fingerprint_is_marked() {
    let place = TestFolder::with(
        r#"
{"epoch":"e"}
{"url":"http://none.example/","t":0,"fingerprint":null,"epoch":"e"}
{"url":"http://none.example/","t":1,"fingerprint":"0000000000000001","epoch":"e"}
"#,
    );
    let history = place.done(&["history", "http://none.example/"]);
    let rows: Vec<&str> = history.lines().collect();
    assert!(rows[0].contains("  -") && rows[0].ends_with("  e  -  new"), "{}", rows[0]);
    assert!(rows[1].ends_with("  e  -  changed (by an unknown distance)"), "{}", rows[1]);
    let lines = objects(&place.done(&["history", "http://none.example/", "--json"]));
    assert_eq!((&lines[0]["fingerprint"], &lines[0]["epoch"]), (&Value::Null, &"e".into()));
    assert_eq!((&lines[1]["verdict"], lines[1].get("distance")), (&"changed".into(), None));

    let place =
        TestFolder::with(r#"{"url":"http://none.example/","t":0,"fingerprint":null,"epoch":"e"}"#);
    let row = place.done(&["scan"]);
    assert!(row.contains("  no fingerprint"), "{row}");
    let line = &objects(&place.done(&["scan", "--json"]))[0];
    assert_eq!((line.get("fingerprint"), &line["epoch"]), (Some(&Value::Null), &"e".into()));
    let near = place.run(&["near", "0000000000000001", "--epoch", "e"]);
    assert_eq!((near.code, near.out.as_str()), (1, ""));
}

#[test]
fn stats_count_pages_and_visits() {
    let place = TestFolder::with(CRAWL);
    let stats = place.run(&["stats", "--json"]).objects().remove(0);
    assert_eq!((&stats["pages"], &stats["visits"]), (&4.into(), &10.into()));
    assert_eq!(stats["unsealed_visits"], 10);
    assert_eq!(stats["epochs"][1]["epoch"], "e");
    place.open().seal().unwrap();
    let stats = place.run(&["stats", "--json"]).objects().remove(0);
    assert_eq!(stats["segments"][0]["visits"], 10);
    assert_eq!(stats["unsealed_visits"], 0);
    let shown = place.done(&["stats"]);
    assert!(shown.starts_with("pages                                4\n"), "{shown}");
    assert!(shown.contains("KiB"), "{shown}");
}

/// The value of a series in the text format of Prometheus.
fn series(text: &str, name: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn stats_are_printed_as_prometheus_gauges() {
    let place = TestFolder::with(CRAWL);
    let store = place.store().to_str().unwrap().to_owned();
    let printed = place.done(&["stats", "--prometheus"]);
    let label = format!("{{store=\"{store}\"");
    let states = ["in_force", "gone", "never"];
    let pages =
        states.map(|of| series(&printed, &format!("simkeep_pages{label},state=\"{of}\"}}")));
    assert_eq!(pages.iter().sum::<f64>(), 4.0, "{printed}");
    assert_eq!(series(&printed, "simkeep_visits"), 10.0);
    assert_eq!(series(&printed, "simkeep_unsealed_visits"), 10.0);
    // Each series has a description, a type and the label of this store.
    for line in printed.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split_once('{').unwrap().0;
        assert!(printed.contains(&format!("# TYPE {name} gauge\n{name}{label}")), "{line}");
        assert!(printed.contains(&format!("# HELP {name} ")), "{line}");
    }
    place.open().seal().unwrap();
    place.write("simkeep.prom", "what was there before");
    assert_eq!(place.done(&["stats", "--prometheus", "-o", "simkeep.prom"]), "");
    let file = std::fs::read_to_string(place.path("simkeep.prom")).unwrap();
    assert_eq!(
        (series(&file, "simkeep_segments"), series(&file, "simkeep_unsealed_visits")),
        (1.0, 0.0)
    );
    let stats = place.run(&["stats", "--json"]).objects().remove(0);
    let bytes = file.lines().filter(|line| line.starts_with("simkeep_size_bytes"));
    let bytes: f64 = bytes.map(|line| series(line, "simkeep_size_bytes")).sum();
    let of = |key: &str| stats[key].as_f64().unwrap();
    assert_eq!(bytes, of("segment_bytes") + of("catalog_bytes"));
    // An unwritable target is an error.
    assert_eq!(place.run(&["stats", "--prometheus", "-o", "none/simkeep.prom"]).code, 5);
}

#[test]
fn damaged_catalog_is_reported_in_one_line() {
    let place = TestFolder::with(CRAWL);
    let catalog = place.store().join("catalog.redb");
    let bytes = std::fs::read(&catalog).unwrap();
    for broken in [Vec::new(), bytes[..100].to_vec(), vec![0xff; bytes.len()]] {
        std::fs::write(&catalog, broken).unwrap();
        let ran = place.run(&["stats"]);
        assert_eq!(ran.code, 4, "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
}

#[test]
fn nothing_found_has_its_own_exit_code() {
    let place = TestFolder::with(CRAWL);
    for args in [
        &["history", "https://nowhere.example/"][..],
        &["near", "--url", "https://nowhere.example/"],
        &["near", "--url", "https://example.com/old"],
        &["near", "5555555555555555"],
        &["scan", "nowhere.example"],
        &["forget", "https://nowhere.example/"],
        &["forget", "--under", "nowhere.example"],
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        assert!(ran.err.starts_with("simkeep: "), "{args:?} {}", ran.err);
        assert_eq!(place.run(&[args, &["--json"]].concat()).code, 1, "{args:?}");
    }
}

#[test]
fn invalid_command_lines_are_usage_errors() {
    let place = TestFolder::with(CRAWL);
    for args in [
        &[][..],
        &["remember"],
        &["near"],
        &["near", "ff"],
        &["near", "00000000000000ff", "-k", "65"],
        &["near", "00000000000000ff", "--url", "https://example.com/"],
        &["history"],
        &["history", ""],
        &["forget"],
        &["forget", "https://example.com/", "--under", "example.com"],
        &["ingest"],
        &["ingest", "x", "--group-size", "0"],
        &["verify", "--rate", "fast"],
        &["repair"],
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {}", ran.err);
    }
    for args in [&["--help"][..], &["-h"], &["--version"], &["near", "--help"]] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    }
    assert!(place.done(&["--help"]).contains("Exit codes:"));
}

#[test]
fn missing_or_locked_store_is_reported() {
    let place = TestFolder::new();
    for args in [&["stats"][..], &["verify"], &["scan"], &["export"], &["repair", "--to", "saved"]]
    {
        let ran = place.run(args);
        assert_eq!(ran.code, 5);
        assert!(ran.err.contains("not a simkeep store"), "{}", ran.err);
        assert!(!place.store().exists());
    }
    place.ingest(CRAWL);
    let store = place.open();
    for args in [&["ingest", "-"][..], &["forget", "https://example.com/"]] {
        let ran = place.run_with_input(args, "");
        assert_eq!(ran.code, 5);
        assert!(ran.err.contains("is still writing to"), "{}", ran.err);
    }
    drop(store);
}

#[test]
fn readers_see_all_stored_data_and_report_an_active_writer() {
    let place = TestFolder::with(CRAWL);
    let store = place.open();
    let ran = place.run(&["stats", "--json"]);
    assert_eq!((ran.code, &ran.objects()[0]["visits"]), (0, &10.into()));
    let said =
        "another process is writing to the store; the answer has all that it stored until now";
    assert_eq!(objects(&ran.err)[0]["message"], said);
    assert_eq!(place.run(&["stats"]).err, format!("simkeep: {said}\n"));
    for args in [&["scan"][..], &["export"], &["verify"], &["near", "00000000000000ff"]] {
        let ran = place.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("another process is writing"), "{}", ran.err);
        assert!(!ran.out.is_empty());
    }
    store.seal().unwrap();
    assert_eq!(place.run(&["stats", "--json"]).objects()[0]["visits"], 10);
    drop(store);
    assert_eq!(place.run(&["stats"]).err, "");
}

#[test]
fn every_json_line_is_an_object() {
    let place = TestFolder::with(CRAWL);
    for args in [
        &["scan"][..],
        &["scan", "example.com"],
        &["history", "https://example.com/terms"],
        &["history", "https://example.com/terms", "--at", "2025"],
        &["near", "00000000000000ff", "-k", "64"],
        &["stats"],
        &["verify"],
        &["export"],
        &["forget", "https://example.com/old"],
        &["forget", "--under", "example.com", "--purge"],
    ] {
        let out = place.done(&[args, &["--json"]].concat());
        assert!(!objects(&out).is_empty(), "{args:?}");
    }
}
