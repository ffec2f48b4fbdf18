//! Alias detection: planted differences between URLs that lead to the same content are found, with
//! the right counts.

use std::ops::ControlFlow;

use simkeep::alias::{AliasQuery, AliasSite, AliasTotals};
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
