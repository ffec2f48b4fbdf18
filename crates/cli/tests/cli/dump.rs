//! The bytes of a segment with their meanings.

use serde_json::json;

use super::TestFolder;

/// A store with a page whose URL contains control characters, and another page.
fn store() -> TestFolder {
    let place = TestFolder::new();
    let pages = ["https://example.com/\u{202e}gpj", "https://example.com/b"];
    let lines = pages.map(|url| {
        json!({"url": url, "t": "2024-01-01", "fingerprint": "00000000000000ff"}).to_string()
    });
    let file = place.write("pages.jsonl", lines.join("\n"));
    place.done(&["load", &file]);
    place
}

fn segment(place: &TestFolder) -> String {
    let answer = place.run(&["inspect", "--json"]).objects();
    answer[0]["segments"][0]["segment"].to_string()
}

#[test]
fn section_is_dumped_with_escapes() {
    let place = store();
    let id = segment(&place);
    let dump = |args: &[&str]| place.run(&[&["inspect", "segment", &id, "--dump"], args].concat());
    let all = dump(&["--limit", "all"]);
    assert_eq!((all.code, all.err.as_str()), (0, ""));
    assert!(all.out.starts_with("0000  73 69 6d 6b 73 65 67 00  \"simkseg\", 0\n"), "{}", all.out);
    assert!(all.out.contains("\\u{202e}gpj"), "{}", all.out);
    assert!(all.out.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
    // A part of a section is dumped, and a truncated dump says how to continue.
    let index = dump(&["--section", "page-index"]).out;
    assert_eq!(index.lines().count(), 2);
    assert!(all.out.contains(&index), "{index}");
    let cut = dump(&["--limit", "3"]);
    assert!(cut.err.contains("--offset 0010 continues"), "{}", cut.err);
    assert_eq!(cut.out.clone() + &dump(&["--offset", "0010", "--limit", "all"]).out, all.out);
    let epoch = dump(&["--section", "fingerprints", "--epoch", "external"]).out;
    assert!(epoch.contains("ordinal 0: 00000000000000ff, 8 bits set"), "{epoch}");
    let none = dump(&["--section", "page"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert!(none.err.contains("its sections are: checksums, filter, "), "{}", none.err);
    for wrong in [&["--offset", "xyz"][..], &["--epoch", "none"], &["--limit", "-2"]] {
        assert_eq!(dump(wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(place.run(&["inspect", "segment", &id, "--section", "pages"]).code, 2);
    let objects = dump(&["--json", "--section", "head"]).objects();
    assert_eq!(objects.len(), 8);
    assert_eq!(
        objects[1],
        json!({
            "offset": 8, "size_bytes": 4, "bytes": "06000000", "meaning": "format version 6",
            "damaged": false
        })
    );
}

#[test]
fn damaged_block_is_named_and_exits_with_4() {
    let place = store();
    let id = segment(&place);
    let file = place.store().join(format!("segments/{:010}.seg", id.parse::<u64>().unwrap()));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[0x50] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let ran = place.run(&["inspect", "segment", &id, "--dump", "--limit", "all"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.out.contains("damaged block 0: checksum: expected "), "{}", ran.out);
    assert!(ran.out.contains("0040  ??*") && ran.out.contains("\"simkend\", 0"), "{}", ran.out);
    let objects = place.run(&["inspect", "segment", &id, "--dump", "--section", "pages", "--json"]);
    assert_eq!(objects.code, 4);
    let object = &objects.objects()[0];
    assert_eq!((&object["bytes"], &object["damaged"]), (&json!(null), &json!(true)));
}
