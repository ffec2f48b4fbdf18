//! `export` in the formats of other programs.

use super::*;

/// Pages with hostile names, and with everything that can be observed of a page.
fn hostile(place: &TestFolder) {
    let mut lines = String::new();
    for url in [
        "=HYPERLINK(\"http://evil.example\",\"x\")",
        "+1",
        "-1+1",
        "@SUM(A1)",
        "'quoted",
        " https://blank.example/ ",
        "https://a.example/,;|\"'",
        "https://a.example/\u{202e}gpj.exe",
        "https://bücher.example/ä b",
        "javascript:alert(1)",
        "</svg>",
        "urn:isbn:1",
        &format!("https://long.example/{}", "\"".repeat(8000)),
    ] {
        for (t, text) in [(1, "one"), (2, "two"), (3, "two"), (4, "one")] {
            lines += &json!({"url": url, "t": t, "status": 200, "text": text}).to_string();
            lines += "\n";
        }
        lines += &json!({"url": url, "t": 5, "seen": "gone", "status": 410}).to_string();
        lines += "\n";
        lines +=
            &json!({"url": url, "t": 6, "weight": 2.5, "class": 4_294_967_295_u32}).to_string();
        lines += "\n";
        let digest = "00000000000000000000000000000001";
        for (epoch, seen) in [("=cmd", Value::Null), ("other;", "restated".into())] {
            let mut line = json!({"url": url, "t": 7.25, "epoch": epoch, "digest": digest});
            line["fingerprint"] = "00000000000000ff".into();
            line["seen"] = seen;
            lines += &format!("{line}\n");
        }
        // Only the last entity tag of a page is kept.
        let facts = json!({
            "url": url, "t": 8, "text": "one", "modified": 3, "bytes": 14_300, "conditional": true,
            "etag": "=\"\u{e9}\",\u{1b}", "canonical": "https://e.example/?a=\u{202e}",
        });
        lines += &format!("{facts}\n");
    }
    place.ingest(&lines);
}

/// The cells of a CSV table (RFC 4180).
fn cells(csv: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let (mut quoted, mut chars) = (false, csv.chars().peekable());
    while let Some(c) = chars.next() {
        let cell = rows.last_mut().unwrap().last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => rows.last_mut().unwrap().push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            c => cell.push(c),
        }
    }
    assert_eq!(rows.pop().unwrap(), [""]);
    rows
}

/// The verdict and distance of each entry according to `history`, in the order of an export.
fn verdicts(place: &TestFolder, entries: &[Value]) -> Vec<(String, Option<u64>)> {
    let mut verdicts = Vec::new();
    let mut pages: Vec<&str> = entries.iter().map(|entry| entry["url"].as_str().unwrap()).collect();
    pages.dedup();
    for url in pages {
        for entry in place.open().history(url).unwrap() {
            verdicts.push(match entry.visit() {
                Some((_, verdict)) => {
                    let word = format!("{verdict:?}");
                    let word = word.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                    (word.to_lowercase(), verdict.distance().map(|d| d.bits.into()))
                }
                None if entry.entry().weight().is_some() => ("weight".to_owned(), None),
                None if entry.entry().class().is_some() => ("class".to_owned(), None),
                None if entry.entry().etag().is_some() => ("etag".to_owned(), None),
                None if entry.entry().target().is_some() => ("target".to_owned(), None),
                None => ("restated".to_owned(), None),
            });
        }
    }
    verdicts
}

fn entries(place: &TestFolder, more: &[&str]) -> Vec<Value> {
    let export = place.done(&[&["export"], more].concat());
    let lines = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.get("url").is_some()).collect()
}

/// An entry and its verdict as a row of a table.
fn row(entry: &Value, (verdict, distance): &(String, Option<u64>)) -> Vec<String> {
    let text = |key: &str| match &entry[key] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut row: Vec<String> =
        ["url", "t", "epoch", "fingerprint", "digest", "status"].map(text).to_vec();
    row.push(verdict.clone());
    row.push(distance.map(|bits| bits.to_string()).unwrap_or_default());
    row.extend(["weight", "class", "modified", "bytes"].map(text));
    let is_visit = !["restated", "weight", "class", "etag", "target"].contains(&verdict.as_str());
    let conditional = entry["conditional"].as_bool().unwrap_or_default();
    row.push(if is_visit { conditional.to_string() } else { String::new() });
    row.extend(["etag", "target"].map(text));
    row
}

#[test]
fn csv_has_the_exported_entries_and_verdicts() {
    let place = TestFolder::new();
    hostile(&place);
    let all = entries(&place, &[]);
    let verdicts = verdicts(&place, &all);
    let rows: Vec<_> =
        all.iter().zip(&verdicts).map(|(entry, verdict)| row(entry, verdict)).collect();
    assert_eq!((all.len(), verdicts.len()), (13 * 12, 13 * 12));
    let csv = place.with_header(&["export", "--format", "csv"]);
    let mut found = cells(&csv);
    let header = "url,time,epoch,fingerprint,digest,status,verdict,distance,weight,class,modified,\
                  bytes,conditional,etag,target";
    assert_eq!(found.remove(0).join(","), header);
    for cell in found.iter().flatten() {
        assert!(!cell.trim_start().starts_with(['=', '+', '-', '@']), "{cell}");
    }
    for cell in found.iter_mut().flatten() {
        if let Some(text) = cell.strip_prefix('\'') {
            *cell = text.to_owned();
        }
    }
    assert_eq!(found, rows);
    // Parts of it are the same parts.
    for more in
        [&["--since", "3"][..], &["--in-force"], &["--under", "a.example"], &["--under", "none"]]
    {
        let some = entries(&place, more);
        let csv = place.done(&[&["export", "--format", "csv"], more].concat());
        assert_eq!(cells(&csv).len(), some.len(), "{more:?}");
    }
}

#[test]
fn cdxj_has_a_line_for_each_visit() {
    let place = TestFolder::new();
    hostile(&place);
    let all = entries(&place, &[]);
    let verdicts = verdicts(&place, &all);
    let cdxj = place.done(&["export", "--format", "cdxj"]);
    let mut lines = cdxj.lines();
    for (entry, (verdict, distance)) in all.iter().zip(&verdicts) {
        if ["weight", "class", "restated", "etag", "target"].contains(&verdict.as_str()) {
            continue;
        }
        let line = lines.next().unwrap();
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        assert!(words[0].bytes().all(|b| (0x21..0x7f).contains(&b)), "{line}");
        let time: String = entry["t"].as_str().unwrap()[..19].replace(['-', 'T', ':'], "");
        assert_eq!(words[1], time);
        let mut expected = json!({"url": entry["url"]});
        let status = entry["status"].as_u64().map(|status| status.to_string());
        let of_response = |key: &str| {
            let is_of = |of: &&Value| of["url"] == entry["url"] && of["t"] == entry["t"];
            let found = all.iter().filter(is_of).find_map(|of| of.get(key));
            found.cloned().unwrap_or_default()
        };
        for (key, value) in [
            ("digest", entry["digest"].clone()),
            ("status", status.into()),
            ("fingerprint", entry["fingerprint"].clone()),
            ("verdict", verdict.as_str().into()),
            ("distance", (*distance).into()),
            ("modified", entry["modified"].clone()),
            ("bytes", entry["bytes"].clone()),
            ("conditional", entry["conditional"].clone()),
            ("etag", of_response("etag")),
            ("target", of_response("target")),
        ] {
            if !value.is_null() {
                expected[key] = value;
            }
        }
        assert_eq!(serde_json::from_str::<Value>(words[2]).unwrap(), expected);
    }
    assert_eq!(lines.next(), None);
    assert!(cdxj.contains("example,a)/,;|\"' 19700101000001 {\"url\""));
}

#[test]
fn cdxj_input_is_refused_in_favour_of_archives() {
    let source = TestFolder::with(CRAWL);
    let cdxj = source.done(&["export", "--format", "cdxj"]);
    let place = TestFolder::new();
    let file = place.write("index.cdxj", &cdxj);
    let packed = place.write("index.cdxj.gz", zstd::encode_all(cdxj.as_bytes(), 1).unwrap());
    for verb in ["ingest", "load"] {
        for file in [&file, &packed] {
            let ran = place.run(&[verb, file]);
            assert_eq!((ran.code, place.store().exists()), (3, false), "{}", ran.err);
            assert!(ran.err.contains("no text") && ran.err.contains("WARC"), "{}", ran.err);
        }
        let ran = place.run_with_input(&[verb, "-"], &cdxj);
        assert!(
            ran.code == 3 && ran.err.contains("standard input: the file is a CDXJ index"),
            "{}",
            ran.err
        );
    }
    // Everything before it is stored.
    let before = place.write("pages.jsonl", CRAWL);
    let ran = place.run(&["ingest", &before, &file]);
    assert_eq!((ran.code, place.open().stats().unwrap().pages > 0), (3, true), "{}", ran.err);
}

#[test]
fn table_is_written_whole_or_the_file_left_unchanged() {
    let place = TestFolder::new();
    let lines: String = (0..20_000)
        .map(|page| {
            format!("{{\"url\":\"https://a.example/{page}\",\"t\":1,\"text\":\"{page}\"}}\n")
        })
        .collect();
    place.ingest(&lines);
    for format in FORMATS {
        let file = place.write("out", "before");
        // A disk that is full after a few KiB.
        let limited = "trap '' XFSZ; ulimit -f 50; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", limited, env!("CARGO_BIN_EXE_simkeep"), "export", "-o", &file]);
        command.args(["--format", format]).env("SIMKEEP_STORE", place.store());
        let ran = ToolRun::from(command.output().unwrap());
        assert_eq!(ran.code, 5, "{format}: {}", ran.err);
        assert!(ran.err.contains("cannot write") && ran.err.contains("out"), "{}", ran.err);
        assert_eq!(std::fs::read(&file).unwrap(), b"before");
        let out = place.done(&["export", "--format", format, "-o", &file, "--json"]);
        let summary: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&summary["entries"], &summary["pages"]), (&json!(20_000), &json!(20_000)));
        let written = std::fs::read(&file).unwrap();
        assert_eq!(summary["file_bytes"], written.len());
        let printed = place.command(&["export", "--format", format]).output().unwrap();
        assert!(printed.stdout == written, "{format}");
        let left = std::fs::read_dir(place.path(".")).unwrap();
        let left = left.filter(|f| f.as_ref().unwrap().path().extension() == Some("part".as_ref()));
        assert_eq!(left.count(), 0);
    }
    for (name, format) in [("t.csv.gz", "csv"), ("t.cdxj.zst", "cdxj")] {
        place.done(&["export", "--format", format, "-o", name]);
        let packed = std::fs::File::open(place.path(name)).unwrap();
        let mut unpacked = Vec::new();
        if format == "csv" {
            std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut unpacked).unwrap();
        } else {
            zstd::stream::copy_decode(packed, &mut unpacked).unwrap();
        }
        assert_eq!(unpacked, place.done(&["export", "--format", format]).into_bytes());
    }
}

#[test]
fn extension_names_the_export_format() {
    let place = TestFolder::with(super::CRAWL);
    for (name, format) in [
        ("a.jsonl", "jsonl"),
        ("a.txt", "jsonl"),
        ("a", "jsonl"),
        ("a.CSV", "csv"),
        ("a.cdxj", "cdxj"),
        #[cfg(feature = "parquet")]
        ("a.parquet", "parquet"),
    ] {
        place.done(&["export", "-o", name]);
        let expected = place.run_for_bytes(&["export", "--format", format]);
        assert_eq!(std::fs::read(place.path(name)).unwrap(), expected, "{name}");
    }
    // An explicit format counts, whatever the name.
    place.done(&["export", "-o", "b.csv", "--format", "jsonl"]);
    assert_eq!(std::fs::read_to_string(place.path("b.csv")).unwrap(), place.export());
    for (args, why) in [
        (
            &["export", "-o", "c.tsv"][..],
            "does not write .tsv; it writes JSON lines (.jsonl), .csv, .cdxj",
        ),
        (&["export", "-o", "c.parquet.gz"], "leave .gz or .zst out of its name"),
        (
            &["cluster", "-o", "c.csv"],
            "does not write .csv; it writes JSON lines (.jsonl, also with .gz or",
        ),
        (&["cluster", "-o", "c.parquet.zst"], "leave .gz or .zst out of its name"),
        (&["dedup", "-o", "c.csv.gz"], "does not write .csv; it writes JSON lines"),
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let left = std::fs::read_dir(place.path(".")).unwrap();
    assert!(left.into_iter().all(|f| !f.unwrap().file_name().to_str().unwrap().starts_with('c')));
}

#[test]
fn csv_export_is_refused_as_input() {
    let place = TestFolder::with(super::CRAWL);
    assert!(place.with_header(&["export", "-o", "e.csv"]).contains("written"));
    let csv = std::fs::read_to_string(place.path("e.csv")).unwrap();
    for verb in ["ingest", "load"] {
        for (file, input) in [("e.csv", ""), ("-", csv.as_str())] {
            let ran = place.run_with_input(&[verb, file, "--store", "new"], input);
            assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{verb} {file}");
            let why = "a CSV export, which cannot be read back; export JSON lines instead";
            assert!(ran.err.contains(why), "{verb}: {}", ran.err);
        }
    }
    let other = place.write("other.csv", "url,time\na,b\n");
    place.done(&["ingest", &other, "--store", "texts"]);
}

/// Those that are tables.
#[cfg(not(feature = "parquet"))]
const FORMATS: &[&str] = &["csv", "cdxj"];
#[cfg(feature = "parquet")]
const FORMATS: &[&str] = &["csv", "cdxj", "parquet"];

#[test]
fn exported_text_cannot_control_a_terminal() {
    let place = TestFolder::new();
    hostile(&place);
    for format in ["csv", "cdxj"] {
        let Some(ran) = place.on_terminal(&["export", "--format", format], &[], "") else { return };
        assert!(ran.out.contains("gpj.exe") && !ran.out.contains('\u{202e}'), "{format}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_rows_of_the_csv_table() {
    use simkeep_parquet::{CellValue as Cell, DocumentRows};
    let place = TestFolder::new();
    hostile(&place);
    for more in [&[][..], &["--in-force"], &["--since", "3"], &["--under", "none"]] {
        let csv = [&["export", "--format", "csv"], more].concat();
        let mut rows = cells(&place.with_header(&csv));
        let header = rows.remove(0);
        place.done(&[&["export", "--format", "parquet", "-o", "t.parquet"], more].concat());
        for names in header.chunks(3) {
            let file = std::fs::File::open(place.path("t.parquet")).unwrap();
            let names: [&str; 3] = std::array::from_fn(|n| names.get(n).map_or("", |name| name));
            // Columns of these types are not read.
            let is_read = |name: &&str| !["digest", "conditional"].contains(name);
            let names = names.map(|name| Some(name).filter(is_read).unwrap_or_default());
            let read = DocumentRows::open(file, names).unwrap();
            let read: Vec<_> = read.collect::<Result<Vec<_>, _>>().unwrap().concat();
            assert_eq!(read.len(), rows.len());
            for (read, row) in read.iter().zip(&rows) {
                for (cell, name) in read.iter().zip(names) {
                    let Some(column) = header.iter().position(|other| other == name) else {
                        continue;
                    };
                    let text = row[column].strip_prefix('\'').unwrap_or(&row[column]);
                    let shown = match cell {
                        Cell::Null => String::new(),
                        Cell::Text(text) if name == "fingerprint" => {
                            format!("{:016x}", text.parse::<u64>().unwrap())
                        }
                        Cell::Whole(n) if name == "fingerprint" => format!("{n:016x}"),
                        Cell::Text(text) => text.clone(),
                        Cell::Whole(number) => number.to_string(),
                        Cell::Decimal(number) => number.to_string(),
                        Cell::Milliseconds(ms) => simkeep::Time::from_ms_unchecked(*ms).to_string(),
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(shown, text, "{name}");
                }
            }
        }
    }
    let ran = place.run(&["export", "--format", "parquet", "-o", "t.parquet.gz"]);
    assert_eq!((ran.code, place.path("t.parquet.gz").exists()), (2, false), "{}", ran.err);
    if let Some(ran) = place.on_terminal(&["export", "--format", "parquet"], &[], "") {
        assert!(ran.out.contains("name a file with -o"), "{}", ran.out);
    }
}
