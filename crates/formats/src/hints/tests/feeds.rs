use super::{DAY, hint, hints, wrong};

#[test]
fn atom_feed_gives_update_times() {
    let file = "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\">\
        <title>News</title><updated>1999-01-01T00:00:00Z</updated><link href=\"x:feed\"/>\
        <entry><title>One</title><link rel=\"self\" href=\"x:self\"/>\
        <link href=\"https://example.com/?a=1&amp;b=2\"/><link href=\"x:second\"/>\
        <updated>1970-01-02T00:00:00Z</updated><summary>Words</summary></entry>\
        <entry><link href='x:2' rel='alternate'/><updated>1970-01-03T00:00:00Z</updated></entry>\
        <entry><id>x:none</id><updated>1970-01-03T00:00:00Z</updated></entry></feed>";
    let found = hints(file);
    assert_eq!(found[..2], [hint("https://example.com/?a=1&b=2", DAY), hint("x:2", 2 * DAY)]);
    assert_eq!((found.len(), found[2].0.ends_with("the record has no <link>")), (3, true));
}

#[test]
fn rss_feed_gives_publication_times() {
    let file = "<rss version=\"2.0\" xmlns:atom=\"http://www.w3.org/2005/Atom\"><channel>\
        <title>News</title><link>x:site</link><atom:link href=\"x:feed\"/>\
        <item><title>One</title><atom:link href=\"x:a\"/><link>https://example.com/1</link>\
        <pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate></item>\
        <item><link>x:2</link><pubDate>3 Jan 1970 01:00 +0100</pubDate></item>\
        <item><link>x:3</link></item>\
        <item><link>x:4</link><pubDate>1970-01-02</pubDate></item>\
        <item><link>x:5</link><pubDate>soon</pubDate></item></channel></rss>";
    let found = hints(file);
    let expected = [hint("https://example.com/1", DAY), hint("x:2", 2 * DAY), hint("x:4", DAY)];
    assert_eq!(found[..3], expected);
    assert_eq!((found.len(), found[3].0.ends_with("x:5: <pubDate> is not a time")), (4, true));
}

#[test]
fn invalid_url_in_a_feed_is_named() {
    let rss = |urls: &str| {
        format!("<rss><channel><item>{urls}<pubDate>1970-01-02</pubDate></item></channel></rss>")
    };
    let atom = |href: &str| {
        format!("<feed><entry><link href='{href}'/><updated>1970-01-02</updated></entry></feed>")
    };
    for (file, url) in [
        (rss("<guid>12345</guid>"), "12345"),
        (rss("<link>a.html</link>"), "a.html"),
        (atom("/a?b=c:d"), "/a?b=c:d"),
        (atom("../a"), "../a"),
        (atom("#a"), "#a"),
    ] {
        let said = wrong(&file);
        assert!(said.ends_with(&format!("{url}: the URL is not absolute")), "{said}");
    }
    for guid in ["<guid>12345</guid>", "<guid isPermaLink='true'>12345</guid>"] {
        let link = "<link>x:1</link>";
        for urls in [format!("{guid}{link}"), format!("{link}{guid}")] {
            assert_eq!(hints(rss(&urls)), [hint("x:1", DAY)], "{urls}");
        }
    }
    assert_eq!(hints(atom("Git+ssh-1.x://a")), [hint("Git+ssh-1.x://a", DAY)]);
}

#[test]
fn feeds_of_other_versions_are_read() {
    let (day, url) = ("Fri, 02 Jan 1970 00:00:00 GMT", "https://example.com/?a=1&b=2");
    let rss = |item: &str| format!("<rss version='0.91'><channel>{item}</channel></rss>");
    let rdf = |item: &str| {
        format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' \
             xmlns='http://purl.org/rss/1.0/' xmlns:dc='http://purl.org/dc/elements/1.1/' \
             xmlns:r='http://purl.org/rss/1.0/'><channel rdf:about='x:'><link>x:</link></channel>\
             {item}</rdf:RDF>"
        )
    };
    let link = "<link>https://example.com/?a=1&b=2</link>";
    for file in [
        rss(&format!(
            "<item><title>A &eacute; &amp; B & C</title>{link}<pubDate>{day}</pubDate></item>"
        )),
        rss(&format!(
            "<item><guid isPermaLink='false'>7</guid>{link}<dc:date>1970-01-02</dc:date></item>"
        )),
        rss(&format!("<item><guid>{url}</guid><pubDate>{day}</pubDate></item>")),
        rss(&format!("<item><guid>x:</guid>{link}<pubDate>{day}</pubDate></item>")),
        rss(&format!("<item><link href='{url}'/><pubDate>{day}</pubDate></item>")),
        rss(&format!("</channel><item><link/>{link}<pubDate/><pubDate>{day}</pubDate></item>")),
        rss(&format!("<item>{link}<pubDate>?</pubDate><dc:date>1970-01-02</dc:date></item>")),
        rss(&format!(
            "<item><description><p>1<br>2<p>3</description>{link}<pubDate>{day}</pubDate></item>"
        )),
        rdf(&format!("<item rdf:about='x:'>{link}<dc:date>1970-01-02T00:00Z</dc:date></item>")),
        rdf(&format!("<r:item><r:link>{url}</r:link><dc:date>1970-01-02</dc:date></r:item>")),
        format!("<feed><entry>{link}<modified>1970-01-02</modified></entry></feed>"),
        format!(
            "<feed><entry><link rel='self' href='x:'/><link rel=Alternate href={url}>\
                 <published>1970-01-02</published></entry></feed>"
        ),
        format!(
            "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:link href='{url}'/>\
                 <link href='x:'/><a:updated>1970-01-02</a:updated></a:entry></a:feed>"
        ),
        format!(
            "<urlset xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'><url><loc>{url}</loc>\
                 <video:video><video:publication_date>2001-01-01</video:publication_date></video:video>\
                 <n:news><n:publication_date>1970-01-02</n:publication_date></n:news></url></urlset>"
        ),
    ] {
        assert_eq!(hints(&file), [hint(url, DAY)], "{file}");
    }
}

/// Returns an Atom entry with these elements, and a time.
fn entry(elements: &str) -> String {
    format!("<entry>{elements}<updated>1970-01-02</updated></entry>")
}

#[test]
fn html_links_are_preferred_to_other_links() {
    let link = |attributes: &str| format!("<link rel='alternate' {attributes}/>");
    for (links, expected) in [
        (&["type='application/json' href='x:1'", "type='text/html' href='x:2'"][..], &["x:2"][..]),
        (&["href='x:1'", "type='application/json' href='x:2'"], &["x:1"]),
        (&["hreflang='en' href='x:1'", "hreflang='de' href='x:2'"], &["x:1", "x:2"]),
        (&["hreflang='en' href='x:1'", "hreflang='EN' href='x:2'"], &["x:1"]),
        (&["type=' Text/HTML; charset=utf-8' href='x:1'", "type='text/html' href='x:2'"], &["x:1"]),
        (&["type='application/xhtml+xml' href='x:1'", "href='x:2'"], &["x:1", "x:2"]),
        (&["type='application/pdf' href='x:1'", "type='a/b' href='x:2'"], &["x:1", "x:2"]),
        (&["type='text/html' href=''", "type='application/pdf' href='x:2'"], &["x:2"]),
        (&["href='x:1' hreflang='a'", "href='x:1' hreflang='b'"], &["x:1", "x:1"]),
    ] {
        let links: String = links.iter().map(|attributes| link(attributes)).collect();
        let found = hints(format!("<feed>{}</feed>", entry(&links)));
        let expected: Vec<_> = expected.iter().map(|url| hint(url, DAY)).collect();
        assert_eq!(found, expected, "{links}");
    }
    // One of the links is broken.
    let links = "<link hreflang='a' href='p'/><link hreflang='b' href='x:2'/>";
    let found = hints(format!("<feed>{}</feed>", entry(links)));
    assert_eq!((found.len(), &found[1]), (2, &hint("x:2", DAY)));
    assert!(found[0].0.ends_with("p: the URL is not absolute"));
    // Only some of very many links are kept.
    let links: String = (0..1000).map(|n| format!("<link hreflang='{n}' href='x:{n}'/>")).collect();
    assert_eq!(hints(format!("<feed>{}</feed>", entry(&links))).len(), 16);
}

#[test]
fn single_atom_entry_is_read() {
    let atom = "http://www.w3.org/2005/Atom";
    let body = "<link href='x:1'/><updated>1970-01-02</updated>";
    let file = format!("<?xml version='1.0'?><entry xmlns='{atom}'>{body}</entry>");
    assert_eq!(hints(&file), [hint("x:1", DAY)]);
    assert_eq!(hints(format!("{file}{file}")), [hint("x:1", DAY), hint("x:1", DAY)]);
    let prefixed = format!(
        "<a:entry xmlns:a='{atom}' xml:base='http://e.example/'><a:link href='p'/>\
         <a:updated>1970-01-02</a:updated></a:entry>"
    );
    assert_eq!(hints(prefixed), [hint("http://e.example/p", DAY)]);
    assert_eq!(hints(format!("<entry xmlns='{atom}'/>")), []);
    assert!(
        wrong(format!("<entry xmlns='{atom}'>{body}"))
            .ends_with("the file is truncated: its root element has no end")
    );
    for other in ["", " xmlns='http://uniprot.org/uniprot'", " xmlns:b='http://purl.org/atom/ns#'"]
    {
        let said = wrong(format!("<entry{other}>{body}</entry>"));
        assert!(said.contains("root element is <entry>"), "{said}");
    }
}

#[test]
fn content_source_replaces_a_missing_link() {
    for (elements, url) in [
        ("<content src='x:1'/>", "x:1"),
        ("<content type='text/html' src='x:?a&amp;b'></content>", "x:?a&b"),
        ("<content src='x:1'/><link href='x:2'/>", "x:2"),
        ("<link href='x:2'/><content src='x:1'/>", "x:2"),
        ("<link rel='self' href='x:2'/><content src='x:1'/>", "x:1"),
        ("<link href=''/><content src='x:1'/>", "x:1"),
        ("<content type='xhtml'><link href='x:3'/></content><link href='x:2'/>", "x:2"),
    ] {
        assert_eq!(
            hints(format!("<feed>{}</feed>", entry(elements))),
            [hint(url, DAY)],
            "{elements}"
        );
    }
    let said = wrong(format!("<feed>{}</feed>", entry("<content>x:1</content>")));
    assert!(said.ends_with("the record has no <link>"), "{said}");
}

#[test]
fn rdf_about_replaces_a_missing_link() {
    let rdf = |item: &str| {
        format!(
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' \
             xmlns='http://purl.org/rss/1.0/' xml:base='http://e.example/'>{item}</rdf:RDF>"
        )
    };
    let date = "<dc:date>1970-01-02</dc:date>";
    for (item, url) in [
        (format!("<item rdf:about='x:1'>{date}</item>"), "x:1"),
        (format!("<item rdf:about='x:1'><link/>{date}</item>"), "x:1"),
        (format!("<item rdf:about='x:1'><link></link>{date}</item>"), "x:1"),
        (format!("<item rdf:about='x:1'><link>x:2</link>{date}</item>"), "x:2"),
        (format!("<item rdf:about='p'>{date}</item>"), "http://e.example/p"),
        (format!("<item about='x:?a&amp;b'>{date}</item>"), "x:?a&b"),
    ] {
        assert_eq!(hints(rdf(&item)), [hint(url, DAY)], "{item}");
    }
    let said = wrong(rdf(&format!("<item rdf:nodeID='x:1'>{date}</item>")));
    assert!(said.ends_with("the record has no <link>"), "{said}");
}
