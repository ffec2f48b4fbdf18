//! Tests of relative URLs in feeds, and of their bases.

use ::url::Url;

use super::*;

fn entry(attributes: &str, link: &str) -> String {
    format!("<entry{attributes}>{link}<updated>1970</updated></entry>")
}

fn urls(found: Vec<(String, i64)>) -> Vec<String> {
    found
        .into_iter()
        .map(|(url, modified)| format!("{url}{}", ["", "!"][usize::from(modified != 0)]))
        .collect()
}

/// Returns the URLs in a feed whose root has these attributes; a broken URL ends with `!`.
#[track_caller]
fn feed(attributes: &str, content: &str) -> Vec<String> {
    urls(hints(format!("<feed xmlns='http://www.w3.org/2005/Atom'{attributes}>{content}</feed>")))
}

#[test]
fn link_is_resolved_against_its_base() {
    let base = " xml:base='http://e.example/a/b?c#d'";
    for (href, url) in [
        ("p", "http://e.example/a/p"),
        ("./p", "http://e.example/a/p"),
        ("../p", "http://e.example/p"),
        ("../../../p", "http://e.example/p"),
        ("/p", "http://e.example/p"),
        ("//f.example/p", "http://f.example/p"),
        ("?q=1&amp;r", "http://e.example/a/b?q=1&r"),
        ("#f", "http://e.example/a/b?c#f"),
        ("", "http://e.example/a/b?c"),
        (" \n p \n", "http://e.example/a/p"),
        ("caf&eacute; x", "http://e.example/a/caf%C3%A9%20x"),
        // An absolute URL stays unchanged.
        ("HTTP://E.example:80/é/../a b", "HTTP://E.example:80/é/../a b"),
        ("mailto:a@e.example", "mailto:a@e.example"),
    ] {
        let link = format!("<link href='{href}'/>");
        assert_eq!(feed(base, &entry("", &link)), [url], "{href}");
        let link = link.replace("<link", &format!("<link{base}"));
        assert_eq!(feed("", &entry("", &link)), [url], "{href}");
        assert_eq!(feed(" xml:base='x://y/z/'", &entry("", &link)), [url], "{href}");
    }
    for href in ["http:p:0:x", "//[", "a\u{0}b"] {
        let found =
            feed(base, &entry("", &format!("<link href='{}'/>", href.replace('\0', "&#1;"))));
        assert_eq!((found.len(), found[0].ends_with('!')), (1, href != "http:p:0:x"), "{href}");
    }
}

#[test]
fn nested_base_is_resolved_and_ends_with_its_element() {
    let root = " xml:base='http://e.example'";
    let link = "<link href='p'/>";
    let blog = " xml:base='blog/'";
    for (content, expected) in [
        (entry(blog, link) + &entry("", link), &["blog/p", "p"][..]),
        (entry(blog, "<link xml:base='x/y' href='p'/>"), &["blog/x/p"]),
        (entry(" XML:BASE=blog/ a", link), &["blog/p"]),
        (format!("<x{blog}>{}</x>{}", entry("", link), entry("", link)), &["blog/p", "p"]),
        (
            format!("<x{blog}><y><x/><x>{}</x></y>{}</x>", entry("", link), entry(blog, link)),
            &["blog/p", "blog/blog/p"],
        ),
        (format!("<x{blog}/>{}", entry("", link)), &["p"]),
        // A tag with a base has no end, or the end tag of an element is missing.
        (format!("<y><x{blog}></y>{}", entry("", link)), &["p"]),
        (format!("<x{blog}></z></y>{}</x>", entry("", link)), &["blog/p"]),
        (
            format!("<entry{blog}>{link}<updated>1970</updated>{}", entry("", link)),
            &["blog/p", "p"],
        ),
        (entry("", &format!("<x{blog}></x><y{blog}>{link}</y>{link}")), &["p"]),
        (entry("", "<link href='p'/><content xml:base='x/' src='q'/>"), &["p"]),
        (entry("", "<content xml:base='x/' src='q'/>"), &["x/q"]),
    ] {
        let expected: Vec<String> =
            expected.iter().map(|path| format!("http://e.example/{path}")).collect();
        assert_eq!(feed(root, &content), expected, "{content}");
    }
}

#[test]
fn feed_links_are_the_default_base() {
    let (itself, site) =
        ("<link rel='self' href='http://e.example/a/feed'/>", "<link href='http://s.example/'/>");
    let links = entry("", "<link href='p'/>");
    for (before, url) in [
        (itself.to_owned(), "http://e.example/a/p"),
        (site.to_owned(), "http://s.example/p"),
        (format!("{site}{itself}"), "http://e.example/a/p"),
        (format!("{itself}{site}"), "http://e.example/a/p"),
        (format!("<link rel='self' href='feed'/>{site}"), "http://s.example/p"),
        (format!("<x>{itself}</x>{site}"), "http://s.example/p"),
        (format!("<link rel='hub' href='http://h.example/'/>{site}"), "http://s.example/p"),
        (
            "<link rel='self' href='/feed'/>".to_owned(),
            "test, byte 73: p: the URL is not absolute!",
        ),
        ("<link href='mailto:a@b'/>".to_owned(), "test, byte 67: p: the URL is not absolute!"),
    ] {
        assert_eq!(feed("", &format!("{before}{links}")), [url], "{before}");
    }
    // The link comes after the record, so it does not apply to the record.
    let found = feed("", &format!("{links}{itself}{links}"));
    assert_eq!(
        (found.len(), found[0].ends_with('!'), found[1].as_str()),
        (2, true, "http://e.example/a/p")
    );
    // A written base takes precedence over the feed's links, and may be relative to them.
    assert_eq!(
        feed(" xml:base='http://b.example/'", &format!("{itself}{links}")),
        ["http://b.example/p"]
    );
    assert_eq!(feed(" xml:base='/b/'", &format!("{itself}{links}")), ["http://e.example/b/p"]);
    let found = feed("", &format!("{itself}{}", entry("", "<link href=''/>")));
    assert!(found[0].ends_with("the URL is empty!"), "{found:?}");
    // The next document does not inherit the links.
    let one = format!("<feed>{itself}{links}</feed>");
    let found = urls(hints(format!("{one}<feed>{links}</feed>")));
    assert_eq!((found.len(), found[1].ends_with('!')), (2, true));
}

#[test]
fn rss_links_may_be_relative() {
    let item = |link: &str| format!("<item>{link}<pubDate>1970-01-01</pubDate></item>");
    let p = item("<link>p</link>");
    for (file, url) in [
        (
            format!("<rss xml:base='http://e.example/'><channel>{p}</channel></rss>"),
            "http://e.example/p",
        ),
        (
            format!("<rss><channel xml:base='http://e.example/'>{p}</channel></rss>"),
            "http://e.example/p",
        ),
        (format!("<rss><channel xml:base='http://e.example/'></channel>{p}</rss>"), "!"),
        (
            format!("<rss><channel><link> http://e.example/&#97;/ </link>{p}</channel></rss>"),
            "http://e.example/a/p",
        ),
        (
            format!("<rss><channel><link><![CDATA[http://e.example/]]></link>{p}</channel></rss>"),
            "http://e.example/p",
        ),
        (
            format!(
                "<rss><channel><link/><link>x</link><link>http://e.example/</link>{p}</channel></rss>"
            ),
            "http://e.example/p",
        ),
        (
            format!(
                "<rss><channel><link>http://s.example/</link><atom:link rel='self' href='http://e.example/'/>{p}</channel></rss>"
            ),
            "http://e.example/p",
        ),
        (
            format!(
                "<rss><channel><image><link>http://i.example/</link></image>{p}</channel></rss>"
            ),
            "!",
        ),
        (
            format!(
                "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel><link>http://e.example/</link></channel>{p}</rdf:RDF>"
            ),
            "http://e.example/p",
        ),
        (format!("<rss xml:base='http://e.example/'>{}</rss>", item("<guid>12345</guid>")), "!"),
        (format!("<rss xml:base='http://e.example/'>{}</rss>", item("<link></link>")), "!"),
        (
            "<urlset xml:base='http://e.example/'><url><loc>p</loc><lastmod>1970</lastmod></url></urlset>"
                .to_owned(),
            "!",
        ),
    ] {
        let found = urls(hints(&file));
        assert_eq!(found.len(), 1, "{file}");
        assert!(found[0] == url || url == "!" && found[0].ends_with('!'), "{file}: {found:?}");
    }
}

#[test]
fn invalid_base_breaks_only_relative_links() {
    let long = format!("http://e.example/{}/", "x".repeat(3000));
    let declared = "<!DOCTYPE feed [<!ENTITY b 'c'>]>";
    for (before, base) in [
        ("", "mailto:a@e.example"),
        ("", "data:text/plain,a"),
        ("", "http://["),
        ("", "e.example/"),
        ("", ""),
        ("", "http://e.example/&#1;"),
        ("", long.as_str()),
        (declared, "http://e.example/&b;"),
    ] {
        let link = |href: &str| entry("", &format!("<link href='{href}'/>"));
        let content = format!("{}{}", link("p"), link("x:1"));
        let found = urls(hints(format!("{before}<feed xml:base='{base}'>{content}</feed>")));
        assert_eq!((found.len(), found[1].as_str()), (2, "x:1"), "{base}");
        assert!(found[0].ends_with("p: the URL is not absolute!"), "{found:?}");
        // An absolute base within the element does not need the broken base.
        let inner = entry(" xml:base='http://i.example/'", "<link href='p'/>");
        assert_eq!(feed(&format!(" xml:base='{base}'"), &inner), ["http://i.example/p"]);
    }
}

#[test]
fn many_bases_take_linear_time_and_little_memory() {
    const COUNT: usize = 200_000;
    let good = entry("", "<link href='x:9'/>");
    let relative = entry("", "<link href='p'/>");
    let nested = "<a xml:base='b/'>".repeat(COUNT);
    let closed = format!("{nested}{relative}{}", "</a>".repeat(COUNT));
    let siblings = "<a xml:base='b/'></a>".repeat(COUNT);
    let long = "c".repeat(1900);
    let since = std::time::Instant::now();
    for (content, count) in [
        (format!("{nested}{good}"), 1),
        (format!("{closed}{relative}{good}"), 3),
        (format!("<a xml:base='{long}/'>{siblings}</a>{good}"), 1),
        (format!("<entry>{nested}</entry>{good}"), 2),
        (
            format!(
                "<entry><link {} href='x:1'/><updated>1970</updated></entry>{good}",
                "xml:base='b/' ".repeat(COUNT)
            ),
            2,
        ),
        (format!("{}{good}", "<link href='http://a.example/'/>".repeat(COUNT)), 1),
        (format!("{}{good}", "<link>".repeat(COUNT)), 1),
    ] {
        let file = format!("<feed xml:base='http://e.example/'>{content}</feed>");
        let found = read_by(file.as_bytes(), usize::MAX);
        assert_eq!(found.len(), count);
        assert_eq!(found.last(), Some(&Ok(Hint { url: "x:9".into(), modified: 0 })));
    }
    assert!(since.elapsed() < std::time::Duration::from_secs(60), "{:?}", since.elapsed());
    // Too deep nesting is reported. The URL is not resolved by an outer base.
    let found = feed(" xml:base='http://e.example/'", &format!("{closed}{relative}"));
    assert!(found[0].ends_with('!') && found[1] == "http://e.example/p", "{found:?}");
}

/// Part of a feed.
#[derive(Clone, Debug)]
enum FeedNode {
    Element(Option<&'static str>, Vec<FeedNode>),
    Entry(Option<&'static str>, Option<&'static str>, &'static str),
}

const REFERENCES: [&str; 8] =
    ["", "a/", "../b", "/c/d", "//f.example/g", "http://h.example/i/", "?j", "mailto:k"];

fn nodes() -> impl Strategy<Value = FeedNode> {
    let reference = || prop::sample::select(&REFERENCES[..]);
    let base = move || prop::option::of(reference());
    let entry =
        (base(), base(), reference()).prop_map(|(own, link, to)| FeedNode::Entry(own, link, to));
    entry.prop_recursive(5, 30, 4, move |inner| {
        (base(), prop::collection::vec(inner, 0..4))
            .prop_map(|(base, nodes)| FeedNode::Element(base, nodes))
    })
}

/// Writes a node, and resolves its links one by one.
fn write(
    node: &FeedNode,
    base: Option<&Url>,
    is_written: bool,
    file: &mut String,
    expected: &mut Vec<Option<String>>,
) {
    let attribute =
        |base: &Option<&str>| base.map_or(String::new(), |base| format!(" xml:base='{base}'"));
    let join = |base: Option<Url>, by: &Option<&str>| match by {
        None => base,
        Some(by) => match base {
            Some(base) => base.join(by).ok(),
            None => Url::parse(by).ok(),
        }
        .filter(|url| !url.cannot_be_a_base()),
    };
    match node {
        FeedNode::Element(own, nodes) => {
            let inner = join(base.cloned(), own);
            file.push_str(&format!("<x{}>", attribute(own)));
            for node in nodes {
                write(node, inner.as_ref(), is_written || own.is_some(), file, expected);
            }
            file.push_str("</x>");
        }
        FeedNode::Entry(own, link, to) => {
            let inner = join(join(base.cloned(), own), link);
            file.push_str(&entry(
                &attribute(own),
                &format!("<link{} href='{to}'/>", attribute(link)),
            ));
            let is_written = is_written || own.is_some() || link.is_some();
            expected.push(match Url::parse(to) {
                Ok(_) => Some((*to).to_owned()),
                Err(_) if to.is_empty() && !is_written => None,
                Err(_) => inner.and_then(|inner| inner.join(to).ok()).map(String::from),
            });
        }
    }
}

proptest! {
    #[test]
    fn links_match_resolving_them_one_by_one(
        root in prop::option::of(prop::sample::select(&REFERENCES[..])),
        nodes in prop::collection::vec(nodes(), 0..5),
    ) {
        let (mut file, mut expected) = (String::from("<feed>"), Vec::new());
        write(&FeedNode::Element(root, nodes), None, false, &mut file, &mut expected);
        file.push_str("</feed>");
        let found: Vec<_> = read_by(file.as_bytes(), usize::MAX)
            .into_iter()
            .map(|found| found.ok().map(|hint| hint.url))
            .collect();
        prop_assert_eq!(found, expected, "{}", file);
    }
}
