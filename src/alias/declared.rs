//! The URLs to which pages of a site point: canonical URLs and targets of redirects.
//!
//! A canonical URL is a claim of the page. It counts as agreement if the content of the known page
//! with this URL is near, and as disagreement if the content is not near. A redirect is no claim: the
//! server sends the target's content for both URLs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::address::{UrlParts, parameter};
use super::names::{AliasRuleNumber, PARAMETERS_MAX, ParameterNames};
use super::rule::{AliasRule, family};
use super::site::{AliasPair, DeclaredUrls};
use crate::engine::lookup::Lookup;
use crate::engine::results::Page;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{Content, Epoch, Prefix, surt};
use crate::url::check_url;

/// The maximum number of wrong canonical URLs of a site that are listed. With the longest URLs they
/// take 16 MiB.
const WRONG_MAX: usize = 1 << 10;

/// The longest URL whose differences are explained by rules, in bytes.
const EXPLAINED_BYTES_MAX: usize = 2 << 10;

/// A page that points to another page.
pub(super) struct Declaration<'p> {
    page: &'p Page,
    target: &'p str,
    evidence: DeclarationEvidence,
}

/// The evidence for or against a declaration.
#[derive(Clone, Copy, PartialEq)]
enum DeclarationEvidence {
    /// The page redirects to the target.
    Redirect,
    /// Both pages are known; the number of differing bits of their fingerprints.
    Distance(u32),
    /// One of the pages has no fingerprint, or the target is unknown.
    Unknown,
}

/// The declarations that a rule explains.
#[derive(Clone, Copy, Default)]
pub(super) struct RuleDeclarations {
    /// Canonical URLs with near content.
    pub(super) canonicals: u64,
    /// Canonical URLs with other content.
    pub(super) contradicted: u64,
    pub(super) redirects: u64,
    /// Visits to the redirecting pages.
    pub(super) visits: u64,
}

/// Counts the declarations of a site.
#[derive(Default)]
pub(super) struct DeclarationCounter {
    pub(super) site: DeclaredUrls,
    /// The declarations that each rule explains, alone or with other rules.
    pub(super) rules: BTreeMap<AliasRuleNumber, RuleDeclarations>,
}

impl<'p> Declaration<'p> {
    /// The declaration of a page with a given fingerprint; `None` if the page points to no other
    /// page. Looks up the page of a canonical URL, unless the URL is outside of the prefix.
    pub(super) fn of(
        snapshot: &Snapshot,
        (under, epoch): (Option<&Prefix>, Epoch),
        page: &'p Page,
        fingerprint: Option<u64>,
    ) -> Result<Option<Declaration<'p>>> {
        let Some(target) = page.target.as_deref() else { return Ok(None) };
        let evidence = if page.contents.iter().any(Content::is_redirect) {
            DeclarationEvidence::Redirect
        } else {
            let is_asked = under.is_none_or(|under| under.contains(&surt::key_of(target)));
            let of_target = match fingerprint {
                Some(_) if is_asked => fingerprint_of(snapshot, target, epoch)?,
                _ => None,
            };
            match fingerprint.zip(of_target) {
                Some((one, other)) => DeclarationEvidence::Distance((one ^ other).count_ones()),
                None => DeclarationEvidence::Unknown,
            }
        };
        Ok(Some(Declaration { page, target, evidence }))
    }
}

/// The fingerprint of a known page in an epoch.
fn fingerprint_of(snapshot: &Snapshot, url: &str, epoch: Epoch) -> Result<Option<u64>> {
    if check_url(url).is_err() {
        return Ok(None);
    }
    let view = snapshot.view();
    let located = view.locate_page(&Lookup::new(url, view.seed), snapshot.sequence())?;
    let contents = located.head.map(|head| head.in_force()).unwrap_or_default();
    Ok(contents.iter().find(|content| content.epoch == epoch).and_then(Content::compared))
}

impl DeclarationCounter {
    /// The declarations that a rule explains, in a site of which a share is sampled.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is a count"
    )]
    pub(super) fn of_rule(&self, number: AliasRuleNumber, sampled: f64) -> RuleDeclarations {
        let all = self.rules.get(&number).copied().unwrap_or_default();
        let of_sample = |count: u64| match sampled < 1.0 {
            true => (count as f64 * sampled).round() as u64,
            false => count,
        };
        RuleDeclarations {
            canonicals: of_sample(all.canonicals),
            contradicted: of_sample(all.contradicted),
            redirects: of_sample(all.redirects),
            visits: of_sample(all.visits),
        }
    }

    /// Counts a declaration. Pages within `k` bits are near.
    pub(super) fn add(&mut self, names: &mut ParameterNames, of: &Declaration<'_>, k: u32) {
        let Declaration { page, target, evidence } = of;
        let site = &mut self.site;
        site.redirects += u64::from(*evidence == DeclarationEvidence::Redirect);
        site.canonicals += u64::from(*evidence != DeclarationEvidence::Redirect);
        let mut counts = RuleDeclarations::default();
        match *evidence {
            DeclarationEvidence::Redirect => (counts.redirects, counts.visits) = (1, page.visits),
            DeclarationEvidence::Distance(distance) if distance <= k => {
                site.near += 1;
                counts.canonicals = 1;
            }
            DeclarationEvidence::Distance(distance) => {
                site.different += 1;
                counts.contradicted = 1;
                if site.wrong.len() < WRONG_MAX {
                    let [first, other] = [target.to_string(), page.url.clone()];
                    site.wrong.push(AliasPair { first, other, distance });
                }
            }
            DeclarationEvidence::Unknown => return,
        }
        for number in explanation(names, &page.url, target).unwrap_or_default() {
            let of_rule = self.rules.entry(number).or_default();
            of_rule.canonicals += counts.canonicals;
            of_rule.contradicted += counts.contradicted;
            of_rule.redirects += counts.redirects;
            of_rule.visits += counts.visits;
        }
    }
}

/// The rules that together map two URLs of a site to one URL; `None` if there are no such rules.
fn explanation(
    names: &mut ParameterNames,
    page: &str,
    target: &str,
) -> Option<Vec<AliasRuleNumber>> {
    if page.len().max(target.len()) > EXPLAINED_BYTES_MAX {
        return None;
    }
    let mut pair = [page.to_owned(), target.to_owned()];
    let mut used = Vec::new();
    let (all, first_of_query) = &*RULES;
    let (early, late) = all.split_at_checked(*first_of_query)?;
    let mut differing = differing_parts(&pair)?;
    for rule in early {
        use_if_closer(&mut pair, &mut differing, rule, &mut used)?;
    }
    // A parameter makes a difference if the two URLs do not have the same values of it.
    if differing.query {
        for name in different_parameters(&pair)? {
            let number = names.number(&name)?;
            let rule = AliasRule::Parameter(name);
            pair = pair.map(|url| rule.apply(&url).unwrap_or(url));
            used.push(number);
        }
        differing = differing_parts(&pair)?;
    }
    for rule in late {
        use_if_closer(&mut pair, &mut differing, rule, &mut used)?;
    }
    (differing.count() == 0).then_some(used)
}

/// All rules except parameters, and the number of these rules that come before parameters.
static RULES: LazyLock<(Vec<(AliasRuleNumber, AliasRule)>, usize)> =
    LazyLock::new(ParameterNames::fixed);

/// The parts in which two URLs differ.
#[derive(Clone, Copy)]
struct DifferingParts {
    scheme: bool,
    host: bool,
    port: bool,
    path: bool,
    query: bool,
    fragment: bool,
}

impl DifferingParts {
    fn count(self) -> usize {
        let DifferingParts { scheme, host, port, path, query, fragment } = self;
        [scheme, host, port, path, query, fragment].into_iter().filter(|differs| *differs).count()
    }

    /// Whether a rule may make the URLs more alike. Most rules need not be applied.
    fn may_be_explained_by(self, rule: &AliasRule) -> bool {
        match rule {
            // For browsers, a `\` ends the host.
            AliasRule::Host => self.scheme || self.host || self.port || self.path,
            AliasRule::Scheme { .. } => self.scheme || self.port,
            AliasRule::Www { .. } => self.host,
            AliasRule::Port => self.port,
            AliasRule::Escapes => self.path || self.query,
            AliasRule::Fragment => self.fragment,
            AliasRule::EmptyQuery | AliasRule::Parameter(_) | AliasRule::Order => self.query,
            AliasRule::Session
            | AliasRule::Slashes
            | AliasRule::Index(_)
            | AliasRule::Slash { .. }
            | AliasRule::Case => self.path,
        }
    }
}

/// Applies a rule to both URLs if they then differ in fewer parts.
fn use_if_closer(
    pair: &mut [String; 2],
    differing: &mut DifferingParts,
    (number, rule): &(AliasRuleNumber, AliasRule),
    used: &mut Vec<AliasRuleNumber>,
) -> Option<()> {
    if !differing.may_be_explained_by(rule) {
        return Some(());
    }
    let made = [&pair[0], &pair[1]].map(|url| rule.apply(url).unwrap_or_else(|| url.clone()));
    let then = differing_parts(&made)?;
    if then.count() < differing.count() {
        (*pair, *differing) = (made, then);
        used.push(*number);
    }
    Some(())
}

/// The parts in which two URLs differ; `None` for a URL without a host.
fn differing_parts([one, other]: &[String; 2]) -> Option<DifferingParts> {
    let [one, other] = [UrlParts::of(one)?, UrlParts::of(other)?];
    Some(DifferingParts {
        scheme: one.scheme != other.scheme,
        host: one.user != other.user || one.host != other.host,
        port: one.port != other.port,
        path: one.path != other.path,
        query: one.query != other.query,
        fragment: one.fragment != other.fragment,
    })
}

/// The names of the parameters of which two URLs have different values; `None` if there are too many.
fn different_parameters([one, other]: &[String; 2]) -> Option<Vec<String>> {
    let [one, other] = [UrlParts::of(one)?, UrlParts::of(other)?];
    let mut names: Vec<&str> = Vec::new();
    for name in one.parameters().chain(other.parameters()).map(family) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
        if names.len() > PARAMETERS_MAX {
            return None;
        }
    }
    names.retain(|name| {
        let is_of = |written: &&str| family(parameter(written)) == *name;
        !one.written().filter(is_of).eq(other.written().filter(is_of))
    });
    Some(names.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_declared_urls_are_explained_by_rules() {
        for (page, target, expected) in [
            ("http://a.b/x", "https://a.b/x", "scheme https"),
            ("https://a.b/x", "http://www.a.b/x", "scheme https, www without"),
            ("HTTP://A.B:80/x", "http://a.b/x", "host, port"),
            ("http://a.b/x?sid=1&p=2", "http://a.b/x?p=2", "parameter sid"),
            (
                "http://a.b/x?sid=1&utm_a=2&utm_b=3",
                "http://a.b/x",
                "parameter sid, parameter utm_*",
            ),
            ("http://a.b/x?sid=1", "https://a.b/x?sid=2", "scheme https, parameter sid"),
            ("http://a.b/x?b=1&a=2", "http://a.b/x?a=2&b=1", "order"),
            ("http://a.b/x?", "http://a.b/x", "empty-query"),
            ("http://a.b/x/", "http://a.b/x", "slash without"),
            ("http://a.b/x/index.html", "http://a.b/x/", "index index.html"),
            ("http://a.b/x;jsessionid=1#f", "http://a.b/x", "fragment, session"),
            ("http://a.b/X", "http://a.b/x", "case"),
            ("http://a.b/x//y", "http://a.b/x/y", "slashes"),
            ("http://a.b/%7Ex", "http://a.b/~x", "escapes"),
            ("http://a.b/x", "http://a.b/y", "-"),
            ("http://a.b/x", "https://c.b/x", "-"),
            ("http://a.b/x?sid=1", "http://a.b/", "-"),
            ("urn:a", "http://a.b/", "-"),
        ] {
            let mut names = ParameterNames::default();
            let used = explanation(&mut names, page, target);
            let used = used.map(|used| {
                let rules = used.iter().map(|number| names.rule(*number).unwrap().to_string());
                rules.collect::<Vec<_>>().join(", ")
            });
            assert_eq!(used.as_deref().unwrap_or("-"), expected, "{page} {target}");
        }
    }
}
