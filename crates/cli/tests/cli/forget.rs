//! `forget`.

use super::*;

#[test]
fn forgotten_page_starts_anew() {
    let place = TestFolder::with(CRAWL);
    let url = "https://example.com/terms";
    assert_eq!(place.done(&["forget", url]), "forgot 1 page with 6 visits\n");
    assert_eq!(place.run(&["history", url]).code, 1);
    assert_eq!(place.run(&["forget", url]).code, 1);
    let summary = place.ingest(CRAWL);
    assert_eq!((&summary["new_pages"], &summary["known"]), (&1.into(), &4.into()));
}

#[test]
fn prefix_is_forgotten_up_to_its_boundary() {
    let place = TestFolder::with(CRAWL);
    let forgotten = place.done(&["forget", "--under", "example.com/"]);
    assert_eq!(forgotten, "forgot 2 pages with 8 visits\n");
    let left = place.done(&["scan"]);
    assert_eq!(left.lines().count(), 2);
    assert!(left.contains("https://docs.example.com/terms"));
}

#[test]
fn path_is_forgotten_for_any_user_of_its_host() {
    let urls = [
        "http://example.com/private/a",
        "http://user:secret@example.com/private/b",
        "https://@Example.com:443/private",
        "http://u@example.com/private-not",
        "http://u@example.com:8080/private/c",
        "http://u@www.example.com/private/d",
        "http://u@example.org/private/e",
    ];
    let lines: Vec<String> = urls
        .iter()
        .map(|url| format!("{{\"url\":\"{url}\",\"t\":0,\"text\":\"a text\"}}\n"))
        .collect();
    for purge in [&[][..], &["--purge"]] {
        let place = TestFolder::with(&lines.concat());
        place.open().seal().unwrap();
        let args = ["forget", "--under", "example.com/private"];
        let would = place.done(&[&args[..], &["--dry-run", "--json"]].concat());
        assert!(would.contains("\"pages\":3") && would.contains("secret"), "{would}");
        // A reader knows of no users.
        assert_eq!(place.done(&["scan", "example.com/private"]).lines().count(), 1);
        let forgot = place.done(&[&args[..], purge].concat());
        assert!(forgot.starts_with("forgot 3 pages with 3 visits"), "{forgot}");
        let left = place.done(&["scan"]);
        assert_eq!(left.lines().count(), urls.len() - 3, "{left}");
        assert!(!left.contains("secret") && left.contains("private-not"), "{left}");
        assert_eq!(place.run(&args).code, 1);
        place.done(&["verify"]);
    }
}

#[test]
fn prefix_covers_its_typed_and_normalized_forms() {
    let urls = [
        "http://127.1/x",
        "http://u:p@127.1/x/1",
        "http://127.0.0.1/x/2",
        "http://0x7f.1/x/3",
        "http://127.1/y",
        "http://B\u{dc}CHER.example/x",
        "http://xn--bcher-kva.example/x",
    ];
    let line = |url: &&str| json!({"url": url, "t": 0, "text": "a text"}).to_string() + "\n";
    let lines: String = urls.iter().map(line).collect();
    for (prefix, pages, purge) in [
        ("127.1/x", 3, &[][..]),
        ("127.1/x", 3, &["--purge"]),
        ("0x7F.1/x", 2, &[]),
        ("127.0.0.1/x", 1, &[]),
        ("(1,127)/x", 2, &["--purge"]),
        ("127.1", 4, &[]),
        ("http://B\u{dc}CHER.example/", 2, &[]),
        ("b\u{fc}cher.example", 1, &[]),
    ] {
        let place = TestFolder::with(&lines);
        let args = ["forget", "--under", prefix];
        let would = place.run(&[&args[..], &["--dry-run", "--json"]].concat()).objects();
        assert_eq!(would[0]["pages"], pages, "{prefix}");
        let forgot = place.done(&[&args[..], purge].concat());
        let s = if pages == 1 { "" } else { "s" };
        assert!(forgot.starts_with(&format!("forgot {pages} page{s} with")), "{prefix}: {forgot}");
        assert_eq!(place.done(&["scan"]).lines().count(), urls.len() - pages, "{prefix}");
    }
    let ran = TestFolder::with(&lines).run(&["forget", "--under", "127.1/none"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("no page is known under 127.0.0.1/none and (1,127)/none"),
        "{}",
        ran.err
    );
}

#[test]
fn purged_page_is_in_no_file() {
    let place = TestFolder::with(CRAWL);
    place.open().seal().unwrap();
    place.ingest_beginning(r#"{"url":"https://example.com/terms","t":0,"text":"a text"}"#);
    // Forgotten earlier, but still in the files.
    place.done(&["forget", "https://example.com/old"]);
    let forgotten = place.done(&["forget", "--under", "example.com", "--purge"]);
    assert_eq!(
        forgotten,
        "forgot 2 pages with 8 visits, and rewrote the files that contained them\n"
    );
    for (path, _, bytes) in files(&place.store()) {
        for part in ["terms", "/old", "docs"] {
            let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
            assert!(!found, "{part} in {}", path.display());
        }
    }
    let again = place.done(&["forget", "https://example.com/old", "--purge"]);
    assert!(again.contains(" is not known, and no file contains it now"), "{again}");
    assert_eq!(place.done(&["scan"]).lines().count(), 1);
    place.done(&["verify"]);
}

#[test]
fn forget_dry_run_lists_pages_and_keeps_them() {
    let place = TestFolder::with(CRAWL);
    let before = files(&place.store());
    let dry = place.done(&["forget", "--under", "example.com/", "--dry-run"]);
    assert_eq!(
        dry,
        "would forget 2 pages with 8 visits:\n  https://example.com/old\n  https://example.com/terms\n"
    );
    let url = "https://example.com/terms";
    let dry = place.run(&["forget", url, "--dry-run", "--json"]).objects().remove(0);
    let expected = json!({
        "pages": 1, "visits": 6, "purged": false, "dry_run": true,
        "in_generations": null, "first_urls": [url],
    });
    assert_eq!(dry, expected);
    let none = place.run(&["forget", "--under", "example.net", "--dry-run"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert_eq!(files(&place.store()), before);
    let line = |n: u32| format!("{{\"url\":\"http://many/{n:02}\",\"t\":0,\"seen\":\"gone\"}}\n");
    place.ingest(&(0..12).map(line).collect::<String>());
    let dry = place.done(&["forget", "--under", "many", "--dry-run"]);
    assert_eq!(dry.lines().count(), 12);
    assert!(dry.ends_with("  http://many/09\n  and 2 more\n"), "{dry}");
}

#[test]
fn forgetting_a_prefix_asks_on_a_terminal() {
    let place = TestFolder::with(CRAWL);
    let ask = |flags: &[&str], answer: &str| {
        let forget = ["forget", "--under", "docs.example.com/"];
        place.on_terminal(&[&forget, flags].concat(), &[], answer)
    };
    let Some(no) = ask(&[], "n\n") else {
        return eprintln!("skipped: there is no `script` here");
    };
    assert!(no.out.contains("Forget 1 page with 1 visit? [y/N]"), "{}", no.out);
    assert!(no.out.contains("nothing was forgotten"), "{}", no.out);
    assert_eq!(place.run(&["scan", "docs.example.com/"]).code, 0);
    let yes = ask(&[], "y\n").unwrap();
    assert!(yes.out.contains("forgot 1 page"), "{}", yes.out);
    assert_eq!(place.run(&["scan", "docs.example.com/"]).code, 1);
    place.ingest(CRAWL);
    let unasked = ask(&["--yes"], "").unwrap();
    assert!(unasked.out.starts_with("forgot 1 page"), "{}", unasked.out);
}
