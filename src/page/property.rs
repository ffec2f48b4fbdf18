//! Properties of a page: its weight and class, which the operator sets, and the entity tag and the
//! target, which a server reports. A property is in force until the next property of its kind is
//! set. A property that describes content is in force only until the next visit that sees content.
//!
//! All properties are processed in the same way: a property is an entry, is folded into the head,
//! and moves to newer segments. A new property needs a variant of [`Property`], a field of
//! [`Properties`], and its bytes in `segment`.

use std::fmt;

use super::{ETag, Entry, Target, Weight};
use crate::time::Time;

/// A property of a page.
///
/// The operator of the crawl sets the weight and the class. The entity tag and the target describe
/// the content of the page at the time of the property: the next visit that sees content ends them.
///
/// Properties are ordered by kind, weights first, and within a kind by value.
///
/// ```
/// use simkeep::Property;
/// assert_eq!(Property::Class(7).to_string(), "class 7");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    /// The importance of the page.
    Weight(Weight),
    /// The class of the page: a number whose meaning the operator defines. See
    /// [`Classes`](crate::Classes).
    Class(u32),
    /// The entity tag of the content. Only the last entity tag of a page is kept.
    ETag(ETag),
    /// The URL to which the content points: the target of a redirect, or the canonical URL that the
    /// content declares.
    Target(Target),
}

impl Property {
    /// Whether the property describes content, so that the next content ends it.
    pub(crate) fn is_of_content(&self) -> bool {
        match self {
            Property::Weight(_) | Property::Class(_) => false,
            Property::ETag(_) | Property::Target(_) => true,
        }
    }
}

/// Formats for people: "weight 2.5", "class 7", "etag \"v1\"". Of a target, only the part that
/// differs from the URL of the page is known: "target ...shoes".
impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Weight(weight) => write!(f, "weight {weight}"),
            Property::Class(class) => write!(f, "class {class}"),
            Property::ETag(etag) => write!(f, "etag {etag}"),
            Property::Target(target) => write!(f, "target ...{}", target.parts().1),
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyEntry {
    /// The time when the property was set.
    pub time: Time,
    /// The property.
    pub property: Property,
}

/// The number of kinds of properties.
pub(crate) const KINDS: usize = 4;

/// The properties in force on a page, each with the time when it was set. The properties are a
/// fold: the result does not depend on the order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Properties {
    weight: Option<(Time, Weight)>,
    class: Option<(Time, u32)>,
    /// The properties of the content last seen; `None` if it has none. Most pages have none, and heads
    /// are moved often, so that these are stored elsewhere.
    content: Option<Box<ContentProperties>>,
}

/// The properties that describe content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ContentProperties {
    etag: Option<(Time, ETag)>,
    target: Option<(Time, Target)>,
}

impl ContentProperties {
    fn etag_entry(&self) -> Option<PropertyEntry> {
        let (time, etag) = self.etag.clone()?;
        Some(PropertyEntry { time, property: Property::ETag(etag) })
    }

    fn target_entry(&self) -> Option<PropertyEntry> {
        let (time, target) = self.target.clone()?;
        Some(PropertyEntry { time, property: Property::Target(target) })
    }
}

impl Properties {
    /// Adds a property.
    pub(crate) fn take(&mut self, given: PropertyEntry) {
        fn keep_later<T: Ord>(kept: &mut Option<(Time, T)>, time: Time, value: T) {
            let other = Some((time, value));
            if *kept < other {
                *kept = other;
            }
        }
        let time = given.time;
        match given.property {
            Property::Weight(weight) => keep_later(&mut self.weight, time, weight),
            Property::Class(class) => keep_later(&mut self.class, time, class),
            Property::ETag(etag) => {
                keep_later(&mut self.content.get_or_insert_default().etag, time, etag);
            }
            Property::Target(target) => {
                keep_later(&mut self.content.get_or_insert_default().target, time, target);
            }
        }
    }

    /// Ends the properties of earlier content than the content seen at `time`.
    pub(super) fn end_before(&mut self, time: Time) {
        let Some(content) = &mut self.content else { return };
        content.etag.take_if(|(of, _)| *of < time);
        content.target.take_if(|(of, _)| *of < time);
        if **content == ContentProperties::default() {
            self.content = None;
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

    /// The entity tag of the content last seen.
    pub(crate) fn etag(&self) -> Option<&ETag> {
        self.content.as_ref()?.etag.as_ref().map(|(_, etag)| etag)
    }

    /// The target of the content last seen.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.content.as_ref()?.target.as_ref().map(|(_, target)| target)
    }

    /// The property in force of the same kind as `property`.
    pub(crate) fn of_kind(&self, property: &Property) -> Option<PropertyEntry> {
        match property {
            Property::Weight(_) => self.weight_entry(),
            Property::Class(_) => self.class_entry(),
            Property::ETag(_) => self.content.as_ref()?.etag_entry(),
            Property::Target(_) => self.content.as_ref()?.target_entry(),
        }
    }

    /// All properties in force, in order of their kinds.
    pub(crate) fn iter(&self) -> impl Iterator<Item = PropertyEntry> + use<'_> {
        let of_content = |content: &ContentProperties| {
            content.etag_entry().into_iter().chain(content.target_entry())
        };
        let of_content = self.content.as_deref().into_iter().flat_map(of_content);
        self.weight_entry().into_iter().chain(self.class_entry()).chain(of_content)
    }

    fn weight_entry(&self) -> Option<PropertyEntry> {
        self.weight.map(|(time, weight)| PropertyEntry { time, property: Property::Weight(weight) })
    }

    fn class_entry(&self) -> Option<PropertyEntry> {
        self.class.map(|(time, class)| PropertyEntry { time, property: Property::Class(class) })
    }
}

/// Removes all entity tags from a page's entries, in order, except the last one, and this one too
/// if a later visit saw content. The result is the same if some of the entries were treated before.
pub(crate) fn drop_superseded(entries: &mut Vec<Entry>) {
    let is_etag = |entry: &Entry| entry.etag().is_some();
    // Most pages have no entity tag. Of the others, most entries are visits.
    let Some(kept) = entries.iter().rposition(is_etag) else { return };
    // The properties of a time follow its visits, so content behind the entity tag is later.
    let ended = entries.iter().skip(kept).any(|entry| entry.content().is_some());
    let mut at = 0;
    entries.retain(|entry| {
        let is_kept = !is_etag(entry) || at == kept && !ended;
        at += 1;
        is_kept
    });
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
            weight(Time::from_ms_unchecked(3), 2.0),
            class(Time::from_ms_unchecked(2), 0),
            class(Time::from_ms_unchecked(1), 9),
            weight(Time::from_ms_unchecked(3), 0.5),
            weight(Time::from_ms_unchecked(1), 8.0),
        ];
        for _ in 0..all.len() {
            all.rotate_left(1);
            let properties: Properties = all.iter().cloned().collect();
            assert_eq!((properties.weight(), properties.class()), (Weight::from(2.0), Some(0)));
            assert_eq!(
                properties.iter().collect::<Vec<_>>(),
                [weight(Time::from_ms_unchecked(3), 2.0), class(Time::from_ms_unchecked(2), 0)]
            );
            assert_eq!(
                properties.of_kind(&Property::Class(7)),
                Some(class(Time::from_ms_unchecked(2), 0))
            );
        }
        // Class 0 is a class. A page without a class has none.
        let none = Properties::default();
        assert_eq!((none.weight(), none.class(), none.iter().count()), (Weight::ONE, None, 0));
    }
}
