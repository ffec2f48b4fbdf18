//! `discover`.

use super::*;

#[test]
fn seeds_of_a_list_are_due_until_visited() {
    let place = TestFolder::new();
    let seeds =
        place.write("seeds.txt", "# seeds\nhttps://example.com/a\n\nhttps://example.com/b\n");
    assert_eq!(place.done(&["discover", &seeds]), "found 2 URLs\n");
    let again = place.done(&["discover", &seeds, "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again, json!({"urls": 2, "written": 2, "repeated": 0, "broken": 0}));
    let due = place.run(&["due", "--json"]).objects();
    assert_eq!(due.len(), 2);
    for line in &due {
        assert!(line["reason"].as_str().unwrap().starts_with("found at "), "{line}");
        assert!(line["found"].is_string() && line["last"].is_null(), "{line}");
    }
    place.ingest(r#"{"url":"https://example.com/a","t":0,"text":"a text"}"#);
    let due = place.run(&["due", "--json"]).objects();
    let found: Vec<_> = due.iter().filter(|line| !line["found"].is_null()).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["url"], "https://example.com/b");
    place.done(&["verify"]);
}

#[test]
fn urls_of_a_sitemap_need_no_times() {
    let place = TestFolder::new();
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <url><loc>https://example.com/</loc></url>\
        <url><loc>https://example.com/x</loc><lastmod>never</lastmod></url>\
        <url><lastmod>2024-05-01</lastmod></url></urlset>";
    let sitemap = place.write("sitemap.xml", sitemap);
    let ran = place.run(&["discover", &sitemap, "--from", "https://example.com/", "--json"]);
    assert_eq!(ran.code, 0);
    let expected = json!({"urls": 2, "written": 1, "repeated": 1, "broken": 1});
    assert_eq!(ran.objects(), [expected]);
    assert!(ran.err.contains("the record has no <loc>; skipped"), "{}", ran.err);
}

#[test]
fn file_without_urls_is_an_error_and_makes_no_store() {
    let place = TestFolder::new();
    for (name, text) in [("empty", ""), ("page", "<html></html>"), ("words", "no URL here\n")] {
        let file = place.write(name, text);
        let ran = place.run(&["discover", &file]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("no URL could be read from"), "{}", ran.err);
    }
    let ran = place.run(&["discover", &place.write("list", "http://a/\n"), "--weight", "0"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(!place.store().exists());
}

#[test]
fn found_urls_are_forgotten() {
    let place = TestFolder::with(r#"{"url":"https://example.com/","t":0,"text":"a text"}"#);
    let list = place.write("list", "https://example.com/a\nhttps://example.com/b\n");
    place.done(&["discover", &list]);
    let dry = place.done(&["forget", "--under", "example.com", "--dry-run"]);
    assert!(
        dry.starts_with("would forget 1 page with 1 visit, and 2 URLs that were never visited:\n"),
        "{dry}"
    );
    let forgotten = place.done(&["forget", "https://example.com/a"]);
    assert_eq!(forgotten, "forgot 1 URL that was never visited\n");
    assert_eq!(place.run(&["forget", "https://example.com/a"]).code, 1);
    let forgotten = place.run(&["forget", "--under", "example.com", "--json"]).objects().remove(0);
    assert_eq!((&forgotten["pages"], &forgotten["found"]), (&json!(1), &json!(1)));
}

#[test]
fn found_url_of_a_coprocess_is_answered() {
    let place = TestFolder::new();
    let lines = "{\"url\":\"https://example.com/\",\"t\":0,\"text\":\"a text\"}\n\
        {\"url\":\"https://example.com/a\",\"t\":60,\"seen\":\"found\",\"weight\":2}\n";
    let file = place.write("crawl.jsonl", lines);
    let ran = place.run(&["ingest", &file, "--outcomes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let [page, found]: [Value; 2] = ran.objects().try_into().unwrap();
    assert_eq!(page["verdict"], "new");
    assert_eq!(found, json!({"url": "https://example.com/a", "found": "1970-01-01T00:01:00Z"}));
    let export = place.done(&["export"]);
    assert!(export.contains(r#""weight":2,"seen":"found"}"#), "{export}");
}
