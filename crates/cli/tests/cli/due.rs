//! `due` and `recrawl`: which pages to visit next, and the explanation for one page.

use serde_json::{Value, json};

use super::TestFolder;

/// A time after all visits.
const NOW: &str = "2024-03-15";

/// A fingerprint that is far from others.
fn print(n: u64) -> u64 {
    (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_right(17)
}

/// A visit on a day of 2024.
fn line(url: &str, day: u64, more: &Value) -> String {
    let mut line = json!({ "url": url, "t": 1_704_067_200 + day * 86_400 });
    let keys = line.as_object_mut().unwrap();
    more.as_object().unwrap().iter().for_each(|(key, value)| {
        keys.insert(key.clone(), value.clone());
    });
    line.to_string() + "\n"
}

fn content(fingerprint: u64) -> Value {
    json!({ "fingerprint": format!("{fingerprint:016x}"), "epoch": "e" })
}

/// Pages that change in every way, on three hosts.
fn crawl() -> String {
    let mut lines = String::new();
    for visit in 0..20 {
        let flip = if visit % 2 == 0 { 1001 } else { 1002 };
        for (page, seen) in [("news", visit), ("about", 1000), ("flip", flip)] {
            let url = format!("https://example.org/{page}");
            lines += &line(&url, visit * 3, &content(print(seen)));
        }
    }
    for page in 0..20 {
        let url = format!("https://shop.example/{page}");
        lines += &line(&url, page, &content(print(2000 + page)));
        lines += &line(&url, page + 30, &content(print(2000 + page)));
    }
    for (page, last) in [("failing", "failed"), ("gone", "gone")] {
        let url = format!("https://example.net/{page}");
        lines += &line(&url, 10, &content(print(3000 + last.len() as u64)));
        lines += &line(&url, 40, &json!({ "seen": last }));
    }
    lines
}

fn due(place: &TestFolder, args: &[&str]) -> String {
    let ran = place.run(&[&["due", "--now", NOW], args].concat());
    // If no page is listed, a message says why.
    assert_eq!((ran.code, ran.err.is_empty()), (0, !ran.out.is_empty()), "{}", ran.err);
    ran.out
}

fn urls(place: &TestFolder, args: &[&str]) -> Vec<String> {
    let urls = due(place, &[&["--urls"], args].concat());
    urls.lines().map(str::to_owned).collect()
}

fn recrawl(place: &TestFolder, page: &str, args: &[&str]) -> String {
    place.done(&[&["recrawl", page, "--now", NOW], args].concat())
}

#[test]
fn best_pages_are_listed_first() {
    let place = TestFolder::with(&crawl());
    let table = "\
11.95   2024-02-10 00:00  4.8 days  https://example.net/failing
 2.22   2024-02-27 00:00  2.8 days  https://example.org/flip
 2.12   2024-02-27 00:00  3.1 days  https://example.org/news
 1.96   2024-01-31 00:00  24 days   https://shop.example/0
";
    assert_eq!(due(&place, &["--limit", "4"]), table);
    let due = |args: &[&str]| due(&place, &[&["--policy", "crawl-value"], args].concat());
    let table = "\
7.71   2024-02-10 00:00  4.3 days  https://example.net/failing
1.64   2024-01-31 00:00  21 days   https://shop.example/0
1.57   2024-02-01 00:00  21 days   https://shop.example/1
1.51   2024-02-02 00:00  21 days   https://shop.example/2
";
    assert_eq!(due(&["--limit", "4"]), table);
    let json = "{\"url\":\"https://example.net/failing\",\"value\":7.705963733212645,\
                \"last\":\"2024-02-10T00:00:00Z\",\"due\":\"2024-02-25T00:06:24Z\",\
                \"every_seconds\":369506,\"changes_per_day\":{\"mean\":3.0591070756269683,\
                \"low\":0.0006918790478325258,\"high\":6.727754938529632},\"weight\":1,\
                \"comparisons\":0,\"changes\":0,\"returns\":0,\
                \"reason\":\"by the value of a visit\",\"hinted\":null,\"leader\":null,\
                \"rule\":null,\"headers\":{}}\n";
    assert_eq!(due(&["--limit", "1", "--json"]), json);
    let hosts = "1  7.71  7.71  example.net\n3  1.64  4.72  shop.example\n";
    assert_eq!(due(&["--limit", "4", "--by-host"]), hosts);
    let hosts = due(&["--limit", "4", "--by-host", "--json"]);
    let second = &super::objects(&hosts)[1];
    assert_eq!((&second["host"], &second["pages"]), (&json!("shop.example"), &json!(3)));
    // After a year all are overdue, and the most overdue page is the first.
    let overdue = "40.71!  2024-02-10 00:00  4.3 days  https://example.net/failing\n";
    let late = ["due", "--now", "2025-06-01", "--limit", "1", "--policy", "crawl-value"];
    assert_eq!(place.done(&late), overdue);
    assert_eq!(due(&["--limit", "1", "--max-interval", "30d"]).lines().count(), 1);
    let best = ["due", "--now", NOW, "--limit", "1", "--policy", "uniform", "--urls"];
    assert_eq!(place.done(&best), "https://example.net/failing\n");
}

#[test]
fn recrawl_explains_why_a_page_is_due() {
    let place = TestFolder::with(&crawl());
    let about =
        "https://example.org/about is due since 2024-03-08: now, 17 days after its last visit, a \
                 visit is worth 1.46; pages are due at 0.63 or more
  none of 19 comparisons found it changed
  0.011 changes a day (0.00044 to 0.038, 90 %); on its host 3 pages were compared, and a new page \
                 is expected to change 2.75 times a day (0.0037 to 8.98)
  to be visited every 11 days at 2 visits a day
";
    let page = "https://example.org/about";
    assert_eq!(recrawl(&place, page, &["--per-day", "2"]), about);
    let flip =
        "https://example.org/flip is due since 2024-03-11: its last visit was 17.00 days ago; \
                pages are due at 13.46 or more
  1 of 19 comparisons found it changed, 18 back at an earlier version; the last change was on \
                2024-02-27, by 33 bits (major)
  6.17 changes a day (0.66 to 20.13, 90 %); on its host 3 pages were compared, and a new page \
                 is expected to change 2.75 times a day (0.0037 to 8.98)
  to be visited every 13 days at 1.86 visits a day, the recent pace; --per-day sets another
";
    let page = "https://example.org/flip";
    assert_eq!(recrawl(&place, page, &["--policy", "uniform"]), flip);
    let json = recrawl(&place, page, &["--json"]);
    let found = &super::objects(&json)[0];
    assert_eq!((&found["changes"], &found["returns"]), (&json!(1), &json!(18)));
    let change = json!({"t": "2024-02-27T00:00:00Z", "distance": 33, "band": "major"});
    assert_eq!(found["last_change"], change);
    // There were 52 visits in the 28 days up to the latest visit.
    assert_eq!(found["visits_per_day"], 52.0 / 28.0);
    assert!(found["threshold"].as_f64().unwrap() > 0.0 && found["host_compared"] == 3, "{found}");
    for (page, args, said) in [
        ("gone", &["--per-day", "5000"][..], "  it is gone, so its weight counts for an eighth\n"),
        ("gone", &[], "  1 of 1 comparison found it changed; the last change was on 2024-02-10\n"),
        ("failing", &[], ": its last visit, on 2024-02-10, failed; a visit is worth 11.95; pages"),
        ("failing", &[], "  its 2 visits are not enough for a comparison\n"),
        (
            "failing",
            &["--max-interval", "30d"],
            ", before other pages: it may wait at most 30 days, and its",
        ),
        (
            "failing",
            &["--per-day", "0.001"],
            "; the visits of a day do not suffice even for the pages that reach the maximal interval\n",
        ),
        (
            "failing",
            &["--policy", "fixed:7d"],
            "9.14 of its intervals under the policy fixed:7d have passed since",
        ),
    ] {
        let url = format!("https://example.net/{page}");
        let output = recrawl(&place, &url, args);
        assert!(output.contains(said), "{output}");
    }
    let args = ["--per-day", "0.89", "--policy", "crawl-value"];
    let output = recrawl(&place, "https://example.org/news", &args);
    assert!(
        output
            .contains("at 0.86 or more, and this page does not reach that value within 365 days\n"),
        "{output}"
    );
}

#[test]
fn near_duplicate_counts_a_quarter() {
    let place = TestFolder::with(&crawl());
    let (first, copy) = ("https://shop.example/3", "https://copies.example/3");
    let alone = recrawl(&place, first, &["--json"]);
    place.ingest(&line(copy, 33, &content(print(2003) ^ 1)));
    assert!(!recrawl(&place, first, &[]).contains("a quarter"));
    assert_eq!(serde_json::from_str::<Value>(&alone).unwrap()["leader"], Value::Null);
    let said = recrawl(&place, copy, &[]);
    let quarter =
        "its weight counts for a quarter, since https://shop.example/3 had nearly the same";
    assert!(said.contains(quarter), "{said}");
    let said: Value = serde_json::from_str(&recrawl(&place, copy, &["--json"])).unwrap();
    assert_eq!(said["leader"], first);
}

#[test]
fn plan_lists_pages_past_their_date() {
    let place = TestFolder::with(&crawl());
    let of = |object: &Value, key: &str| object[key].as_str().map(str::to_owned);
    for (visits, policy) in
        [("0.001", "value"), ("1", "value"), ("2", "harmonic"), ("2", "uniform"), ("3", "thesis")]
    {
        let all = ["--json", "--limit", "1000", "--policy", policy, "--per-day", visits];
        let all = super::objects(&due(&place, &all));
        assert_eq!(all.len(), 25);
        let is_due = |page: &&Value| of(page, "due").unwrap() <= format!("{NOW}T00:00:00Z");
        let expected: Vec<_> = all.iter().filter(is_due).collect();
        let planned = ["--json", "--policy", policy, "--only-due", "--per-day", visits];
        let planned = super::objects(&due(&place, &planned));
        assert_eq!(planned.iter().collect::<Vec<_>>(), expected, "{visits} by {policy}");
        assert_eq!(planned.is_empty(), visits == "0.001", "{visits} by {policy}");
        let some =
            urls(&place, &["--policy", policy, "--only-due", "--per-day", visits, "--limit", "2"]);
        assert_eq!(some.len(), planned.len().min(2));
    }
}

#[test]
fn limit_may_exceed_the_pages() {
    let place = TestFolder::with(&crawl());
    let all = urls(&place, &["--limit", "25"]);
    for budget in ["26", "all", "1000000000000", "18446744073709551615"] {
        assert_eq!(urls(&place, &["--limit", budget]), all);
    }
    assert_eq!(urls(&place, &[]), all);
    let one = urls(&place, &["--per-host", "1"]);
    assert_eq!(one.len(), 3);
    assert_eq!(urls(&place, &["--under", "example.org"]).len(), 3);
}

#[test]
fn nothing_is_printed_without_pages() {
    let empty = TestFolder::with("");
    let place = TestFolder::with(&crawl());
    let nowhere = ["--under", "nowhere.example"];
    for form in
        [&[][..], &["--json"], &["--urls"], &["--by-host"], &["--only-due", "--per-day", "5"]]
    {
        assert_eq!(due(&empty, form), "", "{form:?}");
        let ran = place.run(&[&["due"], form, &nowhere].concat());
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{form:?}");
        assert!(ran.err.contains("no page is known under nowhere.example"), "{}", ran.err);
    }
}

#[test]
fn recrawl_values_the_first_visit_of_an_unknown_page() {
    let place = TestFolder::with(&crawl());
    let (unknown, empty) = ("https://example.org/new", TestFolder::with(""));
    let ran = place.run(&["recrawl", unknown, "--now", NOW]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let said = "simkeep: https://example.org/new is not known in this store; a first visit is worth \
                54.05, at an expected 2.75 changes a day (0.0037 to 8.98, 90 %); pages are due at 0.68 \
                or more\n";
    assert_eq!(ran.err, said);
    let ran = place.run(&["recrawl", unknown, "--now", NOW, "--json"]);
    let found = &ran.objects()[0];
    assert_eq!((ran.code, &found["last"], &found["due"]), (1, &Value::Null, &Value::Null));
    assert!(found["value"].as_f64().unwrap() > 1.0 && found["weight"] == 1, "{found}");
    let ran = empty.run(&["recrawl", unknown]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.contains("a first visit is worth") && !ran.err.contains("pages are due"),
        "{}",
        ran.err
    );
    let ran = place.run(&["recrawl", "no url at all\n"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
}

#[test]
fn invalid_numbers_are_refused() {
    let place = TestFolder::with(&crawl());
    let page = ["recrawl", "https://example.org/about"];
    for (option, value, why) in [
        ("--per-day", "NaN", "from 0.000001"),
        ("--per-day", "0", "from 0.000001"),
        ("--per-day", "-1", "from 0.000001"),
        ("--per-day", "inf", "from 0.000001"),
        ("--max-interval", "0d", "from 1s to 4000000d"),
        ("--max-interval", "-1d", "write a whole number and a unit"),
        ("--max-interval", "NaN", "write a whole number and a unit"),
        ("--policy", "weekly", "the policies are value, crawl-value, harmonic"),
        ("--policy", "fixed:0d", "wrong parameters"),
        ("--policy", "thesis:3,NaN", "wrong parameters"),
        ("--now", "soon", "write 2024-05-01T12:00:00Z"),
        ("--per-day", "NaN", "from 0.000001"),
        ("--per-day", "0", "from 0.000001"),
        ("--per-day", "-5", "from 0.000001"),
        ("--limit", "-1", "invalid"),
        ("--limit", "NaN", "invalid"),
        ("--limit", "1e3", "invalid"),
        ("--per-host", "0", "at least 1"),
        ("--under", "a b", "no host"),
    ] {
        let option = format!("{option}={value}");
        let of_due_alone = ["--only-due", "--limit", "--per-host", "--under"];
        let of_due_alone = of_due_alone.iter().any(|name| option.starts_with(&format!("{name}=")));
        for verb in [&["due"][..], &page].iter().take(if of_due_alone { 1 } else { 2 }) {
            let ran = place.run(&[*verb, &[option.as_str()]].concat());
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{verb:?} {option}");
            assert!(ran.err.contains(why), "{verb:?} {option}: {}", ran.err);
        }
    }
    for args in [["--urls", "--json"], ["--urls", "--by-host"]] {
        assert_eq!(place.run(&[&["due"][..], &args].concat()).code, 2);
    }
}

#[test]
fn rules_apply_to_prefixes_and_errors_name_the_line() {
    let place = TestFolder::with(&crawl());
    let lines = concat!(
        r#"{"under":"shop.example","min":"90d"}"#,
        "\n",
        r#"{"under":"example.org/news","max":"7d","weight":2}"#,
        "\n",
        r#"{"under":"example.org/flip","policy":"fixed:1d"}"#,
        "\n",
    );
    let rules = place.write("rules.jsonl", lines);
    let objects = super::objects(&due(&place, &["--json", "--rules", &rules]));
    // Pages of the shop are due no sooner than after 90 days.
    let found: Vec<&Value> = objects.iter().map(|page| &page["url"]).collect();
    let net = ["https://example.net/failing", "https://example.net/gone"];
    let first = ["https://example.org/flip", "https://example.org/news", net[0]];
    assert_eq!(found[..3], first);
    assert_eq!(found.len(), 5);
    assert_eq!(
        (&objects[1]["weight"], &objects[1]["rule"]),
        (&json!(2), &json!("example.org/news"))
    );
    assert_eq!(objects[1]["reason"], "not visited for more than 7d");
    assert_eq!(objects[2]["rule"], Value::Null);
    for (page, said) in [
        ("shop.example/1", " is due on 2024-05-01; its rule allows no visit before 2024-05-01\n"),
        (
            "example.org/news",
            ", before other pages: it may wait at most 7 days, and its last visit was on 2024",
        ),
        ("example.org/news", "\n  its weight is 2.00; the rule for example.org/news applies\n"),
    ] {
        let output = recrawl(&place, &format!("https://{page}"), &["--rules", &rules]);
        assert!(output.contains(said), "{output}");
    }
    for (line, why) in [
        (r#"{"undr":"a.example"}"#, "unknown key"),
        (r#"{"policy":"weekly"}"#, "there is no policy"),
        (r#"{"under":"shop.example","max":"1d"}"#, "line 1 has a rule for shop.example already"),
        (r#"{"weight":NaN}"#, "column"),
        (r#"{"weight":-1}"#, "weight must be"),
        (r#"{"weight":0}"#, "weight must be"),
        (r#"{"per_host":-1}"#, "\"per_host\" must be"),
        (r#"{"min":"2d","max":"1d"}"#, "min must be at most max"),
    ] {
        let rules = place.write("wrong.jsonl", format!("{lines}{line}\n"));
        let page = ["recrawl", "https://example.org/about"];
        for verb in [&["due"][..], &page] {
            let ran = place.run(&[verb, &["--rules", &rules]].concat());
            assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{line}");
            assert!(ran.err.contains("wrong.jsonl, line 4: "), "{}", ran.err);
            assert!(ran.err.contains(why), "{}", ran.err);
        }
    }
    let ran = place.run(&["due", "--rules", &place.file("none")]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert!(ran.err.contains("cannot read"), "{}", ran.err);
}

#[test]
fn hints_come_from_sitemaps_and_lines_but_not_the_future() {
    let place = TestFolder::with(&crawl());
    let entry = |page: u32, time: &str| {
        format!("<url><loc>https://shop.example/{page}</loc><lastmod>{time}</lastmod></url>")
    };
    // After the last visit, before it, and still to come.
    let entries = [entry(1, "2024-02-20"), entry(2, "2024-01-20"), entry(3, "2999-01-01")].concat();
    let sitemap =
        format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, sitemap.as_bytes()).unwrap();
    let sitemap = place.write("sitemap.xml.gz", packed.finish().unwrap());
    let hinted = |args: &[&str]| -> Vec<Value> {
        let pages = super::objects(&due(&place, &[&["--json"], args].concat()));
        pages.into_iter().filter(|page| page["hinted"].is_string()).collect()
    };
    let found = hinted(&["--hints", &sitemap]);
    assert_eq!((found.len(), &found[0]["url"]), (1, &json!("https://shop.example/1")));
    assert_eq!(found[0]["hinted"], "2024-02-20T00:00:00Z");
    assert_eq!(found[0]["reason"], "a hint says that it changed at 2024-02-20T00:00:00Z");
    let output = recrawl(&place, "https://shop.example/1", &["--hints", &sitemap]);
    let said = "https://shop.example/1 is due since 2024-02-20: a hint says that it changed on \
                2024-02-20, so a visit is worth 15.58; pages are due at 0.68 or more\n";
    assert!(output.starts_with(said), "{output}");
    // The broken file is named, and the other one is used.
    let lines = concat!(
        "{\"url\":\"https://shop.example/5\",\"modified\":\"2024-03-01\"}\n",
        "{\"url\":\"https://shop.example/6\",\"modified\":\"some day\"}\n",
        "{\"url\":\"https://shop.example/7\",\"modified\":\"2024-03-02\"}\n",
    );
    let lines = place.write("hints.jsonl", lines);
    let args = ["due", "--now", NOW, "--json", "--hints", &lines, "--hints", &sitemap];
    let ran = place.run(&args);
    assert_eq!((ran.code, ran.err.lines().count()), (0, 1), "{}", ran.err);
    assert!(
        ran.err.contains("hints.jsonl, line 2: ") && ran.err.contains("skipped"),
        "{}",
        ran.err
    );
    let count = ran.objects().iter().filter(|page| page["hinted"].is_string()).count();
    assert_eq!(count, 3);
    let ran = place.run(&["due", "--hints", &place.file("none")]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
}

#[test]
fn unreadable_hints_file_exits_with_3_after_the_answer() {
    let place = TestFolder::with(&crawl());
    let good = "<urlset><url><loc>https://shop.example/1</loc><lastmod>2024-02-20</lastmod></url></urlset>";
    let good = place.write("good.xml", good);
    let without = place.run(&["due", "--now", NOW, "--urls"]);
    for (name, file) in [
        ("text", "neither"),
        ("list", "https://shop.example/1\n"),
        ("page", "<!DOCTYPE html><html><body>Not found</body></html>"),
        ("cut", "<urlset><url><loc>https://shop.example/1</loc>"),
        (
            "index",
            "<sitemapindex><sitemap><loc>https://shop.example/1</loc></sitemap></sitemapindex>",
        ),
        (
            "times",
            "<urlset><url><loc>https://shop.example/1</loc><lastmod>soon</lastmod></url></urlset>",
        ),
        ("lines", "{\"url\":\"https://shop.example/1\"}\n"),
        ("empty", ""),
    ] {
        let bad = place.write(name, file);
        let ran = place.run(&["due", "--now", NOW, "--urls", "--hints", &bad]);
        assert_eq!((ran.code, ran.out.as_str()), (3, without.out.as_str()), "{name}");
        assert!(
            ran.err.contains("skipped") && ran.err.contains("could not be read; the answer"),
            "{}",
            ran.err
        );
        // The other files are used.
        let ran = place.run(&["due", "--now", NOW, "--json", "--hints", &good, "--hints", &bad]);
        let count = ran.objects().iter().filter(|page| page["hinted"].is_string()).count();
        assert_eq!((ran.code, count), (3, 1), "{}", ran.err);
        let ran = place.run(&["recrawl", "https://shop.example/1", "--now", NOW, "--hints", &bad]);
        assert_eq!((ran.code, ran.out.is_empty()), (3, false), "{}", ran.err);
    }
    // An empty file is valid.
    for file in ["<urlset></urlset>", "<urlset><url><loc>x:</loc></url></urlset>"] {
        let ran = place.run(&["due", "--now", NOW, "--hints", &place.write("none.xml", file)]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{file}");
    }
}

#[test]
fn time_before_the_last_visit_is_accepted() {
    let place = TestFolder::with(&crawl());
    for now in ["2024-01-20", "1970-01-01", "0001-01-01"] {
        for page in super::objects(&place.done(&["due", "--now", now, "--json"])) {
            let last = page["last"].as_str().unwrap();
            assert!(last > now, "{page}");
            let failing = page["url"] == "https://example.net/failing";
            let ahead = page["reason"] == "its last visit lies in the future";
            assert!(page["value"] == 0.0 && ahead != failing, "{page}");
        }
    }
    let output = place.done(&["recrawl", "https://example.org/about", "--now", "2024-02-01"]);
    let said = ": its last visit is in the future, at 2024-02-27T00:00:00Z, so a visit now is worth nothing\n";
    assert!(output.contains(said), "{output}");
    place.done(&["due", "--now", "9999-12-31T23:59:59.999Z", "--json"]);
}

#[test]
fn page_with_failed_visits_is_left_alone() {
    let visit = |day| line("http://a/", day, &json!({ "seen": "failed" }));
    let place = TestFolder::with(&[visit(0), visit(20)].concat());
    let output = place.done(&["recrawl", "http://a/", "--now", "2024-01-22", "--per-day", "1"]);
    let said = "http://a/ is due on 2024-01-31: its last visit failed, so it is not visited before \
                2024-01-31\n  its 2 visits are not enough for a comparison\n";
    assert!(output.starts_with(said), "{output}");
    let page = &super::objects(&place.done(&["due", "--now", "2024-01-22", "--json"]))[0];
    assert_eq!((&page["value"], &page["due"]), (&json!(0.0), &json!("2024-01-31T00:04:16Z")));
}

#[test]
fn urls_are_raw_in_pipes_and_escaped_in_tables() {
    let turned = "https://example.com/\u{202e}gpj.exe";
    let place = TestFolder::with(&line(turned, 0, &content(1)));
    assert_eq!(due(&place, &["--urls"]), format!("{turned}\n"));
    assert!(due(&place, &[]).contains("https://example.com/\\u{202e}gpj.exe"));
    assert!(recrawl(&place, turned, &[]).contains("https://example.com/\\u{202e}gpj.exe"));
    assert_eq!(super::objects(&due(&place, &["--json"]))[0]["url"], turned);
}

#[test]
fn stats_with_changes_count_changed_pages() {
    let place = TestFolder::with(&crawl());
    let text = place.done(&["stats", "--changes"]);
    let said = "\
pages compared                      24
  found changed                      3
  10 % change at most     0.0025 a day
";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("\n  90 % change at most       4.35 a day\n"), "{text}");
    assert!(!place.done(&["stats"]).contains("compared"));
    let stats = &super::objects(&place.done(&["stats", "--changes", "--json"]))[0]["survey"];
    assert_eq!((&stats["pages"], &stats["pages_compared"]), (&json!(25), &json!(24)));
    assert_eq!(stats["changes_per_day_deciles"].as_array().unwrap().len(), 9);
    let empty = TestFolder::with("");
    let stats = &super::objects(&empty.done(&["stats", "--changes", "--json"]))[0]["survey"];
    assert_eq!(
        (&stats["pages_changed"], &stats["changes_per_day_deciles"]),
        (&json!(0), &Value::Null)
    );
    assert!(
        empty.done(&["stats", "--changes"]).contains("pages compared                       0\n")
    );
}

/// Two pages with validators, and a page without.
fn with_validators() -> TestFolder {
    let mut with_tag = content(print(1));
    with_tag["etag"] = json!("W/\"a\\b\u{e9}\"");
    with_tag["modified"] = json!("2024-01-01T00:00:00Z");
    let lines = [
        line("https://example.org/tag", 1, &with_tag),
        line("https://example.org/none", 1, &content(print(2))),
        line("file:///etc/passwd", 1, &with_tag),
    ];
    TestFolder::with(&lines.concat())
}

#[test]
fn requests_for_curl_have_the_validators_and_only_pages_of_the_web() {
    let place = with_validators();
    let ran = place.run_for_bytes(&["due", "--now", NOW, "--curl"]);
    let parts: Vec<&[u8]> = ran.split(|byte| *byte == b'\n').collect();
    let begin = [&b"proto = \"=http,https\""[..], b"globoff", b"include"];
    let starts = parts.windows(3).filter(|lines| *lines == begin).count();
    assert_eq!(starts, 2);
    assert_eq!(parts.iter().filter(|line| **line == b"next").count(), 1);
    let tag = b"header = \"If-None-Match: W/\\\"a\\\\b\xe9\\\"\"";
    assert!(parts.contains(&&tag[..]), "{}", String::from_utf8_lossy(&ran));
    let since = b"header = \"If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\"";
    assert!(parts.contains(&&since[..]));
    assert!(!ran.windows(6).any(|bytes| bytes == b"passwd"));
}

#[test]
fn hostile_url_adds_no_option_to_the_requests_for_curl() {
    let url = r#"https://example.org/" output = "stolen" #\{1..9}[1-9]"#;
    let place = TestFolder::with(&line(url, 1, &content(print(1))));
    let ran = String::from_utf8(place.run_for_bytes(&["due", "--now", NOW, "--curl"])).unwrap();
    let quoted = url.replace('\\', r"\\").replace('"', r#"\""#);
    assert!(ran.lines().any(|line| line == format!("url = \"{quoted}\"")), "{ran}");
    // Each line sets an option at its beginning, and no other one.
    let options: Vec<&str> = ran.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(options, ["proto", "globoff", "include", "url"]);
}

#[test]
fn lists_have_the_headers_of_the_next_request() {
    let place = with_validators();
    let out = due(&place, &["--json"]);
    let headers = json!({
        "If-None-Match": "W/\"a\\b\u{e9}\"",
        "If-Modified-Since": "Mon, 01 Jan 2024 00:00:00 GMT",
    });
    for line in out.lines() {
        let page: Value = serde_json::from_str(line).unwrap();
        let has_tag = page["url"] != "https://example.org/none";
        assert_eq!(page["headers"], if has_tag { headers.clone() } else { json!({}) });
    }
}
