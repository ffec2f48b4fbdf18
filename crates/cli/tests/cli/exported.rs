//! `export` and `load`: a store is exported and restored.

use simkeep_testing::ms;
use std::collections::HashMap;

use simkeep::df::{FrequencyCounter, FrequencyTable};
use simkeep::fingerprint::{Bands, Recipe};
use simkeep::{
    Durability, Epoch, EpochOptions, Observation, Origin, PropertyUpdate, Query, Restatement, Role,
};

use super::epoch::{HistoryRecord, histories};
use super::*;

/// A table of some words.
fn table(place: &TestFolder) -> (Origin, String) {
    let path = place.file("words.df");
    let recipe: Recipe = "words-idf".parse().unwrap();
    let mut counter = FrequencyCounter::new(&recipe, &path, 16 << 20).unwrap();
    for n in 0..40_000 {
        counter.add(&format!("the house number {n} stands in the street {}", n % 97)).unwrap();
    }
    counter.freeze(1).unwrap();
    let table = FrequencyTable::open(&path).unwrap();
    let id = format!("{:016x}", table.id());
    (Origin::new(recipe).table(table).unwrap(), id)
}

/// A store with everything that a store can have: epochs of all kinds, one of them ended, and one with a
/// table that is exported in several parts; late visits, restated content, weights at all times.
fn everything(place: &TestFolder) -> String {
    let options = Options::default()
        .epoch("first/1".into())
        .epoch_bands(Some(Bands { minor: 1, moderate: 5 }))
        .durability(Durability::OnFlush);
    let store = Store::create(place.store(), options).unwrap();
    let first = store.change_epoch();
    let url = |n: usize| format!("https://h{}.example/{n}?\u{e4}\"\\\u{202e}", n % 7);
    let observe = |n: usize, time: i64, epoch: Epoch| {
        let fingerprint = (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (time as u64 % 3);
        store.observe(Observation::content(&url(n), ms(time), fingerprint, epoch)).unwrap();
    };
    (0..60).for_each(|n| observe(n, 1000 + n as i64, first));
    let near = EpochOptions::from(Role::Near).bands(Bands { minor: 0, moderate: 64 });
    let near = store.register_epoch("near \u{202e} it", near).unwrap();
    let minwise = store.register_epoch("words2-minwise/2", Role::Change).unwrap();
    (0..60).for_each(|n| observe(n, 5000 - 7 * n as i64, [first, near, minwise][n % 3]));
    let (origin, id) = table(place);
    let idf = store.begin_epoch(&origin, Role::Both).unwrap();
    let second = Observation::content("https://h1.example/also", ms(9000), 1, first).also(2, idf);
    store.observe(second.status(200).modified(ms(8000)).weight(0.1)).unwrap();
    for n in (0..60).step_by(3) {
        let time = 1000 + n as i64;
        store.restate(Restatement::new(&url(n), ms(time), n as u64, near)).unwrap();
        let weight = 1e-3 * (n + 1) as f64;
        store
            .set_property(PropertyUpdate::weight(&url(n), ms(-5_000_000 + n as i64), weight))
            .unwrap();
        store.observe(Observation::failed(&url(n), ms(700)).status(503)).unwrap();
        store.observe(Observation::not_modified(&url(n), ms(99_500)).modified(ms(-1))).unwrap();
    }
    for n in (0..60).step_by(5) {
        store.observe(Observation::gone(&url(n), ms(100_000)).status(410)).unwrap();
    }
    store.end_epoch(near, u64::MAX).unwrap();
    store.end_epoch(first, u64::MAX).unwrap();
    store.register_epoch("never used", Role::Near).unwrap();
    store.close().unwrap();
    id
}

/// What a store reports about its epochs and tables.
fn described(place: &TestFolder, store: &str) -> Vec<Value> {
    let of = |verb: [&str; 2]| {
        let [verb, what] = verb;
        place.run(&[verb, what, "--json", "--store", store]).objects()
    };
    let mut all = [of(["epoch", "list"]), of(["df", "list"])].concat();
    for object in &mut all {
        let object = object.as_object_mut().unwrap();
        // In several segments, a fingerprint counts as often.
        object.remove("fingerprints");
        object.remove("file");
    }
    all
}

#[test]
fn whole_store_is_restored_from_its_export() {
    let place = TestFolder::new();
    let id = everything(&place);
    let export = place.export();
    assert_eq!(export, place.export());
    let lines: Vec<&str> = export.lines().collect();
    assert_eq!(lines[0], r#"{"simkeep":"export","version":1}"#);
    assert_eq!(
        lines[1],
        r#"{"epoch":"first/1","minor":1,"moderate":5,"begun_at_visit":0,"ended":true}"#
    );
    let near = r#"{"epoch":"near \u202e it","role":"near","minor":0,"moderate":64,"begun_at_visit":60,"ended":true}"#;
    assert_eq!(lines[2], near);
    assert!(lines[4].contains(&format!(r#""table":"{id}""#)), "{}", lines[4]);
    let end = format!(r#"{{"simkeep":"end","lines":{}}}"#, lines.len());
    assert_eq!(*lines.last().unwrap(), end);
    let parts = lines.iter().filter(|line| line.contains("\"base64\"")).count();
    assert!(parts > 2, "{parts}");
    for name in ["plain.jsonl", "packed.jsonl.zst", "packed.jsonl.GZ"] {
        let file = place.file(name);
        let summary = place.run(&["export", "-o", &file, "--json"]).objects().remove(0);
        assert_eq!(summary["lines"], lines.len());
        assert_eq!(summary["entries"], entries(&export).len());
        assert_eq!(summary["file_bytes"], std::fs::metadata(&file).unwrap().len());
        let copy = format!("{name}.simkeep");
        place.done(&["load", &file, "--store", &copy, "--json"]);
        assert!(place.done(&["export", "--store", &copy]) == export, "{name}");
        assert_eq!(described(&place, &copy), described(&place, "store"));
        place.done(&["verify", "-s", &copy]);
        place.same(&["--exact", "store", &copy]);
        place.same(&["store", &copy]);
    }
    assert!(std::fs::read(place.path("plain.jsonl")).unwrap() == export.as_bytes());
    // Into a store that has the entries already, a second time, and from a folder.
    let again = place.run(&["load", "plain.jsonl", "--store", "packed.jsonl.GZ.simkeep", "--json"]);
    assert_eq!(
        (&again.objects()[0]["visits"], &again.objects()[0]["new_segments"]),
        (&0.into(), &0.into())
    );
    let other = TestFolder::with(CRAWL);
    std::fs::create_dir(place.path("folder")).unwrap();
    std::fs::rename(place.path("plain.jsonl"), place.path("folder/a.jsonl")).unwrap();
    let folder = place.file("folder");
    other.done(&["load", &folder, "--begin-epoch", "--json"]);
    let both = TestFolder::with(CRAWL);
    let store = place.file("store");
    both.done(&["load", &store, "--begin-epoch", "--json"]);
    assert!(both.export() == other.export());
    assert_eq!(leftovers(&place), Vec::<String>::new());
}

/// A store of an older format version is moved by an export.
#[test]
fn export_of_an_older_version_is_loaded() {
    let old = simkeep_testing::in_repository("format/golden/v5-export.jsonl");
    let place = TestFolder::new();
    place.done(&["load", old.to_str().unwrap(), "--clock-tolerance", "none"]);
    assert!(place.export() == std::fs::read_to_string(old).unwrap());
}

/// Whether nothing was created at this path except perhaps an empty folder.
fn is_nothing(path: &Path) -> bool {
    !path.exists() || files(path).is_empty()
}

/// Temporary files.
fn leftovers(place: &TestFolder) -> Vec<String> {
    let names = files(place.dir.path()).into_iter().map(|file| file.0.display().to_string());
    names.filter(|name| name.ends_with(".part")).collect()
}

/// All restrictions of an export.
#[test]
fn export_is_limited_by_its_options() {
    let place = TestFolder::new();
    everything(&place);
    let all = place.export();
    let ask = |args: &[&str]| place.done(&[&["export"], args].concat());
    let under = ask(&["--under", "h1.example"]);
    assert!(
        under.starts_with(r#"{"simkeep":"export","version":1,"under":"h1.example"}"#),
        "{under}"
    );
    let of_host: Vec<&str> =
        entries(&all).into_iter().filter(|line| line.contains("//h1.example/")).collect();
    assert!(of_host.len() > 10);
    assert_eq!(entries(&under), of_host);
    let since = ask(&["--since", "1970-01-01T00:01:39.500Z"]);
    let first = r#"{"simkeep":"export","version":1,"since":"1970-01-01T00:01:39.500Z"}"#;
    assert_eq!(since.lines().next(), Some(first));
    let later = |line: &&str| {
        line.contains(r#""t":"1970-01-01T00:01:39.500Z""#)
            || line.contains(r#""t":"1970-01-01T00:01:40Z""#)
    };
    let expected: Vec<&str> = entries(&all).into_iter().filter(later).collect();
    assert!(entries(&since) == expected && expected.len() > 20, "{since}");
    // Both limits are included, and the entries before a limit are those that --since leaves out.
    let at = ask(&["--since", "1970-01-01T00:01:39.500Z", "--until", "1970-01-01T00:01:39.500Z"]);
    let is_at = |line: &&str| line.contains(r#""t":"1970-01-01T00:01:39.500Z""#);
    let expected: Vec<&str> = entries(&all).into_iter().filter(is_at).collect();
    assert!(entries(&at) == expected && !expected.is_empty(), "{at}");
    let until = ask(&["--until", "1970-01-01T00:01:39.499Z"]);
    let first = r#"{"simkeep":"export","version":1,"until":"1970-01-01T00:01:39.499Z"}"#;
    assert_eq!(until.lines().next(), Some(first));
    let expected: Vec<&str> = entries(&all).into_iter().filter(|line| !later(line)).collect();
    assert!(entries(&until) == expected && expected.len() > 20, "{until}");
    let rows =
        |args: &[&str]| ask(&[&["--format", "csv", "--no-header"], args].concat()).lines().count();
    let (before, after) =
        (["--until", "1970-01-01T00:01:39.499Z"], ["--since", "1970-01-01T00:01:39.500Z"]);
    assert!(rows(&before) > 20 && rows(&before) + rows(&after) == rows(&[]));
    let without = ask(&["--no-tables"]);
    assert!(!without.contains("\"table\"") && entries(&without) == entries(&all));
    for limit in ["--since", "--until"] {
        assert_eq!(place.run(&["export", limit, "1", "--in-force"]).code, 2);
    }
    // The entries in force match those of the other verbs.
    let in_force = ask(&["--in-force"]);
    assert!(in_force.starts_with(r#"{"simkeep":"export","version":1,"in_force_only":true}"#));
    let copy = TestFolder::new();
    copy.load(&in_force);
    copy.done(&["verify"]);
    let pages = |place: &TestFolder| -> HashMap<String, [Value; 5]> {
        let scan = place.run(&["scan", "--json"]).objects();
        let in_force = scan.into_iter().filter(|page| page["epoch"].is_string());
        let keys = ["fingerprint", "digest", "epoch", "weight", "gone"];
        let of = |page: Value| keys.map(|key| page[key].clone());
        in_force.map(|page| (page["url"].to_string(), of(page))).collect()
    };
    assert_eq!(pages(&copy), pages(&place));
    assert_eq!(copy.run(&["scan", "--json"]).objects().len(), pages(&place).len());
    assert!(entries(&in_force).len() < entries(&all).len() / 2);
    // Each of these is a complete export.
    for export in [under, since, until, without] {
        let copy = TestFolder::new();
        copy.load(&export);
        copy.done(&["verify"]);
        let epochs = |place: &TestFolder| -> Vec<Value> {
            let list = place.run(&["epoch", "list", "--json"]).objects();
            list.into_iter().map(|mut epoch| epoch["epoch"].take()).collect()
        };
        assert_eq!(epochs(&copy), epochs(&place));
    }
}

/// A run of `load` that must fail at this position of its input, for this reason, and leave nothing.
fn refused(bytes: &[u8], at: &str, why: &str) {
    for options in [&[][..], &["--skip-broken"]] {
        let place = TestFolder::new();
        let file = place.write("x.jsonl", bytes);
        let ran = place.run(&[&["load", file.as_str()], options].concat());
        let place_of = format!("x.jsonl, {at}: ");
        assert_eq!(ran.code, 3, "{why}: {}", ran.err);
        assert!(ran.err.contains(&place_of) && ran.err.contains(why), "{why}: {}", ran.err);
        assert!(is_nothing(&place.store()), "{why}");
        assert_eq!(leftovers(&place), Vec::<String>::new());
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of flaws")]
fn damaged_or_incomplete_export_makes_no_store() {
    let place = TestFolder::new();
    let id = everything(&place);
    let export = place.export();
    let lines: Vec<String> = export.lines().map(|line| format!("{line}\n")).collect();
    let count = lines.len();
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = if line.is_empty() { String::new() } else { format!("{line}\n") };
        lines.concat()
    };
    let part = lines.iter().position(|line| line.contains("\"base64\"")).unwrap();
    let last_part = lines.iter().rposition(|line| line.contains("\"base64\"")).unwrap();
    let first = last_part + 1;
    let line = |nth: usize| format!("line {}", nth + 1);
    let edit = |at: usize, from: &str, to: &str| {
        assert!(lines[at].contains(from), "{from}: {}", lines[at]);
        with(at, lines[at].replacen(from, to, 1).trim_end())
    };
    let end = format!("{{\"simkeep\":\"end\",\"lines\":{}}}\n", count + 2);
    let cases: &[(String, String, &str)] = &[
        (edit(0, ":1}", ":2}"), line(0), "version 2; this simkeep reads version 1"),
        (edit(0, ":1}", ":\"1\"}"), line(0), "\"version\" is missing or invalid"),
        (edit(0, ":1}", ":1,\"more\":1}"), line(0), "cannot have the key \"more\""),
        (
            edit(0, "\"export\"", "\"backup\""),
            line(0),
            "must be \"export\" or \"end\", not \"backup\"",
        ),
        (edit(0, "}", ",\"in_force_only\":1}"), line(0), "\"in_force_only\" is missing or invalid"),
        (with(3, lines[1].trim_end()), line(3), "the epoch first/1 occurs twice"),
        (edit(1, "}", ",\"more\":1}"), line(1), "cannot have the key \"more\""),
        (edit(1, "\"minor\":1", "\"minor\":65"), line(1), "must be numbers of bits"),
        (
            edit(1, "\"begun_at_visit\":0", "\"begun_at_visit\":-1"),
            line(1),
            "\"begun_at_visit\" is missing or invalid",
        ),
        (edit(1, "\"begun_at_visit\":0", "\"begun_at_visit\":1"), line(1), "begin at visit 0"),
        (edit(2, "\"near\",", "\"far\","), line(2), "must be \"change\", \"near\" or \"both\""),
        (edit(2, "near \\u202e it", "near \\u0007 it"), line(2), "no control characters"),
        (edit(2, "}", ",\"reserved\":65}"), line(2), "\"reserved\" is missing or invalid"),
        (edit(part, "\"offset\":0", "\"offset\":1"), line(part), "are not in order"),
        (edit(part, "\"table_bytes\":", "\"table_bytes\":1"), line(part + 1), "are not in order"),
        (
            edit(part, "\"table_bytes\":", "\"table_bytes\":0,\"x\":"),
            line(part),
            "beyond the end of its table",
        ),
        (edit(part, "\"offset\":0", "\"offset\":18446744073709551615"), line(part), "ends beyond"),
        (edit(part, "\"base64\":\"", "\"base64\":\"*"), line(part), "not valid base64"),
        (
            edit(part, "\"base64\":\"", "\"base64\":\"====\",\"x\":\""),
            line(part),
            "not valid base64",
        ),
        (edit(part, "\"base64\":\"", "\"base64\":\"\",\"x\":\""), line(part), "has 0 bytes"),
        (edit(part, "\"base64\":\"c2", "\"base64\":\"d2"), line(last_part), &id),
        (edit(4, &id, "00000000000000ff"), line(last_part), "does not have the table"),
        (edit(last_part, &id, "00000000000000ff"), line(last_part), "belongs to no epoch"),
        (with(last_part, lines[first].trim_end()), line(last_part - 1), "is missing or incomplete"),
        (edit(first, "{\"url\"", "{\"u\""), line(first), "neither a page nor an epoch nor a table"),
        (with(count - 2, ""), line(count - 2), "lines are missing"),
        (lines.concat() + &lines[first], line(count - 1), "after its last line"),
        (lines.concat() + &lines[first] + &end, line(count - 1), "after its last line"),
        (lines.concat() + &lines.concat(), line(count), "a second export begins here"),
        (edit(count - 1, "\"lines\":", "\"lines\":1"), line(count - 1), "lines are missing"),
        (with(count - 1, ""), line(count - 1), "its last line is missing"),
        (lines[..first].concat(), line(first), "its last line is missing"),
        (lines[0].clone(), line(1), "its last line is missing"),
        (with(5, lines[0].trim_end()), line(5), "a second export begins here"),
        (
            with(first, &format!("{{\"x\":\"{}\"}}", "y".repeat(600 << 10))),
            line(first),
            "longer than",
        ),
    ];
    for (bytes, at, why) in cases {
        refused(bytes.as_bytes(), at, why);
    }
    let with_epoch =
        first + entries(&export).iter().position(|line| line.contains("\"epoch\"")).unwrap();
    // Broken entries can be skipped; their epochs must exist.
    for (broken, why) in [
        (edit(with_epoch, "}", ",\"more\":1}"), "a key that an export cannot have"),
        (edit(with_epoch, "\"epoch\":", "\"ep\":"), "a key that an export"),
        (edit(with_epoch, "\"epoch\":", "\"status\":200,\"epo\":"), "a key that an export"),
        (with(with_epoch, r#"{"url":"http://a/","t":1,"text":"words"}"#), "a \"text\""),
        (
            with(with_epoch, r#"{"url":"http://a/","t":1,"fingerprint":null}"#),
            "a \"fingerprint\" but no \"epoch\"",
        ),
    ] {
        let place = TestFolder::new();
        let ran = place.run_with_input(&["load", "-"], &broken);
        assert_eq!((ran.code, is_nothing(&place.store())), (3, true), "{}", ran.err);
        let at = format!("line {}: ", with_epoch + 1);
        assert!(ran.err.contains(&at) && ran.err.contains(why), "{why}: {}", ran.err);
        let ran = place.run_with_input(&["load", "-", "--skip-broken", "--json"], &broken);
        assert_eq!((ran.code, &ran.objects()[0]["broken"]), (0, &1.into()), "{}", ran.err);
    }
    let other = edit(with_epoch, "\"epoch\":\"", "\"epoch\":\"other ");
    let place = TestFolder::new();
    let ran = place.run_with_input(&["load", "-"], &other);
    assert_eq!((ran.code, is_nothing(&place.store())), (3, true), "{}", ran.err);
    assert!(ran.err.contains("in its first lines"), "{}", ran.err);
    // A head that is none: too long, or further down.
    let long = edit(0, "{", &format!("{{\"under\":\"{}\",", "x".repeat(5000)));
    for lines in [long, "\n".to_owned() + &export] {
        let place = TestFolder::new();
        let ran = place.run_with_input(&["load", "-"], &lines);
        assert_eq!((ran.code, is_nothing(&place.store())), (3, true), "{}", ran.err);
        assert!(ran.err.contains("does not begin with the first line"), "{}", ran.err);
    }
}

#[test]
fn truncated_export_makes_no_store() {
    let place = TestFolder::new();
    everything(&place);
    let export = place.export().into_bytes();
    let table = export.windows(8).position(|bytes| bytes == b"\"base64\"").unwrap();
    let ends = [1, 2, 20, 33, 34, 100, table, table + 300_000];
    let near_end = (2..40).step_by(5).map(|left| export.len() - left);
    // Between two lines, too.
    let line_ends: Vec<usize> = (1..export.len()).filter(|at| export[at - 1] == b'\n').collect();
    let line_ends = [0, 1, 4, 7, line_ends.len() / 2, line_ends.len() - 1].map(|n| line_ends[n]);
    for len in ends.into_iter().chain(near_end).chain(line_ends) {
        let place = TestFolder::new();
        let file = place.write("cut.jsonl", &export[..len]);
        let ran = place.run(&["load", &file]);
        assert_eq!((ran.code, is_nothing(&place.store())), (3, true), "{len}: {}", ran.err);
        assert!(ran.err.contains("cut.jsonl, line "), "{len}: {}", ran.err);
        assert_eq!(leftovers(&place), Vec::<String>::new());
        // A compressed file may be truncated, too; an empty file contains nothing.
        let packed = zstd::encode_all(&export[..], 1).unwrap();
        let packed = &packed[..(len * packed.len() / export.len()).max(1)];
        let file = place.write("cut.jsonl.zst", packed);
        let ran = place.run(&["load", &file]);
        assert!(ran.code != 0 && is_nothing(&place.store()), "{len}: {}", ran.err);
    }
    // Only the end of its last line may be missing.
    let place = TestFolder::new();
    let file = place.write("whole.jsonl", &export[..export.len() - 1]);
    place.done(&["load", &file, "--json"]);
}

#[test]
fn ingest_refuses_an_export() {
    let source = TestFolder::with(CRAWL);
    let export = source.export();
    let place = TestFolder::new();
    for more in [&[][..], &["--strict"]] {
        let ran = place.run_with_input(&[&["ingest", "-"][..], more].concat(), &export);
        assert_eq!((ran.code, place.store().exists()), (3, false), "{}", ran.err);
        assert!(ran.err.contains("line 1: ") && ran.err.contains("simkeep load"), "{}", ran.err);
    }
    // Without its first and last lines it is ordinary input.
    place.ingest(&plain(&export));
    assert_eq!(entries(&place.export()), entries(&export));
    let headless: String = export.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let ran = TestFolder::new().run_with_input(&["ingest", "-", "--json"], &headless);
    assert_eq!((ran.code, &ran.objects()[0]["broken"]), (0, &1.into()));
    assert!(ran.err.contains("does not begin with the first line"), "{}", ran.err);
}

#[test]
fn output_file_is_written_whole_or_left_unchanged() {
    let place = TestFolder::new();
    everything(&place);
    let file = place.write("out.jsonl", "before");
    // A disk that is full after a few KiB.
    let limited = "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_simkeep"), "export", "-o", &file]);
    command.env("SIMKEEP_STORE", place.store()).current_dir(place.path("."));
    let ran = ToolRun::from(command.output().unwrap());
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("cannot write") && ran.err.contains("out.jsonl"), "{}", ran.err);
    assert_eq!(std::fs::read(&file).unwrap(), b"before");
    assert_eq!(leftovers(&place), Vec::<String>::new());
    // A special file is not replaced, and no folder is created.
    std::fs::create_dir(place.path("folder")).unwrap();
    for (path, why) in [
        ("folder", "not a file"),
        ("/dev/null", "not a file"),
        ("nowhere/x", "folder does not exist"),
    ] {
        let ran = place.run(&["export", "-o", path]);
        assert!(ran.code == 5 && ran.err.contains(why), "{path}: {}", ran.err);
    }
    // A link is kept, and its target is replaced.
    std::os::unix::fs::symlink(&file, place.path("link.jsonl")).unwrap();
    let out = place.done(&["export", "-o", "link.jsonl"]);
    assert!(out.contains("entries") && out.contains("link.jsonl"), "{out}");
    assert!(place.path("link.jsonl").is_symlink());
    assert!(std::fs::read(&file).unwrap() == place.export().as_bytes());
}

/// The histories of real pages, as a store of 232 epochs: one has a table, and one has ended.
fn real(records: &[HistoryRecord], place: &TestFolder) -> Store {
    let options = Options::default()
        .durability(Durability::OnFlush)
        .memtable_observations(8192)
        .near_limit(0);
    let store = Store::create(place.store(), options).unwrap();
    let mut epoch = store.change_epoch();
    let mut last: HashMap<&str, i64> = HashMap::new();
    let (mut day, mut days) = (0, 0);
    for HistoryRecord { url, time, technical, fingerprint } in records {
        if *technical && let Some(seen) = last.get(url.as_str()) {
            if day != time / 86_400_000 {
                (day, days) = (time / 86_400_000, days + 1);
                let origin = Origin::new(Recipe::DEFAULT).extractor(&format!("day-{day}"));
                epoch = store.begin_epoch(&origin.unwrap(), Role::Both).unwrap();
                if days == 100 {
                    let with_table = table(place).0.extractor("with-table").unwrap();
                    epoch = store.begin_epoch(&with_table, Role::Both).unwrap();
                }
            }
            store.restate(Restatement::new(url, ms(*seen), *fingerprint, epoch)).unwrap();
            continue;
        }
        store.observe(Observation::content(url, ms(*time), *fingerprint, epoch)).unwrap();
        last.insert(url, *time);
    }
    assert_eq!(days, 231);
    let ended = store.snapshot().epochs()[50].epoch;
    store.end_epoch(ended, u64::MAX).unwrap();
    store
}

#[test]
fn real_histories_round_trip_through_an_export() {
    let Some(records) = histories() else { return };
    let place = TestFolder::new();
    real(&records, &place).close().unwrap();
    let export = place.done(&["export"]);
    let mut load = place.command(&["load", "-", "--store", "copy", "--json"]);
    let mut load = load.stdin(Stdio::piped()).spawn().unwrap();
    let out = load.stdin.take().unwrap();
    let piped = place.command(&["export"]).stdout(out).status().unwrap();
    let ran = ToolRun::from(load.wait_with_output().unwrap());
    assert!(piped.success() && ran.code == 0, "{}", ran.err);
    assert!(place.done(&["export", "--store", "copy"]) == export);
    assert!(described(&place, "copy") == described(&place, "store"));
    for exact in [&[][..], &["--exact"]] {
        place.same(&[&["store", "copy"], exact].concat());
    }
    // The same answers to random questions.
    let [old, new] = ["store", "copy"].map(|name| simkeep::Reader::open(place.path(name)).unwrap());
    let (old, new) = (old.snapshot(), new.snapshot());
    assert_eq!(old.epochs(), new.epochs());
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let live: Vec<Epoch> =
        old.epochs().iter().filter(|info| !info.ended).map(|info| info.epoch).collect();
    for _ in 0..10_000 {
        let HistoryRecord { url, fingerprint, .. } = &records[random(records.len())];
        match random(3) {
            0 => {
                let fingerprint = fingerprint ^ 1 << random(64) ^ 1 << random(64);
                let query = Query::new(fingerprint, u32::try_from(random(7)).unwrap())
                    .epoch(live[random(live.len())]);
                assert_eq!(old.search(&query).unwrap(), new.search(&query).unwrap());
            }
            1 => assert_eq!(old.history(url).unwrap(), new.history(url).unwrap()),
            _ => assert_eq!(old.latest(url).unwrap(), new.latest(url).unwrap()),
        }
    }
    // Cut anywhere, it is nothing.
    let cuts = std::env::var("SIMKEEP_CUTS").map_or(20, |cuts| cuts.parse().unwrap());
    for _ in 0..cuts {
        let len = 1 + random(export.len() - 2);
        let file = place.write("cut.jsonl", &export.as_bytes()[..len]);
        let ran = place.run(&["load", &file, "--store", "cut"]);
        assert_eq!((ran.code, is_nothing(&place.path("cut"))), (3, true), "{len}: {}", ran.err);
    }
}
