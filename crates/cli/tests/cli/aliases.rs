//! `aliases`: differences between URLs that do not matter.

use super::*;

/// Sites whose pages have several URLs. The pages of all URLs are near by the first rule of each site,
/// and by no other.
fn sites() -> TestFolder {
    let mut lines = String::new();
    let mut visit = |url: &str, content: u64, times: u64| {
        for time in 0..times {
            let fingerprint = format!("{:016x}", content.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let line = json!({"url": url, "t": time, "fingerprint": fingerprint, "epoch": "e"});
            lines += &format!("{line}\n");
        }
    };
    for page in 1..=20 {
        visit(&format!("https://a.example/{page}"), page, 1);
        visit(&format!("https://a.example/{page}?sid=\u{202e}7"), page, 2);
        visit(&format!("https://a.example/{page}?page=2"), page + 100, 1);
        // All but two pages.
        visit(&format!("http://www.b.example/{page}"), page, 1);
        visit(&format!("http://b.example/{page}"), page + if page > 2 { 0 } else { 50 }, 3);
        visit(&format!("http://c.b.example/{page}"), page, 1);
    }
    TestFolder::with(&lines)
}

#[test]
fn irrelevant_differences_are_listed_by_site() {
    let place = sites();
    let ran = place.run(&["aliases"]);
    let expected = "\
a.example: 60 pages
  parameter sid  20 of 20 pairs are near, 100.0 %; would save 40 visits
    https://a.example/1  https://a.example/1?sid=\\u{202e}7
b.example: 40 pages
  www without  18 of 20 pairs are near, 90.0 %; would save 20 visits
";
    // The pair of the example is chosen at random.
    let shown = |out: &str| -> Vec<String> {
        out.lines().filter(|line| !line.starts_with("    ")).map(str::to_owned).collect()
    };
    assert_eq!((ran.code, shown(&ran.out)), (0, shown(expected)), "{}", ran.out);
    assert!(ran.out.contains("?sid=\\u{202e}7"), "{}", ran.out);
    let said = "120 pages of 3 sites compared within 3 bits: 2 rules for 2 sites, which would have saved 60 visits";
    assert!(ran.err.contains(said), "{}", ran.err);
}

#[test]
fn json_lists_rules_of_each_site_with_evidence() {
    let place = sites();
    let sites = place.run(&["aliases", "--all", "--json"]).objects();
    let [a, b] = &sites[..] else { panic!("{sites:?}") };
    assert_eq!(
        (&a["site"], &a["pages"], &a["sampled"]),
        (&json!("a.example"), &json!(60), &json!(1.0))
    );
    let [page, sid] = &a["rules"].as_array().unwrap()[..] else { panic!("{a}") };
    assert_eq!((&page["alias"], &page["setting"]), (&json!("parameter"), &json!("page")));
    assert_eq!(
        (&page["holds"], &page["pairs"], &page["near_pairs"]),
        (&json!(false), &json!(20), &json!(0))
    );
    assert_eq!(page["exceptions"].as_array().unwrap().len(), 3);
    assert_eq!((&sid["holds"], &sid["near_share"]), (&json!(true), &json!(1.0)));
    assert_eq!((&sid["visits_spared"], &sid["examples"][0]["distance"]), (&json!(40), &json!(0)));
    let [www] = &b["rules"].as_array().unwrap()[..] else { panic!("{b}") };
    assert_eq!((&www["alias"], &www["setting"]), (&json!("www"), &json!("without")));
    assert_eq!(www["exceptions"].as_array().unwrap().len(), 2);
    // Under a prefix, with another ratio, and with a distance within which all pages are near.
    let rules = |args: &[&str]| {
        let ran = place.run(&[&["aliases", "--json"], args].concat());
        let rules = ran.objects().iter().map(|site| site["rules"].as_array().unwrap().len()).sum();
        (ran.code, rules)
    };
    assert_eq!(rules(&["--under", "b.example"]), (0, 1));
    assert_eq!(rules(&["--under", "b.example", "--min-share", "0.95"]), (1, 0));
    assert_eq!(rules(&["--under", "www.b.example"]), (1, 0));
    assert_eq!(rules(&["--min-pairs", "21"]), (1, 0));
    assert_eq!(rules(&["-k", "64"]), (0, 3));
}

#[test]
fn skipped_parameter_rich_pages_are_counted() {
    let parameters: String = (0..40).map(|n| format!("&p{n}=1")).collect();
    let line = |page: u64| {
        let fingerprint = format!("{:016x}", page.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let url = format!("http://a.example/?id={page}{parameters}");
        json!({"url": url, "t": 0, "fingerprint": fingerprint, "epoch": "e"}).to_string() + "\n"
    };
    let place = TestFolder::with(&(0..60).map(line).collect::<String>());
    let ran = place.run(&["aliases"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(
        ran.err.contains("saved 0 visits; the parameters of 60 pages were skipped"),
        "{}",
        ran.err
    );
}

#[test]
fn rules_with_one_page_each_are_found() {
    let line = |(page, url): (u64, &str)| {
        let fingerprint = format!("{:016x}", page.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let url = url.replace('N', &page.to_string());
        json!({"url": url, "t": 0, "fingerprint": fingerprint, "epoch": "e"}).to_string() + "\n"
    };
    let urls = ["http://a.example/N", "https://a.example/N/"];
    let lines = (0..30).flat_map(|page| urls.map(|url| (page, url)));
    let sites = TestFolder::with(&lines.map(line).collect::<String>())
        .run(&["aliases", "--json"])
        .objects();
    let rules = sites[0]["rules"].as_array().unwrap();
    let kinds: Vec<&str> = rules.iter().map(|rule| rule["alias"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["scheme", "slash"]);
    assert!(rules.iter().all(|rule| rule["near_pairs"] == 30), "{sites:?}");
}

#[test]
fn pages_with_wrong_canonical_urls_are_named() {
    let mut lines = String::new();
    for page in 0..50_u64 {
        let fingerprint = |end: u64| format!("{:016x}", (page * 99 + 1).wrapping_mul(end));
        let (plain, print) =
            (format!("https://a.example/{page}"), format!("https://a.example/{page}?p"));
        let canonical = if page == 17 { "https://a.example/\u{202e}18" } else { &plain };
        let (plain, print) = (
            json!({"url": plain, "t": 0, "fingerprint": fingerprint(0x9e37_79b9_7f4a_7c15), "epoch": "e"}),
            json!({"url": print, "t": 1, "fingerprint": fingerprint(0x9e37_79b9_7f4a_7c15), "epoch": "e",
                "canonical": canonical}),
        );
        lines += &format!("{plain}\n{print}\n");
    }
    lines += &format!(
        "{}\n",
        json!({"url": "https://a.example/%E2%80%AE18", "t": 0, "fingerprint": "00000000000000ff", "epoch": "e"})
    );
    let place = TestFolder::with(&lines);
    let ran = place.run(&["aliases"]);
    let mut shown = ran.out.lines();
    let first = "a.example: 101 pages, 50 canonical URLs (49 near, 1 with other content)";
    assert_eq!((ran.code, shown.next()), (0, Some(first)), "{}", ran.out);
    let wrong =
        "  https://a.example/17?p declares https://a.example/%E2%80%AE18, which differs in ";
    assert!(shown.next().unwrap().starts_with(wrong), "{}", ran.out);
    let rule = "  parameter p  50 of 50 pairs are near, 100.0 %; would save 50 visits; \
                49 of 49 canonical URLs agree";
    assert_eq!(shown.next(), Some(rule), "{}", ran.out);
    let note = "; of 50 canonical URLs, 49 have near content, and 1 other content";
    assert!(ran.err.contains(note), "{}", ran.err);
    let sites = place.run(&["aliases", "--json"]).objects();
    let [site] = &sites[..] else { panic!("{sites:?}") };
    let counts = ["canonicals", "canonicals_near", "canonicals_different", "redirects"];
    assert_eq!(counts.map(|key| site[key].as_u64().unwrap()), [50, 49, 1, 0]);
    let wrong = &site["wrong_canonicals"].as_array().unwrap()[..];
    assert_eq!((wrong.len(), &wrong[0]["url"]), (1, &json!("https://a.example/17?p")));
    assert_eq!(wrong[0]["canonical"], "https://a.example/%E2%80%AE18");
    let rule = &site["rules"][0];
    let counts = ["canonicals_near", "canonicals_different", "redirects"];
    assert_eq!(counts.map(|key| rule[key].as_u64().unwrap()), [49, 0, 0]);
    // Canonical URLs are an answer although no rule holds.
    let ran = place.run(&["aliases", "--min-pairs", "1000"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2), "{}", ran.out);
}
