//! Alias detection: planted differences between URLs that lead to the same content are found, with
//! the right counts.

use std::ops::ControlFlow;

use simkeep::alias::{AliasCount, AliasQuery, AliasSite, AliasTotals};
use simkeep::disk::SimDisk;
use simkeep::load::LoadOptions;
use simkeep::{Error, Observation, Progress, Result, Store};
use simkeep_testing::{ms, on, small};

fn store() -> Store {
    Store::create(on(&SimDisk::new()), small()).unwrap()
}

fn found(store: &Store, asked: &AliasQuery) -> (AliasTotals, Vec<AliasSite>) {
    let mut sites = Vec::new();
    let summary = asked.run(&store.snapshot(), &Progress::default(), |site| {
        sites.push(site);
        ControlFlow::Continue(())
    });
    (summary.unwrap(), sites)
}

/// Pages of a thousand hosts. Each host has one rule that nearly all of its twenty pairs obey, and one
/// that fewer obey.
#[test]
fn planted_rules_above_the_ratio_are_found_and_no_others() {
    const PAIRS: u64 = 20;
    let kinds: [(&str, Option<&str>); 9] = [
        ("scheme", Some("https")),
        ("www", Some("without")),
        ("fragment", None),
        ("parameter", Some("sid")),
        ("parameter", Some("utm_*")),
        ("order", None),
        ("index", Some("index.php")),
        ("slash", Some("without")),
        ("case", None),
    ];
    // A page, and its other URL by a rule.
    let pair = |kind: usize, host: &str, page: u64| {
        let plain = format!("https://{host}/p{page}");
        let other = match kinds[kind] {
            ("scheme", _) => format!("http://{host}/p{page}"),
            ("www", _) => format!("https://www.{host}/p{page}"),
            ("fragment", _) => format!("{plain}#f"),
            ("parameter", Some("sid")) => format!("{plain}?sid={page}"),
            ("parameter", _) => format!("{plain}?utm_a=1&utm_b={page}"),
            ("order", _) => return [format!("{plain}?a=1&b=2"), format!("{plain}?b=2&a=1")],
            ("index", _) => return [format!("{plain}/"), format!("{plain}/index.php")],
            ("slash", _) => format!("{plain}/"),
            _ => format!("https://{host}/P{page}"),
        };
        [plain, other]
    };
    let (mut pages, mut planted) = (Vec::new(), Vec::new());
    for host in 0..1000_usize {
        let name = format!("h{host}.example");
        // One rule in the first half of the pages, another one in the second half.
        let (holds, fails) = (host % kinds.len(), (host / kinds.len() + 1 + host) % kinds.len());
        if holds == fails {
            continue;
        }
        for (kind, from, exceptions) in [(holds, 0, 2), (fails, PAIRS, 3)] {
            for page in 0..PAIRS {
                let content = (host as u64 * 100 + from + page).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let [one, other] = pair(kind, &name, from + page);
                let far = if page < exceptions { 0xff00 } else { 0b11 };
                pages.extend([(one, content), (other, content ^ far)]);
            }
        }
        // If more pages have a trailing slash than not, the rule adds slashes.
        let is_with = (kinds[holds].0, kinds[fails].0) == ("slash", "index");
        planted.push((name, if is_with { ("slash", Some("with")) } else { kinds[holds] }));
    }
    let store = store();
    let epoch = store.snapshot().near_epoch();
    let observations = pages.iter().map(|(url, fingerprint)| {
        Result::Ok(Observation::content(url, ms(0), *fingerprint, epoch))
    });
    store.load(observations, LoadOptions::default()).unwrap();
    let (summary, sites) = found(&store, &AliasQuery::default().k(3));
    assert_eq!((summary.rules, summary.pages), (planted.len() as u64, pages.len() as u64));
    let mut rules: Vec<(String, (&str, Option<&str>))> = Vec::new();
    for site in &sites {
        for count in &site.rules {
            assert_eq!((count.pairs, count.near), (PAIRS, PAIRS - 2), "{}", site.site);
            rules.push((site.site.clone(), (count.rule.kind(), count.rule.value())));
        }
    }
    rules.sort_unstable();
    planted.sort_unstable();
    let other = rules.iter().zip(&planted).find(|(found, planted)| found != planted);
    assert_eq!((rules.len(), other), (planted.len(), None));
    // All rules, including those below the ratio.
    let (_, all) = found(&store, &AliasQuery::default().k(3).all(true));
    let held = |site: &AliasSite| site.rules.iter().filter(|count| count.holds).count();
    assert!(all.iter().all(|site| site.rules.len() == 2 && held(site) == 1));
}

#[test]
fn no_aliases_are_reported_where_there_are_none() {
    let store = store();
    assert_eq!(
        found(&store, &AliasQuery::default().all(true)),
        (AliasTotals::default(), Vec::new())
    );
    for url in ["http://a.b/", "urn:a"] {
        store.observe(Observation::content(url, ms(0), 7, store.snapshot().near_epoch())).unwrap();
    }
    let (summary, sites) = found(&store, &AliasQuery::default().all(true).pairs(0));
    assert_eq!((summary.sites, summary.pages, sites.len()), (1, 1, 0));
    let share = AliasQuery::default().share(f64::NAN);
    let refused = share.run(&store.snapshot(), &Progress::default(), |_| panic!());
    assert!(matches!(refused, Err(Error::InvalidOption { name: "share", .. })));
    let cancelled = Progress::default();
    cancelled.cancel();
    let refused = AliasQuery::default().run(&store.snapshot(), &cancelled, |_| panic!());
    assert!(matches!(refused, Err(Error::Cancelled)));
}

/// A sample has some groups of each rule, selected by a hash, each as in the exact result.
#[test]
fn sampled_site_reports_a_subset_of_the_exact_groups() {
    let store = store();
    let epoch = store.snapshot().near_epoch();
    let pages: Vec<String> = (0..4000)
        .flat_map(|page| {
            let url = format!("http://a.b/{page}");
            ["", "?s=1", "?s=2", "#f"].map(|end| url.clone() + end)
        })
        .collect();
    let observations =
        pages.iter().map(|url| Result::Ok(Observation::content(url, ms(0), 7, epoch)));
    store.load(observations, LoadOptions::default()).unwrap();
    let [all, some] = [512 << 20, 0].map(|memory| {
        let (summary, mut sites) = found(&store, &AliasQuery::default().memory_bytes(memory));
        assert_eq!((summary.pages, sites.len()), (16_000, 1));
        sites.remove(0)
    });
    assert_eq!((all.sampled, some.sampled < 0.3), (1.0, true));
    for (of_all, of_some) in all.rules.iter().zip(&some.rules) {
        assert_eq!((&of_all.rule, of_some.near), (&of_some.rule, of_some.pairs));
        let estimated = of_some.pairs as f64 / some.sampled;
        assert!((estimated / of_all.pairs as f64 - 1.0).abs() < 0.2, "{estimated}");
        // A group is complete: both visitors, or none.
        if of_some.rule.kind() == "parameter" {
            assert_eq!(of_some.pairs % 2, 0);
        }
    }
    assert_eq!(all.rules.len(), 2);
}

/// A site with fifty pages that declare a canonical URL, one of which has other content.
fn store_with_canonicals() -> (Store, simkeep::Epoch) {
    let store = store();
    let epoch = store.snapshot().near_epoch();
    for page in 0..50_u64 {
        let content = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (plain, print) = (format!("https://a.b/{page}"), format!("https://a.b/{page}?print=1"));
        store.observe(Observation::content(&plain, ms(0), content, epoch)).unwrap();
        let canonical = if page == 17 { "/18#top".to_owned() } else { format!("/{page}") };
        let seen = Observation::content(&print, ms(1), content ^ 1, epoch).canonical(&canonical);
        store.observe(seen).unwrap();
    }
    (store, epoch)
}

#[test]
fn wrong_canonical_urls_are_named_and_right_ones_counted() {
    let (store, _) = store_with_canonicals();
    for (end, memory) in [("", 512 << 20), ("sampled", 0)] {
        let (totals, sites) = found(&store, &AliasQuery::default().k(3).memory_bytes(memory));
        let [site] = &sites[..] else { panic!("{sites:?}") };
        let declared = &site.declared;
        assert_eq!((declared.canonicals, declared.near, declared.different), (50, 49, 1), "{end}");
        assert_eq!((totals.canonicals, totals.canonicals_near), (50, 49));
        assert_eq!((totals.canonicals_different, totals.redirects), (1, 0));
        let [wrong] = &declared.wrong[..] else { panic!("{declared:?}") };
        assert_eq!(
            (&wrong.first[..], &wrong.other[..]),
            ("https://a.b/18", "https://a.b/17?print=1")
        );
        assert!(wrong.distance > 3);
    }
    let (_, sites) = found(&store, &AliasQuery::default().k(3));
    let [print] = &sites[0].rules[..] else { panic!("{sites:?}") };
    assert_eq!((print.rule.to_string(), print.pairs), ("parameter print".to_owned(), 50));
    // `/18` and `/17?print=1` differ in more than a rule explains.
    assert_eq!((print.canonicals, print.contradicted, print.redirects), (49, 0, 0));
}

#[test]
fn canonical_urls_that_cannot_be_compared_are_neither_right_nor_wrong() {
    let store = store();
    let epoch = store.snapshot().near_epoch();
    let long = format!("/{}", "a".repeat(8192));
    let seen = |url: &'static str, fingerprint, canonical: &str| {
        let seen = Observation::content(url, ms(0), fingerprint, epoch).canonical(canonical);
        store.observe(seen).unwrap();
    };
    // Two pages that point to each other, and a page that points to itself.
    seen("http://a.b/1", Some(7), "2");
    seen("http://a.b/2", Some(7), "1");
    seen("http://a.b/3", Some(7), "/3");
    // An unknown page, another host, and a page without a fingerprint.
    seen("http://a.b/4", Some(7), "/unknown");
    seen("http://a.b/5", Some(7), "https://c.d/");
    seen("http://a.b/6", None, "/1");
    // No URL of a web page.
    for (url, canonical) in [
        ("http://a.b/7", ""),
        ("http://a.b/8", "mailto:a@b"),
        ("http://a.b/9", "http://["),
        ("http://a.b/10", &long),
    ] {
        seen(url, Some(7), canonical);
    }
    let (totals, sites) = found(&store, &AliasQuery::default().k(3));
    let declared = &sites[0].declared;
    assert_eq!((declared.canonicals, declared.near, declared.different), (5, 2, 0));
    assert_eq!((totals.canonicals, sites.len()), (5, 1));
    // A canonical URL outside of the prefix is not looked up.
    let under = simkeep::Prefix::parse("a.b/1").unwrap();
    let (totals, _) = found(&store, &AliasQuery::default().k(3).under(under));
    assert_eq!((totals.canonicals, totals.canonicals_near), (1, 0));
}

#[test]
fn canonical_url_of_another_host_is_compared() {
    let store = store();
    let epoch = store.snapshot().near_epoch();
    for (url, fingerprint) in [("http://c.d/", 7), ("http://a.b/1", 6), ("http://a.b/2", !7)] {
        let seen = Observation::content(url, ms(0), fingerprint, epoch);
        store.observe(seen.canonical("http://c.d/")).unwrap();
    }
    let (_, sites) = found(&store, &AliasQuery::default().k(3));
    let [site] = &sites[..] else { panic!("{sites:?}") };
    assert_eq!((&site.site[..], site.declared.near, site.declared.different), ("a.b", 1, 1));
    assert_eq!(site.declared.wrong[0].other, "http://a.b/2");
}

#[test]
fn redirects_are_evidence_for_rules() {
    let store = store();
    let epoch = store.snapshot().near_epoch();
    for page in 0..20_u64 {
        let content = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let target = format!("https://a.b/{page}");
        store.observe(Observation::content(&target, ms(0), content, epoch)).unwrap();
        let from = format!("http://www.a.b/{page}");
        store.observe(Observation::redirect(&from, ms(0), &target)).unwrap();
        store.observe(Observation::redirect(&from, ms(1), &target)).unwrap();
        // Redirects that no rule explains.
        let old = format!("https://a.b/old?id={page}");
        store.observe(Observation::redirect(&old, ms(0), &target)).unwrap();
    }
    let (totals, sites) = found(&store, &AliasQuery::default().k(3));
    let rules = sites[0].rules.iter().map(|count| {
        assert_eq!((count.pairs, count.redirects, count.visits, count.share()), (0, 20, 40, 1.0));
        count.rule.to_string()
    });
    assert_eq!(rules.collect::<Vec<_>>(), ["scheme https", "www without"]);
    assert_eq!((sites[0].declared.redirects, totals.redirects, totals.rules), (40, 40, 2));
    // Pairs that differ count against the redirects.
    for page in 0..20_u64 {
        let url = format!("http://a.b/{page}");
        store.observe(Observation::content(&url, ms(0), !page, epoch)).unwrap();
    }
    let (_, sites) = found(&store, &AliasQuery::default().k(3).all(true));
    let rule = |name: &str| {
        let found = sites[0].rules.iter().find(|count| count.rule.to_string() == name);
        found.map(|count| (count.holds, count.near, count.pairs, count.redirects))
    };
    assert_eq!(rule("scheme https"), Some((false, 0, 20, 20)));
}

#[test]
fn redirects_do_not_outvote_pages_that_differ() {
    let store = store();
    let epoch = store.snapshot().near_epoch();
    store.observe(Observation::content("https://a.b/item", ms(0), 0, epoch)).unwrap();
    for page in 1..=400_u64 {
        let url = format!("https://a.b/item?id={page}");
        // Live pages have their own content, expired pages redirect to the list.
        let content = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let seen = match page {
            1..=40 => Observation::content(&url, ms(0), content, epoch),
            _ => Observation::redirect(&url, ms(0), "https://a.b/item"),
        };
        store.observe(seen).unwrap();
    }
    let (totals, sites) = found(&store, &AliasQuery::default().k(3).all(true));
    let is_id = |count: &&AliasCount| count.rule.to_string() == "parameter id";
    let count = sites[0].rules.iter().find(is_id).unwrap();
    assert_eq!((count.pairs, count.near, count.redirects), (40, 0, 360));
    assert_eq!((count.holds, count.share(), totals.rules), (false, 0.0, 0));
}
