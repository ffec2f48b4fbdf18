//! What searching costs.
//!
//! `cargo bench --bench search -- [even|biased|copied] FINGERPRINTS [K [MIB [THREADS [ROUNDS]]]]`
//! joins once; without arguments, all sizes are joined. One JSON object a line.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark that meets an error has nothing better to do than stop"
)]

mod pairs;

use pairs::{Data, Figures};

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|given| given != "--bench").collect();
    let mut numbers = given.iter().map(|given| given.replace('_', "").parse::<usize>());
    let data = match given.first().map(String::as_str) {
        Some("biased") => Data::Biased,
        Some("copied") => Data::Copied,
        _ => Data::Even,
    };
    if matches!(given.first().map(String::as_str), Some("even" | "biased" | "copied")) {
        numbers.next();
    }
    let Some(n) = numbers.next() else {
        for (n, mib, rounds) in
            [(730_000, 256, 7), (10_000_000, 256, 5), (100_000_000, 2048, 1), (100_000_000, 256, 1)]
        {
            print(&pairs::run(Data::Even, n, 3, mib << 20, 2, rounds));
        }
        return;
    };
    let mut number = |default| numbers.next().map_or(default, Result::unwrap);
    let k = u32::try_from(number(3)).unwrap();
    print(&pairs::run(data, n.unwrap(), k, number(256) << 20, number(2), number(5)));
}

fn print(figures: &Figures) {
    let numbers: Vec<String> =
        figures.numbers.iter().map(|(name, number)| format!(",\"{name}\":{number}")).collect();
    println!("{{\"bench\":\"{}\"{}}}", figures.name, numbers.concat());
}
