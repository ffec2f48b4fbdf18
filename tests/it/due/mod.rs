//! Which pages are visited next, compared with looking at all of them.

mod canonical;
mod figures;
mod hints;
mod lease;
mod near;
mod order;
mod plan;
mod ruled;
mod rules;
