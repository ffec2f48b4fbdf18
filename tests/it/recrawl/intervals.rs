//! Intervals between visits in text form. The tests of policies cover their use in policies.

use simkeep::recrawl::Interval;

#[test]
fn interval_is_limited_to_a_second_and_four_million_days() {
    assert!(Interval::from_seconds(0).is_err());
    let longest = 4_000_000 * 86_400;
    assert_eq!(Interval::from_seconds(longest).unwrap(), "4000000d".parse().unwrap());
    assert!(Interval::from_seconds(longest + 1).is_err());
    assert_eq!("36h".parse::<Interval>().unwrap().days(), 1.5);
    let said = "0h".parse::<Interval>().unwrap_err().to_string();
    assert!(said.contains("\"0h\" is not an interval") && said.contains("90m"), "{said}");
}
