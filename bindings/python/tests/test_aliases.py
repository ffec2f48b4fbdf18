"""Different URLs of the same page."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import AT, filled, mixed, threads

import simkeep


def sessions(store: simkeep.Store, sites: int = 1) -> None:
    """Pages with and without a session number in their URL."""
    store.load(
        simkeep.Observation(f"https://{site}.example/?page={page}{visitor}", AT, fingerprint=mixed(page))
        for site in range(sites)
        for page in range(20)
        for visitor in ("", "&sid=1", "&sid=2")
    )


def test_irrelevant_parameters_are_found_per_site(store: simkeep.Store) -> None:
    sessions(store, sites=3)
    with store.aliases() as found:
        assert isinstance(found, simkeep.Stream)
        sites = list(found)
        totals = found.totals
    assert [site.site for site in sites] == ["0.example", "1.example", "2.example"]
    for site in sites:
        [count] = site.rules
        assert count.rule == simkeep.AliasRule("parameter", "sid") and count.holds
        assert (count.pairs, count.near, count.share, count.visits) == (40, 40, 1.0, 40)
        assert (site.pages, site.sampled, site.skipped) == (60, 1.0, 0)
        assert len(count.examples) == 3 and count.exceptions == ()
        for pair in count.examples:
            assert pair.distance == 0 and count.rule.apply(pair.other) == pair.first
    assert totals == simkeep.AliasTotals(
        sites=3,
        sites_with_rules=3,
        sampled=0,
        pages=180,
        without_fingerprint=0,
        skipped=0,
        rules=3,
        pairs=120,
        visits=120,
        canonicals=0,
        canonicals_near=0,
        canonicals_different=0,
        redirects=0,
    )


def test_canonical_urls_are_compared(store: simkeep.Store) -> None:
    for page in range(50):
        store.observe(f"https://a.example/{page}", AT, fingerprint=mixed(page))
        canonical = f"/{18 if page == 17 else page}"
        store.observe(f"https://a.example/{page}?p", AT, fingerprint=mixed(page), canonical=canonical)
    [site] = store.aliases()
    declared = site.declared
    assert (declared.canonicals, declared.near, declared.different, declared.redirects) == (50, 49, 1, 0)
    [wrong] = declared.wrong
    assert (wrong.first, wrong.other) == ("https://a.example/18", "https://a.example/17?p")
    [rule] = site.rules
    assert (rule.canonicals, rule.contradicted, rule.redirects) == (49, 0, 0)


def test_keywords_control_which_rules_are_listed(store: simkeep.Store) -> None:
    sessions(store)
    assert list(store.aliases(pairs=41)) == []
    assert len(list(store.aliases(pairs=41, all=True))) == 1
    [site] = store.aliases(0, epoch=0, under="0.example", share=1.0, memory_bytes=1 << 20, examples=1)
    assert len(site.rules[0].examples) == 1
    [site] = store.aliases(all=True)
    by_kind = {str(count.rule): count for count in site.rules}
    assert not by_kind["parameter page"].holds and by_kind["parameter page"].near == 0
    assert len(by_kind["parameter page"].exceptions) == 3


def test_rules_convert_to_columns(store: simkeep.Store) -> None:
    sessions(store, sites=2)
    table = polars.DataFrame(store.aliases())
    assert table.columns == ["site", "kind", "value", "holds", "pairs", "near", "visits"]
    assert table.row(1) == ("1.example", "parameter", "sid", True, 40, 40, 40)


def test_rules_are_value_objects() -> None:
    sid = simkeep.AliasRule("parameter", "sid")
    assert (sid.kind, sid.value, str(sid)) == ("parameter", "sid", "parameter sid")
    assert repr(sid) == "simkeep.AliasRule('parameter', 'sid')"
    assert repr(simkeep.AliasRule("case")) == "simkeep.AliasRule('case')"
    assert sid == simkeep.AliasRule("parameter", "sid") != simkeep.AliasRule("order")
    for rule in (sid, simkeep.AliasRule("case"), simkeep.AliasRule("parameter", "it's \x1b")):
        again = pickle.loads(pickle.dumps(rule))
        assert again == rule == eval(repr(rule), {"simkeep": simkeep}) and hash(again) == hash(rule)
    match sid:
        case simkeep.AliasRule(kind, value):
            assert (kind, value) == ("parameter", "sid")
    assert sid.apply("http://a.example/?sid=7&q=b") == "http://a.example/?q=b"
    assert sid.apply("http://a.example/?q=b") is None
    rules = [simkeep.AliasRule("scheme", "https"), sid]
    assert simkeep.normalised("http://a.example/b?sid=1", rules) == "https://a.example/b"
    assert simkeep.normalised("http://a.example/b?sid=1", iter([])) == "http://a.example/b?sid=1"
    assert simkeep.site_of("http://WWW.Example.com:8080/a") == "example.com"
    assert simkeep.site_of("urn:isbn:1") is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.aliases(65), ValueError, "k must be an int from 0 to 64"),
        (lambda s: s.aliases(share="1"), TypeError, "share must be a number, not str"),
        (lambda s: s.aliases(all=1), TypeError, "all must be True or False"),
        (lambda s: s.aliases(pairs=-1), ValueError, "pairs must be"),
        (lambda s: s.aliases(limit=3), TypeError, "there is no keyword limit"),
        (lambda s: list(s.aliases(share=2)), simkeep.InvalidOptionError, "share must be from 0 to 1"),
        (lambda s: list(s.aliases(epoch=9)), simkeep.EpochError, "epoch 9"),
        (lambda s: simkeep.AliasRule("colour"), ValueError, 'no such rule: "colour"'),  # type: ignore[arg-type]
        (lambda s: simkeep.AliasRule("case", "lower"), ValueError, 'no such rule: "case" "lower"'),
        (lambda s: simkeep.AliasRule(7), TypeError, "kind must be str, not int"),  # type: ignore[arg-type]
        (lambda s: simkeep.AliasRule("index").apply("x"), ValueError, "no such rule"),
        (lambda s: simkeep.normalised("a", ["case"]), TypeError, "rules in row 0 must be an AliasRule"),  # type: ignore[list-item]
        (lambda s: simkeep.normalised("a", "case"), TypeError, "rules must be an iterable"),  # type: ignore[arg-type]
        (lambda s: simkeep.normalised(b"a", []), TypeError, "url must be str, not bytes"),  # type: ignore[arg-type]
        (lambda s: simkeep.site_of(7), TypeError, "url must be str, not int"),  # type: ignore[arg-type]
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(store)


def test_closed_stream_ends_without_a_summary(
    store: simkeep.Store,
) -> None:
    sessions(store, sites=300)
    filled(store, 10_000)
    progress = simkeep.Progress()
    found = store.aliases(progress=progress)
    assert next(found).site.endswith(".example")
    found.close()
    if Path("/proc/self/task").is_dir():
        assert threads("simkeep-aliases") == 0
    assert found.totals is None and progress.is_cancelled and list(found) == []
    with pytest.raises(simkeep.CancelledError):
        list(store.aliases(progress=progress))
    store.close()
    with pytest.raises(simkeep.ClosedError):
        store.aliases()
