//! Verbs that are killed at random moments leave the old state or their complete result.

use std::fs;
use std::time::{Duration, Instant};

use simkeep_testing::depth::deep;
use simkeep_testing::files::copy;

use super::*;

/// A verb, its target, and a description of the state.
struct KillTrial<'t> {
    args: &'t [&'t str],
    /// The folder or file that it changes; it is restored before each kill.
    target: &'t str,
    /// Describes the state; fails if anything is damaged.
    state: &'t dyn Fn(&TestFolder) -> String,
}

fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// Kills a verb repeatedly, each time from the original state, and runs it to the end afterwards.
fn killed(place: &TestFolder, KillTrial { args, target, state }: KillTrial<'_>) {
    let kills = deep(40);
    let (target, kept) = (place.path(target), place.path("kept"));
    copy(&target, &kept);
    let before = state(place);
    let since = Instant::now();
    assert_eq!(place.run(args).code, 0);
    let (took, after) = (since.elapsed(), state(place));
    assert_ne!(before, after);
    let mut random = 7_u64;
    let (mut nothing, mut all) = (0, 0);
    for kill in 0..kills {
        remove(&target);
        copy(&kept, &target);
        let mut child = place.command(args).spawn().unwrap();
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let share = f64::from(u32::try_from(random >> 33).unwrap()) / f64::from(1_u32 << 31);
        std::thread::sleep(Duration::from_secs_f64(took.as_secs_f64() * 1.1 * share));
        child.kill().unwrap();
        let finished = child.wait().unwrap().success();
        let left = state(place);
        assert!(left == before || left == after, "kill {kill} of {args:?} left {left}");
        assert!(left == after || !finished, "kill {kill} of {args:?}: lost");
        *if left == after { &mut all } else { &mut nothing } += 1;
        if left == before {
            let ran = place.run(args);
            assert_eq!((ran.code, state(place)), (0, after.clone()), "kill {kill}: {}", ran.err);
        }
    }
    println!("{kills} kills of {args:?}: {nothing} left what was before, {all} all of it");
}

/// The contents of a store, if there is one; asserts that it is sound.
fn held(place: &TestFolder, store: &str) -> String {
    let ran = place.run(&["export", "--store", store]);
    if ran.code == 5 {
        let none = ["is not a simkeep store", "is an unfinished store"];
        assert!(none.iter().any(|why| ran.err.contains(why)), "{}", ran.err);
        assert_eq!(place.run(&["verify", "--store", store]).code, 5);
        return "no store".to_owned();
    }
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let verified = place.run(&["verify", "--store", store]);
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);
    ran.out + &place.done(&["epoch", "list", "--store", store])
}

/// Observations of many pages, with fingerprints of two epochs.
fn lines() -> String {
    let line = |n: u64| {
        let fingerprint = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!(
            "{{\"url\":\"http://h{}.example/{n}\",\"t\":{n},\"fingerprint\":\"{fingerprint:016x}\",\"epoch\":\"e{}\"}}\n",
            n % 97,
            n % 2
        )
    };
    (0..3000).map(line).collect()
}

const TEXTS: &str = r#"{"url":"http://a/","t":1,"text":"the red house on the green hill"}
{"url":"http://b/","t":2,"text":"a blue car in front of the red house"}
"#;

#[test]
fn killed_load_leaves_the_old_state_or_all() {
    let place = TestFolder::with(CRAWL);
    let path = place.write("lines.jsonl", lines());
    let held = |place: &TestFolder| held(place, "store");
    let args = ["load", &path, "--begin-epoch"];
    killed(&place, KillTrial { args: &args, target: "store", state: &held });
}

#[test]
fn killed_load_into_a_new_store_leaves_none_or_all() {
    let place = TestFolder::new();
    let path = place.write("lines.jsonl", lines());
    let held = |place: &TestFolder| held(place, "store");
    killed(&place, KillTrial { args: &["load", &path], target: "store", state: &held });
}

#[test]
fn killed_repair_leaves_no_store_or_all() {
    let place = TestFolder::with(TEXTS);
    let path = place.write("lines.jsonl", lines());
    place.done(&["load", &path, "--begin-epoch"]);
    let held = |place: &TestFolder| held(place, "saved");
    killed(&place, KillTrial { args: &["repair", "--to", "saved"], target: "saved", state: &held });
}

#[test]
fn killed_table_build_leaves_the_old_or_new_table() {
    let place = TestFolder::new();
    let (few, many) = (place.write("few.jsonl", TEXTS), place.file("many.jsonl"));
    let texts = (0..400).map(|n| TEXTS.replace("red", &format!("red{n}")).replace("hill", "mill"));
    place.write("many.jsonl", texts.collect::<String>());
    assert_eq!(place.run(&["df", "build", &few, "--output", "words.df"]).code, 0);
    let shown = |place: &TestFolder| place.done(&["df", "show", "words.df"]);
    let args = ["df", "build", &many, "--output", "words.df"];
    killed(&place, KillTrial { args: &args, target: "words.df", state: &shown });
}

#[test]
fn killed_epoch_begin_leaves_epoch_and_table_or_none() {
    let place = TestFolder::with(TEXTS);
    let path = place.write("texts.jsonl", TEXTS);
    assert_eq!(place.run(&["df", "build", &path, "--output", "words.df"]).code, 0);
    let state = |place: &TestFolder| {
        let listed = place.run(&["df", "list"]);
        assert!(listed.code <= 1, "{}", listed.err);
        held(place, "store") + &listed.out
    };
    let args = ["epoch", "begin", "--recipe", "words-idf", "--df", "words.df"];
    killed(&place, KillTrial { args: &args, target: "store", state: &state });
}
