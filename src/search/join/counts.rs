//! How many entries go to each bucket, and where.

/// How many entries each bucket has.
pub(super) struct Counts(Vec<u32>);

impl Counts {
    pub(super) fn new(width: u32) -> Self {
        // One more, which becomes the end of the last bucket.
        Self(vec![0; (1 << width) + 1])
    }

    #[inline]
    pub(super) fn count(&mut self, bucket: u32) {
        if let Some(count) = self.0.get_mut(bucket as usize) {
            *count += 1;
        }
    }

    /// How many entries each bucket has.
    pub(super) fn into_inner(mut self) -> Vec<u32> {
        self.0.pop();
        self.0
    }

    pub(super) fn largest(&self) -> usize {
        self.0.iter().copied().max().unwrap_or(0) as usize
    }

    /// How many compares it takes to compare each entry with all of its bucket.
    pub(super) fn compares(&self) -> u64 {
        self.0.iter().map(|&count| u64::from(count) * u64::from(count)).sum::<u64>() / 2
    }

    pub(super) fn into_starts(self) -> Starts {
        let largest = self.largest();
        let mut starts = self.0;
        let mut sum = 0;
        for count in &mut starts {
            let start = sum;
            sum += *count;
            *count = start;
        }
        Starts { next: starts.clone(), starts, largest }
    }
}

/// Where each bucket starts, and where the last one ends.
pub(super) struct Starts {
    pub(super) starts: Vec<u32>,
    /// Where the next entry of each bucket goes.
    next: Vec<u32>,
    /// The entries of the largest bucket.
    pub(super) largest: usize,
}

impl Starts {
    /// How many entries a bucket has.
    pub(super) fn count(&self, bucket: u32) -> usize {
        match self.starts.get(bucket as usize..) {
            Some(&[start, end, ..]) => (end - start) as usize,
            _ => 0,
        }
    }

    #[inline]
    pub(super) fn place(
        &mut self,
        bucket: u32,
        word: u64,
        ordinal: u32,
        words: &mut [u64],
        ordinals: &mut [u32],
    ) {
        let Some(place) = self.next.get_mut(bucket as usize) else { return };
        if let Some((to, ordinal_to)) =
            words.get_mut(*place as usize).zip(ordinals.get_mut(*place as usize))
        {
            (*to, *ordinal_to) = (word, ordinal);
        }
        *place += 1;
    }
}
