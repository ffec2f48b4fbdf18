//! What puts pages in order.

use super::hints::Hints;
use super::options::Due;
use super::rule::Rule;
use crate::error::Result;
use crate::recrawl::{Belief, Code, Policy, Prior, Recent, Standing, Worths};
use crate::segment::{Row, seconds};

/// Seconds for which a page that fails is left alone at least.
const RETRY_SECONDS: u64 = 3600;

/// The weight of a page that is gone.
const GONE_WEIGHT: f64 = 0.125;

const DAY_SECONDS: f64 = 86_400.0;

/// Places for beliefs, as a power of two: 8 MiB.
const BELIEFS_LOG2: u32 = 14;

/// What puts a page in order: the greatest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score(u64);

/// Set if a page was not visited for longer than the largest interval.
const OVERDUE: u64 = 1 << 63;

impl Score {
    /// By a figure that is not negative: the order of such numbers is that of their bits.
    fn by(figure: f64) -> Score {
        // There is a zero with a sign, too.
        Score(figure.to_bits() & !OVERDUE)
    }

    fn overdue(intervals: f64) -> Score {
        Score(Score::by(intervals).0 | OVERDUE)
    }
}

/// Scores pages.
#[derive(Debug)]
pub(super) struct Scorer {
    policy: Policy,
    worths: Option<&'static Worths>,
    prior: Prior,
    hints: Option<Hints>,
    now: u64,
    largest: u64,
}

/// What a thread has worked out already: for each code one place, where the last one is kept.
#[derive(Debug)]
pub(super) struct Worked {
    beliefs: Vec<Option<(Code, Box<Belief>)>>,
}

impl Default for Worked {
    fn default() -> Worked {
        Worked { beliefs: vec![None; 1 << BELIEFS_LOG2] }
    }
}

/// What a page is scored by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    pub(super) row: &'a Row,
    /// Looked at by the policies that go by order.
    pub(super) recent: &'a Recent,
    pub(super) rule: &'a Rule,
    /// When the page changed after its last visit, as a hint has it; in seconds.
    pub(super) changed: Option<u64>,
}

/// The time that a page is scored by.
enum Since {
    /// It fails, and is left alone.
    LeftAlone,
    Seconds(u64),
}

impl Scorer {
    pub(super) fn new(due: &Due, prior: Prior) -> Scorer {
        let worths = due.policy.index().map(Worths::of);
        let (now, largest) = (seconds(due.now), due.largest_seconds());
        let hints = due.hints.clone();
        Scorer { policy: due.policy, worths, prior, hints, now, largest }
    }

    /// The time since the last visit, or since the last one that did not fail.
    fn since(&self, row: &Row) -> Since {
        let since = row.seconds_since(self.now);
        let Some(failing) = row.failing_seconds() else { return Since::Seconds(since) };
        if since < (failing / 2).max(RETRY_SECONDS).min(self.largest) {
            return Since::LeftAlone;
        }
        // As if the visits that failed had not been.
        Since::Seconds(since.saturating_add(failing))
    }

    /// The score of a page that is known; none if its rule has it not visited yet.
    pub(super) fn score(&self, of: Facts<'_>, worked: &mut Worked) -> Result<Option<Score>> {
        let since = of.row.seconds_since(self.now);
        if of.rule.min.is_some_and(|min| since < min.seconds()) {
            return Ok(None);
        }
        let Since::Seconds(since) = self.since(of.row) else { return Ok(Some(Score::by(0.0))) };
        if let Some(intervals) = self.overdue(of, since) {
            return Ok(Some(Score::overdue(intervals)));
        }
        self.value_since(of, since, worked).map(|value| Some(Score::by(value)))
    }

    /// The policy of a page; and what a visit is worth by it, if it goes by that.
    fn policy(&self, rule: &Rule) -> (Policy, Option<&'static Worths>) {
        match rule.policy {
            Some(policy) => (policy, policy.index().map(Worths::of)),
            None => (self.policy, self.worths),
        }
    }

    /// The times between which a change is a hint: that of the last visit, or of the last one that did
    /// not fail, and now; in seconds. None if no hint counts.
    pub(super) fn hinted_between(&self, row: &Row, rule: &Rule) -> Option<(u64, u64)> {
        self.hints.as_ref()?;
        self.policy(rule).1?;
        match self.since(row) {
            Since::LeftAlone => None,
            Since::Seconds(since) => Some((self.now.saturating_sub(since), self.now)),
        }
    }

    /// When a page changed, as a hint has it, in seconds.
    pub(super) fn changed(&self, row: &Row, rule: &Rule, url: &str) -> Option<u64> {
        let (last, now) = self.hinted_between(row, rule)?;
        self.hints.as_ref()?.first_change(url, last, now)
    }

    /// How often the longest time that it may not be visited has passed; none if not once. That is the
    /// largest interval, or what its rule has, by a maximum or by a policy with an interval.
    fn overdue(&self, of: Facts<'_>, since: u64) -> Option<f64> {
        let largest = of.rule.max.map_or(self.largest, |max| max.seconds().min(self.largest));
        let by_largest = (since >= largest).then(|| since as f64 / largest as f64);
        let schedule = of.rule.policy.and_then(|policy| policy.schedule(of.recent));
        let by_schedule = schedule.map(|schedule| since as f64 / DAY_SECONDS / schedule.next_days);
        match (by_largest, by_schedule.filter(|intervals| *intervals >= 1.0)) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        }
    }

    /// What the policy makes of a page.
    pub(super) fn value(&self, of: Facts<'_>, worked: &mut Worked) -> Result<f64> {
        match self.since(of.row) {
            Since::LeftAlone => Ok(0.0),
            Since::Seconds(since) => self.value_since(of, since, worked),
        }
    }

    fn value_since(&self, of: Facts<'_>, since: u64, worked: &mut Worked) -> Result<f64> {
        let weight = weight(of) * if of.row.gone { GONE_WEIGHT } else { 1.0 };
        let belief = self.belief(of.row.code, worked);
        let (policy, worths) = self.policy(of.rule);
        match worths {
            Some(worths) => {
                let otherwise = weight * worths.at(belief, since);
                match (&self.hints, of.changed) {
                    (Some(hints), Some(changed)) => {
                        let after = changed.saturating_sub(self.now.saturating_sub(since));
                        hints.worth_after(weight, after, otherwise)
                    }
                    _ => Ok(otherwise),
                }
            }
            None => {
                let days = since as f64 / DAY_SECONDS;
                policy.score(&Standing { belief, recent: of.recent, weight, days })
            }
        }
    }

    /// What is believed of the rate of a page.
    #[expect(clippy::indexing_slicing, reason = "a hash has as many bits as there are places")]
    pub(super) fn belief<'w>(&self, code: Code, worked: &'w mut Worked) -> &'w Belief {
        let hash = code.bits().wrapping_mul(0x9e37_79b9) >> (u32::BITS - BELIEFS_LOG2);
        let place = &mut worked.beliefs[hash as usize];
        let kept = place.take_if(|(of, _)| *of == code);
        let (_, belief) = place.insert(
            kept.unwrap_or_else(|| (code, Box::new(Belief::new(&self.prior, &code.likelihood())))),
        );
        belief
    }
}

/// How much a page matters, with what its rule makes of it.
pub(super) fn weight(of: Facts<'_>) -> f64 {
    of.row.weight() * of.rule.weight
}
