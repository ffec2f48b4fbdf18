//! Tables in memory, without a store around them: of any shape, and searched by any way.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use simkeep::query::Shape;
use simkeep::search::{
    BLOCKS, CellTable, Cells, Census, Column, HALVES, Index, Line, Part, Resources, Rotation,
    Rotations, Shards, Sink, Tables, build_index,
};
use zerocopy::{FromBytes, IntoBytes};

use crate::huge::Huge;
use crate::times::threads;

/// Bytes behind the last, all zeros: places without an entry are looked up there where tables are told
/// that there are more fingerprints ([`Set::tables_at_any_rate`]).
const BEHIND: usize = 1 << 16;

/// Bytes that are written from front to end.
pub(crate) struct Bytes {
    room: Huge<u8>,
    len: usize,
}

impl Bytes {
    /// Room for so many.
    fn with_room(bytes: u64) -> Bytes {
        Bytes { room: Huge::zeroed(bytes.next_multiple_of(64) as usize + BEHIND), len: 0 }
    }

    fn append(&mut self, bytes: &[u8]) {
        self.room[self.len..][..bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn of(bytes: &[u8]) -> Bytes {
        let mut all = Bytes::with_room(bytes.len() as u64);
        all.append(bytes);
        all
    }
}

impl Column for &Bytes {
    type Error = Infallible;

    fn bytes(&self, range: Range<u64>) -> Result<&[u8], Infallible> {
        Ok(&self.room[range.start as usize..range.end as usize])
    }

    fn lines(&self, _: impl Iterator<Item = u32>) -> Result<&[Line], Infallible> {
        Ok(<[Line]>::ref_from_bytes(&self.room).unwrap())
    }

    fn damaged(&self, offset: u64, what: &'static str) -> Infallible {
        unreachable!("{what} at {offset}, in memory");
    }
}

/// A set of fingerprints in canonical order.
pub(crate) struct Set {
    pub(crate) n: u32,
    column: Bytes,
    shards: Shards,
}

impl Set {
    /// Of distinct fingerprints in canonical order.
    pub(crate) fn new(fingerprints: &[u64]) -> Set {
        let mut census = Census::default();
        fingerprints.iter().for_each(|fingerprint| census.add(*fingerprint));
        let column = Bytes::of(fingerprints.as_bytes());
        Set { n: fingerprints.len() as u32, column, shards: census.shards() }
    }

    /// Its tables of a shape.
    pub(crate) fn build(&self, shape: Shape) -> Built {
        let resources = Resources { memory_bytes: 1 << 30, threads: threads() };
        let read = |start: u32, out: &mut [u64]| {
            let range = start as usize * 8..(start as usize + out.len()) * 8;
            out.as_mut_bytes().copy_from_slice(&self.column.room[range]);
            Ok(())
        };
        let memory = Memory::default();
        let Ok(()) = build_index(shape, self.n, resources, &read, &memory);
        let parts = memory.0.into_inner().unwrap().into_iter();
        let whole =
            |bytes: Arc<Mutex<Bytes>>| Arc::into_inner(bytes).unwrap().into_inner().unwrap();
        Built { shape, parts: parts.map(|(part, bytes)| (part, whole(bytes))).collect() }
    }

    /// What searches them as a store does.
    pub(crate) fn tables<'t>(&'t self, built: &'t Built) -> Tables<&'t Bytes> {
        let Ok(tables) = Tables::new(&self.column, self.shards.clone(), built.index());
        tables
    }

    /// What searches them through the tables in nearly any case. It is told that there are far more
    /// fingerprints, so that the planner takes a scan for very long; places without an entry are then
    /// looked up, too, which are few.
    pub(crate) fn tables_at_any_rate<'t>(&'t self, built: &'t Built) -> Tables<&'t Bytes> {
        let each = i32::MAX as u32 / 65;
        let starts: Vec<u32> = (0..=65).map(|popcount| popcount * each).collect();
        let Ok(shards) = Shards::read(&&Bytes::of(starts.as_bytes()));
        let Ok(tables) = Tables::new(&self.column, shards, built.index());
        tables
    }
}

/// Where tables are built.
#[derive(Default)]
struct Memory(Mutex<HashMap<Part, Arc<Mutex<Bytes>>>>);

impl Sink for Memory {
    type Error = Infallible;

    fn place(&self, part: Part, bytes: u64) -> Result<(), Infallible> {
        let room = Arc::new(Mutex::new(Bytes::with_room(bytes)));
        self.0.lock().unwrap().insert(part, room);
        Ok(())
    }

    fn write(&self, part: Part, bytes: &[u8]) -> Result<(), Infallible> {
        let room = Arc::clone(&self.0.lock().unwrap()[&part]);
        room.lock().unwrap().append(bytes);
        Ok(())
    }

    fn changed(&self) -> Infallible {
        unreachable!("what is in memory is read again as it was")
    }
}

/// The tables of a set, in one shape.
pub(crate) struct Built {
    pub(crate) shape: Shape,
    parts: HashMap<Part, Bytes>,
}

impl Built {
    fn index(&self) -> Index<&Bytes> {
        let part = |part| &self.parts[&part];
        match self.shape {
            Shape::Column => Index::None,
            Shape::Rotations(address) => {
                let tables: [_; BLOCKS] = std::array::from_fn(|table| Rotation {
                    buckets: part(Part::Buckets(table)),
                    rest: part(Part::Rest(table)),
                    ordinals: part(Part::Ordinals(table)),
                });
                Index::Rotations(Rotations { address, tables })
            }
            Shape::Cells { count } => {
                let tables: [_; HALVES] = std::array::from_fn(|table| CellTable {
                    cells: part(Part::Cells(table)),
                    further: part(Part::Further(table)),
                    ordinals: part(Part::Ordinals(table)),
                });
                Index::Cells(Cells { count, tables })
            }
            shape => unreachable!("{shape:?} is one of these"),
        }
    }
}
