//! The ranking of pages with nearly the same content, which selects the page that represents the
//! other pages.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayVec;

use super::Weight;
use crate::time::Time;
use crate::url::URL_BYTES_MAX;

/// A rule by which one of two pages ranks before the other.
///
/// ```
/// # use simkeep::{Observation, Options, Progress, Store, Time};
/// use simkeep::cluster::{Clustering, RankingRule};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let epoch = store.change_epoch();
/// for (ms, url) in [(1_000, "https://example.com/terms?from=ad"), (2_000, "https://example.com/terms")] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, 7, epoch))?;
/// }
/// // The shorter URL leads, although it was seen later.
/// let clustering = Clustering::within(3).rule(RankingRule::ShortestUrl);
/// let clusters = clustering.run(&store.snapshot(), &Progress::default())?;
/// assert_eq!(clusters.by_size(2)?.next().unwrap()?.leader, "https://example.com/terms");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RankingRule {
    /// The page that was first seen with its current content ranks first: the first capture is the
    /// original. In text, `first-seen`.
    #[default]
    FirstSeen,
    /// The page whose current content was first seen latest ranks first. In text, `newest`.
    Newest,
    /// The page whose URL has fewer bytes ranks first. In text, `shortest-url`.
    ShortestUrl,
    /// A page whose URL begins with `https:` ranks before other pages. In text, `https`.
    Https,
    /// The page with the greater [weight](Weight) ranks first. In text, `weight`.
    Weight,
    /// A page that another page declares as [canonical](crate::Observation::canonical) ranks before
    /// other pages, if both pages are selected and their fingerprints are near. In text,
    /// `canonical`.
    ///
    /// Only clusters know this rule: [`Options::rule`](crate::Options::rule) refuses it.
    Canonical,
}

const RULES: [RankingRule; 6] = [
    RankingRule::FirstSeen,
    RankingRule::Newest,
    RankingRule::ShortestUrl,
    RankingRule::Https,
    RankingRule::Weight,
    RankingRule::Canonical,
];

/// Ranking rules in order of priority: each rule decides between pages that the rules before it
/// rank equal. If no rule decides, SURT order decides, and then the order of the URLs' bytes.
///
/// ```
/// use simkeep::cluster::{Ranking, RankingRule};
///
/// let ranking: Ranking = "https,shortest-url".parse()?;
/// assert_eq!(ranking, Ranking::from_iter([RankingRule::Https, RankingRule::ShortestUrl]));
/// assert_eq!(Ranking::default().to_string(), "first-seen");
/// assert!("newest,oldest".parse::<Ranking>().is_err());
/// # Ok::<(), simkeep::cluster::RankingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ranking {
    rules: ArrayVec<RankingRule, { RULES.len() }>,
}

/// The error for a text that is not a ranking.
///
/// ```
/// use simkeep::cluster::Ranking;
/// assert!("weight,longest-url".parse::<Ranking>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankingError {
    rule: String,
}

/// The data of a page that rules use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankInput<'p> {
    pub(crate) url: &'p str,
    /// The time when the page was first seen with its current content.
    pub(crate) since: Time,
    pub(crate) weight: Weight,
    /// Whether a near page declares the page as canonical.
    pub(crate) is_canonical: bool,
}

/// The rank of a page. The page with the least rank comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RankKey {
    /// A key that is compared before all rules.
    pub(crate) key: u64,
    pub(crate) by_rules: u128,
}

impl RankKey {
    /// Converts the rank to bytes that compare in the order of ranks.
    pub(crate) fn to_bytes(self) -> [u8; RANK_BYTES] {
        let mut bytes = [0; RANK_BYTES];
        let (key, by_rules) = bytes.split_at_mut(size_of::<u64>());
        key.copy_from_slice(&self.key.to_be_bytes());
        by_rules.copy_from_slice(&self.by_rules.to_be_bytes());
        bytes
    }

    /// This rank, within a group of pages with a given key.
    pub(crate) fn after(self, key: u64) -> RankKey {
        RankKey { key, ..self }
    }
}

/// Bytes of a rank.
const RANK_BYTES: usize = size_of::<u64>() + size_of::<u128>();

/// The number of bits of a time, or of the length of a URL.
const TIME_BITS: u32 = (Time::MAX.as_ms() - Time::MIN.as_ms()).ilog2() + 1;
const LENGTH_BITS: u32 = URL_BYTES_MAX.ilog2() + 1;

/// The number of bits of a rule that divides pages into two kinds.
const KIND_BITS: u32 = 1;

const _: () = assert!(TIME_BITS + LENGTH_BITS + u32::BITS + 2 * KIND_BITS <= u128::BITS);

impl RankingRule {
    /// The name of the rule in text.
    ///
    /// ```
    /// use simkeep::cluster::{Ranking, RankingRule};
    /// assert_eq!(RankingRule::ShortestUrl.name(), "shortest-url");
    /// assert_eq!("shortest-url".parse(), Ok(Ranking::from(RankingRule::ShortestUrl)));
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            RankingRule::FirstSeen => "first-seen",
            RankingRule::Newest => "newest",
            RankingRule::ShortestUrl => "shortest-url",
            RankingRule::Https => "https",
            RankingRule::Weight => "weight",
            RankingRule::Canonical => "canonical",
        }
    }

    /// Whether `other` can never decide if this rule does not decide.
    fn is_decided_by(self, other: RankingRule) -> bool {
        let goes_by_time = |rule| matches!(rule, RankingRule::FirstSeen | RankingRule::Newest);
        self == other || goes_by_time(self) && goes_by_time(other)
    }

    /// A number for a page, and the number's width in bits. The page with the lesser number ranks
    /// first.
    #[expect(clippy::cast_sign_loss, reason = "no time is before the least or after the greatest")]
    fn key(self, of: &RankInput<'_>) -> (u64, u32) {
        match self {
            RankingRule::FirstSeen => ((of.since.as_ms() - Time::MIN.as_ms()) as u64, TIME_BITS),
            RankingRule::Newest => ((Time::MAX.as_ms() - of.since.as_ms()) as u64, TIME_BITS),
            RankingRule::ShortestUrl => (of.url.len() as u64, LENGTH_BITS),
            RankingRule::Https => {
                let scheme = of.url.as_bytes().get(..6);
                let is_https = scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https:"));
                (u64::from(!is_https), KIND_BITS)
            }
            RankingRule::Weight => (u64::from(!of.weight.to_bits()), u32::BITS),
            RankingRule::Canonical => (u64::from(!of.is_canonical), KIND_BITS),
        }
    }
}

impl Ranking {
    /// The rules, in order of priority.
    ///
    /// ```
    /// use simkeep::cluster::{Ranking, RankingRule};
    /// let ranking: Ranking = "weight,https".parse().unwrap();
    /// assert_eq!(ranking.rules(), [RankingRule::Weight, RankingRule::Https]);
    /// ```
    pub fn rules(&self) -> &[RankingRule] {
        &self.rules
    }

    /// The rank of a page. Pages of equal rank are in SURT order.
    pub(crate) fn rank(&self, of: &RankInput<'_>) -> RankKey {
        let keys = self.rules.iter().map(|rule| rule.key(of));
        RankKey {
            key: 0,
            by_rules: keys.fold(0, |rank, (key, bits)| rank << bits | u128::from(key)),
        }
    }
}

impl Default for Ranking {
    /// Ranks the page first that was first seen with its content.
    fn default() -> Ranking {
        Ranking::from(RankingRule::default())
    }
}

impl From<RankingRule> for Ranking {
    fn from(rule: RankingRule) -> Ranking {
        Ranking::from_iter([rule])
    }
}

impl FromIterator<RankingRule> for Ranking {
    /// Collects rules in order of priority, and leaves out rules that can decide nothing. Without
    /// any rule, returns the default.
    fn from_iter<I: IntoIterator<Item = RankingRule>>(all: I) -> Ranking {
        let mut rules = ArrayVec::new();
        for rule in all {
            if !rules.iter().any(|other| rule.is_decided_by(*other)) {
                rules.push(rule);
            }
        }
        if rules.is_empty() {
            rules.push(RankingRule::default());
        }
        Ranking { rules }
    }
}

impl FromStr for Ranking {
    type Err = RankingError;

    fn from_str(text: &str) -> Result<Ranking, RankingError> {
        let rule = |name: &str| {
            let found = RULES.into_iter().find(|rule| rule.name() == name.trim());
            found.ok_or_else(|| RankingError { rule: name.to_owned() })
        };
        text.split(',').map(rule).collect()
    }
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, rule) in self.rules.iter().enumerate() {
            write!(f, "{}{}", if place > 0 { "," } else { "" }, rule.name())?;
        }
        Ok(())
    }
}

impl fmt::Display for RankingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a ranking rule; the rules are ", self.rule)?;
        for (place, rule) in RULES.iter().enumerate() {
            let between = match place {
                0 => "",
                _ if place + 1 == RULES.len() => " and ",
                _ => ", ",
            };
            write!(f, "{between}{}", rule.name())?;
        }
        f.write_str("; separate several rules by commas, the most important rule first")
    }
}

impl std::error::Error for RankingError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, since: Time, weight: f64) -> RankInput<'_> {
        RankInput { url, since, weight: weight.into(), is_canonical: false }
    }

    #[test]
    fn each_rule_puts_its_page_first() {
        let before = |rule: RankingRule, a: RankInput<'_>, b: RankInput<'_>| {
            let rank = |page| Ranking::from(rule).rank(&page);
            assert!(rank(a) < rank(b), "{rule:?}");
            let other = page(b.url, b.since, 1e-30);
            assert!(
                rule == RankingRule::Weight || rank(a) < rank(other),
                "{rule:?} minds another thing"
            );
        };
        before(
            RankingRule::FirstSeen,
            page("http://b/long", Time::from_ms_unchecked(-5), 1.0),
            page("https://a", Time::from_ms_unchecked(5), 2.0),
        );
        before(
            RankingRule::FirstSeen,
            page("a", Time::from_ms_unchecked(Time::MIN.as_ms()), 1.0),
            page("a", Time::from_ms_unchecked(Time::MAX.as_ms()), 1.0),
        );
        before(
            RankingRule::Newest,
            page("http://b/long", Time::from_ms_unchecked(5), 1.0),
            page("https://a", Time::from_ms_unchecked(-5), 2.0),
        );
        before(
            RankingRule::ShortestUrl,
            page("http://a", Time::from_ms_unchecked(5), 1.0),
            page("https://a", Time::from_ms_unchecked(-5), 2.0),
        );
        before(
            RankingRule::Https,
            page("HTTPS://a/long", Time::from_ms_unchecked(5), 1.0),
            page("http://a", Time::from_ms_unchecked(-5), 2.0),
        );
        before(
            RankingRule::Weight,
            page("http://b", Time::from_ms_unchecked(5), 2.0),
            page("https://a", Time::from_ms_unchecked(-5), 1.0),
        );
        before(
            RankingRule::Weight,
            page("http://b", Time::from_ms_unchecked(5), 1e-30),
            page("https://a", Time::from_ms_unchecked(-5), 1e-31),
        );
        let declared = RankInput {
            is_canonical: true,
            ..page("http://b/long", Time::from_ms_unchecked(5), 1.0)
        };
        before(
            RankingRule::Canonical,
            declared,
            page("https://a", Time::from_ms_unchecked(-5), 2.0),
        );
    }

    #[test]
    fn rule_decides_only_ties_of_earlier_rules() {
        let ranking: Ranking = "https,weight,shortest-url,first-seen,newest,https".parse().unwrap();
        assert_eq!(ranking.to_string(), "https,weight,shortest-url,first-seen");
        let rank = |url, since, weight| ranking.rank(&page(url, since, weight));
        let longest = "x".repeat(URL_BYTES_MAX);
        let in_order = [
            rank("https:12", Time::from_ms_unchecked(9), 7.0),
            rank("https:1", Time::from_ms_unchecked(5), 3.0),
            rank("https:1", Time::from_ms_unchecked(Time::MAX.as_ms()), 3.0),
            rank("https:12", Time::from_ms_unchecked(9), 3.0),
            rank("https:1", Time::from_ms_unchecked(5), 2.0),
            rank("http:1", Time::from_ms_unchecked(5), 9.0),
            rank(&longest, Time::from_ms_unchecked(5), 9.0),
        ];
        assert!(in_order.is_sorted_by(|a, b| a < b), "{in_order:?}");
    }

    #[test]
    fn unknown_rule_is_refused_with_the_known_ones() {
        let error = "first-seen,oldest".parse::<Ranking>().unwrap_err().to_string();
        let expected = "\"oldest\" is not a ranking rule; the rules are first-seen, newest,";
        assert!(error.starts_with(expected), "{error}");
        "".parse::<Ranking>().unwrap_err();
    }
}
