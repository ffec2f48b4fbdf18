use proptest::prelude::*;

use super::*;

fn rules() -> Vec<AliasRule> {
    let kinds = [
        ("host", None),
        ("port", None),
        ("escapes", None),
        ("session", None),
        ("slashes", None),
        ("empty-query", None),
        ("scheme", Some("https")),
        ("scheme", Some("http")),
        ("www", Some("without")),
        ("www", Some("with")),
        ("fragment", None),
        ("parameter", Some("sid")),
        ("parameter", Some("utm_*")),
        ("order", None),
        ("index", Some("index.html")),
        ("slash", Some("without")),
        ("slash", Some("with")),
        ("case", None),
    ];
    kinds.iter().map(|(kind, value)| AliasRule::new(kind, *value).unwrap()).collect()
}

/// A kind, a value, a URL, and the URL that the rule makes of it.
type RuleCase<'c> = (&'c str, Option<&'c str>, &'c str, Option<&'c str>);

fn check(cases: &[RuleCase<'_>]) {
    for (kind, value, url, expected) in cases {
        let rule = AliasRule::new(kind, *value).unwrap();
        assert_eq!(rule.apply(url).as_deref(), *expected, "{rule} of {url}");
    }
}

#[test]
fn rules_rewrite_hosts_ports_and_spellings() {
    check(&[
        ("host", None, "http://B\u{dc}cher.example/é", Some("http://xn--bcher-kva.example/é")),
        ("host", None, "https://u@a\u{3002}b:8/c", Some("https://u@a.b:8/c")),
        ("host", None, "http://0x7f.1/c", Some("http://127.0.0.1/c")),
        ("host", None, "http://[0:0::1]/", Some("http://[::1]/")),
        ("host", None, "http://a.b\\c/d", Some("http://a.b/c/d")),
        ("host", None, "http://%61.b/", Some("http://a.b/")),
        ("host", None, "http://b\u{fc}cher.example/", Some("http://xn--bcher-kva.example/")),
        ("host", None, "http://A.b./", Some("http://a.b./")),
        ("host", None, "HTTP://a.b:80", Some("http://a.b:80")),
        ("host", None, "http://a.b\\c\\d/e?f\\#\\", Some("http://a.b/c/d/e?f\\#\\")),
        ("host", None, "http://a.b/c\\d", Some("http://a.b/c/d")),
        ("host", None, "http://A.b:8\\c:9/\\d", Some("http://a.b:8/c:9//d")),
        ("host", None, "http://a\\@b/\\", None),
        ("host", None, "URN://a/\\", None),
        ("host", None, "http://1.2.3.256/", None),
        ("host", None, "other://127.1/", None),
        ("port", None, "http://a.b:80/c", Some("http://a.b/c")),
        ("port", None, "https://a.b:0443", Some("https://a.b")),
        ("port", None, "https://a.b:/", Some("https://a.b/")),
        ("port", None, "http://a.b:443/", None),
        ("port", None, "http://[::1]:80/", Some("http://[::1]/")),
        ("port", None, "http://a.b:0/", None),
        ("escapes", None, "http://a/%7ejoe?%2b=%41", Some("http://a/~joe?%2B=A")),
        ("escapes", None, "http://a/%20", None),
        ("session", None, "http://a/b;jsessionid=1?c;sid=2", Some("http://a/b?c;sid=2")),
        ("slashes", None, "http://a//b//?c//d", Some("http://a/b/?c//d")),
        ("empty-query", None, "http://a/b?#c", Some("http://a/b#c")),
        ("empty-query", None, "http://a/b?&", None),
    ]);
}

#[test]
fn rules_rewrite_schemes_queries_and_paths() {
    check(&[
        ("parameter", Some("ASPSESSIONID*"), "http://a/?ASPSESSIONIDXY=1&b", Some("http://a/?b")),
        ("www", Some("with"), "http://127.1/", None),
        ("scheme", Some("https"), "http://a.b/c", Some("https://a.b/c")),
        ("scheme", Some("https"), "HTTP://u@A.b:080/c", Some("https://u@A.b/c")),
        ("scheme", Some("https"), "http://a.b:8080/c", None),
        ("scheme", Some("https"), "ftp://a.b/c", None),
        ("scheme", Some("http"), "https://a.b:443", Some("http://a.b")),
        ("www", Some("without"), "http://WWW.a.b:8/c", Some("http://a.b:8/c")),
        ("www", Some("without"), "http://www.a.b./", Some("http://a.b./")),
        ("www", Some("without"), "http://www.com/", None),
        ("www", Some("without"), "http://www.1.2.3.4/", None),
        ("www", Some("without"), "http://www.www.a.b/", None),
        ("www", Some("without"), "http://www.a..b/", None),
        ("www", Some("with"), "http://u@a.b/", Some("http://u@www.a.b/")),
        ("www", Some("with"), "http://localhost/", None),
        ("www", Some("with"), "http://[::1.2]/", None),
        ("www", Some("with"), "http://www.a.b/", None),
        ("fragment", None, "http://a/b?c#d#e", Some("http://a/b?c")),
        ("fragment", None, "http://a/b#", Some("http://a/b")),
        ("parameter", Some("sid"), "http://a/?x&sid=1&y&sid#f", Some("http://a/?x&y#f")),
        ("parameter", Some("sid"), "http://a/?side=1", None),
        ("parameter", Some("utm_*"), "http://a/?utm_source=1&utm_x", Some("http://a/")),
        ("parameter", Some("utm_source"), "http://a/?utm_x&b", Some("http://a/?b")),
        ("order", None, "http://a/?b=1&a=2&b=0", Some("http://a/?a=2&b=1&b=0")),
        ("order", None, "http://a/?a=2&a=1", None),
        ("index", Some("index.html"), "http://a/b/Index.HTML?q", Some("http://a/b/?q")),
        ("index", Some("index.html"), "http://a/index.html/", None),
        ("slash", Some("without"), "http://a/b/?q", Some("http://a/b?q")),
        ("slash", Some("without"), "http://a/", None),
        ("slash", Some("without"), "http://a/b//", None),
        ("slash", Some("without"), "http://a/b.html/", None),
        ("slash", Some("with"), "http://a/b#c", Some("http://a/b/#c")),
        ("slash", Some("with"), "http://a", None),
        ("slash", Some("with"), "http://a/b.html", None),
        ("case", None, "http://A/BÉ?C#D", Some("http://A/bÉ?C#D")),
        ("case", None, "http://A/b", None),
        ("case", None, "http://a/B%C3;sid=A", Some("http://a/b%C3;sid=A")),
        ("case", None, "http://a/%C3;sid=A", None),
    ]);
    assert_eq!(AliasRule::new("case", Some("lower")), None);
    assert_eq!(AliasRule::new("none", None), None);
}

#[test]
fn rule_is_rebuilt_from_kind_and_value() {
    for rule in rules() {
        assert_eq!(AliasRule::new(rule.kind(), rule.value()), Some(rule));
    }
}

proptest! {
    /// A rule is idempotent, and never removes the host of a URL.
    #[test]
    fn rules_are_idempotent(
        url in "[hH]ttps?://(u@)?(www\\.){0,2}[aB1]{0,2}(\\.[a1]){0,3}\\.?(:80|:443|:)?(/[aB./\\\\?#&=]{0,12})?",
    ) {
        for rule in rules() {
            let Some(once) = rule.apply(&url) else { continue };
            prop_assert_ne!(&once, &url);
            prop_assert_eq!(rule.apply(&once), None, "{} of {}", rule, once);
            prop_assert!(UrlParts::of(&once).is_some());
        }
    }
}
