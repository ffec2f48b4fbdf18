//! Corpora that are written without the dropped documents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::dedup::store;
use super::*;

/// A corpus with near-duplicate texts, equal texts, and lines that are not documents.
struct CorpusShards {
    /// Decompresses a file according to its name.
    files: BTreeMap<String, Vec<u8>>,
    texts: HashMap<String, String>,
}

pub(super) fn words(seed: u64, count: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut word = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("word{} ", (state >> 40) % 5000)
    };
    (0..count).map(|_| word()).collect()
}

/// `count` documents in `files` files; three of ten are near-duplicates. `line` formats a document.
fn shards(count: u64, files: u64, line: impl Fn(u64, &str) -> String) -> CorpusShards {
    let mut shards = CorpusShards { files: BTreeMap::new(), texts: HashMap::new() };
    for n in 0..count {
        let of = n % 10;
        let mut text = words(if of < 7 { n } else { n - of }, 120);
        match of {
            7 => text = text.replacen("word", "other", 1),
            8 => text += "and a few words more",
            _ => {}
        }
        let name =
            format!("part-{:02}.jsonl{}", n % files, ["", ".gz", ".zst"][(n % files % 3) as usize]);
        let file = shards.files.entry(name).or_default();
        file.extend_from_slice(line(n, &text).as_bytes());
        file.extend_from_slice(if n % 5 == 0 { b"\r\n" } else { b"\n" });
        match n % 97 {
            3 => file.extend_from_slice(b"\n"),
            5 => file.extend_from_slice(b"{\"id\": broken\n"),
            7 => file.extend_from_slice(b"{\"id\": \"unknown\", \"text\": \"x\"}\n"),
            _ => {}
        }
        shards.texts.insert(format!("doc-{n}"), text);
    }
    // The last line of one file has no line end.
    shards.files.entry("part-00.jsonl".to_owned()).or_default().pop();
    shards
}

fn packed(name: &str, bytes: &[u8]) -> Vec<u8> {
    if name.ends_with(".gz") {
        // Two members.
        let (one, two) = bytes.split_at(bytes.len() / 2);
        let member = |bytes: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        [member(one), member(two)].concat()
    } else if name.ends_with(".zst") {
        zstd::encode_all(bytes, 1).unwrap()
    } else {
        bytes.to_vec()
    }
}

pub(super) fn unpacked(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [0x1f, 0x8b, ..] => {
            let mut out = Vec::new();
            MultiGzDecoder::new(bytes).read_to_end(&mut out).unwrap();
            out
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd::decode_all(bytes).unwrap(),
        plain => plain.to_vec(),
    }
}

impl CorpusShards {
    /// Writes the files to a folder and loads them; returns their paths.
    fn load(&self, place: &TestFolder, keys: &[&str]) -> Vec<String> {
        let write = |(name, bytes): (&String, &Vec<u8>)| {
            place.write(&format!("corpus/{name}"), packed(name, bytes))
        };
        let paths: Vec<String> = self.files.iter().map(write).collect();
        let words: Vec<&str> = paths.iter().map(String::as_str).collect();
        let ran = place.run(&[&["load", "--skip-broken"], keys, &words].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        paths
    }
}

/// The document of a line, if the line is one.
fn id(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    Some(value["id"].as_str()?.to_owned())
}

#[test]
fn filtered_corpus_omits_only_dropped_lines() {
    let place = TestFolder::new();
    let line = |n: u64, text: &str| {
        format!("  {{\"n\": [{n}, {{}}], \"text\": {}, \"id\": \"doc-{n}\"}} ", json!(text))
    };
    let shards = shards(3000, 7, line);
    let paths = shards.load(&place, &["--url-key", "id", "--at", "2024-01-01"]);
    place.ingest("{\"url\":\"unknown\",\"t\":1,\"seen\":\"gone\"}\n");
    place.done(&["forget", "unknown"]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let before = files(&place.path("corpus"));
    let args = ["dedup", "--url-key", "id", "--to", "clean", "--json", "-o", "plan.jsonl"];
    let filter = [&args[..], &["--filter"], &paths].concat();
    let ran = place.run(&filter);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let filtered = ran.objects().pop().unwrap();
    let plan = std::fs::read_to_string(place.path("plan.jsonl")).unwrap();
    let plan: HashMap<String, Value> =
        objects(&plan).into_iter().map(|of| (of["url"].as_str().unwrap().to_owned(), of)).collect();
    assert!(plan.len() >= 600, "{}", plan.len());
    let (mut left_out, mut documents, mut broken, mut unknown) = (0, 0, 0, 0);
    for (name, bytes) in &shards.files {
        let written = std::fs::read(place.path(&format!("clean/{name}"))).unwrap();
        // It is compressed like its input.
        let magic = packed(name, bytes);
        assert_eq!(written[..2], magic[..2], "{name}");
        let written = unpacked(&written);
        let mut rest = &written[..];
        for line in bytes.split_inclusive(|&b| b == b'\n') {
            let id = id(line);
            documents += u64::from(!line.trim_ascii().is_empty());
            broken += u64::from(id.is_none() && !line.trim_ascii().is_empty());
            unknown += u64::from(id.as_deref() == Some("unknown"));
            if id.is_some_and(|id| plan.contains_key(&id)) {
                left_out += 1;
            } else {
                rest = rest.strip_prefix(line).expect("each line that is kept is the next");
            }
        }
        assert!(rest.is_empty(), "{name}");
    }
    assert_eq!(left_out, plan.len() as u64);
    for (key, number) in [
        ("files", 7),
        ("documents", documents),
        ("left_out", left_out),
        ("marked", 0),
        ("unknown", unknown),
        ("other_text", 0),
        ("broken", broken),
    ] {
        assert_eq!(filtered[key], number, "{key}: {filtered}");
    }
    // A dropped document is within `k` of the kept one, and has most of its words.
    for (url, of) in &plan {
        let kept = of["kept"].as_str().unwrap();
        assert!(!plan.contains_key(kept) && of["distance"].as_u64().unwrap() <= 3, "{of}");
        let [own, kept] =
            [url, kept].map(|id| shards.texts[id].split(' ').collect::<BTreeSet<_>>());
        assert!(own.intersection(&kept).count() * 10 > own.len() * 9, "{of}");
    }
    // Nothing else was changed, and existing output is not overwritten without the option.
    assert!(files(&place.path("corpus")) == before);
    let clean = files(&place.path("clean"));
    assert_eq!(clean.len(), 7);
    let again = place.run(&filter);
    assert!(again.code == 5 && again.err.contains("--force"), "{}", again.err);
    assert!(files(&place.path("clean")) == clean);
    let again = place.run(&[&["dedup", "--force", "--threads", "1"], &filter[1..]].concat());
    assert_eq!(again.code, 0, "{}", again.err);
    let bytes = |all: Vec<(PathBuf, _, Vec<u8>)>| -> Vec<_> {
        all.into_iter().map(|(path, _, bytes)| (path, bytes)).collect()
    };
    assert!(bytes(files(&place.path("clean"))) == bytes(clean));
}

#[test]
fn mark_option_marks_instead_of_dropping() {
    let place = TestFolder::new();
    let shards =
        shards(200, 3, |n, text| json!({"id": format!("doc-{n}"), "text": text}).to_string());
    let paths = shards.load(&place, &["--url-key", "id", "--at", "2024-01-01"]);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let args =
        ["dedup", "--mark", "--url-key", "id", "--to", "marked", "--json", "-o", "plan.jsonl"];
    let ran = place.run(&[&args[..], &["--filter"], &paths].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let plan = objects(&std::fs::read_to_string(place.path("plan.jsonl")).unwrap());
    let plan: HashMap<&str, &Value> =
        plan.iter().map(|of| (of["url"].as_str().unwrap(), of)).collect();
    assert_eq!(ran.objects().pop().unwrap()["marked"], plan.len());
    assert_eq!(ran.objects().pop().unwrap()["left_out"], 0);
    for (name, bytes) in &shards.files {
        let written = unpacked(&std::fs::read(place.path(&format!("marked/{name}"))).unwrap());
        let [before, after] =
            [bytes, &written].map(|all| all.split_inclusive(|&b| b == b'\n').collect::<Vec<_>>());
        assert_eq!(before.len(), after.len());
        for (before, after) in before.into_iter().zip(after) {
            let Some(of) = id(before).and_then(|id| plan.get(&*id)) else {
                assert!(before == after);
                continue;
            };
            let mut expected: Value = serde_json::from_slice(before).unwrap();
            expected["duplicate_of"] = of["kept"].clone();
            expected["distance"] = of["distance"].clone();
            assert_eq!(serde_json::from_slice::<Value>(after).unwrap(), expected);
        }
    }
    // A mark is not made twice.
    let marked = place.file("marked/part-00.jsonl");
    let ran =
        place.run(&["dedup", "--mark", "--url-key", "id", "--to", "twice", "--filter", &marked]);
    assert!(ran.code == 3 && ran.err.contains("duplicate_of"), "{}", ran.err);
    assert!(files(&place.path("twice")).is_empty());
}

#[test]
fn text_that_was_not_compared_is_kept() {
    let place = TestFolder::new();
    let (first, other) = (words(1, 80), words(2, 80));
    let line =
        |url: &str, t: u64, text: &str| format!("{}\n", json!({"url": url, "t": t, "text": text}));
    // `b` had another text before it became a copy of `a`.
    let old = line("b", 1, &other);
    let new = line("b", 2, &first);
    let file = place.write("c.jsonl", [line("a", 1, &first), old.clone(), new].concat());
    place.done(&["load", &file]);
    let filter = ["dedup", "--json", "--filter", &file, "--to"];
    let filtered = place.run(&[&filter[..], &["clean"]].concat()).objects().pop().unwrap();
    assert_eq!((&filtered["left_out"], &filtered["other_text"]), (&json!(1), &json!(1)));
    let clean = std::fs::read_to_string(place.path("clean/c.jsonl")).unwrap();
    assert_eq!(clean, line("a", 1, &first) + &old);
    let filtered =
        place.run(&[&filter[..], &["any", "--any-text"]].concat()).objects().pop().unwrap();
    assert_eq!((&filtered["left_out"], &filtered["other_text"]), (&json!(2), &json!(0)));
}

#[test]
fn broken_line_is_reported_as_by_load() {
    let place = TestFolder::new();
    let line = |url: &str| json!({"url": url, "t": 1, "text": words(1, 80)}).to_string() + "\n";
    let file = place.write(
        "c.jsonl",
        line("a") + "{\"url\": \"b\", \"t\": 1, \"text\": \"cut off\n" + &line("c"),
    );
    let why = "line 2: not valid JSON: the line ends too early";
    let loaded = place.run(&["load", "--skip-broken", &file]);
    assert!(loaded.code == 0 && loaded.err.contains(&format!("{why}; skipped")), "{}", loaded.err);
    let ran = place.run(&["dedup", "--filter", &file, "--to", "clean"]);
    assert!(ran.code == 0 && ran.err.contains(&format!("{why}; copied unchanged")), "{}", ran.err);
}

#[test]
fn comparison_of_names_alone_is_reported() {
    let place = TestFolder::new();
    let lines: String = ["a", "b", "c"]
        .map(|url| json!({"url": url, "t": 1, "text": words(1, 80)}).to_string() + "\n")
        .concat();
    let file = place.write("c.jsonl", &lines);
    place.done(&["load", "--store", "texts", &file]);
    let prints = lines
        .replace("\"text\"", "\"was\"")
        .replace("\"t\":", "\"fingerprint\":\"00000000000000ff\",\"t\":");
    place.done(&["load", "--store", "prints", &place.write("p.jsonl", prints)]);
    let mut n = 0;
    let mut filter = |store: &str, more: &[&str]| {
        n += 1;
        let to = format!("clean-{n}");
        let args = ["dedup", "--store", store, "--filter", &file, "--to", &to];
        place.done(&[&args[..], more].concat())
    };
    let by_name = "by name alone                      2  the store has no digest";
    let without =
        "without a text                     2  the name alone was compared; check --text-key";
    let shown = filter("texts", &[]);
    assert!(!shown.contains("name alone"), "{shown}");
    let shown = filter("prints", &[]);
    assert!(shown.contains(by_name) && !shown.contains(without), "{shown}");
    let shown = filter("texts", &["--text-key", "body"]);
    assert!(shown.contains(without) && !shown.contains(by_name), "{shown}");
    let shown = filter("prints", &["--any-text"]);
    assert!(!shown.contains("name alone"), "{shown}");
    let counts =
        place.run(&["dedup", "--store", "prints", "--filter", &file, "--to", "json", "--json"]);
    let counts = counts.objects().pop().unwrap();
    assert_eq!((&counts["by_name"], &counts["without_text"]), (&json!(2), &json!(0)));
}

#[test]
fn unfilterable_files_are_refused_without_leftovers() {
    let place = store();
    let good = "{\"url\":\"https://example.com/a\",\"text\":\"x\"}\n".repeat(20_000);
    place.write("corpus/good.jsonl", &good);
    place.write("other/good.jsonl", &good);
    let mut gz = packed("x.gz", good.as_bytes());
    let middle = gz.len() / 2;
    gz[middle..middle + 20].fill(0x55);
    place.write("corpus/damaged.jsonl.gz", gz);
    place.write("corpus/page.html", "<html>");
    place.write("corpus/export.jsonl", place.export());
    std::fs::create_dir_all(place.path("there/good.jsonl")).unwrap();
    for (code, args, why) in [
        (
            2,
            &["corpus/good.jsonl", "other/good.jsonl", "--to", "clean"][..],
            "same name as another",
        ),
        (2, &["corpus/good.jsonl", "--to", "corpus"], "another folder"),
        (2, &["corpus/good.jsonl", "--to", "other/../corpus/."], "another folder"),
        (2, &["corpus", "--to", "clean"], "is not a file"),
        (2, &["corpus/good.jsonl"], "--to"),
        (2, &["corpus/good.jsonl", "--to", "clean", "--url-key", "a..b"], "key"),
        (5, &["corpus/none.jsonl", "--to", "clean"], "cannot read corpus/none.jsonl"),
        (5, &["corpus/good.jsonl", "--to", "there", "--force"], "it is a directory"),
        (5, &["corpus/good.jsonl", "--to", "nowhere/clean"], "cannot create the folder"),
        (3, &["corpus/damaged.jsonl.gz", "--to", "clean"], "damaged gzip member"),
        (3, &["corpus/page.html", "--to", "clean"], "neither JSON lines nor"),
        (3, &["corpus/export.jsonl", "--to", "clean"], "export"),
    ] {
        let ran = place.run(&[&["dedup", "--filter"], args].concat());
        assert!(ran.code == code && ran.err.contains(why), "{args:?}: {} {}", ran.code, ran.err);
        let left = std::fs::read_dir(place.path("clean")).into_iter().flatten().count();
        assert_eq!(left, 0, "{args:?}");
    }
    // What is in the way is a link to elsewhere: the link goes, and not what it leads to.
    std::os::unix::fs::symlink(place.path("other/good.jsonl"), place.path("clean/good.jsonl"))
        .unwrap();
    let filter = ["dedup", "--filter", "corpus/good.jsonl", "--to", "clean"];
    assert_eq!(place.run(&filter).code, 5);
    place.write("other/good.jsonl", "kept");
    place.done(&[&filter[..], &["--force"]].concat());
    assert_eq!(std::fs::read_to_string(place.path("other/good.jsonl")).unwrap(), "kept");
    assert!(std::fs::read_to_string(place.path("clean/good.jsonl")).unwrap() == good);
    // An empty shard is one, whatever its name.
    let empty = place.write("corpus/part-00000", "");
    place.done(&["dedup", "--filter", &empty, "--to", "clean"]);
    assert_eq!(std::fs::read(place.path("clean/part-00000")).unwrap(), b"");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_filtered_row_by_row() {
    use simkeep_parquet::{CellValue as Cell, DocumentRows, VisitRow, VisitWriter};
    let place = TestFolder::new();
    let write = |name: &str, from: u64| {
        let mut bytes = Vec::new();
        let mut writer = VisitWriter::new(&mut bytes).unwrap();
        for n in from..from + 300 {
            let text = words(if n % 10 < 7 { n } else { n - n % 10 }, 90);
            let (url, time) = (format!("doc {n}"), i64::try_from(n).unwrap());
            // The text has a column of another name, as it would.
            writer
                .row(&VisitRow { url: &url, time, verdict: &text, ..VisitRow::default() })
                .unwrap();
        }
        writer.end().unwrap();
        // What describes the columns has no checksum, and marks want a column of this name.
        for at in 0..bytes.len() - 8 {
            if bytes[at..].starts_with(b"distance") {
                bytes[at..at + 8].copy_from_slice(b"bits_off");
            }
        }
        place.write(name, bytes)
    };
    let paths = [write("corpus/a.parquet", 0), write("corpus/b.parquet", 300)];
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    place.done(&[&["load", "--text-key", "verdict", "--time-key", "time"], &paths[..]].concat());
    let rows = |path: &str| -> Vec<[Cell; 3]> {
        let file = std::fs::File::open(place.path(path)).unwrap();
        let rows = DocumentRows::open(file, ["url", "verdict", "time"]).unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap().concat()
    };
    let filter = ["dedup", "--json", "--text-key", "verdict", "--filter"];
    let ran = place.run(&[&filter[..], &paths, &["--to", "clean"]].concat());
    let filtered = ran.objects().pop().unwrap();
    assert_eq!((&filtered["documents"], &filtered["left_out"]), (&json!(600), &json!(180)));
    for name in ["a", "b"] {
        let is_kept = |row: &[Cell; 3]| {
            let Cell::Text(url) = &row[0] else { panic!("{row:?}") };
            url.ends_with(|digit| digit < '7')
        };
        let mut all = rows(&format!("corpus/{name}.parquet"));
        all.retain(is_kept);
        assert!(rows(&format!("clean/{name}.parquet")) == all);
    }
    let ran = place.run(&[&filter[..], &paths, &["--to", "marked", "--mark"]].concat());
    assert_eq!(ran.objects().pop().unwrap()["marked"], 180);
    let file = std::fs::File::open(place.path("marked/b.parquet")).unwrap();
    let marks = DocumentRows::open(file, ["url", "duplicate_of", "distance"]).unwrap();
    let marks = marks.collect::<Result<Vec<_>, _>>().unwrap().concat();
    assert_eq!(marks.len(), 300);
    let text = |text: &str| Cell::Text(text.to_owned());
    assert_eq!(marks[0], [text("doc 300"), Cell::Null, Cell::Null]);
    assert_eq!(marks[8], [text("doc 308"), text("doc 300"), Cell::Whole(0)]);
    let marked = place.file("marked/a.parquet");
    let ran = place.run(&["dedup", "--filter", &marked, "--to", "twice", "--mark"]);
    assert!(ran.code == 3 && ran.err.contains("already has a column duplicate_of"), "{}", ran.err);
    let ran = place.run(&["dedup", "--url-key", "id", "--filter", paths[0], "--to", "other"]);
    assert!(ran.code == 3 && ran.err.contains("no column \"id\""), "{}", ran.err);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_without_the_feature_is_refused() {
    let place = store();
    let file = place.write("corpus/c.parquet", "PAR1");
    let ran = place.run(&["dedup", "--filter", &file, "--to", "clean"]);
    assert!(ran.code == 3 && ran.err.contains("--features parquet"), "{}", ran.err);
}
