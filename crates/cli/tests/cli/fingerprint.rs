//! `fingerprint` and `evaluate`.

use std::fmt::Write as _;

use simkeep::fingerprint::{Fingerprinter, Recipe, extract, of_text};

use super::*;

const PAGE: &str = "<title>Terms of use</title><p>We may <b>change</b> these terms at any time. If we \
                    change these terms, we will tell you.<script>var x</script>";
const TEXT: &str = "Terms of use\nWe may change these terms at any time. If we change these terms, we \
                    will tell you.";

#[test]
fn files_and_standard_input_have_fingerprints() {
    let place = Place::new();
    let page = place.write("page.html", PAGE);
    let text = place.write("text.txt", TEXT);
    let expected = format!("{:016x}", of_text(TEXT));
    let out = place.done(&["fingerprint", &page, &text]);
    assert_eq!(out, format!("{expected}  {page}\n{expected}  {text}\n"));
    for args in [&["fingerprint"][..], &["fingerprint", "-"]] {
        let ran = place.run_with_input(args, TEXT);
        assert_eq!((ran.code, ran.out), (0, format!("{expected}  -\n")));
    }
    let strict = place.run(&["fingerprint", &text, "--recipe", "strict", "--json"]).objects();
    let recipe: Recipe = "strict".parse().unwrap();
    let fingerprint = Fingerprinter::new(&recipe).unwrap().of_text(TEXT).unwrap();
    assert_eq!(strict[0]["fingerprint"], format!("{fingerprint:016x}"));
    assert_eq!(
        (&strict[0]["recipe"], &strict[0]["name"]),
        (&"strict".into(), &"words3-sqrt/1".into())
    );
    assert!(!place.store().exists());
}

#[test]
fn an_explanation_names_features_and_bits() {
    let place = Place::new();
    let text = place.write("text.txt", TEXT);
    let args = ["fingerprint", &text, "--explain", "--features", "2"];
    let out = place.done(&args);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].ends_with("17 features, 17 of them vote"), "{out}");
    assert!(lines[2].ends_with("%      2 times  change these"), "{out}");
    assert!(lines[3].ends_with("%      2 times  these terms"), "{out}");
    assert!(lines[4].starts_with("  bits nearest to flipping: "), "{out}");
    let object = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
    assert_eq!(object["heaviest"].as_array().unwrap().len(), 2);
    assert_eq!((&object["features"], &object["voting"]), (&17.into(), &17.into()));
    assert_eq!(object["balance"].as_array().unwrap().len(), 64);
    let bits = object["balance"].as_array().unwrap().iter().zip(0..);
    let bits = bits.map(|(balance, bit)| u64::from(balance.as_f64().unwrap() > 0.0) << bit);
    assert_eq!(object["fingerprint"], format!("{:016x}", bits.sum::<u64>()));
}

#[test]
fn recipes_are_listed_and_mistaken_ones_refused() {
    let place = Place::new();
    let out = place.done(&["fingerprint", "--recipes"]);
    assert!(out.lines().next().unwrap().starts_with("default           words2-sqrt/1"), "{out}");
    assert_eq!(out.lines().count(), Recipe::PRESETS.len());
    for (recipe, why) in [
        ("words2", "names no version"),
        ("\u{1b}[31m", "names no version"),
        ("words-idf", "needs a table of document frequencies"),
    ] {
        let ran = place.run_with_input(&["fingerprint", "--recipe", recipe], "x");
        assert_ne!(ran.code, 0);
        assert!(ran.err.contains(why) && !ran.err.contains('\u{1b}'), "{}", ran.err);
    }
    let binary = place.write("x.bin", [0u8, 1, 2, 3]);
    assert_eq!(place.run(&["fingerprint", &binary]).code, 2);
    assert_eq!(place.run(&["fingerprint", "not-there"]).code, 5);
    // One that has none does not keep others from theirs.
    let text = place.write("text.txt", TEXT);
    let ran = place.run(&["fingerprint", "not-there", &text, &binary]);
    assert_eq!((ran.code, ran.out), (5, format!("{:016x}  {text}\n", of_text(TEXT))));
    assert!(ran.err.contains("x.bin is no text") && ran.err.contains("2 of 3 files have no"));
}

/// Groups of three documents: two that differ in one word of forty, and another with half of their
/// words.
fn documents() -> (String, String) {
    let (mut documents, mut pairs) = (String::new(), String::new());
    for group in 0..20 {
        let words = |of: &str| (0..40).map(move |n| format!("{of}{group}x{n}")).collect::<Vec<_>>();
        let first = words("w");
        let mut second = first.clone();
        second[20] = "other".into();
        let third = [&first[..20], &words("v")[20..]].concat();
        for (name, words) in [("a", first), ("b", second), ("c", third)] {
            let object =
                serde_json::json!({"id": format!("{group}{name}"), "text": words.join(" ")});
            writeln!(documents, "{object}").unwrap();
        }
        writeln!(pairs, "{group}a\t{group}b\t0.9\n{group}a\t{group}c\t0.6").unwrap();
    }
    // The same words again, too few, and a pair of documents that are not there.
    documents += "{\"id\": \"again\", \"text\": \"W0X0 ";
    documents += &(1..40).map(|n| format!("w0x{n} ")).collect::<String>();
    documents += "\"}\n{\"id\": \"few\", \"text\": \"w0x0 w0x1\"}\n";
    pairs += "again\t0a\t1\nnobody\tnobody else\t1\n";
    (documents, pairs)
}

#[test]
fn recipes_are_evaluated_by_labelled_pairs() {
    let place = Place::new();
    let (documents, pairs) = documents();
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", pairs);
    let all = place.run(&["evaluate", &documents, "--pairs", &pairs, "--json"]).objects();
    assert_eq!(all.len(), Recipe::PRESETS.len() + 4);
    // The same by a loop over all pairs: the three of a group follow each other.
    let lines = std::fs::read_to_string(&documents).unwrap();
    let texts = lines.lines().take(60).map(|line| -> Value { serde_json::from_str(line).unwrap() });
    let fingerprints: Vec<u64> =
        texts.map(|text| of_text(text["text"].as_str().unwrap())).collect();
    let default = all.iter().find(|object| object["recipe"] == "default").unwrap();
    assert_eq!(default["name"], "words2-sqrt/1");
    for k in 0..21 {
        let (mut found, mut lenient, mut strict) = (0u32, 0u32, 0u32);
        for (b, a) in (0..60).flat_map(|b| (0..b).map(move |a| (b, a))) {
            if (fingerprints[a] ^ fingerprints[b]).count_ones() <= k {
                found += 1;
                lenient += u32::from(a % 3 == 0 && b / 3 == a / 3);
                strict += u32::from(a % 3 == 0 && b == a + 1);
            }
        }
        let share = |part: u32, of: u32| (of > 0).then(|| f64::from(part) / f64::from(of));
        let expected = serde_json::json!({
            "k": k,
            "pairs": found,
            "lenient": share(lenient, found),
            "strict": share(strict, found),
            "recall": share(strict, 20),
        });
        // Read as the other was: the last digit of a number may differ from what was written.
        let expected: Value = serde_json::from_str(&expected.to_string()).unwrap();
        assert_eq!(default["at"][k as usize], expected);
    }
    assert!(all.iter().all(|object| object["at"].as_array().unwrap().len() == 21));
    let out = place
        .done(&["evaluate", &documents, "--pairs", &pairs, "--recipe", "strict", "-k", "3,20"]);
    let heading = "60 documents; 40 pairs are near from 0.5 on, 20 from 0.8 on";
    assert!(out.starts_with(heading), "{out}");
    assert!(out.lines().nth(2).unwrap().starts_with("strict "), "{out}");
}

#[test]
fn what_cannot_be_evaluated_is_named_with_its_line() {
    let place = Place::new();
    let good = place.write("good.jsonl", "{\"id\": \"a\", \"text\": \"x\"}\n");
    let pairs = place.write("pairs.tsv", "a\tb\n");
    for (documents, pairs_text, why) in [
        ("{\"id\": 1, \"text\": \"x\"}\n", "", "bad.jsonl, line 1: \"id\" and \"text\""),
        ("\n{\"id\": \"a\", \"text\": \"x\"}\n[]\n", "", "bad.jsonl, line 3: no object"),
        ("{", "", "bad.jsonl, line 1: "),
        ("", "a b 1\n", "bad.tsv, line 1: no two ids"),
        ("", "a\ta\t1\n", "bad.tsv, line 1: a document is no pair with itself"),
        (
            "{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"a\", \"text\": \"y\"}\n",
            "",
            "bad.jsonl, line 2: a document with this \"id\"",
        ),
        ("", "a\tb\t1\na\tb\t7\n", "bad.tsv, line 2: the third field"),
    ] {
        let documents = place.write("bad.jsonl", documents);
        let bad_pairs = place.write("bad.tsv", pairs_text);
        let ran = place.run(&["evaluate", &documents, "--pairs", &bad_pairs]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    assert_eq!(place.run(&["evaluate", &good, "--pairs", "not-there"]).code, 5);
    let pairs = ["evaluate", &good, "--pairs", &pairs];
    for mistaken in [["-k", "21"], ["--strict", "nan"], ["--lenient", "1.1"], ["--strict", "0.4"]] {
        assert_eq!(place.run(&[&pairs[..], &mistaken].concat()).code, 2, "{mistaken:?}");
    }
}

/// Real documents, with their resemblances; beside the project, if they are at hand.
fn real(name: &str) -> Option<String> {
    let path = format!("{}/../../../shared/data/quality/{name}", env!("CARGO_MANIFEST_DIR"));
    let there = Path::new(&path).exists();
    if !there {
        println!("skipped: {path} is not there");
    }
    there.then_some(path)
}

#[test]
fn on_real_documents_the_presets_are_as_good_as_they_are_said_to_be() {
    let (Some(documents), Some(pairs)) = (real("ota.jsonl.zst"), real("ota-pairs.tsv.gz")) else {
        return;
    };
    let place = Place::new();
    let out = place.done(&[
        "evaluate", &documents, "--pairs", &pairs, "--recipe", "default", "--recipe", "strict",
        "--json",
    ]);
    let objects = objects(&out);
    let at = |recipe: usize, k: usize, what: &str| objects[recipe]["at"][k][what].as_f64().unwrap();
    let (lenient, strict, recall) = (at(0, 3, "lenient"), at(0, 3, "strict"), at(0, 3, "recall"));
    println!("default within 3: {lenient:.3} / {strict:.3} / {recall:.3}");
    assert!(lenient >= 0.99 && strict >= 0.96 && recall >= 0.57);
    let (strict, recall) = (at(1, 7, "strict"), at(1, 7, "recall"));
    println!("strict within 7: {strict:.3} / {recall:.3}");
    assert!(strict >= 0.90 && recall >= 0.83);
    let heading = place.done(&["evaluate", &documents, "--pairs", &pairs, "--recipe", "strict"]);
    assert!(heading.starts_with("4,860 documents; "), "{heading}");
}

#[test]
fn real_pages_that_did_not_change_are_near_and_changed_ones_are_told_apart() {
    let Some(path) = real("otahtml.jsonl.zst") else { return };
    let file = std::fs::File::open(path).unwrap();
    let mut decoder = zstd::Decoder::new(file).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut decoder, &mut lines).unwrap();
    // Page, time, which content it is, its fingerprint, its words.
    let mut snapshots: Vec<(String, i64, String, u64, Vec<String>)> = Vec::new();
    for line in lines.lines() {
        let snapshot: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| snapshot[key].as_str().unwrap().to_owned();
        let text = extract(&word("text")).into_text();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words = words.map(str::to_lowercase).collect();
        let time = snapshot["ts"].as_i64().unwrap();
        snapshots.push((word("cluster"), time, word("label"), of_text(&text), words));
    }
    snapshots.sort();
    // Pairs of one page's snapshots in a row: how many there are, and how many of them are so.
    let (mut same, mut near, mut changed, mut of_same_words, mut unnoticed) = (0, 0, 0, 0, 0);
    for pair in snapshots.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let distance = (pair[0].3 ^ pair[1].3).count_ones();
        if pair[0].2 == pair[1].2 {
            same += 1;
            near += u32::from(distance <= 3);
        } else if pair[0].4 == pair[1].4 {
            // What changed is markup, links or punctuation.
            of_same_words += 1;
        } else {
            changed += 1;
            unnoticed += u32::from(distance == 0);
        }
    }
    println!(
        "{near} of {same} that did not change are near; of {changed} whose words changed {unnoticed} \
         are equal, and {of_same_words} changed in something else"
    );
    assert!(f64::from(near) >= 0.9 * f64::from(same));
    assert!(f64::from(unnoticed) <= 0.2 * f64::from(changed));
}
