//! Tests that write exports and read them back.

use std::sync::Arc;

use proptest::prelude::*;
use simkeep::{Observation, Options, Restatement, Role, Store, Time};

use super::super::chunk::tests::items;
use super::super::{RecordPayload, SourceItem, VisitRecord, ZstdWindow, part};
use super::*;

/// Returns the items of a file of lines.
fn read(lines: &[u8]) -> Vec<SourceItem> {
    let bytes = Box::new(std::io::Cursor::new(lines.to_vec()));
    let (progress, window) = (Arc::default(), ZstdWindow::default());
    items(part("x.jsonl", ".jsonl", bytes, progress, window, false).unwrap())
}

/// Returns the export of a small store.
fn export() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("store"), Options::default()).unwrap();
    let epoch = store.register_epoch("mine \u{202e}\"", Role::Near).unwrap();
    let url = "https://example.com/\u{e4}\u{202e}\"\\";
    store
        .observe(
            Observation::content(url, Time::from_ms_unchecked(1_500), 7, epoch)
                .status(200)
                .modified(Time::from_ms_unchecked(-1)),
        )
        .unwrap();
    store
        .restate(Restatement::new(url, Time::from_ms_unchecked(1_500), None, store.change_epoch()))
        .unwrap();
    store
        .observe(Observation::gone(url, Time::from_ms_unchecked(2_000)).weight(0.1).class(7))
        .unwrap();
    let mut encoder = ExportEncoder::new(&ExportScope::default());
    let snapshot = store.snapshot();
    snapshot.epochs().iter().for_each(|info| encoder.epoch(info, None));
    for observation in snapshot.observations(None) {
        let (url, entry) = observation.unwrap();
        encoder.entry(&url, &entry).unwrap();
    }
    assert_eq!(encoder.end(), 9);
    let mut out = Vec::new();
    encoder.pass(&mut out).unwrap();
    out
}

fn says(item: &SourceItem) -> Option<&ExportLineKind> {
    match item {
        SourceItem::Export(line) => Some(&line.kind),
        _ => None,
    }
}

#[test]
fn export_round_trips() {
    let export = export();
    let text = String::from_utf8(export.clone()).unwrap();
    assert!(!text.contains(|c| c != '\n' && super::super::escape::needs_escape(c)), "{text}");
    let all = read(&export);
    assert_eq!(all.len(), 10);
    assert_eq!(
        (says(&all[0]), says(&all[8])),
        (Some(&ExportLineKind::Begin), Some(&ExportLineKind::End))
    );
    assert_eq!(says(&all[9]), Some(&ExportLineKind::FileEnd));
    let Some(ExportLineKind::Epoch(epoch)) = says(&all[2]) else { panic!("{:?}", all[2]) };
    assert_eq!((epoch.name.as_str(), epoch.options.role), ("mine \u{202e}\"", Role::Near));
    let record = |item: &SourceItem| match item {
        SourceItem::Record(record) => record.clone(),
        other => panic!("{other:?}"),
    };
    let records: Vec<VisitRecord> = all[3..8].iter().map(record).collect();
    assert!(records.iter().all(|record| record.url == "https://example.com/\u{e4}\u{202e}\"\\"));
    assert_eq!(records[0].payload, RecordPayload::Ready { fingerprint: Some(7) });
    assert_eq!((records[0].status, records[0].modified), (Some(200), Some(-1)));
    assert_eq!(records[1].payload, RecordPayload::Restated { fingerprint: None });
    assert_eq!((&records[2].payload, records[2].time), (&RecordPayload::Gone, 2_000));
    assert_eq!(
        (&records[3].payload, records[3].weight),
        (&RecordPayload::Properties, Some(0.1.into()))
    );
    assert_eq!((&records[4].payload, records[4].class), (&RecordPayload::Properties, Some(7)));
}

/// Whether a file is reported as an invalid export, or as not an export.
fn is_refused(lines: &[u8]) -> bool {
    let all = read(lines);
    let flawed = all.iter().any(|item| matches!(says(item), Some(ExportLineKind::Flawed(_))));
    let is_export = all.iter().any(|item| matches!(says(item), Some(ExportLineKind::Begin)));
    let broken = all.iter().any(|item| matches!(item, SourceItem::Broken(_)));
    let ends = all.iter().filter(|item| says(item) == Some(&ExportLineKind::End)).count();
    let last = all.iter().rev().nth(1).and_then(says) == Some(&ExportLineKind::End);
    if is_export { flawed || !last || ends != 1 } else { broken }
}

#[test]
fn export_truncated_anywhere_is_refused() {
    let export = export();
    assert!(!is_refused(&export) && !is_refused(&export[..export.len() - 1]));
    for len in 1..export.len() - 1 {
        assert!(is_refused(&export[..len]), "{len}");
    }
}

#[test]
fn export_with_missing_or_repeated_lines_is_refused() {
    let export = export();
    let lines: Vec<&[u8]> = export.split_inclusive(|b| *b == b'\n').collect();
    for nth in 0..lines.len() {
        let mut fewer = lines.clone();
        fewer.remove(nth);
        assert!(is_refused(&fewer.concat()), "without {nth}");
        let mut more = lines.clone();
        more.insert(nth, lines[nth]);
        assert!(is_refused(&more.concat()), "{nth} twice");
    }
    // The result does not depend on the length of the file, or on the chunks in which its lines are
    // read.
    let pad = format!("{}\n", " ".repeat(1000)).into_bytes();
    for count in [0, 1, 255, 256, 257, 258, 259, 1000] {
        let mut padded = lines.clone();
        (0..count).for_each(|_| padded.insert(3, &pad));
        assert!(is_refused(&padded.concat()) == (count > 0), "{count}");
        let end = format!("{{\"simkeep\":\"end\",\"lines\":{}}}\n", 9 + count);
        *padded.last_mut().unwrap() = end.as_bytes();
        assert!(!is_refused(&padded.concat()), "{count}");
        let mut followed = padded.clone();
        (0..count).for_each(|_| followed.push(&pad));
        assert!(!is_refused(&followed.concat()), "{count}");
        followed.push(lines[4]);
        assert!(is_refused(&followed.concat()), "{count}");
    }
}

proptest! {
    #[test]
    fn no_line_of_an_export_panics(
        key in prop_oneof![Just("simkeep"), Just("epoch"), Just("base64"), Just("url"), Just("x")],
        value in prop_oneof![Just("1"), Just("\"end\""), Just("null"), Just("[]"), Just("\"AAAA\"")],
        more in "(,\"(table|at|of|lines|begun|minor|t|seen|weight|class)\":(1|-1|\"1970\"|null|\\{\\})){0,4}",
        rest in "[ -~\n]{0,40}",
    ) {
        let mut lines = b"{\"simkeep\":\"export\",\"version\":1}\n".to_vec();
        lines.extend_from_slice(format!("{{\"{key}\":{value}{more}}}\n").as_bytes());
        lines.extend_from_slice(rest.as_bytes());
        is_refused(&lines);
        let all = read(&lines);
        prop_assert_eq!(all.last().and_then(says), Some(&ExportLineKind::FileEnd));
    }
}

/// A table has one encoding only, so that two exports of a store are equal byte for byte.
#[test]
fn non_canonical_base64_of_a_table_is_refused() {
    let is_table = |text: &str| {
        let part = "{\"table\":\"0000000000000001\",\"offset\":0,\"table_bytes\":9";
        let export = "{\"simkeep\":\"export\",\"version\":1}";
        let lines = format!("{export}\n{part},\"base64\":\"{text}\"}}\n");
        read(lines.as_bytes())
            .iter()
            .any(|item| matches!(says(item), Some(ExportLineKind::Table(_))))
    };
    for text in ["Zg==", "Zm8=", "Zm9v"] {
        assert!(is_table(text), "{text}");
    }
    for text in ["Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "====", "Z===", "Zm9v\\n", "Zm-v"] {
        assert!(!is_table(text), "{text}");
    }
}
