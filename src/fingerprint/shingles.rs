//! The exact resemblance of two texts, to verify near-duplicates that fingerprints propose.

use super::feature_set::FeatureSet;
use super::recipe::Recipe;

/// The set of a text's w-shingles, its n-grams of `w` words (A. Z. Broder, *On the resemblance and
/// containment of documents*, 1997). Each shingle is stored as a hash of 8 bytes.
///
/// ```
/// use simkeep::fingerprint::Shingles;
/// let a = Shingles::of_text("a rose is a rose is a rose", 4);
/// let b = Shingles::of_text("a flower is a rose is a rose", 4);
/// assert_eq!((a.len(), a.resemblance(&b), a.containment(&b)), (3, 0.6, 1.0));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Shingles {
    /// The hashes of the shingles, ascending and distinct.
    hashes: Vec<u64>,
}

impl Shingles {
    /// Computes the shingles of `w` words each, 1 to 8. A text with fewer words is one shingle.
    /// Sorts the hashes.
    ///
    /// ```
    /// use simkeep::fingerprint::Shingles;
    /// assert_eq!(Shingles::of_text("a rose is a rose is a rose", 4).len(), 3);
    /// assert_eq!(Shingles::of_text("a rose", 4).len(), 1);
    /// ```
    pub fn of_text(text: &str, w: u32) -> Shingles {
        let mut set = FeatureSet::new(&Recipe::words(w));
        Shingles { hashes: set.of_text(text).to_vec() }
    }

    /// Returns the hashes of the shingles, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the number of shingles.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there are no shingles.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the number of shingles in both sets. Linear in the size of both sets.
    pub fn common(&self, other: &Shingles) -> usize {
        let (mut ours, mut theirs) =
            (self.hashes.iter().peekable(), other.hashes.iter().peekable());
        let mut common = 0;
        while let (Some(a), Some(b)) = (ours.peek(), theirs.peek()) {
            let order = a.cmp(b);
            common += usize::from(order.is_eq());
            if order.is_le() {
                ours.next();
            }
            if order.is_ge() {
                theirs.next();
            }
        }
        common
    }

    /// Returns the Jaccard index: the number of common shingles as a share of the union; 1 for two
    /// empty sets.
    ///
    /// ```
    /// use simkeep::fingerprint::Shingles;
    /// let fish = Shingles::of_text("fresh fish and chips", 2); // fresh fish, fish and, and chips
    /// let salad = Shingles::of_text("fresh fish and salad", 2);
    /// assert_eq!((fish.common(&salad), fish.resemblance(&salad)), (2, 0.5));
    /// ```
    pub fn resemblance(&self, other: &Shingles) -> f64 {
        let common = self.common(other);
        let all = self.len() + other.len() - common;
        if all == 0 { 1.0 } else { common as f64 / all as f64 }
    }

    /// Returns the share of these shingles that the other set contains; 1 for an empty set.
    ///
    /// ```
    /// use simkeep::fingerprint::Shingles;
    /// let quote = Shingles::of_text("the quick brown fox jumps", 3);
    /// let page = Shingles::of_text("it is said that the quick brown fox jumps over dogs", 3);
    /// assert_eq!(quote.containment(&page), 1.0); // the page quotes all of it
    /// assert!(page.containment(&quote) < 0.5);
    /// ```
    pub fn containment(&self, other: &Shingles) -> f64 {
        if self.is_empty() { 1.0 } else { self.common(other) as f64 / self.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn shingles_are_a_set() {
        let text = "Tropical fish include fish found in tropical environments around the world, \
                    including both freshwater and salt water species";
        assert_eq!(Shingles::of_text(text, 3).len(), 16);
        assert_eq!(Shingles::of_text("a rose is a rose is a rose", 4).len(), 3);
        let (none, some) = (Shingles::default(), Shingles::of_text("x", 5));
        assert!(none.is_empty() && some.len() == 1);
        assert_eq!((none.resemblance(&none), none.resemblance(&some)), (1.0, 0.0));
        assert_eq!((none.containment(&some), some.containment(&none)), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn resemblance_matches_sets(a in "([a-d] ){0,30}", b in "([a-d] ){0,30}", w in 1u32..4) {
            let (a, b) = (Shingles::of_text(&a, w), Shingles::of_text(&b, w));
            let sets: [BTreeSet<u64>; 2] = [&a, &b].map(|s| s.hashes().iter().copied().collect());
            let common = sets[0].intersection(&sets[1]).count();
            let all = sets[0].union(&sets[1]).count();
            prop_assert_eq!(a.common(&b), common);
            prop_assert_eq!(a.resemblance(&b), if all == 0 { 1.0 } else { common as f64 / all as f64 });
            prop_assert_eq!(a.resemblance(&b), b.resemblance(&a));
        }
    }
}
