//! `stats --saved` and `stats --validators`: what the requests of a crawl transferred.

use super::*;

/// A host that honors conditional requests, a host that ignores them and sends newer dates, and a
/// host that is not asked conditionally.
pub(super) const REQUESTS: &str = r#"
{"url":"https://example.com/a","t":"2024-01-01T00:00:00Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","bytes":5000,"epoch":"e"}
{"url":"https://example.com/a","t":"2024-01-02T00:00:00Z","seen":"not-modified","status":304,"conditional":true}
{"url":"https://example.com/a","t":"2024-01-03T00:00:00Z","seen":"not-modified","status":304}
{"url":"https://example.com/a","t":"2024-01-04T00:00:00Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","bytes":5000,"conditional":true,"epoch":"e"}
{"url":"https://example.net/","t":"2024-01-02T00:00:00Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","bytes":5000,"epoch":"e"}
{"url":"https://example.org/b","t":"2024-01-01T00:00:00Z","fingerprint":"ffffffff00000000","digest":"ff0102030405060708090a0b0c0d0e0f","bytes":70000,"modified":"2024-01-01T00:00:00Z","epoch":"e"}
{"url":"https://example.org/b","t":"2024-01-02T00:00:00Z","fingerprint":"ffffffff00000000","digest":"ff0102030405060708090a0b0c0d0e0f","modified":"2024-01-02T00:00:00Z","conditional":true,"epoch":"e"}
{"url":"https://example.org/b","t":"2024-01-03T00:00:00Z","fingerprint":"ffffffff00000000","digest":"ff0102030405060708090a0b0c0d0e0f","bytes":70000,"modified":"2024-01-02T00:00:00Z","conditional":true,"epoch":"e"}
{"url":"https://example.org/c","t":"2024-01-03T00:00:00Z","seen":"failed"}
{"url":"https://example.org/d","t":"2024-01-03T00:00:00Z","fingerprint":"00ff00ff00ff00ff","digest":"ee0102030405060708090a0b0c0d0e0f","epoch":"e"}
"#;

#[test]
fn saved_bodies_are_counted() {
    let place = TestFolder::with(REQUESTS);
    assert_eq!(
        place.done(&["stats", "--saved"]),
        "\
requests                            10
  conditional                        5
transferred                    220 KiB  7 bodies, 1 of unknown length
not modified                  9.77 KiB  2 bodies: not transferred
unchanged                      142 KiB  3 bodies: transferred, but the same as before
copies                        4.88 KiB  1 body: transferred, but captured before, on any page
"
    );
    let totals = place.run(&["stats", "--saved", "--json"]).objects();
    let expected = json!({
        "host": null, "requests": 10, "conditional": 5,
        "transferred": {"bodies": 7, "bytes": 225_000, "unknown": 1},
        "not_modified": {"bodies": 2, "bytes": 10_000, "unknown": 0},
        "unchanged": {"bodies": 3, "bytes": 145_000, "unknown": 0},
        "copies": {"bodies": 1, "bytes": 5_000, "unknown": 0},
        "conditional_unchanged": 3, "unchanged_dated": 2, "unchanged_redated": 1, "honored": 0.4,
    });
    assert_eq!(totals, [expected]);
}

#[test]
fn saved_bodies_are_counted_by_host() {
    let place = TestFolder::with(REQUESTS);
    assert_eq!(
        place.done(&["stats", "--saved", "--by-host"]),
        "\
4  9.77 KiB  9.77 KiB  4.88 KiB       0 B  example.com
1  4.88 KiB       0 B       0 B  4.88 KiB  example.net
5   205 KiB       0 B   137 KiB       0 B  example.org
"
    );
    let hosts = place.run(&["stats", "--saved", "--by-host", "--json"]).objects();
    let names: Vec<&Value> = hosts.iter().map(|host| &host["host"]).collect();
    assert_eq!(names, ["example.com", "example.net", "example.org"]);
    let totals = &place.run(&["stats", "--saved", "--json"]).objects()[0];
    let keys = ["transferred", "not_modified", "unchanged", "copies"];
    for (key, count) in keys.iter().flat_map(|key| ["bodies", "bytes", "unknown"].map(|c| (key, c)))
    {
        let sum: u64 = hosts.iter().map(|host| host[key][count].as_u64().unwrap()).sum();
        assert_eq!(totals[key][count], sum, "{key} {count}");
    }
    for key in
        ["requests", "conditional", "conditional_unchanged", "unchanged_dated", "unchanged_redated"]
    {
        let sum: u64 = hosts.iter().map(|host| host[key].as_u64().unwrap()).sum();
        assert_eq!(totals[key], sum, "{key}");
    }
    assert_eq!(hosts[1]["copies"], json!({"bodies": 1, "bytes": 5_000, "unknown": 0}));
    // A purge takes the figures of a host along.
    place.done(&["forget", "--under", "example.org", "--purge"]);
    let left = place.run(&["stats", "--saved", "--by-host", "--json"]).objects();
    assert_eq!(left, hosts[..2]);
}

#[test]
fn hosts_that_ignore_conditional_requests_are_shown() {
    let place = TestFolder::with(REQUESTS);
    assert_eq!(
        place.done(&["stats", "--validators"]),
        "3  2  1  67 %       -  example.com\n2  0  2   0 %  1 of 2  example.org\n"
    );
    let hosts = place.run(&["stats", "--validators", "--json"]).objects();
    let figures = |host: &Value| {
        let keys = [
            "conditional",
            "conditional_unchanged",
            "unchanged_dated",
            "unchanged_redated",
            "honored",
            "copies",
        ];
        keys.map(|key| host[key].clone()).to_vec()
    };
    assert_eq!(hosts.len(), 2);
    assert_eq!(
        figures(&hosts[0]),
        [json!(3), json!(1), json!(0), json!(0), json!(0.6667), json!(null)]
    );
    assert_eq!(
        figures(&hosts[1]),
        [json!(2), json!(2), json!(2), json!(1), json!(0.0), json!(null)]
    );
}

#[test]
fn surveys_of_requests_exclude_other_figures() {
    let place = TestFolder::with(REQUESTS);
    for args in [
        &["--by-host"][..],
        &["--saved", "--validators"],
        &["--saved", "--changes"],
        &["--validators", "--changes"],
        &["--validators", "--by-host"],
        &["--saved", "--prometheus"],
    ] {
        let ran = place.run(&[&["stats"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
    }
    // An empty store has no hosts.
    let empty = TestFolder::with("");
    assert_eq!(empty.done(&["stats", "--validators"]), "");
    assert_eq!(empty.done(&["stats", "--saved", "--by-host"]), "");
    let totals = empty.run(&["stats", "--saved", "--json"]).objects().remove(0);
    assert_eq!((&totals["requests"], &totals["honored"]), (&json!(0), &Value::Null));
}
