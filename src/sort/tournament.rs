//! A tournament tree: repeatedly finds the least of many contestants.

/// A tree of losers. After the winner changes, it is compared only with the losers on its path to
/// the root: one comparison for each doubling of the number of contestants.
///
/// The tree identifies contestants by number, and the caller's closure orders them. The closure
/// also orders ties and exhausted contestants, so that any two have an order.
///
/// D. E. Knuth, "The Art of Computer Programming", volume 3, 5.4.1.
#[derive(Debug)]
pub(crate) struct Tournament {
    /// The winner of all matches, then the loser of the match at each node.
    nodes: Vec<usize>,
}

impl Tournament {
    /// Plays all matches among `contestants`.
    #[expect(
        clippy::indexing_slicing,
        reason = "n nodes, the first for the winner, and 2 n places"
    )]
    pub(crate) fn new(
        contestants: usize,
        before: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Tournament {
        // Node n has the children 2n and 2n + 1; contestant c is the leaf `contestants + c`.
        let mut winners: Vec<usize> = (0..contestants.max(1)).collect();
        let mut nodes = vec![0; contestants.max(1)];
        let mut level: Vec<usize> = vec![0; nodes.len()];
        level.append(&mut winners);
        // From the leaves up, so that both children are decided before their parent plays.
        for node in (1..nodes.len()).rev() {
            let (a, b) = (level[2 * node], level[2 * node + 1]);
            (level[node], nodes[node]) = if before(b, a) { (b, a) } else { (a, b) };
        }
        nodes[0] = level[1];
        Tournament { nodes }
    }

    /// Returns the least contestant; 0 without contestants.
    #[expect(clippy::indexing_slicing, reason = "there is always a first node")]
    pub(crate) fn winner(&self) -> usize {
        self.nodes[0]
    }

    /// Replays the matches of the winner after the winner has changed.
    #[expect(clippy::indexing_slicing, reason = "leaves follow the inner nodes, and parents halve")]
    pub(crate) fn replay(&mut self, mut before: impl FnMut(usize, usize) -> bool) {
        let mut winner = self.winner();
        // A changed winner only meets the losers on the path from its leaf to the root: a
        // logarithmic number of matches.
        let mut node = (self.nodes.len() + winner) / 2;
        while node > 0 {
            if before(self.nodes[node], winner) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorted_lists_are_merged(
            mut lists in prop::collection::vec(prop::collection::vec(0u32..50, 0..20), 0..20),
        ) {
            let mut expected: Vec<(u32, usize)> = Vec::new();
            for (number, list) in lists.iter_mut().enumerate() {
                list.sort_unstable();
                expected.extend(list.iter().map(|value| (*value, number)));
                list.reverse();
            }
            expected.sort_unstable();
            let head = |lists: &[Vec<u32>], at: usize| {
                let last = lists.get(at).and_then(|list| list.last().copied());
                (last.is_none(), last, at)
            };
            let mut tournament =
                Tournament::new(lists.len(), &mut |a, b| head(&lists, a) < head(&lists, b));
            let mut found = Vec::new();
            while let Some(value) = lists.get_mut(tournament.winner()).and_then(Vec::pop) {
                found.push((value, tournament.winner()));
                tournament.replay(|a, b| head(&lists, a) < head(&lists, b));
            }
            prop_assert_eq!(found, expected);
        }
    }
}
