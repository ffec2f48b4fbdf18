//! Structures of the header that copy a type of the crate, with one line for each field.

/// Declares a structure of the header, the last of its fields that a program must have room for, and what it
/// is made from. All fields are plain, as [`Plain`](crate::abi::Plain) says.
///
/// A field gets the value after `=`, or the one that has its name in the crate. A field without a description
/// is described as in the crate: `header/header.rs` looks it up there.
macro_rules! structure {
    (
        $(#[$about:meta])*
        pub struct $Name:ident, up to $last:ident, from $of:ident: $Of:ty $(, $more:ident: $More:ty)? {
            $($(#[$doc:meta])* $field:ident: $Type:ty $(= $value:expr)?,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub struct $Name {
            $($(#[$doc])* #[doc = concat!("`", stringify!($field), "`")] pub $field: $Type,)*
        }

        $crate::abi::plain!($Name, up to $last);

        impl $Name {
            pub(crate) fn new($of: $Of $(, $more: $More)?) -> $Name {
                $Name { $($field: $crate::structure::value!($of.$field $(= $value)?),)* }
            }
        }
    };
}

/// The value of a field.
macro_rules! value {
    ($of:ident.$field:ident) => {
        $of.$field
    };
    ($of:ident.$field:ident = $value:expr) => {
        $value
    };
}

pub(crate) use {structure, value};

/// The bits of what is there.
pub(crate) fn bits(of: &[(bool, u32)]) -> u32 {
    of.iter().filter(|(is_there, _)| *is_there).map(|(_, bit)| bit).sum()
}
