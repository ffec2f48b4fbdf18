//! Tables in memory, without a store, with any shape and searched in any way.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use simkeep::query::Shape;
use simkeep::search::{
    BLOCKS, CacheLine, CellTable, Cells, Column, HALVES, Index, PopcountHistogram, Resources,
    Rotation, Rotations, Shards, TableColumn, TableSink, Tables, build_index,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::huge::HugePageArray;
use crate::times::threads;

/// Zero bytes after the last entry. [`FingerprintSet::tables_at_any_rate`] declares more
/// fingerprints than there are, so lookups of missing entries read past the end.
const BEHIND: usize = 1 << 16;

/// A buffer that is written sequentially.
pub(crate) struct HugeBuffer {
    memory: HugePageArray<u8>,
    len: usize,
}

impl HugeBuffer {
    /// Allocates `bytes` bytes, rounded up to 64, followed by [`BEHIND`] zeros.
    fn with_capacity(bytes: u64) -> HugeBuffer {
        HugeBuffer {
            memory: HugePageArray::zeroed(bytes.next_multiple_of(64) as usize + BEHIND),
            len: 0,
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        self.memory[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn of(bytes: &[u8]) -> HugeBuffer {
        let mut all = HugeBuffer::with_capacity(bytes.len() as u64);
        all.append(bytes);
        all
    }
}

impl Column for &HugeBuffer {
    type Error = Infallible;

    fn bytes(&self, range: Range<u64>) -> Result<&[u8], Infallible> {
        Ok(&self.memory[range.start as usize..range.end as usize])
    }

    fn lines(&self, _: impl Iterator<Item = u32>) -> Result<&[CacheLine], Infallible> {
        Ok(<[CacheLine]>::ref_from_bytes(&self.memory).unwrap())
    }

    fn damaged(&self, offset: u64, what: &'static str) -> Infallible {
        unreachable!("{what} at {offset}, in memory");
    }
}

/// A set of fingerprints in canonical order.
pub(crate) struct FingerprintSet {
    pub(crate) n: u32,
    column: HugeBuffer,
    shards: Shards,
}

impl FingerprintSet {
    /// Creates a set from distinct fingerprints in canonical order.
    pub(crate) fn new(fingerprints: &[u64]) -> FingerprintSet {
        let mut census = PopcountHistogram::default();
        fingerprints.iter().for_each(|fingerprint| census.add(*fingerprint));
        let column = HugeBuffer::of(fingerprints.as_bytes());
        FingerprintSet { n: fingerprints.len() as u32, column, shards: census.shards() }
    }

    /// Builds the tables of a shape.
    pub(crate) fn build(&self, shape: Shape) -> BuiltShape {
        let resources = Resources { memory_bytes: 1 << 30, threads: threads() };
        let read = |start: u32, out: &mut [u64]| {
            let range = start as usize * 8..(start as usize + out.len()) * 8;
            out.as_mut_bytes().copy_from_slice(&self.column.memory[range]);
            Ok(())
        };
        let memory = TableMemory::default();
        let Ok(()) = build_index(shape, self.n, resources, &read, &memory);
        let parts = memory.0.into_inner().unwrap().into_iter();
        let whole =
            |bytes: Arc<Mutex<HugeBuffer>>| Arc::into_inner(bytes).unwrap().into_inner().unwrap();
        BuiltShape { shape, parts: parts.map(|(part, bytes)| (part, whole(bytes))).collect() }
    }

    /// The tables, searched as in a store.
    pub(crate) fn tables<'t>(&'t self, built: &'t BuiltShape) -> Tables<&'t HugeBuffer> {
        let Ok(tables) = Tables::new(&self.column, self.shards.clone(), built.index());
        tables
    }

    /// Searches through the tables in nearly every case. It declares far more fingerprints than there
    /// are, so that the planner considers a scan too slow. A few lookups then read missing entries.
    pub(crate) fn tables_at_any_rate<'t>(
        &'t self,
        built: &'t BuiltShape,
    ) -> Tables<&'t HugeBuffer> {
        let each = i32::MAX as u32 / 65;
        let starts: Vec<u32> = (0..=65).map(|popcount| popcount * each).collect();
        let Ok(shards) = Shards::read(&&HugeBuffer::of(starts.as_bytes()));
        let Ok(tables) = Tables::new(&self.column, shards, built.index());
        tables
    }
}

/// The destination of tables under construction.
#[derive(Default)]
struct TableMemory(Mutex<HashMap<TableColumn, Arc<Mutex<HugeBuffer>>>>);

impl TableSink for TableMemory {
    type Error = Infallible;

    fn place(&self, part: TableColumn, bytes: u64) -> Result<(), Infallible> {
        let memory = Arc::new(Mutex::new(HugeBuffer::with_capacity(bytes)));
        self.0.lock().unwrap().insert(part, memory);
        Ok(())
    }

    fn write(&self, part: TableColumn, bytes: &[u8]) -> Result<(), Infallible> {
        let memory = Arc::clone(&self.0.lock().unwrap()[&part]);
        memory.lock().unwrap().append(bytes);
        Ok(())
    }

    fn changed(&self) -> Infallible {
        unreachable!("what is in memory is read again as it was")
    }
}

/// The tables of a set, in one shape.
pub(crate) struct BuiltShape {
    pub(crate) shape: Shape,
    parts: HashMap<TableColumn, HugeBuffer>,
}

impl BuiltShape {
    fn index(&self) -> Index<&HugeBuffer> {
        let part = |part| &self.parts[&part];
        match self.shape {
            Shape::Column => Index::None,
            Shape::Rotations(address) => {
                let tables: [_; BLOCKS] = std::array::from_fn(|table| Rotation {
                    buckets: part(TableColumn::Buckets(table)),
                    rest: part(TableColumn::Rest(table)),
                    ordinals: part(TableColumn::Ordinals(table)),
                });
                Index::Rotations(Rotations { address, tables })
            }
            Shape::Cells { count } => {
                let tables: [_; HALVES] = std::array::from_fn(|table| CellTable {
                    cells: part(TableColumn::Cells(table)),
                    further: part(TableColumn::Further(table)),
                    ordinals: part(TableColumn::Ordinals(table)),
                });
                Index::Cells(Cells { count, tables })
            }
            shape => unreachable!("{shape:?} is one of these"),
        }
    }
}
