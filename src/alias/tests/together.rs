//! Two rules at once.

use super::*;

/// Finds the rules of N pages, each known under all URLs, which have the bits that their fingerprints
/// differ in.
fn found_in(pages: u64, forms: &[(&str, u64)], asked: &AliasQuery) -> Vec<AliasCount> {
    let store = store();
    for page in 0..pages {
        let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (form, differs) in forms {
            observe(&store, &form.replace('N', &page.to_string()), Some(fingerprint ^ differs), 1);
        }
    }
    found(&store, asked).1.into_iter().flat_map(|site| site.rules).collect()
}

/// Pages that differ in two things at once, of which neither makes a difference, and none in one.
#[test]
fn rules_hold_that_make_no_difference_two_at_once() {
    let found = |forms: [&str; 2], far: bool| -> Vec<String> {
        let store = store();
        for page in 0..20_u64 {
            let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for (at, form) in (0..).zip(forms) {
                let of_page = if far { fingerprint ^ (0xffff * at) } else { fingerprint };
                observe(&store, &form.replace('N', &page.to_string()), Some(of_page), 1);
            }
        }
        let (_, sites) = found(&store, &AliasQuery::default());
        assert!(sites.iter().flat_map(|site| &site.rules).all(|rule| rule.pairs == 20
            && rule.examples.len() == 3
            && rule.exceptions.is_empty()));
        let rules = sites.iter().flat_map(|site| &site.rules);
        rules.map(|count| count.rule.kind().to_owned()).collect()
    };
    for (forms, rules) in [
        (["http://www.a.example/N", "https://a.example/N"], ["scheme", "www"]),
        (["http://a.example/N", "https://www.a.example/N"], ["scheme", "www"]),
        (["http://a.example/N/?utm_source=x", "http://a.example/N"], ["parameter", "slash"]),
        (["http://a.example/N?sid=1&utm_x=2", "http://a.example/N"], ["parameter", "parameter"]),
        (["http://a.example/N/;jsessionid=1", "https://a.example/N/"], ["scheme", "session"]),
        (["http://a.example/pN/index.html", "https://a.example/pN/"], ["scheme", "index"]),
        (["http://a.example/%7EN#x", "http://a.example/~N"], ["escapes", "fragment"]),
        (["http://a.example/About/N", "https://a.example/about/N"], ["scheme", "case"]),
        // What is left sorts behind the parameter, or the session, that is removed.
        (
            ["http://a.example/?PHPSESSID=x&id=N", "https://a.example/?id=N"],
            ["scheme", "parameter"],
        ),
        (["http://a.example/(X(1)S(x))/aN", "https://a.example/aN"], ["scheme", "session"]),
        (["http://a.example//b/N/", "http://a.example/b/N"], ["slashes", "slash"]),
        (["https://www.a.example/b//N?", "https://a.example/b//N"], ["www", "empty-query"]),
    ] {
        assert_eq!(found(forms, false), rules, "{forms:?}");
        assert_eq!(found(forms, true), [""; 0], "{forms:?}");
    }
    // One difference by itself says nothing of two.
    assert_eq!(found(["http://a.example/N", "https://a.example/N"], false), ["scheme"]);
}

/// A rule of which its own pairs are different pages is not believed with another one either.
#[test]
fn pages_that_differ_by_one_rule_speak_against_it_with_another() {
    let store = store();
    for page in 0..20_u64 {
        let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (form, of_page) in [
            ("http://a.example/N?q=1", fingerprint),
            ("https://a.example/N", fingerprint),
            ("http://a.example/n/N?q=1", !fingerprint),
            ("http://a.example/n/N", fingerprint),
        ] {
            observe(&store, &form.replace('N', &page.to_string()), Some(of_page), 1);
        }
    }
    let (_, sites) = found(&store, &AliasQuery::default());
    assert_eq!(sites, []);
}

/// A page of which rules lead to known pages: other rules are combined then. Each pair that was counted
/// comes again.
#[test]
fn examples_are_found_where_single_rules_lead_to_known_pages() {
    let forms = [
        ("http://a.example/About/N#f", 0),
        ("http://a.example/About/N?sid=1&utm_x=2", 0),
        ("http://a.example/About/N?sid=1&utm_x=2#f", 0),
    ];
    let rules = found_in(20, &forms, &AliasQuery::default());
    let kinds: Vec<&str> = rules.iter().map(|rule| rule.rule.kind()).collect();
    assert_eq!(kinds, ["fragment", "parameter", "parameter"]);
    assert!(rules.iter().all(|rule| rule.pairs == 20 && rule.examples.len() == 3));
    // In a sample, too.
    let rules = found_in(1_000, &forms, &AliasQuery::default().memory_bytes(0));
    assert_eq!(rules.len(), 3);
    assert!(rules.iter().all(|rule| rule.pairs < 1_000 && rule.examples.len() == 3));
}

/// The first page waits for the bare one; the third one is compared with that.
#[test]
fn examples_follow_the_bare_page_that_came_after_a_waiting_one() {
    for (waiting, later) in [(0xffff, 0), (0, 0xffff)] {
        let forms = [
            ("http://a.example/?A=1&b=N", waiting),
            ("https://a.example/?b=N", 0),
            ("http://a.example/?b=N&A=1", later),
        ];
        let rules = found_in(20, &forms, &AliasQuery::default().share(0.5));
        let kinds: Vec<&str> = rules.iter().map(|rule| rule.rule.kind()).collect();
        assert_eq!(kinds, ["scheme", "parameter"]);
        for rule in rules {
            assert_eq!((rule.pairs, rule.near), (40, 20));
            assert_eq!((rule.examples.len(), rule.exceptions.len()), (3, 3));
        }
    }
}
