//! Round numbers along an axis.

/// Round numbers from 0 to at least `most`, at equal distances. `most` is positive.
pub(super) fn round(most: f64) -> Vec<f64> {
    /// The number of steps that is easy to read in a small figure.
    const STEPS: f64 = 4.0;
    let rough = most / STEPS;
    let power = 10_f64.powf(rough.log10().floor());
    let factor =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough * 0.999);
    let step = factor.unwrap_or(10.0) * power;
    let count = (most / step - 1e-9).ceil().max(1.0);
    (0..=10).map(f64::from).take_while(|n| *n <= count).map(|n| n * step).collect()
}

/// Whole round numbers from 0 to at least `most`.
pub(super) fn whole(most: f64) -> Vec<f64> {
    match most {
        most if most <= 1.0 => vec![0.0, 1.0],
        most if most <= 2.0 => vec![0.0, 1.0, 2.0],
        most => round(most).into_iter().filter(|n| n.fract() == 0.0).collect(),
    }
}

/// The powers of ten from 1 to at least `most`.
pub(super) fn powers(most: f64) -> Vec<f64> {
    let last = most.max(1.0).log10().ceil().max(1.0);
    (0..=20).map(f64::from).take_while(|power| *power <= last).map(|p| 10_f64.powf(p)).collect()
}

/// A number as an axis label: at most three decimals, with a unit for thousands and more.
pub(super) fn short(number: f64) -> String {
    let (value, unit) = match number {
        n if n >= 1e9 => (n / 1e9, " G"),
        n if n >= 1e6 => (n / 1e6, " M"),
        n if n >= 1e4 => (n / 1e3, " k"),
        n => (n, ""),
    };
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_maximum() {
        assert_eq!(round(1.0), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(round(878.0), [0.0, 250.0, 500.0, 750.0, 1000.0]);
        assert_eq!(round(7.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        for most in [1e-9, 0.3, 1.0, 2.9999, 3.0, 64.0, 1e6 + 1.0, 3e18] {
            let ticks = round(most);
            assert!(ticks.last().is_some_and(|last| *last >= most * 0.999_999), "{most} {ticks:?}");
            assert!((2..=6).contains(&ticks.len()), "{most} {ticks:?}");
        }
        for most in (1..2000).map(f64::from) {
            let ticks = whole(most);
            assert!(ticks.last().is_some_and(|last| *last >= most), "{most} {ticks:?}");
            assert!(ticks.len() >= 2 && ticks.iter().all(|tick| tick.fract() == 0.0));
        }
        assert_eq!(powers(878.0), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(powers(0.0), [1.0, 10.0]);
    }

    #[test]
    fn tick_labels_are_short() {
        let shown = [0.0, 0.25, 250.0, 9999.0, 12_500.0, 2e6, 3.5e9].map(short);
        assert_eq!(shown, ["0", "0.25", "250", "9999", "12.5 k", "2 M", "3.5 G"]);
    }
}
