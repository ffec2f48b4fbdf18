//! The meaning of a distance between the fingerprints of two versions of a page.

use std::f64::consts::PI;
use std::fmt;
use std::ops::Range;

use super::choices::{Family, GramUnit};
use super::presets::Preset;
use super::recipe::Recipe;

/// The amount of change of a text, estimated from fingerprints.
///
/// ```
/// use simkeep::fingerprint::{Band, Recipe};
/// let band = |distance| Recipe::DEFAULT.meaning(distance).band;
/// assert_eq!([0, 1, 5, 20].map(band), [Band::None, Band::Minor, Band::Moderate, Band::Major]);
/// assert!(Band::Minor < Band::Major);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Band {
    /// The fingerprint shows no change. A small change often leaves all bits unchanged; use a
    /// digest to detect it.
    None,
    /// Under 1 % of the words.
    Minor,
    /// From 1 to 10 % of the words.
    Moderate,
    /// More than 10 % of the words.
    Major,
}

impl Band {
    /// Returns the name of the band: `none`, `minor`, `moderate` or `major`.
    ///
    /// ```
    /// use simkeep::fingerprint::Band;
    /// assert_eq!((Band::Minor.name(), Band::Major.to_string()), ("minor", "major".to_owned()));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Band::None => "none",
            Band::Minor => "minor",
            Band::Moderate => "moderate",
            Band::Major => "major",
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The largest minor distance and the largest moderate distance.
///
/// ```
/// use simkeep::fingerprint::{Band, Bands, Recipe};
/// let Bands { minor, moderate } = Recipe::DEFAULT.bands();
/// assert_eq!((minor, moderate), (2, 9));
/// assert_eq!(Bands { minor: 1, moderate: 8 }.band(2), Band::Moderate);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Bands {
    /// The largest distance that is minor.
    pub minor: u32,
    /// The largest distance that is moderate.
    pub moderate: u32,
}

impl Bands {
    /// The bands for fingerprints of unknown origin: `3` and `10`.
    pub const EXTERNAL: Bands = Bands { minor: 3, moderate: 10 };

    /// Returns the band of a distance.
    ///
    /// ```
    /// use simkeep::fingerprint::{Band, Bands};
    /// let bands = Bands { minor: 2, moderate: 9 };
    /// assert_eq!([0, 2, 9, 10].map(|distance| bands.band(distance)),
    ///            [Band::None, Band::Minor, Band::Moderate, Band::Major]);
    /// ```
    pub const fn band(self, distance: u32) -> Band {
        match distance {
            0 => Band::None,
            _ if distance <= self.minor => Band::Minor,
            _ if distance <= self.moderate => Band::Moderate,
            _ => Band::Major,
        }
    }

    /// Whether the bands are valid: `minor` is at most `moderate`, and neither exceeds 64.
    ///
    /// ```
    /// use simkeep::fingerprint::Bands;
    /// assert!(Bands { minor: 0, moderate: 64 }.are_possible());
    /// assert!(!Bands { minor: 3, moderate: 2 }.are_possible());
    /// ```
    pub const fn are_possible(self) -> bool {
        self.minor <= self.moderate && self.moderate <= u64::BITS
    }

    /// Scales these bands, which are for 64 bits, to `bits` compared bits: a distance has the band
    /// of the nearest share of the bits.
    const fn of_bits(self, bits: u32) -> Bands {
        Bands {
            minor: (2 * self.minor + 1) * bits / 128,
            moderate: (2 * self.moderate + 1) * bits / 128,
        }
    }
}

/// The meaning of a distance between the fingerprints of two versions of a page: the approximate
/// share of words that changed. [`Recipe::meaning`] and [`Meaning::ready_made`] return a meaning.
///
/// The share of changed words is the share of both versions' words outside of the longest common
/// subsequence, inserted and deleted words alike. A distance determines this share in these steps:
///
/// - *d* of *b* compared bits differ, each with the probability *p*. By F. J. Anscombe, *The
///   transformation of Poisson, binomial and negative-binomial data*, Biometrika 1948,
///   asin √((*d* + 3/8) / (*b* + 3/4)) is normal about asin √*p*, with the standard error
///   1 / (2 √(*b* + 1/2)).
/// - Of a simhash, *p* is the angle of the two vectors of weights over π (Charikar 2002). If all
///   features weigh the same and the versions have a share *s* of their features in common, the
///   cosine of the angle is *s*. So *s* = cos(π*p*).
/// - Of a minwise hash, *p* = (1 - *J*)/2, where *J* is the resemblance (Li & König 2010). *J*
///   equals *s*/(2 - *s*), so *s* = (1 - 2*p*)/(1 - *p*).
/// - From *p* = 1/2 on, no feature is known to be in common, and *s* = 0.
/// - An n-gram stays if all its words stay. If words change one by one, each word stays with the
///   probability *s*^(1/*n*). If long passages change, each word stays with nearly the probability
///   *s*. So the share of words that changed is 1 - *s*^*c*, where *c* is between 1/*n* and 1, or
///   more where n-grams that occur often weigh less than they occur. For small distances of
///   simhashes the share is *c*(1 - cos(π*p*)). *c* and the bands were measured for each
///   [preset](Recipe::PRESETS).
///
/// In texts of fewer than 100 words a distance means little, since one word is more than a percent
/// of the text. For such a text, if it is available, only the fact of a change is reported.
///
/// ```
/// use simkeep::fingerprint::{Band, Recipe};
/// let meaning = Recipe::DEFAULT.meaning(4);
/// assert_eq!(meaning.band, Band::Moderate);
/// assert!(meaning.changed().contains(&0.02));
/// assert_eq!(meaning.to_string(), "moderately, some 0.5 to 6 % of its words");
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct Meaning {
    /// The distance, in bits.
    pub distance: u32,
    /// The band of the distance.
    pub band: Band,
    /// The bounds of the share of changed words, in parts per million.
    changed: [u32; 2],
}

/// The number of parts in a whole: shares are in parts per million.
const PARTS: f64 = 1e6;

/// Nine tenths of a normal distribution lie below this many standard errors.
const NINE_TENTHS: f64 = 1.2816;

impl Meaning {
    /// The number of words below which a distance means little.
    pub const WORDS_MIN: usize = 100;

    /// Returns the meaning of a distance if the origin of the fingerprints is unknown: the bands
    /// are [`Bands::EXTERNAL`], and the share of words is computed as for a simhash with *c* = 0.7.
    ///
    /// ```
    /// use simkeep::fingerprint::{Band, Meaning};
    /// assert_eq!(Meaning::ready_made(3).band, Band::Minor);
    /// ```
    pub fn ready_made(distance: u32) -> Meaning {
        let scale = ChangeScale { family: Family::Simhash, exponent: 0.7 };
        Meaning::new(distance, u64::BITS, Bands::EXTERNAL, scale)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a share has at most all parts")]
    fn new(distance: u32, bits: u32, bands: Bands, scale: ChangeScale) -> Meaning {
        let changed = probabilities(distance, bits);
        let changed = changed.map(|p| (scale.changed(p) * PARTS).round() as u32);
        Meaning { distance, band: bands.band(distance), changed }
    }

    /// Returns the meaning of the same distance with other bands.
    pub(crate) fn by(self, bands: Bands) -> Meaning {
        Meaning { band: bands.band(self.distance), ..self }
    }

    /// Returns the likely share of changed words. For this distance, four in five pairs of versions
    /// are in the range, one in ten is below it, and one in ten is above it.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// let changed = Recipe::DEFAULT.meaning(4).changed();
    /// println!("{:.1} to {:.1} % of the words", 100.0 * changed.start, 100.0 * changed.end);
    /// assert!(changed.start > 0.0 && changed.end < 0.1);
    /// ```
    #[expect(clippy::cast_possible_truncation, reason = "a share to six digits")]
    pub fn changed(&self) -> Range<f32> {
        let [from, to] = self.changed.map(|parts| (f64::from(parts) / PARTS) as f32);
        from..to
    }
}

/// Writes the amount of change. Callers write "changed by 4 bits: " before it.
impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.band {
            Band::None => "no change that the fingerprint shows",
            Band::Minor => "slightly",
            Band::Moderate => "moderately",
            Band::Major => "much",
        };
        let [from, to] = self.changed.map(percent);
        match from.as_str() {
            "0" => write!(f, "{how}, at most some {to} % of its words"),
            _ => write!(f, "{how}, some {from} to {to} % of its words"),
        }
    }
}

/// Formats parts per million as percent, with one decimal or as an integer.
fn percent(parts: u32) -> String {
    let percent = f64::from(parts) / PARTS * 100.0;
    match percent {
        0.0..0.05 => "0".to_owned(),
        0.05..0.95 => format!("{percent:.1}"),
        _ => format!("{percent:.0}"),
    }
}

/// Converts the probability that bits differ to a share of changed words.
#[derive(Clone, Copy)]
struct ChangeScale {
    family: Family,
    /// The exponent of the share of unchanged features.
    exponent: f64,
}

impl ChangeScale {
    fn changed(self, p: f64) -> f64 {
        let stays = match self.family {
            _ if p >= 0.5 => 0.0,
            Family::Simhash => (PI * p).cos(),
            Family::Minwise => (1.0 - 2.0 * p) / (1.0 - p),
        };
        1.0 - stays.powf(self.exponent)
    }
}

/// Returns the central 80 % interval of the probability that a bit differs, for a distance.
fn probabilities(distance: u32, bits: u32) -> [f64; 2] {
    let (distance, bits) = (f64::from(distance.min(bits)), f64::from(bits));
    let middle = ((distance + 0.375) / (bits + 0.75)).sqrt().asin();
    let error = NINE_TENTHS / (2.0 * (bits + 0.5).sqrt());
    [middle - error, middle + error].map(|angle| angle.clamp(0.0, PI / 2.0).sin().powi(2))
}

impl Recipe {
    /// Returns the meaning of a distance between the fingerprints of two versions of a page. A
    /// distance above the number of compared bits is treated as that number. Costs some sines.
    ///
    /// A recipe that is not a [preset](Self::PRESETS), apart from its seed, reserved bits and
    /// left-out features, uses the preset of its family with the nearest *n* (a word counts as five
    /// characters). Ties go to a preset with the same kind of rarity, then with the same counts.
    ///
    /// ```
    /// use simkeep::fingerprint::{Band, Recipe};
    /// assert_eq!(Recipe::DEFAULT.meaning(0).band, Band::None);
    /// assert_eq!(Recipe::DEFAULT.meaning(2).band, Band::Minor);
    /// assert_eq!(Recipe::words(4).minwise().meaning(12).band, Band::Major);
    /// ```
    pub fn meaning(&self, distance: u32) -> Meaning {
        let scale = ChangeScale { family: self.family(), exponent: self.calibrated().exponent };
        Meaning::new(distance, self.compared_bits(), self.bands(), scale)
    }

    /// Returns the bands of this recipe, as in [`meaning`](Self::meaning). With reserved bits, a
    /// distance has the band of the same share of the remaining bits.
    ///
    /// ```
    /// use simkeep::fingerprint::{Bands, Recipe};
    /// assert_eq!(Recipe::DEFAULT.bands(), Bands { minor: 2, moderate: 9 });
    /// assert_eq!(Recipe::DEFAULT.reserved(32).bands(), Bands { minor: 1, moderate: 4 });
    /// ```
    pub fn bands(&self) -> Bands {
        self.calibrated().bands.of_bits(self.compared_bits())
    }

    fn compared_bits(&self) -> u32 {
        self.mask().count_ones()
    }

    /// Returns the measured preset nearest to this recipe.
    #[expect(clippy::expect_used, reason = "there are presets")]
    fn calibrated(&self) -> &'static Preset {
        let unlike = |preset: &&Preset| {
            let other = &preset.recipe;
            (
                self.family != other.family,
                self.gram_words().abs_diff(other.gram_words()),
                self.needs_frequencies() != other.needs_frequencies(),
                self.plain() != *other,
                self.counts != other.counts,
            )
        };
        Recipe::PRESETS.iter().min_by_key(unlike).expect("there are presets")
    }

    /// Returns the number of words in a feature.
    fn gram_words(&self) -> u32 {
        match self.unit {
            GramUnit::Words => self.gram,
            GramUnit::Chars => self.gram.div_ceil(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::super::recipe::any_recipe;

    #[test]
    fn presets_have_their_measured_bands() {
        let of = |name: &str| name.parse::<Recipe>().unwrap().bands();
        assert_eq!(of("default"), Bands { minor: 2, moderate: 9 });
        assert_eq!(of("strict"), Bands { minor: 3, moderate: 11 });
        assert_eq!(of("near"), Bands { minor: 1, moderate: 8 });
        for preset in Recipe::PRESETS {
            assert_eq!(preset.recipe.calibrated().name, preset.name);
            assert_eq!(preset.recipe.seed(7).bands(), preset.bands);
            assert!(preset.bands.minor < preset.bands.moderate && preset.bands.moderate < 32);
            assert!(preset.hidden > 0.0 && preset.hidden < 1.0);
        }
    }

    #[test]
    fn other_recipes_use_the_nearest_preset() {
        for (name, nearest) in [
            ("words2-log/2", "default"),
            ("words5-sqrt/2", "strict"),
            ("words3-minwise/2", "near"),
            ("chars8-minwise/2", "near"),
            ("chars8-sqrt/2", "default"),
            ("words1-raw/2", "charikar"),
            ("words2-sqrt-idf/2", "default"),
            ("words4-sqrt-idf/2", "templated"),
            ("words1-log-idf/2", "words-idf"),
        ] {
            assert_eq!(name.parse::<Recipe>().unwrap().calibrated().name, nearest, "{name}");
        }
    }

    #[test]
    fn range_of_changes_follows_from_chance_distances() {
        // By exact sums of the binomial distribution: a distance that is at most as large has a
        // chance of one tenth at the upper bound, and a distance that is at least as large has a
        // chance of one tenth at the lower bound. Each bound is between the bound that includes the
        // distance itself and the bound that excludes it.
        let choose =
            |n: u32, k: u32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
        let at_most = |d: u32, bits: u32, p: f64| -> f64 {
            let chance = |k: u32| p.powi(k as i32) * (1.0 - p).powi((bits - k) as i32);
            (0..=d).map(|k| choose(bits, k) * chance(k)).sum()
        };
        for bits in [32, 64] {
            for distance in 1..bits - 1 {
                let [low, high] = probabilities(distance, bits);
                let above = 1.0 - at_most(distance, bits, low);
                let from = 1.0 - at_most(distance - 1, bits, low);
                assert!(above < 0.1 && from > 0.1, "{distance} of {bits}: {above}, {from}");
                let (below, to) =
                    (at_most(distance - 1, bits, high), at_most(distance, bits, high));
                assert!(below < 0.1 && to > 0.1, "{distance} of {bits}: {below}, {to}");
            }
        }
    }

    #[test]
    fn external_fingerprints_have_their_own_bands() {
        let of = |distance| Meaning::ready_made(distance).band;
        assert_eq!([0, 3, 4, 10, 11].map(of), {
            use Band::{Major, Minor, Moderate, None};
            [None, Minor, Moderate, Moderate, Major]
        });
    }

    #[test]
    fn meaning_is_described_in_words() {
        let said = |distance| Recipe::DEFAULT.meaning(distance).to_string();
        assert_eq!(
            said(0),
            "no change that the fingerprint shows, at most some 0.3 % of its words"
        );
        assert_eq!(said(2), "slightly, some 0.1 to 2 % of its words");
        assert_eq!(said(12), "much, some 8 to 28 % of its words");
        assert_eq!(said(64), "much, some 100 to 100 % of its words");
    }

    proptest! {
        #[test]
        fn larger_distance_means_a_larger_change(recipe in any_recipe(), distance in 0u32..70) {
            let (one, next) = (recipe.meaning(distance), recipe.meaning(distance + 1));
            prop_assert!(one.band <= next.band);
            let (one, next) = (one.changed(), next.changed());
            prop_assert!(one.start <= one.end && one.start >= 0.0 && next.end <= 1.0);
            prop_assert!(one.start <= next.start && one.end <= next.end);
        }

        #[test]
        fn fewer_bits_give_wider_ranges(recipe in any_recipe(), distance in 1u32..16) {
            let (all, half) = (recipe.reserved(0), recipe.reserved(32));
            let (all, half) = (all.meaning(2 * distance).changed(), half.meaning(distance).changed());
            prop_assert!(half.start <= all.start && half.end >= all.end);
        }
    }
}
