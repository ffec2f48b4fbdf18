//! The linear scan: finds the near words of a column, with the best available instructions.
//!
//! One loop is compiled for several instruction sets: 64-bit population counts, AVX2 (with table
//! lookups) and AVX-512 (which has the instruction). The fastest is chosen by trying them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Eight little-endian bytes, so that a column may begin at any offset in a file.
pub(crate) type ColumnWord = [u8; 8];

/// Appends the indexes of words within distance `k` of a query.
type NearFunction = fn(column: &[ColumnWord], query: u64, k: u32, places: &mut Vec<u32>);

/// A loop, compiled for an instruction set.
#[derive(Clone, Copy)]
pub(crate) struct ScanKernel {
    /// The instruction set.
    pub(crate) name: &'static str,
    /// The loop.
    pub(crate) near: NearFunction,
}

/// The number of words that are compared before a branch.
const BLOCK: usize = 32;

#[inline(always)]
fn scan(column: &[ColumnWord], query: u64, k: u32, places: &mut Vec<u32>) {
    let distance = |word: &ColumnWord| (u64::from_le_bytes(*word) ^ query).count_ones();
    let (blocks, rest) = column.as_chunks::<BLOCK>();
    let mut base = 0;
    let mut look = |base: u32, words: &[ColumnWord]| {
        let near = words.iter().zip(base..).filter(|(word, _)| distance(word) <= k);
        places.extend(near.map(|(_, place)| place));
    };
    for block in blocks {
        // Without a branch, the compiler emits a few vector instructions.
        if block.iter().fold(false, |near, word| near | (distance(word) <= k)) {
            look(base, block);
        }
        base += BLOCK as u32;
    }
    look(base, rest);
}

fn plain(column: &[ColumnWord], query: u64, k: u32, places: &mut Vec<u32>) {
    scan(column, query, k, places);
}

/// The loops that this machine supports.
#[cfg(target_arch = "x86_64")]
fn kernels() -> Vec<ScanKernel> {
    #[target_feature(enable = "popcnt")]
    fn popcnt(column: &[ColumnWord], query: u64, k: u32, places: &mut Vec<u32>) {
        scan(column, query, k, places);
    }
    #[target_feature(enable = "avx2,popcnt")]
    fn avx2(column: &[ColumnWord], query: u64, k: u32, places: &mut Vec<u32>) {
        scan(column, query, k, places);
    }
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512vpopcntdq,popcnt")]
    fn avx512(column: &[ColumnWord], query: u64, k: u32, places: &mut Vec<u32>) {
        scan(column, query, k, places);
    }
    /// Calls a function for which this machine has the instructions.
    macro_rules! checked {
        ($name:literal, $function:ident) => {
            ScanKernel {
                name: $name,
                near: |column, query, k, places| {
                    #[expect(unsafe_code, reason = "a call of a function for certain machines")]
                    // SAFETY: the function is in the list only if the machine has these
                    // instructions.
                    unsafe {
                        $function(column, query, k, places);
                    }
                },
            }
        };
    }
    let mut kernels = vec![ScanKernel { name: "plain", near: plain }];
    if is_x86_feature_detected!("popcnt") {
        kernels.push(checked!("popcnt", popcnt));
        if is_x86_feature_detected!("avx2") {
            kernels.push(checked!("avx2", avx2));
        }
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vpopcntdq")
        {
            kernels.push(checked!("avx512", avx512));
        }
    }
    kernels
}

/// The loops that this machine supports.
#[cfg(not(target_arch = "x86_64"))]
fn kernels() -> Vec<ScanKernel> {
    vec![Kernel { name: "plain", near: plain }]
}

impl ScanKernel {
    /// Returns the fastest kernel on a column of `words` words.
    pub(crate) fn fastest(words: usize) -> ScanKernel {
        let column: Vec<ColumnWord> = (0..words as u64).map(u64::to_le_bytes).collect();
        let query = black_box(u64::MAX << 32);
        let mut places = Vec::new();
        let mut best = |kernel: &ScanKernel| {
            let time = |_| {
                let start = Instant::now();
                for _ in 0..(1 << 20) / words {
                    (kernel.near)(black_box(&column), query, 3, &mut places);
                }
                start.elapsed()
            };
            (0..5).map(time).min().unwrap_or(Duration::MAX)
        };
        kernels().into_iter().min_by_key(|kernel| best(kernel)).expect("there is one for all")
    }
}
