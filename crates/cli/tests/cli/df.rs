//! `df`: tables of document frequencies.

use std::fmt::Write as _;

use simkeep::df::FrequencyTable;

use super::*;

fn lines(texts: &[&str]) -> String {
    let mut lines = String::new();
    for (n, text) in texts.iter().enumerate() {
        let url = format!("https://example.com/{n}");
        let line = serde_json::json!({"url": url, "t": "2024-05-01", "text": text});
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

const TEXTS: [&str; 4] = ["the red house", "The green house.", "the blue car", "a boat"];

#[test]
fn table_is_built_shown_and_used_for_weights() {
    let place = TestFolder::new();
    let documents = place.write("pages.jsonl", lines(&TEXTS));
    let table = place.file("crawl.df");
    let built = place.run(&["df", "build", &documents, "--output", &table, "--json"]).objects();
    let object = &built[0];
    assert_eq!((&object["documents"], &object["terms"]), (&4.into(), &8.into()));
    assert_eq!((&object["features"], &object["left_out_terms"]), (&"words1".into(), &0.into()));
    let size = std::fs::metadata(&table).unwrap().len();
    assert_eq!(object["file_bytes"], size);
    // The same documents make the same file.
    let again = place.file("again.df");
    place.done(&["df", "build", &documents, "--output", &again]);
    assert_eq!(std::fs::read(&table).unwrap(), std::fs::read(&again).unwrap());

    let shown = place.run(&["df", "show", &table, "the", "HOUSE", "plane", "--json"]).objects();
    let words = shown[0]["words"].as_array().unwrap();
    let found: Vec<(&str, u64)> = words
        .iter()
        .map(|word| (word["text"].as_str().unwrap(), word["documents"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [("the", 3), ("house", 2), ("plane", 0)]);
    assert!((words[1]["idf"].as_f64().unwrap() - 3f64.ln()).abs() < 1e-9);
    assert_eq!(shown[0]["by_documents"], serde_json::json!([]));
    let shown = place.run(&["df", "show", &table, "--json"]).objects();
    assert_eq!(shown[0]["by_documents"], serde_json::json!([{"from_documents": 1, "terms": 8}]));
    let out = place.done(&["df", "show", &table]);
    assert!(out.contains("8 features of words1 in 4 documents") && out.contains('█'), "{out}");

    let text = place.write("text.txt", "the plane, the boat and the house");
    let by = |more: &[&str]| {
        let args = [&["fingerprint", &text, "--recipe", "words-idf", "--json"], more].concat();
        place.run(&args)
    };
    assert_eq!(by(&[]).code, 2);
    assert!(by(&[]).err.contains("--df"));
    let explained = by(&["--df", &table, "--explain"]).objects().remove(0);
    let heaviest = explained["explained"]["heaviest"].as_array().unwrap();
    let the = heaviest.iter().find(|feature| feature["text"] == "the").unwrap();
    assert_eq!((&the["count"], &the["documents"]), (&3.into(), &3.into()));
    let wrong = place.run(&["fingerprint", &text, "--recipe", "thesis-low", "--df", &table]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.err.contains("features words1-jenkins, but the table has the features words1"),
        "{}",
        wrong.err
    );
}

#[test]
fn tables_are_merged_and_compared() {
    let place = TestFolder::new();
    let build = |name: &str, texts: &[&str]| {
        let documents = place.write("pages.jsonl", lines(texts));
        let table = place.file(name);
        place.done(&["df", "build", &documents, "--output", &table]);
        table
    };
    let (first, second) = (build("first.df", &TEXTS[..2]), build("second.df", &TEXTS[2..]));
    let whole = build("whole.df", &TEXTS);
    let frozen = place.file("frozen.df");
    place.done(&["df", "freeze", &first, &second, "--min-documents", "1", "--output", &frozen]);
    assert_eq!(std::fs::read(&frozen).unwrap(), std::fs::read(&whole).unwrap());
    // The output replaces one of its inputs, and the tables have fewer terms.
    let out = place.done(&["df", "freeze", &frozen, "--output", &frozen]);
    assert!(out.contains("2 features of words1 in 4 documents"), "{out}");
    assert!(out.contains("6 features in fewer than 2 documents left out"), "{out}");
    let refused = place.run(&["df", "freeze", &frozen, &first, "--output", &whole]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("lacks features of fewer than 2"), "{}", refused.err);

    let documents = place.write("pages.jsonl", lines(&TEXTS));
    let compared = place.run(&["df", "compare", &first, &whole, &documents, "--json"]).objects();
    assert_eq!((&compared[0]["common"], &compared[0]["second_only"]), (&4.into(), &4.into()));
    assert_eq!((&compared[0]["known_share"], &compared[0]["first_only"]), (&1.0.into(), &0.into()));
    assert_eq!(compared[0]["moves"]["documents"], 4);
    let same = place.run(&["df", "compare", &whole, &whole, &documents, "--json"]).objects();
    assert_eq!(same[0]["idf_difference"], 0.0);
    assert_eq!(same[0]["moves"]["mean_distance"], 0.0);
    let out = place.done(&["df", "compare", &first, &whole, &documents]);
    assert!(
        out.starts_with("4 features in both tables, 0 only in the first, 4 only in the second"),
        "{out}"
    );
    assert!(out.contains("fingerprints of 4 documents differ by"), "{out}");
}

#[test]
fn invalid_table_is_named() {
    let place = TestFolder::new();
    let documents = place.write("pages.jsonl", lines(&TEXTS));
    let table = place.file("crawl.df");
    place.done(&["df", "build", &documents, "--output", &table]);
    let bytes = std::fs::read(&table).unwrap();
    for (name, bytes, why) in [
        ("empty.df", &[][..], "is not a table"),
        (
            "other.df",
            b"not a table of anything at all, but a text of more than 64 bytes, which is long",
            "is not a table",
        ),
        ("cut.df", &bytes[..100], "it was cut short"),
        ("half.df", &bytes[..bytes.len() - 1], "no trailer"),
    ] {
        let damaged = place.write(name, bytes);
        let ran = place.run(&["df", "show", &damaged]);
        let code = if why == "is not a table" { 5 } else { 4 };
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(name) && ran.err.contains(why), "{}", ran.err);
    }
    let mut flipped = bytes;
    flipped[70] ^= 1;
    let flipped = place.write("flipped.df", flipped);
    let ran = place.run(&["fingerprint", &documents, "--recipe", "words-idf", "--df", &flipped]);
    assert_eq!(ran.code, 4);
    assert!(
        ran.err.contains("flipped.df is damaged") && ran.err.contains("checksum"),
        "{}",
        ran.err
    );
    assert_eq!(place.run(&["df", "show", "not-there"]).code, 5);
    let nothing = place.write("nothing.jsonl", "");
    assert_eq!(place.run(&["df", "build", &nothing, "--output", &table]).code, 2);
    let nowhere = place.file("no/such/folder.df");
    let ran = place.run(&["df", "build", &documents, "--output", &nowhere]);
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("no/such/folder.df"), "{}", ran.err);
    assert!(FrequencyTable::open(&table).is_ok(), "a table that could not be replaced is gone");
}

#[test]
fn killed_build_leaves_the_old_or_new_table() {
    let place = TestFolder::new();
    let few = place.write("few.jsonl", lines(&TEXTS));
    let texts: Vec<String> =
        (0..4000).map(|n| (0..60).map(|i| format!("w{} ", n * 31 + i * i)).collect()).collect();
    let many =
        place.write("many.jsonl", lines(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
    let table = place.file("crawl.df");
    let build = ["df", "build", &many, "--output", &table, "--memory", "1"];
    place.done(&build);
    let new = FrequencyTable::open(&table).unwrap().id();
    place.done(&["df", "build", &few, "--output", &table]);
    let old = FrequencyTable::open(&table).unwrap().id();
    let begun = std::time::Instant::now();
    place.done(&build);
    let whole = begun.elapsed();
    let left = || std::fs::read_dir(place.dir.path()).unwrap().count();
    let (mut found, mut left_most) = ([0, 0], 0);
    for nth in 0..240 {
        // On a busy machine the first kills may all miss the moment with scratch files.
        if nth >= 24 && left_most > 4 {
            break;
        }
        place.done(&["df", "build", &few, "--output", &table]);
        assert_eq!(left(), 3, "what a killed process left is there still");
        let mut child = place.command(&build).spawn().unwrap();
        std::thread::sleep(whole * (nth % 24) / 20 + whole * (nth / 24) / 200);
        // The tool may have ended before.
        let _ = child.kill();
        child.wait().unwrap();
        let id = FrequencyTable::open(&table).unwrap().id();
        assert!(id == old || id == new);
        found[usize::from(id == new)] += 1;
        left_most = left_most.max(left());
    }
    println!("{found:?} old and new, {left_most} files at most");
    assert!(found[0] > 0, "the first was killed at once");
    assert!(left_most > 4, "none was killed with a scratch file");
    // Similarly named files of other programs and of other tables stay.
    let others =
        ["crawl.df.0123456789abcdef.new", "crawl.df.0123456789abcdee.00.tmp", "x.df.0.new"];
    let others = others.map(|name| place.write(name, "mine"));
    place.done(&build);
    assert_eq!((FrequencyTable::open(&table).unwrap().id(), left()), (new, 6));
    assert!(others.iter().all(|name| std::fs::read(name).unwrap() == b"mine"));
}

#[test]
fn concurrent_builds_of_one_table_do_not_interfere() {
    let place = TestFolder::new();
    let texts: Vec<String> =
        (0..2000).map(|n| (0..60).map(|i| format!("w{} ", n * 31 + i * i)).collect()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let [one, other] = [&texts[..1000], &texts[1000..]];
    let [one, other] =
        [place.write("one.jsonl", lines(one)), place.write("two.jsonl", lines(other))];
    let table = place.file("crawl.df");
    // Files that look like temporary files of the build.
    let bystanders = ["crawl.df.new", "crawl.df.00.tmp"].map(|name| place.write(name, "mine"));
    let ids = [&one, &other].map(|documents| {
        place.done(&["df", "build", documents, "--output", &table]);
        FrequencyTable::open(&table).unwrap().id()
    });
    for _ in 0..5 {
        let children = [&one, &other].map(|documents| {
            let args = ["df", "build", documents, "--output", &table, "--memory", "1"];
            place.command(&args).spawn().unwrap()
        });
        for child in children {
            let ran = ToolRun::from(child.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        }
        assert!(ids.contains(&FrequencyTable::open(&table).unwrap().id()));
    }
    // One of its own inputs.
    let input = place.file("crawl.df.01.tmp");
    place.done(&["df", "build", &one, "--output", &input]);
    place.done(&["df", "freeze", &input, "--min-documents", "1", "--output", &table]);
    assert_eq!(FrequencyTable::open(&table).unwrap().id(), ids[0]);
    for bystander in &bystanders {
        assert_eq!(place.run(&["df", "build", &one, "--output", bystander]).code, 5);
        assert_eq!(std::fs::read_to_string(bystander).unwrap(), "mine");
    }
    assert_eq!(std::fs::read_dir(place.dir.path()).unwrap().count(), 6, "something is left");
}

#[test]
fn invalid_arguments_are_refused_before_work_starts() {
    let place = TestFolder::new();
    let documents = place.write("pages.jsonl", lines(&TEXTS));
    let table = place.file("crawl.df");
    place.done(&["df", "build", &documents, "--output", &table]);
    let pairs = place.file("pairs.df");
    place.done(&["df", "build", &documents, "--output", &pairs, "--recipe", "default"]);
    let nothing = place.write("nothing.jsonl", "");
    let folder = place.file("folder");
    std::fs::create_dir(&folder).unwrap();
    for (args, code, why) in [
        (&["compare", &table, &pairs][..], 2, "one counts the features words1, the other words2"),
        (
            &["compare", &table, &table, &documents, "--recipe", "default"],
            2,
            "uses no document frequencies",
        ),
        (&["compare", &table, &table, &nothing], 2, "the named files contain no text"),
        (&["freeze", &table, &table, "--output", &pairs], 2, "given twice"),
        (&["build", "-", "--output", &folder], 5, "folder exists and was not replaced"),
        (&["show", &table, "!"], 2, "contains no feature"),
    ] {
        let ran = place.run_with_input(&[&["df"], args].concat(), "");
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let ran = place.run(&["fingerprint", &documents, "--df", &table]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    place.done(&["df", "compare", &pairs, &pairs, &documents]);
    let shown = place.done(&["df", "show", &pairs, "house", "red house"]);
    let of_house =
        "house (shorter than a feature of the kind words2: counted only as a whole document)";
    assert!(shown.contains(&format!("  {of_house}\n")), "{shown}");
    assert!(shown.ends_with("  red house\n"), "{shown}");
    let shown = &place.run(&["df", "show", &pairs, "house", "red house", "--json"]).objects()[0];
    assert_eq!(
        (&shown["words"][0]["shorter_than_feature"], &shown["words"][1]["shorter_than_feature"]),
        (&true.into(), &false.into())
    );
    let shown = place.done(&["df", "show", &table, "the house"]);
    assert!(shown.contains("  the\n") && shown.contains("  house\n"), "{shown}");
}
