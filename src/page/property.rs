//! Properties of a page that no visit observes, for example its weight. A property is in force
//! until the next property of its kind is set.
//!
//! All properties are processed in the same way: a property is an entry, is folded into the head,
//! and moves to newer segments. A new property needs a variant of [`Property`], a field of
//! [`Properties`], and its bytes in `segment`.

use std::fmt;

use super::Weight;
use crate::time::Time;

/// A property of a page that the operator of the crawl sets.
///
/// Properties are ordered by kind, weights first, and within a kind by value.
///
/// ```
/// use simkeep::Property;
/// assert_eq!(Property::Class(7).to_string(), "class 7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    /// The importance of the page.
    Weight(Weight),
    /// The class of the page: a number whose meaning the operator defines. See
    /// [`Classes`](crate::Classes).
    Class(u32),
}

/// Formats for people: "weight 2.5", "class 7".
impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Weight(weight) => write!(f, "weight {weight}"),
            Property::Class(class) => write!(f, "class {class}"),
        }
    }
}

/// A property of a page, which applies from a time until another property of its kind is set.
/// Setting a property is neither a visit nor a change of the page.
///
/// The properties of a page are ordered by time, then by kind, then by value. If several properties
/// of one kind have the same time, the greatest value applies, whatever the order of arrival.
///
/// ```
/// use simkeep::{Property, PropertyEntry, Time};
/// let earlier = PropertyEntry { time: Time::from_ms(1_000)?, property: Property::Class(9) };
/// let later = PropertyEntry { time: Time::from_ms(2_000)?, property: Property::Class(7) };
/// assert!(earlier < later);
/// # Ok::<(), simkeep::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyEntry {
    /// The time when the property was set.
    pub time: Time,
    /// The property.
    pub property: Property,
}

/// The number of kinds of properties.
pub(crate) const KINDS: usize = 2;

/// The properties in force on a page, each with the time when it was set. The properties are a
/// fold: the result does not depend on the order of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    weight: Option<(Time, Weight)>,
    class: Option<(Time, u32)>,
}

impl Properties {
    /// Adds a property.
    pub(crate) fn take(&mut self, given: PropertyEntry) {
        let time = given.time;
        match given.property {
            Property::Weight(weight) => self.weight = self.weight.max(Some((time, weight))),
            Property::Class(class) => self.class = self.class.max(Some((time, class))),
        }
    }

    /// The weight in force.
    pub(crate) fn weight(&self) -> Weight {
        self.weight.map_or(Weight::ONE, |(_, weight)| weight)
    }

    /// The class in force; `None` if the class was never set.
    pub(crate) fn class(&self) -> Option<u32> {
        self.class.map(|(_, class)| class)
    }

    /// The property in force of the same kind as `property`.
    pub(crate) fn of_kind(&self, property: Property) -> Option<PropertyEntry> {
        match property {
            Property::Weight(_) => self.weight_entry(),
            Property::Class(_) => self.class_entry(),
        }
    }

    /// All properties in force, weights first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = PropertyEntry> + use<> {
        self.weight_entry().into_iter().chain(self.class_entry())
    }

    fn weight_entry(&self) -> Option<PropertyEntry> {
        self.weight.map(|(time, weight)| PropertyEntry { time, property: Property::Weight(weight) })
    }

    fn class_entry(&self) -> Option<PropertyEntry> {
        self.class.map(|(time, class)| PropertyEntry { time, property: Property::Class(class) })
    }
}

impl FromIterator<PropertyEntry> for Properties {
    fn from_iter<I: IntoIterator<Item = PropertyEntry>>(all: I) -> Properties {
        let mut properties = Properties::default();
        all.into_iter().for_each(|given| properties.take(given));
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_property_of_each_kind_is_in_force() {
        let weight =
            |time, weight| PropertyEntry { time, property: Property::Weight(Weight::from(weight)) };
        let class = |time, class| PropertyEntry { time, property: Property::Class(class) };
        let mut all = [
            weight(Time(3), 2.0),
            class(Time(2), 0),
            class(Time(1), 9),
            weight(Time(3), 0.5),
            weight(Time(1), 8.0),
        ];
        for _ in 0..all.len() {
            all.rotate_left(1);
            let properties: Properties = all.into_iter().collect();
            assert_eq!((properties.weight(), properties.class()), (Weight::from(2.0), Some(0)));
            assert_eq!(
                properties.iter().collect::<Vec<_>>(),
                [weight(Time(3), 2.0), class(Time(2), 0)]
            );
            assert_eq!(properties.of_kind(Property::Class(7)), Some(class(Time(2), 0)));
        }
        // Class 0 is a class. A page without a class has none.
        let none = Properties::default();
        assert_eq!((none.weight(), none.class(), none.iter().count()), (Weight::ONE, None, 0));
    }
}
