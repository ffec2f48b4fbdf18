use super::{DAY, hint, hints, wrong};

#[test]
fn an_atom_feed_says_when_its_entries_were_updated() {
    let file = "<?xml version=\"1.0\"?><feed xmlns=\"http://www.w3.org/2005/Atom\">\
        <title>News</title><updated>1999-01-01T00:00:00Z</updated><link href=\"x:feed\"/>\
        <entry><title>One</title><link rel=\"self\" href=\"x:self\"/>\
        <link href=\"https://example.com/?a=1&amp;b=2\"/><link href=\"x:second\"/>\
        <updated>1970-01-02T00:00:00Z</updated><summary>Words</summary></entry>\
        <entry><link href='x:2' rel='alternate'/><updated>1970-01-03T00:00:00Z</updated></entry>\
        <entry><id>x:none</id><updated>1970-01-03T00:00:00Z</updated></entry></feed>";
    let found = hints(file);
    assert_eq!(found[..2], [hint("https://example.com/?a=1&b=2", DAY), hint("x:2", 2 * DAY)]);
    assert_eq!((found.len(), found[2].0.ends_with("it has no <link>")), (3, true));
}

#[test]
fn an_rss_feed_says_when_its_items_were_published() {
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
    assert_eq!((found.len(), found[3].0.ends_with("x:5: its <pubDate> is no time")), (4, true));
}

#[test]
fn what_is_no_url_in_a_feed_is_named() {
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
