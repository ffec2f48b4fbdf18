//! Builds the tables of a canonical column, in bounded memory, on several threads.

mod bucket_sorter;
mod cells;
mod rotations;
mod source;

use super::cells::{FingerprintHalf, HALVES};
use super::line::LINE_BYTES;
use super::probe::{BLOCKS, FingerprintBlock};
use super::shape::Shape;
use crate::threads::run_jobs;
use bucket_sorter::BucketSorter;
use source::SourceColumn;

pub use source::{TableColumn, TableSink};

/// The resources for building tables.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// The memory for sorting in bytes, over all threads. The amount does not affect the result.
    pub memory_bytes: usize,
    /// The number of threads; at most one per table is used.
    pub threads: usize,
}

/// Builds the tables of a [`Shape`] for a canonical column of `n` fingerprints.
///
/// `read` fills its slice with the fingerprints from an ordinal on. The function is called for
/// consecutive pieces of the column from start to end, by several threads concurrently. The number
/// of passes depends on memory. A rotation takes one pass for counting, and one for each
/// `memory_bytes / threads / 12` entries, at most 67 million. A table of cells takes two counting
/// passes for each `memory_bytes / threads / 4 / 4` cells (or a single pass if a quarter of
/// `memory_bytes` is enough for 8 bytes for each cell). A table of cells takes one more pass each
/// time the other three quarters are full of entries, at 12 bytes each. The written bytes do not
/// depend on the resources.
///
/// The tables are built by counting sort: one pass counts the entries of each bucket, and other
/// passes write the entries. The sort is stable, so each bucket keeps the canonical order. Memory:
/// `memory_bytes` (at least some KiB), at most 10 MiB a thread, and the lines of a bucket. Time:
/// some 20 ns for each entry and table in one pass, and some 5 ns for each further pass.
///
/// # Errors
///
/// Returns the first error of `read` or of `sink`. Returns [`TableSink::changed`] if `read` returns
/// other fingerprints than before, and the new fingerprints belong to other buckets.
pub fn build_index<E: Send, S: TableSink<Error = E>>(
    shape: Shape,
    n: u32,
    resources: Resources,
    read: &(impl Fn(u32, &mut [u64]) -> Result<(), E> + Sync),
    sink: &S,
) -> Result<(), E> {
    let tables = match shape {
        Shape::Column => return Ok(()),
        Shape::Rotations(_) => BLOCKS,
        Shape::Cells { .. } => HALVES,
    };
    // Tables are independent, so each is built by one thread. More threads than tables would be
    // idle.
    let threads = resources.threads.clamp(1, tables);
    let memory_bytes = resources.memory_bytes / threads;
    let changed = || sink.changed();
    let column = SourceColumn { n, read, changed: &changed };
    match shape {
        Shape::Column => Ok(()),
        Shape::Rotations(address) => {
            // All tables are counted before the first is written. Places are reserved first, so the
            // layout of the file does not depend on the speed of threads.
            let counted = each_of(
                &FingerprintBlock::ALL,
                threads,
                || (),
                |(), _, block| rotations::count(&column, address, *block),
            )?;
            for (table, counted) in counted.iter().enumerate() {
                sink.place(TableColumn::Buckets(table), address.bytes())?;
                sink.place(TableColumn::Rest(table), counted.rest_bytes(address))?;
                sink.place(TableColumn::Ordinals(table), u64::from(n) * 4)?;
            }
            // One dealer per thread, reused for its tables.
            let dealer = || BucketSorter::new(memory_bytes);
            each_of(&counted, threads, dealer, |dealer, table, counted| {
                rotations::build(&column, address, table, counted, dealer, sink)
            })?;
            Ok(())
        }
        Shape::Cells { count } => {
            let counting_bytes = memory_bytes / 4;
            let ranges = || cells::ranges(count, counting_bytes);
            // Counts are kept if all tables' counts fit a quarter of the memory at once. Keeping
            // counts needs one range, and saves the second counting pass.
            let keep = cells::ranges(count, resources.memory_bytes / 4 / tables).count() == 1;
            let counted = each_of(
                &FingerprintHalf::ALL,
                threads,
                || (),
                |(), _, half| cells::count_all(&column, count, *half, ranges(), keep),
            )?;
            for (table, counted) in counted.iter().enumerate() {
                sink.place(TableColumn::Cells(table), u64::from(count) * LINE_BYTES)?;
                sink.place(TableColumn::Further(table), counted.further * LINE_BYTES)?;
                sink.place(TableColumn::Ordinals(table), u64::from(n) * 4)?;
            }
            let dealer = || BucketSorter::new(memory_bytes - counting_bytes);
            each_of(&counted, threads, dealer, |dealer, table, counted| {
                cells::build(&column, count, ranges(), table, counted, dealer, sink)
            })?;
            Ok(())
        }
    }
}

/// Runs a function for each table on several threads, each with its own state; returns the results
/// in order of tables.
fn each_of<T: Sync, O, R: Send, E: Send>(
    tables: &[T],
    threads: usize,
    own: impl Fn() -> O + Sync,
    run: impl Fn(&mut O, usize, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let tables = tables.iter().enumerate();
    let all = run_jobs(tables, threads, own, |own, (table, of_table)| run(own, table, of_table));
    all.into_iter().collect()
}
