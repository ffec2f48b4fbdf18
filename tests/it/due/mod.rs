//! Which pages are visited next, found by looking at all of them and in every rule.

mod figures;
mod hints;
mod lease;
mod near;
mod order;
mod plan;
mod ruled;
mod rules;
