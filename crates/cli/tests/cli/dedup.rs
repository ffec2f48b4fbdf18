//! What is dropped of a store.

use super::filtered::unpacked;
use super::*;

/// Pages around two texts: `a` leads `b`, `c` and `d\u{202e}`; `x` has a copy.
pub(super) fn store() -> Place {
    let place = Place::new();
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

/// What is dropped, as the line of it says: the page, the one that is kept, why, and how far it is.
fn told(line: &Value) -> String {
    let last = |key: &str| line[key].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let reason = line["reason"].as_str().unwrap();
    format!("{} {} {reason} {} of {}", last("url"), last("kept"), line["distance"], line["size"])
}

#[test]
fn each_page_that_is_dropped_is_listed_with_the_reason() {
    let place = store();
    let objects = place.run(&["dedup", "--json"]).objects();
    let [whole, rows @ .., sums] = &objects[..] else { panic!("{objects:?}") };
    assert_eq!([&whole["pages"], &whole["clusters"], &whole["dropped"]], [7, 4, 3]);
    let expected =
        ["b a near 1 of 3", "d\u{202e} a same-digest 0 of 3", "y x same-fingerprint 0 of 2"];
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), expected);
    let reasons = json!({"same_digest": 1, "same_fingerprint": 1, "near": 1});
    assert_eq!((&sums["by_reason"], &sums["by_distance"]), (&reasons, &json!([2, 1, 0, 0])));
    let hosts =
        json!([{"host": "example.com", "dropped": 2}, {"host": "example.org", "dropped": 1}]);
    assert_eq!(sums["hosts"], hosts);
    let shown = place.done(&["dedup", "-k", "6"]);
    assert!(shown.starts_with("7 pages, within 6 bits, first-seen leads: 3 to keep, 4 to drop\n"));
    assert!(shown.contains("https://example.com/d\\u{202e}"), "{shown}");
    assert!(shown.contains("\n4 pages to drop\n"), "{shown}");
    let shown = place.done(&["dedup", "--limit", "1"]);
    assert_eq!(shown.matches("https://").count(), 2, "{shown}");
    let at = place.run(&["dedup", "--at", "2024-01-02", "--json"]).objects();
    assert_eq!(at[1..at.len() - 1].iter().map(told).collect::<Vec<_>>().len(), 2);
    let none = place.run(&["dedup", "--under", "example.org/z"]);
    assert_eq!((none.code, none.err.as_str()), (1, ""));
}

#[test]
fn plans_and_lists_go_to_files_that_are_there_when_they_are_whole() {
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
    assert!(ran.code == 2 && ran.err.contains("one file"), "{}", ran.err);
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
        let rows = simkeep_parquet::Documents::open(file, ["url", "reason", "distance"]).unwrap();
        let rows = rows.collect::<Result<Vec<_>, _>>().unwrap().concat();
        let text = |text: &str| simkeep_parquet::Value::Text(text.to_owned());
        let first = [text("https://example.com/b"), text("near"), simkeep_parquet::Value::Whole(1)];
        assert_eq!((rows.len(), &rows[0]), (3, &first));
    }
}

#[test]
fn pairs_of_each_distance_are_drawn_by_lot_again_and_again_the_same() {
    let place = Place::new();
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
        objects[1..objects.len() - 1].iter().map(told).collect()
    };
    let first = drawn("1");
    assert_eq!(first.len(), 16);
    assert_eq!(first, drawn("1"));
    assert_ne!(first, drawn("2"));
    let shown = place.done(&["dedup", "--sample", "1"]);
    assert_eq!(shown.matches("  10  x:").count(), 4, "{shown}");
}

/// To keep one of each component, as others do, drops texts that are far from what is kept for them; to
/// keep leaders drops none.
#[test]
fn nothing_is_dropped_that_is_far_from_what_is_kept_as_with_components() {
    let licences = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/quality/licences.jsonl.zst");
    let Ok(packed) = std::fs::read(licences) else {
        return eprintln!("skipped: there are no licences");
    };
    let place = Place::new();
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

    // Union-find over the same pairs, and the first of each component is kept.
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
