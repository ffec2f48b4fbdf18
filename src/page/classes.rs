//! Sets of classes of pages.

use std::fmt;
use std::str::FromStr;

/// A set of classes of pages, optionally with the pages that have no class. For example, the
/// classes that a user may see.
///
/// The class of a page is the class that was [set](crate::Observation::class) last. The store does
/// not interpret the number. A page whose class was never set has no class; 0 is an ordinary class.
///
/// ```
/// use simkeep::Classes;
/// let open = Classes::of([0, 7]).and_unclassed();
/// assert!(open.contains(Some(7)) && open.contains(None));
/// assert!(!open.contains(Some(1)) && !Classes::of([0]).contains(None));
/// assert_eq!(open.to_string(), "0,7,none");
/// assert_eq!("7,none,0".parse(), Ok(open));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Classes {
    /// The class numbers, sorted, without duplicates.
    classes: Vec<u32>,
    unclassed: bool,
}

impl Classes {
    /// Creates a set of classes, without the pages that have no class.
    ///
    /// The set takes four bytes for each class. A lookup is a binary search.
    ///
    /// ```
    /// use simkeep::Classes;
    /// let seen_by_all = Classes::of([0, 7]);
    /// assert!(seen_by_all.contains(Some(7)) && !seen_by_all.contains(None));
    /// ```
    pub fn of(classes: impl IntoIterator<Item = u32>) -> Classes {
        let mut classes: Vec<u32> = classes.into_iter().collect();
        classes.sort_unstable();
        classes.dedup();
        Classes { classes, unclassed: false }
    }

    /// Adds the pages without a class.
    ///
    /// ```
    /// use simkeep::Classes;
    /// assert!(!Classes::of([7]).contains(None));
    /// assert!(Classes::of([7]).and_unclassed().contains(None));
    /// ```
    #[must_use]
    pub fn and_unclassed(mut self) -> Classes {
        self.unclassed = true;
        self
    }

    /// Whether the set contains a class; with `None`, whether it contains the pages without a
    /// class.
    pub fn contains(&self, class: Option<u32>) -> bool {
        class.map_or(self.unclassed, |class| self.classes.binary_search(&class).is_ok())
    }
}

/// Formats class numbers and `none`, separated by commas.
impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for class in &self.classes {
            write!(f, "{comma}{class}")?;
            comma = ",";
        }
        if self.unclassed { write!(f, "{comma}none") } else { Ok(()) }
    }
}

/// The error for a text that is not a set of classes.
///
/// ```
/// use simkeep::Classes;
/// assert!("secret".parse::<Classes>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassesError;

impl fmt::Display for ClassesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "classes are numbers up to {}, or none, separated by commas", u32::MAX)
    }
}

impl std::error::Error for ClassesError {}

impl FromStr for Classes {
    type Err = ClassesError;

    fn from_str(text: &str) -> Result<Classes, ClassesError> {
        let mut classes = Classes::default();
        for one in text.split(',') {
            if one == "none" {
                classes.unclassed = true;
            } else if one.bytes().all(|byte| byte.is_ascii_digit()) {
                classes.classes.push(one.parse().map_err(|_| ClassesError)?);
            } else {
                return Err(ClassesError);
            }
        }
        Ok(Classes { unclassed: classes.unclassed, ..Classes::of(classes.classes) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_parsed_or_refused() {
        let all = Classes::of([u32::MAX, 0, 3, 3]);
        assert_eq!("3,4294967295,00".parse(), Ok(all.clone()));
        assert_eq!(all.to_string(), "0,3,4294967295");
        assert_eq!("none".parse(), Ok(Classes::default().and_unclassed()));
        for text in ["", ",", "1,", "+1", "-1", "1 ", "4294967296", "None", "1;2", "0x1", "½"] {
            assert_eq!(text.parse::<Classes>(), Err(ClassesError), "{text}");
        }
    }
}
