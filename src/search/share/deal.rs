//! Fingerprints on their way to the tasks of a join.

use std::ops::ControlFlow;

use super::shares::Shares;

/// Fingerprints are handed on in lots of at least so many, unless they are the last.
const HAND_MIN: usize = 1 << 10;

/// Deals fingerprints out to the tasks of a join: gathers them by task, and hands on what has come
/// together.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use simkeep::join::{Deal, Hand, Shares, Tally};
///
/// let fingerprints: Vec<u64> = (0..5_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
/// let mut tally = Tally::within(3, 4096);
/// tally.add(&fingerprints);
/// let shares = Shares::new(&tally, 8, 1 << 20);
/// let mut dealt = 0;
/// let mut take = |hand: Hand| {
///     dealt += hand.fingerprints.len();
///     ControlFlow::Continue(())
/// };
/// let mut deal = Deal::new(&shares, 4096);
/// let _ = deal.add(&fingerprints, &mut take);
/// let _ = deal.end(&mut take);
/// // Each to one task of each of the four parts.
/// assert_eq!(dealt, 20_000);
/// ```
#[derive(Debug)]
pub struct Deal<'s> {
    shares: &'s Shares,
    most: usize,
    /// For the first piece of each task, and for the second one.
    hands: Vec<[Vec<u64>; 2]>,
}

/// Fingerprints for a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hand {
    /// The task, by its place in [`Shares::all`].
    pub share: u32,
    /// Whether they are of its second piece.
    pub is_second: bool,
    /// The fingerprints, in no particular order.
    pub fingerprints: Vec<u64>,
}

impl<'s> Deal<'s> {
    /// Deals out to these tasks. A task is handed its fingerprints as soon as so many have come
    /// together (1,024 at least): that often, 8 bytes each are held for every task.
    #[must_use]
    pub fn new(shares: &'s Shares, most: usize) -> Deal<'s> {
        let hands = vec![<[Vec<u64>; 2]>::default(); shares.all().len()];
        Deal { shares, most: most.max(HAND_MIN), hands }
    }

    /// Deals out these, and hands on what is full. Costs some nanoseconds for each fingerprint and
    /// part.
    ///
    /// Returns `Break` if `take` did; what was to be handed on later is lost then.
    #[expect(clippy::indexing_slicing, reason = "there are hands for each task")]
    pub fn add(
        &mut self,
        fingerprints: &[u64],
        take: &mut impl FnMut(Hand) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Deal { shares, most, hands } = self;
        let mut flow = ControlFlow::Continue(());
        for fingerprint in fingerprints {
            shares.each(*fingerprint, |share, is_second| {
                // One buffer for each task and piece. They fill at different times, so the tasks get
                // many small batches instead of one at the end.
                let hand = &mut hands[share as usize][usize::from(is_second)];
                hand.push(*fingerprint);
                // A fingerprint goes to several tasks. After a break the
                // others still store it, but `take` is not called again.
                if hand.len() >= *most && flow.is_continue() {
                    let fingerprints = std::mem::take(hand);
                    flow = take(Hand { share, is_second, fingerprints });
                }
            });
            if flow.is_break() {
                break;
            }
        }
        flow
    }

    /// Hands on all that is left.
    ///
    /// Returns `Break` if `take` did.
    pub fn end(self, take: &mut impl FnMut(Hand) -> ControlFlow<()>) -> ControlFlow<()> {
        for (share, sides) in (0..).zip(self.hands) {
            for (is_second, fingerprints) in [false, true].into_iter().zip(sides) {
                if !fingerprints.is_empty() {
                    take(Hand { share, is_second, fingerprints })?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}
