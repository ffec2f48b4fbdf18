//! `fingerprint`.

use simkeep::fingerprint::{Fingerprinter, Recipe, of_text};

use super::*;

const PAGE: &str = "<title>Terms of use</title><p>We may <b>change</b> these terms at any time. If we \
                    change these terms, we will tell you.<script>var x</script>";
const TEXT: &str = "Terms of use\nWe may change these terms at any time. If we change these terms, we \
                    will tell you.";

#[test]
fn fingerprint_reads_files_and_standard_input() {
    let place = TestFolder::new();
    let page = place.write("page.html", PAGE);
    let text = place.write("text.txt", TEXT);
    let expected = format!("{:016x}", of_text(TEXT).unwrap());
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
        (&strict[0]["name"], &strict[0]["recipe"]),
        (&"strict".into(), &"words3-sqrt/2".into())
    );
    assert!(!place.store().exists());
}

#[test]
fn explain_names_features_and_bits() {
    let place = TestFolder::new();
    let text = place.write("text.txt", TEXT);
    let args = ["fingerprint", &text, "--explain", "--features", "2"];
    let out = place.done(&args);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].ends_with("17 features, 17 of them vote"), "{out}");
    assert!(lines[2].ends_with("%      2 times  change these"), "{out}");
    assert!(lines[3].ends_with("%      2 times  these terms"), "{out}");
    assert!(lines[4].starts_with("  bits nearest to flipping: "), "{out}");
    let object = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
    let why = &object["explained"];
    assert_eq!(why["heaviest"].as_array().unwrap().len(), 2);
    let counts = ["distinct_features", "voting_features"].map(|key| why[key].as_u64());
    assert_eq!(counts, [Some(17); 2]);
    assert_eq!(why["balance"].as_array().unwrap().len(), 64);
    let bits = why["balance"].as_array().unwrap().iter().zip(0..);
    let bits = bits.map(|(balance, bit)| u64::from(balance.as_f64().unwrap() > 0.0) << bit);
    assert_eq!(object["fingerprint"], format!("{:016x}", bits.sum::<u64>()));
}

#[test]
fn recipes_are_listed_and_invalid_ones_refused() {
    let place = TestFolder::new();
    let out = place.done(&["fingerprint", "--recipes"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("default           words2-sqrt/2"), "{out}");
    assert!(lines[0].ends_with(" 3      5      2         9    22 %"), "{out}");
    assert_eq!(lines.len(), 2 * Recipe::PRESETS.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{out}");
    let listed = place.run(&["fingerprint", "--recipes", "--json"]).objects();
    assert_eq!(listed.len(), Recipe::PRESETS.len());
    let keys =
        ["near_distance", "holds_distance", "minor", "moderate"].map(|key| listed[1][key].as_u64());
    assert_eq!((keys, &listed[1]["hidden"]), ([3, 5, 1, 8].map(Some), &json!(0.52)));
    for (recipe, why) in [
        ("words2", "has no version after a slash"),
        ("\u{1b}[31m", "has no version after a slash"),
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
    assert_eq!((ran.code, ran.out), (5, format!("{:016x}  {text}\n", of_text(TEXT).unwrap())));
    assert!(ran.err.contains("x.bin is not text") && ran.err.contains("2 of 3 files have no"));
}
