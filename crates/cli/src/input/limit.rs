//! The maximum number of rows to list.

use std::str::FromStr;

/// A number of rows, or all of them.
#[derive(Clone, Copy)]
pub(crate) struct Limit(usize);

impl Limit {
    /// Reads a limit that may be 0: for verbs that print more than rows.
    pub(crate) fn or_none(text: &str) -> Result<Limit, &'static str> {
        if text == "0" { Ok(Limit(0)) } else { text.parse() }
    }

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
            Ok(limit @ 1..) => Ok(Limit(limit)),
            _ => Err("write a number, at least 1, or \"all\""),
        }
    }
}
