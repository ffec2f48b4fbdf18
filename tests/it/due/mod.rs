//! What decides which pages are visited next, beside looking for it in every rule.

mod hints;
mod rules;
