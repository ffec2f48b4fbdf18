use super::*;
use proptest::prelude::*;

fn key_of(url: &str) -> Vec<u8> {
    let mut key = Vec::new();
    surt::key(url, &mut key);
    key
}

fn covers(prefix: &str, url: &str) -> bool {
    Prefix::parse(prefix).unwrap().contains(&key_of(url))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn each_form_of_prefix_covers_the_documented_urls() {
    for (prefix, inside, outside) in [
        (
            "example.com",
            &[
                "http://example.com",
                "https://example.com:8080/x",
                "http://www.EXAMPLE.com./",
                "http://a.b.example.com/?q",
                "ftp://user@example.com/",
            ][..],
            &[
                "http://example.co/",
                "http://example-com/",
                "http://xexample.com/",
                "http://com/",
                "http://example.com.au/",
                "example.com",
            ][..],
        ),
        (
            "example.com/",
            &[
                "http://example.com",
                "https://example.com/x",
                "https://example.com?q",
                "http://example.com:80/",
            ],
            &["http://www.example.com/", "http://example.com:8080/", "http://u@example.com/"],
        ),
        (
            "example.com/docs",
            &[
                "http://example.com/docs",
                "https://example.com/docs",
                "https://example.com/docs/",
                "https://example.com/docs/a/b",
                "https://example.com/docs?q",
                "https://example.com/docs#a",
            ],
            &[
                "https://example.com/docs-old",
                "https://example.com/docs.html",
                "https://example.com/doc",
                "https://example.com/Docs",
                "https://example.com/docsä",
                "https://www.example.com/docs",
                "https://example.com/a/docs",
            ],
        ),
        (
            "example.com/docs/",
            &[
                "http://example.com/docs/",
                "http://example.com/docs/?q",
                "http://example.com/docs/x",
            ],
            &["http://example.com/docs", "http://example.com/docs?q", "http://example.com/docs#x"],
        ),
        (
            "example.com/docs?",
            &["http://example.com/docs?", "http://example.com/docs?q/r#s"],
            &["http://example.com/docs", "http://example.com/docs#?", "http://example.com/docs/?"],
        ),
        (
            "example.com/docs?a=1",
            &["http://example.com/docs?a=1", "http://example.com/docs?a=1#x"],
            &["http://example.com/docs?a=12", "http://example.com/docs?a=1&b=2"],
        ),
        (
            "example.com:8080",
            &["http://example.com:8080", "https://example.com:08080/x"],
            &["http://example.com/", "http://www.example.com:8080/", "http://example.com:80801/"],
        ),
        (
            "example.com:443/a",
            &["https://example.com/a", "http://example.com/a", "https://example.com:443/a"],
            &["http://example.com:443/a"],
        ),
        (
            "http://example.com:443/a",
            &["http://example.com:443/a"],
            &["https://example.com:443/a", "http://example.com/a"],
        ),
        (
            "127.0.0.1",
            &["http://127.0.0.1/", "http://127.0.0.1:8080/"],
            &["http://127.0.0.10/", "http://1.127.0.0.1/", "http://0.0.127/"],
        ),
        ("[::1]:81/x", &["http://[::1]:81/x/y"], &["http://[::1]/x"]),
        ("bücher.example", &["http://xn--bcher-kva.example/", "http://a.bücher.example/"], &[]),
        ("com", &["http://com/", "http://example.com/"], &["http://community/"]),
        (
            "urn:isbn",
            &["urn:isbn", "urn:isbn:1", "URN:isbn/x", "urn:isbn?x"],
            &["urn:isbn-13:1", "urn:ISBN:1", "urn:isb", "urna:isbn"],
        ),
        ("urn:isbn:", &["urn:isbn:", "urn:isbn:1"], &["urn:isbn", "urn:isbn/1"]),
        (
            "file:///home/x",
            &["file:///home/x", "file:///home/x/y", "FILE:///home/x#z"],
            &["file:///home/xy", "file:///home/x:y", "file://home/x"],
        ),
        ("file:///", &["file:///a", "file:///"], &["file://a/b"]),
        ("mailto:a@b.example", &["mailto:a@b.example?subject=x"], &["mailto:a@b.example.com"]),
    ] {
        for url in inside {
            assert!(covers(prefix, url), "{prefix} {url}");
        }
        for url in outside {
            assert!(!covers(prefix, url), "{prefix} {url}");
        }
    }
}

#[test]
fn equal_prefixes_are_shown_in_the_shortest_form() {
    for (shown, forms) in [
        (
            "example.com",
            &[
                "http://example.com",
                "https://EXAMPLE.com.",
                "com,example",
                "com,example,",
                "(com,example",
                "(com,example,",
                "http://(com,example,",
            ][..],
        ),
        (
            "example.com/",
            &[
                "https://example.com/",
                "example.com:80",
                "example.com:443/",
                "https://example.com:443",
                "com,example)",
                "com,example)/",
                "http://(com,example,)/",
            ],
        ),
        (
            "www.example.com/docs",
            &["com,example,www)/docs", "(com,example,www,)/docs", "com,example,www/docs"],
        ),
        ("example.com:8080/docs", &["com,example:8080)/docs", "http://(com,example,:8080)/docs"]),
        ("example.com/?q", &["example.com?q"]),
        ("http://example.com:443/", &["http://example.com:443"]),
        ("https://example.com:80/", &["https://example.com:80"]),
        ("1.2.3.4/x", &["(1.2.3.4)/x", "4,3,2,1)/x"]),
        ("[::1]:81/x", &["([::1]:81)/x", "[::1]:81/x"]),
        ("xn--bcher-kva.example", &["bücher.example", "example,bücher"]),
        ("localhost:8080/", &["localhost:8080"]),
        ("file:8080/x", &["(file:8080)/x"]),
        ("urn:isbn", &["URN:isbn"]),
    ] {
        let expected = Prefix::parse(shown).unwrap();
        assert_eq!(expected.to_string(), shown);
        for form in forms {
            assert_eq!(Prefix::parse(form).as_ref(), Ok(&expected), "{form}");
        }
    }
}

/// A page whose URL has another spelling of its host keeps its position in the order
/// (`format/surt.md`). The SURT form of the host names this page.
#[test]
fn host_is_parsed_as_in_browsers_unless_in_surt_form() {
    for (text, shown) in [
        ("http://B\u{dc}CHER\u{3002}example/a", "xn--bcher-kva.example/a"),
        ("\u{ff45}x%61mple.com", "example.com"),
        ("0x7f.1", "127.0.0.1"),
        ("017700000001/x", "127.0.0.1/x"),
        ("http://127.1:8080/x", "127.0.0.1:8080/x"),
        ("[2001:DB8:0:0::1]/", "[2001:db8::1]/"),
        ("example.com\\docs\\a", "example.com/docs\\a"),
        ("http:\\\\example.com\\docs", "example.com/docs"),
        ("https:/\\example.com\\", "example.com/"),
        ("example.com\\a,b", "example.com/a,b"),
        ("other://example.com\\docs", "(com\\docs,example"),
        ("1,127", "(1,127"),
        ("(1,127)/x", "(1,127)/x"),
        ("(0x7f:80)/", "(0x7f)/"),
        ("https://(0x7f:80)/", "https://(0x7f:80)/"),
        ("example,b\u{dc}cher)/", "xn--bcher-2pa.example/"),
        ("([2001:DB8:0::1])/", "([2001:db8:0::1])/"),
        ("1.2.3.256/", "1.2.3.256/"),
    ] {
        let prefix = Prefix::parse(text).unwrap();
        assert_eq!(prefix.to_string(), shown, "{text}");
        assert_eq!(Prefix::parse(shown), Ok(prefix), "{text}");
    }
    assert!(covers("BÜCHER.example", "http://b\u{fc}cher.example/a"));
    assert!(covers("1,127)/", "http://127.1/") && !covers("127.1/", "http://127.1/"));
    assert!(covers("127.1/", "http://127.0.0.1/"));
}

#[test]
fn invalid_prefix_is_refused_with_the_valid_forms() {
    let host = |host: &str| PrefixError::Host { host: host.to_owned() };
    for (text, error) in [
        ("", PrefixError::Empty),
        ("/", PrefixError::Empty),
        ("//example.com", PrefixError::Empty),
        ("http://", PrefixError::Empty),
        ("https:", PrefixError::Empty),
        ("urn:", PrefixError::Empty),
        ("file://", PrefixError::Empty),
        (":80", host("")),
        (".", host("")),
        ("()", host("")),
        ("com,,example", host("example..com")),
        ("example..com", host("example..com")),
        (".example.com", host(".example.com")),
        ("*.example.com", host("*.example.com")),
        ("two words", host("two words")),
        ("com,example.org", host("com,example.org")),
        ("http://a:b/", host("a:b")),
        ("http://[::1/", host("[::1")),
        ("example.com:99999", PrefixError::Port { port: "99999".to_owned() }),
        ("http://user@example.com/", PrefixError::User),
        ("a\tb", PrefixError::Control { offset: 1 }),
        (&"x".repeat(8193), PrefixError::TooLong { bytes: 8193 }),
    ] {
        assert_eq!(Prefix::parse(text), Err(error.clone()), "{text}");
        assert!(error.to_string().contains("example.com/ (that host only)"), "{error}");
    }
}

/// Stored tombstones contain these bytes.
#[test]
fn stored_bytes_do_not_change() {
    for (text, bytes) in [
        ("www.example.com", &b"com\x02example\x02www\x01"[..]),
        ("example.com:8080/a?b#c", b"com\x02example\x018080\x01\x04a\x03b\x02c"),
        ("urn:isbn:1", b"\xffurn\x01isbn\x051"),
        ("file:///a:b", b"\xfffile\x01\x04\x04\x04a:b"),
    ] {
        let prefix = Prefix::parse(text).unwrap();
        assert_eq!(prefix.to_bytes(), bytes, "{text}");
        assert_eq!(Prefix::from_bytes(bytes), Some(prefix), "{text}");
    }
}

#[test]
fn invalid_stored_bytes_are_refused() {
    for bytes in [
        &b""[..],
        b"com",
        b"\x01",
        b"com\x02\x01",
        b"com\x03\x01",
        b"com\x01\x01",
        b"com\x0180\x01",
        b"com\x01x\x01\x04",
        b"com\x01\x01a",
        b"com\x01\x01\x04a\x01",
        b"com\x01\x01\x04a\x05",
        b"c\xffm\x01",
        b"\xff",
        b"\xffurn",
        b"\xffurn\x01",
        b"\xff\x01x",
        b"\xfffile\x01\x04\x05",
        b"\xffurn\x01a\x06",
    ] {
        assert_eq!(Prefix::from_bytes(bytes), None, "{bytes:?}");
    }
}

/// A URL in parts, or a prefix with no scheme and perhaps no path.
#[derive(Clone, Debug)]
struct PrefixModel {
    labels: Vec<&'static str>,
    port: Option<u16>,
    path: Option<String>,
}

impl PrefixModel {
    fn text(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}{}", self.labels.join("."), self.path.as_deref().unwrap_or(""))
    }

    fn port_but_default(&self) -> Option<u16> {
        self.port.filter(|port| ![80, 443].contains(port))
    }

    fn path_or_root(&self) -> String {
        match self.path.as_deref().unwrap_or("") {
            path if path.starts_with('/') => path.to_owned(),
            path => format!("/{path}"),
        }
    }

    /// The definition: by parts, with no key in sight.
    fn covers(&self, page: &PrefixModel) -> bool {
        if self.path.is_none() && self.port.is_none() {
            return page.labels.ends_with(&self.labels);
        }
        let (path, page_path) = (self.path_or_root(), page.path_or_root());
        let rest = page_path.strip_prefix(&path);
        let boundary = ['/', '?', '#'];
        page.labels == self.labels
            && page.port_but_default() == self.port_but_default()
            && rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(boundary) || path.ends_with(boundary)
            })
    }
}

fn wholes() -> impl Strategy<Value = PrefixModel> {
    let label = prop::sample::select(vec!["a", "b", "a-b", "ab", "xn--a", "0a"]);
    let labels = prop::collection::vec(label, 1..4);
    let port = prop::sample::select(vec![None, None, None, Some(80), Some(81), Some(8)]);
    let path = "|(/|/a|/b|/a-)(|/|/a|b)(|\\?|\\?a/b|\\?a|\\?a:b)(|#|#a|#a?b)";
    let path = prop_oneof![1 => Just(None), 4 => path.prop_map(Some)];
    (labels, port, path).prop_map(|(labels, port, path)| {
        // An empty path is no path, and the text of the prefix has no path either.
        let path = path.filter(|path: &String| !path.is_empty());
        PrefixModel { labels, port, path }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn prefix_covers_exactly_its_parts(prefix in wholes(), page in wholes()) {
        let parsed = Prefix::parse(&prefix.text()).unwrap();
        // Port 80 is the default port of only one scheme.
        let url = format!("http://{}", page.text());
        prop_assert_eq!(parsed.contains(&key_of(&url)), prefix.covers(&page), "{}", url);
    }

    #[test]
    fn two_prefixes_are_nested_or_disjoint(
        a in wholes(), b in wholes(), page in wholes(),
    ) {
        let [one, other] = [&a, &b].map(|whole| Prefix::parse(&whole.text()).unwrap());
        let apart = one.range().1 <= other.range().0 || other.range().1 <= one.range().0;
        prop_assert!(apart || one.covers(&other) || other.covers(&one));
        prop_assert!(!(apart && a.covers(&page) && b.covers(&page)));
        prop_assert!(!one.covers(&other) || !b.covers(&page) || a.covers(&page));
    }

    #[test]
    fn prefix_of_a_page_covers_the_page(page in wholes()) {
        let url = format!("http://{}", page.text());
        prop_assert!(Prefix::parse(&url).unwrap().contains(&key_of(&url)));
    }

    #[test]
    fn prefix_round_trips_through_bytes_and_text(
        text in "(http://|https:|urn:|file:)?[(]?[aZä0.,:/?#@\\[\\]()1-4 é*-]{0,12}(:80|:443|:81)?[)]?/?[a:/?#,)(é]{0,3}"
    ) {
        if let Ok(prefix) = Prefix::parse(&text) {
            let (start, end) = prefix.range();
            prop_assert!(start < end);
            prop_assert_eq!(Prefix::from_bytes(prefix.to_bytes()), Some(prefix.clone()));
            prop_assert_eq!(Prefix::parse(&prefix.to_string()), Ok(prefix));
        }
    }

    #[test]
    fn any_text_is_a_prefix_or_an_error(text in "\\PC{0,40}") {
        if let Ok(prefix) = Prefix::parse(&text) {
            prop_assert_eq!(Prefix::parse(&prefix.to_string()), Ok(prefix));
        }
    }

    #[test]
    fn any_bytes_are_a_prefix_or_refused(bytes in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..20)) {
        if let Some(prefix) = Prefix::from_bytes(&bytes) {
            prop_assert_eq!(prefix.to_bytes(), &bytes);
            prop_assert!(!prefix.to_string().is_empty());
        }
    }
}

#[test]
fn typed_host_is_an_additional_prefix_if_normalized() {
    for (text, expected) in [
        ("127.1/x", Some("http://127.1/x")),
        ("127.1", Some("http://127.1/x")),
        ("http://0x7F.1:8080/x", Some("http://0x7f.1:8080/x/y")),
        ("B\u{dc}CHER.example/x", Some("http://B\u{dc}CHER.example/x")),
        ("http://B\u{dc}CHER.example", Some("https://www.B\u{dc}CHER.example/")),
        ("a\u{3002}example/x", Some("http://a\u{3002}example/x")),
        ("ex%61mple.com/x", Some("http://ex%61mple.com/x#y")),
        ("[::0:1]/x", Some("http://[::0:1]/x")),
        ("b\u{fc}cher.example/x", None),
        ("Example.com/x", None),
        ("127.0.0.1/x", None),
        ("1.2.3.256/x", None),
        ("(1,127)/x", None),
        ("urn:isbn:1", None),
        ("a b/x", None),
        ("", None),
    ] {
        let typed = Prefix::as_typed(text);
        assert_eq!(typed.is_some(), expected.is_some(), "{text}");
        if let (Some(typed), Some(url)) = (typed, expected) {
            let key = surt::key_of(url);
            assert!(typed.contains(&key) && !Prefix::parse(text).unwrap().contains(&key), "{text}");
        }
    }
}

proptest::proptest! {
    /// Each page is under the prefix of its own URL, either as parsed or as typed.
    #[test]
    fn url_is_under_its_own_prefix(
        host in "[aA]{1,2}(\\.[b\u{dc}\u{fc}1])?|127\\.1|0x7f\\.1|b%61\\.c|a\u{3002}b|x\u{df}\\.c|\u{ff41}",
        port in "(:80|:8080|:)?",
        path in "/[aA/?#%b]{0,6}",
    ) {
        let url = format!("http://{host}{port}{path}");
        let key = surt::key_of(&url);
        let prefixes = [Prefix::parse(&url).ok(), Prefix::as_typed(&url)];
        proptest::prop_assert!(prefixes.iter().flatten().any(|prefix| prefix.contains(&key)), "{}", url);
    }
}
