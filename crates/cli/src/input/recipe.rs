//! A recipe that the command line names.

use std::str::FromStr;

use simkeep::fingerprint::{Recipe, RecipeError};

/// A recipe, and the name that the user typed.
#[derive(Clone, Debug)]
pub(crate) struct NamedRecipe {
    pub(crate) name: String,
    pub(crate) recipe: Recipe,
}

impl FromStr for NamedRecipe {
    type Err = RecipeError;

    fn from_str(name: &str) -> Result<NamedRecipe, RecipeError> {
        Ok(NamedRecipe { name: name.to_owned(), recipe: name.parse()? })
    }
}
