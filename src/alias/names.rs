//! The rules that may hold for a site, by number, and what each makes of a page.

use std::collections::HashMap;

use super::address::{Address, parameter};
use super::rule::{AliasRule, INDEX, family};

/// The most parameters of a page of which it is tried whether they make a difference, each name once.
pub(super) const PARAMETERS_MAX: usize = 32;

/// The most names of parameters that are told apart in a site.
const NAMES_MAX: usize = 1 << 10;

/// The longest name of a parameter that is looked at, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A rule of a site: its place in [`FIXED`], then in [`INDEX`], then among the names of parameters; from
/// 1 on.
pub(super) type Number = u16;

/// Rules that are the same for all sites. Of those with a direction this is the one that is counted.
const FIXED: [AliasRule; 6] = [
    AliasRule::Scheme { secure: true },
    AliasRule::Www { with: false },
    AliasRule::Fragment,
    AliasRule::Order,
    AliasRule::Slash { with: false },
    AliasRule::Case,
];

/// The number of the first rule for a name of a page that a folder is.
const FIRST_INDEX: Number = 7;

/// The number of the first rule for a parameter.
const FIRST_PARAMETER: Number = 15;

const _: () = assert!(
    FIRST_INDEX as usize == FIXED.len() + 1
        && FIRST_PARAMETER as usize == FIRST_INDEX as usize + INDEX.len()
);

/// What a rule takes from a URL.
#[derive(Debug)]
pub(super) enum Taken {
    /// What no other URL has of which it makes the same.
    All,
    /// This, and others may have it.
    Text(String),
}

/// The names of parameters that a site has, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, Number>,
    names: Vec<String>,
}

impl Names {
    /// The rule of this number.
    pub(super) fn rule(&self, number: Number) -> Option<AliasRule> {
        let at = |first: Number| usize::from(number).checked_sub(usize::from(first));
        if let Some(at) = at(FIRST_PARAMETER) {
            return self.names.get(at).cloned().map(AliasRule::Parameter);
        }
        if let Some(at) = at(FIRST_INDEX) {
            return INDEX.get(at).map(|name| AliasRule::Index((*name).to_owned()));
        }
        at(1).and_then(|at| FIXED.get(at).cloned())
    }

    /// Passes on what each rule makes of a page, with the number of the rule and what it takes from the
    /// URL, if that is another URL. Whether a parameter was passed over, since there are too many.
    pub(super) fn changes<E>(
        &mut self,
        url: &Address<'_>,
        mut each: impl FnMut(Number, &Address<'_>, Taken) -> Result<(), E>,
    ) -> Result<bool, E> {
        for (number, rule) in (1..).zip(&FIXED) {
            if let Some(url) = rule.of(url) {
                each(number, &url, Taken::All)?;
            }
        }
        let is_it = |(_, name): &(Number, &&str)| url.name().eq_ignore_ascii_case(name);
        if let Some((number, name)) = (FIRST_INDEX..).zip(&INDEX).find(is_it) {
            let rule = AliasRule::Index((*name).to_owned());
            if let Some(url) = rule.of(url) {
                // However it is written.
                each(number, &url, Taken::Text((*name).to_owned()))?;
            }
        }
        let (mut seen, mut passed_over) = (Vec::new(), false);
        for name in url.parameters().map(family) {
            if name.is_empty() || seen.contains(&name) {
                continue;
            }
            if seen.len() == PARAMETERS_MAX {
                passed_over = true;
                break;
            }
            seen.push(name);
            let Some(number) = self.number(name) else {
                passed_over = true;
                continue;
            };
            if let Some(changed) = AliasRule::Parameter(name.to_owned()).of(url) {
                let taken = url.written().filter(|written| family(parameter(written)) == name);
                let taken = taken.collect::<Vec<&str>>().join("&");
                each(number, &changed, Taken::Text(taken))?;
            }
        }
        Ok(passed_over)
    }

    /// The number of the rule for a parameter; `None` if its name is too long, or there are too many.
    fn number(&mut self, name: &str) -> Option<Number> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let is_taken = self.names.len() < NAMES_MAX && name.len() <= NAME_BYTES_MAX;
        let number = Number::try_from(self.names.len()).ok().filter(|_| is_taken)?;
        let number = FIRST_PARAMETER.checked_add(number)?;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        Some(number)
    }
}
