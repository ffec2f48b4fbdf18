//! Sets of classes of pages.

use std::fmt;
use std::str::FromStr;

/// Some classes of pages, and perhaps the pages that have none: such as what somebody may see.
///
/// A page has the class that it was [given](crate::Observation::class) last. Its number means nothing to
/// a store. A page of which no class was ever given has none; 0 is a class like any other.
///
/// ```
/// use simkeep::Classes;
/// let open = Classes::of([0, 7]).and_unclassed();
/// assert!(open.have(Some(7)) && open.have(None));
/// assert!(!open.have(Some(1)) && !Classes::of([0]).have(None));
/// assert_eq!(open.to_string(), "0,7,none");
/// assert_eq!("7,none,0".parse(), Ok(open));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Classes {
    /// In order, each once.
    classes: Vec<u32>,
    unclassed: bool,
}

impl Classes {
    /// These classes. Takes four bytes for each, and a lookup a binary search; a page without a class is
    /// not among them.
    pub fn of(classes: impl IntoIterator<Item = u32>) -> Classes {
        let mut classes: Vec<u32> = classes.into_iter().collect();
        classes.sort_unstable();
        classes.dedup();
        Classes { classes, unclassed: false }
    }

    /// Adds the pages that have no class.
    #[must_use]
    pub fn and_unclassed(mut self) -> Classes {
        self.unclassed = true;
        self
    }

    /// Whether a page of this class is among them, or with `None` one that has none.
    pub fn have(&self, class: Option<u32>) -> bool {
        class.map_or(self.unclassed, |class| self.classes.binary_search(&class).is_ok())
    }
}

/// Numbers and perhaps `none`, with commas between them.
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

/// A text that names no classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassesError;

impl fmt::Display for ClassesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "classes are numbers up to {}, or none, with commas between them", u32::MAX)
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
    fn a_text_names_classes_or_is_refused() {
        let all = Classes::of([u32::MAX, 0, 3, 3]);
        assert_eq!("3,4294967295,00".parse(), Ok(all.clone()));
        assert_eq!(all.to_string(), "0,3,4294967295");
        assert_eq!("none".parse(), Ok(Classes::default().and_unclassed()));
        for text in ["", ",", "1,", "+1", "-1", "1 ", "4294967296", "None", "1;2", "0x1", "½"] {
            assert_eq!(text.parse::<Classes>(), Err(ClassesError), "{text}");
        }
    }
}
