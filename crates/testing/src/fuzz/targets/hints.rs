//! Any bytes as a sitemap, a feed or JSON lines of hints, or as rules. The result depends neither
//! on their compression nor on the pieces in which they arrive. The rule of a page is that of its
//! longest prefix, compared with rules that are read line by line.
//!
//! The first byte modulo 3 selects the compression: 0 takes the rest as the file, compressed or
//! not; 1 compresses it with gzip, 2 with zstd. That byte divided by 3 is even for hints, odd for
//! rules. The second byte has the sizes: of a compressed part in the low four bits, of a read in
//! the others.

use std::io::{Cursor, Read};

use serde_json::Value;
use simkeep::URL_BYTES_MAX;
use simkeep::due::{Rule, Rules};
use simkeep_formats::escape::needs_escape;
use simkeep_formats::hints::{self, Hint};
use simkeep_formats::{BrokenRecord, ZstdWindow, rules, with_whole_characters};

use crate::fuzz::file_delivery::{FileDelivery, FuzzCompression};
use crate::fuzz::input::FuzzInput;
use crate::{TIME_MAX, TIME_MIN};

/// The maximum number of hints to examine. A few bytes of input can decompress to any number.
const HINTS_MAX: usize = 20_000;
/// The maximum number of lines of rules that are also read one by one.
const LINES_MAX: usize = 12;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = FuzzInput(data);
    let kind = input.u8();
    let feed = FileDelivery::new("", kind, input.u8());
    if kind / 3 % 2 == 0 {
        run_hints(&feed, input.0);
    } else {
        run_rules(&feed, input.0);
    }
}

type HintResult = Result<Hint, BrokenRecord>;

fn run_hints(feed: &FileDelivery, file: &[u8]) {
    let Some(found) = feed.read_in_pieces_and_whole(file, read_hints) else { return };
    found.iter().for_each(check);
    // The first part determines the kind and the encoding of the file.
    let (first, _) = feed.first_part(file);
    let is_xml = first.starts_with(b"<") && first.contains(&b'>');
    if is_xml || file.starts_with(b"{") {
        let plain = FileDelivery { packing: FuzzCompression::None, ..*feed }
            .read_in_pieces_and_whole(file, read_hints)
            .unwrap();
        assert_eq!(without_positions(plain), without_positions(found), "packed");
    }
}

fn read_hints(bytes: Box<dyn Read + Send>) -> Vec<HintResult> {
    match hints::read("file", bytes, ZstdWindow::default()) {
        Ok(hints) => hints.take(HINTS_MAX).map(|found| found.map_err(normalise_error)).collect(),
        Err(broken) => vec![Err(broken)],
    }
}

/// A file may be broken in two ways at one position: by missing bytes, and by bytes that are not
/// UTF-8. The sizes of the reads decide which of them is reported.
fn normalise_error(broken: BrokenRecord) -> BrokenRecord {
    let is_either = ["syntax error: ", "cannot decode input using UTF-8: "]
        .iter()
        .any(|start| broken.why.starts_with(start));
    if is_either { BrokenRecord { why: "it is no XML".to_owned(), ..broken } } else { broken }
}

/// The results without positions, which depend on the compression of the file.
fn without_positions(found: Vec<HintResult>) -> Vec<Result<Hint, String>> {
    found.into_iter().map(|hint| hint.map_err(|broken| broken.why)).collect()
}

fn check(found: &HintResult) {
    match found {
        Ok(Hint { url, modified }) => {
            assert!(!url.is_empty() && url.len() <= URL_BYTES_MAX, "{url:?}");
            assert!(!url.contains(char::is_control), "{url:?}");
            assert!((TIME_MIN..=TIME_MAX).contains(modified), "{modified}");
        }
        Err(broken) => check_broken(broken),
    }
}

fn check_broken(broken: &BrokenRecord) {
    for said in [&broken.at, &broken.why] {
        assert!(!said.is_empty() && said.len() <= 8 << 10, "{said:?}");
        assert!(!said.contains(needs_escape), "{said:?}");
    }
}

fn run_rules(feed: &FileDelivery, file: &[u8]) {
    let read = |bytes| read_rules(bytes).map(|rules| format!("{rules:?}"));
    match feed.read_in_pieces_and_whole(file, read) {
        Some(Err(broken)) => return check_broken(&broken),
        Some(Ok(_)) => {}
        None => return,
    }
    // A file that is already compressed is not examined further.
    let Ok(rules) = read_rules(Box::new(Cursor::new(file.to_vec()))) else { return };
    let lines = || file.split(|byte| *byte == b'\n');
    if lines().count() > LINES_MAX {
        return;
    }
    let read_line = |line: &[u8]| read_rules(Box::new(Cursor::new(line.to_vec())));
    let Ok(each) = lines().map(read_line).collect::<Result<Vec<Rules>, BrokenRecord>>() else {
        return;
    };
    for under in lines().filter_map(under) {
        for url in [format!("https://{under}"), format!("http://{under}/x"), under] {
            assert_eq!(rules.of(&url), longest(&each, &url), "{url:?}");
        }
    }
}

fn read_rules(bytes: Box<dyn Read + Send>) -> Result<Rules, BrokenRecord> {
    rules::read("file", bytes, ZstdWindow::default())
}

/// The prefix in a line, as it is written.
fn under(line: &[u8]) -> Option<String> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let object: Value = serde_json::from_slice(&with_whole_characters(line)).ok()?;
    Some(object.get("under")?.as_str()?.to_owned())
}

/// The rule of a page, computed from rules that are read one by one.
fn longest<'a>(each: &'a [Rules], url: &str) -> &'a Rule {
    let nothing = Rule::everywhere();
    let found = each.iter().map(|rules| rules.of(url));
    // A rule without settings is equivalent to any other such rule.
    let found = found.max_by_key(|rule| {
        (rule.under.as_ref().map(|prefix| prefix.to_string().len()), **rule != nothing)
    });
    found.expect("a line has a prefix, so there is a rule")
}
