//! What distances turned out to mean.

use std::collections::BTreeMap;

use simkeep::fingerprint::{Band, Bands, Recipe};

/// Shares of words are counted in so many parts.
const PARTS: f32 = 10_000.0;

/// The distances of fingerprints of changed texts by one recipe, and how much changed.
pub(super) struct Tally {
    recipe: Recipe,
    /// By distance.
    distances: Vec<Changes>,
    /// Pairs whose change is below the range that is told of their distance, in it, and above it.
    told: [u64; 3],
}

/// The changes of one distance.
#[derive(Clone, Default)]
pub(super) struct Changes {
    /// How often so many parts of the words changed.
    parts: BTreeMap<u32, u64>,
    /// By band: minor, moderate, major.
    bands: [u64; 3],
}

impl Changes {
    pub(super) fn pairs(&self) -> u64 {
        self.bands.iter().sum()
    }

    /// The share that so large a share of the pairs does not exceed; none of no pairs.
    pub(super) fn quantile(&self, share: f64) -> Option<f32> {
        let mut left = share * self.pairs() as f64;
        let reached = self.parts.iter().find(|(_, pairs)| {
            left -= **pairs as f64;
            left <= 0.0
        });
        reached.map(|(parts, _)| *parts as f32 / PARTS)
    }

    /// The share of the pairs in each band; none of no pairs.
    pub(super) fn bands(&self) -> Option<[f64; 3]> {
        let pairs = self.pairs() as f64;
        (pairs > 0.0).then(|| self.bands.map(|in_band| in_band as f64 / pairs))
    }
}

/// The place of a share of words among the bands: under 1 %, up to 10 %, more.
fn band_of(changed: f32) -> usize {
    match changed {
        ..0.01 => 0,
        0.01..=0.1 => 1,
        _ => 2,
    }
}

/// The place of a distance. What is changed and has the same fingerprint counts as minor.
fn told(bands: Bands, distance: u32) -> usize {
    match bands.band(distance) {
        Band::None | Band::Minor => 0,
        Band::Moderate => 1,
        Band::Major => 2,
    }
}

/// How well bands tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rightness {
    /// The share of pairs that are in the band that is told.
    pub(super) right: f64,
    /// The share of pairs that are two bands off.
    pub(super) far_off: f64,
    /// The mean over the bands of the share of their pairs that is told right: as if there were as many
    /// pairs of each.
    pub(super) balanced: f64,
}

impl Tally {
    pub(super) fn new(recipe: Recipe) -> Tally {
        Tally { recipe, distances: vec![Changes::default(); 65], told: [0; 3] }
    }

    /// Counts a pair of texts that differ.
    #[expect(clippy::cast_possible_truncation, reason = "a share has at most all parts")]
    pub(super) fn add(&mut self, distance: u32, changed: f32) {
        let told = self.recipe.meaning(distance).changed();
        let [below, inside, above] = &mut self.told;
        *match changed {
            _ if changed < told.start => below,
            _ if changed > told.end => above,
            _ => inside,
        } += 1;
        if let Some(changes) = self.distances.get_mut(distance as usize) {
            *changes.parts.entry((changed * PARTS).round() as u32).or_default() += 1;
            if let Some(pairs) = changes.bands.get_mut(band_of(changed)) {
                *pairs += 1;
            }
        }
    }

    pub(super) fn pairs(&self) -> u64 {
        self.distances.iter().map(Changes::pairs).sum()
    }

    /// Each distance that there is, with its changes.
    pub(super) fn distances(&self) -> impl Iterator<Item = (u32, &Changes)> {
        (0..).zip(&self.distances).filter(|(_, changes)| changes.pairs() > 0)
    }

    /// The share of changed texts that have one fingerprint; none of no texts.
    pub(super) fn hidden(&self) -> Option<f64> {
        let pairs = self.pairs() as f64;
        self.distances.first().filter(|_| pairs > 0.0).map(|same| same.pairs() as f64 / pairs)
    }

    /// Of what share of the pairs the range that is told of their distance is above, right, and below.
    pub(super) fn told(&self) -> Option<[f64; 3]> {
        let pairs = self.pairs() as f64;
        (pairs > 0.0).then(|| self.told.map(|count| count as f64 / pairs))
    }

    /// How well these bands tell; nothing of no pairs.
    #[expect(clippy::indexing_slicing, reason = "three bands")]
    pub(super) fn rightness(&self, bands: Bands) -> Option<Rightness> {
        let (mut right, mut far_off, mut of_band) = ([0; 3], 0, [0; 3]);
        for (distance, changes) in self.distances() {
            let told = told(bands, distance);
            for (band, pairs) in changes.bands.iter().enumerate() {
                of_band[band] += pairs;
                right[band] += if band == told { *pairs } else { 0 };
                far_off += if band.abs_diff(told) == 2 { *pairs } else { 0 };
            }
        }
        let all = self.pairs() as f64;
        let shares = right.iter().zip(of_band).filter(|(_, all)| *all > 0);
        let shares: Vec<f64> = shares.map(|(right, all)| *right as f64 / all as f64).collect();
        (all > 0.0).then(|| Rightness {
            right: right.iter().sum::<u64>() as f64 / all,
            far_off: far_off as f64 / all,
            balanced: shares.iter().sum::<f64>() / shares.len() as f64,
        })
    }

    /// The bands that are best by a measure, and of equal ones the first.
    pub(super) fn best(&self, by: fn(&Rightness) -> f64) -> Option<Bands> {
        let mut best: Option<(Bands, f64)> = None;
        for moderate in 1..64 {
            for minor in 0..moderate {
                let bands = Bands { minor, moderate };
                let found = by(&self.rightness(bands)?);
                if best.is_none_or(|(_, best)| found > best) {
                    best = Some((bands, found));
                }
            }
        }
        best.map(|(bands, _)| bands)
    }
}
