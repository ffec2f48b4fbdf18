"""Values are frozen, comparable and hashable, and their `repr` is valid Python."""

import copy
import datetime
import pickle
from typing import Any

import pytest
from conftest import AT, DAY, OTHER, TEXT, URL

import simkeep


def values(store: simkeep.Store) -> list[Any]:
    """At least one value of each class that a store returns."""
    digest = bytes(range(16))
    outs = [
        store.observe(URL, AT, text=TEXT, digest=digest, status=200, modified=AT, weight=0.1, class_=7),
        store.observe("https://example.org/", AT, text=TEXT, digest=digest),
        store.observe("https://example.net/", AT, text=TEXT),
        store.observe(URL, AT + DAY, text=OTHER),
        store.observe(URL, AT + 2 * DAY, text=TEXT, digest=digest),
        store.not_modified(URL, AT + 3 * DAY, etag=b'"1"', conditional=True),
        store.redirect("https://example.com/old", AT, URL),
    ]
    epoch = store.register_epoch("mine/1", role="near", bands=(1, 2))
    store.restate(URL, AT, 5, epoch, digest=digest)
    page = store.latest(URL)
    assert page is not None
    matches = store.near(simkeep.Fingerprinter().of_text(TEXT), k=0, epoch=0)
    found: list[Any] = [
        *outs,
        *outs[1].copies,
        *outs[2].near,
        outs[1].original,
        outs[3].meaning,
        *store.history(URL),
        store.as_of(URL, AT),
        page,
        page.content,
        page.last,
        page.changes,
        page.changes.last_change,
        *store.stale(epoch),
        matches,
        *matches,
        *store.epochs(),
        *(info.bands for info in store.epochs()),
        store.stats(),
        *store.due(AT + 999 * DAY, 1),
        *(decision.rate for decision in store.due(AT + 30 * DAY, 1)),
        simkeep.NearPair(1, 2, 2),
        *store.page_pairs(0, epoch=0, equal=True),
        simkeep.recipes()[0],
    ]
    for n in range(12):
        for host in ("a.example", "b.example"):
            for visitor in ("", "&sid=1"):
                url = f"https://{host}/?page={n}{visitor}"
                store.observe(url, AT + n * DAY, fingerprint=n * 0x0123456789ABCDEF % 2**64)
    clusters = store.clusters(3, epoch=0)
    components, mirrors = store.connected_components(3, epoch=0), store.mirrors(epoch=0)
    plan = store.plan(AT, 5)
    around = store.cluster_of("https://a.example/?page=3", epoch=0)
    aliases = store.aliases(epoch=0)
    sites = list(aliases)
    assert around is not None and mirrors.pairs and components.largest and sites
    found += [
        *clusters.by_page(),
        *clusters.by_size(),
        around,
        *store.cluster_changes(AT + DAY, epoch=0),
        *(clusters.dropped().fate(page.url) for page in clusters.by_page()),
        clusters.dropped().kept_for("https://b.example/?page=3"),
        components,
        *components.largest,
        *store.balls(3, epoch=0),
        mirrors,
        *mirrors.pairs,
        mirrors.pairs[0].leader,
        mirrors.pairs[0].examples[0],
        *sites,
        *sites[0].rules,
        sites[0].rules[0].rule,
        sites[0].rules[0].examples[0],
        aliases.totals,
        *store.diff_since(AT, AT + 99 * DAY),
        *store.diff_exact(store, "a.example"),
        simkeep.ExactDifference("https://a.example/", (), tuple(entry for _, entry in store.observations())),
        plan.of_new("https://a.example/"),
        *store.due(AT + 30 * DAY, 1, plan=plan),
        store.survey(),
        store.by_digest(digest),
        store.requests(),
        store.requests().transferred,
        *store.requests_by_host(),
        simkeep.Capture(URL, AT),
    ]
    overview, census = store.overview(), store.census()
    found += [
        overview,
        *overview.epochs,
        *overview.space,
        store.compaction_estimate(),
        census,
        census.fingerprints,
        *census.largest_hosts,
        *census.sample,
        *census.periods,
        census.outside,
        store.journal(),
        *store.operations(),
        store.trace(URL),
        *simkeep.versions(store.history(URL)),
        *simkeep.join([1, 2, 7], 3),
    ]
    store.seal()
    [segment] = store.stats().segments
    view, trace = store.segment(segment.id), store.trace(URL)
    assert view is not None and trace is not None
    found += [
        *store.overview().segments,
        *store.overview().hosts,
        view,
        *view.sections,
        *view.tables,
        *store.dump(segment.id, section="trailer"),
        *trace.records,
    ]
    explained = store.explain(1, k=3, epoch=0)
    found += [
        *store.stats().segments,
        explained,
        *explained.components,
        store.forget("https://example.net/"),
        store.merge(),
        store.compact(),
        store.verify(),
    ]
    return found


def test_values_are_frozen_comparable_hashable_and_picklable(
    store: simkeep.Store,
) -> None:
    names = {"simkeep": simkeep, "datetime": datetime}
    found = values(store)
    kinds = {type(value) for value in found}
    assert len(kinds) > 65
    for value in found:
        assert type(value).__module__ == "simkeep"
        for again in (
            eval(repr(value), names),
            pickle.loads(pickle.dumps(value)),
            copy.deepcopy(value),
        ):
            assert type(again) is type(value)
            assert again == value and hash(again) == hash(value) and repr(again) == repr(value)
        for field in type(value).__match_args__:
            assert getattr(value, field) == getattr(value, field)
            with pytest.raises(AttributeError):
                setattr(value, field, None)
            assert getattr(type(value), field).__doc__, f"{type(value)}.{field} is not documented"
        with pytest.raises(AttributeError):
            value.more = 1


def test_a_lag_may_be_negative() -> None:
    site = simkeep.MirrorSite("a.example/", 1, 0)
    mirror = simkeep.Mirror(site, site, True, 3, 2, 1, 0.5, -DAY, ())
    assert mirror.lag == -DAY and pickle.loads(pickle.dumps(mirror)) == mirror
    with pytest.raises(TypeError, match="must be a timedelta, not int"):
        simkeep.Mirror(site, site, True, 3, 2, 1, 0.5, 7, ())  # type: ignore[arg-type]


def test_values_of_other_classes_or_fields_differ() -> None:
    near = simkeep.NearMatch("https://a/", 1, 2)
    assert near != simkeep.NearMatch("https://a/", 1, 3)
    other: list[object] = [("https://a/", 1, 2), None, simkeep.NearPair(1, 2, 3)]
    assert all(near != one for one in other)
    assert repr(near) == "simkeep.NearMatch(url='https://a/', distance=1, fingerprint=0x0000000000000002)"
    match near:
        case simkeep.NearMatch(url, distance, fingerprint):
            assert (url, distance, fingerprint) == ("https://a/", 1, 2)


def test_matches_behave_as_a_sequence(store: simkeep.Store) -> None:
    for n in range(3):
        store.observe(f"https://example.com/{n}", AT, fingerprint=n)
    matches = store.near(0, k=1)
    assert len(matches) == 3 and matches.complete and matches.within == 1
    assert [near.distance for near in matches] == [0, 1, 1]
    assert matches[0].url == "https://example.com/0" and matches[1:] == matches.near[1:]
    assert matches


def test_enum_members_equal_their_values() -> None:
    word: str = simkeep.Verdict.CHANGED
    assert word == "changed" and str(simkeep.Verdict.CHANGED) == "changed"
    assert repr(simkeep.Verdict.OUT_OF_ORDER) == "simkeep.Verdict.OUT_OF_ORDER"
    assert simkeep.Verdict("new") is simkeep.Verdict.NEW
    words: dict[str, int] = {simkeep.Role.BOTH: 1}
    assert words["both"] == 1


def test_observations_are_value_objects() -> None:
    observations = [
        simkeep.Observation(URL, AT, text=TEXT, digest=bytes(16), status=200, weight=0.5, class_=1),
        simkeep.Observation(URL, AT, html=b"<p>\xe9", encoding="latin1"),
        simkeep.Observation(URL, AT, html="<p>"),
        simkeep.Observation(URL, AT, fingerprint=5, epoch=0, also=(None, 1)),
        simkeep.Observation(URL, AT, fingerprint=None, epoch=0),
        simkeep.Observation.not_modified(URL, AT, digest=bytes(16), modified=AT),
        simkeep.Observation.gone(URL, AT, status=410),
        simkeep.Observation.failed(URL, AT, weight=2),
    ]
    for number, observation in enumerate(observations):
        again = eval(repr(observation), {"simkeep": simkeep, "datetime": datetime})
        for same in (again, pickle.loads(pickle.dumps(observation))):
            assert same == observation and hash(same) == hash(observation)
        assert observations.index(observation) == number
    assert (observations[0].url, observations[0].at) == (URL, AT)
    with pytest.raises(TypeError, match="no keyword text"):
        simkeep.Observation.gone(URL, AT, text=TEXT)  # type: ignore[call-arg]
