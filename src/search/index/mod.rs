//! Building the tables of a canonical column, in bounded memory, on several threads.

mod cells;
mod deal;
mod rotations;
mod source;

use super::cells::{HALVES, Half};
use super::line::LINE_BYTES;
use super::probe::{BLOCKS, Block};
use super::shape::Shape;
use crate::threads::share;
use deal::Dealer;
use source::Source;

pub use source::{Part, Sink};

/// What building may take.
#[derive(Clone, Copy, Debug)]
pub struct Resources {
    /// Bytes of memory for sorting, over all threads. What is built does not depend on it.
    pub memory_bytes: usize,
    /// Threads; at most one a table is used.
    pub threads: usize,
}

/// Builds the tables of a [`Shape`] for a canonical column of `n` fingerprints.
///
/// `read` fills its slice with the fingerprints from an ordinal on. It is called for consecutive
/// pieces of the column from start to end, by several threads at the same time; how often is a
/// matter of memory. A rotation takes one pass for counting, and one for as many entries as
/// `memory_bytes / threads` are 12 bytes for, 67 million at most. A table of cells takes two for
/// counting as many cells as a quarter of that is 4 bytes for (one, if a quarter of `memory_bytes` is
/// 8 bytes for each cell), and one for as many of their entries as the rest is 12 bytes for.
/// The bytes written are the same whatever the resources are.
///
/// Counting sorts: one pass counts the entries of each bucket, others put them into place. They are
/// stable, so each bucket keeps the canonical order. Memory: `memory_bytes` (some KiB at least), 10
/// MiB a thread at most, and the lines of a bucket. Time: some 20 ns for each entry and table in one
/// pass, and some 5 for each pass more.
///
/// # Errors
///
/// The first error of `read` or of `sink`; [`Sink::changed`] where `read` gives other fingerprints than
/// before, as far as they would stand in other buckets.
pub fn build_index<E: Send, S: Sink<Error = E>>(
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
    // Tables are independent, so each is built by one
    // thread. More threads than tables have nothing to do.
    let threads = resources.threads.clamp(1, tables);
    let memory_bytes = resources.memory_bytes / threads;
    let changed = || sink.changed();
    let column = Source { n, read, changed: &changed };
    match shape {
        Shape::Column => Ok(()),
        Shape::Rotations(address) => {
            // All tables are counted before one is written: places are reserved first, so the layout
            // of the file does not depend on which thread is faster.
            let counted = each_of(
                &Block::ALL,
                threads,
                || (),
                |(), _, block| rotations::count(&column, address, *block),
            )?;
            for (table, counted) in counted.iter().enumerate() {
                sink.place(Part::Buckets(table), address.bytes())?;
                sink.place(Part::Rest(table), counted.rest_bytes(address))?;
                sink.place(Part::Ordinals(table), u64::from(n) * 4)?;
            }
            // One dealer per thread, reused for its tables.
            let dealer = || Dealer::new(memory_bytes);
            each_of(&counted, threads, dealer, |dealer, table, counted| {
                rotations::build(&column, address, table, counted, dealer, sink)
            })?;
            Ok(())
        }
        Shape::Cells { count } => {
            let counting_bytes = memory_bytes / 4;
            let ranges = || cells::ranges(count, counting_bytes);
            // Counts are kept if all tables' counts fit a quarter of the memory at once. That needs
            // one range, and saves the second counting pass.
            let keep = cells::ranges(count, resources.memory_bytes / 4 / tables).count() == 1;
            let counted = each_of(
                &Half::ALL,
                threads,
                || (),
                |(), _, half| cells::count_all(&column, count, *half, ranges(), keep),
            )?;
            for (table, counted) in counted.iter().enumerate() {
                sink.place(Part::Cells(table), u64::from(count) * LINE_BYTES)?;
                sink.place(Part::Further(table), counted.further * LINE_BYTES)?;
                sink.place(Part::Ordinals(table), u64::from(n) * 4)?;
            }
            let dealer = || Dealer::new(memory_bytes - counting_bytes);
            each_of(&counted, threads, dealer, |dealer, table, counted| {
                cells::build(&column, count, ranges(), table, counted, dealer, sink)
            })?;
            Ok(())
        }
    }
}

/// Does something for each table, on several threads, each of which has something `own`; what it came
/// to, in the order of the tables.
fn each_of<T: Sync, O, R: Send, E: Send>(
    tables: &[T],
    threads: usize,
    own: impl Fn() -> O + Sync,
    run: impl Fn(&mut O, usize, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let tables = tables.iter().enumerate();
    let all = share(tables, threads, own, |own, (table, of_table)| run(own, table, of_table));
    all.into_iter().collect()
}
