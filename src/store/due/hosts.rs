//! How many pages of each host were returned.

use std::collections::HashMap;

use super::options::Due;
use super::rules::RuleNumber;
use crate::page::surt;

/// How many pages of each host were returned. Takes memory for each of these hosts.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    /// Pages of a rule with a number of its own are counted by themselves.
    returned: HashMap<(Vec<u8>, Option<RuleNumber>), usize>,
}

impl Hosts {
    /// Whether a page is among as many of its host as there may be, of which it is counted.
    pub(super) fn have_room(&mut self, url: &str, rule: RuleNumber, due: &Due) -> bool {
        let own = due.rules.get(rule).per_host;
        let most = own.unwrap_or(due.per_host);
        if most == usize::MAX {
            return true;
        }
        let mut host = Vec::new();
        surt::host(url, &mut host);
        let returned = self.returned.entry((host, own.map(|_| rule))).or_default();
        let room = *returned < most;
        *returned += usize::from(room);
        room
    }
}
