//! Structures of settings. Each setting can be read, has a default, and has a method that sets it.

/// Declares settings: a structure of public fields with their defaults, and for each field a method
/// with the name of the field that sets it.
macro_rules! settings {
    (
        $(#[$of:meta])*
        pub struct $Name:ident {
            $($(#[$about:meta])* pub $field:ident: $Type:ty = $default:expr,)*
        }
    ) => {
        $(#[$of])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct $Name {
            $($(#[$about])* pub $field: $Type,)*
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name { $($field: $default,)* }
            }
        }

        impl $Name {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](field@Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $Type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

pub(crate) use settings;
