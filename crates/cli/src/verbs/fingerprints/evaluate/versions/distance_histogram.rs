//! Counts how much of the text changed at each distance.

use std::collections::BTreeMap;

use simkeep::fingerprint::{Band, Bands, Recipe};

/// The number of steps to which a fraction of words is rounded.
const PARTS: f32 = 10_000.0;

/// The changes of texts by the distance of their fingerprints by one recipe.
pub(super) struct DistanceHistogram {
    recipe: Recipe,
    /// The changes for each distance.
    distances: Vec<DistanceChanges>,
    /// The number of pairs whose change is below the range that their distance predicts, in it, and
    /// above it.
    below_in_above: [u64; 3],
}

/// The changes with one distance.
#[derive(Clone, Default)]
pub(super) struct DistanceChanges {
    /// The number of pairs by the rounded fraction of changed words.
    parts: BTreeMap<u32, u64>,
    /// The number of pairs in each band: minor, moderate, major.
    bands: [u64; 3],
}

impl DistanceChanges {
    pub(super) fn pairs(&self) -> u64 {
        self.bands.iter().sum()
    }

    /// The fraction of changed words that `share` of the pairs do not exceed; `None` without pairs.
    pub(super) fn quantile(&self, share: f64) -> Option<f32> {
        let mut left = share * self.pairs() as f64;
        let reached = self.parts.iter().find(|(_, pairs)| {
            left -= **pairs as f64;
            left <= 0.0
        });
        reached.map(|(parts, _)| *parts as f32 / PARTS)
    }

    /// The fraction of the pairs in each band; `None` without pairs.
    pub(super) fn bands(&self) -> Option<[f64; 3]> {
        let pairs = self.pairs() as f64;
        (pairs > 0.0).then(|| self.bands.map(|in_band| in_band as f64 / pairs))
    }
}

/// The index of the band of a fraction of changed words: under 1 %, up to 10 %, more.
fn band_of(changed: f32) -> usize {
    match changed {
        ..0.01 => 0,
        0.01..=0.1 => 1,
        _ => 2,
    }
}

/// The index of the band that a distance predicts. A change with equal fingerprints counts as
/// minor.
fn predicted_band(bands: Bands, distance: u32) -> usize {
    match bands.band(distance) {
        Band::None | Band::Minor => 0,
        Band::Moderate => 1,
        Band::Major => 2,
    }
}

/// The quality of bands as predictions of changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BandAccuracy {
    /// The fraction of pairs that are in the band that their distance predicts.
    pub(super) right: f64,
    /// The fraction of pairs that are two bands off.
    pub(super) far_off: f64,
    /// The mean over the bands of the fraction of their pairs that are predicted correctly, as if each
    /// band had equally many pairs.
    pub(super) balanced: f64,
}

impl DistanceHistogram {
    pub(super) fn new(recipe: Recipe) -> DistanceHistogram {
        DistanceHistogram {
            recipe,
            distances: vec![DistanceChanges::default(); 65],
            below_in_above: [0; 3],
        }
    }

    /// Counts a pair of texts that differ.
    #[expect(clippy::cast_possible_truncation, reason = "a share has at most all parts")]
    pub(super) fn add(&mut self, distance: u32, changed: f32) {
        let predicted = self.recipe.meaning(distance).changed();
        let [below, inside, above] = &mut self.below_in_above;
        *match changed {
            _ if changed < predicted.start => below,
            _ if changed > predicted.end => above,
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
        self.distances.iter().map(DistanceChanges::pairs).sum()
    }

    /// Each distance that occurs, with its changes.
    pub(super) fn distances(&self) -> impl Iterator<Item = (u32, &DistanceChanges)> {
        (0..).zip(&self.distances).filter(|(_, changes)| changes.pairs() > 0)
    }

    /// The fraction of changed texts with equal fingerprints; `None` without texts.
    pub(super) fn hidden(&self) -> Option<f64> {
        let pairs = self.pairs() as f64;
        self.distances.first().filter(|_| pairs > 0.0).map(|same| same.pairs() as f64 / pairs)
    }

    /// The fractions of pairs whose change is below, in, and above the predicted range.
    pub(super) fn below_in_above(&self) -> Option<[f64; 3]> {
        let pairs = self.pairs() as f64;
        (pairs > 0.0).then(|| self.below_in_above.map(|count| count as f64 / pairs))
    }

    /// Returns the quality of these bands as predictions of changes; `None` without pairs.
    #[expect(clippy::indexing_slicing, reason = "three bands")]
    pub(super) fn rightness(&self, bands: Bands) -> Option<BandAccuracy> {
        let (mut right, mut far_off, mut of_band) = ([0; 3], 0, [0; 3]);
        for (distance, changes) in self.distances() {
            let predicted = predicted_band(bands, distance);
            for (band, pairs) in changes.bands.iter().enumerate() {
                of_band[band] += pairs;
                right[band] += if band == predicted { *pairs } else { 0 };
                far_off += if band.abs_diff(predicted) == 2 { *pairs } else { 0 };
            }
        }
        let all = self.pairs() as f64;
        let shares = right.iter().zip(of_band).filter(|(_, all)| *all > 0);
        let shares: Vec<f64> = shares.map(|(right, all)| *right as f64 / all as f64).collect();
        (all > 0.0).then(|| BandAccuracy {
            right: right.iter().sum::<u64>() as f64 / all,
            far_off: far_off as f64 / all,
            balanced: shares.iter().sum::<f64>() / shares.len() as f64,
        })
    }

    /// The bands that are best by a measure; of equal ones, the first.
    pub(super) fn best(&self, by: fn(&BandAccuracy) -> f64) -> Option<Bands> {
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
