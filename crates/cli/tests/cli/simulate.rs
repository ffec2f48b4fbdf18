//! Simulated crawls, at random and of a store.

use serde_json::json;

use super::TestFolder;

/// A day of 2024, and a fingerprint.
fn line(page: &str, day: u32, fingerprint: u64) -> String {
    let day = 1_704_067_200 + i64::from(day) * 86_400;
    json!({
        "url": format!("https://example.com/{page}"),
        "t": day,
        "fingerprint": format!("{fingerprint:016x}"),
        "epoch": "e",
    })
    .to_string()
        + "\n"
}

/// Twenty pages that never change and five that change every day, for 60 days.
fn crawl() -> String {
    let mut lines = String::new();
    for day in 0..60 {
        (0..20).for_each(|page| lines += &line(&format!("old/{page}"), day, page));
        for page in 0..5_u64 {
            let other = (u64::from(day) * 5 + page).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            lines += &line(&format!("new/{page}"), day, other);
        }
    }
    lines
}

#[test]
fn pages_of_a_store_are_crawled_again() {
    let place = TestFolder::with(&crawl());
    let args = ["simulate", "--every", "5d", "--policy", "value", "--policy", "uniform", "--json"];
    let objects = super::objects(&place.done(&args));
    let fresh = |at: usize| objects[at]["fresh"]["mean"].as_f64().unwrap();
    assert_eq!((objects.len(), &objects[0]["policy"]), (2, &json!("value")));
    assert_eq!((&objects[0]["pages"], &objects[0]["visits_per_day"]), (&json!(25), &json!(5.0)));
    // Twenty pages are always fresh, and the others hardly ever, with any policy.
    assert!(fresh(0) >= 0.8 && fresh(1) >= 0.8 && fresh(0) < 0.99, "{objects:?}");
    assert!(objects[1]["fresher"]["mean"].as_f64().is_some());
    // The same again, in words.
    let text = place.with_header(&["simulate", "--per-day", "5", "--policy", "value"]);
    assert!(
        text.contains("25 pages, 5.0000 visits a day: one visit to each page in 5.000 days"),
        "{text}"
    );
    assert!(text.contains("2024-01-01T00:00:00Z to 2024-02-29T00:00:00Z"), "{text}");
    assert!(text.contains("Changes between two visits are unknown."), "{text}");
    assert!(!text.contains("best at"), "{text}");
    let sample = place.with_header(&["simulate", "--max-pages", "10", "--policy", "uniform"]);
    assert!(sample.contains("The simulation crawls 10 of the pages"), "{sample}");
}

#[test]
fn seed_determines_the_simulated_pages() {
    let place = TestFolder::new();
    let args =
        ["simulate", "--random", "by-host", "--days", "60", "--seeds", "2", "--every", "14d"];
    let text = place.done(&args);
    assert_eq!(place.done(&args), text);
    assert_ne!(place.done(&[&args[..], &["--seed", "2"]].concat()), text);
    for name in
        ["value", "harmonic", "nutch:0.4,0.2,0.3", "crawl-value, true rate", "best at fixed"]
    {
        assert!(text.contains(&format!("\n{name}")), "{text}");
    }
    let widths: Vec<usize> = text.lines().map(str::len).collect();
    assert!(widths.iter().all(|width| *width <= 100), "{text}");
    let json = super::objects(&place.done(&[&args[..], &["--json"]].concat()));
    assert_eq!(json.last().unwrap()["optimum"], "few_misses");
    assert!(json[0]["fresh"]["error"].is_f64() && json[0]["crawls"] == 2, "{}", json[0]);
}

#[test]
fn each_kind_of_random_pages_can_be_crawled() {
    let place = TestFolder::new();
    for kind in ["settle", "switch", "burst", "weekdays", "host-at-once"] {
        let args = ["simulate", "--random", kind, "--days", "60", "--seeds", "1", "--every", "14d"];
        let text = place.done(&[&args[..], &["--policy", "value"]].concat());
        assert!(text.starts_with("value"), "{text}");
        // Without constant rates nothing is known of the optimum.
        assert!(!text.contains("best at"), "{text}");
        let forced =
            place.done(&[&args[..], &["--max-interval", "1d", "--policy", "value"]].concat());
        assert_ne!(text, forced);
    }
}

#[test]
fn freshness_is_plotted_by_the_number_of_visits() {
    let place = TestFolder::new();
    let file = place.file("freshness.svg");
    let args = ["simulate", "--random", "by-host", "--days", "30", "--seeds", "1", "--plot"];
    let policies = ["--policy", "value", "--policy", "uniform"];
    place.done(&[&args[..], &[&file], &policies].concat());
    let svg = std::fs::read_to_string(&file).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<polyline").count(), 3);
    assert!(svg.contains("best at fixed intervals"), "{svg}");
    let ran = place.run(&[&args[..], &[&place.file("")], &policies].concat());
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert!(ran.err.contains("cannot write"), "{}", ran.err);
}

#[test]
fn invalid_simulations_are_refused() {
    let place = TestFolder::with(&line("a", 0, 1));
    let ran = place.run(&["simulate"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("too few"), "{}", ran.err);
    for (args, why) in [
        (["--policy", "weekly"], "stormcrawler"),
        (["--every", "soon"], "write a whole number and a unit"),
        (["--per-day", "0"], "from 0.000001"),
        (["--per-day", "NaN"], "from 0.000001"),
        (["--random", "even"], "by-host"),
    ] {
        let ran = place.run(&[&["simulate"][..], &args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    let place = TestFolder::with(&crawl());
    for (args, why) in [(["--warm-up", "60d"], "from"), (["--returns", "2"], "return_share")] {
        let ran = place.run(&[&["simulate"][..], &args].concat());
        assert_ne!(ran.code, 0);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
}
