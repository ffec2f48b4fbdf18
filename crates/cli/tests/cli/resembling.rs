//! Deduplication decided by texts.

use std::collections::HashMap;

use simkeep::fingerprint::{BitSketch, BitSketcher, Fingerprinter, Recipe};

use super::filtered::words;
use super::*;

/// A document: its name, and its text.
type TestDocument = (String, String);

/// The page that is kept in place of a document, and their resemblance.
type TestOriginal = (String, Option<f64>);

/// Families of similar texts, copies, and short texts.
fn documents(families: u64) -> Vec<TestDocument> {
    let mut documents = Vec::new();
    for family in 0..families {
        let first = words(family, 300);
        for changed in [0, 0, 1, 3, 6, 12, 24, 48, 150] {
            let mut n = 0;
            let others = first.split_inclusive(' ').map(|word| {
                n += 1;
                if changed > 0 && n % (300 / changed) == 0 {
                    format!("x{family}-{n} ")
                } else {
                    word.to_owned()
                }
            });
            let text = others.collect::<String>();
            documents.push((format!("doc-{:04}", documents.len()), text));
        }
    }
    documents.push(("few-1".to_owned(), "a few words".to_owned()));
    documents.push(("few-2".to_owned(), "a few words".to_owned()));
    documents
}

/// The expected leader and resemblance of each dropped document, by a plain loop. Short texts have no
/// resemblance, and are dropped if they are equal.
fn dropped(documents: &[TestDocument], k: u32, share: f64) -> HashMap<String, TestOriginal> {
    let (mut fingerprinter, mut sketcher) =
        (Fingerprinter::new(&Recipe::DEFAULT).unwrap(), BitSketcher::new());
    let mut leaders: Vec<(&str, u64, BitSketch)> = Vec::new();
    let mut dropped = HashMap::new();
    let mut short: HashMap<&str, &str> = HashMap::new();
    for (name, text) in documents {
        if text.split(' ').count() < 8 {
            let first = *short.entry(text).or_insert(name);
            if first != name {
                dropped.insert(name.clone(), (first.to_owned(), None));
            }
            continue;
        }
        let own = (fingerprinter.of_text(text).unwrap(), sketcher.of_text(text));
        let near = leaders.iter().enumerate().filter_map(|(n, (_, fingerprint, sketch))| {
            let apart = sketch.distance(&own.1);
            let is_near =
                (fingerprint ^ own.0).count_ones() <= k && sketch.resemblance(&own.1) >= share;
            is_near.then_some((apart, n))
        });
        match near.min() {
            Some((apart, n)) => {
                let common = 1.0 - f64::from(apart) / 256.0;
                dropped.insert(name.clone(), (leaders[n].0.to_owned(), Some(common)));
            }
            None => leaders.push((name, own.0, own.1)),
        }
    }
    dropped
}

/// Writes documents to three files, and loads them.
fn load(place: &TestFolder, documents: &[TestDocument]) -> Vec<String> {
    let line = |(id, text): &TestDocument| json!({"id": id, "text": text}).to_string() + "\n";
    let files: Vec<String> = (0..3)
        .map(|file| {
            let lines = documents.iter().skip(file).step_by(3).map(line).collect::<String>();
            place.write(&format!("corpus/{file}.jsonl"), lines)
        })
        .collect();
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    place.done(&[&["load", "--url-key", "id", "--at", "2024-01-01"], &words[..]].concat());
    files
}

#[test]
fn texts_decide_what_is_dropped() {
    let (place, documents) = (TestFolder::new(), documents(60));
    let files = load(&place, &documents);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for (share, k, to) in [("0.8", None, "a"), ("0.5", Some("20"), "b"), ("1", Some("0"), "c")] {
        let bits = k.unwrap_or("10");
        let expected = dropped(&documents, bits.parse().unwrap(), share.parse().unwrap());
        let k: Vec<&str> = k.into_iter().flat_map(|k| ["-k", k]).collect();
        let args =
            ["dedup", "--resemblance", share, "--url-key", "id", "--to", to, "--json", "--filter"];
        let ran = place.run(&[&args[..], &files, &["--limit", "9999"], &k].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let objects = ran.objects();
        let plan = objects.iter().filter(|of| of["kept"].is_string()).map(|of| {
            let of_key = |key: &str| of[key].as_str().unwrap().to_owned();
            (of_key("url"), (of_key("kept"), of["resemblance"].as_f64()))
        });
        let plan: HashMap<_, _> = plan.collect();
        assert!(plan == expected, "{plan:?} and not {expected:?}");
        assert!(plan.len() >= 60, "{}", plan.len());
        let whole = &objects[0];
        assert_eq!(whole["resemblance"], share.parse::<f64>().unwrap());
        assert_eq!(whole["dropped"], expected.len());
        // The output has the documents that are not dropped.
        let mut kept: Vec<String> = (0..3)
            .flat_map(|file| {
                let written = std::fs::read_to_string(place.path(&format!("{to}/{file}.jsonl")));
                super::objects(&written.unwrap())
            })
            .map(|line| line["id"].as_str().unwrap().to_owned())
            .collect();
        kept.sort();
        let all = documents.iter().map(|(name, _)| name.clone());
        assert_eq!(kept, all.filter(|name| !expected.contains_key(name)).collect::<Vec<_>>());
    }
}

#[test]
fn resemblance_is_listed_next_to_the_distance() {
    let place = TestFolder::new();
    let first = words(1, 200);
    let documents = [first.clone(), first.clone() + &words(3, 8), words(2, 200)]
        .map(|text| ("doc".to_owned(), text));
    let documents: Vec<TestDocument> =
        (1..).zip(documents).map(|(n, (name, text))| (format!("{name}-{n}"), text)).collect();
    let files = load(&place, &documents);
    let args = ["dedup", "--resemblance", "0.8", "--url-key", "id", "--to", "to", "--limit", "5"];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let shown = place.done(&[&args[..], &["--filter"], &files].concat());
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with(
        "3 pages, compared within 10 bits with a resemblance of at least 0.8 (2 texts), leaders by first-seen: 2 to keep"
    ));
    let cells: Vec<&str> = lines[1].split_whitespace().collect();
    assert_eq!(cells[2..], ["near", "2", "doc-2", "doc-1"], "{shown}");
    assert!((0.9..1.0).contains(&cells[1].parse::<f64>().unwrap()), "{shown}");
}

#[test]
fn changed_texts_are_not_dropped() {
    let place = TestFolder::new();
    let text = words(3, 200);
    let document = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    load(&place, &[document("a", &text), document("b", &text), document("c", &text)]);
    // The corpus has another text under these names now, or none.
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let other = line("a", &text) + &line("b", &words(4, 200)) + "{\"id\":\"c\"}\n";
    let file = place.write("other.jsonl", other);
    let args = ["dedup", "--resemblance", "0.5", "--url-key", "id", "--json", "--to", "to"];
    let ran = place.run(&[&args[..], &["--filter", &file]].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.objects()[0]["dropped"], 0);
    let written = std::fs::read(place.path("to/other.jsonl")).unwrap();
    assert_eq!(written, std::fs::read(place.path("other.jsonl")).unwrap());
}

#[test]
fn one_large_file_is_read_by_several_threads() {
    let (place, documents) = (TestFolder::new(), documents(300));
    let line = |(id, text): &TestDocument| json!({"id": id, "text": text}).to_string() + "\n";
    let file = place.write("large.jsonl", documents.iter().map(line).collect::<String>());
    place.done(&["load", "--url-key", "id", "--at", "2024-01-01", &file]);
    let args = ["dedup", "--resemblance", "0.8", "--url-key", "id", "--json", "--limit", "9999"];
    let plan = |threads: &str| {
        let more = ["--threads", threads, "--filter", &file, "--to", threads];
        let mut objects = place.run(&[&args[..], &more].concat()).objects();
        assert!(objects.pop().unwrap()["left_out"].as_u64() > Some(300));
        objects
    };
    let (one, four) = (plan("1"), plan("4"));
    assert_eq!(one, four);
    assert!(one[0]["compared"].as_u64() > Some(1500), "{}", one[0]);
}

#[test]
fn lines_of_all_kinds_keep_their_place() {
    let (place, mut loaded) = (TestFolder::new(), documents(20));
    // Lines too long to be processed together with others.
    let long = words(1_000, 60_000);
    loaded.insert(40, ("long-1".to_owned(), long.clone()));
    loaded.insert(90, ("long-2".to_owned(), long + "and one more"));
    let line = |(id, text): &TestDocument| json!({"id": id, "text": text}).to_string() + "\n";
    let mut lines: Vec<String> = loaded.iter().map(line).collect();
    let file = place.write("loaded.jsonl", lines.concat());
    place.done(&["load", "--url-key", "id", "--at", "2024-01-01", &file]);
    let strange = [
        "\n".to_owned(),
        "{\"id\": broken\n".to_owned(),
        line(&("unknown".to_owned(), loaded[0].1.clone())),
        // It has the name of a dropped page, with another text.
        line(&(loaded[1].0.clone(), words(7, 100))),
        line(&loaded[1]),
    ];
    for (n, strange) in strange.iter().enumerate() {
        lines.insert(30 + 20 * n, strange.clone());
    }
    let mut dropped: HashMap<String, u64> = HashMap::new();
    for mark in [false, true] {
        let file = place.write("corpus.jsonl", lines.concat());
        let to = if mark { "marked" } else { "left" };
        let args =
            ["dedup", "--resemblance", "0.8", "--url-key", "id", "--json", "--limit", "9999"];
        let more = ["--filter", &file, "--to", to];
        let mark: &[&str] = if mark { &["--mark"] } else { &[] };
        let ran = place.run(&[&args[..], &more, mark].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let objects = ran.objects();
        for page in objects.iter().filter(|of| of["kept"].is_string()) {
            dropped.insert(
                page["url"].as_str().unwrap().to_owned(),
                page["distance"].as_u64().unwrap(),
            );
        }
        assert!(dropped.contains_key("long-2") && dropped.contains_key(&loaded[1].0));
        let written = std::fs::read_to_string(place.path(&format!("{to}/corpus.jsonl"))).unwrap();
        let mut written = written.split_inclusive('\n');
        let mut gone = 0_u64;
        for (n, line) in lines.iter().enumerate() {
            let value: Option<serde_json::Value> = serde_json::from_str(line).ok();
            let id = value.as_ref().and_then(|value| value["id"].as_str());
            let distance = id.and_then(|id| dropped.get(id)).filter(|_| *line != strange[3]);
            match distance {
                Some(_) if mark.is_empty() => gone += 1,
                Some(distance) => {
                    let marked: serde_json::Value =
                        serde_json::from_str(written.next().unwrap()).unwrap();
                    assert_eq!(
                        (marked["id"].as_str(), &marked["distance"]),
                        (id, &json!(distance))
                    );
                    gone += 1;
                }
                None => assert!(written.next() == Some(line), "line {n}"),
            }
        }
        assert_eq!(written.next(), None);
        let counts = objects.last().unwrap();
        let expected = json!({"documents": lines.len() - 1, "unknown": 1, "broken": 1,
            "other_text": 1, "left_out": if mark.is_empty() { gone } else { 0 },
            "marked": if mark.is_empty() { 0 } else { gone }});
        for (key, expected) in expected.as_object().unwrap() {
            assert_eq!(&counts[key], expected, "{key}");
        }
    }
}

#[test]
fn document_without_its_compared_text_is_kept() {
    let documents = documents(3);
    let mut fingerprinter = Fingerprinter::new(&Recipe::DEFAULT).unwrap();
    for has_digests in [true, false] {
        let place = TestFolder::new();
        let loaded: String = documents
            .iter()
            .map(|(id, text)| {
                let print = format!("{:016x}", fingerprinter.of_text(text).unwrap());
                match has_digests {
                    true => json!({"url": id, "t": 1, "text": text}),
                    false => json!({"url": id, "t": 1, "fingerprint": print}),
                }
                .to_string()
                    + "\n"
            })
            .collect();
        place.done(&["load", &place.write("loaded.jsonl", loaded)]);
        let line = |(id, text): &TestDocument| json!({"url": id, "text": text}).to_string() + "\n";
        let mut lines: Vec<String> = documents.iter().map(line).collect();
        // Of a page that is dropped for its text: no text, no words, and what is none.
        let strange =
            ["", ",\"text\":\"\"", ",\"text\":\"!!! ...\"", ",\"text\":7", ",\"content\":\"x\""]
                .map(|more| format!("{{\"url\":\"{}\"{more}}}\n", documents[1].0));
        lines.extend(strange.clone());
        let file = place.write("corpus.jsonl", lines.concat());
        let args = ["dedup", "--resemblance", "0.8", "--json", "--limit", "99", "--to", "to"];
        let ran = place.run(&[&args[..], &["--filter", &file]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let objects = ran.objects();
        assert!(objects.iter().any(|of| of["url"] == documents[1].0 && of["kept"].is_string()));
        let counts = objects.last().unwrap();
        assert_eq!(counts["other_text"], strange.len(), "{has_digests}");
        let written = std::fs::read_to_string(place.path("to/corpus.jsonl")).unwrap();
        assert!(written.ends_with(&strange.concat()), "{has_digests}: {written}");
        assert!(!written.contains(&line(&documents[1])));
    }
}

/// The files of a new shard do not have the texts that the store knew before.
#[test]
fn exact_copies_of_earlier_texts_are_dropped_without_them() {
    let place = TestFolder::new();
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let [one, two, three] = [1, 2, 3].map(|seed| words(seed, 200));
    let old = place.write("old.jsonl", line("z-1", &one) + &line("z-2", &two));
    let near = two.clone() + "and a few words";
    let new = line("a-1", &one) + &line("a-2", &near) + &line("a-3", &three);
    let new = place.write("new.jsonl", new);
    for (file, day) in [(&old, "2024-01-01"), (&new, "2024-01-02")] {
        place.done(&["load", "--url-key", "id", "--at", day, file]);
    }
    let dedup = |to: &str, files: &[&str]| {
        let args = ["dedup", "--resemblance", "0.8", "--url-key", "id", "--to", to, "--json"];
        let ran = place.run(&[&args[..], &["--limit", "9", "--filter"], files].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        let plan = ran.objects();
        let plan = plan.iter().filter(|page| page["kept"].is_string());
        let plan = plan.map(|page| {
            let text = |key: &str| page[key].as_str().unwrap().to_owned();
            [text("url"), text("kept"), text("reason")].join(" ")
        });
        (plan.collect::<Vec<_>>(), ran.err)
    };
    let warning = "1 text could not be compared with the page that would be kept";
    let (plan, said) = dedup("one", &[&new]);
    assert_eq!(plan, ["a-1 z-1 same-digest"]);
    assert!(said.contains(warning), "{said}");
    let written = std::fs::read_to_string(place.path("one/new.jsonl")).unwrap();
    assert_eq!(written, line("a-2", &near) + &line("a-3", &three));
    let (plan, said) = dedup("both", &[&new, &old]);
    assert_eq!(plan, ["a-1 z-1 same-digest", "a-2 z-2 near"]);
    assert!(!said.contains("could not be compared"), "{said}");
    // The files have another text under the name of the earlier document.
    let changed = place.write("changed.jsonl", line("z-1", &three));
    let (plan, _) = dedup("changed", &[&new, &changed]);
    assert!(plan.is_empty(), "{plan:?}");
}

#[test]
fn missing_text_comparison_is_reported() {
    let place = TestFolder::new();
    let text = words(3, 200);
    load(&place, &["a", "b"].map(|name| (name.to_owned(), text.clone())));
    let file = place.write("other.jsonl", "{\"id\":\"a\",\"text\":\"other\"}\n");
    let args =
        ["dedup", "--resemblance", "0.5", "--url-key", "id", "--to", "to", "--filter", &file];
    let ran = place.run(&args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("no text was compared"), "{}", ran.err);
}

#[test]
fn sample_with_texts_is_reviewed_without_copies() {
    let (place, documents) = (TestFolder::new(), documents(10));
    let files = load(&place, &documents);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let args = ["dedup", "--resemblance", "0.8", "--url-key", "id", "--json", "--filter"];
    let args = [&args[..], &files].concat();
    let plan = place.run(&args).objects();
    let copied = place.run(&[&args[..], &["--limit", "all", "--to", "to"]].concat()).objects();
    // The copies add their counts, and change nothing else.
    assert_eq!(plan, copied[..copied.len() - 1]);
    assert!(plan.len() > 20 && plan[1]["resemblance"].is_number(), "{plan:?}");
    let shown = place.with_header(&[&args[..5], &["--sample", "1", "--filter"], &files].concat());
    assert!(shown.contains("\nbits  alike  reason"), "{shown}");
    let ran = place.run(&[&["dedup", "--filter"], &files[..]].concat());
    assert!(ran.code == 2 && ran.err.contains("--to, or compare the texts"), "{}", ran.err);
    assert_eq!(place.run(&[&args[..], &["--mark"]].concat()).code, 2);
}

#[test]
fn invalid_options_are_refused() {
    let place = TestFolder::new();
    let file = place.write("x.jsonl", "");
    for args in [
        &["--resemblance", "0.8"][..],
        &["--resemblance", "1.1", "--filter", &file, "--to", "to"],
        &["--resemblance", "NaN", "--filter", &file, "--to", "to"],
        &["--resemblance", "0.8", "--any-text", "--filter", &file, "--to", "to"],
    ] {
        assert_eq!(place.run(&[&["dedup"], args].concat()).code, 2, "{args:?}");
    }
}
