//! The depth of exhaustive tests: how many states, damages, kills, runs and orders they try.
//!
//! `SIMKEEP_DEPTH` sets it. At depth 1 a test tries the documented number of cases, at depth 10 ten
//! times as many. The default is 0.1, and 0.05 in builds without optimisation.

/// The depth.
fn depth() -> f64 {
    match std::env::var("SIMKEEP_DEPTH") {
        Ok(depth) => depth.parse().expect("SIMKEEP_DEPTH is a number such as 1 or 0.5"),
        Err(_) if cfg!(debug_assertions) => 0.05,
        Err(_) => 0.1,
    }
}

/// The number of cases to try if there are `n` at depth 1.
pub fn deep(n: u64) -> u64 {
    ((n as f64 * depth()).ceil() as u64).max(1)
}

/// The number of cases to try: `n` at depth 0.1 and above, and proportionally fewer below. An optimised
/// build has depth 0.1 by default.
pub fn up_to<N: TryInto<u64> + TryFrom<u64>>(n: N) -> N {
    let n: u64 = n.try_into().ok().expect("a number of things is not negative");
    N::try_from(deep(n.saturating_mul(10)).min(n))
        .ok()
        .expect("it is no larger than what was given")
}

/// The step through a list of cases: 1 at depth 1, and at most 20 at lower depths.
pub fn every() -> usize {
    ((1.0 / depth()).round() as usize).clamp(1, 20)
}
