//! Texts that are too short to be distinguished from others.

use std::collections::BTreeSet;

use simkeep::fingerprint::{Document, EXTRACTOR, Fingerprinter, Recipe, of_text, visible_text};

use super::archive::of;
use super::*;

/// A page that a server sent on a day.
fn sent(url: &str, day: u32, page: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
    of("response", url, day, &[], &block)
}

/// Pages with little or no text: a script each, none at all, a few words, or a few characters.
fn empty(n: usize) -> String {
    match n % 4 {
        0 => {
            format!("<!doctype html><div id=app></div><script>start({n}, 'of many words')</script>")
        }
        1 => "<!doctype html><body></body>".to_owned(),
        2 => format!("<!doctype html><title>Shop</title><p>Loading item {n} of 1,000"),
        _ => format!("<!doctype html><p>请启用脚本<noscript>{n}"),
    }
}

/// One page in ten has the bytes of the previous one, and one has nearly its words.
fn real(n: usize) -> String {
    let of = if n % 10 == 1 || n % 10 == 2 { n / 10 * 10 } else { n };
    let mut words: Vec<String> = (0..2_000).map(|i| format!("w{of}x{i}")).collect();
    if n % 10 == 2 {
        words[30] = "other".into();
    }
    format!("<!doctype html><p>{}", words.join(" "))
}

/// The fingerprint of a text, however short.
fn raw(text: &str) -> u64 {
    Fingerprinter::new(&Recipe::DEFAULT).unwrap().of_text(text).unwrap()
}

/// The distance of a page from its near-duplicate.
fn near_of(n: usize) -> u32 {
    let [one, other] = [n, n + 2].map(|n| of_text(&visible_text(&real(n))).unwrap());
    (one ^ other).count_ones()
}

fn ingest(place: &TestFolder, archive: &str) -> Value {
    let path = place.write("crawl.warc", archive);
    let ran = place.run(&["ingest", &path, "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    ran.objects().remove(0)
}

fn history(place: &TestFolder, url: &str) -> Vec<Value> {
    place.run(&["history", url, "--json"]).objects()
}

#[test]
fn pages_without_text_are_only_copies_of_equal_pages() {
    let place = TestFolder::new();
    let archive: String = (0..1_200)
        .map(|n| match n % 6 {
            5 => sent(&format!("http://real.example/{}", n / 6), 1, &real(n / 6)),
            _ => sent(&format!("http://empty.example/{n}"), 1, &empty(n)),
        })
        .collect();
    let summary = ingest(&place, &archive);
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert_eq!((count("records"), count("new_pages"), count("short_texts")), (1_200, 1_200, 1_000));
    // Each of twenty groups has a copy, and one that is near to both if its one word moves few bits.
    let distances: Vec<u32> = (0..20).map(|group| near_of(group * 10)).collect();
    let within = |k: u32| distances.iter().filter(|distance| **distance <= k).count();
    assert!(within(3) > 15);
    let empty_pages: Vec<String> = (0..1_200).filter(|n| n % 6 != 5).map(empty).collect();
    let copies = empty_pages.len() - empty_pages.iter().collect::<BTreeSet<_>>().len();
    let expected = (20 + copies as u64, within(3) as u64);
    assert_eq!((count("exact_copies"), count("near_duplicates")), expected);
    let epochs = place.run(&["epoch", "list", "--json"]).objects();
    assert_eq!(epochs[0]["fingerprints"], 180 - within(0));
    let shown = place.done(&["pairs", "-k", "7"]);
    assert_eq!(shown.lines().count(), within(7) - within(0));
    assert!(!shown.contains("empty.example"), "{shown}");

    let ran = place.run(&["near", "--url", "http://empty.example/1"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("has no fingerprint"), "{}", ran.err);
    for zero in ["0000000000000000", &format!("{:016x}", raw("Shop\nLoading item 2 of 1,000"))] {
        assert_eq!(place.run(&["near", zero, "-k", "5"]).code, 1);
    }
    let page = place.write("page.html", empty(0));
    let ran = place.run(&["near", "--html", &page]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("page.html is too short for a fingerprint"), "{}", ran.err);

    let documents: String = (0..1_200)
        .map(|n| if n % 6 == 5 { real(n / 6) } else { empty(n) })
        .enumerate()
        .map(|(n, page)| json!({ "id": n.to_string(), "text": page }).to_string() + "\n")
        .collect();
    let (documents, pairs) =
        (place.write("d.jsonl", documents), place.write("p.tsv", "5\t17\t1\n"));
    let args = ["evaluate", &documents, "--pairs", &pairs, "--html", "--recipe", "default"];
    let out = place.done(&args);
    let left_out = "1,020 documents are left out: 500 without words, 500 too short, 20 with the same \
                    words as another document";
    assert_eq!(out.lines().nth(1), Some(left_out));

    // Equal bytes have one digest; other bytes have another.
    let digest = |n: usize| {
        let url = format!("http://empty.example/{n}");
        history(&place, &url)[0]["digest"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest(1), digest(9));
    assert_ne!(digest(0), digest(4));
    assert_eq!(digest(2), super::archive::sha1(empty(2))["sha1:".len()..][..32]);

    let file = place.file("crawl.warc");
    let shown = TestFolder::new().done(&["ingest", &file]);
    let line = "too short                        1,000  fewer than 8 words, or only ignored words: no fingerprint; compared by digest";
    assert!(shown.contains(line), "{shown}");
    let loaded = TestFolder::new();
    assert_eq!(loaded.run(&["load", &file, "--json"]).objects()[0]["short_texts"], 1_000);
    assert_eq!(loaded.export(), place.export());
}

#[test]
fn digest_decides_for_pages_without_a_fingerprint() {
    let place = TestFolder::new();
    let (one, other) = (empty(0), empty(4));
    let pages = [&one, &one, &other, &real(0), &one];
    let archive: String =
        (1..).zip(pages).map(|(day, page)| sent("http://a/", day, page)).collect();
    ingest(&place, &archive);
    let history = history(&place, "http://a/");
    let verdicts: Vec<&str> = history.iter().map(|v| v["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["new", "same", "changed", "changed", "reverted"]);
    assert_eq!((&history[1]["by"], &history[2]["by"]), (&json!("digest"), &json!("digest")));
    assert!(history[3].get("by").is_none());
    let lines = place.done(&["history", "http://a/"]);
    let verdicts: Vec<&str> = lines.lines().map(|line| line.split("  ").last().unwrap()).collect();
    let bytes = format!("; {} bytes", one.len());
    let expected = ["same (digest)", "changed (by digest, without a fingerprint)"];
    assert_eq!(verdicts[1..3], expected.map(|verdict| format!("{verdict}{bytes}")));
    assert!(history.iter().all(|visit| visit.get("distance").is_none()));
    let none: Vec<bool> = history.iter().map(|visit| visit["fingerprint"].is_null()).collect();
    assert_eq!(none, [true, true, true, false, true]);
}

/// `near --explain` reports how many pages were left out: too short, stale, or gone.
#[test]
fn explained_search_counts_pages_left_out() {
    let place = TestFolder::new();
    let archive: String =
        (0..5).map(|n| sent(&format!("http://empty.example/{n}"), 1, &empty(n))).collect();
    ingest(&place, &(archive + &sent("http://real.example/", 1, &real(0))));
    let page = place.write("page.html", real(0));
    let without = |args: &[&str]| {
        let args = [&["near", "--html", &page, "--explain"][..], args].concat();
        let object = place.run(&[&args[..], &["--json"]].concat()).objects().remove(0);
        let lines = place.run(&args).out;
        let said = lines.lines().last().unwrap().to_owned();
        (object["without_fingerprint"].as_u64().unwrap(), said)
    };
    let took_no_part = |pages: &str| {
        format!(
            "{pages} cannot be found: no fingerprint in this epoch (redirect, not text, too short, or stale)"
        )
    };
    assert_eq!(without(&[]), (5, took_no_part("5 pages")));
    let plain = place.run(&["near", "--html", &page, "--json"]).objects().remove(0);
    assert!(plain["without_fingerprint"].is_null());
    // No page has a fingerprint of the next epoch until it is restated.
    place.done(&["epoch", "begin", "--recipe", "strict"]);
    assert_eq!(without(&[]).0, 6);
    assert_eq!(without(&["--epoch", "html/3 words2-sqrt/2"]).0, 5);
    place.done(&["ingest", &place.file("crawl.warc"), "--restate"]);
    place.ingest(r#"{"url":"http://empty.example/0","t":"2030-01-01T00:00:00Z","seen":"gone"}"#);
    place.done(&["forget", "http://empty.example/1"]);
    place.done(&["forget", "http://empty.example/2"]);
    place.done(&["forget", "http://empty.example/3"]);
    assert_eq!(without(&[]), (1, took_no_part("1 page")));
}

#[test]
fn other_extractor_versions_get_no_fingerprints() {
    no_fingerprints_in("html/1 words2-sqrt/1");
    no_fingerprints_in("html/2 words2-sqrt/1");
    no_fingerprints_in("html/2 words2-sqrt/2");
}

fn no_fingerprints_in(old: &str) {
    let place = TestFolder::new();
    let options = Options::default().epoch(old.to_owned());
    Store::create(place.store(), options).unwrap().close().unwrap();
    let ready =
        format!(r#"{{"url":"http://a/","t":0,"fingerprint":"0000000000000000","epoch":"{old}"}}"#);
    place.ingest(&ready);
    let text = "A text of a page with some more than eight words.";
    let line =
        |t: u32, text: &str| format!("{{\"url\":\"http://a/\",\"t\":{t},\"text\":\"{text}\"}}\n");
    let file = place.write("text.txt", text);
    for args in [
        &["ingest", "-"][..],
        &["ingest", "-", "--restate"],
        &["load", "-"],
        &["near", "--text", &file],
        &["near", "--text", &file, "--epoch", old],
    ] {
        let ran = place.run_with_input(args, &line(1, text));
        assert_ne!(ran.code, 0);
        for said in [old, EXTRACTOR, "cannot be compared", "simkeep epoch begin"] {
            assert!(ran.err.contains(said), "{args:?}: {}", ran.err);
        }
    }
    assert_eq!(history(&place, "http://a/").len(), 1);

    place.done(&["epoch", "begin"]);
    let summary = place.ingest(&line(1, text));
    assert_eq!((&summary["changed"], &summary["short_texts"]), (&1.into(), &0.into()));
    // What the old one had is not compared; and of what it made of few words nothing is left.
    assert!(history(&place, "http://a/")[1].get("distance").is_none());
    assert_eq!(place.ingest(&line(2, "Loading"))["short_texts"], 1);
    let restate = ["ingest", "-", "--restate", "--json"];
    let summary = place.run_with_input(&restate, &line(0, "Few words")).objects().remove(0);
    assert_eq!((&summary["missing"], &summary["restated"]), (&1.into(), &0.into()));
    let digest = &super::archive::sha1("Few words")["sha1:".len()..][..32];
    let ready = ready.replace("http://a/", "http://b/");
    place.ingest(&ready.replace(",\"epoch\"", &format!(",\"digest\":\"{digest}\",\"epoch\"")));
    let summary = place.run_with_input(&restate, &line(0, "Few words").replace("//a/", "//b/"));
    let summary = summary.objects().remove(0);
    assert_eq!((&summary["restated"], &summary["short_texts"]), (&1.into(), &1.into()));
    assert_eq!(place.run(&["near", "--url", "http://b/"]).code, 1);
    place.done(&["epoch", "end", old, "--left", "0"]);
    place.done(&["verify"]);
}

#[test]
fn requested_fingerprint_is_made_of_any_text() {
    let place = TestFolder::new();
    let (few, enough) = ("Too few words", "您需要启用脚本才能运行此应用");
    let few = place.write("few.txt", few);
    let enough = place.write("enough.txt", enough);
    let ran = place.run(&["fingerprint", &few, &enough]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2));
    let expected = format!("{:016x}  {few}", raw("Too few words"));
    assert_eq!(ran.out.lines().next(), Some(expected.as_str()));
    assert_eq!(ran.err.lines().count(), 1);
    assert!(ran.err.contains("few.txt has fewer than 8 words, too few for a comparison"));
    let ran = place.run_with_input(&["fingerprint"], "few words");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 1));
    assert!(ran.err.contains("standard input has fewer than 8 words"), "{}", ran.err);
    let objects = place.run(&["fingerprint", &few, &enough, "--json"]);
    assert_eq!(objects.err, "");
    let short: Vec<Value> =
        objects.objects().iter().map(|object| object["too_short"].clone()).collect();
    assert_eq!(short, [true, false]);
}

#[test]
fn evaluate_skips_short_texts_by_the_common_rule() {
    let place = TestFolder::new();
    let texts = [
        "one two three four five six seven",
        "one two three four five six seven eight",
        // Without spaces, with seven words and with eight.
        "我们会更新本政策",
        "我们会更新本政策了",
        "",
    ];
    let short = texts.iter().filter(|text| Document::new(**text).is_too_short()).count();
    assert_eq!(short, 3);
    let lines: String = (0..)
        .zip(texts)
        .map(|(n, text)| format!("{{\"id\":\"{n}\",\"text\":\"{text}\"}}\n"))
        .collect();
    let (documents, pairs) = (place.write("d.jsonl", lines), place.write("p.tsv", "1\t3\t0\n"));
    let args = ["evaluate", &documents, "--pairs", &pairs, "--recipe", "default", "--json"];
    let object = place.run(&args).objects().remove(0);
    assert_eq!(object["documents"], 2);
    assert_eq!(
        object["left_out"],
        json!({"empty_documents": 1, "short_documents": 2, "equal_documents": 0})
    );
}
