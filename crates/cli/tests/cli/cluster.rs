//! Clusters: lists, counts, changes and the cluster of one page.

use serde_json::{Value, json};

use super::TestFolder;

/// Pages around two texts: `a` leads `b`, `c` and `d\u{202e}`. `b` changes, and `x` has a copy.
fn store() -> TestFolder {
    let place = TestFolder::new();
    let pages = [
        ("a", "2024-01-01", 0x0f_u64),
        ("b", "2024-01-02", 0x0e),
        ("c", "2024-01-03", 0x1f),
        ("d\u{202e}", "2024-01-04", 0x0f),
        ("x", "2024-01-01", 0xffff << 32),
        ("y", "2024-01-02", 0xffff << 32),
        ("z", "2024-01-02", 0xaaaa_aaaa_0000_0000),
        ("b", "2024-02-01", 0xfffd << 32),
    ];
    let lines = pages.map(|(page, time, fingerprint)| {
        let url = format!("https://example.com/{page}");
        json!({"url": url, "t": time, "fingerprint": format!("{fingerprint:016x}")}).to_string()
    });
    let file = place.write("pages.jsonl", lines.join("\n"));
    place.done(&["load", &file]);
    place
}

/// The part of each URL after the host, or nothing if there is none.
fn last(url: &Value) -> &str {
    url.as_str().map_or("-", |url| url.trim_start_matches("https://example.com/"))
}

#[test]
fn clusters_are_listed_by_size_and_by_page() {
    let place = store();
    let shown = place.with_header(&["cluster"]);
    let lines: Vec<&str> = shown.lines().collect();
    let whole = "7 pages, 5 fingerprints, compared within 3 bits, leaders by first-seen: 3 clusters, 2 of \
                 two pages or more";
    assert_eq!(lines[0], whole);
    assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>()[..4], ["3", "0", "to", "1"]);
    assert!(lines[2].ends_with("2024-01-01 00:00  https://example.com/a"), "{shown}");
    assert!(lines[3].ends_with("https://example.com/x"), "{shown}");
    let shown = place.done(&["cluster", "--members"]);
    assert!(shown.contains("d\\u{202e}"), "{shown}");
    let of = |args: &[&str]| -> Vec<String> {
        let objects = place.run(&[&["cluster", "--json"], args].concat()).objects();
        let line = |page: &Value| {
            let (url, leader) = (last(&page["url"]), last(&page["leader"]));
            format!("{url}{leader}{}", page["distance"])
        };
        objects[1..].iter().map(line).collect()
    };
    let pages = ["aa0", "bx1", "ca1", "d\u{202e}a0", "xx0", "yx0", "zz0"];
    assert_eq!(of(&["--by-page", "--min-size", "1"]), pages);
    assert_eq!(of(&["--by-page"]), pages[..6]);
    assert_eq!(of(&["--members"]), ["aa0", "d\u{202e}a0", "ca1", "xx0", "yx0", "bx1"]);
    assert_eq!(of(&["--members", "--limit", "1"]), ["aa0", "d\u{202e}a0", "ca1"]);
    let found = of(&["--by-page", "--rule", "newest", "--min-size", "1"]);
    assert_eq!([&found[0][..], &found[2][..]], ["ad\u{202e}0", "cd\u{202e}1"]);
    let at = of(&["--by-page", "--at", "2024-01-15"]);
    assert_eq!(at, ["aa0", "ba1", "ca1", "d\u{202e}a0", "xx0", "yx0"]);
    let then = of(&["--by-page", "--at", "2024-01-02", "--min-size", "1"]);
    assert_eq!(then, ["aa0", "ba1", "xx0", "yx0", "zz0"]);
}

#[test]
fn class_of_each_clustered_page_is_shown() {
    let place = store();
    let given = r#"{"url": "https://example.com/a", "t": "2024-03-01", "class": 0}
{"url": "https://example.com/x", "t": "2024-03-01", "class": 4294967295}
"#;
    place.ingest(given);
    // The class is the current one, whatever the time of the clusters.
    for at in [&[][..], &["--at", "2024-02-15"]] {
        let of = |list: &str| -> Vec<(String, Value)> {
            let objects = place.run(&[&["cluster", "--json", list], at].concat()).objects();
            let with_class = |page: &Value| (last(&page["url"]).to_owned(), page["class"].clone());
            objects[1..].iter().map(with_class).filter(|(_, class)| !class.is_null()).collect()
        };
        let [a, x] = [("a".to_owned(), json!(0)), ("x".to_owned(), json!(u32::MAX))];
        assert_eq!(of("--members"), [a.clone(), x.clone()]);
        assert_eq!(of("--by-page"), [a, x]);
    }
    let one = &place.run(&["cluster", "https://example.com/c", "--json"]).objects()[0];
    let classes: Vec<&Value> =
        one["members"].as_array().unwrap().iter().map(|page| &page["class"]).collect();
    assert_eq!(classes, [&json!(0), &Value::Null, &Value::Null]);
}

#[test]
fn output_file_appears_only_when_complete() {
    let place = store();
    let printed = place.done(&["cluster", "--by-page", "--json"]);
    let said = place.done(&["cluster", "--by-page", "-o", "leaders.jsonl.zst"]);
    assert!(said.contains("7 lines written to leaders.jsonl.zst"), "{said}");
    let packed = std::fs::read(place.path("leaders.jsonl.zst")).unwrap();
    let written = zstd::decode_all(&packed[..]).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), printed);
    let ran = place.run(&["cluster", "-o", "nowhere/leaders.jsonl"]);
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("cannot write nowhere/leaders.jsonl"), "{}", ran.err);
    let ran = place.run(&["cluster", "--scratch", "nowhere", "--memory", "0"]);
    assert_eq!(ran.code, 0, "so few pages need no scratch files: {}", ran.err);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_output_without_the_feature_is_refused_early() {
    let ran = store().run(&["cluster", "-o", "clusters.parquet"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--features parquet"), "{}", ran.err);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_tables_match_the_printed_clusters() {
    use simkeep_parquet::{CellValue as Cell, DocumentRows};
    let place = store();
    place.ingest(r#"{"url": "https://example.com/c", "t": "2024-03-01", "class": 4294967295}"#);
    let cell = |value: &Value| match value {
        Value::Null => Cell::Null,
        Value::String(text) => Cell::Text(text.clone()),
        number => Cell::Whole(number.as_i64().unwrap()),
    };
    let check = |list: &[&str], columns: [&str; 3]| {
        let said = place.done(&[&["cluster", "-o", "table.parquet"], list].concat());
        let file = std::fs::File::open(place.path("table.parquet")).unwrap();
        let rows = DocumentRows::open(file, columns).unwrap();
        let rows = rows.collect::<Result<Vec<_>, _>>().unwrap().concat();
        assert!(said.contains(&format!("{} rows written to table.parquet", rows.len())), "{said}");
        let lines = place.run(&[&["cluster", "--json"], list].concat()).objects();
        let lines = lines[1..].iter().map(|line| columns.map(|column| cell(&line[column])));
        assert_eq!(rows, lines.collect::<Vec<_>>(), "{list:?}");
        rows
    };
    assert_eq!(check(&[], ["leader", "size", "max_distance"]).len(), 2);
    assert_eq!(check(&["--min-size", "1"], ["leader", "size", "max_distance"]).len(), 3);
    assert_eq!(check(&["--members"], ["url", "leader", "distance"]).len(), 6);
    assert_eq!(check(&["--members", "--limit", "1"], ["url", "class", "size"]).len(), 3);
    check(&["--by-page"], ["url", "class", "leader"]);
    let file = place.path("table.parquet");
    place.done(&["cluster", "-o", "table.parquet"]);
    let times = DocumentRows::open(std::fs::File::open(file).unwrap(), ["first_seen"; 3]).unwrap();
    let times = times.collect::<Result<Vec<_>, _>>().unwrap().concat();
    assert_eq!(times[0][0], Cell::Milliseconds(1_704_067_200_000));
}

#[test]
fn one_page_is_shown_with_its_cluster() {
    let place = store();
    let one = &place.run(&["cluster", "https://example.com/c", "--json"]).objects()[0];
    assert_eq!(
        (last(&one["leader"]), &one["size"], &one["complete"]),
        ("a", &json!(3), &json!(true))
    );
    let members: Vec<&str> =
        one["members"].as_array().unwrap().iter().map(|page| last(&page["url"])).collect();
    assert_eq!(members, ["a", "d\u{202e}", "c"]);
    let shown = place.with_header(&["cluster", "https://example.com/c"]);
    assert!(
        shown.starts_with(
            "3 pages within 1 bit of the leader, which was first seen at 2024-01-01 00:00\n"
        ),
        "{shown}"
    );
    let ran = place.run(&["cluster", "example.com/c"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("https://example.com/c is"), "{}", ran.err);
}

#[test]
fn changed_leader_is_reported_with_its_reason() {
    let place = store();
    let of = |times: &[&str]| -> Vec<String> {
        let args = ["cluster", "--json", "--since"];
        let objects = place.run(&[&args[..], times].concat()).objects();
        let line = |change: &Value| {
            let [url, before, after] =
                ["url", "leader_before", "leader_after"].map(|key| last(&change[key]));
            format!(
                "{url} {before} {after} {} {}",
                change["reason"].as_str().unwrap(),
                change["distance"]
            )
        };
        objects.iter().map(line).collect()
    };
    assert_eq!(of(&["2024-01-15"]), ["b a x changed 18"]);
    assert_eq!(of(&["2024-01-15", "--until", "2024-01-16"]), [""; 0]);
    let new = ["c - a new null", "d\u{202e} - a new null"];
    assert_eq!(of(&["2024-01-02", "--until", "2024-01-15"]), new);
    let shown = place.done(&["cluster", "--since", "2024-01-15"]);
    let said =
        "changed by 18 bits  https://example.com/b  https://example.com/a  https://example.com/x\n";
    assert_eq!(shown, said);
    place.ingest(
        "{\"url\": \"https://example.com/a\", \"t\": \"2024-03-01\", \"seen\": \"gone\"}\n",
    );
    let gone = ["a a - gone null", "c a c leader-gone null", "d\u{202e} a c leader-gone null"];
    assert_eq!(of(&["2024-02-15"]), gone);
}

#[test]
fn balls_and_components_are_counted() {
    let place = store();
    let labels = "https://example.com/a\tone\nhttps://example.com/c\tone\nhttps://example.com/x\ttwo\n\
                  https://example.com/y\tthree\nhttps://nowhere.example/\tfour\n";
    let labels = place.write("labels.tsv", labels);
    let balls =
        place.run(&["cluster", "--balls", "-k", "2", "--labels", &labels, "--json"]).objects();
    let sizes: Vec<_> = balls.iter().map(|of| (&of["within"], &of["largest"])).collect();
    assert_eq!(sizes, [(&json!(0), &json!(2)), (&json!(1), &json!(3)), (&json!(2), &json!(3))]);
    // Two pages each have one fingerprint; then c and b come to them.
    assert_eq!(balls[0]["by_size"], json!([3, 4]));
    assert_eq!(balls[1]["by_size"], json!([1, 6]));
    assert_eq!(balls[1]["average_size"], json!(2.714));
    let pairs: Vec<_> =
        balls.iter().map(|of| (&of["labelled_pairs"], &of["equal_share"])).collect();
    assert_eq!(pairs[0], (&json!(1), &json!(0.0)));
    assert_eq!(pairs[1], (&json!(2), &json!(0.5)));
    let shown = place.with_header(&["cluster", "--components"]);
    assert!(
        shown
            .starts_with("7 pages in 3 connected components, connected by steps of at most 3 bits"),
        "{shown}"
    );
    let found = place.run(&["cluster", "--components", "--json"]).objects();
    assert_eq!(
        (&found[0]["components"], &found[1]["size"], &found[1]["max_distance"]),
        (&json!(3), &json!(3), &json!(1))
    );
    let ran = place.run(&["cluster", "--balls", "--labels", &place.write("bad.tsv", "a\n")]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("bad.tsv, line 1"), "{}", ran.err);
}
