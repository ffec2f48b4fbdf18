//! Tests that all versions of a kernel give the result of the simplest loop.

use zerocopy::little_endian::{U16, U64};

use super::*;
use crate::search::kernel::{
    BlockRun, FurtherLines, LineBatch, NearBlock, NearEntry, SearchKernel, SelectedLine,
};

/// Checks runs of several lengths, each with a different query and distance.
fn check_runs(words: &[u64], query: u16, k: u32) {
    let blocks: Vec<U16> = words.iter().map(|word| U16::new((word >> 20) as u16)).collect();
    let runs: Vec<BlockRun> = (0..4)
        .map(|run| {
            let blocks = blocks.get(run * 3..).unwrap_or(&[]);
            let query = query.rotate_left(run as u32);
            BlockRun { blocks, query, most: k.saturating_sub(run as u32) }
        })
        .collect();
    let mut truth = vec![NearBlock { run: 7, index: 7 }];
    for (run, compared) in (0..).zip(&runs) {
        for (index, block) in (0..).zip(compared.blocks) {
            if (block.get() ^ compared.query).count_ones() <= compared.most {
                truth.push(NearBlock { run, index });
            }
        }
    }
    for kernel in SearchKernel::available() {
        let mut out = vec![NearBlock { run: 7, index: 7 }];
        kernel.near_in_runs(&runs, &mut out);
        assert_eq!(out, truth, "{}", kernel.name());
    }
}

fn check_u64(column: &[u64], query: u64, k: u32) {
    let truth: Vec<u32> = oracle(column, query, k).iter().map(|found| found.ordinal).collect();
    let column: Vec<U64> = column.iter().copied().map(U64::new).collect();
    for kernel in SearchKernel::available() {
        let mut out = vec![7];
        kernel.near_u64(&column, query, k, &mut out);
        assert_eq!(out.split_first(), Some((&7, &truth[..])), "{}", kernel.name());
    }
}

/// Compares the lines by brute force.
fn near_in_lines(lines: LineBatch<'_>) -> (Vec<NearEntry>, FurtherLines) {
    let (mut near, mut onward) = (Vec::new(), FurtherLines::new());
    for &SelectedLine { line, message } in lines.sought {
        let Some(places) = lines.all.get(line as usize) else { continue };
        let bytes: Vec<u8> = places.iter().flat_map(|place| place.get().to_le_bytes()).collect();
        let word = |at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (first, goes_on) = (word(60) & 0x7fff_ffff, word(60) >> 31 == 1);
        if goes_on {
            // A further line continues in a later line, or nowhere.
            let next = if lines.are_further && word(36) <= line { u32::MAX } else { word(36) };
            onward.push(SelectedLine { line: next, message });
        }
        for entry in 0..if goes_on { 18 } else { 20 } {
            let bits = [bytes[2 * entry], bytes[2 * entry + 1], bytes[40 + entry], 0];
            if (u32::from_le_bytes(bits) ^ lines.query).count_ones() <= lines.most {
                near.push(NearEntry { entry: first + entry as u32, message });
            }
        }
    }
    (near, onward)
}

fn check_lines(words: &[u64], query: u32, most: u32) {
    let places: Vec<U16> = words
        .iter()
        .flat_map(|word| [U16::new((word >> 20) as u16), U16::new(*word as u16)])
        .collect();
    let (all, _) = places.as_chunks::<32>();
    // The lines are in any order, and more than are compared at a time.
    let sought = (0..all.len() as u32 * 2)
        .map(|i| SelectedLine { line: i * 3 % all.len() as u32, message: i * 7 });
    let sought: Vec<SelectedLine> = sought.collect();
    for are_further in [false, true] {
        let lines = LineBatch { all, further: &[], are_further, sought: &sought, query, most };
        let truth = near_in_lines(lines);
        for kernel in SearchKernel::available() {
            let (mut near, mut onward) = (Vec::new(), FurtherLines::new());
            kernel.near_in_lines(lines, &mut near, &mut onward);
            assert_eq!((near, onward), truth, "{}", kernel.name());
        }
    }
}

#[test]
fn lengths_around_a_block_are_compared_to_the_end() {
    let words = fingerprints(Distribution::Even, 200, 1);
    for length in 0..words.len() {
        for k in [0, 8, 16, 32, 64] {
            check_u64(&words[..length], words[0], k);
            check_runs(&words[..length], (words[0] >> 20) as u16, k / 4);
        }
    }
}

#[test]
fn unaligned_columns_are_compared_like_others() {
    use zerocopy::FromBytes;
    let VecColumn(bytes) = column(&fingerprints(Distribution::Even, 40, 2));
    for offset in 0..8 {
        let words = <[U64]>::ref_from_bytes(&bytes[offset..][..39 * 8]).unwrap();
        let truth: Vec<u64> = words.iter().map(|word| word.get()).collect();
        for kernel in SearchKernel::available() {
            let mut out = Vec::new();
            kernel.near_u64(words, truth[5], 30, &mut out);
            let ordinals: Vec<u32> =
                oracle(&truth, truth[5], 30).iter().map(|found| found.ordinal).collect();
            assert_eq!(out, ordinals, "{}", kernel.name());
        }
    }
}

#[test]
fn instruction_set_has_a_name() {
    assert!(["avx512", "avx2", "popcnt", "portable"].contains(&instruction_set()));
}

proptest! {
    #[test]
    fn all_kernels_match_the_plain_one(
        kind in kinds(), n in 0_usize..900, seed: u64, k in 0_u32..=70, least in 0_u32..=9, member: bool
    ) {
        let words = fingerprints(kind, n, seed);
        let query = words.first().copied().filter(|_| member).unwrap_or(seed);
        check_u64(&words, query, k);
        check_runs(&words, (query >> 20) as u16, least.min(k));
        check_runs(&words, (query >> 20) as u16, k);
        let entry = query >> 20 & 0xffff | query << 16 & 0xff_0000;
        check_lines(&words, entry as u32, least.min(k));
        check_lines(&words, entry as u32, k);
    }
}
