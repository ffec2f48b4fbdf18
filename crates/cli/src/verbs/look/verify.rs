//! `verify`: checks a whole store for damage.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use simkeep::Reader;
use simkeep::publish::is_published;
use simkeep::verify::{Verified, VerifyOptions};

use crate::common::{CommonArgs, print_generation_notice};
use crate::exit::{Exit, VerbError, print_message};
use crate::output::Output;
use crate::output::json::FileFlaw;
use crate::output::progress::with_progress_bar;
use crate::output::words::{bytes, count, many};
use simkeep_formats::escape::escape_untruncated;

/// Check a whole store for damage
///
/// Reads every byte, checks every checksum, and checks that pages, histories and fingerprint tables
/// agree. Names all damage by file and block. Writes nothing. For a published directory, it reads
/// the newest generation.
#[derive(Args)]
#[command(after_long_help = r#"Examples:
  simkeep verify crawl.simkeep
  simkeep verify crawl.simkeep --rate 50M   slowly, while a crawler runs
  simkeep verify backup/crawl.simkeep

Exits with 4 if anything is damaged. `simkeep repair` saves the sound parts."#)]
pub(crate) struct VerifyArgs {
    /// Read at most this much a second, such as 50M (K, M, G)
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    rate: Option<u64>,
}

/// Parses a number of bytes, with K, M or G for powers of 1024.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, &'static str> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (text.get(..at), 10),
        Some((at, 'm' | 'M')) => (text.get(..at), 20),
        Some((at, 'g' | 'G')) => (text.get(..at), 30),
        _ => (Some(text), 0),
    };
    let number = digits.and_then(|digits| digits.parse::<u64>().ok());
    let bytes = number.and_then(|number| number.checked_mul(1 << unit)).filter(|bytes| *bytes > 0);
    bytes.ok_or("write a number of bytes, such as 500000, 200K, 50M or 1G")
}

impl VerifyArgs {
    pub(crate) fn run(self, common: &CommonArgs, output: &mut Output) -> Result<Exit, VerbError> {
        let store = common.store()?;
        if let (Ok(true), Ok(reader)) = (is_published(&store), Reader::open(&store)) {
            print_generation_notice(&reader);
        }
        let verified = with_progress_bar(|progress| {
            let options = VerifyOptions::default().rate(self.rate).progress(progress.clone());
            simkeep::verify::verify(&store, options)
        })?;
        if !verified.catalog {
            print_message(
                "another process is writing to the store; only the sealed segments were checked, \
                 not the catalog",
            );
        }
        if common.json {
            output.object(&VerifyResult::from(&verified))?;
        } else {
            lines(&verified).iter().try_for_each(|line| output.line(line))?;
        }
        Ok(if verified.is_sound() { Exit::Done } else { Exit::Damaged })
    }
}

/// The result of checking a store.
#[derive(Serialize, JsonSchema)]
pub(crate) struct VerifyResult<'a> {
    sound: bool,
    /// The number of files.
    files: usize,
    read_bytes: u64,
    /// Whether the catalog was read, or the generation of a published store. The catalog is not
    /// read if a writer in another process has it open.
    catalog_read: bool,
    /// The number of pages; null if anything is damaged.
    pages: Option<u64>,
    /// The number of visits; null if anything is damaged.
    visits: Option<u64>,
    /// The first flaws, file by file.
    flaws: Vec<FileFlaw<'a>>,
    /// The number of further flaws.
    more_flaws: u64,
}

impl<'a> From<&'a Verified> for VerifyResult<'a> {
    fn from(verified: &'a Verified) -> VerifyResult<'a> {
        let sound = verified.is_sound();
        VerifyResult {
            sound,
            files: verified.files,
            read_bytes: verified.bytes,
            catalog_read: verified.catalog,
            pages: sound.then_some(verified.pages),
            visits: sound.then_some(verified.visits),
            flaws: verified.flaws.iter().map(FileFlaw::from).collect(),
            more_flaws: verified.more_flaws,
        }
    }
}

/// The result in lines, for people.
fn lines(verified: &Verified) -> Vec<String> {
    let read =
        format!("{}, {}", many(verified.files as u64, "file", "files"), bytes(verified.bytes));
    if verified.is_sound() {
        let pages = many(verified.pages, "page", "pages");
        return vec![format!(
            "sound: {read}, {pages}, {}",
            many(verified.visits, "visit", "visits")
        )];
    }
    let mut lines: Vec<String> =
        verified.flaws.iter().map(|flaw| escape_untruncated(&flaw.to_string())).collect();
    if verified.more_flaws > 0 {
        lines.push(format!("and {} more", count(verified.more_flaws)));
    }
    lines.push(format!("damaged: {} in {read}", many(verified.flaw_count(), "flaw", "flaws")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_rates_may_have_a_unit() {
        let read = ["7", "50M", "2k", "1G"].map(parse_bytes);
        assert_eq!(read, [Ok(7), Ok(50 << 20), Ok(2 << 10), Ok(1 << 30)]);
        for wrong in ["", "M", "0", "-1", "1.5M", "99999999999G", "5MB"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }
}
