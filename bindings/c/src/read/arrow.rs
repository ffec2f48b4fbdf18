//! Results as Arrow tables.

use crate::abi;
use crate::abi::arrow::{AlignedBuffer, ArrowArray, ArrowSchema, ExportedColumn, export_table};
use crate::call::done;
use crate::distances::SIMKEEP_NO_DISTANCE;
use crate::failure::Failure;
use crate::read::matches::MatchColumns;
use crate::texts::TextColumn;
use crate::write::outcomes::{OriginalByCode, Outcomes};
use crate::write::verdict::{BandCode, SameByCode, VerdictCode};

/// Creates a column of numbers with this Arrow format.
fn numbers<T: abi::PodNumber>(
    name: &'static str,
    format: &'static str,
    numbers: &[T],
) -> ExportedColumn {
    ExportedColumn {
        name,
        format,
        len: numbers.len(),
        valid: None,
        buffers: vec![AlignedBuffer::of(numbers)],
        dictionary: None,
        children: Vec::new(),
    }
}

/// Adds validity to a column.
fn with_validity(column: ExportedColumn, valid: impl Iterator<Item = bool>) -> ExportedColumn {
    ExportedColumn { valid: Some(valid.collect()), ..column }
}

/// Creates a column of distances, some of which may be absent.
fn distances(name: &'static str, distances: &[u8]) -> ExportedColumn {
    let is_there = distances.iter().map(|distance| *distance != SIMKEEP_NO_DISTANCE);
    with_validity(numbers(name, "C", distances), is_there)
}

/// Creates a column of times, in milliseconds since 1970.
fn times(name: &'static str, times: &[i64]) -> ExportedColumn {
    numbers(name, "tsm:UTC", times)
}

/// Creates a column of flags, from numbers that are 1 or 0.
fn flags(name: &'static str, flags: &[u8]) -> ExportedColumn {
    let bits: Vec<bool> = flags.iter().map(|flag| *flag == 1).collect();
    ExportedColumn { buffers: vec![AlignedBuffer::bits(&bits)], ..numbers(name, "b", flags) }
}

fn texts(name: &'static str, texts: &TextColumn) -> ExportedColumn {
    let (bytes, offsets) = texts.parts();
    let buffers = vec![AlignedBuffer::of(offsets), AlignedBuffer::of(bytes.as_bytes())];
    ExportedColumn { len: offsets.len() - 1, buffers, ..numbers(name, "U", offsets) }
}

/// Creates a column of codes, as a dictionary of their names. The first code means null.
fn names(name: &'static str, codes: impl Iterator<Item = i32>, of: &[&str]) -> ExportedColumn {
    let codes: Vec<i32> = codes.collect();
    let dictionary = texts("", &of.iter().collect());
    let column =
        ExportedColumn { dictionary: Some(Box::new(dictionary)), ..numbers(name, "i", &codes) };
    with_validity(column, codes.iter().map(|code| *code != 0))
}

/// Creates a column with the list of each row, from the offsets of the lists.
fn list_of(name: &'static str, offsets: &[u64]) -> ExportedColumn {
    let lengths = offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| to - from);
    let rows = (0_u64..).zip(lengths).flat_map(|(list, len)| (0..len).map(move |_| list));
    numbers(name, "L", &rows.collect::<Vec<_>>())
}

fn table(children: Vec<ExportedColumn>) -> ExportedColumn {
    let len = children.first().map_or(0, |column| column.len);
    ExportedColumn {
        format: "+s",
        len,
        buffers: Vec::new(),
        children,
        ..numbers::<u8>("", "", &[])
    }
}

/// The name of each code of a verdict.
const VERDICTS: &[&str] = &[
    "",
    "new",
    "same",
    "changed",
    "reverted",
    "gone",
    "failed",
    "unseen",
    "out-of-order",
    "known",
    "other",
];
const SAME_BY: &[&str] = &["", "digest", "fingerprint", "not-modified", "other"];
const BANDS: &[&str] = &["", "none", "minor", "moderate", "major"];
const ORIGINAL_BY: &[&str] = &["", "digest", "fingerprint", "near", "other"];

/// Exports outcomes as an Arrow table with a row for each observation, in order: `verdict`,
/// `same_by`, `distance`, `band`, `to`, `novel`, `priority`, `also`, `complete`, `original`,
/// `original_distance`, `original_by`, `refers_to_url`, `refers_to_time`. Codes are dictionaries of
/// their names. The structures may be uninitialised; the caller releases them, as the interface
/// specifies. The table is independent of the outcomes. Any thread. Costs a copy.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_arrow(
    outcomes: *const Outcomes,
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_outcomes_arrow", error, || {
        let outcomes = abi::handle(outcomes, "outcomes")?;
        let is_reverted = |verdict: &VerdictCode| matches!(verdict, VerdictCode::Reverted);
        let reverted = outcomes.verdicts.iter().map(is_reverted);
        let has_original = |by: &OriginalByCode| !matches!(by, OriginalByCode::Nothing);
        let has_original = outcomes.original_by.iter().map(has_original);
        let offsets = outcomes.refers_to_urls.parts().1;
        let refers = || offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| from < to);
        let verdict = |verdict: &VerdictCode| *verdict as i32;
        let same = |same: &SameByCode| *same as i32;
        let band = |band: &BandCode| *band as i32;
        let by = |by: &OriginalByCode| *by as i32;
        let columns = vec![
            names("verdict", outcomes.verdicts.iter().map(verdict), VERDICTS),
            names("same_by", outcomes.sames.iter().map(same), SAME_BY),
            distances("distance", &outcomes.distances),
            names("band", outcomes.bands.iter().map(band), BANDS),
            with_validity(times("to", &outcomes.tos), reverted),
            flags("novel", &outcomes.novel),
            numbers("priority", "g", &outcomes.priorities),
            flags("also", &outcomes.also),
            flags("complete", &outcomes.complete),
            with_validity(texts("original", &outcomes.originals), has_original),
            distances("original_distance", &outcomes.original_distances),
            names("original_by", outcomes.original_by.iter().map(by), ORIGINAL_BY),
            with_validity(texts("refers_to_url", &outcomes.refers_to_urls), refers()),
            with_validity(times("refers_to_time", &outcomes.refers_to_times), refers()),
        ];
        export_table(table(columns), schema, array)
    })
}

/// Exports the copies of outcomes as an Arrow table: `observation`, from 0, `url`, `first`.
/// `simkeep_outcomes_arrow` explains the arguments.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_copies_arrow(
    outcomes: *const Outcomes,
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_outcomes_copies_arrow", error, || {
        let outcomes = abi::handle(outcomes, "outcomes")?;
        let columns = vec![
            list_of("observation", &outcomes.copy_offsets),
            texts("url", &outcomes.copy_urls),
            times("first", &outcomes.copy_firsts),
        ];
        export_table(table(columns), schema, array)
    })
}

/// Exports the near pages of outcomes as an Arrow table: `observation`, from 0, `url`, `distance`,
/// `fingerprint`, `first`. `simkeep_outcomes_arrow` explains the arguments.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_outcomes_near_arrow(
    outcomes: *const Outcomes,
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_outcomes_near_arrow", error, || {
        let outcomes = abi::handle(outcomes, "outcomes")?;
        let columns = vec![
            list_of("observation", &outcomes.near_offsets),
            texts("url", &outcomes.near_urls),
            numbers("distance", "C", &outcomes.near_distances),
            numbers("fingerprint", "L", &outcomes.near_fingerprints),
            times("first", &outcomes.near_firsts),
        ];
        export_table(table(columns), schema, array)
    })
}

/// Exports matches as an Arrow table: `query`, from 0, `url`, `distance`, `fingerprint`. The
/// structures may be uninitialised; the caller releases them, as the interface specifies. The table
/// is independent of the matches. Any thread. Costs a copy.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_matches_arrow(
    matches: *const MatchColumns,
    schema: *mut ArrowSchema,
    array: *mut ArrowArray,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_matches_arrow", error, || {
        let matches = abi::handle(matches, "matches")?;
        let columns = vec![
            list_of("query", &matches.offsets),
            texts("url", &matches.urls),
            numbers("distance", "C", &matches.distances),
            numbers("fingerprint", "L", &matches.fingerprints),
        ];
        export_table(table(columns), schema, array)
    })
}
