//! Impossible times, and the clock.

use super::*;

/// A record of an archive.
fn warc(url: &str, date: &str, head: &str, text: &str) -> String {
    let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{head}\r\n{text}");
    let length = http.len();
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n\
         Content-Type: application/http\r\nContent-Length: {length}\r\n\r\n{http}\r\n\r\n"
    )
}

fn gone(url: &str, time: &str) -> String {
    format!("{}\n", json!({"url": url, "t": time, "seen": "gone"}))
}

fn times(place: &TestFolder) -> Vec<String> {
    let time = |entry: Value| entry["t"].as_str().unwrap().to_owned();
    entries(&place.export()).iter().flat_map(|line| objects(line)).map(time).collect()
}

#[test]
fn archive_captures_before_1990_are_refused() {
    let place = TestFolder::new();
    let warcs = ["1970-01-01T00:00:00Z", "1989-12-31T23:59:59Z", "19700101000000", "1985"];
    let warcs: String = warcs.iter().map(|date| warc("http://a/", date, "", "x")).collect();
    let arc = |date: &str| {
        let http = "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nx";
        format!("http://b/{date} 192.0.2.1 {date} text/plain {}\n{http}\n", http.len())
    };
    let head = "filedesc://x.arc 0.0.0.0 20000101000000 text/plain 8\n1 0 Me\nX\n\n".to_owned();
    let arcs = ["20000115", "200001151230", "20000115123059", "19700101", "2000011512"];
    let arcs: String = arcs.iter().map(|date| arc(date)).collect();
    let files = [place.write("1.warc", warcs), place.write("2.arc", head + &arcs)];
    let ran = place.run(&["ingest", &files[0], &files[1], "--json"]);
    let summary = ran.objects().remove(0);
    assert_eq!((ran.code, &summary["records"], &summary["broken"]), (0, &3.into(), &6.into()));
    let said = ran.said();
    let before = said.iter().filter(|said| said.contains("before 1990"));
    assert_eq!(before.count(), 5, "{said:?}");
    let expected = ["2000-01-15T00:00:00Z", "2000-01-15T12:30:00Z", "2000-01-15T12:30:59Z"];
    assert_eq!(times(&place), expected);
}

#[test]
fn last_modified_after_its_response_is_dropped() {
    let place = TestFolder::new();
    let (visit, day) = ("2024-05-02T12:00:00Z", "2024-05-02T11:00:00Z");
    let http = |time: &str| {
        let day: jiff_free::ArbitraryDate = time.into();
        day.http()
    };
    let file: String = [
        ("none", None, "2098-01-01T00:00:00Z"),
        ("after-visit", None, "2024-05-02T12:00:01Z"),
        ("at-visit", None, "2024-05-02T12:00:00Z"),
        ("after-date", Some(day), "2024-05-02T11:00:01Z"),
        ("at-date", Some(day), day),
        ("epoch", Some(day), "1970-01-01T00:00:00Z"),
        ("both-wrong", Some("2099-01-01T00:00:00Z"), "2098-01-01T00:00:00Z"),
    ]
    .iter()
    .map(|(name, date, modified)| {
        let date = date.map(|date| format!("Date: {}\r\n", http(date))).unwrap_or_default();
        let head = format!("{date}Last-Modified: {}\r\n", http(modified));
        warc(&format!("http://a/{name}"), visit, &head, "some text")
    })
    .collect();
    place.done(&["ingest", &place.write("x.warc", file)]);
    let kept: Vec<String> = entries(&place.export())
        .iter()
        .flat_map(|line| objects(line))
        .filter(|entry| entry.get("modified").is_some())
        .map(|entry| entry["url"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kept, ["http://a/at-date", "http://a/at-visit"]);
}

/// Dates as HTTP writes them.
mod jiff_free {
    pub(super) struct ArbitraryDate([u32; 6]);

    impl From<&str> for ArbitraryDate {
        fn from(text: &str) -> ArbitraryDate {
            let parts = text.split(['-', 'T', ':', 'Z']).filter(|part| !part.is_empty());
            let parts: Vec<u32> = parts.map(|part| part.parse().unwrap()).collect();
            ArbitraryDate(parts.try_into().unwrap())
        }
    }

    impl ArbitraryDate {
        pub(super) fn http(&self) -> String {
            const MONTHS: [&str; 12] = [
                "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
            ];
            let ArbitraryDate([year, month, day, hour, minute, second]) = self;
            let month = MONTHS[*month as usize - 1];
            format!("{day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
        }
    }
}

#[test]
fn eight_digits_are_a_date() {
    let place = TestFolder::new();
    let lines = r#"{"url":"http://a/1","t":20240501,"seen":"gone"}
{"url":"http://a/2","t":"20240501","seen":"gone"}
{"url":"http://a/3","t":20240501.0,"seen":"gone"}
{"url":"http://a/4","t":20241301,"seen":"gone"}
{"url":"http://a/5","t":1714521600,"seen":"gone"}
"#;
    place.ingest(lines);
    let [date, seconds] = ["2024-05-01T00:00:00Z", "1970-08-23T06:35:01Z"];
    assert_eq!(times(&place), [date, date, date, seconds, date]);
    let ran = place.run(&["history", "http://a/1", "--at", "20240501"]);
    assert!(ran.err.contains("no content at 2024-05-01T00:00:00Z"), "{}", ran.err);
}

#[test]
fn visit_beyond_the_clock_tolerance_is_refused_and_counted() {
    for verb in [&["ingest", "-"][..], &["load", "-", "--skip-broken"]] {
        let place = TestFolder::new();
        let lines = gone("http://a/good", "2024-01-02T00:00:00Z")
            + &gone("http://a/bad", "2024-01-02T00:00:01Z")
            + &gone("http://a/bad", "2099-01-01")
            + "{\"url\":\"http://a/good\",\"t\":\"2099-01-01\",\"weight\":2}\n";
        let at = ["--now", "2024-01-01", "--json"];
        let ran = place.run_with_input(&[verb, &at].concat(), &lines);
        let summary = ran.objects().remove(0);
        assert_eq!(
            (ran.code, &summary["broken"], &summary["future_visits"]),
            (0, &2.into(), &2.into())
        );
        assert!(ran.said()[0].contains(
            "standard input, line 2: http://a/bad: the time of the visit, 2024-01-02T00:00:01Z, is after"
        ));
        assert_eq!(times(&place).len(), 2, "a weight is no visit");
        // The user may allow more, or all.
        for tolerance in ["25h", "none"] {
            let at = ["--now", "2024-01-01", "--clock-tolerance", tolerance, "--json"];
            let line = gone("http://a/bad", "2024-01-02T00:00:01Z");
            let ran = place.run_with_input(&[verb, &at].concat(), &line);
            assert_eq!((ran.code, &*ran.err), (0, ""), "{tolerance}");
        }
    }
    let place = TestFolder::new();
    let late = gone("http://a/", "2099-01-01");
    let ran = place.run_with_input(&["load", "-"], &late);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let ran = place.run_with_input(&["ingest", "-", "--strict"], &late);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let ran = place.run_with_input(&["ingest", "-", "--outcomes"], &late);
    let line = ran.objects().remove(0);
    let at = "standard input, line 1";
    assert_eq!((&line["is_broken"], &line["at"]), (&true.into(), &at.into()));
    assert!(line["why"].as_str().unwrap().contains("--clock-tolerance"), "{line}");
}

#[test]
fn clock_behind_the_store_warns_and_refuses_nothing() {
    let place = TestFolder::with(&gone("http://a/", "2024-01-01"));
    let lines = gone("http://b/", "2024-01-05");
    let ran = place.run_with_input(&["ingest", "-", "--now", "1970-01-01", "--json"], &lines);
    assert_eq!((ran.code, &ran.objects()[0]["broken"]), (0, &0.into()));
    assert!(ran.said()[0].contains("the clock of this machine shows 1970-01-01"), "{}", ran.err);
    // Within the tolerance the clock is trusted.
    let lines = gone("http://c/", "2024-01-08");
    let ran =
        place.run_with_input(&["ingest", "-", "--now", "2024-01-04T12:00Z", "--json"], &lines);
    assert_eq!(ran.objects()[0]["broken"], 1);
    // The contents of a store or an export are loaded, whatever the clock says.
    let other = TestFolder::new();
    let store = place.store();
    let ran = other.run(&["load", store.to_str().unwrap(), "--now", "2000-01-01"]);
    assert_eq!((ran.code, &*ran.err), (0, ""));
    let export = TestFolder::new();
    let ran = export.run_with_input(&["load", "-", "--now", "2000-01-01"], &place.export());
    assert_eq!((ran.code, &*ran.err), (0, ""));
    assert_eq!(export.export(), place.export());
}
