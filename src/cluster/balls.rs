//! Balls: the number of pages within a distance of each page.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::clustering::Clustering;
use super::column::SpillColumn;
use super::gather::{captures, fingerprints, nodes};
use super::items::UnrankedPage;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::search::{Join, Pair};
use crate::sort::{SpoolContent, Workspace};

/// The balls of one distance. The ball of a page consists of all pages within that distance,
/// including the page itself.
///
/// Unlike clusters, balls overlap. The number of balls by size is figure 6-2, and the average size
/// table 6.2, of S. Seshasai, *Efficient near duplicate document detection for specialized
/// corpora*, MIT 2009.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Balls, Clustering};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (url, fingerprint) in [("https://a.example/", 0b0), ("https://b.example/", 0b1)] {
///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
/// }
/// let none: [(&str, &str); 0] = [];
/// let balls = Balls::of(&store.snapshot(), &Clustering::within(1), none, &Progress::default())?;
/// assert_eq!((balls[0].average(), balls[1].average()), (Some(1.0), Some(2.0)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Balls {
    /// The distance.
    pub k: u32,
    /// The number of balls: one for each page.
    pub balls: u64,
    /// The sum of the balls' sizes, in pages.
    pub pages: u64,
    /// The size of the largest ball.
    pub largest: u64,
    /// The number of pages with content but without a fingerprint of the epoch, which have no ball.
    pub without_fingerprint: u64,
    /// The number of balls with 1 page, 2 to 3, 4 to 7, and so on: size s is in bin log2(s).
    pub by_size: Vec<u64>,
    /// The number of pairs of labelled pages within the distance.
    pub labelled_pairs: u64,
    /// The number of labelled pairs with equal labels.
    pub equal_pairs: u64,
}

impl Balls {
    /// Counts the pages within each distance of each page, from 0 to k, without a list of pairs.
    /// With `labels` of pages, also counts pairs by whether their labels are equal. If a page is
    /// labelled twice, the last label counts.
    ///
    /// The pages and the distance come from `asked`. Costs the join of
    /// [`FingerprintPairs`](crate::query::FingerprintPairs), so a dense bucket costs its square:
    /// about 5 ns for each pair of fingerprints. The counts take 4 bytes for each fingerprint and
    /// distance. If the counts exceed half of the memory, there are several joins. The call takes
    /// another 4 bytes for each fingerprint, and memory for the labels.
    ///
    /// ```
    /// use simkeep::cluster::Balls;
    /// use simkeep::cluster::Clustering;
    /// use simkeep::{Observation, Options, Progress, Store, Time};
    ///
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (url, fingerprint) in [("a", 0b0000), ("b", 0b0111), ("c", 0b1000)] {
    ///     store.observe(Observation::content(url, Time::now(), fingerprint, epoch))?;
    /// }
    /// let labels = [("a", "news"), ("b", "news"), ("c", "sport")];
    /// let asked = Clustering::within(3);
    /// let balls = Balls::of(&store.snapshot(), &asked, labels, &Progress::default())?;
    /// assert_eq!(balls.iter().map(|of| of.pages).collect::<Vec<_>>(), [3, 5, 5, 7]);
    /// assert_eq!((balls[0].shared(), balls[3].shared()), (Some(0.0), Some(1.0)));
    /// assert_eq!(balls[3].equal_share(), Some(0.5));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Clustering::run`].
    pub fn of<U: AsRef<str>, L: AsRef<str>>(
        snapshot: &Snapshot,
        asked: &Clustering,
        labels: impl IntoIterator<Item = (U, L)>,
        progress: &Progress,
    ) -> Result<Vec<Balls>> {
        let labels = PageLabels::new(labels);
        snapshot.poison_on_bug(|| {
            let work = asked.workspace();
            balls(snapshot, asked, labels, &work, progress).map_err(|e| work.named(e))
        })
    }

    /// The average size of a ball, in pages; `None` without balls.
    pub fn average(&self) -> Option<f64> {
        (self.balls > 0).then(|| self.pages as f64 / self.balls as f64)
    }

    /// The share of balls with more than one page; `None` without balls.
    pub fn shared(&self) -> Option<f64> {
        let alone = self.by_size.first()?;
        Some((self.balls - alone) as f64 / self.balls as f64)
    }

    /// The share of labelled pairs with equal labels; `None` without such pairs.
    pub fn equal_share(&self) -> Option<f64> {
        (self.labelled_pairs > 0).then(|| self.equal_pairs as f64 / self.labelled_pairs as f64)
    }

    /// Adds balls of one size to the counts.
    fn add(&mut self, size: u64, balls: u64) {
        // `ilog2` panics for 0. A ball has at least the page itself, so `max` changes no count.
        let bin = size.max(1).ilog2() as usize;
        if self.by_size.len() <= bin {
            self.by_size.resize(bin + 1, 0);
        }
        if let Some(of_size) = self.by_size.get_mut(bin) {
            *of_size += balls;
        }
        self.balls += balls;
        self.pages += size * balls;
        self.largest = self.largest.max(size);
    }
}

fn balls(
    snapshot: &Snapshot,
    asked: &Clustering,
    mut labels: PageLabels,
    work: &Workspace,
    progress: &Progress,
) -> Result<Vec<Balls>> {
    let filter = asked.filter(snapshot)?;
    let k = asked.distance(snapshot, filter.epoch);
    let captures = captures(snapshot, asked, &filter, work, progress, |page, taken| {
        // This is the last step with URLs; later steps use only the numbers of pages.
        labels.see(page, &taken.url);
    })?;
    let without_fingerprint = captures.without;
    let (_, _, bearers) = nodes(captures.fingerprinted, work, progress)?;
    let (column, pages) = fingerprints(&bearers, work)?;
    let labelled = labels.of_nodes(&bearers)?;
    // Frees up to a quarter of the memory before the counters of a join take half of it.
    drop(bearers);
    let counting = BallCounter { k, work, column: &column, pages: &pages, labelled: &labelled };
    let mut all: Vec<Balls> =
        (0..=k).map(|k| Balls { k, without_fingerprint, ..Balls::default() }).collect();
    // A join counts for one range of nodes: each node takes an `AtomicU32` for each distance from 0
    // to k.
    let each = (work.part(2) / (4 * (k as usize + 1))).max(1);
    let nodes = pages.len();
    let joins = nodes.div_ceil(each).max(1);
    progress.begin(Stage::Joining, Some(joins as u64));
    for join in 0..joins {
        let range = join * each..nodes.min((join + 1) * each);
        // Every join finds all pairs, so only the first join counts pairs of labels.
        counting.count(range, join == 0, &mut all, progress)?;
        progress.pass(1);
    }
    Ok(all)
}

/// The input for counting the balls of some nodes.
struct BallCounter<'c> {
    k: u32,
    work: &'c Workspace,
    column: &'c SpillColumn<u64>,
    /// The number of pages of each fingerprint.
    pages: &'c [u32],
    labelled: &'c NodeLabelCounts,
}

impl BallCounter<'_> {
    /// Counts the balls of some nodes, and if `pairs` is set, the pairs of all nodes.
    #[expect(clippy::indexing_slicing, reason = "ordinals of nodes, and distances up to k")]
    fn count(
        &self,
        range: Range<usize>,
        pairs: bool,
        all: &mut [Balls],
        progress: &Progress,
    ) -> Result<()> {
        let width = self.k as usize + 1;
        // The join calls `near` from several threads at once, so all counters are atomic. A u32
        // cannot overflow: there are fewer than 2^32 pages (`each_page`).
        let sizes: Vec<AtomicU32> = (0..range.len() * width).map(|_| AtomicU32::new(0)).collect();
        let (labelled, equal) = (counters(width), counters(width));
        let near = |found: &[Pair]| {
            for pair in found {
                let [left, right] = [pair.left as usize, pair.right as usize];
                let distance = pair.distance as usize;
                // A pair counts for both of its nodes, but only nodes of this range have counters.
                for (of, other) in [(left, right), (right, left)] {
                    if range.contains(&of) {
                        let place = (of - range.start) * width + distance;
                        // A node represents all pages with its fingerprint, so the number of pages
                        // of the neighbour is added. `Relaxed` is enough: no counter is read before
                        // the join has ended.
                        sizes[place].fetch_add(self.pages[other], Ordering::Relaxed);
                    }
                }
                if pairs && !self.labelled.is_empty() {
                    let (pairs, same) = self.labelled.between(left, right);
                    labelled[distance].fetch_add(pairs, Ordering::Relaxed);
                    equal[distance].fetch_add(same, Ordering::Relaxed);
                }
            }
            ControlFlow::Continue(())
        };
        if self.k > 0 {
            // Distance 0 needs no join: nodes are distinct fingerprints.
            let join = Join::within(self.k).memory_bytes(self.work.part(2));
            // `near` never breaks. A break means that `progress` was cancelled, which `check`
            // reports.
            let _: ControlFlow<()> = join.run(self.column, &progress.hidden(), near)?;
            progress.check()?;
        }
        let (mut labelled, mut equal) = (numbers(labelled), numbers(equal));
        for node in range.clone() {
            // Each page of a node has its own ball of the same size. The size starts with the pages
            // of the node.
            let (mut size, balls) = (u64::from(self.pages[node]), u64::from(self.pages[node]));
            let of_node = &sizes[(node - range.start) * width..][..width];
            for (of, more) in all.iter_mut().zip(of_node) {
                size += u64::from(more.load(Ordering::Relaxed));
                of.add(size, balls);
            }
        }
        if pairs {
            // Pages of one node are at distance 0. The join cannot find them, so they are counted
            // from the lists.
            (labelled[0], equal[0]) = self.labelled.within();
            // Sums the pairs at each distance to the pairs within each distance.
            let (mut pairs, mut same) = (0, 0);
            for (of, (more, more_same)) in all.iter_mut().zip(labelled.iter().zip(&equal)) {
                (pairs, same) = (pairs + more, same + more_same);
                (of.labelled_pairs, of.equal_pairs) = (pairs, same);
            }
        }
        Ok(())
    }
}

fn counters(count: usize) -> Vec<AtomicU64> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

fn numbers(counters: Vec<AtomicU64>) -> Vec<u64> {
    counters.into_iter().map(AtomicU64::into_inner).collect()
}

/// The labels of pages, by number.
struct PageLabels {
    of_urls: HashMap<String, u32>,
    of_pages: HashMap<u32, u32>,
}

/// The number of pages of each label at each node.
struct NodeLabelCounts {
    /// The start of each node's labels; empty without any labels.
    starts: Vec<usize>,
    /// Each label of a node with its count, in order of label.
    counts: Vec<(u32, u64)>,
}

impl PageLabels {
    fn new<U: AsRef<str>, L: AsRef<str>>(labels: impl IntoIterator<Item = (U, L)>) -> PageLabels {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut of_urls = HashMap::new();
        for (url, label) in labels {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "2^32 labels do not fit into memory"
            )]
            let next = numbers.len() as u32;
            // `entry` alone would need an owned label for each page, and not only for each new label.
            let number = match numbers.get(label.as_ref()) {
                Some(number) => *number,
                None => *numbers.entry(label.as_ref().to_owned()).or_insert(next),
            };
            of_urls.insert(url.as_ref().to_owned(), number);
        }
        PageLabels { of_urls, of_pages: HashMap::new() }
    }

    /// Records the label of a page that is counted.
    fn see(&mut self, page: u32, url: &str) {
        if let Some(label) = self.of_urls.get(url) {
            self.of_pages.insert(page, *label);
        }
    }

    /// The labels of nodes, in the order of the nodes' fingerprints.
    fn of_nodes(self, bearers: &SpoolContent<UnrankedPage>) -> Result<NodeLabelCounts> {
        let (mut starts, mut counts): (Vec<usize>, Vec<(u32, u64)>) = (Vec::new(), Vec::new());
        if self.of_pages.is_empty() {
            return Ok(NodeLabelCounts { starts, counts });
        }
        let mut reader = bearers.read();
        let (mut last, mut here) = (None, Vec::new());
        // The labels of a node are sorted and run-length encoded. `starts` has one entry more than
        // there are nodes, as in compressed sparse rows.
        let mut end = |here: &mut Vec<u32>| {
            here.sort_unstable();
            for alike in here.chunk_by(|a, b| a == b) {
                counts.extend(alike.first().map(|label| (*label, alike.len() as u64)));
            }
            here.clear();
            counts.len()
        };
        while let Some(bearer) = reader.next()? {
            if last != Some(bearer.fingerprint) {
                last = Some(bearer.fingerprint);
                // The first call ends no node: it pushes 0, where the first node begins.
                starts.push(end(&mut here));
            }
            here.extend(self.of_pages.get(&bearer.page));
        }
        starts.push(end(&mut here));
        Ok(NodeLabelCounts { starts, counts })
    }
}

impl NodeLabelCounts {
    fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    #[expect(clippy::indexing_slicing, reason = "each node has a start and an end")]
    fn of(&self, node: usize) -> &[(u32, u64)] {
        &self.counts[self.starts[node]..self.starts[node + 1]]
    }

    /// The number of pairs of labelled pages of two nodes, and the number of such pairs with equal
    /// labels.
    fn between(&self, left: usize, right: usize) -> (u64, u64) {
        let [left, right] = [self.of(left), self.of(right)];
        let sum = |of: &[(u32, u64)]| of.iter().map(|(_, count)| count).sum::<u64>();
        // Both lists are in order of label (`of_nodes`).
        let same = left.iter().filter_map(|(label, count)| {
            let at = right.binary_search_by_key(label, |(label, _)| *label).ok()?;
            right.get(at).map(|(_, other)| count * other)
        });
        (sum(left) * sum(right), same.sum())
    }

    /// The number of pairs of labelled pages with equal fingerprints, and the number of such pairs
    /// with equal labels.
    fn within(&self) -> (u64, u64) {
        // There are fewer than 2^32 pages, so the product fits in 64 bits.
        let pairs = |count: u64| count * count.saturating_sub(1) / 2;
        let nodes = (0..self.starts.len().saturating_sub(1)).map(|node| {
            let all: u64 = self.of(node).iter().map(|(_, count)| count).sum();
            let same = self.of(node).iter().map(|(_, count)| pairs(*count));
            (pairs(all), same.sum::<u64>())
        });
        nodes.fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    }
}
