//! Answers that are restricted to some classes reveal nothing about pages of others.

use super::TestFolder;
use serde_json::Value;

/// Pages of classes 0 and 7 and of no class, with one fingerprint or nearly so, and others without a
/// fingerprint.
fn store() -> TestFolder {
    TestFolder::with(
        r#"{"url":"https://open.example/a","t":1,"fingerprint":"00000000000000ff","class":0}
{"url":"https://open.example/b","t":1,"fingerprint":"00000000000000fe"}
{"url":"https://wall.example/a","t":1,"fingerprint":"00000000000000ff","class":7}
{"url":"https://wall.example/b","t":1,"fingerprint":"00000000000000fd","class":7}
{"url":"https://wall.example/c","t":1,"fingerprint":null,"epoch":"external","class":7}
{"url":"https://open.example/c","t":1,"fingerprint":null,"epoch":"external"}
"#,
    )
}

fn named(place: &TestFolder, args: &[&str]) -> Vec<String> {
    let ran = place.run(args);
    let objects = ran.objects();
    let near = objects[0]["near"].as_array().unwrap();
    near.iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn near_selects_pages_by_class() {
    let place = store();
    let of = |classes: &str| {
        named(&place, &["near", "00000000000000ff", "--json", "--classes", classes])
    };
    assert_eq!(of("0"), ["https://open.example/a"]);
    assert_eq!(of("none"), ["https://open.example/b"]);
    assert_eq!(of("none,0"), ["https://open.example/a", "https://open.example/b"]);
    assert_eq!(of("7"), ["https://wall.example/a", "https://wall.example/b"]);
    assert_eq!(of("0,7,none").len(), 4);
    let nothing = place.run(&["near", "00000000000000ff", "--classes", "4"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (1, ""));
}

#[test]
fn restricted_answers_never_mention_other_classes() {
    let place = store();
    let near = |args: &[&str]| {
        let ran = place.run(&[&["near", "--classes", "0,none"], args].concat());
        let said = ran.out.clone() + &ran.err;
        // The query itself may be repeated.
        let said = said.replace(&format!("{} is not known", args[args.len() - 1]), "");
        assert!(!said.contains("wall"), "{args:?}: {said}");
        ran
    };
    near(&["00000000000000ff", "--explain"]);
    near(&["00000000000000fd", "-k", "0", "--explain"]);
    near(&["00000000000000ff", "--nearest", "9", "--ever", "--budget", "1s"]);
    // A hidden page counts as unknown, and so do other spellings of it.
    for url in ["https://wall.example/a", "http://wall.example/a", "wall.example/b/"] {
        let ran = near(&["--url", url]);
        assert_eq!(ran.code, 1);
        let of_unknown = near(&["--url", "https://nowhere.example/a"]).err;
        assert_eq!(ran.err, of_unknown.replace("https://nowhere.example/a", url));
    }
    let other = near(&["--url", "http://open.example/a"]);
    assert!(other.err.contains("https://open.example/a is"), "{}", other.err);
    let explained = near(&["00000000000000ff", "--explain", "--json"]).objects().remove(0);
    assert_eq!(explained["without_fingerprint"], 1, "{explained}");
    let hits = explained["explain"]["components"].as_array().unwrap().iter();
    let hits: Vec<&Value> = hits.map(|part| &part["hits"]).collect();
    assert_eq!(hits, [2], "{explained}");
    let pairs = place.done(&["pairs", "--pages", "--epoch", "external", "--classes", "0,none"]);
    assert!(pairs.lines().count() == 1 && !pairs.contains("wall"), "{pairs}");
    let pairs = place.done(&["pairs", "--pages", "--epoch", "external", "--classes", "7,0"]);
    assert_eq!(pairs.lines().count(), 2, "{pairs}");
}

#[test]
fn invalid_class_is_a_usage_error() {
    let place = store();
    for classes in ["", "-1", "4294967296", "1,,2", "all", "0x1", "1 2"] {
        let ran = place.run(&["near", "00000000000000ff", &format!("--classes={classes}")]);
        assert_eq!(ran.code, 2, "{classes}: {}", ran.err);
        assert!(ran.err.contains("classes are numbers up to 4294967295"), "{classes}: {}", ran.err);
        let ran = place.run(&["pairs", &format!("--classes={classes}")]);
        assert_eq!(ran.code, 2, "{classes}");
    }
}
