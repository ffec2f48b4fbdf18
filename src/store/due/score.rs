//! What puts pages in order.

use std::collections::HashMap;

use super::options::Due;
use crate::error::Result;
use crate::recrawl::{Belief, Code, Policy, Prior, Recent, Standing, Worths};
use crate::segment::{Row, seconds};

/// Seconds for which a page that fails is left alone at least.
const RETRY_SECONDS: u64 = 3600;

/// The weight of a page that is gone.
const GONE_WEIGHT: f64 = 0.125;

const DAY_SECONDS: f64 = 86_400.0;

/// Beliefs that are kept at most: 8 MiB.
const BELIEFS_MAX: usize = 16 << 10;

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
    now: u64,
    largest: u64,
}

/// What a thread has worked out already.
#[derive(Debug, Default)]
pub(super) struct Worked {
    beliefs: HashMap<Code, Belief>,
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
        Scorer { policy: due.policy, worths, prior, now, largest }
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

    /// The score of a page that is known; `recent` is looked at by the policies that go by order.
    pub(super) fn score(&self, row: &Row, recent: &Recent, worked: &mut Worked) -> Result<Score> {
        let Since::Seconds(since) = self.since(row) else { return Ok(Score::by(0.0)) };
        if since >= self.largest {
            return Ok(Score::overdue(since as f64 / self.largest as f64));
        }
        self.value_since(row, recent, since, worked).map(Score::by)
    }

    /// What the policy makes of a page.
    pub(super) fn value(&self, row: &Row, recent: &Recent, worked: &mut Worked) -> Result<f64> {
        match self.since(row) {
            Since::LeftAlone => Ok(0.0),
            Since::Seconds(since) => self.value_since(row, recent, since, worked),
        }
    }

    fn value_since(
        &self,
        row: &Row,
        recent: &Recent,
        since: u64,
        worked: &mut Worked,
    ) -> Result<f64> {
        let weight = row.weight() * if row.gone { GONE_WEIGHT } else { 1.0 };
        let belief = self.belief(row.code, worked);
        match self.worths {
            Some(worths) => Ok(weight * worths.at(belief, since)),
            None => {
                let days = since as f64 / DAY_SECONDS;
                self.policy.score(&Standing { belief, recent, weight, days })
            }
        }
    }

    /// What is believed of the rate of a page. It is worked out once for a code.
    pub(super) fn belief<'w>(&self, code: Code, worked: &'w mut Worked) -> &'w Belief {
        let beliefs = &mut worked.beliefs;
        if beliefs.len() >= BELIEFS_MAX && !beliefs.contains_key(&code) {
            beliefs.clear();
        }
        beliefs.entry(code).or_insert_with(|| Belief::new(&self.prior, &code.likelihood()))
    }
}
