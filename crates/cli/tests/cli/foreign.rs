//! Texts with other keys than those of simkeep.

use super::*;

/// Some documents with external keys, and the same documents in simkeep's keys.
fn corpus(count: u64) -> (String, String) {
    let (mut foreign, mut own) = (String::new(), String::new());
    for n in 0..count {
        let id = match n % 3 {
            0 => json!(n),
            1 => json!(format!("doc-{n}")),
            _ => json!(format!("https://example.com/{n}")),
        };
        let text = format!(
            "This is the text number {n} of a corpus that somebody else has made {}",
            n / 2
        );
        let day = format!("2004-02-{:02}", n % 28 + 1);
        let name = id.as_str().map_or(id.to_string(), str::to_owned);
        foreign += &json!({"metadata": {"tags": ["a"], "date": day}, "status": "odd", "id": id,
            "digest": 7, "text": text})
        .to_string();
        own += &json!({"url": name, "t": day, "text": text}).to_string();
        foreign.push('\n');
        own.push('\n');
    }
    (foreign, own)
}

/// A failed load may leave an empty folder.
fn has_store(place: &TestFolder) -> bool {
    place.store().join("catalog.redb").exists()
}

const KEYS: &[&str] = &["--url-key", "id", "--text-key", "text", "--time-key", "metadata.date"];

#[test]
fn corpus_is_loaded_with_its_own_keys() {
    let (foreign, own) = corpus(500);
    let expected = TestFolder::with(&own).export();
    for (verb, name) in [("ingest", "c.jsonl"), ("load", "c.jsonl"), ("load", "folder/c.jsonl")] {
        let place = TestFolder::new();
        let file = place.write(name, &foreign);
        let named = if name.starts_with("folder") { place.file("folder") } else { file };
        place.done(&[&[verb, &named], KEYS].concat());
        assert!(place.export() == expected, "{verb} {name}");
        // A name that is not a URL is an ordinary name.
        let history = place.done(&["history", "3", "--json"]);
        assert!(history.contains("2004-02-04"), "{history}");
    }
    let place = TestFolder::new();
    let ran = place.run_with_input(&[&["load", "-"], KEYS].concat(), &foreign);
    assert_eq!((ran.code, place.export() == expected), (0, true), "{}", ran.err);
    // An export is recognized despite options for keys.
    let place = TestFolder::new();
    let file = place.write("export.jsonl", &expected);
    place.done(&[&["load", &file], KEYS].concat());
    assert!(place.export() == expected);
}

#[test]
fn texts_without_a_time_use_the_given_one() {
    let place = TestFolder::new();
    let lines =
        "{\"url\":\"a\",\"text\":\"x\"}\n{\"url\":\"b\",\"text\":\"x\",\"t\":\"2020-02-02\"}\n";
    let file = place.write("c.jsonl", lines);
    place.done(&["load", &file, "--at", "2001-02-03"]);
    let export = place.export();
    assert!(export.contains(r#"{"url":"a","t":"2001-02-03T00:00:00Z""#), "{export}");
    assert!(export.contains(r#"{"url":"b","t":"2020-02-02T00:00:00Z""#), "{export}");
}

#[test]
fn missing_fields_of_a_corpus_are_reported_by_line() {
    let place = TestFolder::new();
    let lines = "{\"id\":1,\"text\":\"x\",\"t\":1}\n{\"text\":\"x\",\"t\":1}\n{\"id\":2,\"t\":1}\n\
                 {\"id\":3,\"text\":\"x\",\"t\":{}}\n{\"id\":4,\"text\":\"x\"}\n{\"id\":[],\"text\":\"\"}\n";
    let file = place.write("c.jsonl", lines);
    let ran = place.run(&["ingest", &file, "--url-key", "id", "--json"]);
    assert_eq!((ran.code, &ran.objects()[0]["broken"]), (0, &json!(5)), "{}", ran.err);
    let said: Vec<String> =
        objects(&ran.err).iter().map(|note| note["message"].as_str().unwrap().to_owned()).collect();
    for why in ["line 2: \"id\" is missing", "line 3: 2: \"text\"", "line 4: 3: \"t\"", "--at"] {
        assert!(said.iter().any(|said| said.contains(why)), "{why}: {}", ran.err);
    }
    let fresh = TestFolder::new();
    let ran = fresh.run(&["load", &file, "--url-key", "id"]);
    assert_eq!((ran.code, has_store(&fresh)), (3, false), "{}", ran.err);
    for key in ["", "a..b", &"a.".repeat(20)] {
        let ran = fresh.run(&["load", &file, "--url-key", key]);
        assert_eq!(ran.code, 2, "{}", ran.err);
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_without_the_feature_is_refused() {
    let place = TestFolder::with(CRAWL);
    let file = place.write("c.parquet", "PAR1");
    for args in [&["ingest", &file][..], &["load", &file]] {
        let ran = place.run(args);
        assert!(ran.code == 3 && ran.err.contains("--features parquet"), "{}", ran.err);
    }
    let ran = place.run(&["export", "--format", "parquet", "-o", "x"]);
    assert!(ran.code == 2 && ran.err.contains("--features parquet"), "{}", ran.err);
    // In a folder it is one file among others.
    place.write("folder/c.parquet", "PAR1");
    place.write("folder/c.txt", "text");
    place.done(&["ingest", &place.file("folder"), "--strict"]);
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::*;
    use simkeep_parquet::{VisitRow, VisitWriter};

    const COLUMNS: &[&str] = &["--text-key", "verdict", "--time-key", "time"];

    /// A file with texts; the column for them has another name, as it would.
    fn file(place: &TestFolder, name: &str, count: u64) -> (String, Vec<u8>, String) {
        let (mut bytes, mut own) = (Vec::new(), String::new());
        let mut writer = VisitWriter::new(&mut bytes).unwrap();
        for n in 0..count {
            let (url, text) = (format!("doc-{n}"), format!("the text {} of a corpus", n / 2));
            let row = VisitRow {
                url: &url,
                time: n as i64 * 1500,
                verdict: &text,
                ..VisitRow::default()
            };
            writer.row(&row).unwrap();
            own += &json!({"url": url, "t": n as f64 * 1.5, "text": text}).to_string();
            own.push('\n');
        }
        writer.end().unwrap();
        (place.write(name, &bytes), bytes, own)
    }

    #[test]
    fn texts_are_read_from_parquet_files() {
        let place = TestFolder::new();
        let (path, _, own) = file(&place, "corpus/c.parquet", 3000);
        let expected = TestFolder::with(&own).export();
        for (verb, path) in [("ingest", &path), ("load", &path), ("load", &place.file("corpus"))] {
            let place = TestFolder::new();
            place.done(&[&[verb, path], COLUMNS].concat());
            assert!(place.export() == expected, "{verb} {path}");
        }
    }

    #[test]
    fn unreadable_parquet_file_is_reported() {
        let place = TestFolder::new();
        let (path, bytes, _) = file(&place, "c.parquet", 300);
        let fresh = TestFolder::new();
        for (args, why) in [
            (&[][..], "no column \"text\"; its columns are url, time, "),
            (&["--url-key", "digest"], "digest"),
            (&["--text-key", "verdict"], "the file has no column \"t\""),
        ] {
            let ran = fresh.run(&[&["load", &path], args].concat());
            assert_eq!((ran.code, has_store(&fresh)), (3, false), "{}", ran.err);
            assert!(ran.err.contains(why), "{why}: {}", ran.err);
        }
        let cut = place.write("cut.parquet", &bytes[..bytes.len() - 9]);
        let packed = place.write("c.parquet.zst", zstd::encode_all(&bytes[..], 1).unwrap());
        for (path, why) in [(&cut, "its end is missing"), (&packed, "decompress it first")] {
            let ran = fresh.run(&[&["load", path], COLUMNS].concat());
            assert_eq!((ran.code, has_store(&fresh)), (3, false), "{}", ran.err);
            assert!(ran.err.contains(why), "{why}: {}", ran.err);
        }
        let mut command = fresh.command(&["load", "-"]);
        let ran =
            ToolRun::from(command.stdin(std::fs::File::open(&path).unwrap()).output().unwrap());
        assert!(ran.code == 3 && ran.err.contains("in a pipe"), "{}", ran.err);
        // Damaged somewhere: nothing is half loaded.
        for at in (0..bytes.len()).step_by(bytes.len() / 40) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let damaged = place.write("damaged.parquet", damaged);
            let fresh = TestFolder::new();
            let ran = fresh.run(&[&["load", &damaged], COLUMNS].concat());
            assert!([0, 3].contains(&ran.code), "{at}: {}", ran.err);
            assert_eq!(ran.code == 0, has_store(&fresh), "{at}");
        }
    }
}
