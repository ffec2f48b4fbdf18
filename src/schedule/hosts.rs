//! How many pages of each host were returned.

use std::collections::HashMap;

use super::options::Due;
use super::rules::RuleNumber;
use crate::page::surt;

/// Whose pages are counted together: those of a host, and of a rule with a number of its own by
/// themselves.
type Of = (Vec<u8>, Option<RuleNumber>);

/// How many pages of each host were returned. Takes memory for each of these hosts.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    returned: HashMap<Of, usize>,
}

impl Hosts {
    /// Whether there are as many pages of its host as there may be, so that a page is passed over.
    pub(super) fn is_full(&self, url: &str, rule: RuleNumber, due: &Due) -> bool {
        let counted = counted(url, rule, due);
        counted.is_some_and(|(of, most)| self.returned.get(&of).copied().unwrap_or(0) >= most)
    }

    /// Counts a page that is returned.
    pub(super) fn count(&mut self, url: &str, rule: RuleNumber, due: &Due) {
        if let Some((of, _)) = counted(url, rule, due) {
            *self.returned.entry(of).or_default() += 1;
        }
    }
}

/// With which others a page is counted, and how many there may be; none if any number.
fn counted(url: &str, rule: RuleNumber, due: &Due) -> Option<(Of, usize)> {
    let own = due.rules.get(rule).per_host;
    let most = own.unwrap_or(due.per_host);
    if most == usize::MAX {
        return None;
    }
    let mut host = Vec::new();
    surt::host(url, &mut host);
    Some(((host, own.map(|_| rule)), most))
}
