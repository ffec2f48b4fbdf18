//! `tail`.

use simkeep_testing::ms;
use std::io::{BufRead as _, BufReader};

use super::*;
use simkeep::{Observation, Scope};

#[test]
fn last_operations_are_printed_in_order() {
    let place = TestFolder::with(CRAWL);
    let lines = place.done(&["tail", "-n", "7"]);
    let expected = "\
 4  2024-01-04 00:00  reverted        https://example.com/terms
 5  2024-01-05 00:00  same            https://example.com/terms
 6  2024-01-06 00:00  failed          https://example.com/terms
 7  2024-01-01 00:00  new             https://example.com/old
 8  2024-01-02 00:00  gone 404        https://example.com/old
 9  2024-01-01 00:00  new             https://docs.example.com/terms
10  2024-01-01 00:00  new             https://example.org/
";
    // As wide as what is in them.
    assert_eq!(squeezed(&lines), squeezed(expected));
    let changed = place.done(&["tail", "-n", "8"]);
    let third = changed.lines().next().unwrap();
    assert_eq!(squeezed(third), " 3 2024-01-03 00:00 changed 4 bits https://example.com/terms\n");
    let under = place.done(&["tail", "--under", "docs.example.com"]);
    assert_eq!(under.lines().count(), 1, "{under}");
    assert_eq!(place.done(&["tail", "-n", "0"]), "");
}

#[test]
fn whole_target_of_a_page_is_printed() {
    let line = r#"{"url":"http://a/old","t":1,"seen":"redirect","to":"/new?a"}"#;
    let place = TestFolder::with(line);
    let lines = squeezed(&place.done(&["tail"]));
    assert!(lines.ends_with("target http://a/old to http://a/new?a\n"), "{lines}");
    // A target without a visit.
    let line = r#"{"url":"http://a/old","t":2,"target":"/\u202e"}"#;
    place.ingest(line);
    let lines = place.done(&["history", "http://a/old"]);
    assert!(lines.ends_with("  target http://a/%E2%80%AE\n"), "{lines}");
}

/// Lines with single blanks between words.
fn squeezed(lines: &str) -> String {
    let squeeze =
        |line: &str| line.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    lines.lines().map(|line| format!(" {}\n", squeeze(line))).collect()
}

#[test]
fn operation_has_the_keys_of_a_history() {
    let place = TestFolder::with(CRAWL);
    place.open().forget(Scope::Url("https://example.org/")).unwrap();
    place.open().forget(Scope::Prefix("docs.example.com".parse().unwrap())).unwrap();
    let lines = place.run(&["tail", "-n", "100", "--json"]).objects();
    let numbers: Vec<u64> = lines.iter().map(|line| line["operation"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    let history = place.run(&["history", "https://example.com/terms", "--json"]).objects();
    for (line, entry) in lines.iter().zip(&history) {
        for (key, value) in entry.as_object().unwrap() {
            assert_eq!(&line[key], value);
        }
        assert_eq!((&line["kind"], &line["near"]), (&json!("entry"), &json!(null)));
    }
    let forgot =
        json!({"operation": 11, "kind": "forget", "url": "https://example.org/", "visits": 1});
    assert_eq!(lines[10], forgot);
    assert_eq!((&lines[11]["kind"], &lines[11]["pages"]), (&json!("forget-prefix"), &json!(1)));
    let near = place.run(&["tail", "-n", "4", "--near=2", "--json"]).objects();
    let urls = |line: &Value| {
        let near = line["near"].as_array().unwrap().iter();
        near.map(|near| {
            (near["url"].as_str().unwrap().to_owned(), near["distance"].as_u64().unwrap())
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(urls(&near[0]), [("https://example.com/terms".to_owned(), 1)]);
    let lines = place.done(&["tail", "-n", "4", "--near=2"]);
    assert!(squeezed(&lines).contains("near: 1 bit https://example.com/terms\n"), "{lines}");
}

#[test]
fn tail_reports_the_first_available_operation() {
    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    let ran = place.run(&["tail"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(
        ran.err.contains("begins with operation 11; 10 older operations are in segments"),
        "{}",
        ran.err
    );
    place.open().observe(Observation::gone("https://example.org/", ms(0))).unwrap();
    let ran = place.run(&["tail", "-n", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("11 "), "{}", ran.out);
}

/// While it runs, new operations are printed; of operations that are sealed in between, only the
/// numbers.
#[test]
fn new_operations_are_printed_and_gaps_are_named() {
    let place = TestFolder::with(CRAWL);
    let mut child = place.command(&["tail", "-f", "-n", "1", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["operation"], 10);
    let store = place.open();
    store.observe(Observation::gone("https://example.com/terms", ms(1 << 41))).unwrap();
    let came = next();
    assert_eq!((&came["operation"], &came["verdict"]), (&json!(11), &json!("gone")));
    // The tool may look between the two, which leaves a gap of one.
    for n in 0..3 {
        store.observe(Observation::gone(&format!("https://example.net/{n}"), ms(0))).unwrap();
        store.seal().unwrap();
    }
    store.observe(Observation::gone("https://example.net/last", ms(0))).unwrap();
    let mut last = 11;
    while last < 15 {
        let line = next();
        match (line["first_operation"].as_u64(), line["operation"].as_u64()) {
            (Some(first), None) => {
                assert_eq!((first, &line["kind"]), (last + 1, &json!("missed")));
                last = line["last_operation"].as_u64().unwrap();
            }
            (None, Some(operation)) => {
                assert_eq!(operation, last + 1);
                last = operation;
            }
            _ => panic!("{line}"),
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// URLs are escaped on the terminal.
#[test]
fn urls_are_escaped() {
    let place = TestFolder::with("{\"url\":\"http://a/\u{202e}\",\"t\":0,\"seen\":\"gone\"}\n");
    let lines = place.done(&["tail"]);
    assert!(lines.contains("http://a/\\u{202e}"), "{lines}");
}
