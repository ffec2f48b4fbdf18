//! A recipe that the command line names.

use std::str::FromStr;

use simkeep::fingerprint::{Recipe, RecipeError};

/// A recipe, and the name that the user typed.
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
