//! What decides which pages are visited next, beside what their histories say.

mod rule;
mod rules;

pub use rule::Rule;
pub use rules::{Rules, RulesError};
