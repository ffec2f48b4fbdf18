//! `ingest --outcomes`: prints a line for each record, for a program that waits for it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use simkeep::{Epoch, Observation, Operation, OperationResult, Role, Verdict};
use simkeep_testing::{choice, ms};

use super::*;

/// Far longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The tool as a child process that another program talks to.
struct ToolProcess {
    process: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
}

impl ToolProcess {
    fn start(place: &TestFolder, args: &[&str]) -> ToolProcess {
        let mut command = place.command(&[&["ingest", "-", "--outcomes"], args].concat());
        let mut process = command.stdin(Stdio::piped()).spawn().unwrap();
        let (to, out) = (process.stdin.take(), process.stdout.take().unwrap());
        let (heard, from) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if heard.send(line).is_err() {
                    break;
                }
            }
        });
        ToolProcess { process, to, from }
    }

    fn say(&mut self, line: &str) {
        self.to.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn receive(&self) -> Value {
        serde_json::from_str(&self.from.recv_timeout(PATIENCE).unwrap()).unwrap()
    }

    fn ask(&mut self, line: &str) -> Value {
        self.say(line);
        self.receive()
    }

    /// Ends the input; returns the remaining output and the exit code.
    fn end(mut self) -> (Vec<String>, i32) {
        drop(self.to.take());
        let rest: Vec<String> = self.from.iter().collect();
        (rest, self.process.wait().unwrap().code().unwrap())
    }
}

#[test]
fn each_record_is_answered_before_the_next_is_sent() {
    let place = TestFolder::new();
    let mut beside = ToolProcess::start(&place, &[]);
    let begun = Instant::now();
    // Before there is a store.
    let refused = beside.ask("not JSON");
    assert_eq!(refused["is_broken"], true);
    assert_eq!(refused["at"], "standard input, line 1");
    let nothing = beside.ask(r#"{"url":"http://a/","ask":"latest"}"#);
    assert_eq!(nothing, json!({"url": "http://a/", "ask": "latest", "page": null}));

    let first = r#"{"url":"http://a/","t":1,"fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f"}"#;
    let outcome = beside.ask(first);
    let expected = json!({
        "url": "http://a/", "t": "1970-01-01T00:00:01Z", "stored": true, "verdict": "new", "by": null,
        "to": null, "distance": null, "band": null, "words_changed": null,
        "fingerprint": "00000000000000ff", "novel": true, "priority": 1.0, "copies": [], "near": [],
        "original": null, "refers_to": null, "complete": true,
    });
    assert_eq!(outcome, expected);
    let known = beside.ask(first);
    assert_eq!((&known["verdict"], &known["stored"]), (&json!("known"), &json!(false)));

    let copy = beside.ask(&first.replace("a/", "b/").replace(":1,", ":2,"));
    assert_eq!(copy["copies"], json!([{"url": "http://a/", "first": "1970-01-01T00:00:01Z"}]));
    let original = json!({"url": "http://a/", "distance": 0, "by": "digest"});
    assert_eq!(copy["original"], original);
    assert_eq!(copy["refers_to"], json!({"url": "http://a/", "t": "1970-01-01T00:00:01Z"}));
    let near = beside.ask(r#"{"url":"http://c/","t":3,"fingerprint":"00000000000000fe"}"#);
    assert_eq!(near["near"].as_array().unwrap().len(), 2);
    assert_eq!(near["original"]["by"], "near");
    let changed = beside.ask(r#"{"url":"http://a/","t":4,"fingerprint":"000000000000000f"}"#);
    assert_eq!((&changed["verdict"], &changed["distance"]), (&json!("changed"), &json!(4)));
    let back = beside.ask(&first.replace(":1,", ":5,"));
    let to = json!("1970-01-01T00:00:01Z");
    assert_eq!((&back["verdict"], &back["to"]), (&json!("reverted"), &to));
    let gone = beside.ask(r#"{"url":"http://a/","t":6,"seen":"gone"}"#);
    assert_eq!((&gone["verdict"], &gone["fingerprint"]), (&json!("gone"), &json!(null)));
    let weighed = beside.ask(r#"{"url":"http://a/","t":7,"weight":2,"class":3}"#);
    assert_eq!((&weighed["verdict"], &weighed["stored"]), (&json!(null), &json!(true)));
    let unknown = beside.ask(r#"{"url":"http://x/","t":7,"weight":2}"#);
    assert_eq!((&unknown["verdict"], &unknown["stored"]), (&json!(null), &json!(false)));

    // Between them, what all of them together made of a page.
    let history = beside.ask(r#"{"url":"http://a/","ask":"history"}"#);
    assert_eq!(history["entries"].as_array().unwrap().len(), 6);
    assert_eq!(history["entries"][1]["verdict"], "changed");
    let latest = beside.ask(r#"{"url":"http://a/","ask":"latest"}"#);
    assert_eq!((&latest["page"]["is_gone"], &latest["page"]["class"]), (&json!(true), &json!(3)));
    let near = beside.ask(r#"{"url":"http://b/","ask":"near"}"#);
    assert_eq!(
        near["near"],
        json!([{
            "url": "http://c/", "distance": 1, "band": "minor", "words_changed": near["near"][0]["words_changed"],
            "fingerprint": "00000000000000fe",
        }])
    );
    beside.ask(r#"{"url":"http://d/","t":9,"fingerprint":"00000000000000aa","etag":"\"v1\""}"#);
    let headers = |url: &str, beside: &mut ToolProcess| -> Value {
        ToolProcess::ask(beside, &format!(r#"{{"url":"{url}","ask":"validators"}}"#))["headers"]
            .clone()
    };
    assert_eq!(headers("http://d/", &mut beside), json!({"If-None-Match": "\"v1\""}));
    assert_eq!(headers("http://a/", &mut beside), json!({}));
    assert_eq!(headers("http://unknown/", &mut beside), json!({}));
    let nothing = beside.ask(r#"{"url":"http://a/","ask":"near"}"#);
    assert_eq!((&nothing["fingerprint"], &nothing["near"]), (&json!(null), &json!([])));
    let refused = beside.ask(r#"{"url":"http://a/","ask":"why"}"#);
    assert!(refused["why"].as_str().unwrap().contains("\"ask\" must be"), "{refused}");
    // Records are not delayed to form a group.
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?} for 18 answers", begun.elapsed());
    assert_eq!(beside.end(), (Vec::new(), 0));
    assert_eq!(place.done(&["scan"]).lines().count(), 4);
}

/// A record of one of a few pages, as a line and as an observation.
fn record(n: u64) -> (String, String, i64, Option<u64>) {
    let mut choose = choice(n);
    let url = format!("http://{}.example/", choose(20));
    let time = i64::try_from(choose(400)).unwrap() * 1000;
    let near = 0xff_u64 << (choose(4) * 8) ^ choose(3);
    let print = (choose(8) > 0).then_some(near);
    let what = match print {
        Some(print) => format!("\"fingerprint\":\"{print:016x}\",\"epoch\":\"e\""),
        None => "\"seen\":\"gone\"".to_owned(),
    };
    (format!("{{\"url\":\"{url}\",\"t\":{},{what}}}\n", time / 1000), url, time, print)
}

#[test]
fn outcomes_match_the_store_in_input_order() {
    // Each commit waits for the disk.
    for (batch, count) in [("1", 300), ("100", 3000), ("100000", 3000)] {
        let records: Vec<_> = (0..count).map(record).collect();
        let mut input = String::new();
        for (n, (line, ..)) in records.iter().enumerate() {
            input += line;
            if n % 7 == 0 {
                input += "broken\n";
            }
        }
        let place = TestFolder::new();
        let args = ["ingest", "-", "--outcomes", "--json", "--group-size", batch];
        let ran = place.run_with_input(&args, &input);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let mut lines = ran.objects();
        let summary = lines.pop().unwrap();
        assert_eq!(summary["records"], count);
        let (broken, lines): (Vec<_>, Vec<_>) =
            lines.into_iter().partition(|line| line.get("is_broken").is_some());
        assert_eq!((broken.len() as u64, lines.len() as u64), (count.div_ceil(7), count));

        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
        let epoch: Epoch = store.register_epoch("e", Role::Both).unwrap();
        let size: usize = batch.parse().unwrap();
        let mut answers = Vec::new();
        for records in records.chunks(size) {
            let requests: Vec<Operation<'_>> = records
                .iter()
                .map(|(_, url, time, print)| match print {
                    Some(print) => Observation::content(url, ms(*time), *print, epoch).into(),
                    None => Observation::gone(url, ms(*time)).into(),
                })
                .collect();
            answers.extend(store.write_batch(&requests).unwrap());
        }
        for ((record, line), answer) in records.iter().zip(&lines).zip(&answers) {
            let OperationResult::Observed(outcome) = answer else { panic!("{answer:?}") };
            assert_eq!(line["url"], record.1, "{}", record.0);
            let verdict = match outcome.verdict {
                Verdict::New => "new",
                Verdict::Same(_) => "same",
                Verdict::Changed { .. } => "changed",
                Verdict::Reverted { .. } => "reverted",
                Verdict::Gone => "gone",
                Verdict::OutOfOrder => "out-of-order",
                Verdict::Known => "known",
                other => panic!("{other:?}"),
            };
            assert_eq!(line["verdict"], verdict, "{}", record.0);
            assert_eq!(line["novel"], outcome.novel, "{}", record.0);
            // The near pages depend on what is observed together.
            if size == 1 {
                let near: Vec<&str> = outcome.near.iter().map(|near| &*near.url).collect();
                let heard = line["near"].as_array().unwrap();
                let heard: Vec<&str> =
                    heard.iter().map(|near| near["url"].as_str().unwrap()).collect();
                assert_eq!(heard, near, "{}", record.0);
                let original = outcome.original.as_ref().map(|original| &*original.url);
                assert_eq!(line["original"]["url"].as_str(), original, "{}", record.0);
            }
        }
    }
}

#[test]
fn question_needs_the_outcomes_option() {
    let place = TestFolder::new();
    let ran = place.run_with_input(&["ingest", "-"], "{\"url\":\"http://a/\",\"ask\":\"near\"}\n");
    assert!(
        ran.err.contains("line 1: a question, which is answered only with --outcomes"),
        "{}",
        ran.err
    );
    let ran = place.run_with_input(&["load", "-"], "{\"url\":\"http://a/\",\"ask\":\"near\"}\n");
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("only `ingest --outcomes` answers questions"), "{}", ran.err);
}

#[test]
fn disconnected_client_loses_no_answered_record() {
    let place = TestFolder::new();
    let mut beside = ToolProcess::start(&place, &["--group-size", "10"]);
    let line =
        |n: u64| format!("{{\"url\":\"http://{n}/\",\"t\":{n},\"fingerprint\":\"{n:016x}\"}}");
    for n in 0..25 {
        beside.ask(&line(n));
    }
    // Nobody reads any more, and the output exceeds the pipe.
    let ToolProcess { mut process, to, from } = beside;
    drop(from);
    let mut to = to.unwrap();
    for n in 25..100_000 {
        if to.write_all((line(n) + "\n").as_bytes()).is_err() {
            break;
        }
    }
    drop(to);
    process.wait().unwrap();
    assert!(place.done(&["scan"]).lines().count() >= 25);
    assert_eq!(place.run(&["verify"]).code, 0);
}

#[test]
fn long_lines_and_slow_readers_lose_nothing() {
    let place = TestFolder::new();
    let mut beside = ToolProcess::start(&place, &[]);
    let long = "many words ".repeat(1 << 20);
    assert_eq!(
        beside.ask(&format!("{{\"url\":\"http://a/\",\"t\":1,\"text\":\"{long}\"}}"))["stored"],
        true
    );
    let line =
        |n: u64| format!("{{\"url\":\"http://{n}/\",\"t\":{n},\"fingerprint\":\"{n:016x}\"}}\n");
    let lines: String = (0..20_000).map(line).collect();
    let mut to = beside.to.take().unwrap();
    let writer = std::thread::spawn(move || to.write_all(lines.as_bytes()).unwrap());
    for n in 0..20_000 {
        if n % 5_000 == 0 {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(beside.receive()["url"], format!("http://{n}/"));
    }
    writer.join().unwrap();
    assert_eq!(beside.end(), (Vec::new(), 0));
}
