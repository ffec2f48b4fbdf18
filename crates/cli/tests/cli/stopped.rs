//! Signals: an answer is a promise.

use std::io::{BufRead, BufReader};
use std::process::Child;

use super::*;

fn begin(place: &Place, more: &[&str]) -> Child {
    let args = [&["ingest", "-", "--outcomes", "--durability", "end"], more].concat();
    place.command(&args).stdin(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, number: i32) {
    let id = i32::try_from(child.id()).unwrap();
    let sent = Command::new("kill").args([format!("-{number}"), id.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Whether this process ignores a signal, and so do those that it starts: a shell has what it runs in
/// the background ignore SIGINT.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[test]
fn what_was_answered_is_stored_when_a_signal_ends_it() {
    for (number, code) in [(libc::SIGTERM, 143), (libc::SIGINT, 130), (libc::SIGHUP, 129)] {
        if is_ignored(number) {
            eprintln!("skipped: signal {number} is ignored here");
            continue;
        }
        let place = Place::new();
        let mut child = begin(&place, &[]);
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
        let ended = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ended.code, code, "{}", ended.err);
        assert!(ended.err.contains("stopped by SIG"), "{}", ended.err);
        assert_eq!(entries(&place.export()).len(), 5);
        drop(stdin);
    }
}

#[test]
fn what_was_answered_is_stored_though_nobody_reads_the_next_answers() {
    let place = Place::new();
    let mut child = begin(&place, &["--batch", "1"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let line = |number: u32| {
        let url = format!("http://k/{number}{}", "x".repeat(4000));
        format!("{}\n", json!({"url": url, "t": number, "seen": "gone"}))
    };
    stdin.write_all(line(0).as_bytes()).unwrap();
    assert_ne!(out.read_line(&mut String::new()).unwrap(), 0);
    // More than a pipe holds: it waits in the middle of an answer.
    let writer = std::thread::spawn(move || {
        (1..100).try_for_each(|number| stdin.write_all(line(number).as_bytes()))
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&child, libc::SIGTERM);
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&child, libc::SIGTERM);
    let _ = child.wait().unwrap();
    drop(out);
    let _ = writer.join().unwrap();
    assert!(!entries(&place.export()).is_empty());
}

#[test]
fn a_signal_that_is_ignored_stays_so() {
    let place = Place::new();
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
