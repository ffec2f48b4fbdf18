//! Structures and enumerations of the header that copy a type of the crate, with one line for each
//! field or variant. Missing descriptions are taken from the crate by `header/expand.rs`.

/// Declares a structure of the header, its last mandatory field, and its source. All fields are
/// plain, see [`Plain`](crate::abi::Plain).
///
/// A field gets the value after `=`, or the field of the same name in the crate.
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

/// Declares codes for the variants of a type of the crate, each with the pattern that it
/// represents.
macro_rules! code {
    (
        $(#[$about:meta])*
        pub enum $Code:ident from $Of:ty {
            $($(#[$doc:meta])* $Variant:ident = $number:literal of $pattern:pat,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        #[repr(i32)]
        pub enum $Code {
            $($(#[$doc])* #[doc = concat!("`", stringify!($Variant), "`")] $Variant = $number,)*
        }

        impl $Code {
            pub(crate) fn of(of: $Of) -> $Code {
                match of {
                    $($pattern => $Code::$Variant,)*
                }
            }
        }
    };
}

pub(crate) use {code, structure, value};

/// Returns the bits whose conditions are true.
pub(crate) fn bits(of: &[(bool, u32)]) -> u32 {
    of.iter().filter(|(is_there, _)| *is_there).map(|(_, bit)| bit).sum()
}
