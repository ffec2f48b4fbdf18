"""Arrow tables as input and output."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest
from conftest import AT, DAY, OTHER, TEXT, URL, filled, mixed, threads

import simkeep


def column(values: list[Any], kind: pa.DataType | None = None) -> pa.Array:
    return pa.array(values, kind)


def table(**more: pa.Array) -> pa.Table:
    """Returns visits as a table with every possible column."""
    columns = {
        "url": column([URL, URL, "https://example.org/", URL, None][:4]),
        "at": column([AT, AT + DAY, AT, AT + 2 * DAY], pa.timestamp("us", "UTC")),
        "text": column([TEXT, OTHER, None, None]),
        "seen": column([None, None, "gone", "not-modified"]),
        "digest": column([bytes(range(16)), None, None, None], pa.binary(16)),
        "status": column([200, 200, 410, None], pa.int16()),
        "modified": column([AT, None, None, None], pa.timestamp("ns", "Europe/Vienna")),
        "etag": column([b'"v1"', None, None, b'"v2"'], pa.binary()),
        "canonical": column(["/", None, None, None]),
        "bytes": column([14_300, None, None, None]),
        "conditional": column([None, False, None, True]),
        "weight": column([2.0, None, None, None]),
        "class_": column([7, None, None, None]),
    }
    columns.update(more)
    return pa.table({name: values for name, values in columns.items() if values is not None})


def rows() -> list[simkeep.Observation]:
    """Returns the same visits as objects."""
    return [
        simkeep.Observation(
            URL,
            AT,
            text=TEXT,
            digest=bytes(range(16)),
            status=200,
            modified=AT,
            etag=b'"v1"',
            canonical="/",
            bytes=14_300,
            weight=2.0,
            class_=7,
        ),
        simkeep.Observation(URL, AT + DAY, text=OTHER, status=200),
        simkeep.Observation.gone("https://example.org/", AT, status=410),
        simkeep.Observation.not_modified(URL, AT + 2 * DAY, etag=b'"v2"', conditional=True),
    ]


def strange(of: pa.Table) -> pa.Table:
    """Returns the same rows behind others, sliced and cut into chunks."""
    twice = pa.concat_tables([of.slice(2, 1), of, of.slice(0, 1)])
    return pa.concat_tables([twice.slice(1, 1), twice.slice(2, 2), twice.slice(4, 1)])


FORMS: dict[str, Callable[[], Any]] = {
    "table": table,
    "batch": lambda: table().to_batches()[0],
    "reader": lambda: pa.RecordBatchReader.from_batches(table().schema, table().to_batches()),
    "strange": lambda: strange(table()),
    "polars": lambda: polars.from_arrow(table()),
    "large": lambda: table(url=table()["url"].cast(pa.large_string())),
    "view": lambda: table(url=table()["url"].cast(pa.string_view()), text=table()["text"].cast("string_view")),
    "dictionary": lambda: table(
        url=table()["url"].dictionary_encode(), seen=table()["seen"].dictionary_encode()
    ),
    "milliseconds": lambda: table(at=table()["at"].cast(pa.timestamp("ms", "UTC")).cast(pa.int64())),
    "binary": lambda: table(digest=table()["digest"].cast(pa.large_binary())),
    "html": lambda: table(
        html=column([TEXT.encode(), OTHER.encode(), None, None], pa.binary()),
        text=pa.nulls(4, pa.string()),
        digest=column([bytes(range(16)), sha1(OTHER.encode()).digest()[:16], None, None]),
    ),
    "unsigned": lambda: table(status=table()["status"].cast(pa.uint64())),
    "more": lambda: table(more=column([1] * 4)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("verb", ["observe_batch", "load"])
def test_tables_are_stored_like_their_rows(tmp_path: Path, form: str, verb: str) -> None:
    with simkeep.Store.create(tmp_path / "a") as one, simkeep.Store.create(tmp_path / "b") as other:
        getattr(one, verb)(FORMS[form]())
        getattr(other, verb)(rows())
        assert list(one.observations()) == list(other.observations())


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (lambda: table(url=column([URL, None, URL, URL])), ValueError, "url in row 1 is null"),
        (lambda: table(at=column([1.0] * 4)), TypeError, "at must be a column of timestamps"),
        (lambda: table(at=column(["2024-05-01", "May", None, None])), ValueError, "at in row 1 is not a time"),
        (lambda: table(at=None), ValueError, "there is no column at: name"),
        (lambda: table(url=column([1] * 4)), TypeError, "url must be a column of strings, not Int64"),
        (lambda: table(status=column([1, 2, 3, 65536])), ValueError, "status in row 3 must be from 0 to"),
        (lambda: table(status=column([1, -2, 3, 4])), ValueError, "status in row 1 .*not -2"),
        (lambda: table(digest=column([b"x"] * 4)), ValueError, "digest in row 0 must be 16 bytes, not 1"),
        (lambda: table(weight=column([1.0, 0.0, 1.0, 1.0])), ValueError, "weight in row 1 must be finite"),
        (lambda: table(seen=column(["lost"] * 4)), ValueError, "seen in row 0 must be one of"),
        (lambda: table(fingerprint=column([1.5] * 4)), TypeError, "fingerprint must be a column of uint64"),
        (lambda: table(fingerprint=column([1] * 4)), TypeError, "text in row 0 excludes"),
        (lambda: table(text=None, digest=None), TypeError, "text in row 0 is missing"),
        (lambda: table(text=column([None] * 4)), TypeError, "text in row 1 is missing"),
        (lambda: table(digest=column(["0" * 32] * 4)), TypeError, "digest must be a column of bytes, not Utf8"),
        (lambda: table(epoch=column([0, None, None, None])), TypeError, "epoch in row 0 is for fingerprints"),
        (lambda: table(epoch=column([None, None, 0, None])), TypeError, "seen in row 2 means that there is no content"),
        (lambda: table(encoding=column(["utf-8"] * 4)), TypeError, "encoding in row 0 is only for html that is bytes"),
        (lambda: table().append_column("url", column([URL] * 4)), ValueError, "url occurs twice"),
        (lambda: column([1, 2]), TypeError, "observations must be a table, not an array of Int64"),
        (lambda: table(url=column(["", URL, URL, URL])), simkeep.Error, "the URL is empty"),
        (lambda: table(at=column([1_700_000_000] * 4)), ValueError, "at in row 0 is 1700000000, which looks like seconds"),
    ],
)
@pytest.mark.parametrize("verb", ["observe_batch", "load"])
def test_invalid_tables_are_rejected_and_nothing_is_stored(
    store: simkeep.Store, bad: Callable[[], Any], error: type[Exception], message: str, verb: str
) -> None:
    with pytest.raises(error, match=message):
        getattr(store, verb)(bad())
    assert store.stats().sequence == 0


@pytest.mark.parametrize("verb", ["observe_batch", "load"])
def test_failing_stream_stores_nothing(store: simkeep.Store, verb: str) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield table().to_batches()[0]
        raise LookupError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(table().schema, batches())
    with pytest.raises(ValueError, match="the disk is gone"):
        getattr(store, verb)(reader)
    assert store.stats().sequence == 0
    with pytest.raises(ValueError, match="observations is not readable Arrow data"):
        getattr(store, verb)(Lying())


class Lying:
    """Offers a capsule of another kind."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.array([1]).__arrow_c_array__()[1]


def test_fingerprints_are_accepted_from_arrow(store: simkeep.Store) -> None:
    filled(store, 3000)
    prints = [mixed(n) for n in range(0, 6000, 5)]
    expected = list(store.near_batch(prints, k=3))
    unsigned = pa.array(prints, pa.uint64())
    for given in (
        unsigned,
        pa.array([p - 2**64 if p >= 2**63 else p for p in prints], pa.int64()),
        pa.chunked_array([unsigned.slice(0, 7), unsigned.slice(7)]),
        polars.Series(prints, dtype=polars.UInt64),
        unsigned.dictionary_encode(),
    ):
        assert list(store.near_batch(given, k=3)) == expected
    for bad, error, message in [
        (pa.array([1], pa.uint32()), TypeError, "fingerprints must be a column of uint64 or int64"),
        (pa.array([1.0]), TypeError, "fingerprints must be"),
        (table(), TypeError, "fingerprints must be"),
    ]:
        with pytest.raises(error, match=message):
            store.near_batch(bad, k=3)


def test_answers_work_as_sequence_and_as_columns(store: simkeep.Store) -> None:
    for n in range(4):
        store.observe(f"https://example.com/{n}", AT, fingerprint=2**n - 1)
    answers = store.near_batch([0, 15 << 40, 7], k=1, limit=1)
    assert len(answers) == 3 and answers[-1] == answers[2] == store.near(7, k=1, limit=1)
    assert answers[::2] == [answers[0], answers[2]] and list(reversed(answers))[0] == answers[2]
    with pytest.raises(IndexError):
        answers[3]
    assert pa.table(answers).to_pylist() == [
        {"query": 0, "url": "https://example.com/0", "distance": 0, "fingerprint": 0},
        {"query": 2, "url": "https://example.com/3", "distance": 0, "fingerprint": 7},
    ]
    queries = pa.table(answers.queries()).to_pylist()
    assert queries == [{"complete": found.complete, "within": found.within} for found in answers]
    assert pa.table(answers.batches(signed=True)).schema.field("fingerprint").type == pa.int64()
    assert polars.DataFrame(answers)["url"].to_list() == pa.table(answers)["url"].to_pylist()


def test_outcomes_work_as_sequence_and_as_columns(store: simkeep.Store) -> None:
    outs = store.observe_batch(
        [
            simkeep.Observation(URL, AT, text=TEXT, digest=bytes(16)),
            simkeep.Observation(URL, AT + DAY, text=OTHER),
            simkeep.Observation(URL, AT + 2 * DAY, text=TEXT, digest=bytes(16)),
            simkeep.Observation("https://example.org/", AT, text=TEXT, digest=bytes(16)),
            simkeep.Observation("https://example.net/", AT, text=TEXT),
        ]
    )
    columns = pa.table(outs)
    assert columns["verdict"].to_pylist() == ["new", "changed", "reverted", "new", "new"]
    assert pa.types.is_dictionary(columns.schema.field("verdict").type)
    assert columns["distance"].to_pylist() == [out.distance for out in outs]
    assert columns["to"].to_pylist() == [None, None, AT, None, None]
    [copy] = outs[3].copies
    assert pa.table(outs.copies()).to_pylist() == [{"observation": 3, "url": URL, "first": copy.first}]
    near = pa.table(outs.near(signed=True))
    assert near["observation"].to_pylist() == [4, 4] and near["distance"].to_pylist() == [0, 0]
    assert columns["refers_to_url"].to_pylist() == [None] * 5


def test_first_captures_convert_to_columns(path: Path) -> None:
    with simkeep.Store.create(path, refers_to=True) as store:
        rows = [simkeep.Observation(url, AT, digest=bytes(16)) for url in ("https://a/", "https://b/")]
        columns = pa.table(store.observe_batch(rows))
    assert columns["refers_to_url"].to_pylist() == [None, "https://a/"]
    assert columns["refers_to_time"].to_pylist() == [None, AT]


def test_hosts_of_requests_convert_to_columns(store: simkeep.Store) -> None:
    store.observe("https://a.example/", AT, text=TEXT, digest=bytes(16), bytes=700)
    store.failed("https://b.example/", AT)
    table = pa.table(store.requests_by_host())
    assert table["host"].to_pylist() == ["a.example", "b.example"]
    assert table["requests"].to_pylist() == [1, 1] and table["transferred_bytes"].to_pylist() == [700, 0]


def test_scans_and_observations_convert_to_columns(store: simkeep.Store) -> None:
    filled(store, 10_000)
    store.observe(URL, AT, text=TEXT, status=200, digest=bytes(range(16)), class_=3, weight=2)
    store.observe("https://gone.example/", AT, fingerprint=2**63)
    store.gone("https://gone.example/", AT + DAY)
    pages = pa.table(store.scan().batches())
    assert pages.num_rows == 10_002 and pages["url"].to_pylist() == [page.url for page in store.scan()]
    for row, page in zip(pages.to_pylist(), store.scan(), strict=True):
        content = page.content
        assert row["fingerprint"] == (content.fingerprint if content else None)
        assert (row["first"], row["gone"], row["weight"]) == (page.first, page.gone, page.weight)
        assert (row["class_"], row["status"]) == (page.class_, page.last.status)
    seen = pa.table(store.observations("gone.example").batches(signed=True))
    assert seen["seen"].to_pylist() == ["content", "gone"]
    assert seen["fingerprint"].to_pylist() == [-(2**63), None]
    assert polars.DataFrame(store.scan().batches()).height == 10_002
    batches = store.scan().batches()
    pa.table(batches)
    with pytest.raises(ValueError, match="read already"):
        pa.table(batches)
    stream = store.scan()
    readers = [pa.RecordBatchReader.from_stream(stream) for _ in range(3)]
    # Reading the schema takes no row, and the first reader that asks for a row takes all.
    assert {reader.schema for reader in readers} == {pages.schema}
    del readers[0]
    assert readers[0].read_all().num_rows == 10_002
    with pytest.raises(pa.ArrowInvalid, match="read already"):
        readers[1].read_all()
    with pytest.raises(ValueError, match="read already"):
        pa.table(stream)
    assert list(stream) == []
    with store.scan() as stream:
        reader = pa.RecordBatchReader.from_stream(stream)
    with pytest.raises(pa.ArrowInvalid, match="closed"):
        reader.read_all()
    with pytest.raises(TypeError, match="no columns"):
        store.histories().batches()


def test_pairs_are_streamed_as_columns(store: simkeep.Store) -> None:
    filled(store, 2000)
    assert pa.table(store.all_pairs(20).batches()).num_rows == sum(1 for _ in store.all_pairs(20))
    reader = pa.RecordBatchReader.from_stream(store.all_pairs(64))
    batch = reader.read_next_batch()
    assert batch.schema.names == ["left", "right", "distance"] and batch.num_rows > 0
    del reader
    with store.page_pairs(24) as pairs:
        first = next(pairs)
    rows = pa.table(store.page_pairs(24).batches())
    assert first.distance in rows["distance"].to_pylist() and rows.schema.names[0] == "left_url"
    assert not threads("simkeep-pairs")


def test_fingerprint_batch_matches_single_fingerprints() -> None:
    texts = [f"{TEXT} {n} {OTHER}" for n in range(2000)] + ["Not found"]
    maker = simkeep.Fingerprinter("near")
    expected = [maker.of_page(text) for text in texts]
    for given in (texts, pa.array(texts), polars.Series(texts), pa.array(texts, pa.large_string()).slice(0)):
        prints = simkeep.fingerprint_batch(given, recipe="near")
        assert list(prints) == expected and prints[-1] is None
    assert pa.table(prints)["fingerprint"].to_pylist() == expected
    for bad, error, message in [
        (TEXT, TypeError, "texts must be an iterable of str"),
        ([TEXT, b"x"], TypeError, "texts in row 1 must be str, not bytes"),
        (pa.array([1]), TypeError, "texts must be a column of strings"),
    ]:
        with pytest.raises(error, match=message):
            simkeep.fingerprint_batch(bad)


def test_fingerprint_of_a_null_is_null() -> None:
    texts = [TEXT, None, OTHER]
    expected = [simkeep.fingerprint(TEXT), None, simkeep.fingerprint(OTHER)]
    for given in (texts, pa.array(texts), polars.Series(texts), pa.chunked_array([texts[:1], texts[1:]])):
        assert list(simkeep.fingerprint_batch(given)) == expected
    assert list(simkeep.fingerprint_batch([None])) == list(simkeep.fingerprint_batch(pa.nulls(1))) == [None]
    frame = polars.DataFrame({"text": texts})
    frame = frame.with_columns(polars.DataFrame(simkeep.fingerprint_batch(frame["text"])))
    assert frame["fingerprint"].to_list() == expected and frame["fingerprint"].dtype == polars.UInt64


def test_exported_columns_can_be_loaded_again(store: simkeep.Store, tmp_path: Path) -> None:
    store.observe_batch(rows())
    columns = polars.DataFrame(store.observations().batches()).filter(
        polars.col("seen").cast(polars.String) != "property"
    )
    with simkeep.Store.create(tmp_path / "again") as again:
        again.load(columns.drop("weight", "class_", "etag", "target"))
        assert [entry for _, entry in again.observations()] == [
            entry for _, entry in store.observations() if not isinstance(entry, simkeep.PropertyEntry)
        ]


def test_times_are_returned_in_utc(store: simkeep.Store) -> None:
    store.observe(URL, AT, text=TEXT)
    [row] = pa.table(store.scan().batches()).to_pylist()
    assert row["last"] == AT and row["last"].tzinfo is not None
    assert row["last"].astimezone(UTC) == AT
