//! Builds one rotation.

use zerocopy::IntoBytes;
use zerocopy::little_endian::{U16, U32};

use super::bucket_sorter::{self, BucketSorter, TableEntry, turn_into_starts};
use super::source::{STRIDE, SourceColumn, TableColumn, TableSink};
use crate::search::column::U16_BYTES;
use crate::search::probe::FingerprintBlock;
use crate::search::rotation::{BucketLayout, place_of, put_head};
use crate::search::scratch::ScratchMemory;

/// The result of counting.
pub(super) struct RotationCounts {
    block: FingerprintBlock,
    /// The number of the first entry of each bucket, then the number of entries.
    starts: ScratchMemory<u32>,
}

impl RotationCounts {
    /// Returns the number of bytes of the rest.
    #[expect(clippy::indexing_slicing, reason = "windows of two")]
    pub(super) fn rest_bytes(&self, address: BucketLayout) -> u64 {
        let in_rest = |pair: &[u32]| u64::from(in_rest(pair[1] - pair[0], address));
        self.starts.windows(2).map(in_rest).sum::<u64>() * U16_BYTES
    }
}

/// Returns the number of entries of a bucket that go to the rest.
fn in_rest(count: u32, address: BucketLayout) -> u32 {
    // A bucket that continues has a longer head, so its lines have fewer entries than the lines of
    // a bucket that just fits.
    if count > address.room() { count - address.full_room() } else { 0 }
}

/// Counts the entries of the rotation of one block.
pub(super) fn count<E>(
    column: &SourceColumn<'_, E>,
    address: BucketLayout,
    block: FingerprintBlock,
) -> Result<RotationCounts, E> {
    let bucket = |fingerprint| block.bucket(fingerprint, address.bits);
    let mut starts = bucket_sorter::count(column, address.buckets() as usize, bucket)?;
    turn_into_starts(&mut starts);
    // `aim` yields a bucket of the rotation for every fingerprint: the number of buckets equals the
    // number of values of the address bits.
    assert_eq!(starts.last(), Some(&column.n), "each fingerprint is in one bucket");
    Ok(RotationCounts { block, starts })
}

/// Writes the rotation.
pub(super) fn build<E, S: TableSink<Error = E>>(
    column: &SourceColumn<'_, E>,
    address: BucketLayout,
    table: usize,
    counted: &RotationCounts,
    dealer: &mut BucketSorter,
    sink: &S,
) -> Result<(), E> {
    let RotationCounts { block, ref starts } = *counted;
    let mut buckets = BucketWriter::new(address, table, starts, sink);
    let mut ordinals = Vec::new();
    let aim = |fingerprint| {
        (block.bucket(fingerprint, address.bits), block.next().value(fingerprint).into())
    };
    dealer.each_in_order(column, starts, aim, |entries| {
        for piece in entries.chunks(STRIDE as usize) {
            ordinals.clear();
            ordinals.extend(piece.iter().map(|entry| U32::new(entry.ordinal)));
            sink.write(TableColumn::Ordinals(table), ordinals.as_bytes())?;
        }
        buckets.entries(entries)
    })?;
    buckets.finish(counted.rest_bytes(address))
}

/// Writes entries into buckets.
struct BucketWriter<'s, S> {
    address: BucketLayout,
    table: usize,
    /// The number of the first entry of each bucket, then the number of entries.
    starts: &'s [u32],
    sink: &'s S,
    /// The places of finished buckets, then the places of the current bucket once it has an entry.
    places: Vec<U16>,
    /// The current bucket, its number of entries, and the number of entries that have arrived.
    bucket: usize,
    count: u32,
    taken: u32,
    /// Buffered entries of the rest, and the number of entries of finished buckets in the rest.
    rest: Vec<U16>,
    rest_end: u32,
}

/// The approximate number of places per write.
const PLACES: usize = 1 << 15;

impl<'s, E, S: TableSink<Error = E>> BucketWriter<'s, S> {
    fn new(address: BucketLayout, table: usize, starts: &'s [u32], sink: &'s S) -> Self {
        let (places, rest) = (Vec::new(), Vec::new());
        let (bucket, count, taken, rest_end) = (0, 0, 0, 0);
        let mut new = BucketWriter {
            address,
            table,
            starts,
            sink,
            places,
            bucket,
            count,
            taken,
            rest,
            rest_end,
        };
        new.begin();
        new
    }

    /// Begins the current bucket, if there is one.
    #[expect(clippy::indexing_slicing, reason = "behind the start of a bucket is its end")]
    fn begin(&mut self) {
        (self.taken, self.count) = (0, 0);
        if self.is_done() {
            return;
        }
        self.count = self.starts[self.bucket + 1] - self.starts[self.bucket];
        if self.count == 0 {
            // Empty buckets are written too, since a bucket's address follows from its number. The
            // slots of an empty bucket have the numbers of the next bucket's entries, and lookups
            // reject these entries.
            self.fill(U16::ZERO);
        }
    }

    fn is_done(&self) -> bool {
        self.bucket + 1 >= self.starts.len()
    }

    /// Adds the places of the current bucket, filled with `with`, and the head of the bucket.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a current bucket, and its places were added"
    )]
    fn fill(&mut self, with: U16) {
        let at = self.places.len();
        self.places.resize(at + self.address.places() as usize, with);
        let first = self.starts[self.bucket];
        let in_rest = in_rest(self.count, self.address);
        let rest = (in_rest > 0).then_some([self.rest_end, in_rest]);
        put_head(&mut self.places[at..], first, rest);
    }

    /// Ends the current bucket, and begins the next bucket.
    fn end(&mut self) -> Result<(), E> {
        self.rest_end += in_rest(self.count, self.address);
        self.bucket += 1;
        // Places are written only here, between buckets: `put` expects the current bucket at the
        // end of `places`.
        if self.places.len() >= PLACES {
            self.sink.write(TableColumn::Buckets(self.table), self.places.as_bytes())?;
            self.places.clear();
        }
        self.begin();
        Ok(())
    }

    /// Takes the next entries.
    fn entries(&mut self, mut entries: &[TableEntry]) -> Result<(), E> {
        while !entries.is_empty() {
            // Ends the bucket that the last entry completed, and the empty buckets before this
            // entry.
            while self.taken == self.count && !self.is_done() {
                self.end()?;
            }
            let left = (self.count - self.taken) as usize;
            assert!(left > 0, "there are no more entries than were counted");
            let (now, later) = entries.split_at(left.min(entries.len()));
            self.put(now)?;
            entries = later;
        }
        Ok(())
    }

    /// Writes some entries of the current bucket, at least one, into their places.
    #[expect(clippy::indexing_slicing, reason = "the places of the bucket come last")]
    fn put(&mut self, entries: &[TableEntry]) -> Result<(), E> {
        #[expect(clippy::cast_possible_truncation, reason = "a block has 16 bits")]
        let blocks = entries.iter().map(|entry| entry.bits as u16);
        if self.taken == 0 {
            // Unused slots are filled with the complement of the first entry. No block is farther
            // from the first entry, so a query near this bucket seldom matches an unused slot.
            #[expect(clippy::cast_possible_truncation, reason = "a block has 16 bits")]
            self.fill(U16::new(!(entries[0].bits as u16)));
        }
        let at = self.places.len() - self.address.places() as usize;
        let places = &mut self.places[at..];
        let goes_on = self.count > self.address.room();
        for (number, block) in (self.taken..).zip(blocks) {
            // Entries beyond the bucket's places go to the rest, in the same order.
            match places.get_mut(place_of(number, goes_on) as usize) {
                Some(place) => place.set(block),
                None => self.rest.push(U16::new(block)),
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32")]
        let taken = entries.len() as u32;
        self.taken += taken;
        if self.rest.len() >= PLACES {
            self.sink.write(TableColumn::Rest(self.table), self.rest.as_bytes())?;
            self.rest.clear();
        }
        Ok(())
    }

    /// Writes the buffered parts. `rest_bytes` is the expected length of the rest.
    fn finish(mut self, rest_bytes: u64) -> Result<(), E> {
        while !self.is_done() {
            assert_eq!(self.taken, self.count, "a bucket has as many entries as were counted");
            self.end()?;
        }
        assert_eq!(
            u64::from(self.rest_end) * U16_BYTES,
            rest_bytes,
            "the rest is as long as counted"
        );
        self.sink.write(TableColumn::Buckets(self.table), self.places.as_bytes())?;
        self.sink.write(TableColumn::Rest(self.table), self.rest.as_bytes())
    }
}
