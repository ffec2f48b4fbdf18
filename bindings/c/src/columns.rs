//! Results of many queries, column by column.

use crate::texts::{TextColumn, Texts};

/// Declares columns that live as long as their structure: the source of the columns, and for each
/// column the function that returns it, its name, its type, and its value for an item.
macro_rules! columns {
    (
        $(#[$about:meta])*
        pub struct $Name:ident, $handle:ident from $of:ident: $Of:ty;
        $(
            for $item:pat in $items:expr => {
                $($(#[$doc:meta])* fn $getter:ident -> $column:ident: $Type:ty = $value:expr;)*
            }
        )*
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $Name {
            $($(pub(crate) $column: <$Type as $crate::columns::Element>::Column,)*)*
        }

        impl $Name {
            pub(crate) fn new($of: $Of) -> $Name {
                $Name { $($($column: ($items).map(|$item| $value).collect(),)*)* }
            }
        }

        $($($crate::call::getters! {
            $handle: $Name;
            $(#[$doc])*
            fn $getter -> *const $Type = $crate::columns::Element::pointer(&$handle.$column);
        })*)*
    };
}

pub(crate) use columns;

/// An element of a column.
pub(crate) trait Element: Sized {
    /// The memory of a column.
    type Column;

    /// Returns the pointer to the column for C.
    fn pointer(column: &Self::Column) -> *const Self;
}

impl<T: Copy> Element for T {
    type Column = Vec<T>;

    fn pointer(column: &Vec<T>) -> *const T {
        column.as_ptr()
    }
}

impl Element for Texts {
    type Column = TextColumn;

    fn pointer(column: &TextColumn) -> *const Texts {
        column.view()
    }
}

/// Returns the start of each of several concatenated lists, and the end of the last list.
pub(crate) fn offsets(lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = u64> {
    let ends = lengths.scan(0, |sum, len| {
        *sum += len as u64;
        Some(*sum)
    });
    std::iter::once(0).chain(ends)
}
