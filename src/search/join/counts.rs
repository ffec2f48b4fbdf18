//! Counts the entries of each bucket, and places the entries.

/// The number of entries in each bucket.
pub(super) struct BucketSizes(Vec<u32>);

impl BucketSizes {
    pub(super) fn new(width: u32) -> Self {
        // There is one element more than buckets. The count of the extra element is 0, and its
        // start becomes the end of the last bucket.
        Self(vec![0; (1 << width) + 1])
    }

    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a count for each value of the part")]
    pub(super) fn count(&mut self, bucket: u32) {
        // A join has fewer than 2^32 entries, so no count overflows.
        self.0[bucket as usize] += 1;
    }

    /// Returns the number of entries in each bucket.
    pub(super) fn into_inner(mut self) -> Vec<u32> {
        self.0.pop();
        self.0
    }

    pub(super) fn largest(&self) -> usize {
        self.0.iter().copied().max().unwrap_or(0) as usize
    }

    /// Returns the number of comparisons within all buckets.
    pub(super) fn compares(&self) -> u64 {
        // The counts add up to less than 2^32, so the sum of their squares fits 64 bits.
        self.0.iter().map(|&count| u64::from(count) * u64::from(count)).sum::<u64>() / 2
    }

    pub(super) fn into_starts(self) -> BucketStarts {
        let largest = self.largest();
        let mut starts = self.0;
        let mut sum = 0;
        for count in &mut starts {
            let start = sum;
            sum += *count;
            *count = start;
        }
        // `next` is consumed while entries are placed; the runs are read from `starts` afterwards.
        BucketStarts { next: starts.clone(), starts, largest }
    }
}

/// The start of each bucket, and the end of the last bucket.
pub(super) struct BucketStarts {
    pub(super) starts: Vec<u32>,
    /// The index for the next entry of each bucket.
    next: Vec<u32>,
    /// The number of entries in the largest bucket.
    pub(super) largest: usize,
}

impl BucketStarts {
    /// Returns the number of entries in a bucket.
    #[expect(clippy::indexing_slicing, reason = "each bucket has a start and an end")]
    pub(super) fn count(&self, bucket: u32) -> usize {
        (self.starts[bucket as usize + 1] - self.starts[bucket as usize]) as usize
    }

    /// Places an entry of a counted bucket.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there is a place for each entry that was counted")]
    pub(super) fn place(
        &mut self,
        bucket: u32,
        word: u64,
        ordinal: u32,
        words: &mut [u64],
        ordinals: &mut [u32],
    ) {
        let place = &mut self.next[bucket as usize];
        (words[*place as usize], ordinals[*place as usize]) = (word, ordinal);
        *place += 1;
    }
}
