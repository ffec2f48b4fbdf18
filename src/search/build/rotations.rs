//! Building one rotation.

use zerocopy::IntoBytes;
use zerocopy::little_endian::{U16, U32};

use super::super::column::U16_BYTES;
use super::super::probe::Block;
use super::super::rotation::{Address, place_of, put_head};
use super::super::scratch::Scratch;
use super::deal::Dealer;
use super::{Part, STRIDE, Sink, Source, count, turn_into_starts};

/// What counting comes to.
pub(super) struct Counted {
    block: Block,
    /// The number of the first entry of each bucket, then the number of entries.
    starts: Scratch<u32>,
}

impl Counted {
    /// Bytes of what buckets have no room for.
    pub(super) fn rest_bytes(&self, address: Address) -> u64 {
        let counts = self.starts.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?));
        counts.map(|count| u64::from(in_rest(count, address)) * U16_BYTES).sum()
    }
}

/// How many of the entries of a bucket go to the rest.
fn in_rest(count: u32, address: Address) -> u32 {
    if count > address.room() { count - address.full_room() } else { 0 }
}

/// Counts the entries of the rotation of one block.
pub(super) fn count<E>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    address: Address,
    block: Block,
) -> Result<Counted, E> {
    let bucket = |fingerprint| block.bucket(fingerprint, address.bits);
    let mut starts = count::count(column, address.buckets() as usize, bucket)?;
    turn_into_starts(&mut starts);
    Ok(Counted { block, starts })
}

/// Writes the rotation.
pub(super) fn build<E, S: Sink<Error = E>>(
    column: &Source<'_, impl Fn(u32, &mut [u64]) -> Result<(), E>>,
    address: Address,
    table: usize,
    counted: &Counted,
    dealer: &mut Dealer,
    sink: &S,
) -> Result<(), E> {
    let Counted { block, ref starts } = *counted;
    let mut buckets = BucketWriter::new(address, table, starts, sink);
    let mut ordinals = Vec::new();
    let aim = |fingerprint| {
        (block.bucket(fingerprint, address.bits), block.next().value(fingerprint).into())
    };
    dealer.each_in_order(column, starts, aim, |entries| {
        for piece in entries.chunks(STRIDE as usize) {
            ordinals.clear();
            ordinals.extend(piece.iter().map(|entry| U32::new(entry.ordinal)));
            sink.write(Part::Ordinals(table), ordinals.as_bytes())?;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block has 16 bits")]
        entries.iter().try_for_each(|entry| buckets.entry(entry.bits as u16))
    })?;
    buckets.finish()
}

/// Puts entries into buckets.
struct BucketWriter<'s, S> {
    address: Address,
    table: usize,
    /// The number of the first entry of each bucket, then the number of entries.
    starts: &'s [u32],
    sink: &'s S,
    /// Places of finished buckets, and then those of the one at hand.
    places: Vec<U16>,
    /// Where the one at hand begins there, and which it is.
    at: usize,
    bucket: usize,
    /// Entries of it that have come.
    taken: u32,
    rest: Vec<U16>,
    /// Entries of the rest that finished buckets have.
    rest_end: u32,
}

/// Places that are written at a time, about.
const PLACES: usize = 1 << 15;

impl<'s, E, S: Sink<Error = E>> BucketWriter<'s, S> {
    fn new(address: Address, table: usize, starts: &'s [u32], sink: &'s S) -> Self {
        let (places, rest) = (Vec::new(), Vec::new());
        let (at, bucket, taken, rest_end) = (0, 0, 0, 0);
        let mut new = BucketWriter {
            address,
            table,
            starts,
            sink,
            places,
            at,
            bucket,
            taken,
            rest,
            rest_end,
        };
        new.begin();
        new
    }

    /// The number of the first entry of the bucket at hand, and how many it has.
    fn entries(&self) -> (u32, u32) {
        match self.starts.get(self.bucket..) {
            Some([start, end, ..]) => (*start, end - start),
            _ => (0, 0),
        }
    }

    /// Begins the bucket at hand.
    fn begin(&mut self) {
        let (first, count) = self.entries();
        self.taken = 0;
        self.at = self.places.len();
        self.places.resize(self.at + self.address.places() as usize, U16::ZERO);
        self.head(first, count);
    }

    /// Writes the head of the bucket at hand.
    fn head(&mut self, first: u32, count: u32) {
        let in_rest = in_rest(count, self.address);
        let places = self.places.get_mut(self.at..).unwrap_or_default();
        put_head(places, first, (in_rest > 0).then_some([self.rest_end, in_rest]));
    }

    /// Ends the bucket at hand, and begins the next one.
    fn end(&mut self) -> Result<(), E> {
        let (_, count) = self.entries();
        self.rest_end += in_rest(count, self.address);
        self.bucket += 1;
        if self.places.len() >= PLACES {
            self.sink.write(Part::Buckets(self.table), self.places.as_bytes())?;
            self.places.clear();
        }
        if self.bucket + 1 < self.starts.len() {
            self.begin();
        }
        Ok(())
    }

    fn entry(&mut self, block: u16) -> Result<(), E> {
        // Buckets that have none, or no more, are passed on the way.
        while self.taken == self.entries().1 {
            self.end()?;
        }
        let (first, count) = self.entries();
        if self.taken == 0 {
            // What is no entry is as far from the first one as can be, so that it seldom looks near.
            self.places.get_mut(self.at..).unwrap_or_default().fill(U16::new(!block));
            self.head(first, count);
        }
        let place = place_of(self.taken, count > self.address.room());
        match self.places.get_mut(self.at + place as usize) {
            Some(to) => to.set(block),
            None => {
                self.rest.push(U16::new(block));
                if self.rest.len() >= PLACES {
                    self.sink.write(Part::Rest(self.table), self.rest.as_bytes())?;
                    self.rest.clear();
                }
            }
        }
        self.taken += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<(), E> {
        while self.bucket + 1 < self.starts.len() {
            self.end()?;
        }
        self.sink.write(Part::Buckets(self.table), self.places.as_bytes())?;
        self.sink.write(Part::Rest(self.table), self.rest.as_bytes())
    }
}
