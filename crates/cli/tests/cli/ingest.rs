//! `ingest`.

use super::*;

const BROKEN: &str = r#"{"url":"http://a/","t":1,"text":"one"}
{"url":"http://a/","t":"soon","text":"two"}
not JSON
{"url":"http://b/","t":2,"text":"three"}
{"t":2,"text":"four"}
{"url":"http://c/","t":3,"fingerprint":"0000000000000001"}
"#;

#[test]
fn broken_records_are_named_counted_and_skipped() {
    let place = TestFolder::new();
    let path = place.write("lines.jsonl", BROKEN);
    let ran = place.run(&["ingest", &path, "--json"]);
    assert_eq!(ran.code, 0);
    let summary = ran.objects().remove(0);
    assert_eq!((&summary["records"], &summary["broken"]), (&3.into(), &3.into()));
    let named = ran.said();
    assert_eq!(named.len(), 3, "{}", ran.err);
    for (message, line) in named.iter().zip([2, 3, 5]) {
        assert!(message.contains(&format!("line {line}")), "{message}");
    }
    let as_text = TestFolder::new().run(&["ingest", &path]).err;
    let expected: String = named.iter().map(|said| format!("simkeep: {said}\n")).collect();
    assert_eq!(as_text, expected);
    assert_eq!(place.done(&["scan"]).lines().count(), 3);
}

#[test]
fn only_some_broken_records_are_named() {
    let place = TestFolder::new();
    let ran = place.run_with_input(&["ingest", "-", "--json"], &"broken\n".repeat(1025));
    assert_eq!(ran.objects()[0]["broken"], 1025);
    assert_eq!((ran.code, ran.err.lines().count()), (3, 22));
    assert_eq!(ran.said()[20], "1,005 more broken records were skipped");
}

#[test]
fn strict_stops_at_the_first_broken_record() {
    let place = TestFolder::new();
    let ran = place.run_with_input(&["ingest", "-", "--strict"], BROKEN);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("line 2"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1);
    let broken = "broken                               1  the run stopped there\n";
    assert!(ran.out.contains(broken), "{}", ran.out);
    assert_eq!(place.done(&["scan"]).lines().count(), 1);
}

#[test]
fn each_file_of_a_folder_is_a_page() {
    let place = TestFolder::new();
    place.write("pages/LICENSE", "Permission is hereby granted, free of charge, to any person");
    place
        .write("pages/copy/LICENSE", "Permission is hereby granted, free of charge, to any person");
    place.write("pages/image", [0, 1, 2, 3]);
    let summary = place.run(&["ingest", "pages", "--json"]).objects().remove(0);
    assert_eq!((&summary["records"], &summary["new_pages"]), (&2.into(), &2.into()));
    assert_eq!(summary["skipped"]["binary"], 1);
    assert_eq!(summary["exact_copies"], 1);
    let scan = place.done(&["scan"]);
    assert!(scan.contains("  file:///") && scan.contains("/pages/copy/LICENSE\n"), "{scan}");
}

#[test]
fn store_within_the_folder_is_skipped() {
    let place = TestFolder::new();
    place.write("page", "a page");
    let here = [".", place.dir.path().to_str().unwrap()];
    for folder in here {
        let ran = place.run(&["ingest", folder, "--json"]);
        let summary = ran.objects().remove(0);
        assert_eq!(summary["records"], 1);
        assert_eq!(summary["skipped"], serde_json::json!({}));
    }
    assert_eq!(place.done(&["scan"]).lines().count(), 1);
}

#[test]
fn store_created_during_reading_is_skipped() {
    let place = TestFolder::new();
    for page in ["a", "b", "c"] {
        place.write(&format!("pages/{page}"), "enough for a chunk ".repeat(1 << 15));
    }
    for threads in ["1", "2"] {
        let (store, z) = (format!("pages/z/{threads}"), place.dir.path().join("pages/z"));
        std::fs::create_dir_all(&z).unwrap();
        let ingest = ["ingest", "pages", "--json", "--threads", threads, "--store", &store];
        let summary = place.run(&ingest).objects().remove(0);
        assert_eq!(summary["records"], 3);
        assert_eq!(summary["skipped"], serde_json::json!({}), "{threads}");
        std::fs::remove_dir_all(&z).unwrap();
    }
}

#[test]
fn summary_counts_the_outcomes() {
    let place = TestFolder::new();
    let ran = place.run_with_input(&["ingest", "-"], CRAWL);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for line in [
        "records                             10",
        "new pages                            4",
        "versions                             6",
        "  first                              4  of their page",
        "  changed                            1",
        "  reverted                           1  to an earlier version",
        "same                                 2",
        "gone                                 1",
        "failed                               1  no-response 1",
        "novel                                5  far from the last versions of their page",
        "near-duplicates                      2  of other pages",
    ] {
        assert!(ran.out.lines().any(|found| found == line), "{line}\n{}", ran.out);
    }
    // Zero counts are left out, and so is a rate without a duration.
    assert!(!ran.out.contains("exact copies") && !ran.out.contains("a second"), "{}", ran.out);
    let summary = place.ingest(CRAWL);
    assert_eq!((&summary["known"], &summary["new_versions"]), (&10.into(), &0.into()));
    assert_eq!(summary["read_bytes"], CRAWL.len());
}

#[test]
fn pages_not_in_the_store_count_as_new() {
    let place = TestFolder::new();
    let line = |url: &str, t: u32, rest: &str| format!("{{\"url\":\"{url}\",\"t\":{t},{rest}}}\n");
    let unmodified = |url, t| line(url, t, r#""seen":"not-modified""#);
    let content = |url, t| line(url, t, r#""text":"the first text of it""#);
    let failed = |url, t| line(url, t, r#""seen":"failed""#);
    let lines = [
        unmodified("http://a/", 1),
        unmodified("http://a/", 2),
        unmodified("http://a/", 3),
        failed("http://b/", 1),
        line("http://c/", 1, r#""seen":"gone""#),
        unmodified("http://c/", 2),
    ];
    let summary = place.ingest(&lines.concat());
    assert_eq!((&summary["new_pages"], &summary["new_versions"]), (&3.into(), &0.into()));
    assert_eq!((&summary["unseen"], &summary["new"]), (&4.into(), &0.into()));
    let history = place.run(&["history", "http://a/", "--json"]).objects();
    assert!(history.iter().all(|visit| visit["verdict"] == "unseen"), "{history:?}");
    assert!(place.done(&["history", "http://a/"]).contains("not modified, and never seen"));

    // Their first content is a version, but not a new page.
    let later = [content("http://a/", 4), unmodified("http://a/", 5), content("http://d/", 1)];
    let summary = place.ingest(&later.concat());
    assert_eq!((&summary["new_pages"], &summary["new"]), (&1.into(), &2.into()));
    assert_eq!(summary["same"], 1);
    assert_eq!(place.run(&["stats", "--json"]).objects()[0]["pages"], 4);
}

#[test]
fn external_fingerprints_have_their_own_epoch() {
    let place = TestFolder::new();
    let line = r#"{"url":"http://a/","t":1,"fingerprint":"0000000000000001"}"#;
    place.ingest(line);
    let ours = ["--epoch", "ours/2", "--begin-epoch"];
    place.ingest_with(&ours, &line.replace("\"t\":1", "\"t\":2"));
    place.ingest_with(
        &ours,
        r#"{"url":"http://a/","t":3,"fingerprint":"0000000000000001","epoch":"theirs"}"#,
    );
    let epochs: Vec<String> = objects(&place.export())
        .iter()
        .filter(|object| object.get("url").is_some())
        .map(|object| object["epoch"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(epochs, ["external", "ours/2", "theirs"]);
    assert_eq!(place.run(&["ingest", "-", "--epoch", ""]).code, 2);
}

#[test]
fn batch_size_changes_nothing() {
    let export = TestFolder::with(CRAWL).export();
    for batch in ["1", "3", "100000"] {
        let place = TestFolder::new();
        place.run_with_input(&["ingest", "-", "--group-size", batch], CRAWL);
        assert_eq!(place.export(), export);
    }
}

#[test]
fn unreadable_path_is_reported_before_the_store_is_created() {
    let place = TestFolder::new();
    let ran = place.run(&["ingest", "nowhere"]);
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("cannot read nowhere"), "{}", ran.err);
    assert!(!place.store().exists());
}

#[test]
fn empty_input_makes_an_empty_store() {
    let place = TestFolder::new();
    let summary = place.ingest("");
    assert_eq!(summary["records"], 0);
    assert_eq!(place.run(&["stats", "--json"]).objects()[0]["pages"], 0);
    assert_eq!(entries(&place.export()).len(), 0);
}

#[test]
fn folder_with_other_files_is_not_a_store() {
    let place = TestFolder::new();
    place.write("store/diary.txt", "dear diary");
    let ran = place.run_with_input(&["ingest", "-"], CRAWL);
    assert_eq!(ran.code, 5);
    assert!(ran.err.contains("not a simkeep store"), "{}", ran.err);
    assert_eq!(files(&place.store()).iter().filter(|f| f.0.ends_with("diary.txt")).count(), 1);
}

#[test]
fn slow_input_is_stored_before_the_batch_is_full() {
    let place = TestFolder::new();
    let mut child = place.command(&["ingest", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The first bytes must suffice to detect the format.
    let long = format!("{{\"more\":\"{}\",", "x".repeat(10_000));
    stdin.write_all(CRAWL.trim_start().replacen('{', &long, 1).as_bytes()).unwrap();
    stdin.flush().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(entries(&place.export()).len(), 10);
}

#[test]
fn changes_are_counted_by_magnitude() {
    let place = TestFolder::new();
    let text = |words: usize, changed: usize| {
        let word = |at: usize| format!("{}{at}", if at < changed { "other" } else { "word" });
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    };
    let line = |url: &str, time: u32, text: &str| {
        format!(
            "{}\n",
            json!({"url": format!("https://example.com/{url}"), "t": time, "text": text})
        )
    };
    let mut lines = String::new();
    for (url, words, changed) in [("all", 400, 400), ("some", 400, 12), ("brief", 99, 99)] {
        lines += &line(url, 1, &text(words, 0));
        lines += &line(url, 2, &text(words, changed));
    }
    let summary = place.ingest(&lines);
    let counts = ["changed", "changed_minor", "changed_moderate", "changed_major"];
    let counts = counts.map(|key| summary[key].as_u64());
    assert_eq!(counts, [3, 0, 1, 2].map(Some), "{summary}");
    let shown =
        place.run_with_input(&["ingest", "-"], &lines.replace("example.com", "example.org"));
    assert!(
        shown.out.contains("    major                            2  more than 10 % of the words"),
        "{}",
        shown.out
    );
}

#[test]
fn large_input_is_sealed_at_the_end() {
    let lines = |count: usize, padding: usize| -> String {
        let padding = "x".repeat(padding);
        let line = |n| {
            format!("{{\"url\":\"http://a.example/{n}?{padding}\",\"t\":{n},\"seen\":\"gone\"}}\n")
        };
        (1..=count).map(line).collect()
    };
    for (count, padding, unsealed) in [(1000, 0, 1000), (1001, 0, 0), (600, 2000, 0)] {
        let place = TestFolder::with(&lines(count, padding));
        let stats = place.run(&["stats", "--json"]).objects().remove(0);
        assert_eq!(stats["unsealed_visits"], unsealed, "{count}: {stats}");
        assert_eq!(stats["pages"], count);
        place.done(&["verify"]);
    }
}

#[test]
fn input_before_an_error_is_sealed_too() {
    let place = TestFolder::with("{\"url\":\"http://a.example/\",\"t\":1,\"seen\":\"gone\"}");
    place.done(&["export", "-o", "whole.export"]);
    let gone = |n| format!("{{\"url\":\"http://a.example/{n}\",\"t\":{n},\"seen\":\"gone\"}}\n");
    place.write("crawl.jsonl", (1..=1200).map(gone).collect::<String>());
    // Reading ends at an export, which is not accepted.
    let ran = place.run(&["ingest", "crawl.jsonl", "whole.export"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("1,200 records were stored before the error"), "{}", ran.err);
    let stats = place.run(&["stats", "--json"]).objects().remove(0);
    assert_eq!((&stats["pages"], &stats["unsealed_visits"]), (&json!(1201), &json!(0)), "{stats}");
}

#[test]
fn long_entity_tags_are_counted_and_not_kept() {
    let line = |n: usize, bytes: usize| {
        json!({"url": format!("http://{n}/"), "t": 1, "text": "one", "etag": "x".repeat(bytes)})
            .to_string()
    };
    let lines = [line(1, 128), line(2, 129), line(3, 9_000)].join("\n");
    for verb in ["ingest", "load"] {
        let summary =
            TestFolder::new().run_with_input(&[verb, "-", "--json"], &lines).objects().remove(0);
        assert_eq!(summary["long_etags"], 2, "{verb}");
        let place = TestFolder::new();
        let ran = place.run_with_input(&[verb, "-"], &lines);
        let expected = "long entity tags                     2  over 128 bytes, not kept\n";
        assert!(ran.out.contains(expected), "{}", ran.out);
        let etags =
            place.run(&["scan", "--json"]).objects().into_iter().map(|page| page["etag"].clone());
        assert_eq!(etags.collect::<Vec<_>>(), [json!("x".repeat(128)), Value::Null, Value::Null]);
    }
}

/// An error page has an entity tag, a length and perhaps a canonical URL of its own.
#[test]
fn facts_of_errors_do_not_replace_those_of_the_content() {
    let good = json!({
        "url": "http://a/", "t": 1, "status": 200, "text": "one", "etag": "\"a\"", "canonical": "/c",
        "bytes": 500,
    });
    let error = |t: i64, status: u16| {
        json!({
            "url": "http://a/", "t": t, "status": status, "etag": "\"e\"", "canonical": "/e", "bytes": 7,
        })
    };
    for verb in ["ingest", "load"] {
        let place = TestFolder::new();
        let lines = [good.clone(), error(2, 503), error(3, 500)].map(|line| line.to_string());
        place.run_with_input(&[verb, "-"], &lines.join("\n"));
        let page = &place.run(&["scan", "--json"]).objects()[0];
        assert_eq!(
            (&page["etag"], &page["target"]),
            (&json!("\"a\""), &json!("http://a/c")),
            "{verb}"
        );
        let history = place.run(&["history", "http://a/", "--json"]).objects();
        assert_eq!(history[1]["bytes"], Value::Null, "{verb}");
    }
}
