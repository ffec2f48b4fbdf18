//! `evaluate`.

use std::collections::HashSet;
use std::fmt::Write as _;

use simkeep::fingerprint::{Recipe, of_text};

use simkeep_testing::real_data_path;

use super::*;

/// Groups of three documents: two that differ in one word of forty, and a third with half of their
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
    // A document with the same words, one with too few, an empty one, and a pair with a document that is
    // left out.
    documents += "{\"id\": \"again\", \"text\": \"W0X0 ";
    documents += &(1..40).map(|n| format!("w0x{n} ")).collect::<String>();
    documents +=
        "\"}\n{\"id\": \"few\", \"text\": \"w0x0 w0x1\"}\n{\"id\": \"none\", \"text\": \"!\"}\n";
    pairs += "again\t0a\t1\nfew\tnone\t1\n";
    (documents, pairs)
}

#[test]
fn broken_documents_are_skipped_on_request() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let whole = place.write("whole.jsonl", &documents);
    let some = place.write("some.jsonl", "{\"id\":\"b\",\"text\":null}\n".to_owned() + &documents);
    let pairs = place.write("pairs.tsv", pairs);
    let args = ["--pairs", &pairs, "--recipe", "default"];
    let ran = place.run(&[&["evaluate", &some], &args[..]].concat());
    let why = "line 1: b: \"text\" is missing or not a string; ";
    let ending = format!("{why}--skip-broken skips broken records");
    assert!(ran.code == 3 && ran.err.contains(&ending), "{}", ran.err);
    let ran = place.run(&[&["evaluate", &some, "--skip-broken"], &args[..]].concat());
    assert!(ran.code == 0 && ran.err.contains(&format!("{why}skipped")), "{}", ran.err);
    assert_eq!(ran.out, place.done(&[&["evaluate", &whole], &args[..]].concat()));
}

#[test]
fn recipes_are_evaluated_with_labelled_pairs() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", pairs);
    let all = place.run(&["evaluate", &documents, "--pairs", &pairs, "--json"]).objects();
    let (all, signatures) = all.split_at(Recipe::PRESETS.len() + 4);
    let names: Vec<&Value> = signatures.iter().map(|object| &object["name"]).collect();
    assert_eq!(names, ["imatch", "imatch-10", "supershingles"]);
    assert!(signatures.iter().all(|object| object["by_distance"].as_array().unwrap().len() == 1));
    // The expected result by a loop over all pairs: the three documents of a group follow each other.
    let lines = std::fs::read_to_string(&documents).unwrap();
    let texts = lines.lines().take(60).map(|line| -> Value { serde_json::from_str(line).unwrap() });
    let fingerprints: Vec<u64> =
        texts.map(|text| of_text(text["text"].as_str().unwrap()).unwrap()).collect();
    let default = all.iter().find(|object| object["name"] == "default").unwrap();
    assert_eq!(default["recipe"], "words2-sqrt/2");
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
            "pairs": f64::from(found),
            "lenient": share(lenient, found),
            "strict": share(strict, found),
            "recall": share(strict, 20),
            "f1": share(2 * strict, found + 20),
            "deviation": null,
        });
        // Read as the other was: the last digit of a number may differ from what was written.
        let expected: Value = serde_json::from_str(&expected.to_string()).unwrap();
        assert_eq!(default["by_distance"][k as usize], expected);
    }
    assert!(all.iter().all(|object| object["by_distance"].as_array().unwrap().len() == 21));
    assert_eq!(default["documents"], 60);
    assert_eq!(
        default["left_out"],
        json!({"empty_documents": 1, "short_documents": 1, "equal_documents": 1})
    );
    assert_eq!(default["near_pairs"], json!({"lenient": 40, "strict": 20}));
    assert_eq!(default["advised"], default["by_distance"][3]);
    let f1 = |score: &Value| score["f1"].as_f64().unwrap();
    let best = default["by_distance"].as_array().unwrap().iter().map(f1).fold(0.0, f64::max);
    assert_eq!(f1(&default["best"]), best);
}

#[test]
fn table_shows_requested_advised_and_best_distances() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", pairs);
    let args = ["evaluate", &documents, "--pairs", &pairs];
    let out = place.done(&[&args[..], &["--recipe", "strict", "-k", "3,20"]].concat());
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[0],
        "60 documents; 40 pairs are near by the lenient share of 0.5, 20 by the strict share of 0.8"
    );
    assert_eq!(
        lines[1],
        "3 documents are left out: 1 without words, 1 too short, 1 with the same words as another document"
    );
    let shown = |line: &&str| line[26..30].trim().to_owned();
    let rows: Vec<String> = lines[2..].iter().map(shown).collect();
    assert!(lines[2].starts_with("strict ") && rows[0] == "3", "{out}");
    assert!(rows.contains(&"5".into()) && rows.contains(&"20".into()), "{out}");
    assert!(out.contains("  advised") && out.contains("best\n"), "{out}");
    let wide = place.done(&[&args[..], &["--seeds", "2"]].concat());
    assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
    assert!(wide.contains(" ±."), "{wide}");
}

#[test]
fn several_seeds_give_mean_and_deviation() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", pairs);
    let run = |recipes: &[&str], seeds: &str| {
        let mut args = vec!["evaluate", &documents, "--pairs", &pairs, "--json", "--seeds", seeds];
        recipes.iter().for_each(|recipe| args.extend(["--recipe", recipe]));
        place.run(&args).objects()
    };
    let mean = run(&["near"], "3").remove(0);
    let each = ["near", "words4-minwise-seed1/2", "words4-minwise-seed2/2"];
    let each = run(&each, "1");
    for k in 0..21 {
        for what in ["pairs", "lenient", "strict", "recall", "f1"] {
            let known: Vec<f64> =
                each.iter().filter_map(|object| object["by_distance"][k][what].as_f64()).collect();
            let (many, sum) = (known.len() as f64, known.iter().sum::<f64>());
            let squares = known.iter().map(|share| (share - sum / many).powi(2)).sum::<f64>();
            let at = &mean["by_distance"][k];
            assert!(known.is_empty() || (at[what].as_f64().unwrap() - sum / many).abs() < 1e-9);
            let deviation = (known.len() > 1).then(|| (squares / (many - 1.0)).sqrt());
            let found = at["deviation"][what].as_f64();
            assert_eq!(found.is_some(), deviation.is_some(), "{what} at {k}");
            assert!((found.unwrap_or(0.0) - deviation.unwrap_or(0.0)).abs() < 1e-9);
        }
    }
    assert!(mean["by_distance"][3]["deviation"]["f1"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (&mean["seeds"], &each[0]["by_distance"][3]["deviation"]),
        (&json!(3), &Value::Null)
    );
}

#[test]
fn documents_without_labels_make_their_own_pairs() {
    let place = TestFolder::new();
    // Texts from a small vocabulary: some resemble each other, and some are equal.
    let mut state = 7u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut texts, mut documents) = (Vec::<Vec<String>>::new(), String::new());
    for number in 0..120 {
        let mut words: Vec<String> = match texts.len() {
            many @ 1.. if number % 3 > 0 => texts[random(many)].clone(),
            _ => (0..8 + random(40)).map(|_| format!("w{}", random(30))).collect(),
        };
        for _ in 0..random(4) {
            let at = random(words.len());
            words[at] = format!("v{}", random(9));
        }
        let object = json!({"id": number.to_string(), "text": words.join(" ")});
        writeln!(documents, "{object}").unwrap();
        texts.push(words);
    }
    let sets: Vec<HashSet<&[String]>> =
        texts.iter().map(|text| text.windows(2).collect()).collect();
    let mut pairs = String::new();
    for (b, a) in (0..120).flat_map(|b| (0..b).map(move |a| (b, a))) {
        let (common, all) =
            (sets[a].intersection(&sets[b]).count(), sets[a].union(&sets[b]).count());
        writeln!(pairs, "{a}\t{b}\t{}", common as f64 / all as f64).unwrap();
    }
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", pairs);
    let by = |known: [&str; 2], threads: &str| {
        let args = ["evaluate", &documents, known[0], known[1], "--lenient-share", "0.2", "--json"];
        place.done(&[&args[..], &["--recipe", "near", "--threads", threads]].concat())
    };
    let found = by(["--shingles", "2"], "1");
    assert_eq!(found, by(["--pairs", &pairs], "1"));
    assert_eq!(found, by(["--shingles", "2"], "3"));
    let near = &objects(&found)[0]["near_pairs"];
    assert!(
        near["strict"].as_u64() > Some(20) && near["lenient"].as_u64() > near["strict"].as_u64()
    );
    assert_ne!(found, by(["--shingles", "3"], "1"));
}

#[test]
fn exactly_one_source_of_truth_is_required() {
    let place = TestFolder::new();
    let documents = place.write("documents.jsonl", "");
    let pairs = place.write("pairs.tsv", "");
    for mistaken in [
        &[][..],
        &["--shingles", "5", "--pairs", &pairs],
        &["--shingles", "0"],
        &["--shingles", "9"],
        &["--shingles", "65"],
        &["--shingles", "5", "--lenient-share", "0.1"],
    ] {
        let ran = place.run(&[&["evaluate", &documents], mistaken].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{mistaken:?} {}", ran.err);
    }
    let out = place.done(&["evaluate", &documents, "--shingles", "5", "--recipe", "near"]);
    assert!(out.starts_with("0 documents; 0 pairs are near by the lenient share of 0.5, 0 by the strict share of 0.8\n"), "{out}");
    assert!(
        out.lines().nth(1).unwrap().ends_with("-        -        -        -  advised"),
        "{out}"
    );
}

#[test]
fn a_million_empty_documents_cost_nothing() {
    let place = TestFolder::new();
    let mut documents = String::new();
    for number in 0..1_000_000 {
        writeln!(documents, "{{\"id\":\"{number}\",\"text\":\"\"}}").unwrap();
    }
    let documents = place.write("documents.jsonl", documents);
    let out = place.done(&["evaluate", &documents, "--shingles", "5", "--recipe", "near"]);
    let said = "1,000,000 documents are left out: 1,000,000 without words";
    assert_eq!(out.lines().nth(1), Some(said));
}

#[test]
fn plot_is_drawn_or_the_failure_explained() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let documents = place.write("documents.jsonl", documents);
    let pairs = place.write("pairs.tsv", pairs);
    let file = place.file("plot.svg");
    let args = ["evaluate", &documents, "--pairs", &pairs, "--plot"];
    place.done(&[&args[..], &[&file]].concat());
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<polyline").count(), 3 * (Recipe::PRESETS.len() + 4 + 3));
    assert!(svg.contains("<title>60 documents, 20 pairs near by a share of 0.8</title>"));
    let folder = place.file("");
    let ran = place.run(&[&args[..], &[&folder]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert!(ran.err.contains("cannot write"), "{}", ran.err);
}

#[test]
fn plot_never_overwrites_an_input() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let inputs = [place.write("documents.jsonl", &documents), place.write("pairs.tsv", &pairs)];
    let other = place.file("other.svg");
    std::os::unix::fs::symlink(&inputs[1], &other).unwrap();
    for plot in [&inputs[0], &inputs[1], &other] {
        let args =
            ["evaluate", &inputs[0], "--pairs", &inputs[1], "--recipe", "near", "--plot", plot];
        let ran = place.run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{plot}");
        assert!(ran.err.contains("would replace the input file"), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&inputs[0]).unwrap(), documents);
        assert_eq!(std::fs::read_to_string(&inputs[1]).unwrap(), pairs);
    }
    // An existing file that is not an input is overwritten.
    let plot = place.write("old.svg", "old");
    let args = ["evaluate", &inputs[0], "--pairs", &inputs[1], "--recipe", "near", "--plot", &plot];
    place.done(&args);
    assert!(std::fs::read_to_string(&plot).unwrap().starts_with("<svg "));
}

#[test]
fn advised_distance_comes_from_the_preset() {
    let place = TestFolder::new();
    let (documents, pairs) = documents();
    let inputs = [place.write("documents.jsonl", &documents), place.write("pairs.tsv", &pairs)];
    for (recipe, advised) in [
        ("default", Some(3)),
        ("near", Some(3)),
        ("words2-sqrt-seed7/2", Some(3)),
        ("words7-raw/2", None),
    ] {
        let args = ["evaluate", &inputs[0], "--pairs", &inputs[1], "--recipe", recipe];
        let out = place.done(&args);
        assert_eq!(out.contains("  advised"), advised.is_some(), "{recipe}: {out}");
        let object = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
        assert_eq!(object["advised"]["k"].as_u64(), advised, "{recipe}");
    }
}

#[test]
fn invalid_input_is_named_with_its_line() {
    let place = TestFolder::new();
    let good = place.write("good.jsonl", "{\"id\": \"a\", \"text\": \"x\"}\n");
    let pairs = place.write("pairs.tsv", "a\tb\n");
    for (documents, pairs_text, why) in [
        ("{\"id\": [], \"text\": \"x\"}\n", "", "bad.jsonl, line 1: \"id\" must be"),
        ("{\"id\": 1, \"text\": 2}\n", "", "\"text\" is missing or not a string"),
        ("\n{\"id\": \"a\", \"text\": \"x\"}\n[]\n", "", "bad.jsonl, line 3: "),
        ("{", "", "bad.jsonl, line 1: "),
        ("", "a b 1\n", "bad.tsv, line 1: the line must have two ids"),
        ("", "\u{0}\u{7f}\t\r\nrubbish", "bad.tsv, line 1: no document has"),
        ("", "a\ta\t1\n", "bad.tsv, line 1: the two ids of a pair must differ"),
        (
            "{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"a\", \"text\": \"y\"}\n",
            "",
            "two documents have the \"id\" a",
        ),
        (
            "{\"id\": \"a\", \"text\": \"x\"}\n{\"id\": \"b\", \"text\": \"y\"}\n",
            "a\tb\t1\na\tb\t7\n",
            "bad.tsv, line 2: the third field",
        ),
        (
            "{\"id\": \"a\", \"text\": \"one two three four five six seven eight\"}\n{\"id\": \"b\", \"text\": \"nine ten three four five six seven eight\"}\n",
            "a\tb\t0.9\nb\ta\t0.95\na\tb\t0.6\n",
            "\"a\" and \"b\" are listed twice",
        ),
        (
            "{\"id\": \"a\", \"text\": \"x\"}\n",
            "\na\tb\u{1b}\t1\n",
            "bad.tsv, line 2: no document has the id \"b",
        ),
    ] {
        let documents = place.write("bad.jsonl", documents);
        let bad_pairs = place.write("bad.tsv", pairs_text);
        let ran = place.run(&["evaluate", &documents, "--pairs", &bad_pairs]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains(why) && !ran.err.contains('\u{1b}'), "{}", ran.err);
    }
    assert_eq!(place.run(&["evaluate", &good, "--pairs", "not-there"]).code, 5);
    let pairs = ["evaluate", &good, "--pairs", &pairs];
    for mistaken in [
        ["-k", "21"],
        ["--strict-share", "nan"],
        ["--lenient-share", "1.1"],
        ["--strict-share", "0.4"],
        ["--seeds", "0"],
        ["--recipe", "words4-minwise-sqrt/2"],
        ["--recipe", "words0/2"],
        ["--recipe", "words65/2"],
    ] {
        assert_eq!(place.run(&[&pairs[..], &mistaken].concat()).code, 2, "{mistaken:?}");
    }
}

/// Real documents with their resemblances, next to the project; `None` if they are not available.
pub(super) fn real(name: &str) -> Option<String> {
    Some(real_data_path(&format!("quality/{name}"))?.into_os_string().into_string().unwrap())
}

#[test]
fn presets_are_as_good_as_documented_on_real_documents() {
    let (Some(documents), Some(pairs)) = (real("ota.jsonl.zst"), real("ota-pairs.tsv.gz")) else {
        return;
    };
    let place = TestFolder::new();
    let out = place.done(&[
        "evaluate", &documents, "--pairs", &pairs, "--recipe", "default", "--recipe", "strict",
        "--json",
    ]);
    let objects = objects(&out);
    let at = |recipe: usize, k: usize, what: &str| {
        objects[recipe]["by_distance"][k][what].as_f64().unwrap()
    };
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
fn historic_signatures_match_on_medium_frequency_words() {
    let place = TestFolder::new();
    let (mut documents, mut pairs) = (String::new(), String::new());
    for group in 0..9 {
        let words: Vec<String> = (0..30).map(|n| format!("w{group}x{n} ")).collect();
        // Each document has unique words, and `d` has one word less than the others of its group.
        for (name, words) in [("a", &words[..]), ("b", &words), ("c", &words), ("d", &words[1..])] {
            let own: String = (0..9).map(|n| format!("own{group}{name}{n} ")).collect();
            let text = words.concat() + "the of and " + &own;
            writeln!(documents, "{}", json!({"id": format!("{group}{name}"), "text": text}))
                .unwrap();
        }
        writeln!(pairs, "{group}a\t{group}b\t0.9\n{group}a\t{group}c\t0.6").unwrap();
    }
    let (documents, pairs) =
        (place.write("documents.jsonl", documents), place.write("pairs", pairs));
    let all = place.run(&["evaluate", &documents, "--pairs", &pairs, "--json"]).objects();
    let only = |name: &str| {
        let object = all.iter().find(|object| object["name"] == name).unwrap();
        assert_eq!(
            (&object["by_distance"].as_array().unwrap().len(), &object["advised"]),
            (&1, &Value::Null)
        );
        object["by_distance"][0].clone()
    };
    let one = only("imatch");
    assert_eq!((&one["k"], &one["pairs"], &one["recall"]), (&json!(0), &json!(27.0), &json!(1.0)));
    assert_eq!((&one["f1"], &one["lenient"]), (&json!(0.5), &json!(18.0 / 27.0)));
    // Nine of ten lexicons omit a third of the words, including the one that differs.
    let ten = only("imatch-10")["pairs"].as_f64().unwrap();
    assert!((48.0..=54.0).contains(&ten), "{ten}");
    assert!(only("supershingles")["pairs"].as_f64().unwrap() <= 54.0);
    // One document has no pairs.
    let one = place.write("one.jsonl", "{\"id\": \"1\", \"text\": \"1 2 3 4 5 6 7 8\"}\n");
    let none = place.write("none", "");
    let out = place.done(&["evaluate", &one, "--pairs", &none]);
    assert!(out.contains("imatch-10                    0        -"), "{out}");
}
