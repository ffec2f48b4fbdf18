//! `inspect`.

use super::*;

const TERMS: &str = "https://example.com/terms";

fn sealed() -> TestFolder {
    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    place
}

#[test]
fn overview_shows_contents_and_space() {
    let place = sealed();
    let lines = place.done(&["inspect"]);
    let pages = "4    with content 3 · gone 1 · never had content 0\n";
    assert!(lines.contains(&format!("\n  pages                     {pages}")), "{lines}");
    let visits = "10    2.50 a page, 2024-01-01 00:00 to 2024-01-06 00:00 (UTC)\n";
    assert!(lines.contains(&format!("\n  visits                   {visits}")), "{lines}");
    assert!(lines.contains("5    different fingerprints\n"), "{lines}");
    assert!(lines.contains("\n  hosts                          example.com ~50 %"), "{lines}");
    assert!(lines.contains("\n    histories "), "{lines}");
    assert!(lines.contains(" bytes a visit, mostly of the catalog;"), "{lines}");
    assert!(lines.contains("\nsegment 1  0  1 to "), "{lines}");
    // Named by itself as well.
    let store = place.store().to_string_lossy().into_owned();
    assert_eq!(place.done(&["inspect", "-s", &store]), lines);
    let object = place.run(&["inspect", "--json"]).objects().remove(0);
    assert_eq!((&object["pages"], &object["visits"]), (&json!(4), &json!(10)));
    assert_eq!(
        (&object["pages_in_force"], &object["pages_gone"], &object["pages_never_seen"]),
        (&json!(3), &json!(1), &json!(0))
    );
    assert_eq!(object["unsealed_operations"], json!(null));
    let segment = &object["segments"][0];
    assert_eq!((&segment["first"], &segment["last"]), (&object["first"], &object["last"]));
    assert!(segment["created"].as_str().unwrap() > "2026");
    let space =
        object["spaces"].as_array().unwrap().iter().map(|of| of["size_bytes"].as_u64().unwrap());
    assert_eq!(space.sum::<u64>(), object["segments"][0]["size_bytes"].as_u64().unwrap());
    assert_eq!(object["epochs"][1]["epoch"], "e");
    assert!(object["census"].is_null(), "{object}");
}

#[test]
fn deep_overview_shows_more() {
    let place = sealed();
    let lines = place.done(&["inspect", "--deep"]);
    assert!(lines.contains("    with content 3 · gone 1 · never had content 0\n"), "{lines}");
    assert!(lines.contains(", 2024-01-01 00:00 to 2024-01-06 00:00 (UTC)\n"), "{lines}");
    assert!(lines.contains("\n2  8  1  1  example.com\n"), "{lines}");
    let census = place.run(&["inspect", "--deep", "--json"]).objects().remove(0)["census"].take();
    assert_eq!((&census["pages_in_force"], &census["host_count"]), (&json!(3), &json!(3)));
    assert_eq!(census["fingerprint_census"]["popcounts"].as_array().unwrap().len(), 65);
    assert_eq!(census["distances"][4], 2);
    let empty = TestFolder::new();
    empty.done(&["epoch", "begin"]);
    assert!(empty.done(&["inspect", "--deep"]).contains("\n  pages                     0 "));
}

#[test]
fn page_is_shown_by_its_versions() {
    let place = sealed();
    let lines = place.done(&["inspect", "page", TERMS]);
    let expected = "\
https://example.com/terms
  com,example)/terms · segment 1 (6 entries in 96 bytes)
  current version: 3, since 2024-01-04 00:00, seen 2 times, last seen 2024-01-05 00:00; last visited 2024-01-06 00:00 (UTC)
1  2024-01-01 00:00  2024-01-02 00:00  2  00010203  00000000000000ff     e  new
2  2024-01-03 00:00  2024-01-03 00:00  1  ff010203  ···············0  4  e  changed, bits 0 1 2 3
3  2024-01-04 00:00  2024-01-05 00:00  2  00010203  ···············f  4  e  back to 1, bits 0 1 2 3
-  2024-01-06 00:00  2024-01-06 00:00  1                                    failed
";
    let bytes = lines.split("entries in ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(lines, expected.replace("in 96 bytes", &format!("in {bytes} bytes")));
    let object = place.run(&["inspect", "page", TERMS, "--json"]).objects().remove(0);
    assert_eq!(object["surt"], "com,example)/terms");
    assert_eq!(object["records"][0]["entries"], 6);
    assert_eq!(object["versions"][1]["differing_bits"], json!([0, 1, 2, 3]));
    assert_eq!(object["versions"][2]["back_to"], 1);
    let ran = place.run(&["inspect", "page", "example.com/terms"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("https://example.com/terms is"), "{}", ran.err);
}

/// Visits with all facts about their responses: a redirect, then content.
const FACTS: &str = r#"{"url":"http://a/old","t":1,"seen":"redirect","to":"/\u202e new"}
{"url":"http://a/old","t":2,"text":"one","etag":"\"v\u001b\"","modified":1,"bytes":14300,"conditional":true,"canonical":"http://a/page?a"}
"#;

#[test]
fn page_is_shown_with_the_facts_of_its_responses() {
    let place = TestFolder::with(FACTS);
    let lines = place.done(&["inspect", "page", "http://a/old"]);
    let etag = "\n  etag \"v\\x1b\"; modified 1970-01-01 00:00 (UTC)\n";
    assert!(lines.contains(etag), "{lines}");
    for end in
        ["new; it redirects to http://a/%E2%80%AE%20new\n", "changed; canonical http://a/page?a\n"]
    {
        assert!(lines.contains(end), "{lines}");
    }
    let history = place.done(&["history", "http://a/old"]);
    let facts = "; canonical http://a/page?a; etag \"v\\x1b\"; modified 1970-01-01 00:00; 14,300 bytes; conditional request\n";
    assert!(history.ends_with(facts), "{history}");
    let object = place.run(&["inspect", "page", "http://a/old", "--json"]).objects().remove(0);
    assert_eq!(
        (&object["etag"], &object["modified"]),
        (&json!("\"v\u{1b}\""), &json!("1970-01-01T00:00:01Z"))
    );
    let [redirect, content] = [&object["versions"][0], &object["versions"][1]];
    assert_eq!(
        (&redirect["target"], &redirect["bytes"]),
        (&json!("http://a/%E2%80%AE%20new"), &json!(null))
    );
    assert_eq!(
        (&content["target"], &content["bytes"]),
        (&json!("http://a/page?a"), &json!(14_300))
    );
    let journal = place.done(&["inspect", "journal"]);
    assert!(journal.contains("\nentity tags                          1\n"), "{journal}");
    assert!(
        journal.contains(
            "\ntargets                              2  of redirects, and canonical URLs\n"
        )
    );
}

#[test]
fn newest_of_many_versions_are_shown() {
    let place = TestFolder::new();
    let line = |n: u64| {
        let fingerprint = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!(
            "{{\"url\":\"http://a/\",\"t\":{n},\"fingerprint\":\"{fingerprint:016x}\",\"epoch\":\"e\"}}\n"
        )
    };
    place.ingest(&(1..=60).map(line).collect::<String>());
    let ran = place.run(&["inspect", "page", "http://a/"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 53));
    assert!(ran.err.contains("10 older versions"), "{}", ran.err);
    assert_eq!(place.done(&["inspect", "page", "http://a/", "--limit", "all"]).lines().count(), 63);
}

#[test]
fn pages_of_a_host_are_counted() {
    let place = sealed();
    let site = place.run(&["inspect", "host", "example.com", "--json"]).objects().remove(0);
    assert_eq!(
        (&site["pages"], &site["pages_in_force"], &site["pages_gone"]),
        (&3.into(), &2.into(), &1.into())
    );
    assert_eq!(site["copies_within"], 0);
    let copy = r#"{"url":"https://example.net/copy","t":"2024-01-09","fingerprint":"00000000000000ff","epoch":"e"}"#;
    place.ingest(copy);
    let site = place.run(&["inspect", "host", "example.com", "--json"]).objects().remove(0);
    assert_eq!((&site["copies_within"], &site["copies_elsewhere"]), (&0.into(), &1.into()));
    place.ingest(&copy.replace("https://example.net/", "https://example.com/"));
    let site = place.run(&["inspect", "host", "example.com", "--json"]).objects().remove(0);
    assert_eq!((&site["copies_within"], &site["copies_elsewhere"]), (&2.into(), &2.into()));
    let lines = place.done(&["inspect", "host", "example.com"]);
    assert!(
        lines.contains("\n  pages                     4    with content 3 · gone 1\n"),
        "{lines}"
    );
    assert_eq!(place.run(&["inspect", "host", "example.edu"]).code, 1);
}

#[test]
fn fingerprint_is_shown_with_its_pages_and_neighbours() {
    let place = sealed();
    let ran = place.run(&["inspect", "fingerprint", "00000000000000ff"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("00000000000000ff: 8 bits of 64 are 1; epoch e\n"), "{}", ran.out);
    assert!(
        ran.out.contains("\n0  00000000000000ff     https://example.com/terms\n"),
        "{}",
        ran.out
    );
    let near = "\n1  00000000000000fd  1  https://docs.example.com/terms\n";
    assert!(ran.out.contains(near), "{}", ran.out);
    let object = place.run(&["inspect", "fingerprint", "00000000000000f0", "-k", "1", "--json"]);
    assert_eq!(object.code, 1);
    assert_eq!(object.objects()[0]["pages_before"], 1);
}

#[test]
fn segment_and_epoch_are_shown() {
    let place = sealed();
    let lines = place.done(&["inspect", "segment", "1"]);
    assert!(lines.starts_with("segment 1, ") && lines.contains("\nhash directory"), "{lines}");
    let segment = place.run(&["inspect", "segment", "1", "--json"]).objects().remove(0);
    assert_eq!((&segment["pages"], &segment["sections"][0]["kind"]), (&4.into(), &"pages".into()));
    let ran = place.run(&["inspect", "segment", "7"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("segments of the store: 1"), "{}", ran.err);
    let epoch = place.done(&["inspect", "epoch", "e"]);
    assert!(
        epoch.contains("epoch 1, both, in use") && epoch.contains(" in segment 1, "),
        "{epoch}"
    );
    assert_eq!(place.run(&["inspect", "epoch", "none"]).code, 2);
}

/// Untrusted names are escaped on the terminal.
#[test]
fn untrusted_text_is_escaped() {
    let place = TestFolder::with(
        "{\"url\":\"http://a/\u{202e}b\",\"t\":1,\"fingerprint\":\"00000000000000ff\",\"epoch\":\"e\u{200f}\"}",
    );
    let page = "http://a/\u{202e}b";
    for args in [
        &["inspect"][..],
        &["inspect", "--deep"],
        &["inspect", "page", page],
        &["inspect", "fingerprint", "00000000000000ff"],
        &["inspect", "--deep", "--json"],
        &["inspect", "page", page, "--json"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 0, "{args:?} {}", ran.err);
        assert!(!ran.out.contains(['\u{202e}', '\u{200f}']), "{args:?}");
    }
}

/// Damage is named, and the rest is shown.
#[test]
fn overview_names_damage_and_shows_the_rest() {
    let place = sealed();
    let (path, _, bytes) = files(&place.store())
        .into_iter()
        .find(|(path, ..)| path.extension().is_some_and(|end| end == "seg"))
        .unwrap();
    let mut bytes = bytes.clone();
    // The pages are the first section.
    bytes[70] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let ran = place.run(&["inspect"]);
    assert_eq!(ran.code, 4);
    assert!(ran.out.contains(".seg is damaged at byte"), "{}", ran.out);
    assert!(ran.out.contains("\n  pages                     4    with content 3"), "{}", ran.out);
    assert_eq!(place.run(&["inspect", "page", TERMS]).code, 4);
    assert_eq!(
        place.done(&["inspect", "segment", "1"]).lines().next().unwrap().get(..10),
        Some("segment 1,")
    );
}

#[test]
fn pages_of_a_host_before_the_damage_are_counted() {
    let place = TestFolder::new();
    let line = |n: u32| {
        let url = format!("https://example.com/{n:04}/{}", "x".repeat(200));
        format!("{{\"url\":\"{url}\",\"t\":1,\"fingerprint\":\"{n:016x}\",\"epoch\":\"e\"}}\n")
    };
    let file = place.write("pages.jsonl", (0..600).map(line).collect::<String>());
    place.done(&["load", &file]);
    let find = |(path, ..): &(PathBuf, _, Vec<u8>)| path.extension().is_some_and(|e| e == "seg");
    let (path, _, mut bytes) = files(&place.store()).into_iter().find(find).unwrap();
    // A page in the midst of them.
    let at = bytes.windows(5).position(|at| at == b"0400/").unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let ran = place.run(&["inspect", "host", "example.com"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("only the pages before this damage are counted"), "{}", ran.err);
    let ran = place.run(&["inspect", "host", "example.com", "--json"]);
    let site = &ran.objects()[0];
    let pages = site["pages"].as_u64().unwrap();
    assert!((1..400).contains(&pages) && site["complete"] == false, "{site}");
    assert!(site["flaw"]["why"].as_str().unwrap().contains("checksum"), "{site}");
}

/// Failures separated by a successful visit are two rows.
#[test]
fn consecutive_failures_with_one_status_share_a_row() {
    let line = |t: u64, what: &str| format!("{{\"url\":\"http://a/\",\"t\":{t},{what}}}\n");
    let seen = "\"fingerprint\":\"00000000000000ff\",\"epoch\":\"e\"";
    let failed = |status: u32| format!("\"seen\":\"failed\",\"status\":{status}");
    let place = TestFolder::with(
        &[
            (1, seen.to_owned()),
            (2, failed(503)),
            (3, failed(503)),
            (4, seen.to_owned()),
            (5, failed(404)),
        ]
        .iter()
        .map(|(t, what)| line(*t, what))
        .collect::<String>(),
    );
    let page = place.run(&["inspect", "page", "http://a/", "--json"]).objects().remove(0);
    let rows = page["versions"].as_array().unwrap().iter();
    let rows: Vec<_> = rows.map(|row| (row["visits"].clone(), row["status"].clone())).collect();
    assert_eq!(rows, [(2.into(), Value::Null), (2.into(), 503.into()), (1.into(), 404.into())]);
}

#[test]
fn journal_shows_unsealed_operations() {
    let place = TestFolder::with(CRAWL);
    let lines = place.done(&["inspect", "journal"]);
    assert!(
        lines.starts_with("operations                          10  1 to 10, of 4 pages\n"),
        "{lines}"
    );
    assert!(
        lines.contains("new                                  4  2024-01-01 00:00 to 2024-01-06"),
        "{lines}"
    );
    assert!(lines.contains("\nreverted                             1\n"), "{lines}");
    let object = place.run(&["inspect", "journal", "--json"]).objects().remove(0);
    assert_eq!((&object["operations"], &object["failed"]), (&json!(10), &json!(1)));
    let overview = place.done(&["inspect"]);
    assert!(overview.contains("\njournal    1 to 10  4\n"), "{overview}");
    place.open().seal().unwrap();
    let lines = place.done(&["inspect", "journal"]);
    assert_eq!(lines, "operations                           0  everything is in segments\n");
    let object = place.run(&["inspect", "journal", "--json"]).objects().remove(0);
    assert_eq!((&object["operations"], &object["first_operation"]), (&json!(0), &json!(null)));
}
