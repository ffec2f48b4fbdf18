//! `diff`: pages that differ between two stores, or two times.

use super::*;

/// A line of a page with a fingerprint at a time.
fn seen(page: &str, t: u32, fingerprint: u64) -> String {
    format!(
        "{{\"url\":\"https://example.com/{page}\",\"t\":{t},\"fingerprint\":\"{fingerprint:016x}\",\"epoch\":\"e\"}}\n"
    )
}

fn gone(page: &str, t: u32) -> String {
    format!("{{\"url\":\"https://example.com/{page}\",\"t\":{t},\"seen\":\"gone\"}}\n")
}

fn before() -> String {
    let pages = ["back", "changed", "gone", "same", "returned", "reverted"];
    let mut lines: String = pages.iter().map(|page| seen(page, 1000, 0xff)).collect();
    lines += &(seen("reverted", 1500, 0xf0) + &gone("returned", 1500));
    lines
}

fn after() -> String {
    let mut lines = seen("new", 3000, 7) + &seen("changed", 3000, 0xff00) + &gone("gone", 3000);
    lines += &(seen("back", 3000, 1) + &seen("back", 3500, 0xff) + &seen("same", 3000, 0xff));
    lines += &(seen("reverted", 3000, 0xff) + &seen("returned", 3000, 0xff));
    lines + "{\"url\":\"https://example.com/changed\",\"t\":3600,\"weight\":2}\n"
}

#[test]
fn changed_pages_are_listed_with_their_priority() {
    let old = TestFolder::with(&before());
    let new = TestFolder::with(&(before() + &after()));
    let (a, b) = (old.file("store"), new.file("store"));
    let expected = "changed   16  1.000  https://example.com/changed
gone       -  0.000  https://example.com/gone
new        -  1.000  https://example.com/new
reverted   0  0.000  https://example.com/returned
reverted   4  0.125  https://example.com/reverted
";
    assert_eq!(new.done(&["diff", &a, &b]), expected);
    let between =
        |since: &str, until: &str| new.done(&["diff", "--since", since, "--until", until]);
    let [then, later, last] =
        ["00:33:20", "00:49:59", "00:58:20"].map(|t| format!("1970-01-01T{t}Z"));
    assert_eq!(new.done(&["diff", "--since", &then]), expected);
    new.same(&["--since", &then, "--until", &later]);
    assert_eq!(between(&later, "now"), expected);
    new.same(&["--since", &last, "--until", "now"]);
    let changed = new.done(&["diff", &a, &b, "--under", "example.com/changed", "--json"]);
    let found = objects(&changed).remove(0);
    let expected = json!({
        "url": "https://example.com/changed",
        "verdict": "changed",
        "distance": 16,
        "priority": 1.0,
        "before": {"fingerprint": "00000000000000ff", "digest": null, "epoch": "e"},
        "after": {"fingerprint": "000000000000ff00", "digest": null, "epoch": "e"},
        "content_seen": "1970-01-01T00:50:00Z",
    });
    assert_eq!(found, expected);
    // In the other direction, a new page is gone.
    let back = new.done(&["diff", &b, &a]);
    assert!(back.contains("gone       -  0.000  https://example.com/new\n"), "{back}");
    assert!(back.contains("gone       -  0.000  https://example.com/returned\n"), "{back}");
    new.same(&[&a, &a]);
    // Epochs are identified by name, whatever their numbers.
    let other = TestFolder::new();
    other.ingest("{\"epoch\":\"x\"}\n");
    other.ingest(&before());
    other.same(&[&a, "store"]);
    other.same(&["--exact", &a, "store"]);
}

#[test]
fn exact_diff_prints_entries_as_in_an_export() {
    let (old, new) =
        (TestFolder::with(&before()), TestFolder::with(&(before() + &seen("same", 9, 1))));
    let (a, b) = (old.file("store"), new.file("store"));
    let line = r#"{"url":"https://example.com/same","t":"1970-01-01T00:00:09Z","fingerprint":"0000000000000001","epoch":"e"}"#;
    assert_eq!(new.done(&["diff", "--exact", &a, &b]), format!("+ {line}\n"));
    assert_eq!(new.done(&["diff", "--exact", &b, &a]), format!("- {line}\n"));
    let found = new.run(&["diff", "--exact", &b, &a, "--json"]).objects().remove(0);
    assert_eq!((&found["only"], &found["epoch"]), (&"before".into(), &"e".into()));
    // An earlier visit does not change the version in force.
    new.same(&[&a, &b]);
    assert!(new.export().contains(line));
    for args in [
        &["diff"][..],
        &["diff", &a],
        &["diff", &a, &b, "--since", "1"],
        &["diff", "--exact", "--since", "1"],
        &["diff", &a, &b, "--store", &a],
        &["diff", "--until", "1"],
    ] {
        assert_eq!(new.run(args).code, 2, "{args:?}");
    }
}
