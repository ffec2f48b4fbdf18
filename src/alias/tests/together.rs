//! Tests of two rules at once.

use super::*;

/// Finds the rules of N pages, each known under all URLs of `forms`. The number of a form has the
/// bits in which the fingerprints at its URL differ.
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

/// Pages differ in two ways at once and never in only one way; neither difference matters.
#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn rules_hold_for_pairs_that_differ_twice() {
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
        // The rest of the path or query sorts after the removed parameter or session.
        (
            ["http://a.example/?PHPSESSID=x&id=N", "https://a.example/?id=N"],
            ["scheme", "parameter"],
        ),
        (["http://a.example/(X(1)S(x))/aN", "https://a.example/aN"], ["scheme", "session"]),
        (["http://a.example//b/N/", "http://a.example/b/N"], ["slashes", "slash"]),
        (["https://www.a.example/b//N?", "https://a.example/b//N"], ["www", "empty-query"]),
        (["http://a.example/N/index.html", "http://a.example/N"], ["index", "slash"]),
        (["http://a.example/N/;jsessionid=1", "http://a.example/N"], ["session", "slash"]),
        (["http://a.example/N//", "http://a.example/N"], ["slashes", "slash"]),
        (["http://www.a.example:80/N", "http://a.example/N"], ["www", "port"]),
        (["http://a.example/N", "https://a.example:443/N"], ["scheme", "port"]),
        (["http://127.1/N", "https://127.0.0.1/N"], ["host", "scheme"]),
        (["https://127.1/N", "http://127.0.0.1/N"], ["host", "scheme"]),
        (["http://B\u{dc}CHER.example/N", "https://xn--bcher-kva.example/N"], ["host", "scheme"]),
        (["HTTP://A.example:80/N", "http://a.example/N"], ["host", "port"]),
        // Parameters that distinguish pages do not displace other rules.
        (
            [
                "http://a.example/?a=N&b=1&c=2&d=3&e=4&f=5&utm_source=x",
                "https://a.example/?a=N&b=1&c=2&d=3&e=4&f=5",
            ],
            ["scheme", "parameter"],
        ),
        (
            [
                "http://a.example/Ab?a=N&b=1&c=2&d=3&e=4&f=5&fbclid=x",
                "http://www.a.example/Ab?a=N&b=1&c=2&d=3&e=4&f=5",
            ],
            ["www", "parameter"],
        ),
    ] {
        assert_eq!(found(forms, false), rules, "{forms:?}");
        assert_eq!(found(forms, true), [""; 0], "{forms:?}");
    }
    for (forms, rule) in [
        (["http://a.example/%c3%a9/N", "http://a.example/%C3%A9/N"], "escapes"),
        (["http://a.example/x%2fN", "http://a.example/x%2FN"], "escapes"),
        (["http://a.example/pN;jsessionid=ab", "http://a.example/pN;jsessionid=AB"], "session"),
        (["http://b\u{fc}cher.example/N", "http://xn--bcher-kva.example/N"], "host"),
        (["HTTP://A.example/N", "http://a.example/N"], "host"),
        (["http://a.example/x\\y\\N", "http://a.example/x/y/N"], "host"),
        (["http:\\/a.example/N", "http://a.example/N"], ""),
    ] {
        let expected = if rule.is_empty() { &[][..] } else { &[rule] };
        assert_eq!(found(forms, false), expected, "{forms:?}");
        assert_eq!(found(forms, true), [""; 0], "{forms:?}");
    }
    // A single difference does not count as two differences.
    assert_eq!(found(["http://a.example/N", "https://a.example/N"], false), ["scheme"]);
}

/// A rule whose own pairs are different pages does not count in combination either.
#[test]
fn pairs_against_one_rule_count_against_combinations() {
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

/// A page on which single rules lead to known pages, so that other rules are combined. Each counted
/// pair is found again as an example.
#[test]
fn examples_are_found_where_single_rules_reach_known_pages() {
    let forms = [
        ("http://a.example/About/N#f", 0),
        ("http://a.example/About/N?sid=1&utm_x=2", 0),
        ("http://a.example/About/N?sid=1&utm_x=2#f", 0),
    ];
    let rules = found_in(20, &forms, &AliasQuery::default());
    let kinds: Vec<&str> = rules.iter().map(|rule| rule.rule.kind()).collect();
    assert_eq!(kinds, ["fragment", "parameter", "parameter"]);
    assert!(rules.iter().all(|rule| rule.pairs == 20 && rule.examples.len() == 3));
    // Examples are found in a sample, too.
    let rules = found_in(1_000, &forms, &AliasQuery::default().memory_bytes(0));
    assert_eq!(rules.len(), 3);
    assert!(rules.iter().all(|rule| rule.pairs < 1_000 && rule.examples.len() == 3));
}

/// The first page waits for the bare page; the third page is compared with the bare page.
#[test]
fn examples_use_the_bare_page_that_came_later() {
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

/// Each page has one of two differences, and the page without both is unknown.
#[test]
fn rules_hold_for_differences_on_one_page_each() {
    let base = ["http", "", "/dir/~u", "/pN", "", ""];
    // The text that each difference puts into the scheme, host, folder, name, query or fragment.
    let differences: &[(&str, usize, &str)] = &[
        ("scheme", 0, ""),
        ("www", 1, "www."),
        ("escapes", 2, "/dir/%7Eu"),
        ("session", 3, "/pN;jsessionid=1"),
        ("slashes", 2, "//dir/~u"),
        ("fragment", 5, "#x"),
        ("empty-query", 4, "?"),
        ("parameter", 4, "?utm_source=x"),
        ("slash", 3, "/pN/"),
        ("case", 2, "/Dir/~u"),
    ];
    let with = |(kind, at, text): (&str, usize, &str), other: &str| {
        let mut parts = base;
        parts[at] = text;
        // `https` is preferred: the page without both differences has `https`.
        parts[0] =
            if kind == "scheme" || ![kind, other].contains(&"scheme") { "http" } else { "https" };
        let [scheme, www, folder, name, query, fragment] = parts;
        format!("{scheme}://{www}a.example{folder}{name}{query}{fragment}")
    };
    for (at, one) in differences.iter().enumerate() {
        for other in &differences[at + 1..] {
            let forms = [with(*one, other.0), with(*other, one.0)];
            let [first, second] = &forms;
            for (differs, expected) in [(0, 2), (0xffff, 0)] {
                let forms = [(first.as_str(), 0), (second.as_str(), differs)];
                let rules = found_in(20, &forms, &AliasQuery::default());
                let mut kinds: Vec<&str> = rules.iter().map(|rule| rule.rule.kind()).collect();
                kinds.sort_unstable();
                let mut both = vec![one.0, other.0];
                both.sort_unstable();
                both.truncate(expected);
                assert_eq!(kinds, both, "{forms:?}");
                let is_whole = |rule: &AliasCount| rule.pairs == 20 && rule.examples.len() == 3;
                assert!(rules.iter().all(is_whole), "{rules:?}");
            }
        }
    }
}

/// Some pages have both differences, and other pages have one difference each; all of them support
/// the two rules.
#[test]
fn pairs_with_both_or_single_differences_count_together() {
    let store = store();
    for page in 0..12_u64 {
        let fingerprint = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let forms = match page % 2 {
            0 => ["http://www.a.example/N", "https://a.example/N"],
            _ => ["http://a.example/N", "https://www.a.example/N"],
        };
        for form in forms {
            observe(&store, &form.replace('N', &page.to_string()), Some(fingerprint), 1);
        }
    }
    let (summary, sites) = found(&store, &AliasQuery::default());
    assert_eq!((summary.rules, summary.pairs), (2, 24));
    assert!(sites[0].rules.iter().all(|rule| rule.examples.len() == 3));
    let (summary, _) = found(&store, &AliasQuery::default().pairs(13));
    assert_eq!(summary.rules, 0);
}
