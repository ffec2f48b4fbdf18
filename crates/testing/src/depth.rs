//! How deep the tests go that prove something by number: of states, damages, kills, runs, orders.
//!
//! `SIMKEEP_DEPTH` says it: at depth 1 each of them tries as many as the documentation says, at depth 10
//! ten times as many. Without it they go to a tenth of that, and in builds without optimisation to a
//! twentieth.

/// The depth.
fn depth() -> f64 {
    match std::env::var("SIMKEEP_DEPTH") {
        Ok(depth) => depth.parse().expect("SIMKEEP_DEPTH is a number such as 1 or 0.5"),
        Err(_) if cfg!(debug_assertions) => 0.05,
        Err(_) => 0.1,
    }
}

/// How many are tried of what are `n` at depth 1.
pub fn deep(n: u64) -> u64 {
    ((n as f64 * depth()).ceil() as u64).max(1)
}

/// How many are tried of what are `n` from depth 0.1 on, which is what there is in an optimised build
/// unless another depth is asked for.
pub fn up_to<N: TryInto<u64> + TryFrom<u64>>(n: N) -> N {
    let n: u64 = n.try_into().ok().expect("a number of things is not negative");
    N::try_from(deep(n.saturating_mul(10)).min(n))
        .ok()
        .expect("it is no larger than what was given")
}

/// Of what is tried one after another, and all of it at depth 1: every how many-th is, and each 20th at
/// least.
pub fn every() -> usize {
    ((1.0 / depth()).round() as usize).clamp(1, 20)
}
