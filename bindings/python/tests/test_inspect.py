"""Inspection of a store: Python returns what the tool prints."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import AT, DAY, OTHER, TEXT, TOOL, URL, mixed, threads

import simkeep


def inspected(path: Path, *words: str) -> list[dict[str, Any]]:
    """Returns the output of `simkeep inspect`, parsed line by line."""
    command = [TOOL, "inspect", *words, "--json", "--store", str(path)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


FOUND = ("new", "same", "changed", "reverted", "gone", "failed", "other")


def found(said: dict[str, Any]) -> list[int]:
    return [said[name] for name in FOUND]


def counted(of: simkeep.VerdictCounts) -> list[int]:
    counts = [getattr(of, name) for name in FOUND]
    assert of.visits == sum(counts)
    return counts


@pytest.fixture
def lived(path: Path) -> Iterator[simkeep.Store]:
    """A store with two segments, a journal, two epochs, and entries of every kind."""
    with simkeep.Store.create(path, background=False) as store:
        store.observe_batch(
            simkeep.Observation(f"https://{n % 3}.example/{n}", AT + n % 7 * DAY, fingerprint=mixed(n // 2))
            for n in range(30)
        )
        store.load(
            simkeep.Observation(f"https://large.example/{n}", AT + n % 9 * DAY, fingerprint=mixed(n))
            for n in range(1500)
        )
        store.observe(URL, AT, text=TEXT, digest=bytes(range(16)), status=200, weight=2, class_=7)
        store.observe(URL, AT + DAY, text=OTHER)
        store.seal()
        near = store.register_epoch("mine/1", role="near")
        store.restate(URL, AT + DAY, 5, near)
        store.failed(URL, AT + 2 * DAY, status=503)
        store.observe(URL, AT + 3 * DAY, text=TEXT, digest=bytes(range(16)))
        store.not_modified("https://new.example/", AT + 3 * DAY)
        store.seal()
        store.gone("https://0.example/0", AT + 20 * DAY, status=410)
        store.observe(URL, AT + 21 * DAY, text=OTHER)
        store.set_property("https://0.example/3", AT + 21 * DAY, weight=3.0)
        store.forget("https://0.example/6")
        store.forget(under="1.example")
        yield store


def test_overview_matches_the_tool(lived: simkeep.Store, path: Path) -> None:
    of, [said] = lived.overview(), inspected(path)
    assert (of.pages, of.in_force, of.gone, of.never, of.visits) == (
        said["pages"],
        said["pages_in_force"],
        said["pages_gone"],
        said["pages_never_seen"],
        said["visits"],
    )
    assert of.pages == lived.stats().pages and of.sequence == lived.sequence and of.gone == of.never == 1
    assert (of.first, of.last) == (time(said["first"]), time(said["last"])) == (AT, AT + 21 * DAY)
    assert of.unsealed_pages == said["unsealed_pages"] and of.unsealed is not None
    assert list(of.unsealed) == said["unsealed_operations"] and of.unsealed[1] == of.sequence
    assert (of.fingerprints, of.commonest_pages) == (said["fingerprints"], said["commonest_pages"])
    assert [(space.of, space.bytes) for space in of.space] == [
        (space["space"], space["size_bytes"]) for space in said["spaces"]
    ]
    assert {space.of for space in of.space} == set(simkeep.Space) - {simkeep.Space.OTHER}
    assert sum(space.bytes for space in of.space) == sum(one.bytes for one in of.segments)
    assert [one.host for one in of.hosts] == [host["host"] for host in said["hosts"]]
    assert of.hosts[0].host == "large.example" and 0.9 < of.hosts[0].share < 1 and of.flaw is None
    assert [epoch.info for epoch in of.epochs] == lived.epochs()
    assert [epoch.is_in_use for epoch in of.epochs] == [True, True]
    for own, segment in zip(of.segments, said["segments"], strict=True):
        assert (own.id, own.level, own.pages, own.visits) == tuple(
            segment[key] for key in ("segment", "level", "pages", "visits")
        )
        assert own.times == (time(segment["first"]), time(segment["last"]))
        assert own.written == time(segment["created"])
    assert (of.segments[0].first_operation, of.segments[0].superseded) > (0, 0)
    with simkeep.Reader(path) as reader:
        assert reader.overview() == of == lived.snapshot().overview()


def test_compaction_estimate_shows_reclaimable_bytes(lived: simkeep.Store) -> None:
    estimate = lived.compaction_estimate()
    stats = lived.stats()
    assert (estimate.segments, estimate.segment_bytes) == (len(stats.segments), stats.segment_bytes)
    assert estimate.unsealed_pages == lived.overview().unsealed_pages
    assert 0 < estimate.reclaimable_bytes < estimate.temporary_bytes == stats.segment_bytes
    lived.compact()
    after = lived.compaction_estimate()
    assert (after.segments, after.reclaimable_bytes, after.temporary_bytes) == (1, 0, 0)


def test_census_matches_the_tool(lived: simkeep.Store, path: Path) -> None:
    progress = simkeep.Progress()
    of, [whole] = lived.census(progress=progress), inspected(path, "--deep")
    said = whole["census"]
    assert progress.stage == "counting" and progress.done == of.pages == said["pages"]
    assert (of.in_force, of.gone, of.never, of.visits, of.hosts) == (
        said["pages_in_force"],
        said["pages_gone"],
        said["pages_never_seen"],
        said["visits"],
        said["host_count"],
    )
    assert (of.first, of.last) == (time(said["first"]), time(said["last"]))
    assert (list(of.distances), list(of.changing)) == (said["distances"], said["changing"])
    assert len(of.distances) == 65 and len(of.changing) == 11
    for own, host in zip(of.largest_hosts, said["largest_hosts"], strict=True):
        assert (own.host, own.pages, own.visits) == (host["host"], host["pages"], host["visits"])
        assert counted(own.verdicts) == found(host)
    assert of.largest_hosts[0].host == "large.example" and of.largest_hosts[0].pages == 1500
    assert of.period.total_seconds() == said["period_seconds"]
    for period, one in zip(of.periods, said["periods"], strict=True):
        assert period.start == time(one["from"]) and counted(period.verdicts) == found(one)
    assert counted(of.outside) == found(said["outside"])
    visits = sum(period.verdicts.visits for period in of.periods) + of.outside.visits
    assert visits == of.visits
    prints, says = of.fingerprints, said["fingerprint_census"]
    assert prints.epoch == lived.near_epoch
    for name in ("pages", "share", "distinct"):
        assert getattr(prints, name) == says[name]
    for name in ("popcounts", "ones", "values", "distinct_ones", "shared"):
        assert list(getattr(prints, name)) == says[name]
    assert prints.without == says["without_fingerprint"] and prints.different == prints.distinct
    assert prints.commonest is None or prints.commonest[1] == says["commonest"]["pages"]
    assert len(of.sample) == prints.pages
    with pytest.raises(simkeep.CancelledError):
        progress.cancel()
        lived.census(progress=progress)


def test_census_samples_pages_with_fingerprints(store: simkeep.Store) -> None:
    for n in range(3):
        store.observe(f"https://example.com/{n}", AT, fingerprint=n // 2)
    of = store.census()
    drawn = {page.url: page.fingerprint for page in of.sample}
    assert drawn == {"https://example.com/0": 0, "https://example.com/1": 0, "https://example.com/2": 1}
    assert of.fingerprints.commonest == (0, 2) and of.fingerprints.shared == (1, 1)
    assert of.fingerprints.popcounts[:2] == (2, 1) and of.fingerprints.ones[0] == 1


def test_segment_matches_the_tool(lived: simkeep.Store, path: Path) -> None:
    names = {info.name: info.epoch for info in lived.epochs()}
    for stats in lived.stats().segments:
        of, [said] = lived.segment(stats.id), inspected(path, "segment", str(stats.id))
        assert of is not None and (of.id, of.bytes, of.pages, of.visits, of.fingerprints) == (
            stats.id,
            stats.bytes,
            stats.pages,
            stats.visits,
            stats.fingerprints,
        )
        for name in (
            "level",
            "first_operation",
            "last_operation",
            "resets",
            "page_delta",
            "visit_delta",
            "in_force_delta",
            "gone_delta",
            "longest_list",
        ):
            assert getattr(of, name) == said[name]
        assert of.times == (time(said["first"]), time(said["last"]))
        assert of.written == time(said["created"]) and of.forgotten == said["forgotten_prefixes"]
        for section, one in zip(of.sections, said["sections"], strict=True):
            for name in ("kind", "part", "space", "offset", "blocks"):
                assert getattr(section, name) == one[name]
            assert section.bytes == one["size_bytes"]
            assert section.epoch == (None if one["epoch"] is None else names[one["epoch"]])
        for table, one in zip(of.tables, said["tables"], strict=True):
            assert (table.fingerprints, table.shape) == (one["fingerprints"], one["shape"])
            assert (table.epoch, table.bytes) == (names[one["epoch"]], one["size_bytes"])
    assert lived.segment(99) is None


def test_dump_covers_every_byte_of_the_file(lived: simkeep.Store, path: Path) -> None:
    segment = lived.stats().segments[-1]
    file = next(file for file in path.rglob("*.seg") if int(file.stem) == segment.id)
    view = lived.segment(segment.id)
    assert view is not None
    at, lines = 0, list(lived.dump(segment.id))
    for line in lines:
        assert line.offset == at and line.bytes is not None and len(line.bytes) == line.len
        assert not line.damaged and str(line) == line.text
        at += line.len
    assert b"".join(line.bytes or b"" for line in lines) == file.read_bytes()
    said = inspected(path, "segment", str(segment.id), "--dump")
    assert [(line.offset, line.len, line.meaning) for line in lines] == [
        (one["offset"], one["size_bytes"], one["meaning"]) for one in said
    ]
    # Parts of a section.
    hashes = next(section for section in view.sections if section.kind == "hashes")
    part = list(lived.dump(segment.id, section="hashes"))
    assert part[0].offset == hashes.offset and sum(line.len for line in part) == hashes.bytes
    assert list(lived.dump(segment.id, section="hashes", offset=part[-1].offset)) == part[-1:]
    assert list(lived.dump(segment.id, section="no-such")) == []
    tables = [section for section in view.sections if section.epoch == 1]
    assert tables and list(lived.dump(segment.id, epoch=1)) == [
        line
        for line in lines
        if any(section.offset <= line.offset < section.offset + section.bytes for section in tables)
    ]
    assert list(lived.dump(segment.id, section="fingerprints", part=1)) == []
    # Closing a dump early ends its thread.
    with lived.dump(lived.stats().segments[0].id) as stream:
        assert next(stream).offset == 0
    assert not threads("simkeep-dump")


def test_damage_appears_as_a_line_in_the_dump(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        store.load(simkeep.Observation(f"https://example.com/{n}", AT, fingerprint=n) for n in range(2000))
        [segment] = store.stats().segments
        view = store.segment(segment.id)
    assert view is not None
    file = next(path.rglob("*.seg"))
    pages = next(section for section in view.sections if section.kind == "pages")
    with file.open("r+b") as bits:
        bits.seek(pages.offset + 5000)
        byte = bits.read(1)
        bits.seek(pages.offset + 5000)
        bits.write(bytes([byte[0] ^ 1]))
    with simkeep.Reader(path) as reader:
        damaged = [line for line in reader.dump(segment.id, section="pages") if line.damaged]
        assert damaged and damaged[0].bytes is None and "??*" in str(damaged[0])


def test_journal_matches_the_tool(lived: simkeep.Store, path: Path) -> None:
    of, [said] = lived.journal(), inspected(path, "journal")
    sums = ("operations", "pages", "restated", "weights", "classes", "etags", "targets")
    for name in ("first_operation", "last_operation", *sums):
        assert getattr(of, name) == said[name]
    assert of.forgotten == said["forgotten"] == 2 and of.weights == 1
    assert of.times == (time(said["first"]), time(said["last"])) == (AT + 20 * DAY, AT + 21 * DAY)
    assert counted(of.verdicts) == found(said)
    lived.seal()
    empty = lived.journal()
    assert (empty.first_operation, empty.last_operation, empty.operations, empty.times) == (0, 0, 0, None)


def test_operations_are_listed_in_order_with_details(lived: simkeep.Store) -> None:
    known = len(list(lived.snapshot().scan("1.example")))
    with lived.operations() as operations:
        available = operations.available
        gone, changed, given, forgot, prefix = operations
    assert available == (gone.sequence, prefix.sequence) and prefix.sequence == lived.sequence
    assert (gone.kind, gone.url) == (simkeep.OperationKind.ENTRY, "https://0.example/0")
    assert isinstance(gone.entry, simkeep.VisitEntry) and gone.entry.verdict == "gone"
    assert gone.entry.visit.status == 410
    assert changed.entry == lived.history(URL)[-1]
    assert isinstance(given.entry, simkeep.PropertyEntry) and given.entry.weight == 3
    assert (forgot.kind, forgot.url, forgot.visits, forgot.entry) == ("forget", "https://0.example/6", 1, None)
    assert (prefix.kind, prefix.url) == ("forget-prefix", None)
    assert (prefix.prefix, prefix.pages, prefix.visits) == ("1.example", 10, 10) and known == 0
    assert list(lived.operations(changed.sequence)) == [given, forgot, prefix]
    assert list(lived.operations(under="0.example")) == [gone, given, forgot]
    assert list(lived.operations(under="https://1.example/7")) == [prefix]
    assert list(lived.operations(lived.sequence)) == []
    lived.seal()
    assert lived.operations().available is None and list(lived.operations()) == []


def test_trace_matches_the_tool(lived: simkeep.Store, path: Path) -> None:
    of, [said] = lived.trace(URL), inspected(path, "page", URL)
    assert of is not None and of.page == lived.latest(URL) and list(of.history) == lived.history(URL)
    assert of.surt == said["surt"] == simkeep.surt(URL) == "com,example)/terms"
    assert f"{of.hash:016x}" == said["hash"]
    assert len(of.records) == 3 and of.records[0].segment is None
    for record, one in zip(of.records, said["records"], strict=True):
        assert (record.segment, record.number, record.bytes) == (
            one["segment"],
            one["ordinal"],
            one["size_bytes"],
        )
        assert (record.entries, record.is_first) == (one["entries"], one["is_first"])
    for version, one in zip(simkeep.versions(of.history), said["versions"], strict=True):
        assert (version.number, version.visits, version.back_to, version.verdict) == (
            one["number"],
            one["visits"],
            one["back_to"],
            one["verdict"],
        )
        assert (version.visit.time, version.last) == (time(one["first"]), time(one["last"]))
        assert version.visit.status == one["status"]
        bits = None if version.differing is None else [b for b in range(64) if version.differing >> b & 1]
        assert bits == one["differing_bits"]
    assert lived.trace("https://nowhere.example/") is None


def test_a_history_folds_into_versions(store: simkeep.Store) -> None:
    for day, fingerprint in enumerate([0b0011, 0b0011, 0b0111, 0b0011]):
        store.observe(URL, AT + day * DAY, fingerprint=fingerprint)
    store.failed(URL, AT + 4 * DAY, status=500)
    store.failed(URL, AT + 5 * DAY, status=500)
    store.gone(URL, AT + 6 * DAY)
    store.set_property(URL, AT + 6 * DAY, weight=2.0)
    first, second, third, failed, gone = simkeep.versions(store.history(URL))
    assert (first.kind, first.number, first.visits, first.verdict) == ("content", 1, 2, "new")
    assert (first.visit.time, first.last, first.differing) == (AT, AT + DAY, None)
    assert (second.number, second.differing, second.distance, second.back_to) == (2, 0b0100, 1, None)
    assert (third.number, third.back_to, third.to, third.verdict) == (3, 1, AT + DAY, "reverted")
    assert third.contents == first.contents == (simkeep.Content(0b0011, None, 0),)
    assert (failed.kind, failed.visits, failed.number) == (simkeep.VersionKind.FAILED, 2, None)
    assert (gone.kind, gone.contents) == ("gone", ())
    [(url, history)] = store.histories()
    assert simkeep.versions(iter(history)) == simkeep.versions(tuple(store.history(URL)))
    assert simkeep.versions([]) == []


def test_requests_match_the_tool(store: simkeep.Store, path: Path) -> None:
    digest, other = bytes(16), bytes(range(16))
    web = "https://a.example/"
    store.observe(web, AT, text=TEXT, digest=digest, bytes=5000, modified=AT)
    store.not_modified(web, AT + DAY, conditional=True)
    store.observe(web, AT + 2 * DAY, text=TEXT, digest=digest, bytes=5000, conditional=True, modified=AT + DAY)
    store.observe("https://b.example/", AT + DAY, text=TEXT, digest=digest, bytes=5000)
    store.observe("https://b.example/x", AT, text=OTHER, digest=other)
    counts = store.requests(copies=True)
    assert (counts.requests, counts.conditional, counts.conditional_unchanged) == (5, 2, 1)
    assert counts.transferred == simkeep.Bodies(4, 15_000, 1)
    assert counts.not_modified == counts.unchanged == counts.copies == simkeep.Bodies(1, 5000, 0)
    assert (counts.unchanged_dated, counts.unchanged_redated, counts.honored) == (1, 1, 0.5)
    assert store.requests().copies == simkeep.Bodies(0, 0, 0)
    assert store.requests(under="none.example").honored is None
    hosts = list(store.requests_by_host(copies=True))
    assert [of.host for of in hosts] == ["a.example", "b.example"]
    assert sum(of.counts.requests for of in hosts) == 5
    assert hosts == list(store.snapshot().requests_by_host(copies=True, memory_bytes=None, scratch=None))
    [alone] = store.requests_by_host(under="b.example")
    assert alone.host == "b.example" and alone.counts == store.requests(under="b.example")
    with store.requests_by_host() as stream:
        next(stream)
    store.flush()
    command = [TOOL, "stats", "--saved", "--json", "--store", str(path)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    for key in ("transferred", "not_modified", "unchanged", "copies"):
        bodies = getattr(counts, key)
        assert printed[key] == {"bodies": bodies.count, "bytes": bodies.bytes, "unknown": bodies.unknown}
    for key in ("requests", "conditional", "conditional_unchanged", "unchanged_dated", "unchanged_redated", "honored"):
        assert printed[key] == getattr(counts, key)


def test_survey_of_requests_can_be_cancelled(store: simkeep.Store) -> None:
    store.failed(URL, AT)
    progress = simkeep.Progress()
    progress.cancel()
    with pytest.raises(simkeep.CancelledError):
        store.requests(progress=progress)
    with pytest.raises(simkeep.CancelledError):
        list(store.requests_by_host(progress=progress))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.requests(host="a"), TypeError, "there is no keyword host"),
        (lambda s: s.requests(copies=1), TypeError, "copies must be True or False"),
        (lambda s: s.requests_by_host(under=7), TypeError, "under must be str"),
        (lambda s: s.requests_by_host(memory_bytes="1"), TypeError, "memory_bytes must be"),
        (lambda s: s.segment("1"), TypeError, "id must be .*not str"),
        (lambda s: s.dump(99), ValueError, "id must be the number of a segment of the store, not 99"),
        (lambda s: s.dump(1, part=2**16), ValueError, "part must be an int from 0 to 65535"),
        (lambda s: s.dump(1, section=7), TypeError, "section must be str, not int"),
        (lambda s: s.dump(1, epoch=-1), ValueError, "epoch must be the number of an epoch"),
        (lambda s: s.dump(1, offset=1.5), TypeError, "offset must be .*not float"),
        (lambda s: s.operations("1"), TypeError, "after must be .*not str"),
        (lambda s: s.operations(under=7), TypeError, "under must be str"),
        (lambda s: s.trace(7), TypeError, "url must be str, not int"),
        (lambda s: s.trace(""), simkeep.UrlError, "the URL is empty"),
        (lambda s: simkeep.surt(7), TypeError, "url must be str"),  # type: ignore[arg-type]
        (lambda s: simkeep.versions(7), TypeError, "history must be an iterable of VisitEntry"),  # type: ignore[arg-type]
        (lambda s: simkeep.versions("ab"), TypeError, "history must be an iterable"),  # type: ignore[arg-type]
        (lambda s: simkeep.versions([7]), TypeError, "history in row 0 must be VisitEntry, Restated or PropertyEntry"),  # type: ignore[list-item]
    ],
)
def test_invalid_arguments_are_rejected(
    store: simkeep.Store, call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(store)


def test_inconsistent_histories_are_rejected() -> None:
    visit = simkeep.Visit(AT, simkeep.Seen.CONTENT, 7, None, None, None, None, None, False)
    entry = simkeep.VisitEntry(visit, simkeep.Verdict.NEW, None, None, None, None, None)
    with pytest.raises(ValueError, match="history in row 0 has content without an epoch"):
        simkeep.versions([entry])
    visit = simkeep.Visit(AT, simkeep.Seen.GONE, None, None, None, None, None, None, False)
    entry = simkeep.VisitEntry(visit, simkeep.Verdict.REVERTED, None, None, None, None, None)
    with pytest.raises(ValueError, match="history in row 0 has a verdict, but not the other fields"):
        simkeep.versions([entry])
    with pytest.raises(ValueError, match="history in row 0 must have one of a weight, a class, an etag and a target"):
        simkeep.versions([simkeep.PropertyEntry(AT, None, None, None, None)])


def test_calls_on_a_closed_store_raise(store: simkeep.Store) -> None:
    store.close()
    for call in (
        store.overview,
        store.compaction_estimate,
        store.census,
        store.journal,
        store.operations,
        store.requests,
        store.requests_by_host,
        lambda: store.segment(1),
        lambda: store.dump(1),
        lambda: store.trace(URL),
    ):
        with pytest.raises(simkeep.ClosedError):
            call()
