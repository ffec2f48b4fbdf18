//! The rules that may apply to a site, by number, and their results for a page.

use std::collections::HashMap;

use super::address::{UrlParts, parameter};
use super::rule::{AliasRule, INDEX, family, has_slash};
use super::spelling::is_visitor;
use crate::order::sort_few_by;

/// The maximum number of parameters of a page that are tested, each name once.
pub(super) const PARAMETERS_MAX: usize = 32;

/// The maximum number of names of parameters that are tracked in a site.
const NAMES_MAX: usize = 1 << 10;

/// The maximum total length of the URLs made of one page by removing a parameter, in bytes. So a
/// page with very many parameters costs about as much as any other page.
const TRIED_BYTES: usize = 16 << 10;

/// The maximum number of rules of a page that are combined in pairs. Rules that usually make no
/// difference come first, by [`rank`].
pub(super) const TOGETHER_MAX: usize = 5;

/// The maximum number of rules of a page that are combined in pairs to find examples in a sample:
/// more than were counted, but few enough to keep pages with many parameters cheap.
pub(super) const SOUGHT_MAX: usize = 16;

/// The longest URL for which rules are combined, in bytes.
const TOGETHER_BYTES_MAX: usize = 2 << 10;

/// The longest name of a parameter that is tested, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// The number of a rule in a site, counted from 1: its position in [`FIXED`], followed by [`INDEX`]
/// and the names of parameters. A pair of rules has the number of the rule applied first in the
/// upper 16 bits. If each of two pages has one of the differences, the number is [`crossed`].
pub(super) type AliasRuleNumber = u32;

/// Rules that exist for all sites. A rule with a direction is counted in the direction listed here.
const FIXED: [AliasRule; 10] = [
    AliasRule::Scheme { secure: true },
    AliasRule::Www { with: false },
    AliasRule::Fragment,
    AliasRule::Order,
    AliasRule::Slash { with: false },
    AliasRule::Case,
    AliasRule::Escapes,
    AliasRule::Session,
    AliasRule::Slashes,
    AliasRule::EmptyQuery,
];

/// The number of the rule for schemes.
const SCHEME: AliasRuleNumber = 1;
/// The number of the rule for trailing slashes.
const SLASH: AliasRuleNumber = 5;
/// The number of the rule for ports. The two pages of its pairs have one SURT key.
pub(super) const PORT: AliasRuleNumber = 0x7ffe;
/// The number of the rule for hosts. The two pages of its pairs have one SURT key, or belong to
/// different sites.
pub(super) const HOST: AliasRuleNumber = 0x7fff;
/// The number of pairs whose pages have one SURT key, and hosts and ports that are both spelled
/// differently.
pub(super) const HOST_AND_PORT: AliasRuleNumber = crossed(PORT, HOST);

/// The number of pairs across sites whose pages differ in host and scheme.
pub(super) const HOST_AND_SCHEME: AliasRuleNumber = crossed(SCHEME, HOST);

/// Marks the number of two rules, each of which changes one page of a pair.
const CROSSED: AliasRuleNumber = 1 << 31;

/// The number of the first rule for an index page.
pub(super) const FIRST_INDEX: AliasRuleNumber = 11;

/// The number of the first rule for a parameter.
const FIRST_PARAMETER: AliasRuleNumber = 19;

const _: () = assert!(
    FIRST_INDEX as usize == FIXED.len() + 1
        && FIRST_PARAMETER as usize == FIRST_INDEX as usize + INDEX.len()
        && (FIRST_PARAMETER as usize) + NAMES_MAX < PORT as usize
);

/// The two rules of a combined number; `None` for the number of a single rule.
pub(super) fn split_combined(number: AliasRuleNumber) -> Option<[AliasRuleNumber; 2]> {
    let [first, second] = [number >> 16 & 0x7fff, number & 0xffff];
    (first > 0).then_some([first, second])
}

/// The number of pairs whose pages differ by two rules: one rule changes one page, and the other
/// rule changes the other page. The order of the rules makes no difference.
pub(super) const fn crossed(one: AliasRuleNumber, other: AliasRuleNumber) -> AliasRuleNumber {
    let [first, second] = if one < other { [one, other] } else { [other, one] };
    CROSSED | first << 16 | second
}

/// Whether a number was made by [`crossed`].
pub(super) fn is_crossed(number: AliasRuleNumber) -> bool {
    number & CROSSED != 0
}

/// The text that a rule removes from a URL.
#[derive(Debug)]
pub(super) enum RemovedText {
    /// The whole URL is hashed, because the difference is unique to the URL.
    All,
    /// The removed text, which a rule may remove from other URLs, too.
    Text(String),
}

/// The names of a site's parameters, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct ParameterNames {
    numbers: HashMap<String, AliasRuleNumber>,
    names: Vec<String>,
}

/// The rules that change a page and map it to no known page: at most `most`, by their [`rank`],
/// then in order of appearance.
struct CombinableRules {
    most: usize,
    rules: Vec<(AliasRuleNumber, AliasRule)>,
}

impl CombinableRules {
    fn add(&mut self, is_known: bool, number: AliasRuleNumber, rule: &AliasRule) {
        let at = self.rules.partition_point(|(_, other)| rank(other) <= rank(rule));
        if !is_known && at < self.most {
            self.rules.insert(at, (number, rule.clone()));
            self.rules.truncate(self.most);
        }
    }
}

/// The priority of a rule when rules are combined. Many parameters identify pages; they must not
/// displace the rules that exist for all sites.
fn rank(rule: &AliasRule) -> u8 {
    match rule {
        AliasRule::Parameter(name) if is_visitor(name) => 1,
        AliasRule::Parameter(_) | AliasRule::Case => 2,
        _ => 0,
    }
}

impl ParameterNames {
    /// The rule of a single number.
    pub(super) fn rule(&self, number: AliasRuleNumber) -> Option<AliasRule> {
        let at = |first: AliasRuleNumber| usize::try_from(number.checked_sub(first)?).ok();
        match number {
            PORT => return Some(AliasRule::Port),
            HOST => return Some(AliasRule::Host),
            _ => {}
        }
        if let Some(at) = at(FIRST_PARAMETER) {
            return self.names.get(at).cloned().map(AliasRule::Parameter);
        }
        if let Some(at) = at(FIRST_INDEX) {
            return INDEX.get(at).map(|name| AliasRule::Index((*name).to_owned()));
        }
        at(1).and_then(|at| FIXED.get(at).cloned())
    }

    /// All rules except parameters, and the number of these rules that are applied before parameters
    /// are removed.
    pub(super) fn fixed() -> (Vec<(AliasRuleNumber, AliasRule)>, usize) {
        let is_late = |rule: &AliasRule| matches!(rule, AliasRule::Order | AliasRule::EmptyQuery);
        let fixed = || (1..).zip(&FIXED).map(|(number, rule)| (number, rule.clone()));
        let index = INDEX.iter().map(|name| AliasRule::Index((*name).to_owned()));
        let mut all = vec![(HOST, AliasRule::Host), (PORT, AliasRule::Port)];
        all.extend(fixed().filter(|(_, rule)| !is_late(rule)));
        all.extend((FIRST_INDEX..).zip(index));
        let early = all.len();
        all.extend(fixed().filter(|(_, rule)| is_late(rule)));
        (all, early)
    }

    /// Passes the results of each rule for a page, and of pairs of rules, to `each`, if the rule
    /// changes the URL. Each result comes with the number of the rule and the text that the rule
    /// removes.
    ///
    /// `each` returns whether the resulting page is known. If so, the resulting page is processed
    /// by itself, and the rule is not combined with others. The first `most` of the other rules are
    /// combined in pairs, if the number of the pair is `wanted`. Returns whether some parameters
    /// were skipped because there are too many.
    pub(super) fn changes<E>(
        &mut self,
        url: &UrlParts<'_>,
        most: usize,
        wanted: impl Fn(AliasRuleNumber) -> bool,
        mut each: impl FnMut(AliasRuleNumber, &UrlParts<'_>, RemovedText) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let mut applied = CombinableRules { most, rules: Vec::new() };
        let query = url.query.as_deref().unwrap_or_default();
        let has_many = query.bytes().filter(|byte| *byte == b'&').count() >= PARAMETERS_MAX;
        for (number, rule) in (1..).zip(&FIXED) {
            if has_many && *rule == AliasRule::Order {
                continue;
            }
            if let Some(url) = rule.of(url) {
                applied.add(each(number, &url, RemovedText::All)?, number, rule);
            }
        }
        let is_it = |(_, name): &(AliasRuleNumber, &&str)| url.name().eq_ignore_ascii_case(name);
        if let Some((number, name)) = (FIRST_INDEX..).zip(&INDEX).find(is_it) {
            let rule = AliasRule::Index((*name).to_owned());
            if let Some(url) = rule.of(url) {
                // The removed text is the name in `INDEX`, whatever its case in the URL.
                let is_known = each(number, &url, RemovedText::Text((*name).to_owned()))?;
                applied.add(is_known, number, &rule);
            }
        }
        let skipped = self.parameters(url, &mut applied, &mut each)?;
        apply_combined(url, applied.rules, wanted, &mut each)?;
        Ok(skipped || has_many)
    }

    /// Passes the results for each parameter of a page to `each`. Returns whether parameters were
    /// skipped.
    fn parameters<E>(
        &mut self,
        url: &UrlParts<'_>,
        applied: &mut CombinableRules,
        each: &mut impl FnMut(AliasRuleNumber, &UrlParts<'_>, RemovedText) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let length = url.path.len() + url.query.as_deref().map_or(0, str::len);
        let tried_max = (TRIED_BYTES / length.max(1)).clamp(1, PARAMETERS_MAX);
        let (mut seen, mut skipped) = (Vec::new(), false);
        for name in url.parameters().map(family) {
            if name.is_empty() || seen.contains(&name) {
                continue;
            }
            if seen.len() == tried_max {
                skipped = true;
                break;
            }
            seen.push(name);
            let Some(number) = self.number(name) else {
                skipped = true;
                continue;
            };
            let rule = AliasRule::Parameter(name.to_owned());
            if let Some(changed) = rule.of(url) {
                let taken = url.written().filter(|written| family(parameter(written)) == name);
                let taken = taken.collect::<Vec<&str>>().join("&");
                applied.add(each(number, &changed, RemovedText::Text(taken))?, number, &rule);
            }
        }
        Ok(skipped)
    }

    /// The number of the rule for a parameter; `None` if the parameter's name is too long, or there
    /// are too many names.
    pub(super) fn number(&mut self, name: &str) -> Option<AliasRuleNumber> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let is_taken = self.names.len() < NAMES_MAX && name.len() <= NAME_BYTES_MAX;
        let number = AliasRuleNumber::try_from(self.names.len()).ok().filter(|_| is_taken)?;
        let number = FIRST_PARAMETER.checked_add(number)?;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        Some(number)
    }
}

/// Passes the results of pairs of rules for a page to `each`, if the number of the pair is wanted.
/// The two rules are applied in order.
///
/// The second rule may be the rule for trailing slashes although that rule leaves the page
/// unchanged: without its `index.html` or its session, a path may end with a slash that was not its
/// end before. (No other second rule applies only to the result of a first rule.)
fn apply_combined<E>(
    url: &UrlParts<'_>,
    mut applied: Vec<(AliasRuleNumber, AliasRule)>,
    wanted: impl Fn(AliasRuleNumber) -> bool,
    each: &mut impl FnMut(AliasRuleNumber, &UrlParts<'_>, RemovedText) -> Result<bool, E>,
) -> Result<(), E> {
    let length = url.path.len() + url.query.as_deref().map_or(0, str::len);
    if length > TOGETHER_BYTES_MAX {
        return Ok(());
    }
    sort_few_by(&mut applied, |(_, one), (_, other)| one.cmp(other));
    let slash = (SLASH, AliasRule::Slash { with: false });
    let slash = Some(&slash).filter(|_| has_slash(&url.path) != Some(true));
    for (at, (first, rule)) in applied.iter().enumerate() {
        let Some(once) = rule.of(url) else { continue };
        let slash = slash.filter(|(_, slash)| rule < slash && has_slash(&once.path) == Some(true));
        for (second, rule) in applied.iter().skip(at + 1).chain(slash) {
            let number = first << 16 | second;
            if !wanted(number) {
                continue;
            }
            if let Some(twice) = rule.of(&once) {
                each(number, &twice, RemovedText::All)?;
            }
        }
    }
    Ok(())
}
