//! `report`.

use sha2::{Digest as _, Sha256};

use super::*;

/// Encodes bytes in base64, as a content security policy does.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            let is_there = digit <= three.len();
            out.push(if is_there { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    out
}

/// A store with a few segments and hostile names.
fn hostile() -> TestFolder {
    let line = |n: u64, host: &str| {
        let fingerprint = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        json!({
            "url": format!("http://{host}/{n}"), "t": n * 86_400, "epoch": "<script>alert(1)</script>\u{202e}",
            "fingerprint": format!("{fingerprint:016x}"),
        })
        .to_string()
            + "\n"
    };
    let hosts = [
        "</svg><script>",
        "\"onload=\"x",
        "a\u{202e}b",
        "javascript:alert(1)",
        "=1+1",
        "example.com",
    ];
    let lines: String = (0..60).zip(hosts.iter().cycle()).map(|(n, host)| line(n, host)).collect();
    let place = TestFolder::new();
    place.ingest(&lines);
    place.open().seal().unwrap();
    place.ingest(&line(100, "example.org"));
    place
}

#[test]
fn report_is_one_self_contained_page_without_scripts() {
    let place = hostile();
    let said = place.done(&["report", "-o", "report.html"]);
    assert!(said.starts_with("report.html: "), "{said}");
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(page.len() < 3 << 20);
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    // The policy allows exactly the styles of the page.
    let styles =
        page.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
    let sum = base64(&Sha256::digest(styles));
    assert!(page.contains(&format!("sha256-{sum}")), "{sum}");
    assert!(!page.contains(" style=") && !page.contains("unsafe"));
    for never in [
        "<script",
        "href=",
        "src=",
        "url(",
        "onload=\"",
        "@import",
        "\u{202e}",
        "http-equiv=\"refresh",
    ] {
        assert!(!page.contains(never), "{never}");
    }
    let count = |text: &str| page.matches(text).count();
    let figures = count("<figure>");
    assert!(figures >= 12, "{figures}");
    assert_eq!([count("role=\"img\""), count("<title>") - 1, count("<desc>")], [figures; 3]);
    assert_eq!(count("<details>"), figures);
    // All elements are closed.
    for tag in ["svg", "figure", "table", "details", "section", "dl"] {
        assert_eq!(count(&format!("<{tag}")), count(&format!("</{tag}>")), "{tag}");
    }
    assert!(page.contains("&lt;script&gt;") && page.contains("\\u{202e}"));
}

/// Thousands of epochs with the longest possible names, which become even longer when they are escaped.
#[test]
fn report_size_is_limited() {
    let epochs = 4000;
    let line = |n: usize| {
        let name = format!("{n:04}{}", "\u{202e}\"".repeat(62));
        let t = n * 86_400;
        let url = format!("http://{}.a/", "&".repeat(8000 - n));
        let visit = json!({"url": url, "t": t, "epoch": name, "fingerprint": "00000000000000ff"});
        visit.to_string() + "\n"
    };
    let place = TestFolder::new();
    let lines: String = (0..epochs).map(line).collect();
    let ran = place.run_with_input(&["load", "-", "--max-epochs", "5000"], &lines);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = place.run(&["report", "-o", "report.html"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(page.len() < 3 << 20, "{}", page.len());
    // The number of omitted bars and rows is shown.
    assert!(page.contains(">and 3,9") && page.contains(">and 3,6"));
    assert!(page.contains("<td>0000\\u{202e}") && !page.contains("<td>2000\\u{202e}"));
}

#[test]
fn visits_at_wrong_times_do_not_distort_the_figures() {
    let visit = |t: &str, n: u64| {
        json!({"url": format!("http://a/{n}"), "t": t, "seen": "failed"}).to_string() + "\n"
    };
    let day = |n: u64| format!("2024-{:02}-{:02}", n / 28 + 1, n % 28 + 1);
    let mut lines: String = (0..300).map(|n| visit(&day(n), n)).collect();
    let place = TestFolder::with(&lines);
    place.done(&["report", "-o", "report.html"]);
    let page = |place: &TestFolder| std::fs::read_to_string(place.path("report.html")).unwrap();
    let outside = "visits lie outside of the figures";
    assert!(!page(&place).contains(outside));
    for (n, t) in [(1000, "1970-01-01"), (1001, "9999-12-31")] {
        lines += &visit(t, n);
    }
    let place = TestFolder::with(&lines);
    place.done(&["report", "-o", "report.html"]);
    let page = page(&place);
    assert!(page.contains(&format!("2 {outside}")) && page.contains("a column for each 24 hours"));
    assert!(!page.contains("9999-12") && !page.contains("1970-01"));
}

#[test]
fn report_counts_the_neighbours_of_a_page() {
    let line = |n: u64, fingerprint: &str| {
        json!({"url": format!("http://a/{n}"), "t": n, "fingerprint": fingerprint}).to_string()
            + "\n"
    };
    let prints = ["00000000000000ff", "00000000000000fe", "ffffffff00000000"];
    let place = TestFolder::with(&(0..).zip(prints).map(|(n, of)| line(n, of)).collect::<String>());
    place.done(&["report", "-o", "report.html"]);
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    let figure = page.split("<h3>Pages around a page</h3>").nth(1).unwrap();
    let figure = figure.split("</figure>").next().unwrap();
    for row in [["0", "1.000", "1", "0.0 %"], ["1", "1.667", "2", "66.7 %"]] {
        let row = row.map(|cell| format!("<td>{cell}</td>")).concat();
        assert!(figure.contains(&row), "{row}: {figure}");
    }
    assert_eq!(figure.matches("<rect").count(), 4, "{figure}");
}

/// The cells of each row of a figure's table.
fn rows_of<'p>(page: &'p str, title: &str) -> Vec<Vec<&'p str>> {
    let figure = page.split(&format!("<h3>{title}</h3>")).nth(1).unwrap_or_default();
    let body = figure.split("<tbody>").nth(1).and_then(|rest| rest.split("</tbody>").next());
    let cell = |rest: &'p str| rest.split("</td>").next().unwrap();
    let row = |row: &'p str| row.split("<td>").skip(1).map(cell).collect();
    body.unwrap_or_default().split("<tr>").skip(1).map(row).collect()
}

#[test]
fn report_begins_with_what_needs_attention() {
    let visit = |url: &str, t: u64, what: serde_json::Value| {
        let mut visit = json!({"url": url, "t": t});
        visit.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
        visit.to_string() + "\n"
    };
    let print =
        |n: u64| json!({"fingerprint": format!("{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))});
    let mut lines = String::new();
    // Five of six pages of one host fail, one of them for longest. At most three are listed.
    for n in 0..6_u64 {
        let url = format!("https://down.example/{n}");
        lines += &visit(&url, 1, print(n));
        lines += &visit(&url, 2, json!({"seen": "failed"}));
        if n == 3 {
            lines += &visit(&url, 3, json!({"seen": "failed"}));
        }
        if n == 0 {
            lines += &visit(&url, 4, json!({"seen": "not-modified"}));
        }
    }
    // A page that changes at two visits of three, once to an earlier version.
    for (t, n) in [(1, 10), (2, 11), (3, 11), (4, 10)] {
        lines += &visit("https://news.example/", t, print(n));
    }
    // A calendar with two contents for thirty days, and twenty articles with a content each.
    for day in 10..40_u64 {
        lines += &visit(&format!("https://trap.example/cal/2024/{day}"), 1, print(20 + day % 2));
    }
    for n in 100..120_u64 {
        lines += &visit(&format!("https://trap.example/article/{n}"), 1, print(n));
    }
    let place = TestFolder::with(&lines);
    place.done(&["report", "-o", "report.html"]);
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    let first = page.split("<h2>").nth(1).unwrap();
    assert!(first.starts_with("What needs attention"), "{first}");
    assert_eq!(rows_of(&page, "Hosts that fail"), [["down.example", "5", "6", "83 %"]]);
    let failing = rows_of(&page, "Pages that fail");
    assert_eq!(failing.len(), 3);
    let longest = ["https://down.example/3", "2", "1970-01-01T00:00:02Z", "yes"];
    assert_eq!(failing[0], longest);
    let changed = rows_of(&page, "Pages that changed most");
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0][..4], ["https://news.example/", "2", "3", "1"]);
    let example = "https://trap.example/cal/2024/10";
    let trap = ["trap.example/cal/####/##", "30", "28", "0", example];
    assert_eq!(rows_of(&page, "Likely traps"), [trap]);
}

#[test]
fn empty_store_makes_a_report() {
    let place = TestFolder::new();
    place.done(&["epoch", "begin"]);
    place.done(&["report", "-o", "report.html", "--json"]);
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(page.ends_with("</html>") && page.contains("No last visit failed, no page changed"));
}

#[test]
fn report_is_written_whole() {
    let place = hostile();
    place.write("report.html", "before");
    let names = || std::fs::read_dir(place.path(".")).unwrap().count();
    let before = names();
    let ran = place.run(&["report", "-s", "none.simkeep", "-o", "report.html"]);
    assert_eq!(ran.code, 5);
    assert_eq!(std::fs::read_to_string(place.path("report.html")).unwrap(), "before");
    // A special file is left unchanged, and no folder is created.
    for (place_of, message) in [(".", "is not a file"), ("no/such/report.html", "folder")] {
        let ran = place.run(&["report", "-o", place_of]);
        assert_eq!(ran.code, 5, "{place_of}");
        assert!(ran.err.contains(message), "{}", ran.err);
    }
    assert_eq!(names(), before);
    std::os::unix::fs::symlink("report.html", place.path("link.html")).unwrap();
    place.done(&["report", "-o", "link.html"]);
    assert!(place.path("link.html").is_symlink());
    assert!(std::fs::read_to_string(place.path("report.html")).unwrap().ends_with("</html>"));
}

#[test]
fn report_shows_what_requests_saved() {
    let html = |place: &TestFolder| {
        place.done(&["report", "-o", "report.html"]);
        std::fs::read_to_string(place.path("report.html")).unwrap()
    };
    let chapter = "<h2>What requests saved</h2>";
    assert!(!html(&hostile()).contains(chapter));
    let page = html(&TestFolder::with(super::requests::REQUESTS));
    let chapter = page.split(chapter).nth(1).unwrap().split("</section>").next().unwrap();
    assert!(chapter.contains("5 of 10 requests were conditional, and 2 got"), "{chapter}");
    for row in [
        &["transferred", "7", "225,000", "1"][..],
        &["not modified", "2", "10,000", "0"],
        &["unchanged", "3", "145,000", "0"],
        &["copies", "1", "5,000", "0"],
        &["example.org", "2", "0", "1", "2"],
    ] {
        let row = row.iter().map(|cell| format!("<td>{cell}</td>")).collect::<String>();
        assert!(chapter.contains(&row), "{row}: {chapter}");
    }
    assert!(!chapter.contains("example.com"), "it honors most conditional requests");
    // A single "not modified" is enough.
    let visit = json!({"url": "http://a/", "t": 1, "seen": "not-modified"}).to_string();
    assert!(html(&TestFolder::with(&visit)).contains("<h2>What requests saved</h2>"));
}
