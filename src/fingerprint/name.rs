//! The names of recipes. A name specifies its recipe completely.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use super::choices::{
    CountWeight, Family, FeatureHash, FieldWeight, GramUnit, PositionWeight, Rarity,
};
use super::ratio::Ratio;
use super::recipe::{GRAM_MAX, Recipe};

/// The name of the recipe that [`of_text`](super::of_text) uses: [`Recipe::DEFAULT`].
pub const RECIPE: &str = "words2-sqrt/2";

/// The version of the rules that a recipe's name does not specify: words, hashes, fixed-point
/// arithmetic. The version changes if any fingerprint changes.
///
/// Version 1 did not normalise words; since version 2 canonically equivalent texts have the same
/// words.
pub(crate) const VERSION: u32 = 2;

impl Recipe {
    /// Returns the part of the [name](Recipe::name) that specifies the features. Document
    /// frequencies counted for one recipe can be used by all recipes with the same features.
    ///
    /// ```
    /// use simkeep::fingerprint::{CountWeight, Recipe};
    /// // Recipes that weigh the same features differently share their document frequencies.
    /// assert_eq!(Recipe::words(2).features(), Recipe::words(2).counts(CountWeight::Log).features());
    /// ```
    pub fn features(&self) -> String {
        let mut name = String::new();
        let unit = match self.unit {
            GramUnit::Words => "words",
            GramUnit::Chars => "chars",
        };
        // Writing to a string cannot fail.
        name += &format!("{unit}{}", self.gram);
        if self.hash == FeatureHash::Jenkins {
            name += "-jenkins";
        }
        if self.without_numbers {
            name += "-nonumbers";
        }
        if self.without_stop_words {
            name += "-nostopwords";
        }
        if self.modulo != 1 {
            name += &format!("-mod{}", self.modulo);
        }
        name
    }

    /// Returns the name of this recipe. The name specifies the recipe completely.
    ///
    /// ```
    /// use simkeep::fingerprint::Recipe;
    /// let recipe = Recipe::words(4).minwise();
    /// assert_eq!(recipe.name().parse(), Ok(recipe));
    /// ```
    pub fn name(&self) -> String {
        self.to_string()
    }

    /// Returns the XXH3-64 of the [name](Recipe::name).
    pub fn id(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.name().as_bytes())
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{VERSION}", UnversionedName(self))
    }
}

/// The name of a recipe, without a version.
struct UnversionedName<'r>(&'r Recipe);

impl Deref for UnversionedName<'_> {
    type Target = Recipe;

    fn deref(&self) -> &Recipe {
        self.0
    }
}

impl fmt::Display for UnversionedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.features())?;
        if self.family == Family::Minwise {
            f.write_str("-minwise")?;
        }
        f.write_str(match self.counts {
            CountWeight::Raw => "-raw",
            // A minwise recipe has no weights, so the counts are not part of its name.
            CountWeight::Sqrt if self.family == Family::Minwise => "",
            CountWeight::Sqrt => "-sqrt",
            CountWeight::Log => "-log",
            CountWeight::Binary => "-binary",
        })?;
        if let Some(share) = self.leave_out {
            write!(f, "-leave{share}")?;
        }
        f.write_str(match self.rarity {
            Rarity::None => "",
            Rarity::Log => "-idf",
            Rarity::Inverse => "-inverse",
        })?;
        if self.scaling != PositionWeight::None {
            write!(f, "-{}", self.scaling.part_of_name())?;
        }
        if self.boost != Ratio::ONE {
            write!(f, "-marked{}", self.boost)?;
        }
        match self.fields {
            FieldWeight::None => {}
            FieldWeight::Share(share) => write!(f, "-fields{share}")?,
            FieldWeight::Flip => f.write_str("-fieldsflip")?,
        }
        if self.at_least != Ratio::ZERO {
            write!(f, "-from{}", self.at_least)?;
        }
        if self.at_most != Ratio::ONE {
            write!(f, "-to{}", self.at_most)?;
        }
        if self.top != u32::MAX {
            write!(f, "-top{}", self.top)?;
        }
        if self.cap != 1 {
            write!(f, "-cap{}", self.cap)?;
        }
        if self.seed != 0 {
            write!(f, "-seed{}", self.seed)?;
        }
        if self.reserved != 0 {
            write!(f, "-reserved{}", self.reserved)?;
        }
        Ok(())
    }
}

/// The reason why a recipe's name is invalid.
///
/// ```
/// use simkeep::fingerprint::Recipe;
/// assert!("words99/2".parse::<Recipe>().is_err());
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipeError(String);

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecipeError {}

impl FromStr for Recipe {
    type Err = RecipeError;

    /// Parses the [name](Recipe::name) of a recipe or of a [preset](Recipe::PRESETS).
    fn from_str(name: &str) -> Result<Recipe, RecipeError> {
        if let Some(preset) = Recipe::PRESETS.iter().find(|preset| preset.name == name) {
            return Ok(preset.recipe);
        }
        let wrong = |what: String| {
            let presets: Vec<&str> = Recipe::PRESETS.iter().map(|preset| preset.name).collect();
            RecipeError(format!(
                "{:?} is not a recipe: {what}; write a name such as {RECIPE}, or one of {}",
                name.chars().take(64).collect::<String>(),
                presets.join(", ")
            ))
        };
        match Recipe::of_any_version(name) {
            Ok((recipe, VERSION)) => Ok(recipe),
            Ok((recipe, version)) => Err(wrong(format!(
                "version {version} belongs to an earlier simkeep, and this simkeep makes \
                 fingerprints of version {VERSION}, {recipe}"
            ))),
            Err(what) => Err(wrong(what)),
        }
    }
}

impl Recipe {
    /// Parses the name of a recipe of this or an earlier version, and returns the version.
    /// Fingerprints of an earlier version cannot be computed any more, but the meaning of their
    /// distances is known.
    ///
    /// # Errors
    ///
    /// Returns an error that describes what is wrong with the name.
    pub(crate) fn of_any_version(name: &str) -> Result<(Recipe, u32), String> {
        let Some((parts, digits)) = name.split_once('/') else {
            return Err("it has no version after a slash".into());
        };
        let known = (1..=VERSION).find(|version| version.to_string() == digits);
        let Some(version) = known else { return Err(format!("its version must be {VERSION}")) };
        let mut parts = parts.split('-');
        let first = parts.next().unwrap_or_default();
        let grams = |unit, n: &str| match n.parse() {
            Ok(n @ 1..=GRAM_MAX) => Some(Recipe::grams(unit, n)),
            _ => None,
        };
        let recipe = first
            .strip_prefix("words")
            .and_then(|n| grams(GramUnit::Words, n))
            .or_else(|| first.strip_prefix("chars").and_then(|n| grams(GramUnit::Chars, n)));
        let Some(mut recipe) = recipe else {
            return Err(format!(
                "it does not begin with words1 to words{GRAM_MAX} or chars1 to chars{GRAM_MAX}"
            ));
        };
        for part in parts {
            recipe =
                recipe.with(part).ok_or_else(|| format!("it has the unknown part {part:?}"))?;
        }
        if let Some(nonsense) = recipe.invalid_reason() {
            return Err(nonsense);
        }
        // Two names for one recipe would create two epochs that cannot be compared.
        let spelled = recipe.name_of_version(version);
        if spelled != name {
            return Err(format!("this recipe has the name {spelled}"));
        }
        Ok((recipe, version))
    }

    /// Returns the name of this recipe in a version.
    pub(crate) fn name_of_version(&self, version: u32) -> String {
        format!("{}/{version}", UnversionedName(self))
    }

    /// Returns this recipe with one part of a name applied; `None` if the part is unknown.
    fn with(self, part: &str) -> Option<Recipe> {
        Some(match part {
            "jenkins" => self.hash(FeatureHash::Jenkins),
            "nonumbers" => self.without_numbers(),
            "nostopwords" => self.without_stop_words(),
            "minwise" => self.minwise(),
            "raw" => self.counts(CountWeight::Raw),
            "sqrt" => self.counts(CountWeight::Sqrt),
            "log" => self.counts(CountWeight::Log),
            "binary" => self.counts(CountWeight::Binary),
            "idf" => self.rarity(Rarity::Log),
            "inverse" => self.rarity(Rarity::Inverse),
            "front" => self.scaling(PositionWeight::Front),
            "ends" => self.scaling(PositionWeight::Ends),
            "fieldsflip" => self.fields(FieldWeight::Flip),
            other => {
                let digits = other.find(|c: char| c.is_ascii_digit())?;
                let (name, value) = other.split_at_checked(digits)?;
                let number = || value.parse::<u32>().ok();
                let share = || value.parse::<Ratio>().ok();
                match name {
                    "mod" => self.modulo(number()?),
                    "leave" => self.leave_out(share()?),
                    "marked" => self.boost(share()?),
                    "fields" => self.fields(FieldWeight::Share(share()?)),
                    "from" => self.at_least(share()?),
                    "to" => self.at_most(share()?),
                    "top" => self.top(number()?),
                    "cap" => self.cap(number()?),
                    "seed" => self.seed(number()?),
                    "reserved" => self.reserved(number()?),
                    _ => return None,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe::any_recipe;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_describe_all_of_a_recipe() {
        let halves =
            PositionWeight::By { name: "halves", weight: |x, length| (2 * x / length) << 16 };
        let nothing = PositionWeight::By { name: "-/", weight: |_, _| 1 };
        assert_ne!(nothing, PositionWeight::None);
        for (recipe, name) in [
            (Recipe::words(2), "words2-sqrt/2"),
            (Recipe::words(0), "words1-sqrt/2"),
            (Recipe::chars(99), "chars8-sqrt/2"),
            (
                Recipe::words(1).counts(CountWeight::Raw).hash(FeatureHash::Jenkins),
                "words1-jenkins-raw/2",
            ),
            (Recipe::words(1).scaling(halves), "words1-sqrt-by:halves/2"),
            (Recipe::words(1).scaling(nothing), "words1-sqrt-by:/2"),
            (
                Recipe::words(1).fields(FieldWeight::Share(Ratio::percent(50))).reserved(8),
                "words1-sqrt-fields0.5-reserved8/2",
            ),
            (
                Recipe::chars(3).without_numbers().modulo(4).at_least(Ratio::thousandths(15)),
                "chars3-nonumbers-mod4-sqrt-from0.015/2",
            ),
        ] {
            assert_eq!(recipe.name(), name);
        }
        assert_ne!(Recipe::words(2).id(), Recipe::words(3).id());
        assert_eq!(Recipe::words(2).id(), 16_808_548_535_549_914_100);
    }

    #[test]
    fn invalid_names_are_refused_with_the_reason() {
        for (name, why) in [
            ("", "version"),
            ("words2-sqrt", "version"),
            ("words2-sqrt/3", "its version must be 2"),
            ("words2-sqrt/0", "its version must be 2"),
            ("words2-sqrt/01", "its version must be 2"),
            ("words2-sqrt/1", "fingerprints of version 2, words2-sqrt/2"),
            ("words2-jenkins-mod4-sqrt/1", "fingerprints of version 2, words2-jenkins-mod4-sqrt/2"),
            ("words9-sqrt/2", "words8"),
            ("words-sqrt/2", "words1"),
            ("lines2-sqrt/2", "words1"),
            ("words2/2", "this recipe has the name words2-sqrt/2"),
            ("words2-sqrt-jenkins/2", "this recipe has the name words2-jenkins-sqrt/2"),
            ("words2-sqrt-from0.010/2", "from0.01/2"),
            ("words2-sqrt-by:halves/2", "\"by:halves\""),
            ("words2-sqrt-top/2", "\"top\""),
            ("words2-sqrt-é5/2", "\"é5\""),
            ("words2-sqrt-reserved99999999999/2", "reserved"),
            ("words2-sqrt-mod0/2", "this recipe has the name"),
            ("words4-minwise-sqrt/2", "this recipe has the name words4-minwise/2"),
            ("words4-minwise-raw/2", "another weight by counts"),
            ("words4-minwise-idf/2", "a weight by rarity"),
            ("words4-minwise-front/2", "a weight by place"),
            ("words4-minwise-marked1.5/2", "a weight by place or mark"),
            ("words4-minwise-fieldsflip/2", "a field"),
            ("words4-minwise-top20/2", "a choice by weight"),
            ("words4-minwise-to1.5/2", "a choice by weight"),
            ("words4-minwise-leave0/2", "above 0"),
            ("words4-minwise-leave1.001/2", "at most 1"),
            ("words4-sqrt-leave0.2/2", "minwise"),
            ("words0-minwise/2", "words1"),
            ("words65-minwise/2", "words8"),
        ] {
            let error = name.parse::<Recipe>().unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("default"), "{name}: {error}");
        }
    }

    proptest! {
        #[test]
        fn names_of_earlier_versions_keep_their_meaning(recipe in any_recipe()) {
            let name = recipe.name_of_version(1);
            prop_assert_eq!(Recipe::of_any_version(&name), Ok((recipe, 1)));
            prop_assert!(name.parse::<Recipe>().is_err());
        }

        #[test]
        fn every_recipe_round_trips_through_its_name(recipe in any_recipe()) {
            prop_assert_eq!(recipe.name().parse(), Ok(recipe));
        }

        #[test]
        fn no_name_panics(name in "\\PC{0,20}", digits in "words[0-9]{1,3}-[a-z0-9.-]{0,20}/[12]") {
            let _ = name.parse::<Recipe>();
            let _ = digits.parse::<Recipe>();
        }
    }
}
