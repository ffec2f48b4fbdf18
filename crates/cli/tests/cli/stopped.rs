//! Signals: every answered record is stored.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Child;
use std::time::Duration;

use simkeep_testing::choice;
use simkeep_testing::depth::deep;

use super::*;

fn begin(place: &TestFolder, more: &[&str]) -> Child {
    let args = [&["ingest", "-", "--outcomes"], more].concat();
    place.command(&args).stdin(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, number: i32) {
    let id = i32::try_from(child.id()).unwrap();
    let sent = Command::new("kill").args([format!("-{number}"), id.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Whether this process ignores a signal, which its children inherit: a shell makes its background jobs
/// ignore SIGINT.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[test]
fn answered_records_are_stored_on_a_signal() {
    for (number, code) in [(libc::SIGTERM, 143), (libc::SIGINT, 130), (libc::SIGHUP, 129)] {
        if is_ignored(number) {
            eprintln!("skipped: signal {number} is ignored here");
            continue;
        }
        let place = TestFolder::new();
        let mut child = begin(&place, &["--durability", "end"]);
        let mut stdin = child.stdin.take().unwrap();
        for time in 0..5 {
            writeln!(stdin, "{{\"url\":\"http://k/{time}\",\"t\":{time},\"seen\":\"gone\"}}")
                .unwrap();
        }
        stdin.flush().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..5 {
            assert_ne!(out.read_line(&mut String::new()).unwrap(), 0);
        }
        signal(&child, number);
        let ended = ToolRun::from(child.wait_with_output().unwrap());
        assert_eq!(ended.code, code, "{}", ended.err);
        assert!(ended.err.contains("stopped by SIG"), "{}", ended.err);
        assert_eq!(entries(&place.export()).len(), 5);
        drop(stdin);
    }
}

/// Sends records endlessly and reads the answers, until a signal arrives some time after the first
/// answer; returns the answered URLs.
fn answered_until_stopped(mut child: Child, wait: Duration) -> BTreeSet<String> {
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let line = |n: u64| json!({"url": format!("http://k/{n}"), "t": n, "seen": "gone"});
        (0..).try_for_each(|n: u64| writeln!(stdin, "{}", line(n)))
    });
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut answers = String::new();
    assert_ne!(out.read_line(&mut answers).unwrap(), 0);
    let reader = std::thread::spawn(move || {
        out.read_to_string(&mut answers).unwrap();
        answers
    });
    std::thread::sleep(wait);
    signal(&child, libc::SIGTERM);
    let ended = ToolRun::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 143, "{}", ended.err);
    // Its input had not ended.
    assert!(writer.join().unwrap().is_err());
    // A partial line is not an answer.
    let answers = reader.join().unwrap();
    urls(answers.rsplit_once('\n').unwrap().0.lines())
}

/// The URLs of objects.
fn urls<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    lines.map(|line| objects(line)[0]["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn answered_records_are_stored_on_a_signal_midway() {
    for durability in ["end", "group"] {
        for n in 0..deep(100) {
            let mut choice = choice(n);
            let batch = ["1", "10", "1000"][usize::try_from(choice(3)).unwrap()];
            let place = TestFolder::new();
            let args = ["--durability", durability, "--group-size", batch];
            let wait = Duration::from_millis(choice(100));
            let answered = answered_until_stopped(begin(&place, &args), wait);
            let stored = urls(entries(&place.export()).into_iter());
            let missing: Vec<_> = answered.difference(&stored).collect();
            assert!(missing.is_empty() && !answered.is_empty(), "{args:?} {n}: {missing:?}");
        }
    }
}

#[test]
fn answered_records_are_stored_even_if_nobody_reads_on() {
    let place = TestFolder::new();
    let mut child = begin(&place, &["--durability", "end", "--group-size", "1"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let line = |number: u32| {
        let url = format!("http://k/{number}{}", "x".repeat(4000));
        format!("{}\n", json!({"url": url, "t": number, "seen": "gone"}))
    };
    stdin.write_all(line(0).as_bytes()).unwrap();
    assert_ne!(out.read_line(&mut String::new()).unwrap(), 0);
    // More than a pipe holds, so the tool waits in the middle of an answer.
    let writer = std::thread::spawn(move || {
        (1..100).try_for_each(|number| stdin.write_all(line(number).as_bytes()))
    });
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, libc::SIGTERM);
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, libc::SIGTERM);
    let _ = child.wait().unwrap();
    drop(out);
    let _ = writer.join().unwrap();
    assert!(!entries(&place.export()).is_empty());
}

#[test]
fn ignored_signal_stays_ignored() {
    let place = TestFolder::new();
    let mut command = Command::new("sh");
    let words = "trap '' HUP; exec \"$0\" ingest - --outcomes";
    command.args(["-c", words, env!("CARGO_BIN_EXE_simkeep")]).env("SIMKEEP_STORE", place.store());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for time in 0..2 {
        writeln!(stdin, "{{\"url\":\"http://k/\",\"t\":{time},\"seen\":\"gone\"}}").unwrap();
        assert_ne!(out.read_line(&mut String::new()).unwrap(), 0);
        signal(&child, libc::SIGHUP);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(entries(&place.export()).len(), 2);
}
