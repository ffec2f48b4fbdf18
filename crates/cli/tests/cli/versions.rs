//! `evaluate --versions`.

use simkeep::fingerprint::{Band, Recipe, of_text};

use super::*;

/// A version of a page: 400 words, with the words at these places replaced.
fn version(page: usize, version: usize, replaced: usize) -> String {
    let words = (0..400).map(|at| {
        if at % 400 < replaced {
            format!("v{version}x{at}p{page}")
        } else {
            format!("w{at}p{page}")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn line(page: usize, text: &str, kind: &str) -> String {
    format!("{}\n", json!({"url": format!("https://example.com/{page}"), "text": text, "k": kind}))
}

/// Pages with two versions, and the number of words that the second version replaces.
fn pages() -> impl Iterator<Item = (String, String, usize)> {
    [1, 2, 3, 5, 10, 20, 30, 60, 100, 200]
        .into_iter()
        .cycle()
        .take(60)
        .enumerate()
        .map(|(page, replaced)| (version(page, 0, 0), version(page, 1, replaced), replaced))
}

#[test]
fn distances_are_calibrated_on_versions_of_pages() {
    let place = TestFolder::new();
    let mut lines = String::new();
    for (page, (before, after, _)) in pages().enumerate() {
        lines += &line(page, &before, "start");
        // Seen again without a text, and then changed.
        lines +=
            &format!("{}\n", json!({"url": format!("https://example.com/{page}"), "status": 410}));
        lines += &line(page, &after, "change");
    }
    // A return, equal words, too few of them, and a change of something else than the page.
    lines += &line(100, &version(100, 0, 0), "start");
    lines += &line(100, &version(100, 1, 40), "tech");
    lines += &line(100, &version(100, 0, 0), "change");
    lines += &line(100, &version(100, 0, 0).replace(' ', ", "), "change");
    lines += &line(100, "few words", "change");
    let file = place.write("versions.jsonl", lines);
    let args =
        ["evaluate", "--versions", &file, "--anew", "k=tech", "--recipe", "default", "--json"];
    let found = place.run(&args).objects().remove(0);
    let counts = ["changed_pairs", "returned_pairs", "equal_pairs", "short_pairs", "long_pairs"]
        .map(|key| found[key].as_u64());
    assert_eq!(counts, [60, 1, 1, 1, 0].map(Some));
    // Compared with how the versions were made.
    let (mut hidden, mut right, mut far) = (0, 0, 0);
    for (before, after, replaced) in pages() {
        let distance = (of_text(&before).unwrap() ^ of_text(&after).unwrap()).count_ones();
        hidden += u32::from(distance == 0);
        let predicted = match Recipe::DEFAULT.meaning(distance).band {
            Band::None | Band::Minor => 0,
            Band::Moderate => 1,
            Band::Major => 2_i32,
        };
        let truth = if replaced < 4 { 0 } else { 1 + i32::from(replaced > 40) };
        right += u32::from(predicted == truth);
        far += u32::from((predicted - truth).abs() == 2);
    }
    let share = |key: &str| (found[key].as_f64().unwrap() * 60.0).round();
    assert_eq!(
        ["hidden", "right_share", "off_by_two"].map(share),
        [hidden, right, far].map(f64::from)
    );
    assert!(right > 40, "{right} of 60");
    assert_eq!(found["bands"], json!({"minor": 2, "moderate": 9}));
    assert!(found["meanings"].is_null());
    // Whatever else is counted, on however many threads.
    let all = ["--recipe", "words-idf", "--recipe", "near", "--threads", "3"];
    let all = place.run(&[&args[..], &all[..]].concat()).objects();
    assert_eq!((all.len(), &all[0]), (3, &found));
    // Without the rule it is a change and a return.
    let args = ["evaluate", "--versions", &file, "--recipe", "default", "--json"];
    let found = place.run(&args).objects().remove(0);
    assert_eq!(
        (found["changed_pairs"].as_u64(), found["returned_pairs"].as_u64()),
        (Some(61), Some(1))
    );
}

#[test]
fn changed_words_are_shown_by_distance() {
    let place = TestFolder::new();
    let of_page = |(page, (before, after, _)): (usize, (String, String, usize))| {
        line(page, &before, "start") + &line(page, &after, "change")
    };
    let file = place.write("versions.jsonl", pages().enumerate().map(of_page).collect::<String>());
    let args = ["evaluate", "--versions", &file, "--recipe", "near", "--magnitude"];
    let shown = place.done(&args);
    assert!(shown.starts_with("60 pairs of versions changed; "), "{shown}");
    let found = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
    let distances = found["meanings"].as_array().unwrap();
    let pairs: u64 = distances.iter().map(|of| of["pairs"].as_u64().unwrap()).sum();
    assert_eq!(pairs, 60);
    for of in distances {
        let distance = of["distance"].as_u64().unwrap();
        let row = format!("{distance:>4}  {:>7}  ", of["pairs"].as_u64().unwrap());
        assert!(shown.lines().any(|line| line.starts_with(&row)), "{row}\n{shown}");
        let quantiles: Vec<f64> =
            of["quantiles"].as_array().unwrap().iter().map(|q| q.as_f64().unwrap()).collect();
        assert!(quantiles.is_sorted() && quantiles.len() == 5);
        let bands: f64 =
            of["in_bands"].as_array().unwrap().iter().map(|b| b.as_f64().unwrap()).sum();
        assert!((bands - 1.0).abs() < 1e-9);
    }
    // A tenth of the words is replaced by as many new words: a tenth of both texts.
    let longest = distances.last().unwrap()["quantiles"][4].as_f64().unwrap();
    assert!((longest - 0.5).abs() < 1e-4, "{longest}");
}

#[test]
fn invalid_version_lines_are_named() {
    let place = TestFolder::new();
    let good = line(1, &version(1, 0, 0), "start");
    for (bad, why) in [
        ("{\"text\": \"a\"}", "\"url\" must be a string"),
        ("{\"url\": \"x:\", \"text\": 7}", "\"text\" must be a string"),
        ("[]", "the line must be an object with"),
        ("{", "EOF"),
    ] {
        let file = place.write("versions.jsonl", format!("{good}{good}\n{bad}\n{good}"));
        let ran = place.run(&["evaluate", "--versions", &file]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("line 4") && ran.err.contains(why), "{}", ran.err);
    }
    let ran =
        place.run_with_input(&["evaluate", "--versions", "-", "--recipe", "words-idf"], &good);
    assert!(ran.code == 2 && ran.err.contains("name a file"), "{}", ran.err);
    let ran = place.run_with_input(&["evaluate", "--versions", "-", "--recipe", "near"], "");
    assert!(ran.code == 0 && ran.out.contains("none"), "{}", ran.out);
    assert_eq!(place.run(&["evaluate", "--magnitude", "x", "--pairs", "y"]).code, 2);
    for other in [["-k", "3"], ["--seeds", "2"], ["--pairs", "y"], ["--plot", "y.svg"]] {
        let ran = place.run(&[&["evaluate", "--versions", "x"], &other[..]].concat());
        assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{}", ran.err);
    }
}
