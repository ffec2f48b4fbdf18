//! What a search finds, and who takes it.

/// A fingerprint that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// Its place in the canonical column, or its number in [`Chains`](super::Chains).
    pub ordinal: u32,
    /// The fingerprint.
    pub fingerprint: u64,
    /// In how many bits it differs from the query: 0 to 64.
    pub distance: u8,
}

impl Candidate {
    pub(super) fn new(ordinal: u32, fingerprint: u64, query: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let distance = (fingerprint ^ query).count_ones() as u8;
        Self { ordinal, fingerprint, distance }
    }
}

/// Takes what a search finds.
pub trait Finds {
    /// A fingerprint that may be found next, by its ordinal: its fingerprint is on its way from
    /// memory, and what is kept of it elsewhere may be asked for, too.
    fn expect(&mut self, ordinal: u32) {
        let _ = ordinal;
    }

    /// A fingerprint that is near the query at this place of many.
    fn find(&mut self, place: usize, candidate: Candidate);
}

impl Finds for Vec<Candidate> {
    fn find(&mut self, _: usize, candidate: Candidate) {
        self.push(candidate);
    }
}

// Closures prefetch nothing: `expect` stays the empty default.
impl<F: FnMut(usize, Candidate)> Finds for F {
    fn find(&mut self, place: usize, candidate: Candidate) {
        self(place, candidate);
    }
}
