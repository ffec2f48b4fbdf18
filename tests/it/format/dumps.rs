//! The dumps in the pages of `format/`, and the bytes that they show.
//!
//! A dump is a fenced block that begins with ```` ```dump ```` and the source of the bytes: a file
//! of the golden store, or a table of its catalog and a key. Each line has an offset, bytes and
//! their meaning, separated by two spaces; `00*36` is 36 bytes of zero. The dumps of one source on
//! one page show all of it without a gap.
//!
//! Dumps of a segment are exactly as the crate prints them. In other dumps only the bytes are
//! corrected.

use std::ops::ControlFlow;
use std::path::PathBuf;

use simkeep::inspect::{DumpLine, DumpQuery};
use simkeep_testing::in_repository;

use super::catalog::CatalogRows;
use super::{golden, golden_store};

/// The pages that contain dumps.
const PAGES: &[&str] =
    &["catalog.md", "df.md", "lock.md", "published.md", "segment.md", "snapshot.md"];

pub(crate) fn page(name: &str) -> PathBuf {
    in_repository("format").join(name)
}

/// The bytes that a dump shows.
fn source(rows: &CatalogRows, text: &str) -> Vec<u8> {
    let words: Vec<&str> = text.split(' ').collect();
    let number = |text: &str| text.parse::<u64>().unwrap();
    match words[..] {
        ["catalog.redb", "segments", id] => rows.segments[&number(id)].clone(),
        ["catalog.redb", "epochs", count] => rows.epochs[&count.parse().unwrap()].clone(),
        ["catalog.redb", "journal_a", first] => rows.journals[0][&number(first)].clone(),
        ["catalog.redb", "journal_b", first] => rows.journals[1][&number(first)].clone(),
        [file] if file.starts_with("generations/") => {
            std::fs::read(golden::published().join(file)).unwrap()
        }
        [file] => std::fs::read(golden_store().join(file)).unwrap(),
        _ => panic!("no source: {text}"),
    }
}

/// The lines that the crate prints for a golden segment.
pub(crate) fn printed(id: u64) -> Vec<DumpLine> {
    let (reader, mut lines) = (simkeep::Reader::open(golden_store()).unwrap(), Vec::new());
    let there = DumpQuery::all().run(&reader.snapshot(), id, |line| {
        lines.push(line);
        ControlFlow::Continue(())
    });
    assert!(there.unwrap());
    lines
}

/// The number of the segment that a dump shows; `None` if it shows something else.
fn segment_of(source: &str) -> Option<u64> {
    source.strip_prefix("segments/")?.strip_suffix(".seg")?.parse().ok()
}

/// Replaces the dumps of segments by the lines that the crate prints. Each block extends to the
/// start of the next one, so that the page determines how a file is divided into blocks.
fn with_segments(text: &str) -> String {
    let fence = |line: &str| line.strip_prefix("```dump ").and_then(segment_of);
    let starts: Vec<(u64, u64)> = text
        .lines()
        .zip(text.lines().skip(1))
        .filter_map(|(line, first)| Some((fence(line)?, parse(first).offset as u64)))
        .collect();
    let (mut out, mut block, mut is_shown) = (String::new(), 0, false);
    for line in text.lines() {
        if is_shown && line != "```" {
            continue;
        }
        is_shown = false;
        out.push_str(line);
        out.push('\n');
        if let Some(id) = fence(line) {
            let (_, from) = starts[block];
            block += 1;
            let to = starts.get(block).filter(|next| next.0 == id).map_or(u64::MAX, |next| next.1);
            let lines = printed(id);
            let begins = lines.iter().any(|line| line.offset == from);
            assert!(begins, "no line begins at {from:04x}: divide the dump by hand");
            for line in lines.iter().filter(|line| (from..to).contains(&line.offset)) {
                out.push_str(&format!("{line}\n"));
            }
            is_shown = true;
        }
    }
    out
}

/// A line of a dump: its offset, the length of the shown bytes, and the text that shows them.
struct DocumentedBytes<'a> {
    offset: usize,
    len: usize,
    bytes: &'a str,
}

fn parse(line: &str) -> DocumentedBytes<'_> {
    let (offset, rest) = line.split_once("  ").unwrap();
    let bytes = rest.split("  ").next().unwrap();
    let len = bytes.split(' ').map(|b| b.split_once('*').map_or(1, |(_, n)| n.parse().unwrap()));
    DocumentedBytes { offset: usize::from_str_radix(offset, 16).unwrap(), len: len.sum(), bytes }
}

/// Bytes in the notation of another line.
fn show(like: &str, mut bytes: &[u8]) -> String {
    let shown = like.split(' ').map(|token| {
        let times = token.split_once('*').map_or(1, |(_, times)| times.parse().unwrap());
        let (run, rest) = bytes.split_at(times);
        bytes = rest;
        assert!(run.iter().all(|b| *b == run[0]), "these bytes are no run: {run:02x?}");
        let star = token.find('*').map_or("", |at| &token[at..]);
        format!("{:02x}{star}", run[0])
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Corrects all dumps of a page. Returns the corrected page, and the number of its dumps.
fn corrected(rows: &CatalogRows, text: &str) -> (String, usize) {
    let text = &with_segments(text);
    let mut out = String::new();
    let mut dumps = 0;
    // The source of the current dump, and the end of the shown part of each source.
    let mut open: Option<&str> = None;
    let mut shown: Vec<(&str, usize)> = Vec::new();
    for line in text.lines() {
        let fence = line.strip_prefix("```");
        let info = fence.and_then(|info| info.split_once(' '));
        let mut line = line.to_owned();
        match (info, open) {
            (Some(("dump", of)), None) => {
                open = Some(of);
                dumps += 1;
            }
            (_, Some(_)) if fence.is_some() => open = None,
            (_, Some(of)) => {
                let bytes = source(rows, of);
                let DocumentedBytes { offset, len, bytes: as_shown } = parse(&line);
                let end = offset + len;
                assert!(end <= bytes.len(), "beyond the end of {of}: {line}");
                match shown.iter_mut().find(|(source, _)| *source == of) {
                    Some((_, at)) => assert_eq!(std::mem::replace(at, end), offset, "{line}"),
                    None => {
                        assert_eq!(offset, 0, "{line}");
                        shown.push((of, end));
                    }
                }
                let right = show(as_shown, &bytes[offset..end]);
                line = line.replacen(as_shown, &right, 1);
            }
            _ => {}
        }
        out.push_str(&line);
        out.push('\n');
    }
    for (of, end) in shown {
        assert_eq!(end, source(rows, of).len(), "{of} is not shown to its end");
    }
    (out, dumps)
}

/// Corrects the bytes in all dumps.
pub(crate) fn refresh() {
    let rows = CatalogRows::read();
    for name in PAGES {
        let text = std::fs::read_to_string(page(name)).unwrap();
        std::fs::write(page(name), corrected(&rows, &text).0).unwrap();
    }
}

#[test]
fn dumps_in_the_format_pages_match_the_golden_files() {
    let rows = CatalogRows::read();
    for name in PAGES {
        let text = std::fs::read_to_string(page(name)).unwrap();
        let (right, dumps) = corrected(&rows, &text);
        assert!(dumps > 0, "{name} has no dump");
        for (line, right) in text.lines().zip(right.lines()) {
            assert_eq!(line, right, "format/{name} shows other bytes than the golden files have");
        }
        assert_eq!(text, right, "format/{name}");
    }
}

#[test]
fn dump_covers_all_bytes_of_a_segment_undamaged() {
    for id in CatalogRows::read().segments.into_keys() {
        let bytes = std::fs::read(golden_store().join(format!("segments/{id:010}.seg"))).unwrap();
        let mut at = 0;
        for line in printed(id) {
            assert_eq!((line.offset, line.damaged), (at, false), "{id}: {line}");
            at += line.len;
            let shown = &bytes[line.offset as usize..at as usize];
            assert_eq!(line.bytes.as_deref(), Some(shown), "{id}: {line}");
        }
        assert_eq!(at, bytes.len() as u64);
    }
}
