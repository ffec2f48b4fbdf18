//! A recipe that was named on the command line.

use std::str::FromStr;

use simkeep::fingerprint::{Recipe, RecipeError};

/// A recipe, and what it was called.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) name: String,
    pub(crate) recipe: Recipe,
}

impl FromStr for Called {
    type Err = RecipeError;

    fn from_str(name: &str) -> Result<Called, RecipeError> {
        Ok(Called { name: name.to_owned(), recipe: name.parse()? })
    }
}
