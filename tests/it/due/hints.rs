//! Compares the hints of a page with a loop over all hints.

use proptest::prelude::*;
use simkeep::disk::SimDisk;
use simkeep::due::Hints;
use simkeep::recrawl::hinted;
use simkeep::{Error, TimeError, URL_BYTES_MAX};
use simkeep_testing::{TIME_MAX, TIME_MIN, create, ms, small};

/// Times near each other, and the limits of time.
fn times() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -3000i64..3000,
        1 => prop::sample::select(vec![TIME_MIN, TIME_MIN + 999, TIME_MIN + 1000, TIME_MAX - 1000, TIME_MAX]),
    ]
}

/// The first change of the page after its last visit, in whole seconds.
fn changed_after(changes: &[(String, i64)], url: &str, last: i64, now: i64) -> Option<i64> {
    let seconds = |time: i64| time.div_euclid(1000);
    let of_page = changes.iter().filter(|(page, _)| page == url).map(|(_, time)| seconds(*time));
    let known = of_page.filter(|time| *time > seconds(last) && *time <= seconds(now));
    known.min().map(|time| time * 1000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn page_is_stale_since_its_first_change_after_the_visit(
        changes in prop::collection::vec(("https://[a-z]/", times()), 0..200),
        asked in prop::collection::vec(("https://[a-z]/", times(), times()), 1..50),
    ) {
        let store = create(&SimDisk::new(), small());
        let hints = Hints::of(&store.snapshot(), changes.iter().map(|(url, time)| (url, ms(*time)))).unwrap();
        for (url, last, now) in asked {
            let expected = changed_after(&changes, &url, last, now);
            prop_assert_eq!(hints.changed_after(&url, ms(last), ms(now)), expected.map(ms), "{} {} {}", url, last, now);
            let after = |changed: i64| changed / 1000 - last.div_euclid(1000);
            let days = expected.map_or(0, after) as f64 / 86_400.0;
            prop_assert_eq!(
                hints.worth(&url, 2.0, ms(last), ms(now), 7.0).unwrap(),
                hinted(0.8, 2.0, days, 7.0).unwrap()
            );
        }
    }
}

#[test]
fn hints_after_now_or_before_the_last_visit_are_ignored() {
    let store = create(&SimDisk::new(), small());
    let (url, day) = ("https://example.com/", 86_400_000);
    let far = 32_503_593_600_000; // in 2999
    let hints = Hints::of(&store.snapshot(), [(url, ms(5 * day)), (url, ms(far))]).unwrap();
    let worth = |last, now| hints.worth(url, 1.0, ms(last), ms(now), 3.0).unwrap();
    assert_eq!(worth(5 * day, 6 * day), 3.0);
    assert_eq!(worth(4 * day, 5 * day), hinted(0.8, 1.0, 1.0, 3.0).unwrap());
    assert_eq!(worth(4 * day, 5 * day - 1), 3.0);
    // A clock that went back, and impossible times.
    assert_eq!(worth(6 * day, 4 * day), 3.0);
    assert_eq!(worth(i64::MAX, i64::MIN), 3.0);
    let first_days = (5 * day - TIME_MIN) as f64 / day as f64;
    assert_eq!(worth(i64::MIN, i64::MAX), hinted(0.8, 1.0, first_days, 3.0).unwrap());
    assert_eq!(hints.changed_after(url, ms(i64::MIN), ms(i64::MAX)), Some(ms(5 * day)));
    assert_eq!(hints.changed_after("not a page", ms(0), ms(far)), None);
}

#[test]
fn trust_outside_0_to_1_is_refused() {
    let store = create(&SimDisk::new(), small());
    let hints = Hints::of(&store.snapshot(), [("https://example.com/", ms(0))]).unwrap();
    for trust in [0.0, 0.5, 1.0] {
        hints.clone().trust(trust).unwrap();
    }
    for trust in [-0.1, 1.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = hints.clone().trust(trust).unwrap_err();
        assert_eq!(error.to_string(), "trust must be from 0 to 1");
    }
}

#[test]
fn hint_with_invalid_url_or_time_is_refused() {
    let store = create(&SimDisk::new(), small());
    let hint = |url: &str, time| Hints::of(&store.snapshot(), [("x:", ms(0)), (url, ms(time))]);
    assert!(matches!(hint("", 0), Err(Error::Url(_))));
    assert!(matches!(hint("x:\n", 0), Err(Error::Url(_))));
    assert!(matches!(hint(&"x".repeat(URL_BYTES_MAX + 1), 0), Err(Error::Url(_))));
    assert!(matches!(hint("x:", TIME_MIN - 1), Err(Error::Time(TimeError::OutOfRange(_)))));
    assert!(matches!(hint("x:", TIME_MAX + 1), Err(Error::Time(TimeError::OutOfRange(_)))));
    assert!(hint("x:", TIME_MAX).is_ok());
}
