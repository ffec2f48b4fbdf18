//! What decides which pages are visited next, beside what their histories say.

mod hints;
mod rule;
mod rules;

pub use hints::Hints;
pub use rule::Rule;
pub use rules::{Rules, RulesError};
