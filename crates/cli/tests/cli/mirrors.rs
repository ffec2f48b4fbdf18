//! Sites that mirror each other.

use serde_json::json;

use super::{TestFolder, ToolRun};

/// Two hosts with the same pages, the second two days later, and some of another page each; a third one
/// that has a part of them, in a folder with an odd name.
fn store() -> TestFolder {
    let place = TestFolder::new();
    let mut lines = String::new();
    let mut see = |url: String, day: u64, print: u64| {
        let print = format!("{:016x}", print.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let line = json!({"url": url, "t": 86_400 * (1000 + day), "fingerprint": print});
        lines += &format!("{line}\n");
    };
    for page in 0..20 {
        for (later, host) in [(0, "a.example"), (2, "b.example")] {
            see(format!("https://{host}/{page}"), later, page);
            see(format!("https://{host}/{page}"), 10 + later, 100 + page);
        }
        if page < 10 {
            see(format!("http://c.example/d\u{202e}/{page}"), 20, 100 + page);
        }
    }
    see("https://a.example/0".to_owned(), 30, 300);
    see("https://b.example/1".to_owned(), 40, 400);
    let file = place.write("pages.jsonl", lines);
    place.done(&["load", &file]);
    place
}

#[test]
fn mirrors_are_listed_above_partial_ones() {
    let place = store();
    let shown = place.with_header(&["mirrors"]);
    let lines: Vec<Vec<&str>> = shown.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(
        shown.lines().next().unwrap(),
        "50 paths on 4 sites with at least 10 paths, compared within 3 bits: 1 pair mirrors each other"
    );
    assert_eq!(lines[2].join(" "), "100.0 % 20 0 1 2 days a.example/ b.example/");
    assert_eq!(lines[4].join(" "), "partial mirrors, with a share below 0.8:");
    assert_eq!(lines[6].join(" "), "50.0 % 10 0 1 - a.example/ c.example/d\\u{202e}/");
    assert_eq!(lines[7].join(" "), "50.0 % 10 0 1 - b.example/ c.example/d\\u{202e}/");
    assert_eq!(lines.len(), 8);

    let shown = place.with_header(&["mirrors", "--min-share", "0.4", "--examples"]);
    assert!(shown.contains("3 pairs mirror each other"), "{shown}");
    assert!(
        shown.contains("0 bits   https://a.example/7  http://c.example/d\\u{202e}/7"),
        "{shown}"
    );
    let shown = place.done(&["mirrors", "--depth", "0"]);
    assert_eq!(shown.lines().count(), 1);
}

#[test]
fn json_mirrors_have_all_fields() {
    let place = store();
    let found = place.run(&["mirrors", "--json"]).objects();
    assert_eq!(found.len(), 3);
    let first = &found[0];
    assert_eq!(first["leading"], json!({"site": "a.example/", "paths": 20, "outdated_paths": 1}));
    assert_eq!(first["following"], json!({"site": "b.example/", "paths": 20, "outdated_paths": 1}));
    assert_eq!((&first["is_mirror"], &first["share"]), (&json!(true), &json!(1.0)));
    assert_eq!((&first["near_paths"], &first["differing_paths"]), (&json!(20), &json!(0)));
    assert_eq!(first["lag_seconds"], 2 * 86_400);
    assert_eq!(first["examples"].as_array().unwrap().len(), 10);
    assert_eq!(found[1]["is_mirror"], false);
    assert_eq!(found[1]["lag_seconds"], json!(null));
}

#[test]
fn mirrors_are_searched_at_a_time_and_under_a_prefix() {
    let place = store();
    let ToolRun { code, out, err } = place.run(&["mirrors", "--at", "1972-09-27"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("1 site has 10 paths or more"), "{err}");
    let shown = place.done(&["mirrors", "--at", "1972-10-01"]);
    assert_eq!(shown.lines().count(), 1);
    let ran = place.run(&["mirrors", "--under", "c.example"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("2 sites have 10 paths or more, but no two"), "{}", ran.err);
    let ran = place.run(&["mirrors", "--limit", "1"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1));
    assert!(ran.err.contains("2 more; raise --limit"), "{}", ran.err);
}

#[test]
fn mirrors_without_scratch_space_fail_and_leave_nothing() {
    let place = store();
    let run = |temporary: &str| {
        let mut command = place.command(&["mirrors"]);
        ToolRun::from(command.env("TMPDIR", place.path(temporary)).output().unwrap())
    };
    let ran = run("none");
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert!(ran.err.contains("scratch"), "{}", ran.err);
    std::fs::create_dir(place.path("some")).unwrap();
    assert_eq!(run("some").code, 0);
    assert_eq!(std::fs::read_dir(place.path("some")).unwrap().count(), 0);
}
