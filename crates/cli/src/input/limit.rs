//! The maximum number of rows to list.

use std::str::FromStr;

/// A number of rows, or all of them.
#[derive(Clone, Copy)]
pub(crate) struct Limit(usize);

impl Limit {
    /// The maximum number of rows.
    pub(crate) fn count(self) -> usize {
        self.0
    }
}

impl FromStr for Limit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Limit, &'static str> {
        match text.parse() {
            _ if text == "all" => Ok(Limit(usize::MAX)),
            Ok(limit) => Ok(Limit(limit)),
            Err(_) => Err("write a number, or \"all\""),
        }
    }
}
