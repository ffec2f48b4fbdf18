//! Revisit records of archives.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

use super::archive::{self, response, revisit, sha1};

const FIRST: &str = "the first text of this page, with a few more words";
const OTHER: &str = "and quite another text that came later";

fn ingest(place: &TestFolder, archive: &str) -> Value {
    let path = place.write("crawl.warc", archive);
    place.run(&["ingest", &path, "--json"]).objects().remove(0)
}

fn verdicts(place: &TestFolder, url: &str) -> Vec<String> {
    let objects = place.run(&["history", url, "--json"]).objects();
    objects.iter().map(|object| object["verdict"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn revisit_counts_as_the_content_of_its_original() {
    let place = TestFolder::new();
    let first = sha1(FIRST);
    let digest = [("WARC-Payload-Digest", first.as_str())];
    let archive = [
        response("http://a/", 1, &first, FIRST),
        revisit("http://a/", 2, &digest),
        response("http://a/", 3, &sha1(OTHER), OTHER),
        revisit("http://a/", 4, &digest),
        revisit("http://a/", 5, &digest),
    ]
    .concat();
    let summary = ingest(&place, &archive);
    assert_eq!((&summary["new_pages"], &summary["same"]), (&1.into(), &2.into()));
    assert_eq!((&summary["changed"], &summary["reverted"]), (&1.into(), &1.into()));
    assert_eq!(verdicts(&place, "http://a/"), ["new", "same", "changed", "reverted", "same"]);
    let export = place.export();
    assert_eq!(ingest(&place, &archive)["known"], 5);
    assert_eq!(place.export(), export);
}

#[test]
fn revisit_may_repeat_another_page() {
    let place = TestFolder::new();
    let digest = sha1(FIRST);
    let archive = [
        response("http://a/", 1, &digest, FIRST),
        revisit(
            "http://b/",
            2,
            &[("WARC-Payload-Digest", &digest), ("WARC-Refers-To-Target-URI", "http://a/")],
        ),
        revisit(
            "http://c/",
            3,
            &[
                ("WARC-Refers-To-Target-URI", "http://a/"),
                ("WARC-Refers-To-Date", "2024-01-01T00:00:00Z"),
            ],
        ),
    ]
    .concat();
    let summary = ingest(&place, &archive);
    assert_eq!((&summary["new_pages"], &summary["exact_copies"]), (&3.into(), &2.into()));
    assert_eq!(place.done(&["near", "--url", "http://c/"]).lines().count(), 2);
    assert_eq!(ingest(&place, &archive)["known"], 3);
}

#[test]
fn revisit_without_its_original_keeps_its_own_data() {
    let place = TestFolder::new();
    let digest = sha1(FIRST);
    let alone = [("WARC-Payload-Digest", digest.as_str())];
    let summary = ingest(&place, &revisit("http://a/", 2, &alone));
    assert_eq!(summary["revisits_without_original"], 1);
    let export = place.export();
    assert!(export.contains(r#""seen":"not-modified""#) && export.contains("digest"), "{export}");
    // A later original does not add a visit.
    let both = revisit("http://a/", 2, &alone) + &response("http://a/", 1, &digest, FIRST);
    assert_eq!(ingest(&place, &both)["known"], 1);
    let summary = ingest(&place, &both);
    assert_eq!((&summary["known"], &summary["revisits_without_original"]), (&2.into(), &0.into()));
    assert_eq!(entries(&place.export()).len(), 2);
}

/// It is unknown whether this original is meant; but the same digest on any page is the same content.
#[test]
fn original_on_another_page_is_found_while_remembered() {
    let place = TestFolder::new();
    let digest = sha1(FIRST);
    let alone = [("WARC-Payload-Digest", digest.as_str())];
    let both = response("http://a/", 1, &digest, FIRST) + &revisit("http://b/", 2, &alone);
    let summary = ingest(&place, &both);
    assert_eq!((&summary["new"], &summary["exact_copies"]), (&2.into(), &1.into()));
    assert_eq!(summary["revisits_without_original"], 0);
    assert_eq!(ingest(&place, &both)["known"], 2);
    // The rest of the input does not matter.
    assert_eq!(ingest(&place, &revisit("http://b/", 2, &alone))["known"], 1);
    let summary = ingest(&place, &revisit("http://c/", 2, &alone));
    assert_eq!(summary["revisits_without_original"], 1);
}

#[test]
fn digests_of_other_algorithms_find_an_original() {
    let digest = "sha256:5cd0b9d6b2d0f0d0c57a0b7a2cbb27b2d61d6a2d6c3b8a5f3f5b1de3e4a0e3c1";
    for declared in [archive::sha256(FIRST), archive::md5(FIRST)] {
        let place = TestFolder::new();
        let alone = [("WARC-Payload-Digest", declared.as_str())];
        let referring = |time| {
            let to = ("WARC-Refers-To-Target-URI", "http://a/");
            [alone[0], to, ("WARC-Refers-To-Date", time)]
        };
        let archive = [
            response("http://a/", 1, &declared, FIRST),
            response("http://a/", 3, &archive::sha256(OTHER), OTHER),
            revisit("http://a/", 4, &alone),
            revisit("http://b/", 5, &alone),
        ]
        .concat();
        let summary = ingest(&place, &archive);
        assert_eq!((&summary["wrong_digests"], &summary["reverted"]), (&0.into(), &1.into()));
        assert_eq!((&summary["new"], &summary["exact_copies"]), (&2.into(), &1.into()));
        // The stored digests have one algorithm.
        let kept = sha1(FIRST)[5..37].to_owned();
        assert_eq!(place.run(&["history", "http://b/", "--json"]).objects()[0]["digest"], kept);
        assert_eq!(ingest(&place, &archive)["known"], 4);

        // Later on by the page and the time that it names, where it names them.
        let later = revisit("http://c/", 6, &referring("2024-01-01T00:00:00Z"));
        assert_eq!(ingest(&place, &later)["new"], 1);
        assert_eq!(place.run(&["history", "http://c/", "--json"]).objects()[0]["digest"], kept);
        let wrong = revisit("http://d/", 6, &referring("2024-01-02T00:00:00Z"));
        let unknown = revisit("http://d/", 7, &[("WARC-Payload-Digest", digest)]);
        let summary = ingest(&place, &(wrong + &unknown));
        assert_eq!(summary["revisits_without_original"], 2);
        let export = place.export();
        assert!(!export.contains(&declared[7..20]), "{export}");
    }
}

#[test]
fn revisit_of_binary_content_has_that_content() {
    let place = TestFolder::new();
    let image = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\npixels";
    let bytes = "HTTP/1.1 200 OK\r\n\r\na\0b";
    let digests = ["pixels", "a\0b", "another"].map(sha1);
    let named = |digest: &'static str| [("WARC-Payload-Digest", digest)];
    let [one, two, three] = digests.map(|digest| named(String::leak(digest)));
    let to_it = [
        ("WARC-Refers-To-Target-URI", "http://a/2"),
        ("WARC-Refers-To-Date", "2024-01-01T00:00:00Z"),
    ];
    let archive = [
        archive::of("response", "http://a/1", 1, &one, image),
        archive::of("response", "http://a/2", 1, &two, bytes),
        archive::of("revisit", "http://a/1", 2, &one, ""),
        archive::of("revisit", "http://a/2", 2, &two, "HTTP/1.1 200 OK\r\n\r\n"),
        archive::of("revisit", "http://a/3", 2, &three, image),
        archive::of("revisit", "http://a/4", 2, &to_it, ""),
        response("http://a/5", 1, &sha1(FIRST), FIRST),
    ]
    .concat();
    let summary = ingest(&place, &archive);
    assert_eq!((&summary["records"], &summary["not_text"]), (&7.into(), &2.into()), "{summary}");
    // The one whose content nobody has seen is alone.
    assert_eq!((&summary["new"], &summary["same"]), (&4.into(), &2.into()), "{summary}");
    assert_eq!(summary["revisits_without_original"], 1);
    let pages = place.run(&["scan", "--json"]).objects();
    let digest = |page: usize| pages[page]["digest"].clone();
    assert_eq!((pages.len(), digest(1) == digest(3), digest(0) == digest(1)), (5, true, false));
}

/// Reproducible pseudorandom numbers.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

/// The original of a revisit is found in the pending batch and in the store.
#[test]
fn batch_size_does_not_affect_revisits() {
    let texts: Vec<String> = (0..4).map(|n| format!("text {n} of some words")).collect();
    let urls = ["http://a/", "http://b/", "http://c/"];
    for seed in 0..6 {
        let mut below = numbers(seed);
        let mut archive = String::new();
        for _ in 0..60 {
            let mut pick = |of: usize| usize::try_from(below(of as u64)).unwrap();
            let (url, text) = (urls[pick(3)], &texts[pick(4)]);
            let day = u32::try_from(1 + pick(28)).unwrap();
            let digest = match pick(5) {
                0 => archive::sha256(text),
                1 => sha1("what nobody has seen"),
                _ => sha1(text),
            };
            let to = format!("2024-01-{:02}T00:00:00Z", 1 + pick(28));
            let all = [
                ("WARC-Payload-Digest", digest.as_str()),
                ("WARC-Refers-To-Target-URI", urls[pick(3)]),
                ("WARC-Refers-To-Date", to.as_str()),
            ];
            archive += &match pick(4) {
                0 => response(url, day, &digest, text),
                1 => revisit(url, day, &all),
                2 => revisit(url, day, &all[1..]),
                _ => revisit(url, day, &all[..1]),
            };
        }
        let exports = ["1", "7", "1000"].map(|batch| {
            let place = TestFolder::new();
            let path = place.write("crawl.warc", &archive);
            let args = ["ingest", &path, "--json", "--group-size", batch];
            place.run(&args);
            let export = place.export();
            assert_eq!(place.run(&args).objects()[0]["known"], 60, "{seed}");
            assert_eq!(place.export(), export, "{seed}");
            export
        });
        assert!(exports[0] == exports[1] && exports[0] == exports[2], "{seed}");
    }
}

/// An archive may have very many revisits of one page.
#[test]
fn revisits_cost_as_much_time_as_responses() {
    const COUNT: usize = 3000;
    let times =
        (0..COUNT).map(|n| format!("2024-01-01T{:02}:{:02}:{:02}Z", n / 3600, n / 60 % 60, n % 60));
    let times: Vec<String> = times.collect();
    let digests = [FIRST, OTHER].map(sha1);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let whole = [FIRST, OTHER].map(|text| format!("{head}{text}"));
    let archive = |kind: &str| {
        let record = |(n, time): (usize, &String)| {
            let kind = if n < 2 { "response" } else { kind };
            let block = if kind == "revisit" { head } else { &whole[n % 2] };
            archive::at(kind, "http://a/", time, &[("WARC-Payload-Digest", &digests[n % 2])], block)
        };
        times.iter().enumerate().map(record).collect::<String>()
    };
    let [responses, revisits] = ["response", "revisit"].map(|kind| {
        let (place, since) = (TestFolder::new(), std::time::Instant::now());
        assert_eq!(ingest(&place, &archive(kind))["reverted"], COUNT - 2);
        since.elapsed()
    });
    // Other processes may use the processor meanwhile.
    let allowed = 2 * responses + std::time::Duration::from_secs(2);
    assert!(revisits < allowed, "{revisits:?}, as responses {responses:?}");
}

#[test]
fn visit_means_the_same_in_ingest_history_and_revisit() {
    for words in [28, 150] {
        let text =
            |word: &str| (0..words).map(|at| format!("{word}{at}")).collect::<Vec<_>>().join(" ");
        let digest = |text: &str| {
            use sha1::Digest as _;
            let hexadecimal = sha1::Sha1::digest(text).into_iter().map(|b| format!("{b:02x}"));
            format!("WARC-Payload-Digest: sha1:{}\r\n", hexadecimal.collect::<String>())
        };
        let record = |kind: &str, day: u32, text: &str, body: &str| {
            let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}");
            let length = http.len();
            format!(
                "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/\r\n\
                 WARC-Date: 2024-01-0{day}T00:00:00Z\r\nContent-Type: application/http\r\n\
                 WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n\
                 {}Content-Length: {length}\r\n\r\n{http}\r\n\r\n",
                digest(text)
            )
        };
        let (first, second) = (text("one"), text("two"));
        let file = record("response", 1, &first, &first)
            + &record("response", 2, &second, &second)
            + &record("revisit", 3, &first, "");
        let place = TestFolder::new();
        let ran = place.run(&["ingest", &place.write("a.warc", file), "--outcomes"]);
        let keys = ["verdict", "distance", "band", "words_changed"];
        let said = |line: &Value| keys.map(|key| line[key].clone());
        let ingest: Vec<_> = ran.objects().iter().map(said).collect();
        let history = place.run(&["history", "http://a/", "--json"]).objects();
        let history: Vec<_> = history.iter().map(said).collect();
        assert_eq!(ingest, history);
        assert_eq!(ingest[1][1..], ingest[2][1..], "there and back is as far");
    }
}

/// The captures of a crawl: URL, time, and the HTTP response. Some contents are texts, others are
/// too short for a fingerprint or are not texts, and most occur on several pages.
fn captures(count: usize) -> Vec<(String, String, String)> {
    let mut below = numbers(7);
    let mut captures: Vec<(String, String, String)> = Vec::new();
    for number in 0..count {
        let url = format!("http://host-{}.example/{}", below(9), below(count as u64 / 15 + 1));
        // Several captures in each second, but only one of each page.
        let second = number / 3;
        let time = format!(
            "2024-01-{:02}T{:02}:{:02}:{:02}Z",
            1 + second / 86400,
            second / 3600 % 24,
            second / 60 % 60,
            second % 60
        );
        if captures.iter().rev().take(3).any(|(other, at, _)| (other, at) == (&url, &time)) {
            continue;
        }
        let content = below(count as u64 / 10 + 1);
        let (kind, body) = match content % 3 {
            0 => ("text/plain", format!("{}", content * 7919)),
            1 => ("application/pdf", format!("%PDF-1.7 {}", content * 104_729)),
            _ => {
                let words = (0..20).map(|n| format!("word{}", content * 31 + n * n * content % 97));
                ("text/plain", words.collect::<Vec<_>>().join(" "))
            }
        };
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n{body}");
        captures.push((url, time, block));
    }
    captures
}

#[test]
fn first_capture_agrees_with_a_naive_pass() {
    let captures = captures(simkeep_testing::depth::up_to(10_000_usize).max(300));
    let body = |block: &str| block.split_once("\r\n\r\n").unwrap().1.to_owned();
    let response = |(url, time, block): &(String, String, String)| {
        archive::at("response", url, time, &[("WARC-Payload-Digest", &sha1(body(block)))], block)
    };
    let place = TestFolder::new();
    let path = place.write("crawl.warc", captures.iter().map(response).collect::<String>());
    let lines = place.run(&["ingest", &path, "--outcomes"]).objects();
    assert_eq!(lines.len(), captures.len());
    // By digest: all captures so far.
    let mut seen: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    let mut deduplicated = String::new();
    for (capture, line) in captures.iter().zip(&lines) {
        let (url, time, block) = capture;
        assert_eq!((line["url"].as_str(), line["t"].as_str()), (Some(&**url), Some(&**time)));
        let digest = sha1(body(block));
        let before = seen.entry(digest.clone()).or_default();
        let expected = before.first().map(|(t, url)| json!({"url": url, "t": t}));
        assert_eq!(line["refers_to"], expected.unwrap_or_default(), "{line}");
        before.insert((time.clone(), url.clone()));
        deduplicated += &match line["refers_to"]["url"].as_str() {
            None => response(capture),
            Some(original) => {
                let at = line["refers_to"]["t"].as_str().unwrap();
                let headers = [
                    ("WARC-Profile", archive::IDENTICAL_PAYLOAD),
                    ("WARC-Payload-Digest", digest.as_str()),
                    ("WARC-Refers-To-Target-URI", original),
                    ("WARC-Refers-To-Date", at),
                ];
                let (head, _) = block.split_once("\r\n\r\n").unwrap();
                archive::at("revisit", url, time, &headers, &format!("{head}\r\n\r\n"))
            }
        };
    }
    let referring = lines.iter().filter(|line| !line["refers_to"].is_null()).count();
    assert!(referring * 2 > lines.len(), "{referring} of {}", lines.len());
    // An archive without the repeated contents makes the same histories.
    let other = TestFolder::new();
    let path = other.write("deduplicated.warc", &deduplicated);
    other.run(&["ingest", &path]);
    let histories = |place: &TestFolder| {
        let (url, _, _) = &captures[captures.len() / 2];
        place
            .run(&["history", url, "--json"])
            .objects()
            .iter()
            .map(|e| e["verdict"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(histories(&other), histories(&place));
}

/// A revisit repeats the canonical URL of its page's content, however many records a batch has.
#[test]
fn revisit_repeats_the_canonical_url_of_the_content() {
    let html = |canonical: &str| format!("<link rel=canonical href='{canonical}'><p>{FIRST}");
    let page = |url: &str, day: u32, link: &str, html: &str| {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{link}\r\n{html}");
        let digest = sha1(html);
        archive::of("response", url, day, &[("WARC-Payload-Digest", &digest)], &http)
    };
    let (one, other) = (html("/one"), html("/other"));
    let [of_one, of_other] = [&one, &other].map(sha1);
    let repeat = |day: u32, digest: &String| {
        revisit("http://a/x", day, &[("WARC-Payload-Digest", digest.as_str())])
    };
    let linked = "HTTP/1.1 200 OK\r\nLink: </header>; rel=canonical\r\n\r\n";
    let of_header = archive::of(
        "revisit",
        "http://a/x",
        9,
        &[("WARC-Profile", archive::IDENTICAL_PAYLOAD), ("WARC-Payload-Digest", &of_one)],
        linked,
    );
    let records = [
        (page("http://a/x", 1, "", &one), "http://a/one"),
        (repeat(2, &of_one), "http://a/one"),
        (page("http://a/x", 3, "", &other), "http://a/other"),
        (repeat(4, &of_one), "http://a/one"),
        (repeat(5, &of_other), "http://a/other"),
        (page("http://a/x", 6, "Link: <>; rel=canonical\r\n", &one), "http://a/one"),
        // The header comes before the element.
        (page("http://a/x", 7, "Link: <h>; rel=\"Canonical x\"\r\n", &other), "http://a/h"),
        (repeat(8, &of_other), "http://a/h"),
        (of_header, "http://a/header"),
    ];
    for batch in ["1", "3", "1000"] {
        for end in 1..=records.len() {
            let place = TestFolder::new();
            let archive: String =
                records[..end].iter().map(|(record, _)| record.as_str()).collect();
            let path = place.write("crawl.warc", &archive);
            place.run(&["ingest", &path, "--group-size", batch]);
            let pages = place.run(&["scan", "--json"]).objects();
            assert_eq!(pages[0]["target"], records[end - 1].1, "{batch} {end}");
        }
    }
}
