//! Queries beyond searches and pages: due pages, clusters, and pairs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::ptr;
use std::sync::Mutex;

use simkeep::cluster::{Fate, PageCluster, RankingRule};
use simkeep::due::{Decision as Decided, Plan};
use simkeep::query::PairQuery;
use simkeep::{Classes, Progress, Time};

use super::{TwinRandom, TwinStores, c_text, done, made, page, same_page, texts};
use crate::abi::{column, zeroed};
use crate::cluster::clustered::{
    ClusteredChunk, ClusteredPages, simkeep_clustered_pages_free, simkeep_clustered_pages_next,
};
use crate::cluster::clustering::{Clustering, simkeep_clustering_init};
use crate::cluster::dropped::{FateCode, Text};
use crate::cluster::{clusters, dropped};
use crate::code::{SIMKEEP_NONE, SIMKEEP_OK};
use crate::open::snapshot::simkeep_snapshot_free;
use crate::read::page::Page;
use crate::read::page_pairs::{
    PagePairChunk, PagePairQuery, simkeep_page_pair_query_init, simkeep_page_pairs_free,
    simkeep_page_pairs_next, simkeep_snapshot_page_pairs,
};
use crate::schedule::decisions::{
    Decision, Decisions, simkeep_decisions_free, simkeep_decisions_next,
};
use crate::schedule::due::{
    simkeep_lease_due, simkeep_release, simkeep_snapshot_due, simkeep_snapshot_plan,
};
use crate::schedule::due_query::{DueQuery, simkeep_due_query_init};
use crate::schedule::plan;
use crate::write::outcomes;

/// Whether two numbers are equal except for the order of summation.
fn is_near(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// Returns the query for both stores.
fn asked(dice: &mut TwinRandom) -> (DueQuery, simkeep::due::Due) {
    let mut query: DueQuery = zeroed();
    let now = 1_000_000_000 + dice.time();
    let size = size_of::<DueQuery>();
    done(|error| simkeep_due_query_init(&raw mut query, size, now, 10_000, error));
    let due = simkeep::due::Due::new(Time::from_ms_unchecked(now), 10_000);
    let policy = ["value", "harmonic", "crawl-value", "fixed:7d"][dice.roll(4) as usize];
    (query.policy, query.policy_len) = c_text(policy);
    (query, due.policy(policy.parse().unwrap()))
}

/// Compares the due pages of both stores.
fn same_decisions(of_c: Box<Decisions>, of_rust: Vec<Decided>) -> Vec<String> {
    let at = ptr::from_ref(&*of_c).cast_mut();
    let mut left: BTreeMap<String, Decided> =
        of_rust.into_iter().map(|decided| (decided.page.url.clone(), decided)).collect();
    let (mut decision, mut of_decision): (Decision, Page) = (zeroed(), page());
    let mut urls = Vec::new();
    while done(|error| {
        let sizes = (size_of::<Decision>(), size_of::<Page>());
        simkeep_decisions_next(at, &raw mut decision, sizes.0, &raw mut of_decision, sizes.1, error)
    }) == SIMKEEP_OK
    {
        let url =
            String::from_utf8(column(decision.url.cast(), decision.url_len).to_vec()).unwrap();
        let decided = left.remove(&url).unwrap();
        same_page(&of_decision, &decided.page);
        let rule = decided.rule.as_ref().map(ToString::to_string);
        let mut right = Decision::new(&decided, rule.as_ref());
        assert!(is_near(decision.value, right.value), "{decision:?} is {right:?}");
        assert!(is_near(decision.per_day, right.per_day), "{decision:?} is {right:?}");
        let near = decided.near.as_deref().unwrap_or("");
        if decision.near_len > 0 || !near.is_empty() {
            assert_eq!(column(decision.near.cast::<u8>(), decision.near_len), near.as_bytes());
        }
        // The fields `url`, `near` and `value` were already compared.
        (right.url, right.near, right.value) = (decision.url, decision.near, decision.value);
        (right.per_day, right.per_day_low, right.per_day_high) =
            (decision.per_day, decision.per_day_low, decision.per_day_high);
        assert_eq!(decision, right);
        urls.push(url);
    }
    assert!(left.is_empty(), "{left:?}");
    simkeep_decisions_free(Some(of_c));
    urls
}

/// A page of a list: its URL, leader, distance, original, cluster size and fingerprint.
type ListedPage = (String, String, u32, i32, u64, Option<u64>);

/// Returns the pages of a C list.
fn listed(of_c: Box<ClusteredPages>) -> Vec<ListedPage> {
    let at = ptr::from_ref(&*of_c).cast_mut();
    let (mut all, mut chunk): (_, ClusteredChunk) = (Vec::new(), zeroed());
    let size = size_of::<ClusteredChunk>();
    while done(|error| simkeep_clustered_pages_next(at, &raw mut chunk, size, error)) == SIMKEEP_OK
    {
        let (urls, leaders) = (texts(chunk.urls), texts(chunk.leaders));
        assert!((1..=crate::chunks::CHUNK_LEN).contains(&chunk.count) && urls.len() == chunk.count);
        let bits = column(chunk.distances, chunk.count);
        let by = column(chunk.by, chunk.count);
        let pages = column(chunk.cluster_pages, chunk.count);
        let fingerprints = column(chunk.fingerprints, chunk.count);
        let has_fingerprint = column(chunk.has_fingerprint, chunk.count);
        for (nth, (url, leader)) in urls.into_iter().zip(leaders).enumerate() {
            let fingerprint = (has_fingerprint[nth] == 1).then_some(fingerprints[nth]);
            let (distance, by) = (u32::from(bits[nth]), by[nth] as i32);
            all.push((url, leader, distance, by, pages[nth], fingerprint));
        }
    }
    simkeep_clustered_pages_free(Some(of_c));
    all
}

/// Returns the fields of a page from the crate that `listed` returns for C.
fn fields(page: &simkeep::cluster::ClusteredPage) -> ListedPage {
    let by = outcomes::OriginalByCode::of(page.by) as i32;
    let (url, leader) = (page.url.to_string(), page.leader.to_string());
    (url, leader, page.distance, by, page.pages, page.fingerprint)
}

/// Returns the options for clustering in both stores.
fn clustering(dice: &mut TwinRandom) -> (Clustering, simkeep::cluster::Clustering) {
    let mut of_c: Clustering = zeroed();
    let k = dice.roll(6) as u32;
    let size = size_of::<Clustering>();
    done(|error| simkeep_clustering_init(&raw mut of_c, size, k.cast_signed(), error));
    let of_rust = simkeep::cluster::Clustering::within(k);
    let rule = [
        RankingRule::FirstSeen,
        RankingRule::Newest,
        RankingRule::ShortestUrl,
        RankingRule::Weight,
    ][dice.roll(4) as usize];
    (of_c.rule, of_c.rule_len) = c_text(rule.name());
    (of_c, of_rust.rule(rule))
}

impl TwinStores {
    /// Queries due pages.
    pub(super) fn due(&self, dice: &mut TwinRandom) {
        let (query, due) = asked(dice);
        let view = self.view();
        let at = &raw const query;
        let of_c = made(|error| simkeep_snapshot_due(&raw const *view, at, error));
        simkeep_snapshot_free(Some(view));
        let of_rust = self.rust.snapshot().due(&due).collect::<simkeep::Result<_>>().unwrap();
        same_decisions(of_c, of_rust);
    }

    /// Leases pages that are due by a plan, and releases them.
    pub(super) fn take(&self, dice: &mut TwinRandom) {
        let (mut query, due) = asked(dice);
        let view = self.view();
        let at = &raw const query;
        let of_c = made(|error| simkeep_snapshot_plan(&raw const *view, at, 20.0, error));
        let of_rust = Plan::of(&self.rust.snapshot(), &due, 20.0).unwrap();
        query.plan = &raw const *of_c;
        let taken = made(|error| simkeep_lease_due(self.c(), &raw const query, 60, error));
        let lease = "60s".parse().unwrap();
        let of_rust = self.rust.lease_due(&due.plan(&of_rust), lease).unwrap();
        for url in same_decisions(taken, of_rust) {
            let (text, len) = c_text(&url);
            let code = done(|error| simkeep_release(self.c(), text, len, error));
            assert_eq!((code, self.rust.release(&url).unwrap()), (SIMKEEP_OK, true));
            let code = done(|error| simkeep_release(self.c(), text, len, error));
            assert_eq!(code, SIMKEEP_NONE);
        }
        plan::simkeep_plan_free(Some(of_c));
        simkeep_snapshot_free(Some(view));
    }

    /// Clusters all pages, and queries dropped pages.
    pub(super) fn clusters(&self, dice: &mut TwinRandom) {
        let (asked, like) = clustering(dice);
        let (view, none) = (self.view(), ptr::null());
        let at = &raw const asked;
        let of_c =
            made(|error| clusters::simkeep_snapshot_clusters(&raw const *view, at, none, error));
        let of_rust = like.run(&self.rust.snapshot(), &Progress::default()).unwrap();
        let (at, least) = (&raw const *of_c, 1 + dice.roll(2));
        let by_page = made(|error| clusters::simkeep_clusters_by_page(at, least, error));
        let pages = of_rust.by_page(least).unwrap().map(|page| fields(&page.unwrap()));
        assert_eq!(listed(by_page), pages.collect::<Vec<_>>());
        let by_cluster = made(|error| clusters::simkeep_clusters_by_cluster(at, least, error));
        let pages = of_rust.by_cluster(least).unwrap().map(|page| fields(&page.unwrap()));
        assert_eq!(listed(by_cluster), pages.collect::<Vec<_>>());

        let open = [dice.roll(3) as u32];
        let gone = made(|error| dropped::simkeep_clusters_dropped(at, open.as_ptr(), 1, 0, error));
        let of_rust = of_rust.dropped(&Classes::of(open)).unwrap();
        assert_eq!(dropped::simkeep_dropped_pages_count(&raw const *gone), of_rust.len());
        let urls: Vec<String> = (0..20).map(|_| dice.url()).collect();
        let names: Vec<Text> = urls
            .iter()
            .map(|url| {
                let (bytes, len) = c_text(url);
                Text { bytes, len }
            })
            .collect();
        let (count, size) = (names.len(), size_of::<Text>());
        let fates = made(|error| {
            dropped::simkeep_dropped_pages_fates(
                &raw const *gone,
                names.as_ptr(),
                count,
                size,
                error,
            )
        });
        let kinds = column(dropped::simkeep_fates_kinds(&raw const *fates), count);
        let kept = texts(dropped::simkeep_fates_kept(&raw const *fates));
        for (nth, url) in urls.iter().enumerate() {
            let is_right = match of_rust.fate(url).unwrap() {
                Fate::Unknown => matches!(kinds[nth], FateCode::Unknown),
                Fate::Kept => matches!(kinds[nth], FateCode::Kept),
                Fate::Dropped { .. } => matches!(kinds[nth], FateCode::Dropped),
                _ => false,
            };
            let of_rust = of_rust.kept_for(url).unwrap().map_or(String::new(), |kept| kept.url);
            assert!(is_right && kept[nth] == of_rust, "{url}: {:?}, {}", kinds[nth], kept[nth]);
        }
        dropped::simkeep_fates_free(Some(fates));
        clusters::simkeep_clusters_free(Some(of_c));
        dropped::simkeep_dropped_pages_free(Some(gone));
        simkeep_snapshot_free(Some(view));
    }

    /// Queries the cluster of a page.
    pub(super) fn cluster_of(&self, dice: &mut TwinRandom) {
        let (asked, like) = clustering(dice);
        let (view, url, mut complete) = (self.view(), dice.url(), 7);
        let (text, len) = c_text(&url);
        let of_c = made(|error| {
            let (at, whole) = (&raw const asked, &raw mut complete);
            clusters::simkeep_snapshot_cluster_of(&raw const *view, text, len, at, whole, error)
        });
        let of_rust = PageCluster::of(&self.rust.snapshot(), &like, &url).unwrap();
        assert_eq!(complete == 1, of_rust.as_ref().is_none_or(|of| of.complete));
        let pages = of_rust.map_or(Vec::new(), |of| of.pages);
        assert_eq!(listed(of_c), pages.iter().map(fields).collect::<Vec<_>>());
        simkeep_snapshot_free(Some(view));
    }

    /// Queries all pairs of pages.
    pub(super) fn pairs(&self, dice: &mut TwinRandom) {
        let mut query: PagePairQuery = zeroed();
        let k = dice.roll(4) as u32;
        let size = size_of::<PagePairQuery>();
        done(|error| simkeep_page_pair_query_init(&raw mut query, size, k, error));
        query.equal = dice.roll(2) as u32;
        let like = PairQuery::within(k).equal(query.equal == 1);
        let view = self.view();
        let of_c = made(|error| {
            let at = &raw const query;
            simkeep_snapshot_page_pairs(&raw const *view, at, ptr::null(), error)
        });
        let at = ptr::from_ref(&*of_c).cast_mut();
        let (mut all, mut chunk): (Vec<_>, PagePairChunk) = (Vec::new(), zeroed());
        let size = size_of::<PagePairChunk>();
        while done(|error| simkeep_page_pairs_next(at, &raw mut chunk, size, error)) == SIMKEEP_OK {
            let bits = column(chunk.distances, chunk.count);
            let urls = texts(chunk.left_urls).into_iter().zip(texts(chunk.right_urls));
            all.extend(urls.zip(bits).map(|((left, right), bits)| (left, right, u32::from(*bits))));
        }
        simkeep_page_pairs_free(Some(of_c));
        simkeep_snapshot_free(Some(view));
        let found = Mutex::new(Vec::new());
        let put = |pairs: &[simkeep::query::PagePair]| {
            found.lock().unwrap().extend(pairs.iter().map(|pair| {
                (pair.left.url.to_string(), pair.right.url.to_string(), pair.distance)
            }));
            ControlFlow::Continue(())
        };
        like.run(&self.rust.snapshot(), &Progress::default(), put).unwrap();
        let mut found = found.into_inner().unwrap();
        all.sort();
        found.sort();
        assert_eq!(all, found);
    }
}
