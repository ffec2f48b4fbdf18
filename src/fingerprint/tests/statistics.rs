//! Tests the mean and the variance of minwise hashes.
//!
//! Seeds are fixed, so each run gives the same result. With other seeds, a correct implementation
//! would fail once in some 8,000 times.

use super::*;
use crate::splitmix::splitmix;
use simkeep_testing::depth::up_to;

/// The number of pairs for which the error of the mean is stated.
const PAIRS: u64 = 10_000;

/// The factor for a larger mean. The mean of the larger sample must be within three standard errors
/// for [`PAIRS`]. Three standard errors for [`PAIRS`] are six standard errors of the larger sample:
/// a probability of one in 500 million.
const TIMES: u64 = 4;

/// Pseudorandom numbers.
struct StatisticsRng(u64);

impl StatisticsRng {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        splitmix(self.0)
    }

    /// Returns a number from 0 to `most`.
    fn up_to(&mut self, most: u64) -> u64 {
        self.next() % (most + 1)
    }
}

/// The distribution of the features that only one of two sets has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum UnsharedFeatures {
    /// Each feature belongs to one of the two sets, at random.
    Both,
    /// All features to the second set: the first set is a subset of it.
    Second,
}

/// Returns the share of differing bits for a pair of random sets, and the expected share. The union
/// of the sets has a number of features in this range.
fn pair(
    random: &mut StatisticsRng,
    all: std::ops::Range<u64>,
    rest: UnsharedFeatures,
) -> (f64, f64) {
    let all = all.start + random.up_to(all.end - all.start - 1);
    let common = random.up_to(all);
    let of_first = if rest == UnsharedFeatures::Second { 0 } else { random.up_to(all - common) };
    let mut sets = [Minwise::new(), Minwise::new()];
    for n in 0..all {
        let feature = random.next();
        if n < common + of_first {
            sets[0].add(feature);
        }
        if n < common || n >= common + of_first {
            sets[1].add(feature);
        }
    }
    let [first, second] = sets.map(|mut set| set.finish());
    let resemblance = common as f64 / all as f64;
    (f64::from((first ^ second).count_ones()) / 64.0, (1.0 - resemblance) / 2.0)
}

/// Returns the mean deviation of pairs from expectation, in standard errors for [`PAIRS`] pairs,
/// and the variance as a multiple of the variance of 64 independent bits.
fn scatter(
    random: &mut StatisticsRng,
    all: std::ops::Range<u64>,
    rest: UnsharedFeatures,
) -> (f64, f64) {
    let (mut sum, mut squares, mut independent) = (0.0, 0.0, 0.0);
    let pairs = PAIRS * up_to(TIMES);
    for _ in 0..pairs {
        let (share, expected) = pair(random, all.clone(), rest);
        let off = share - expected;
        sum += off;
        squares += off * off;
        independent += expected * (1.0 - expected) / 64.0;
    }
    let n = pairs as f64;
    let (mean, variance) = (sum / n, squares / n);
    (mean / (variance / PAIRS as f64).sqrt(), squares / independent)
}

#[test]
fn differing_bits_have_no_bias_at_any_size() {
    // Numbers of features of both sets together: 2 and 3, 4 to 7, and so on, to 10,000.
    let bins = (1..14).map(|bin| 1 << bin..(2 << bin).min(10_001));
    for (number, bin) in (0..).zip(bins) {
        for rest in [UnsharedFeatures::Both, UnsharedFeatures::Second] {
            let mut random = StatisticsRng((number << 40) | (rest as u64) << 50);
            let (errors, variance) = scatter(&mut random, bin.clone(), rest);
            assert!(errors.abs() < 3.0, "{rest:?} of {bin:?}: {errors} standard errors");
            // Bits of small sets come from the same features, and bits of large sets from different
            // features.
            assert!((0.9..1.2).contains(&variance), "{rest:?} of {bin:?}: {variance}");
        }
    }
}

#[test]
fn bits_are_balanced_and_pairwise_independent() {
    const TEXTS: usize = 100_000;
    let recipe: Recipe = "near".parse().unwrap();
    let mut fingerprinter = Fingerprinter::new(&recipe).unwrap();
    let mut random = StatisticsRng(1 << 60);
    // The texts, 64 of them in each number. Each bit has its own column of numbers.
    let mut columns = vec![[0u64; 64]; TEXTS.div_ceil(64)];
    let mut text = String::new();
    for column in &mut columns {
        for of in 0..64 {
            text.clear();
            for _ in 0..100 {
                text += "w";
                text += &random.up_to(5000).to_string();
                text += " ";
            }
            let bits = fingerprinter.of_text(&text).unwrap();
            (0..64).for_each(|bit| column[bit] |= (bits >> bit & 1) << of);
        }
    }
    let n = columns.len() as f64 * 64.0;
    let errors = |count: u64| (2.0 * count as f64 - n) / n.sqrt();
    let sum = |of: &dyn Fn(&[u64; 64]) -> u64| -> u64 {
        columns.iter().map(|column| u64::from(of(column).count_ones())).sum()
    };
    for bit in 0..64 {
        let errors = errors(sum(&|column| column[bit]));
        assert!(errors.abs() < 5.0, "bit {bit} is {errors} standard errors from even");
    }
    let pairs = (0..64).flat_map(|a| (0..a).map(move |b| (a, b)));
    let mut squares = Vec::new();
    for (a, b) in pairs {
        let errors = errors(sum(&|column| column[a] ^ column[b]));
        assert!(
            errors.abs() < 5.5,
            "bits {a} and {b} are {errors} standard errors from independent"
        );
        squares.push(errors * errors);
    }
    // The mean of the squares is 1, with a standard error of √(2/2016).
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    assert!(squares.len() == 2016 && (mean - 1.0).abs() < 5.0 * (2.0f64 / 2016.0).sqrt(), "{mean}");
}
