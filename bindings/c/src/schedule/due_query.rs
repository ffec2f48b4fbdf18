//! The query for due pages.

use std::ffi::c_char;

use simkeep::Time;
use simkeep::due::{self, Rule, Rules};

use crate::abi::{self, plain};
use crate::argument::{interval, policy, prefix, to_usize};
use crate::call::done;
use crate::failure::{Failure, Result};
use crate::schedule::hints::{self, Hints};
use crate::schedule::plan::{self, Plan};

/// A rule for the pages under a prefix. Set all fields to 0, then set the required fields. Only the
/// rule with the longest prefix applies to a page.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DueRule {
    /// The prefix; NULL for all pages that match no other rule.
    pub under: *const c_char,
    /// The length of `under` in bytes.
    pub under_len: usize,
    /// The minimum seconds between two visits; 0 for no minimum.
    pub min_s: u64,
    /// The maximum seconds between two visits, after which a page comes first; 0 for no maximum.
    pub max_s: u64,
    /// A factor of the weight of a page; 0 for 1.
    pub weight: f64,
    /// The maximum number of pages of one host in a result; 0 for no limit.
    pub per_host: u64,
    /// The policy, as in `simkeep_due_query`; NULL for the policy of the query.
    pub policy: *const c_char,
    /// The length of `policy` in bytes.
    pub policy_len: usize,
}

plain!(DueRule, up to policy_len);

/// The query for the pages to visit next. Fill in the structure with `simkeep_due_query_init`, and
/// then change fields. The pointers are read only during a call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DueQuery {
    /// `sizeof` of this structure.
    pub size: usize,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    /// The maximum number of pages.
    pub budget: u64,
    /// The maximum number of pages of one host; `UINT64_MAX` for no limit. Default: no limit.
    pub per_host: u64,
    /// The seconds after which an unvisited page comes first, regardless of its value. Default: the
    /// seconds of 365 days.
    pub largest_interval_s: u64,
    /// The memory for selected pages, in bytes. Default: 64 MiB.
    pub memory_bytes: u64,
    /// Only pages under this prefix; NULL for all. Default: NULL.
    pub under: *const c_char,
    /// The length of `under` in bytes.
    pub under_len: usize,
    /// The policy for the order of pages: `value`, `crawl-value`, `harmonic`, `uniform`,
    /// `fixed:7d`, `thesis`, `nutch` or `stormcrawler`. NULL for `value`. Default: NULL.
    pub policy: *const c_char,
    /// The length of `policy` in bytes.
    pub policy_len: usize,
    /// Rules for pages under prefixes. Default: NULL.
    pub rules: *const DueRule,
    /// The number of rules.
    pub rules_count: usize,
    /// `sizeof *rules`.
    pub rule_size: usize,
    /// A plan, which adds due times to decisions; NULL for no plan. Default: NULL.
    pub plan: *const Plan,
    /// Hints about changes; NULL for no hints. Default: NULL.
    pub hints: *const Hints,
}

plain!(DueQuery, up to budget);

/// The seconds of 365 days.
const YEAR_S: u64 = 365 * 86_400;

impl Default for DueQuery {
    fn default() -> DueQuery {
        DueQuery {
            size: size_of::<DueQuery>(),
            per_host: u64::MAX,
            largest_interval_s: YEAR_S,
            memory_bytes: 64 << 20,
            rule_size: size_of::<DueRule>(),
            ..abi::zeroed()
        }
    }
}

/// Fills in the size, a time in milliseconds since 1970, the maximum number of pages, and defaults
/// for all other fields. `size` is `sizeof(simkeep_due_query)`. Any thread; costs nothing.
#[unsafe(no_mangle)]
pub extern "C" fn simkeep_due_query_init(
    due_query: *mut DueQuery,
    size: usize,
    now_ms: i64,
    budget: u64,
    error: *mut *mut Failure,
) -> i32 {
    done("simkeep_due_query_init", error, || {
        let defaults = DueQuery { size, now_ms, budget, ..DueQuery::default() };
        abi::put_structure(due_query, size, &defaults, "due_query")
    })
}

/// Converts the query of a caller.
pub(crate) fn read(due_query: *const DueQuery) -> Result<due::Due> {
    let of = abi::read_versioned_struct(due_query, DueQuery::default(), "due_query")?;
    let largest = interval(of.largest_interval_s, "due_query.largest_interval_s")?;
    let mut asked = due::Due::new(Time::from_ms_unchecked(of.now_ms), to_usize(of.budget))
        .per_host(to_usize(of.per_host))
        .largest_interval(largest)
        .memory_bytes(to_usize(of.memory_bytes));
    if let Some(prefix) = prefix(of.under, of.under_len, "due_query.under")? {
        asked = asked.under(prefix);
    }
    if let Some(policy) = policy(of.policy, of.policy_len, "due_query.policy")? {
        asked = asked.policy(policy);
    }
    let rules = match of.rules_count {
        0 => Vec::new(),
        count => abi::structures(of.rules, count, of.rule_size, "due_query.rules")?,
    };
    if !rules.is_empty() {
        let one = |(nth, rule): (usize, &DueRule)| {
            rule.read().map_err(|failure| failure.within(&format!("rule {nth}")))
        };
        let rules = rules.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
        asked = asked.rules(&Rules::new(rules).map_err(simkeep::Error::from)?);
    }
    if let Some(plan) = abi::optional(of.plan, "due_query.plan")? {
        asked = asked.plan(plan::of(plan));
    }
    if let Some(hints) = abi::optional(of.hints, "due_query.hints")? {
        asked = asked.hints(hints::of(hints));
    }
    Ok(asked)
}

impl DueRule {
    fn read(&self) -> Result<Rule> {
        let under = prefix(self.under, self.under_len, "under")?;
        let mut rule = under.map_or_else(Rule::everywhere, Rule::under);
        if self.min_s > 0 {
            rule = rule.min(interval(self.min_s, "min_s")?);
        }
        if self.max_s > 0 {
            rule = rule.max(interval(self.max_s, "max_s")?);
        }
        // Fields that the caller leaves at zero keep their defaults.
        if self.weight.to_bits() != 0 {
            rule = rule.weight(self.weight);
        }
        if self.per_host > 0 {
            rule = rule.per_host(to_usize(self.per_host));
        }
        let policy = policy(self.policy, self.policy_len, "policy")?;
        Ok(policy.into_iter().fold(rule, Rule::policy))
    }
}
