//! `export`: its lines, which depend on nothing but the observations.

use super::*;
use simkeep::Progress;

/// Every kind of observation, in no order, several of a page at the same time.
fn everything() -> String {
    let mut lines = String::from(CRAWL);
    lines += r#"
{"url":"http://none.example/","t":5,"fingerprint":null,"epoch":"bare"}
{"url":"http://same.example/","t":5,"fingerprint":"0000000000000001","epoch":"b"}
{"url":"http://same.example/","t":5,"fingerprint":"0000000000000001","epoch":"a"}
{"url":"http://same.example/","t":5,"fingerprint":"0000000000000001","digest":"00000000000000000000000000000001","epoch":"b"}
{"url":"http://same.example/","t":5,"fingerprint":"0000000000000002","epoch":"b","status":200}
{"url":"http://same.example/","t":5,"seen":"not-modified"}
{"url":"http://same.example/","t":5,"seen":"not-modified","digest":"00000000000000000000000000000001","status":304}
{"url":"http://same.example/","t":5,"seen":"gone"}
{"url":"http://same.example/","t":5,"seen":"gone","status":410}
{"url":"http://same.example/","t":5,"seen":"failed","status":503}
{"url":"http://same.example/","t":5,"seen":"failed"}
{"url":"http://early.example/","t":"0001-01-01T00:00:00Z","text":"first"}
{"url":"http://late.example/","t":"9999-12-31T23:59:59.999Z","text":"last","status":200}
{"url":"http://error.example/","t":-0.001,"fingerprint":"0000000000000003","status":404}
{"url":"urn:isbn:1","t":1,"text":"no host"}
{"url":"http://none.example/","t":6,"fingerprint":null,"epoch":"e"}
{"url":"http://none.example/","t":7,"fingerprint":null,"digest":"00000000000000000000000000000003","epoch":"e","status":200}
{"url":"https://bücher.example/ä b?\"\\","t":1,"text":"odd characters"}
{"url":"https://turned.example/\u202e\u2028","t":1,"text":"turned"}
"#;
    for page in 0..40 {
        for visit in 0..page % 7 {
            let fingerprint = (page * 0x9e37_79b9_u64) ^ (visit % 3);
            lines += &format!(
                "{{\"url\":\"http://h{}.example/{page}\",\"t\":{},\"fingerprint\":\"{fingerprint:016x}\"}}\n",
                page % 5,
                1000 - visit
            );
        }
    }
    lines
}

#[test]
fn export_has_a_fixed_form() {
    let place = TestFolder::with(CRAWL);
    let export = place.export();
    let lines: Vec<&str> = export.lines().collect();
    assert_eq!(lines.len(), 14);
    let expected = [
        r#"{"simkeep":"export","version":1}"#,
        r#"{"epoch":"html/3 words2-sqrt/2","minor":2,"moderate":9,"begun_at_visit":0}"#,
        r#"{"epoch":"e","minor":3,"moderate":10,"begun_at_visit":0}"#,
        r#"{"url":"https://example.com/old","t":"2024-01-01T00:00:00Z","fingerprint":"00000000000000fe","epoch":"e","status":200}"#,
        r#"{"url":"https://example.com/old","t":"2024-01-02T00:00:00Z","status":404,"seen":"gone"}"#,
        r#"{"url":"https://example.com/terms","t":"2024-01-01T00:00:00Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","epoch":"e","status":200}"#,
    ];
    assert_eq!(lines[..6], expected);
    assert_eq!(lines[13], r#"{"simkeep":"end","lines":14}"#);
    assert_eq!(
        lines[8],
        r#"{"url":"https://example.com/terms","t":"2024-01-04T00:00:00.250Z","fingerprint":"00000000000000ff","digest":"000102030405060708090a0b0c0d0e0f","epoch":"e","status":200}"#
    );
    assert_eq!(place.done(&["export", "--json"]), export);
}

#[test]
fn export_round_trips_through_load() {
    let everything = everything();
    let first = TestFolder::with(&everything);
    let export = first.export();
    let records = everything.lines().filter(|line| !line.is_empty()).count();
    let epochs = r#"{"simkeep":"export","version":1}
{"epoch":"html/3 words2-sqrt/2","minor":2,"moderate":9,"begun_at_visit":0}
{"epoch":"e","minor":3,"moderate":10,"begun_at_visit":0}
{"epoch":"bare","minor":3,"moderate":10,"begun_at_visit":0}
{"epoch":"b","minor":3,"moderate":10,"begun_at_visit":0}
{"epoch":"a","minor":3,"moderate":10,"begun_at_visit":0}
{"epoch":"external","minor":3,"moderate":10,"begun_at_visit":0}
"#;
    let lines = export.strip_prefix(epochs).unwrap();
    assert_eq!(lines.lines().count(), records + 1);
    let second = TestFolder::new();
    second.load(&export);
    assert_eq!(second.export(), export);
    // In any order of arrival, and as plain lines.
    let backwards: String =
        entries(lines).into_iter().rev().map(|line| format!("{line}\n")).collect();
    let third = TestFolder::with(&(plain(epochs) + &backwards));
    assert_eq!(third.export(), export);
    let summary = third.ingest(&plain(&export));
    assert_eq!((&summary["records"], &summary["known"]), (&records.into(), &records.into()));
}

#[test]
fn all_numbers_of_bytes_round_trip() {
    let numbers = [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX];
    let line = |(n, bytes): (usize, &u64)| {
        format!("{{\"url\":\"http://a.example/{n}\",\"t\":1,\"text\":\"a\",\"bytes\":{bytes}}}\n")
    };
    let place = TestFolder::with(&numbers.iter().enumerate().map(line).collect::<String>());
    let export = place.export();
    for bytes in numbers {
        assert!(export.contains(&format!("\"bytes\":{bytes}")), "{bytes}: {export}");
    }
    let copy = TestFolder::new();
    copy.load(&export);
    assert_eq!(copy.export(), export);
    let ran = place.run_with_input(
        &["ingest", "-"],
        r#"{"url":"http://a.example/","t":1,"text":"a","bytes":18446744073709551616}"#,
    );
    assert!(ran.code != 0 && ran.err.contains("from 0 to 2^64 - 1"), "{}", ran.err);
}

#[test]
fn classes_round_trip_and_invalid_ones_are_refused() {
    let lines = r#"{"url":"http://a.example/","t":1000,"text":"some words","class":0}
{"url":"http://a.example/","t":3000,"class":4294967295,"weight":2}
{"url":"http://b.example/","t":5,"class":7}
"#;
    let place = TestFolder::new();
    let summary = place.ingest(lines);
    let counts =
        ["records", "new", "weights", "classes", "classes_missing"].map(|key| &summary[key]);
    assert_eq!(counts.map(|n| n.as_u64().unwrap()), [3, 1, 1, 1, 1]);
    let export = place.export();
    let of_classes = |line: &&str| line.contains("class") && !line.contains("fingerprint");
    let classes: Vec<&str> = export.lines().filter(of_classes).collect();
    let expected = [
        r#"{"url":"http://a.example/","t":"1970-01-01T00:16:40Z","class":0}"#,
        r#"{"url":"http://a.example/","t":"1970-01-01T00:50:00Z","class":4294967295}"#,
    ];
    assert_eq!(classes, expected);
    let in_force = place.done(&["export", "--in-force"]);
    assert!(in_force.contains(expected[1]) && !in_force.contains(expected[0]), "{in_force}");
    // Loading it restores the same state, and so do its lines without the export frame.
    let loaded = TestFolder::new();
    for summary in [(4, 1, 2), (4, 0, 0)] {
        let ran = loaded.run_with_input(&["load", "-", "--json"], &export);
        let found = ran.objects().remove(0);
        let counts = ["records", "visits", "classes"].map(|key| found[key].as_u64().unwrap());
        assert_eq!((counts[0], counts[1], counts[2]), summary);
        assert_eq!(loaded.export(), export);
    }
    let other = TestFolder::new();
    let ran = other.run_with_input(&["load", "-", "--json"], lines);
    assert_eq!(
        (&ran.objects()[0]["weights"], &ran.objects()[0]["classes"]),
        (&1.into(), &2.into())
    );
    assert_eq!(other.export(), export);
    assert!(place.done(&["scan", "--json"]).contains(r#""class":4294967295"#));
    let history = place.done(&["history", "http://a.example/"]);
    assert!(history.contains("class 0\n") && history.contains("class 4294967295\n"), "{history}");
    let tail = place.done(&["tail"]);
    assert!(tail.contains("class 4294967295"), "{tail}");
    let journal = place.done(&["inspect", "journal", "--json"]);
    assert!(journal.contains(r#""classes":2"#), "{journal}");
    // What is no class stores nothing.
    for class in ["-1", "4294967296", "1.5", "\"7\"", "{}"] {
        let line = format!(r#"{{"url":"http://c.example/","t":1,"class":{class}}}"#);
        let ran = other.run_with_input(&["load", "-"], &line);
        assert!(ran.err.contains("\"class\" must be a whole number"), "{class}: {}", ran.err);
        assert_eq!(other.export(), export);
    }
}

#[test]
fn dates_and_weights_round_trip() {
    let lines = r#"{"url":"http://a.example/","t":1000,"text":"some words","modified":990,"weight":2.5}
{"url":"http://a.example/","t":2000,"seen":"not-modified","modified":"1970-01-01T00:16:30.500Z"}
{"url":"http://a.example/","t":3000,"weight":0.1}
{"url":"http://a.example/","t":-5,"weight":7}
{"url":"http://b.example/","t":5,"weight":7}
"#;
    let place = TestFolder::new();
    let summary = place.ingest(lines);
    let counts = ["records", "new", "same", "weights", "weights_missing"].map(|key| &summary[key]);
    assert_eq!(counts.map(|n| n.as_u64().unwrap()), [5, 1, 1, 2, 1]);
    let export = place.export();
    let of_weights = |line: &&str| line.contains("weight") && !line.contains("fingerprint");
    let weights: Vec<&str> = export.lines().filter(of_weights).collect();
    let expected = [
        r#"{"url":"http://a.example/","t":"1969-12-31T23:59:55Z","weight":7}"#,
        r#"{"url":"http://a.example/","t":"1970-01-01T00:16:40Z","weight":2.5}"#,
        r#"{"url":"http://a.example/","t":"1970-01-01T00:50:00Z","weight":0.1}"#,
    ];
    assert_eq!(weights, expected);
    let first = entries(&export)[1];
    assert!(first.ends_with(r#","modified":"1970-01-01T00:16:30Z"}"#), "{first}");
    let word = r#""modified":"1970-01-01T00:16:30.500Z","seen":"not-modified"}"#;
    assert!(export.contains(word), "{export}");
    // Loading it restores the same state; a weight of an unknown page is left out.
    let loaded = TestFolder::new();
    for summary in [(6, 2, 3), (6, 0, 0)] {
        let unknown = loaded.write("b.jsonl", r#"{"url":"http://b.example/","t":5,"weight":1}"#);
        let ran = loaded.run_with_input(&["load", "-", &unknown, "--json"], &export);
        let found = ran.objects().remove(0);
        let counts = ["records", "visits", "weights"].map(|key| found[key].as_u64().unwrap());
        assert_eq!((counts[0], counts[1], counts[2]), summary);
        assert_eq!(loaded.export(), export);
    }
    let scan = place.done(&["scan", "--json"]);
    assert!(
        scan.contains(r#""weight":0.1"#)
            && scan.contains(r#""modified":"1970-01-01T00:16:30.500Z""#)
    );
    let history = place.done(&["history", "http://a.example/"]);
    let weights: Vec<&str> = history.lines().filter(|line| line.contains("weight")).collect();
    assert!(weights.len() == 3 && weights[2].ends_with("weight 0.1"), "{history}");
    assert!(history.contains("; modified 1970-01-01 00:16"), "{history}");
}

#[test]
fn export_does_not_depend_on_seals_and_merges() {
    let everything = everything();
    let once = TestFolder::with(&everything);
    let pieces = TestFolder::new();
    let lines: Vec<&str> = everything.lines().collect();
    for (number, piece) in lines.chunks(20).enumerate() {
        pieces.ingest_beginning(&piece.join("\n"));
        let store = pieces.open();
        store.seal().unwrap();
        if number == 3 {
            store.merge(&Progress::default()).unwrap();
        }
        store.close().unwrap();
    }
    let (export, of_pieces) = (once.export(), pieces.export());
    // It also says when epochs began.
    assert_eq!(entries(&of_pieces), entries(&export));
    pieces.open().merge(&Progress::default()).unwrap();
    assert_eq!(pieces.export(), of_pieces);
}

#[test]
fn closed_pipe_is_not_an_error() {
    let mut lines = String::new();
    for page in 0..3000 {
        lines += &format!(r#"{{"url":"http://example.com/{page}","t":0,"text":"{page}"}}"#);
        lines.push('\n');
    }
    let place = TestFolder::with(&lines);
    for verb in ["export", "scan"] {
        let mut child = place.command(&[verb]).spawn().unwrap();
        drop(child.stdout.take());
        let ran = ToolRun::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{verb}");
    }
}

#[test]
fn properties_before_the_first_visit_round_trip_through_ingest() {
    let place = TestFolder::with(
        r#"{"url":"http://a.example/","t":2000,"seen":"gone"}
{"url":"http://a.example/","t":1000,"class":7}
{"url":"http://a.example/","t":-5,"weight":0.1}
{"url":"http://b.example/","t":9,"seen":"gone"}
"#,
    );
    let export = place.run(&["export", "--no-tables"]).out;
    let entries: String = export
        .lines()
        .filter(|line| !line.starts_with("{\"simkeep\""))
        .map(|l| format!("{l}\n"))
        .collect();
    let class = entries.find("\"class\"").unwrap();
    assert!(class < entries.find("\"seen\"").unwrap(), "{entries}");
    let other = TestFolder::new();
    let never = "{\"url\":\"http://never.example/\",\"t\":1,\"weight\":2}\n";
    let summary = other.ingest(&(never.to_owned() + &entries));
    let counts = ["weights", "classes", "weights_missing", "classes_missing"]
        .map(|key| summary[key].as_u64());
    assert_eq!(counts, [1, 1, 1, 0].map(Some), "{summary}");
    assert_eq!(other.run(&["export", "--no-tables"]).out, export);
    // With a line for each record, which says at once what is stored, they are left out.
    let by_line = TestFolder::new();
    let ran = by_line.run_with_input(&["ingest", "-", "--outcomes", "--json"], &entries);
    assert_eq!(ran.objects().last().unwrap()["classes_missing"], 1, "{}", ran.out);
}
