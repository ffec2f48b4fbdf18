//! Beliefs about the novelty of unvisited pages, compared with known figures.

use proptest::prelude::*;
use simkeep::recrawl::{FirstVisits, Novelty, RecrawlError, novelty_draw};

use super::assert_six;

fn pages(visited: u64, novel: u64) -> FirstVisits {
    FirstVisits::new(visited, novel).unwrap()
}

/// A belief with a mean, which a level of a host has above it.
fn with_mean(mean: f64) -> Novelty {
    let all = 1_000_000_000_000;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the sum")]
    let novel = (mean * all as f64) as u64;
    Novelty::of_all(pages(all, novel)).of_shape(pages(all, novel))
}

#[test]
fn beliefs_match_known_values() {
    for ((visited, novel, above, draw), (mean, drawn)) in [
        ((0, 0, 0.5, 0.5), (0.5, 0.5)),
        ((10, 0, 0.5, 0.9995), (0.272727, 0.578300)),
        ((100, 1, 0.3, 0.999995), (0.041071, 0.123536)),
        ((50, 40, 0.6, 0.9875), (0.761290, 0.881672)),
        ((3, 3, 0.2, 0.95), (0.36, 0.557382)),
    ] {
        let belief = with_mean(above).of_host(pages(visited, novel));
        assert_six(belief.mean(), mean);
        assert_six(belief.drawn(draw).unwrap(), drawn);
    }
}

#[test]
fn unknown_patterns_have_the_mean_of_the_level_above() {
    let all = Novelty::of_all(pages(1_000, 700));
    assert_six(all.mean(), 701.0 / 1_002.0);
    assert_six(Novelty::of_all(FirstVisits::default()).mean(), 0.5);
    // Where hardly any page is novel, unknown patterns are still explored.
    assert_six(Novelty::of_all(pages(1_000, 0)).mean(), 0.3);
    let similar = all.of_shape(pages(2, 0));
    assert_six(similar.mean(), 2.0 * all.mean() / 4.0);
    assert_six(similar.of_host(FirstVisits::default()).mean(), similar.mean());
}

#[test]
fn invalid_numbers_are_named() {
    let named = |error: Option<RecrawlError>, expected: &str| match error {
        Some(RecrawlError::Value { name, .. }) => assert_eq!(name, expected),
        other => panic!("{other:?}"),
    };
    named(FirstVisits::new(1, 2).err(), "novel");
    for bad in [0.0, 1.0, -1.0, f64::NAN] {
        named(Novelty::of_all(FirstVisits::default()).drawn(bad).err(), "draw");
    }
}

#[test]
fn draws_are_uniform_and_new_after_256_pages() {
    let draws = |round: u64| (0..10_000u64).map(move |hash| novelty_draw(hash, round * 256));
    for round in 0..3 {
        let mean = draws(round).sum::<f64>() / 1e4;
        let square = draws(round).map(|draw| (draw - mean).powi(2)).sum::<f64>() / 1e4;
        assert!(
            (mean - 0.5).abs() < 0.02 && (square - 1.0 / 12.0).abs() < 0.005,
            "{mean} {square}"
        );
    }
    // Draws of one URL in two rounds are independent of each other.
    let product: f64 = draws(0).zip(draws(1)).map(|(a, b)| (a - 0.5) * (b - 0.5)).sum();
    assert!((product / 1e4).abs() < 0.005, "{product}");
    assert!(draws(0).all(|draw| draw > 0.0 && draw < 1.0));
    assert_eq!(novelty_draw(u64::MAX, u64::MAX), novelty_draw(u64::MAX, u64::MAX - 255));
}

/// The probability that a normal variable is below `z`, summed in thin slices.
fn normal(z: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let width = (z + 9.0) / 100_000.0;
    (0..100_000).map(|slice| density(-9.0 + (f64::from(slice) + 0.5) * width)).sum::<f64>() * width
}

proptest! {
    #[test]
    fn drawn_probability_is_a_quantile(
        visited in 0u64..1_000, share in 0.05..0.95f64, draw in 0.001..0.999f64,
    ) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the sum")]
        let novel = (visited as f64 * share) as u64;
        let belief = Novelty::of_all(pages(visited, novel));
        let (mean, found) = (belief.mean(), belief.drawn(draw).unwrap());
        prop_assert!((0.0..=1.0).contains(&found));
        let deviation = (mean * (1.0 - mean) / 3.0).sqrt(); // of two pages
        if found > 0.0 && found < 1.0 {
            let below = normal((found - mean) / deviation);
            prop_assert!((below - draw).abs() < 1e-6, "{below} {draw}");
        }
    }

    #[test]
    fn mean_follows_the_evidence(visited in 1u64..100, novel in 0u64..100) {
        let above = Novelty::of_all(pages(10, 5));
        let belief = above.of_host(pages(visited, novel.min(visited)));
        let naive = (novel.min(visited) as f64 + 12.0 * above.mean()) / (visited as f64 + 12.0);
        prop_assert!((belief.mean() - naive).abs() < 1e-12);
    }
}
