//! `near --batch`: many queries and their answers.

use super::*;

/// The answer of `near` to one query, and its answer to the same line of a batch.
fn same(one: &Value, line: &Value) {
    for key in ["fingerprint", "epoch", "k", "complete", "within", "near"] {
        assert_eq!(one[key], line[key], "{key}: {one} {line}");
    }
    assert_eq!((&line["why"], &line["is_broken"]), (&Value::Null, &json!(false)), "{line}");
}

/// Pages whose fingerprints are near each other in groups, some of them equal; of two epochs.
fn groups() -> TestFolder {
    let mut lines = String::new();
    for n in 0..60_u64 {
        let fingerprint = (n / 6).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (n % 6 / 2);
        let url = format!("https://{}.example/{n}", n % 7);
        let fingerprint = format!("{fingerprint:016x}");
        let visit = json!({"url": url, "t": n, "fingerprint": fingerprint, "epoch": "e"});
        lines += &format!("{visit}\n");
    }
    TestFolder::with(&lines)
}

#[test]
fn batch_answers_match_single_queries() {
    let place = groups();
    let pages = place.run(&["scan", "--json"]).objects();
    let of = |key: &str| -> Vec<String> {
        pages.iter().map(|page| page[key].as_str().unwrap().to_owned()).collect()
    };
    for (lines, kind) in [(of("fingerprint"), None), (of("url"), Some("--lines=url"))] {
        let option = kind.map(|_| "--url");
        place.write("lines", lines.join("\n"));
        for more in [
            &[][..],
            &["-k", "1", "--limit", "2"],
            &["--ever", "--under", "3.example"],
            &["--nearest", "3"],
            &["--at", "30", "-k", "2"],
            &["-k", "64", "--limit", "1000"],
            &["--budget", "100s", "-k", "5"],
        ] {
            let many = [&["near", "--json", "--batch", "lines"], more].concat();
            let many: Vec<&str> = many.into_iter().chain(kind).collect();
            let ran = place.run(&many);
            assert_eq!(ran.code, 0, "{many:?}: {}", ran.err);
            let answers = ran.objects();
            assert_eq!(answers.len(), lines.len());
            for (number, (line, answer)) in (1..).zip(lines.iter().zip(&answers)) {
                assert_eq!((&answer["line"], &answer["query"]), (&json!(number), &json!(line)));
                if number % 6 == 0 {
                    let one: Vec<&str> = option.into_iter().chain([line.as_str()]).collect();
                    let one = place.run(&[&["near", "--json"], &one[..], more].concat());
                    match one.objects().first() {
                        Some(one) => same(one, answer),
                        // A page without content at that time.
                        None => assert!(answer["why"].is_string() && one.code == 1, "{answer}"),
                    }
                }
            }
        }
    }
}

#[test]
fn texts_are_answered_in_their_epoch() {
    let place = TestFolder::new();
    let text = |of: &str, words| (0..words).map(|n| format!("{of}{n} ")).collect::<String>();
    let page = |url: &str, text: &str| json!({"url": url, "t": 1, "text": text}).to_string();
    let (one, brief) = (text("a", 200), text("b", 20));
    place.ingest(&[page("http://a/", &one), page("http://b/", &brief)].join("\n"));
    let html = format!("<html><body><p>{one}</p></body></html>");
    let lines = [one.as_str(), brief.as_str(), "too short", &html, "\u{1}\u{2}\u{3}"].join("\n");
    let ran = place.run_with_input(&["near", "--lines", "text", "--batch", "-", "--json"], &lines);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let answers = ran.objects();
    for (text, answer) in [&one, &brief].into_iter().zip(&answers) {
        place.write("text", text);
        same(&place.run(&["near", "--text", "text", "--json"]).objects()[0], answer);
    }
    assert_eq!(answers[0]["near"][0]["band"], "none");
    assert_eq!(answers[1]["near"][0]["band"], Value::Null);
    assert!(answers[2]["why"].as_str().unwrap().contains("too short"), "{}", answers[2]);
    assert_eq!(answers[2]["is_broken"], false);
    // HTML lines are reduced to their text.
    assert_eq!(answers[3]["is_broken"], true);
    let ran = place.run_with_input(&["near", "--lines", "html", "--batch", "-", "--json"], &html);
    assert_eq!(ran.objects()[0]["near"], answers[0]["near"]);
    assert_eq!(answers[4]["is_broken"], true);
}

#[test]
fn broken_line_is_reported_in_place_and_at_the_end() {
    let place = TestFolder::with(CRAWL);
    let lines = "\u{feff}00000000000000ff\r\n\nzz\n 00000000000000FD \nhttp://a/";
    let ran = place.run_with_input(&["near", "--batch", "-", "--epoch", "e"], lines);
    let expected = [
        "1     0  none   00000000000000ff  https://example.com/terms",
        "1     1  minor  00000000000000fd  https://docs.example.com/terms",
        "3     -  -      -                 broken: a fingerprint has 16 hexadecimal digits",
        "4     0  none   00000000000000fd  https://docs.example.com/terms",
        "4     1  minor  00000000000000ff  https://example.com/terms",
        "5     -  -      -                 broken: a fingerprint has 16 hexadecimal digits",
    ];
    let shown = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let found: Vec<String> = ran.out.lines().map(shown).collect();
    assert_eq!(found, expected.map(shown), "{}", ran.out);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("2 of 4 lines are broken"), "{}", ran.err);
    let last = "5555555555555555\n";
    let ran = place.run_with_input(&["near", "--batch", "-", "--epoch", "e"], last);
    assert_eq!((ran.code, ran.out.as_str()), (1, "1  -  -  -  no page is within 3 bits\n"));
}

#[test]
fn unknown_page_is_reported_in_place() {
    let place = TestFolder::with(CRAWL);
    let known = "https://example.com/terms";
    let mut lines = format!("{known}\nexample.com/terms\nhttps://example.com/old\nno\u{7f}url\n");
    lines += &"x".repeat(9000);
    let ran = place.run_with_input(&["near", "--batch", "-", "--lines", "url", "--json"], &lines);
    let answers = ran.objects();
    let reason = |n: usize| (answers[n]["why"].as_str().unwrap(), answers[n]["is_broken"] == true);
    assert_eq!(answers[0]["near"][0]["url"], "https://docs.example.com/terms");
    assert_eq!(
        reason(1),
        ("example.com/terms is not known in this store; https://example.com/terms is known", false)
    );
    assert!(reason(2).0.contains("no content now") && !reason(2).1);
    assert!(reason(3).0.contains("control character") && reason(3).1);
    assert!(reason(4).0.contains("at most 8192") && reason(4).1);
    assert_eq!(ran.code, 3);
    // Control characters are escaped.
    place.write("lines", b"\x1b[31m\xff\n".repeat(3));
    for kind in [&[][..], &["--lines", "url"], &["--lines", "text"]] {
        let ran = place.run(&[&["near", "--batch", "lines", "--epoch", "e"], kind].concat());
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{kind:?}");
    }
}

/// More lines than one batch, from a compressed file, in their order.
#[test]
fn batch_answers_keep_the_order_of_many_lines() {
    let place = groups();
    let prints: Vec<String> = (0..30_000_u64).map(|n| format!("{:016x}", n % 9000)).collect();
    let packed = zstd::encode_all((prints.join("\n") + "\n").as_bytes(), 1).unwrap();
    place.write("lines.zst", packed);
    let ran = place.run(&["near", "--batch", "lines.zst", "--json", "-k", "2"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answers = ran.objects();
    assert_eq!(answers.len(), prints.len());
    let found = answers.iter().filter(|answer| answer["near"][0]["distance"] == 0).count();
    // The fingerprints of the first group: 0, 1 and 2.
    assert_eq!(found, 4 * 3);
    for (number, (print, answer)) in (1..).zip(prints.iter().zip(&answers)) {
        assert_eq!((&answer["line"], &answer["fingerprint"]), (&json!(number), &json!(print)));
    }
}

/// A client that writes one line at a time gets each answer before it sends the next line.
#[test]
fn each_line_is_answered_on_arrival() {
    use std::io::{BufRead as _, BufReader};
    use std::sync::mpsc;
    use std::time::Duration;
    let place = TestFolder::with(CRAWL);
    let mut command = place.command(&["near", "--batch", "-", "--epoch", "e"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let (send, answers) = mpsc::channel();
    std::thread::spawn(move || out.lines().try_for_each(|line| send.send(line.unwrap())));
    for number in 1..4 {
        writeln!(stdin, "00000000000000ff").unwrap();
        for _ in 0..2 {
            let line = answers.recv_timeout(Duration::from_secs(60)).unwrap();
            assert!(line.starts_with(&format!("{number}  ")), "{line}");
        }
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// The fingerprint that 400 pages had before; they have others now. One page is one bit away from it,
/// and still has its fingerprint.
const LEFT: u64 = 0x0123_4567_89ab_cdef;

fn mostly_left() -> TestFolder {
    let visit = |url: String, t: u64, fingerprint: u64| {
        let fingerprint = format!("{fingerprint:016x}");
        format!("{}\n", json!({"url": url, "t": t, "fingerprint": fingerprint, "epoch": "e"}))
    };
    let url = |n: u64| format!("http://a.example/{n}");
    let mut lines: String = (0..400).map(|n| visit(url(n), 1, LEFT)).collect();
    lines += &visit("http://z.example/".to_owned(), 1, LEFT ^ 1);
    let place = TestFolder::with(&lines);
    // The segment lists pages whose content has changed since.
    place.done(&["compact"]);
    let other = |n: u64| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let later: String = (0..400).map(|n| visit(url(n), 2, other(n))).collect();
    let later = place.write("later.jsonl", later);
    place.done(&["ingest", &later]);
    place
}

#[test]
fn nothing_near_is_reported_only_after_a_complete_search() {
    let place = mostly_left();
    let print = format!("{LEFT:016x}");
    place.write("lines", &print);
    for asked in [&["near", "--json", &print][..], &["near", "--json", "--batch", "lines"]] {
        for more in [&["-k", "3"][..], &["-k", "3", "--limit", "1"], &["--nearest", "1"]] {
            let ran = place.run(&[asked, more].concat());
            assert_eq!(ran.code, 0, "{asked:?} {more:?}: {}", ran.err);
            let answer = &ran.objects()[0];
            assert_eq!(answer["near"][0]["url"], "http://z.example/", "{more:?}: {answer}");
            assert_eq!(answer["complete"], true, "{more:?}: {answer}");
        }
        // At the first moment all pages are there; only some are listed, at the smallest distance.
        let ran = place.run(&[asked, &["--at", "1", "--limit", "5"]].concat());
        let answer = &ran.objects()[0];
        assert_eq!(
            (answer["near"].as_array().unwrap().len(), &answer["complete"]),
            (5, &json!(false))
        );
        assert_eq!(answer["within"], Value::Null, "{answer}");
        let ran = place.run(&[asked, &["--at", "1", "--limit", "400"]].concat());
        assert_eq!(ran.objects()[0]["within"], 0, "{}", ran.out);
        let ran = place.run(&[asked, &["--nearest", "401", "--at", "1"]].concat());
        let answer = &ran.objects()[0];
        assert_eq!(
            (answer["near"].as_array().unwrap().len(), &answer["complete"]),
            (401, &json!(true))
        );
    }
    // If there are more pages than the limit, the answer is complete up to the distance of the first
    // omitted page.
    let farther = format!("{:016x}", LEFT ^ 3);
    let line = json!({"url": "http://y.example/", "t": 1, "fingerprint": farther, "epoch": "e"});
    place.ingest(&line.to_string());
    for asked in [&["near", "--json", &print][..], &["near", "--json", "--batch", "lines"]] {
        let ran = place.run(&[asked, &["-k", "3", "--limit", "1"]].concat());
        let answer = &ran.objects()[0];
        assert_eq!(
            (&answer["near"][0]["url"], &answer["complete"], &answer["within"]),
            (&json!("http://z.example/"), &json!(false), &json!(1)),
            "{answer}"
        );
    }
    // A budget may end a search before anything is found. Then it is unknown whether there is anything.
    let ran = place.run(&["near", &print, "-k", "3", "--budget", "0"]);
    assert!(ran.code == 0 && !ran.err.contains("nothing is"), "{} {}", ran.code, ran.err);
    assert!(ran.err.contains("the search ended before"), "{}", ran.err);
    let ran = place.run(&["near", "ffffffffffffffff", "-k", "3"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no page is within 3 bits"), "{}", ran.err);
}
