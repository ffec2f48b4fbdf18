//! The results of a search, and their consumer.

/// A fingerprint in the result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The ordinal of the fingerprint in the canonical column, or its number in
    /// [`Chains`](super::Chains).
    pub ordinal: u32,
    /// The fingerprint.
    pub fingerprint: u64,
    /// The Hamming distance of the fingerprint from the query: 0 to 64.
    pub distance: u8,
}

impl Candidate {
    pub(crate) fn new(ordinal: u32, fingerprint: u64, query: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let distance = (fingerprint ^ query).count_ones() as u8;
        Self { ordinal, fingerprint, distance }
    }
}

/// A consumer of search results.
pub trait HitSink {
    /// Announces an ordinal that may be found next. The search is prefetching its fingerprint, so
    /// the consumer should now prefetch its own data for the ordinal.
    fn prefetch(&mut self, ordinal: u32) {
        let _ = ordinal;
    }

    /// Takes a fingerprint near query number `place`.
    fn hit(&mut self, place: usize, candidate: Candidate);
}

impl HitSink for Vec<Candidate> {
    fn hit(&mut self, _: usize, candidate: Candidate) {
        self.push(candidate);
    }
}

// Closures prefetch nothing: `prefetch` keeps its empty default.
impl<F: FnMut(usize, Candidate)> HitSink for F {
    fn hit(&mut self, place: usize, candidate: Candidate) {
        self(place, candidate);
    }
}
