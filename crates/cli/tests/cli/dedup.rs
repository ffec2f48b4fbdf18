//! Which pages of a store are dropped.

use super::filtered::unpacked;
use simkeep_testing::real_data_path;

use super::*;

/// Pages around two texts: `a` leads `b`, `c` and `d\u{202e}`; `x` has a copy.
pub(super) fn store() -> TestFolder {
    let place = TestFolder::new();
    let digest = "000102030405060708090a0b0c0d0e0f";
    let pages = [
        ("example.com/a", "2024-01-01", 0x0f_u64, digest),
        ("example.com/b", "2024-01-02", 0x0e, ""),
        ("example.com/c", "2024-01-03", 0x38, ""),
        ("example.com/d\u{202e}", "2024-01-04", 0x0f, digest),
        ("example.org/x", "2024-01-01", 0xffff << 32, ""),
        ("example.org/y", "2024-01-02", 0xffff << 32, ""),
        ("example.org/z", "2024-01-02", 0xaaaa_aaaa_0000_0000, ""),
    ];
    let lines = pages.map(|(page, time, fingerprint, digest)| {
        let mut line = json!({"url": format!("https://{page}"), "t": time,
            "fingerprint": format!("{fingerprint:016x}")});
        if !digest.is_empty() {
            line["digest"] = digest.into();
        }
        line.to_string()
    });
    let file = place.write("pages.jsonl", lines.join("\n"));
    place.done(&["load", &file]);
    place
}

/// Summarizes the line of a dropped page: the page, the kept page, the reason, and the distance.
fn summary_of(line: &Value) -> String {
    let last = |key: &str| line[key].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let reason = line["reason"].as_str().unwrap();
    format!("{} {} {reason} {} of {}", last("url"), last("kept"), line["distance"], line["size"])
}

#[test]
fn each_dropped_page_is_listed_with_its_reason() {
    let place = store();
    let objects = place.run(&["dedup", "--json"]).objects();
    let [whole, rows @ .., sums] = &objects[..] else { panic!("{objects:?}") };
    assert_eq!([&whole["pages"], &whole["clusters"], &whole["dropped"]], [7, 4, 3]);
    let expected =
        ["b a near 1 of 3", "d\u{202e} a same-digest 0 of 3", "y x same-fingerprint 0 of 2"];
    assert_eq!(rows.iter().map(summary_of).collect::<Vec<_>>(), expected);
    let reasons = json!({"same_digest": 1, "same_fingerprint": 1, "near": 1});
    assert_eq!((&sums["by_reason"], &sums["by_distance"]), (&reasons, &json!([2, 1, 0, 0])));
    let hosts =
        json!([{"host": "example.com", "dropped": 2}, {"host": "example.org", "dropped": 1}]);
    assert_eq!(sums["hosts"], hosts);
    let shown = place.with_header(&["dedup", "-k", "6"]);
    assert!(shown.starts_with(
        "7 pages, compared within 6 bits, leaders by first-seen: 3 to keep, 4 to drop\n"
    ));
    assert!(shown.contains("https://example.com/d\\u{202e}"), "{shown}");
    assert!(shown.contains("\n4 pages to drop\n"), "{shown}");
    let shown = place.done(&["dedup", "--limit", "1"]);
    assert_eq!(shown.matches("https://").count(), 2, "{shown}");
    let at = place.run(&["dedup", "--at", "2024-01-02", "--json"]).objects();
    assert_eq!(at[1..at.len() - 1].iter().map(summary_of).collect::<Vec<_>>().len(), 2);
    let none = place.run(&["dedup", "--under", "example.org/z"]);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("no page is dropped; a larger -k"), "{}", none.err);
    let none = place.run(&["dedup", "--under", "nowhere.example"]);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("because there is no page to compare"), "{}", none.err);
}

#[test]
fn advice_without_any_fingerprint_is_not_a_larger_distance() {
    let place = TestFolder::with(r#"{"url":"https://example.com/","t":1,"text":"Too short."}"#);
    let none = place.run(&["dedup"]);
    assert_eq!(none.code, 1);
    let why = "no page is dropped, because no page has a fingerprint in the epoch html/3 \
               words2-sqrt/2, and no two contents have one digest;";
    assert!(none.err.contains(why) && !none.err.contains("larger -k"), "{}", none.err);
}

#[test]
fn plan_and_list_files_appear_only_when_complete() {
    let place = store();
    let printed = place.done(&["dedup", "--json"]);
    let lists = ["-o", "plan.jsonl.zst", "--drop-list", "drop.txt", "--keep-list", "keep.txt.gz"];
    let said = place.done(&[&["dedup", "--limit", "0"], &lists[..]].concat());
    for said_of in ["3 lines written to plan.jsonl.zst", "to drop.txt", "4 lines written to keep"] {
        assert!(said.contains(said_of), "{said}");
    }
    let packed = std::fs::read(place.path("plan.jsonl.zst")).unwrap();
    let plan = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let rows: Vec<&str> = printed.lines().skip(1).take(3).collect();
    assert_eq!(plan.lines().collect::<Vec<_>>(), rows);
    let dropped = std::fs::read_to_string(place.path("drop.txt")).unwrap();
    let expected = "https://example.com/b\nhttps://example.com/d\u{202e}\nhttps://example.org/y\n";
    assert_eq!(dropped, expected);
    let kept = unpacked(&std::fs::read(place.path("keep.txt.gz")).unwrap());
    let kept = String::from_utf8(kept).unwrap();
    let of: Vec<&str> = kept.lines().map(|url| &url[url.len() - 1..]).collect();
    assert_eq!(of, ["a", "c", "x", "z"]);
    let ran = place.run(&["dedup", "--drop-list", "list.txt", "--keep-list", "list.txt"]);
    assert!(ran.code == 2 && ran.err.contains("the same file"), "{}", ran.err);
    let ran = place.run(&["dedup", "--drop-list", "nowhere/drop.txt"]);
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("cannot write nowhere/drop.txt"), "{}", ran.err);
    #[cfg(not(feature = "parquet"))]
    {
        let ran = place.run(&["dedup", "-o", "plan.parquet"]);
        assert!(ran.code == 2 && ran.err.contains("--features parquet"), "{}", ran.err);
    }
    #[cfg(feature = "parquet")]
    {
        place.done(&["dedup", "--limit", "0", "-o", "plan.parquet"]);
        let file = std::fs::File::open(place.path("plan.parquet")).unwrap();
        let rows =
            simkeep_parquet::DocumentRows::open(file, ["url", "reason", "distance"]).unwrap();
        let rows = rows.collect::<Result<Vec<_>, _>>().unwrap().concat();
        let text = |text: &str| simkeep_parquet::CellValue::Text(text.to_owned());
        let first =
            [text("https://example.com/b"), text("near"), simkeep_parquet::CellValue::Whole(1)];
        assert_eq!((rows.len(), &rows[0]), (3, &first));
    }
}

#[test]
fn table_without_rows_has_no_header() {
    let place = store();
    let has_header = |shown: &str| shown.lines().any(|line| line.starts_with("bits"));
    assert!(has_header(&place.with_header(&["dedup"])));
    let shown = place.with_header(&["dedup", "--limit", "0"]);
    assert!(!has_header(&shown) && shown.contains("\n3 pages to drop\n"), "{shown}");
    let file = place.write("c.jsonl", "{\"url\":\"https://example.com/b\"}\n");
    let args = ["dedup", "-o", "plan.jsonl", "--filter", &file, "--to", "clean"];
    let shown = place.run_with_header(&args).out;
    assert!(!has_header(&shown) && shown.contains("3 lines written to plan.jsonl"), "{shown}");
    let shown = place.with_header(&["cluster", "--limit", "0"]);
    assert_eq!(shown.lines().count(), 1, "{shown}");
}

#[test]
fn short_exact_copies_are_dropped() {
    let place = TestFolder::new();
    let line =
        |n| json!({"url": format!("x:{n}"), "t": 1, "text": "404 not found"}).to_string() + "\n";
    let loaded =
        place.run(&["load", &place.write("c.jsonl", (0..15).map(line).collect::<String>())]);
    let what = "no fingerprint; compared by digest";
    assert!(loaded.out.contains(what), "{}", loaded.out);
    let ran = place.run_with_header(&["dedup"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("1 to keep, 14 to drop\n"), "{}", ran.out);
}

#[test]
fn rule_weight_without_weights_is_reported() {
    let place = store();
    let warning = "all pages have the same weight, so the rule weight decides nothing";
    for verb in ["dedup", "cluster"] {
        let ran = place.run(&[verb, "--rule", "weight,newest"]);
        assert!(ran.code == 0 && ran.err.contains(warning), "{verb}: {}", ran.err);
        assert!(!place.run(&[verb, "--rule", "newest"]).err.contains(warning), "{verb}");
    }
    place.ingest("{\"url\":\"https://example.com/d\u{202e}\",\"t\":\"2024-02-01\",\"weight\":2}\n");
    for verb in ["dedup", "cluster"] {
        assert!(!place.run(&[verb, "--rule", "weight"]).err.contains(warning), "{verb}");
    }
    let kept = place.run(&["dedup", "--rule", "weight", "--json"]).objects()[1]["kept"].clone();
    assert_eq!(kept, "https://example.com/d\u{202e}");
}

/// Pages with one text: `a` of class 7 leads, `b` is of class 7 as well, `c` of class 0, `d` and `e`
/// have no class. Pages with another text: `x` has no class and leads `y`, which has none either.
fn with_class() -> TestFolder {
    let pages = [
        ("a", 1, 0x0f_u64, Some(7)),
        ("b", 2, 0x0e, Some(7)),
        ("c", 3, 0x0f, Some(0)),
        ("d", 4, 0x1f, None),
        ("e", 5, 0x0f, None),
        ("x", 1, 0xffff << 32, None),
        ("y", 2, 0xffff << 32, None),
    ];
    let lines = pages.map(|(page, time, fingerprint, class)| {
        let mut line = json!({"url": format!("https://example.com/{page}"), "t": time,
            "fingerprint": format!("{fingerprint:016x}")});
        if let Some(class) = class {
            line["class"] = class.into();
        }
        format!("{line}\n")
    });
    TestFolder::with(&lines.concat())
}

#[test]
fn page_is_dropped_only_for_its_class_or_open_pages() {
    let place = with_class();
    let of = |open: &[&str]| {
        let objects = place.run(&[&["dedup", "--json"], open].concat()).objects();
        let [whole, rows @ .., sums] = &objects[..] else { panic!("{objects:?}") };
        let pages = |key: &str| -> String {
            let rows = rows.iter().filter(|row| row.get(key).is_some());
            rows.map(|row| &row["url"].as_str().unwrap()["https://example.com/".len()..]).collect()
        };
        let (dropped, kept) = (pages("kept"), pages("leader"));
        assert_eq!([&whole["pages"], &whole["clusters"]], [7, 2]);
        assert_eq!([&whole["dropped"], &sums["other_class"]], [dropped.len(), kept.len()]);
        let reasons = sums["by_reason"].as_object().unwrap().values();
        assert_eq!(reasons.map(|of| of.as_u64().unwrap()).sum::<u64>(), dropped.len() as u64);
        format!("{dropped} {kept}")
    };
    assert_eq!(of(&[]), "by cde");
    assert_eq!(of(&["--open", "0,none"]), "by cde");
    assert_eq!(of(&["--open", "0,7"]), "bcdey ");
    // Another page leads, and everyone may see it.
    assert_eq!(of(&["--rule", "newest"]), "dx abc");
    assert_eq!(of(&["--rule", "newest", "--open", "none"]), "abcdx ");
    assert_eq!(of(&["--rule", "newest", "--open", "7"]), "dx abc");
    let objects = place.run(&["dedup", "--json"]).objects();
    let c = json!({"url": "https://example.com/c", "leader": "https://example.com/a", "distance": 0,
        "reason": "other-class", "size": 5, "fingerprint": "000000000000000f", "class": 0,
        "leader_class": 7});
    assert_eq!(objects[2], c);
    assert_eq!([&objects[3]["class"], &objects[3]["leader_class"]], [&Value::Null, &json!(7)]);
    let shown = place.with_header(&["dedup"]);
    let begin = "7 pages, compared within 3 bits, leaders by first-seen: 5 to keep, 2 to drop\n";
    assert!(shown.starts_with(begin), "{shown}");
    let row = ["1", "other-class", "5", "https://example.com/d", "https://example.com/a"];
    assert!(shown.lines().any(|line| line.split_whitespace().eq(row)), "{shown}");
    assert!(shown.contains("\n2 pages to drop\n"), "{shown}");
    let end = "\n3 pages to keep only because the leader has another class\n";
    assert!(shown.ends_with(end), "{shown}");
    let shown = place.done(&["dedup", "--open", "7"]);
    assert!(!shown.contains("other-class") && !shown.contains("another class"), "{shown}");
    let none = place.run(&["dedup", "--classes", "7,0", "--rule", "newest", "--limit", "9"]);
    assert_eq!(none.code, 1, "{}", none.out);
    assert_eq!(place.run(&["dedup", "--open", "all"]).code, 2);
}

#[test]
fn page_kept_for_its_class_is_in_no_drop_file() {
    let place = with_class();
    let lists = ["-o", "plan.jsonl", "--drop-list", "drop.txt", "--keep-list", "keep.txt"];
    place.done(&[&["dedup"], &lists[..]].concat());
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let last = |line: &str| line.chars().last().unwrap();
    assert_eq!(read("drop.txt").lines().map(last).collect::<String>(), "by");
    assert_eq!(read("keep.txt").lines().map(last).collect::<String>(), "acdex");
    assert_eq!(read("plan.jsonl").lines().count(), 2);
    assert!(!read("plan.jsonl").contains("other-class"));
    // It is not sampled for review either.
    let drawn = place.run(&["dedup", "--sample", "9", "--json"]).objects();
    assert_eq!((drawn.len(), &drawn.last().unwrap()["other_class"]), (4, &json!(3)));
    let corpus: String = "abcdexy"
        .chars()
        .map(|page| json!({"url": format!("https://example.com/{page}")}).to_string() + "\n")
        .collect();
    place.write("corpus.jsonl", &corpus);
    let filter = ["dedup", "--filter", "corpus.jsonl", "--any-text", "--to"];
    place.done(&[&filter[..], &["clean"]].concat());
    let kept = |line: &&str| !line.contains("/b") && !line.contains("/y");
    let expected: Vec<&str> = corpus.lines().filter(kept).collect();
    assert_eq!(read("clean/corpus.jsonl").lines().collect::<Vec<_>>(), expected);
    place.done(&[&filter[..], &["open", "--open", "7"]].concat());
    assert_eq!(read("open/corpus.jsonl").lines().count(), 2);
    place.done(&[&filter[..], &["marked", "--mark"]].concat());
    let marked = read("marked/corpus.jsonl");
    let is_marked = |line: &&str| line.contains("duplicate_of");
    assert_eq!((marked.lines().count(), marked.lines().filter(is_marked).count()), (7, 2));
}

#[test]
fn random_pairs_of_each_distance_are_reproducible() {
    let place = TestFolder::new();
    let line = |n: u64| {
        // Each page of ten leads the other nine, which are 0 to 3 bits from it.
        let fingerprint = (n / 10).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((1 << (n % 10 % 4)) - 1);
        json!({"url": format!("x:{n}"), "t": n, "fingerprint": format!("{fingerprint:016x}")})
    };
    let lines = (0..1000).map(|n| format!("{}\n", line(n))).collect::<String>();
    place.load(&lines);
    let drawn = |seed: &str| -> Vec<String> {
        let args = ["dedup", "--sample", "4", "--seed", seed, "--json"];
        let objects = place.run(&args).objects();
        assert_eq!(objects.last().unwrap()["by_distance"], json!([200, 300, 200, 200]));
        objects[1..objects.len() - 1].iter().map(summary_of).collect()
    };
    let first = drawn("1");
    assert_eq!(first.len(), 16);
    assert_eq!(first, drawn("1"));
    assert_ne!(first, drawn("2"));
    let shown = place.done(&["dedup", "--sample", "1"]);
    assert_eq!(shown.matches("  10  x:").count(), 4, "{shown}");
}

/// Keeping one page per connected component drops texts that are far from the kept page. Keeping leaders
/// does not.
#[test]
fn leaders_drop_no_distant_text_unlike_components() {
    let Some(licences) = real_data_path("quality/licences.jsonl.zst") else { return };
    let packed = std::fs::read(licences).unwrap();
    let place = TestFolder::new();
    let lines = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let lines: String = lines
        .lines()
        .map(|line| {
            let of: Value = serde_json::from_str(line).unwrap();
            let url = format!("licence:{}", of["id"].as_str().unwrap());
            format!("{}\n", json!({"url": url, "t": 0, "text": of["text"]}))
        })
        .collect();
    place.load(&lines);
    let objects = place.run(&["dedup", "-k", "3", "--json"]).objects();
    let [whole, rows @ .., _] = &objects[..] else { panic!() };
    assert_eq!((&whole["dropped"], rows.len()), (&json!(3688), 3688));
    assert!(rows.iter().all(|row| row["distance"].as_u64().unwrap() <= 3));

    // Union-find over the same pairs; the first page of each component is kept.
    let snapshot = place.open().snapshot();
    let pages: Vec<u64> =
        snapshot.scan(None).filter_map(|page| page.unwrap().content?.fingerprint).collect();
    assert_eq!(pages.len() as u64, whole["pages"]);
    let mut parents: Vec<usize> = (0..pages.len()).collect();
    fn root(parents: &mut [usize], mut of: usize) -> usize {
        while parents[of] != of {
            parents[of] = parents[parents[of]];
            of = parents[of];
        }
        of
    }
    for left in 0..pages.len() {
        for right in 0..left {
            if (pages[left] ^ pages[right]).count_ones() <= 3 {
                let [left, right] = [left, right].map(|of| root(&mut parents, of));
                parents[left.max(right)] = left.min(right);
            }
        }
    }
    let (mut dropped, mut far) = (0, 0);
    for page in 0..pages.len() {
        let kept = root(&mut parents, page);
        dropped += usize::from(kept != page);
        far += usize::from((pages[kept] ^ pages[page]).count_ones() > 3);
    }
    assert_eq!((dropped, far), (4657, 2808));
}
