//! A 30-day crawl with the documented loop: `due --urls`, fetch, `ingest`. The site redirects, serves
//! files, fails and goes away. The expected history of each page is written down in advance.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::{TestFolder, archive};

const DAYS: u32 = 30;
const BUDGET: &str = "12";
const HOST: &str = "https://site.example";

/// A page of many words that are selected by `seed`.
fn html(seed: u32) -> String {
    let mut body = String::from("<!doctype html><title>A page</title><p>");
    let mut state = u64::from(seed) + 1;
    for _ in 0..160 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        write!(body, "word{} ", (state >> 33) % 5000).unwrap();
    }
    body
}

fn ok(kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn redirect(status: u32, to: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 5\r\n\r\nmoved")
}

/// The response of the site to a GET on a day; `is_known` if the crawler has the page already.
fn answer(path: &str, day: u32, is_known: bool) -> String {
    let page = |seed| ok("text/html", &html(seed));
    let (kind, number) = path[1..].split_once('-').unwrap_or((&path[1..], "0"));
    let seed: u32 = number.parse().unwrap_or(0);
    match kind {
        "still" => page(seed),
        "news" => page(1000 * (seed + 1) + day),
        // Nearly the same as its twin.
        "twin" if seed == 1 => ok("text/html", &format!("{} more", html(77))),
        "twin" => page(77),
        "moved" if day >= 10 => redirect(301, "/still-1"),
        "moved" => page(300),
        "left" if day >= 15 => redirect(308, &format!("{HOST}/twin-0")),
        "left" => page(77),
        "back" if (10..20).contains(&day) => redirect(302, "/maintenance"),
        "back" => page(301),
        "here" => redirect(302, "still-2"),
        "turns" => redirect(307, &format!("/target-{}", day / 10)),
        "loop" => redirect(302, if seed == 0 { "/loop-1" } else { "/loop-0" }),
        "nowhere" => "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "pdf" => ok("application/pdf", &format!("%PDF-1.7 {seed}")),
        "image" => ok("image/png", &format!("\u{89}PNG {seed}")),
        "weekly" => ok("application/pdf", &format!("%PDF-1.7 week {}", day / 7)),
        "became" if day >= 10 => ok("application/pdf", "%PDF-1.7 once a page"),
        "became" => page(302),
        "gone" if day >= 10 => "HTTP/1.1 404 Not Found\r\n\r\n<p>Not found".to_owned(),
        "gone" => page(303),
        "broken" => "HTTP/1.1 500 Oops\r\n\r\n<p>Oops".to_owned(),
        "cut" if day >= 1 => "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n<p>cut".to_owned(),
        "cut" => page(304),
        "part" if day >= 1 => {
            "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-4/99\r\n\r\n<p>pa".to_owned()
        }
        "part" => page(305),
        "cached" if is_known => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
        "cached" => page(306),
        other => panic!("no such page: {other}"),
    }
}

fn pages() -> Vec<String> {
    let mut pages: Vec<String> = (0..8).map(|n| format!("/still-{n}")).collect();
    pages.extend((0..3).map(|n| format!("/news-{n}")));
    for kind in ["twin", "loop", "pdf", "image", "broken"] {
        pages.extend((0..2).map(|n| format!("/{kind}-{n}")));
    }
    let others = [
        "/moved", "/left", "/back", "/here", "/turns", "/nowhere", "/weekly", "/became", "/gone",
        "/cut", "/part", "/cached",
    ];
    pages.extend(others.map(str::to_owned));
    pages
}

/// The output of the fetcher: for each page a HEAD probe and a GET, each with its request record, before
/// or after the response.
fn fetch(urls: &[String], day: u32, known: &mut BTreeMap<String, u32>) -> String {
    let mut file = String::new();
    for (nth, url) in urls.iter().enumerate() {
        let path = url.strip_prefix(HOST).unwrap();
        let visits = known.entry(url.clone()).or_default();
        let get = answer(path, day, *visits > 0);
        *visits += 1;
        let head = format!("{}\r\n\r\n", get.split("\r\n\r\n").next().unwrap());
        for (method, block) in [("HEAD", head), ("GET", get)] {
            let id = format!("<urn:test:{day}-{nth}-{method}>");
            let http = "application/http";
            let response = archive::of(
                "response",
                url,
                day + 1,
                &[("Content-Type", http), ("WARC-Record-ID", &id)],
                &block,
            );
            let request = archive::of(
                "request",
                url,
                day + 1,
                &[("Content-Type", http), ("WARC-Concurrent-To", &id)],
                &format!("{method} {path} HTTP/1.1\r\nHost: site.example\r\n\r\n"),
            );
            file += &if nth % 2 == 0 { request + &response } else { response + &request };
        }
    }
    file
}

/// The verdicts in the history of a page, with runs of equal verdicts merged.
fn runs(place: &TestFolder, path: &str) -> Vec<String> {
    let history = place.run(&["history", &format!("{HOST}{path}"), "--json"]).objects();
    let mut verdicts: Vec<String> =
        history.iter().filter_map(|entry| entry["verdict"].as_str().map(str::to_owned)).collect();
    verdicts.dedup();
    verdicts
}

fn near(place: &TestFolder, path: &str) -> Vec<String> {
    let ran = place.run(&["near", "--url", &format!("{HOST}{path}"), "--json"]);
    let url = |page: &Value| page["url"].as_str().map(str::to_owned);
    let all = ran.objects().into_iter().flat_map(|object| match object["near"].as_array() {
        Some(near) => near.iter().filter_map(url).collect(),
        None => url(&object).into_iter().collect::<Vec<_>>(),
    });
    all.map(|url| url.strip_prefix(HOST).unwrap_or(&url).to_owned()).collect()
}

#[test]
fn crawler_is_not_stopped_by_any_page() {
    // The expected runs of verdicts, and the near pages at the end.
    let expected: [(&str, &[&str], &[&str]); 12] = [
        ("/still-1", &["new", "same"], &[]),
        ("/twin-0", &["new", "same"], &["/twin-1"]),
        ("/twin-1", &["new", "same"], &["/twin-0"]),
        ("/moved", &["new", "same", "changed", "same"], &[]),
        ("/left", &["new", "same", "changed", "same"], &[]),
        ("/back", &["new", "same", "changed", "same", "reverted", "same"], &[]),
        ("/here", &["new", "same"], &[]),
        ("/loop-0", &["new", "same"], &[]),
        ("/pdf-1", &["new", "same"], &[]),
        ("/became", &["new", "same", "changed", "same"], &[]),
        ("/gone", &["new", "same", "gone"], &[]),
        ("/broken-0", &["failed"], &[]),
    ];
    let place = TestFolder::new();
    let mut known = BTreeMap::new();
    for day in 0..DAYS {
        let urls: Vec<String> = if day == 0 {
            pages().iter().map(|path| format!("{HOST}{path}")).collect()
        } else {
            let now = format!("2024-01-{:02}", day + 1);
            let listed = place.done(&["due", "--urls", "--limit", BUDGET, "--now", &now]);
            listed.lines().map(str::to_owned).collect()
        };
        let file = place.write(&format!("{day}.warc"), fetch(&urls, day, &mut known));
        let summary = place.run(&["ingest", &file, "--json"]).objects().remove(0);
        assert_eq!(summary["records"], urls.len(), "day {day}: {summary}");
        assert_eq!(summary["skipped"]["answer to HEAD"], urls.len(), "{summary}");
        assert_eq!(summary["broken"], 0, "{summary}");
    }
    let visits = |path: &str| known[&format!("{HOST}{path}")];
    let most = (0..8).map(|n| visits(&format!("/still-{n}"))).max().unwrap();
    for path in pages() {
        if ["/news", "/still", "/twin"].iter().any(|changing| path.starts_with(changing)) {
            continue;
        }
        let allowed = f64::from(most) * 1.5;
        println!("{path}: {} visits, of {allowed} at most", visits(&path));
        // A page that changes on purpose may be visited more often.
        let changes = ["/turns", "/weekly", "/back"].contains(&path.as_str());
        assert!(changes || f64::from(visits(&path)) <= allowed, "{path}: {}", visits(&path));
    }
    for (path, verdicts, neighbours) in expected {
        let mut found = runs(&place, path);
        // Whether it was visited again after its last change depends on the days.
        let mut wanted = verdicts.to_vec();
        found.retain(|verdict| verdict != "same");
        wanted.retain(|verdict| *verdict != "same");
        assert_eq!(found, wanted, "{path}");
        assert_eq!(near(&place, path), neighbours, "{path}");
    }
    let verified = place.run(&["verify", "--json"]);
    assert_eq!(verified.code, 0, "{}", verified.err);
}

/// A server that sets a cookie redirects a page to itself and then serves it, within one second.
#[test]
fn redirect_and_content_in_one_second_are_one_version() {
    let url = "http://a.example/";
    let page = ok("text/html", &html(1));
    let pdf = ok("application/pdf", "%PDF-1.7");
    for content in [&page, &pdf] {
        for turned in [false, true] {
            let place = TestFolder::new();
            for day in 1..5 {
                let mut records = [redirect(307, "/"), content.clone()].map(|block| {
                    let http = [("Content-Type", "application/http")];
                    archive::of("response", url, day, &http, &block)
                });
                if turned {
                    records.reverse();
                }
                let file = place.write("day.warc", records.concat());
                for again in [false, true] {
                    let summary = place.run(&["ingest", &file, "--json"]).objects().remove(0);
                    let versions = u32::from(day == 1 && !again);
                    assert_eq!(
                        summary["new_versions"], versions,
                        "{day} {again} {turned}: {summary}"
                    );
                }
            }
            assert_eq!(place.run(&["history", url, "--json"]).objects().len(), 4);
        }
    }
}
