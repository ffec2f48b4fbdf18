//! The origin of an epoch's fingerprints, and the name that identifies it.

use std::sync::Arc;

use crate::df::FrequencyTable;
use crate::error::{Error, Result};
use crate::fingerprint::{EXTRACTOR, Fingerprinter, RECIPE_VERSION, Recipe};

/// The origin of an epoch's fingerprints: an extractor, a recipe and a table of document
/// frequencies. The default is the [default recipe](Recipe::DEFAULT), with which a new store
/// begins.
///
/// ```
/// use simkeep::{Origin, fingerprint::Recipe};
/// assert_eq!(Origin::default().name(), "html/3 words2-sqrt/2");
/// let origin = Origin::new(Recipe::DEFAULT).extractor("my-extractor/3")?;
/// assert_eq!(origin.name(), "my-extractor/3 words2-sqrt/2");
/// # Ok::<(), simkeep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Origin {
    extractor: Option<String>,
    recipe: Recipe,
    table: Option<Arc<FrequencyTable>>,
}

/// The parsed name of an epoch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ParsedEpochName<'n> {
    pub(crate) extractor: Option<&'n str>,
    pub(crate) recipe: Recipe,
    /// The version of the recipe. Fingerprints of an earlier version can be compared, but not made.
    version: u32,
    /// The checksum that identifies the table.
    pub(crate) table: Option<u64>,
}

/// The beginning of the part of a name that names the table.
const TABLE: &str = "df:";

impl<'n> ParsedEpochName<'n> {
    /// Parses the name of an epoch; `None` if neither this nor an earlier version of simkeep makes
    /// its fingerprints.
    pub(crate) fn parse(name: &'n str) -> Option<ParsedEpochName<'n>> {
        let mut parts: Vec<&str> = name.split(' ').collect();
        let last = parts.last().and_then(|last| last.strip_prefix(TABLE));
        let table = match last {
            Some(digits) if digits.len() == 16 => Some(u64::from_str_radix(digits, 16).ok()?),
            Some(_) => return None,
            None => None,
        };
        parts.truncate(parts.len() - usize::from(last.is_some()));
        let (extractor, recipe) = match *parts {
            [recipe] => (None, recipe),
            [extractor, recipe] if !extractor.is_empty() => (Some(extractor), recipe),
            _ => return None,
        };
        let (recipe, version) = Recipe::of_any_version(recipe).ok()?;
        let named = ParsedEpochName { extractor, recipe, version, table };
        // Accepts only the spelling that simkeep writes.
        (named.spelled() == name).then_some(named)
    }

    fn spelled(&self) -> String {
        let mut name = String::new();
        if let Some(extractor) = self.extractor {
            name += &format!("{extractor} ");
        }
        name += &self.recipe.name_of_version(self.version);
        if let Some(table) = self.table {
            name += &format!(" {TABLE}{table:016x}");
        }
        name
    }

    /// Whether this version of simkeep makes the fingerprints of the epoch.
    pub(crate) fn is_current_version(&self) -> bool {
        self.version == RECIPE_VERSION
    }

    /// The origin with the name's recipe and extractor, and with `table` as its table.
    pub(crate) fn with(self, table: Option<FrequencyTable>) -> Origin {
        Origin {
            extractor: self.extractor.map(str::to_owned),
            recipe: self.recipe,
            table: table.map(Arc::new),
        }
    }
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::new(Recipe::DEFAULT)
    }
}

impl Origin {
    /// Creates an origin with the recipe `recipe`, for texts extracted by simkeep's own rules,
    /// [`EXTRACTOR`].
    ///
    /// ```
    /// use simkeep::{Origin, fingerprint::Recipe};
    /// assert_eq!(Origin::new(Recipe::words(3)).name(), "html/3 words3-sqrt/2");
    /// ```
    pub fn new(recipe: Recipe) -> Origin {
        Origin { extractor: Some(EXTRACTOR.to_owned()), recipe, table: None }
    }

    /// Sets the extractor, for texts that do not come from simkeep's extractor. `name` is its name
    /// with its version.
    ///
    /// ```
    /// use simkeep::{Origin, fingerprint::Recipe};
    /// # fn main() -> simkeep::Result<()> {
    /// let origin = Origin::new(Recipe::DEFAULT).extractor("readability/2")?;
    /// assert_eq!(origin.name(), "readability/2 words2-sqrt/2");
    /// assert!(Origin::default().extractor("my extractor").is_err()); // a space
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a name that is empty or has spaces.
    pub fn extractor(mut self, name: &str) -> Result<Origin> {
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(Error::invalid_argument(
                "the name of an extractor must not be empty or contain spaces",
            ));
        }
        self.extractor = Some(name.to_owned());
        Ok(self)
    }

    /// Adds the table of document frequencies, for a recipe that uses one.
    ///
    /// ```
    /// use simkeep::Origin;
    /// use simkeep::df::FrequencyCounter;
    /// use simkeep::fingerprint::Recipe;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crawl.df");
    /// let recipe: Recipe = "words-idf".parse().unwrap();
    /// let mut counter = FrequencyCounter::new(&recipe, &path, 1 << 20)?;
    /// for text in ["the red house", "the green house", "the blue car"] {
    ///     counter.add(text)?;
    /// }
    /// let origin = Origin::new(recipe).table(counter.freeze(1)?)?;
    /// assert_ne!(origin.fingerprinter()?.of_text("the red car")?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the recipe uses no table, or has other features than the table.
    pub fn table(mut self, table: impl Into<Arc<FrequencyTable>>) -> Result<Origin> {
        let table = table.into();
        if !self.recipe.needs_frequencies() {
            let what = format!("the recipe {} uses no table of document frequencies", self.recipe);
            return Err(Error::InvalidArgument(what));
        }
        Fingerprinter::with_frequencies(&self.recipe, &*table)?;
        self.table = Some(table);
        Ok(self)
    }

    /// The name of the epoch: the extractor, the recipe, and the checksum of the table.
    ///
    /// ```
    /// # use simkeep::{Options, Store};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// // The name of the first epoch of a store.
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.epochs()[0].name, simkeep::Origin::default().name());
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> String {
        let table = self.table.as_ref().map(|table| table.id());
        let extractor = self.extractor.as_deref();
        ParsedEpochName { extractor, recipe: self.recipe, version: RECIPE_VERSION, table }.spelled()
    }

    /// Whether an epoch with the name `name` has fingerprints of one of simkeep's own recipes, in
    /// this or an earlier version. Fingerprints of an earlier version are no longer made:
    /// `Origin::of` reports such an epoch as an error.
    ///
    /// ```
    /// assert!(simkeep::Origin::is_name("my-extractor/3 words2-sqrt/2"));
    /// assert!(simkeep::Origin::is_name("my-extractor/3 words2-sqrt/1"));
    /// assert!(!simkeep::Origin::is_name("my-fingerprints/3"));
    /// ```
    pub fn is_name(name: &str) -> bool {
        ParsedEpochName::parse(name).is_some()
    }

    /// The name of the extractor. `None` if the epoch's name has no extractor.
    ///
    /// ```
    /// use simkeep::{Origin, fingerprint::EXTRACTOR};
    /// let origin = Origin::default();
    /// assert_eq!(origin.extracted_by(), Some(EXTRACTOR));
    /// assert_eq!(origin.extractor("mine/3")?.extracted_by(), Some("mine/3"));
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn extracted_by(&self) -> Option<&str> {
        self.extractor.as_deref()
    }

    /// The recipe.
    ///
    /// ```
    /// use simkeep::{Origin, fingerprint::Recipe};
    /// assert_eq!(*Origin::default().recipe(), Recipe::DEFAULT);
    /// ```
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The table of document frequencies; `None` if there is no table.
    pub fn frequencies(&self) -> Option<&FrequencyTable> {
        self.table.as_deref()
    }

    /// Creates a fingerprinter for the epoch.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Origin, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let snapshot = store.snapshot();
    /// let epoch = snapshot.change_epoch();
    /// let origin = Origin::of(&snapshot, epoch)?.unwrap();
    /// let mut fingerprinter = origin.fingerprinter()?; // for all pages of the crawl
    /// let text = "The quick brown fox jumps over the lazy dog, and runs away";
    /// let fingerprint = fingerprinter.of_text(text)?;
    /// store.observe(Observation::content("https://example.com/", Time::now(), fingerprint, epoch))?;
    /// # assert_eq!(store.snapshot().near(fingerprint, 0)?.near.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if the recipe needs a table and has none.
    pub fn fingerprinter(&self) -> Result<Fingerprinter<'_>> {
        match &self.table {
            Some(table) => Ok(Fingerprinter::with_frequencies(&self.recipe, &**table)?),
            None => Ok(Fingerprinter::new(&self.recipe)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_round_trips_through_its_name() {
        let table = "words1-sqrt-idf/2 df:00000000000000ff";
        for name in ["words2-sqrt/2", "html/1 words2-sqrt/2", table, &format!("x {table}")] {
            let named = ParsedEpochName::parse(name).unwrap();
            assert!(named.spelled() == name && named.is_current_version());
            let name = name.replace("/2", "/1");
            let earlier = ParsedEpochName::parse(&name).unwrap();
            assert!(earlier.spelled() == name && !earlier.is_current_version());
            assert_eq!((earlier.recipe, earlier.table), (named.recipe, named.table));
        }
        let named = ParsedEpochName::parse("x words1-sqrt-idf/2 df:00000000000000ff").unwrap();
        assert_eq!((named.extractor, named.table), (Some("x"), Some(255)));
        for name in [
            "",
            " ",
            "external",
            "default",
            "words2-sqrt/3",
            " words2-sqrt/2",
            "words2-sqrt/2 ",
            "a b words2-sqrt/2",
            "words2-sqrt/2 df:ff",
            "words2-sqrt/2 df:00000000000000FF",
            "df:00000000000000ff",
        ] {
            assert_eq!(ParsedEpochName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn invalid_origins_are_refused() {
        Origin::new(Recipe::DEFAULT).extractor("").unwrap_err();
        Origin::new(Recipe::DEFAULT).extractor("two words").unwrap_err();
        let idf: Recipe = "words-idf".parse().unwrap();
        Origin::new(idf).fingerprinter().unwrap_err();
    }
}
