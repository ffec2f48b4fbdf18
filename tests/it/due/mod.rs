//! Which pages are visited next, compared with looking at all of them.

mod figures;
mod hints;
mod lease;
mod near;
mod order;
mod plan;
mod ruled;
mod rules;
