"""Loading a corpus, and saving, checking and repairing a store."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest
from conftest import AT, DAY, OTHER, TEXT, URL, filled

import simkeep
from simkeep.df import FrequencyCounter


def visits() -> list[simkeep.Observation]:
    return [
        simkeep.Observation(URL, AT + DAY, text=OTHER, status=200),
        simkeep.Observation(URL, AT, text=TEXT, weight=2.0, class_=7),
        simkeep.Observation.gone("https://example.org/", AT),
        simkeep.Observation.not_modified(URL, AT + 2 * DAY, status=304),
        simkeep.Observation("https://example.net/", AT, html=b"<p>" + TEXT.encode()),
    ]


def test_load_gives_the_same_store_as_observe(tmp_path: Path) -> None:
    with (
        simkeep.Store.create(tmp_path / "loaded") as loaded,
        simkeep.Store.create(tmp_path / "observed") as observed,
    ):
        done = loaded.load(iter(visits()), memory_bytes=1 << 20, segment_pages=1 << 20)
        assert (done.observations, done.visits, done.pages, done.new_pages) == (5, 5, 3, 3)
        assert (done.weights, done.classes, done.segments) == (1, 1, 1)
        observed.observe_batch(visits())
        assert list(loaded.observations()) == list(observed.observations())
        assert list(loaded.scan()) == list(observed.scan())
        assert loaded.load(visits()).visits == 0


def test_load_stores_many_rows(store: simkeep.Store) -> None:
    filled(store, 10_000)
    assert store.stats().pages == 10_000
    assert store.load([]).segments == 0


def test_copy_from_copies_a_whole_store(tmp_path: Path) -> None:
    with simkeep.Store.create(tmp_path / "old") as old, simkeep.Store.create(tmp_path / "new") as new:
        old.load(visits())
        mine = old.register_epoch("mine/1", role="near")
        old.observe("https://example.org/", AT + DAY, fingerprint=5, epoch=mine)
        done = new.copy_from(old)
        assert [info.name for info in done.begun] == ["mine/1"]
        assert list(new.scan()) == list(old.scan())
        with simkeep.Reader(tmp_path / "old") as reader:
            assert new.copy_from(reader).visits == 0
        assert new.copy_from(old.snapshot()).visits == 0


def test_load_rows_may_read_the_store(store: simkeep.Store) -> None:
    def rows() -> Iterator[simkeep.Observation]:
        for n in range(5000):
            # A load is invisible until it is done.
            assert n % 1000 or store.stats().pages == 0
            yield simkeep.Observation(f"https://example.com/{n}", AT, fingerprint=n)

    store.load(rows())
    assert store.stats().pages == 5000


def test_load_iterable_cannot_load_or_close_the_store(store: simkeep.Store, tmp_path: Path) -> None:
    with simkeep.Store.create(tmp_path / "other") as other:
        row = simkeep.Observation(URL, AT, fingerprint=1)
        verbs: list[Callable[[], object]] = [
            lambda: store.load([row]),
            lambda: store.copy_from(other),
            store.close,
        ]
        for verb in verbs:

            def rows(verb: Callable[[], object] = verb) -> Iterator[simkeep.Observation]:
                yield row
                verb()

            # Each of these calls would wait for the load, which waits for the next row.
            with pytest.raises(simkeep.InvalidArgumentError, match="the iterable of a load"):
                store.load(rows())
        assert store.stats().pages == 0

        def others() -> Iterator[simkeep.Observation]:
            other.load([row])
            yield row

        assert store.load(others()).pages == other.stats().pages == 1


def test_a_store_is_checked_backed_up_and_repaired(tmp_path: Path) -> None:
    path, safe, new = tmp_path / "crawl", tmp_path / "safe", tmp_path / "new"
    with simkeep.Store.create(path) as store:
        filled(store, 2000)
        verified = store.verify()
        assert verified.is_sound and verified.pages == 2000 and verified.flaws == ()
        made = store.backup(safe)
        assert made.pages == 2000 and made.earlier is None
        assert store.backup(safe, copy=True).earlier == made.sequence
    assert simkeep.backup(path, safe).pages == 2000
    assert simkeep.verify(safe).is_sound
    [segment] = (path / "segments").iterdir()
    damaged = bytearray(segment.read_bytes())
    damaged[5000] ^= 1
    segment.write_bytes(damaged)
    assert not simkeep.verify(path, rate=100 << 20, flaws_max=3).is_sound
    repaired = simkeep.repair(path, new)
    assert repaired.pages > 0 and len(repaired.flaws) == 1
    assert repaired.is_whole or repaired.lost_pages > 0
    with simkeep.Reader(new) as reader:
        assert reader.stats().pages == repaired.pages


def test_forget_and_purge_remove_pages(store: simkeep.Store, path: Path) -> None:
    filled(store, 500)
    store.observe(URL, AT, text=TEXT)
    assert store.forget(URL) == simkeep.Forgotten(1, 1)
    assert store.forget("https://example.org/") == simkeep.Forgotten(0, 0)
    assert store.forget(under="3.example").pages == 6
    assert store.purge(under="4.example").pages == 6
    assert not any(b"//4.example" in file.read_bytes() for file in path.rglob("*") if file.is_file())
    assert store.stats().pages == 488
    store.seal()
    assert store.merge().inputs > 1
    store.wait_idle()
    compacted = store.compact()
    assert compacted.segment_bytes == store.stats().segment_bytes


def test_create_from_is_all_or_nothing(path: Path) -> None:
    def broken() -> Iterator[simkeep.Observation]:
        yield from visits()
        raise LookupError("the rows broke off")

    with pytest.raises(LookupError, match="broke off"):
        simkeep.Store.create_from(path, broken())
    with pytest.raises(simkeep.LoadRejectedError, match="observation 2"):
        simkeep.Store.create_from(path, [visits()[0], simkeep.Observation("a\tb", AT, text=TEXT)])
    assert not any(file.is_file() for file in path.rglob("*"))
    store, loaded = simkeep.Store.create_from(path, iter(visits()), near_distance=5, memory_bytes=1 << 20)
    with store:
        assert (loaded.visits, loaded.pages, loaded.begun) == (5, 3, ())
        assert store.near_distance() == 5 and store.path == path
        with simkeep.Store.create(path.with_name("other")) as other:
            assert [info.name for info in store.epochs()] == [info.name for info in other.epochs()]
            other.load(visits())
            assert list(store.observations()) == list(other.observations())
    with pytest.raises(simkeep.AlreadyExistsError):
        simkeep.Store.create_from(path, [])


def test_create_from_starts_with_the_named_epoch(tmp_path: Path) -> None:
    rows = [simkeep.Observation(URL, AT, fingerprint=5)]
    store, _ = simkeep.Store.create_from(tmp_path / "a", rows, epoch="mine/1", epoch_bands=(1, 2))
    with store:
        assert [info.name for info in store.epochs()] == ["mine/1"]
        assert store.epochs()[0].bands == simkeep.Bands(1, 2)
    with pytest.raises(simkeep.LoadRejectedError, match="observation 1") as raised:
        simkeep.Store.create_from(tmp_path / "b", visits(), epoch="mine/1")
    assert "mine/1" in str(raised.value.__cause__)
    origin = simkeep.Origin("strict", extractor="mine/2")
    texts = [simkeep.Observation(URL, AT, text=TEXT)]
    store, _ = simkeep.Store.create_from(tmp_path / "c", texts, origin=origin)
    with store:
        assert [info.name for info in store.epochs()] == [origin.name]
        page = store.latest(URL)
        assert page is not None and page.content is not None
        assert page.content.fingerprint == simkeep.Fingerprinter("strict").of_page(TEXT)
    store, _ = simkeep.Store.create_from(tmp_path / "e", texts, origin="strict")
    with store:
        assert [info.name for info in store.epochs()] == [simkeep.Origin("strict").name]
        store.begin_epoch("near", role="near")
        epochs = simkeep.LoadEpochs()
        epochs.origin("near", role="near")
        assert store.load([], epochs=epochs).begun == ()
    with pytest.raises(ValueError, match="origin is not a recipe"):
        simkeep.Store.create_from(tmp_path / "d", texts, origin="words0")
    with pytest.raises(TypeError, match="origin must be an Origin or the name of a recipe, not int"):
        simkeep.Store.create_from(tmp_path / "d", texts, origin=7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="origin and epoch exclude each other"):
        simkeep.Store.create_from(tmp_path / "d", texts, origin=origin, epoch="mine/1")


def test_origin_carries_its_table(tmp_path: Path) -> None:
    recipe = "words-idf"
    with FrequencyCounter(tmp_path / "words.df", recipe) as counter:
        for text in (TEXT, OTHER, TEXT + OTHER):
            counter.add(text)
        table = counter.freeze()
    origin = simkeep.Origin(recipe, table=table)
    texts = [simkeep.Observation(URL, AT, text=TEXT)]
    made, _ = simkeep.Store.create_from(tmp_path / "a", texts, origin=origin)
    with made, simkeep.Store.create(tmp_path / "b") as store:
        epochs = simkeep.LoadEpochs()
        theirs = epochs.origin(origin, role="near")
        bits = simkeep.Fingerprinter(recipe, table=table).of_page(TEXT)
        loaded = store.load([simkeep.Observation(URL, AT, fingerprint=bits, epoch=theirs)], epochs=epochs)
        assert [info.name for info in loaded.begun] == [origin.name]
        for one in (made, store):
            number = next(info.epoch for info in one.epochs() if info.name == origin.name)
            assert one.origin(number) == origin
            [near] = one.near(bits or 0, k=0, epoch=number)
            assert near.url == URL


def test_epochs_start_when_their_load_completes(store: simkeep.Store) -> None:
    epochs = simkeep.LoadEpochs()

    def rows() -> Iterator[simkeep.Observation]:
        for n in range(3000):
            # `named` works during the load, and returns the same number for the same name.
            mine = epochs.named(f"mine/{n // 1500}", role="near" if n < 1500 else "both")
            yield simkeep.Observation(f"https://example.com/{n}", AT, fingerprint=n, epoch=mine)
        assert len(store.epochs()) == 1

    loaded = store.load(rows(), epochs=epochs)
    assert [(info.name, info.role) for info in loaded.begun] == [("mine/0", "near"), ("mine/1", "both")]
    assert [info.name for info in store.epochs()][1:] == ["mine/0", "mine/1"]
    # Epochs are those of the store, whatever their numbers in the load.
    again = simkeep.LoadEpochs()
    mine = again.named("mine/1")
    assert store.load([simkeep.Observation(URL, AT, fingerprint=1, epoch=mine)], epochs=again).begun == ()
    page = store.latest(URL)
    assert page is not None and page.content is not None and page.content.epoch == 2
    with pytest.raises(simkeep.LoadRejectedError, match="observation 1"):
        store.load([simkeep.Observation(URL, AT + DAY, fingerprint=1, epoch=mine)])
    other = simkeep.LoadEpochs()
    other.named("mine/0", role="both")
    with pytest.raises(simkeep.InvalidArgumentError, match="cannot change to both"):
        store.load([simkeep.Observation(URL, AT + DAY, fingerprint=1)], epochs=other)


def test_epochs_are_copied_unchanged(tmp_path: Path) -> None:
    epochs = simkeep.LoadEpochs()
    old = epochs.described("mine/1", begun=17, ended=True)
    rows = [simkeep.Observation(URL, AT, fingerprint=4, epoch=old)]
    store, _ = simkeep.Store.create_from(tmp_path / "a", rows, epochs=epochs)
    with store, simkeep.Store.create(tmp_path / "b") as other:
        info = store.epochs()[1]
        assert (info.name, info.begun, info.ended) == ("mine/1", 17, True)
        numbers = simkeep.LoadEpochs()
        assert len(numbers.of(store)) == 2 and numbers.of(store)[1] == numbers.described("mine/1")
        with pytest.raises(TypeError, match="other"):
            numbers.of("store")  # type: ignore[arg-type]
        assert other.load([], epochs=numbers).begun[0].name == "mine/1"
    with pytest.raises(simkeep.InvalidArgumentError):
        epochs.named("")
    with pytest.raises(simkeep.InvalidArgumentError, match="64 bits"):
        epochs.described("mine/3", reserved=65)
    with pytest.raises(TypeError, match="name must be str, not int"):
        epochs.named(7)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="role must be one of"):
        epochs.named("mine/4", role="some")  # type: ignore[arg-type]


def test_table_columns_are_mapped_by_name(tmp_path: Path) -> None:
    corpus = polars.DataFrame(
        {"id": [URL, "https://example.org/"], "body": [TEXT, OTHER], "cluster": [1, 2], "text": ["", ""]}
    )
    with simkeep.Store.create(tmp_path / "store") as store:
        done = store.load(corpus, url="id", text="body", at="2024-05-01")
        assert (done.visits, done.pages) == (2, 2)
        page = store.latest(URL)
        assert page is not None and page.first == datetime(2024, 5, 1, tzinfo=UTC)
        assert [near.url for near in store.near(text=TEXT)] == [URL]
        assert store.load(corpus, url="id", text="body", at=AT).visits == 2
        day = AT + DAY
        outcomes = store.observe_batch(corpus, url="id", text="body", at=day)
        assert [out.verdict for out in outcomes] == ["same", "same"]
        with pytest.raises(ValueError, match='there is no column "link", which url= names'):
            store.observe_batch(corpus, url="link", at=day)
        for name in ("text", "html"):
            day += DAY
            rows = polars.DataFrame({"url": [URL, "https://example.org/"], name: [TEXT, None]})
            with pytest.raises(TypeError, match=f"{name} in row 1 is missing: drop rows .* drop_nulls"):
                store.load(rows, at=day)
            assert store.load(rows.drop_nulls(name), at=day).visits == 1
    rows = corpus.rename({"id": "url"}).drop("text")
    made, done = simkeep.Store.create_from(tmp_path / "made", rows, text="body", at=AT)
    made.close()
    assert done.pages == 2


def test_times_without_a_zone_are_in_utc(store: simkeep.Store) -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC)
    for seen in ([day.replace(tzinfo=None)], [day.date()], ["2024-05-01"], ["2024-05-01 00:00"]):
        store.load(pa.table({"url": [f"https://example.com/{seen[0]!r}"], "at": seen, "fingerprint": [1]}))
    assert {page.first for page in store.scan()} == {day} and store.stats().pages == 4


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"url": "link", "at": AT}, ValueError, 'there is no column "link", which url= names'),
        ({"at": AT}, ValueError, "there is no column url: name the column of URLs with url="),
        ({"url": "id"}, ValueError, "there is no column at: name"),
        ({"url": "id", "at": "when"}, ValueError, 'at is "when", which is neither a column nor a time'),
        ({"url": 7, "at": AT}, TypeError, "url must be str, not int"),
        ({"url": "id", "at": 1_700_000_000}, simkeep.TimeError, "looks like seconds"),
    ],
)
def test_missing_columns_are_named(
    given: dict[str, Any], error: type[Exception], message: str, store: simkeep.Store
) -> None:
    with pytest.raises(error, match=message):
        store.load(polars.DataFrame({"id": [URL], "text": [TEXT]}), **given)


def test_column_options_require_a_table(store: simkeep.Store) -> None:
    with pytest.raises(TypeError, match="are not a table: pass a table, for example a polars.DataFrame"):
        store.load(visits(), at=AT)


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("corpus.parquet", r"for a file, pass its table: polars\.read_parquet\(path\)"),
        (Path("corpus.parquet"), r"for a file, pass its table: polars\.read_parquet\(path\)"),
        (polars.LazyFrame({"url": [URL], "text": [TEXT]}), r"for a lazy frame, pass frame\.collect\(\)"),
    ],
)
def test_errors_say_how_to_pass_a_table(given: Any, advice: str, store: simkeep.Store) -> None:
    with pytest.raises(TypeError, match=f"are not a table: {advice}"):
        store.load(given, at=AT)
    with pytest.raises(TypeError, match=f"must be an iterable of Observations or dicts, or a table .{advice}"):
        store.observe_batch(given)


@pytest.mark.parametrize("verb", ["observe_batch", "load"])
def test_a_text_has_the_digest_of_the_tool(store: simkeep.Store, verb: str) -> None:
    short = "Too short for a fingerprint: é"
    digests = [sha1(text.encode()).digest()[:16] for text in (TEXT, short)]
    urls = [f"https://example.com/{n}" for n in range(4)]
    rows = polars.DataFrame(
        {"url": urls, "text": [TEXT, short, OTHER, None], "html": [None, None, None, f"<p>{OTHER}"]}
    )
    rows = rows.with_columns(digest=polars.Series([None, None, bytes(16), None], dtype=polars.Binary))
    getattr(store, verb)(rows, at=AT)
    contents = [page.content and page.content.digest for page in store.scan()]
    assert contents == [*digests, bytes(16), None]
    out = store.observe("https://example.org/", AT, text=TEXT)
    assert [copy.url for copy in out.copies] == urls[:1]
