"""Tables as a data source, and the filters that narrow them."""

import os
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from published import PAGES, STORES, Crawl

import simkeep

pa = pytest.importorskip("pyarrow")
if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")

BEGIN = datetime(2024, 3, 9, 23, 30, tzinfo=UTC)
ZONE = "America/St_Johns"
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class Small(NamedTuple):
    """Two stores with some pages of every kind."""

    paths: list[Path]
    visits: int


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, spark: "SparkSession") -> Small:
    from simkeep.spark import Source

    spark.dataSource.register(Source)
    folder = tmp_path_factory.mktemp("small")
    urls = [
        *(f"https://example.com/a/{n}" for n in range(20)),
        *("https://example.com/a", "https://example.com/a-old", "http://example.com/a/1", "HTTPS://EXAMPLE.com./a/1"),
        *("https://example.com:8080/a/1", "https://u@example.com/a/1", "https://www.example.com/a/1"),
        *("http://127.0.0.1/a", "http://[::1]/a", "https://Bücher.example/", "urn:isbn:1", "urn:isbn:12"),
    ]
    paths, visits = [], 0
    for number in range(2):
        with simkeep.Store.create(folder / f"s{number}") as store:
            for n, url in enumerate(urls):
                if simkeep.route(url, 2) != number:
                    continue
                for times in range(n % 3 + 1):
                    at = BEGIN + timedelta(minutes=30 * n + times)
                    if n % 5 == 4:
                        store.gone(url, at)
                    else:
                        text = f"Page {n} tells, at times such as {times}, of what it is about, at some length."
                        status = 200 + n if n % 2 else None
                        store.observe(url, at, text=text, digest=bytes([n]) * 16, status=status)
                    visits += 1
            store.seal()
        paths.append(folder / f"w{number}")
        simkeep.publish(folder / f"s{number}", paths[-1])
    return Small(paths, visits)


def loaded(spark: "SparkSession", paths: list[Path], **options: Any) -> "DataFrame":
    return spark.read.format("simkeep").options(**options).load([str(path) for path in paths])


def sorted_rows(frame: "DataFrame") -> list[str]:
    return sorted(map(str, frame.collect()))


@pytest.fixture
def zone(spark: "SparkSession") -> Iterator[None]:
    """A time zone that is half an hour from others."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", ZONE)
    yield
    spark.conf.set("spark.sql.session.timeZone", before or "UTC")


def test_a_table_is_read_by_its_path(spark: "SparkSession", crawl: Crawl, small: Small) -> None:
    from simkeep.spark import Stores

    assert small
    wanted = sorted_rows(Stores(spark, crawl.paths).pages().where("url like '%777'"))
    for path in (f"{crawl.paths[0].parent}/w*/", [str(path) for path in crawl.paths]):
        assert sorted_rows(spark.read.format("simkeep").load(path).where("url like '%777'")) == wanted
    assert len(wanted) == STORES * PAGES // 1000
    one = spark.read.format("simkeep").option("table", "visits").load(str(crawl.paths[0]))
    assert one.columns[:4] == ["store", "url", "host", "at"]
    hosts = one.select("host").distinct().toArrow()["host"].to_pylist()
    assert {simkeep.route(f"https://{host}/", STORES) for host in hosts} == {0}


def test_rows_match_the_store(spark: "SparkSession", small: Small) -> None:
    from simkeep.spark.hosts import host

    found = {row.url: row.asDict() for row in loaded(spark, small.paths).collect()}
    wanted = {}
    for path in small.paths:
        with simkeep.Reader.published(path) as reader:
            names: dict[int | None, str | None] = {info.epoch: info.name for info in reader.epochs()} | {None: None}
            for batch in pa.RecordBatchReader.from_stream(reader.scan().batches(signed=True)):
                for row in batch.to_pylist():
                    more = {"store": path.name, "host": host(row["url"]), "epoch": names[row["epoch"]]}
                    wanted[row["url"]] = row | more
    for row in found.values():
        for name in ("first", "last", "content_seen", "modified"):
            row[name] = row[name] and row[name].astimezone(UTC)
        row["digest"] = row["digest"] and bytes(row["digest"])
    assert found == wanted
    assert {row["gone"] for row in found.values()} == {True, False}
    assert None in {row["status"] for row in found.values()} and None in {row["host"] for row in found.values()}
    assert loaded(spark, small.paths, table="visits").count() == small.visits


WHERE: list[tuple[str, list[tuple[str, str, Any]]]] = [
    ("url like 'https://example.com/a/%'", [("url", "starts with", "https://example.com/a/")]),
    ("url like 'https://example.com/a%'", [("url", "starts with", "https://example.com/a")]),
    ("url like 'https://exam%'", [("url", "starts with", "https://exam")]),
    ("url like 'urn:isbn:1%'", [("url", "starts with", "urn:isbn:1")]),
    ("url = 'https://example.com/a/1'", [("url", "=", "https://example.com/a/1")]),
    ("url in ('urn:isbn:1', 'x', 'http://[::1]/a')", [("url", "in", ["urn:isbn:1", "x", "http://[::1]/a"])]),
    ("url != 'urn:isbn:1'", [("url", "!=", "urn:isbn:1")]),
    ("host = 'example.com'", [("host", "=", "example.com")]),
    ("host in ('127.0.0.1', 'bücher.example', 'Bücher.example')",
     [("host", "in", ["127.0.0.1", "bücher.example", "Bücher.example"])]),
    ("host not in ('example.com')", [("host", "not in", ["example.com"])]),
    ("host = 'example.com' and url like 'http:%'",
     [("host", "=", "example.com"), ("url", "starts with", "http:")]),
    ("status > 210", [("status", ">", 210)]),
    ("status != 201", [("status", "!=", 201)]),
    ("not gone", [("gone", "!=", True)]),
    ("gone", [("gone", "=", True)]),
    ("store = 'w1'", [("store", "=", "w1")]),
    ("store = 'w7'", [("store", "=", "w7")]),
    ("epoch = 'none such'", [("epoch", "=", "none such")]),
    ("digest != X'00'", [("digest", "!=", b"\x00")]),
    ("fingerprint < 0", [("fingerprint", "<", 0)]),
]


def read(small: Small, table: str, *filters: tuple[str, str, Any]) -> list[str]:
    """Returns the URLs that tasks read from a table, without Spark."""
    from simkeep.spark.filters import checked
    from simkeep.spark.pinned import pinned
    from simkeep.spark.source import TableReader
    from simkeep.spark.tables import TABLES

    stores = pinned(small.paths, "latest", None)
    reader = TableReader(table, stores, ["url"], checked(filters, TABLES[table]), None, 2)
    batches = (batch for part in reader.partitions() for batch in reader.read(part))
    return sorted(url for batch in batches for url in batch["url"].to_pylist())


def held(frame: "DataFrame", conditions: list[str]) -> list[list[str]]:
    """Returns the URLs of the rows for which each condition holds according to Spark."""
    rows = frame.selectExpr("url", *(f"({of}) as c{n}" for n, of in enumerate(conditions))).collect()
    return [sorted(row.url for row in rows if row[n + 1]) for n in range(len(conditions))]


def test_filters_agree_with_spark(spark: "SparkSession", small: Small) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, small.paths)
    for (where, filters), wanted in zip(WHERE, held(stores.pages(), [where for where, _ in WHERE]), strict=True):
        assert read(small, "pages", *filters) == wanted
        assert bool(wanted) == (where not in ("store = 'w7'", "epoch = 'none such'")), where
    of_visits = [(where, filters) for where, filters in WHERE if "gone" not in where]
    for (_, filters), wanted in zip(of_visits, held(stores.visits(), [of for of, _ in of_visits]), strict=True):
        assert read(small, "visits", *filters) == wanted
    for where, filters in WHERE[5:8]:
        assert sorted_rows(stores.pages(filters=filters)) == sorted_rows(stores.pages().where(where))


@pytest.mark.usefixtures("zone")
def test_time_filters_work_in_any_time_zone(spark: "SparkSession", small: Small) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, small.paths)
    # In this night the clock goes from 2:00 to 3:00.
    local = ["2024-03-09 20:00:00", "2024-03-10 01:30:00", "2024-03-10 03:00:00", "2024-03-10 03:30:00"]
    times = [datetime.fromisoformat(of).replace(tzinfo=ZoneInfo(ZONE)) for of in local]
    for table, frame, columns in (("pages", stores.pages(), ["first", "last"]), ("visits", stores.visits(), ["at"])):
        asked = [(column, operator, number) for column in columns for operator in ("<", "<=", ">", ">=", "=", "!=")
                 for number in range(len(local))]
        spoken = [f"{column} {operator} timestamp'{local[number]}'" for column, operator, number in asked]
        for (column, operator, number), wanted in zip(asked, held(frame, spoken), strict=True):
            assert read(small, table, (column, operator, times[number])) == wanted
        assert len(read(small, table, (columns[0], "in", times))) == len(local)
    at = stores.visits(filters=[("at", "<", times[1])])
    assert sorted_rows(at) == sorted_rows(stores.visits().where(f"at < '{local[1]}'"))


def test_narrow_filters_read_few_ranges(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    from simkeep.spark import source
    from simkeep.spark.filters import checked
    from simkeep.spark.pinned import pinned
    from simkeep.spark.source import TableReader
    from simkeep.spark.tables import PAGES as COLUMNS

    stores = pinned(crawl.paths, "latest", None)

    def ranges(*filters: tuple[str, str, Any], tasks: int = 2, under: str | None = None) -> tuple[int, int]:
        """Returns how many pages are read, and by how many tasks."""
        reader = TableReader("pages", stores, ["url"], checked(filters, COLUMNS), under, tasks)
        parts = [part.value for part in reader.partitions() if part.value]
        pages = 0
        for store, ranges in parts:
            with simkeep.Reader.published(store.path) as opened:
                pages += sum(len(list(opened.scan(under, start=of.start, end=of.end))) for of in ranges)
        return pages, len(parts)

    every = STORES * PAGES
    assert [ranges(tasks=tasks) for tasks in (1, 2, 5)] == [(every, 4), (every, 4), (every, 12)]
    of_host = len(range(3, every, 97))
    assert ranges(("host", "=", "host-3.example")) == (of_host, 4)
    assert ranges(("url", "starts with", "https://host-3.example/")) == (of_host, 4)
    assert ranges(under="host-3.example")[0] == of_host
    assert ranges(("host", "=", "host-3.example"), under="host-4.example")[0] == 0
    assert ranges(("url", "=", "https://host-3.example/3")) == (1, 4)
    store = stores[simkeep.route("https://host-3.example/", STORES)].name
    assert ranges(("url", "=", "https://host-3.example/3"), ("store", "=", store)) == (1, 1)
    assert ranges(("store", "=", "none")) == (0, 0)
    urls = [f"https://host-{n % 97}.example/{n}" for n in range(0, every, 171)]
    pages, tasks = ranges(("url", "in", urls))
    assert (pages, tasks <= 8) == (len(urls), True)
    hosts = [f"host-{n}.example" for n in range(97)]
    assert ranges(("host", "in", hosts))[0] == ranges(("url", "starts with", "https://host-"))[0] == every
    assert 5 <= ranges(("host", "in", hosts), tasks=4)[1] <= 8 + STORES
    # Several tasks read the pages of a large host, even if all are in one store.
    monkeypatch.setattr(source, "_FEW", of_host)
    assert ranges(("host", "=", "host-3.example"), tasks=4) == (of_host, 4 - 1 + 6)
    assert ranges(("url", "starts with", "https://host-3.example/"), tasks=4) == (of_host, 4 - 1 + 6)


def test_only_named_columns_are_read(spark: "SparkSession", small: Small) -> None:
    from simkeep.spark import Stores

    stores = Stores(spark, small.paths)
    some = stores.pages(columns=["fingerprint", "url"], filters=[("gone", "=", False)])
    assert some.columns == ["fingerprint", "url"]
    assert sorted_rows(some) == sorted_rows(stores.pages().where("not gone").select("fingerprint", "url"))
    assert loaded(spark, small.paths, columns=" url , host").columns == ["url", "host"]
    given = spark.read.format("simkeep").schema("last timestamp, url string").load(str(small.paths[0]))
    assert sorted_rows(given) == sorted_rows(stores.pages().where("store = 'w0'").select("last", "url"))
    with pytest.raises(ValueError, match="there is no column nope in pages; the columns are store, url, host"):
        stores.pages(columns=["url", "nope"])
    with pytest.raises(ValueError, match="columns: url is named twice"):
        stores.pages(columns=["url", "url"])
    with pytest.raises(ValueError, match="columns must not be empty"):
        stores.visits(columns=[])
    with pytest.raises(TypeError, match="columns must be a list"):
        stores.visits(columns="url")
    with pytest.raises(ValueError, match="there is no column last"):
        stores.visits(filters=[("last", "=", 1)])
    with pytest.raises(simkeep.Error, match="the prefix"):
        stores.pages("http://")
    wrong = spark.read.format("simkeep").schema("url int").load(str(small.paths[0]))
    with pytest.raises(Exception, match="the column url has the type string, not int"):
        wrong.collect()


def test_invalid_options_are_rejected_on_load(spark: "SparkSession", small: Small) -> None:
    for options, message in [
        ({"table": "page"}, "the option table must be pages or visits, not page"),
        ({"colums": "url"}, "there is no option colums; the options are table, path"),
        ({"columns": "url,digset"}, "there is no column digset in pages"),
        ({"columns": ""}, "there is no column  in pages"),
        ({"generation": "-1"}, "the option generation must be a whole number of at least 1, not -1"),
        ({"generation": "77"}, "there is no generation 77; the generations are 1"),
        ({"epoch": "none such"}, "there is no epoch none such"),
        ({"tasks": "many"}, "the option tasks must be a whole number of at least 1, not many"),
        ({"pushdown": "yes"}, "the option pushdown must be true or false, not yes"),
        ({"filters": "x"}, "filters must be JSON"),
        ({"under": "http://"}, "the prefix"),
    ]:
        with pytest.raises(Exception, match=message):
            loaded(spark, small.paths, **options).collect()
    with pytest.raises(Exception, match="there is no such directory; make it with simkeep publish"):
        loaded(spark, [small.paths[0] / "none"]).collect()
    with pytest.raises(Exception, match="the path is missing: name published directories with load"):
        spark.read.format("simkeep").load()


def test_table_is_pinned_to_generations_at_load_time(
    spark: "SparkSession", small: Small, tmp_path: Path
) -> None:
    assert small
    with simkeep.Store.create(tmp_path / "s") as store:
        store.observe("https://a.example/", BEGIN, fingerprint=1)
        store.seal()
    simkeep.publish(tmp_path / "s", tmp_path / "w")
    before = loaded(spark, [tmp_path / "w"])
    with simkeep.Store.open(tmp_path / "s") as store:
        store.observe("https://b.example/", BEGIN, fingerprint=2)
        store.seal()
    simkeep.publish(tmp_path / "s", tmp_path / "w")
    assert (before.count(), loaded(spark, [tmp_path / "w"]).count()) == (1, 2)
    assert loaded(spark, [tmp_path / "w"], generation="1").count() == 1


def test_damage_is_reported_with_store_and_generation(
    spark: "SparkSession", small: Small, tmp_path: Path
) -> None:
    assert small
    with simkeep.Store.create(tmp_path / "s") as store:
        store.load({"url": f"https://a.example/{n}", "at": BEGIN, "fingerprint": n} for n in range(3000))
    simkeep.publish(tmp_path / "s", tmp_path / "w")
    (segment,) = (tmp_path / "w" / "files").glob("*.seg")
    whole = segment.read_bytes()
    os.chmod(segment, 0o600)
    damaged = bytearray(whole)
    for at in range(4096, len(whole), 64):
        damaged[at] ^= 0x10
    segment.unlink()
    # One task has nothing to split; with several, the query fails before any of them runs.
    for tasks in ("1", "64"):
        segment.write_bytes(whole)
        table = loaded(spark, [tmp_path / "w"], tasks=tasks)
        segment.unlink()
        segment.write_bytes(damaged)
        with pytest.raises(Exception, match=segment.name) as raised:
            table.collect()
        printed = "".join(traceback.format_exception(raised.value))
        assert f"The error is in the published store {tmp_path / 'w'}, generation 1." in printed
        segment.unlink()


@pytest.fixture
def pushing(spark: "SparkSession") -> Iterator[None]:
    """Spark with filter pushdown, if this version offers it."""
    spark.conf.set(PUSHDOWN, "true")
    yield
    spark.conf.unset(PUSHDOWN)


@pytest.mark.usefixtures("pushing", "zone")
@pytest.mark.parametrize("where", [
    "url like 'https://example.com/a/%' and not gone",
    "url in ('urn:isbn:1', null) or host = 'example.com'",
    "last > timestamp'2024-03-10 01:30:00' and first <= '2024-03-10 06:30:00' and store in ('w0', 'w1', 'w2')",
    "status is null and host <=> 'example.com'",
    "host not in ('a', null)",
    "weight <= 1 and weight != double('nan') and status > 203.5 and status < 3000000000",
    "upper(host) = 'EXAMPLE.COM' and not (url like 'https%') and digest <> X'00'",
    "store <> 'w0' or store = 'w0'",
])
def test_pushed_down_filters_lose_no_row(spark: "SparkSession", small: Small, where: str) -> None:
    wanted = sorted_rows(loaded(spark, small.paths).where(where))
    assert sorted_rows(loaded(spark, small.paths, pushdown="true").where(where)) == wanted
    assert bool(wanted) == (where != "host not in ('a', null)")


def test_pushed_down_filters_narrow_the_read(small: Small) -> None:
    datasource = pytest.importorskip("pyspark.sql.datasource")
    if not hasattr(datasource, "EqualTo"):
        pytest.skip("Spark 4.0 keeps its filters to itself")
    from simkeep.spark.source import Source

    source = Source({"paths": f'["{small.paths[0]}", "{small.paths[1]}"]', "pushdown": "true"})
    source.schema()
    from pyspark.sql.types import StringType, StructField, StructType

    def pushed(*filters: Any) -> list[str]:
        reader: Any = source.reader(StructType([StructField("url", StringType())]))
        assert reader.pushFilters(list(filters)) == list(filters)
        batches = (batch for part in reader.partitions() for batch in reader.read(part))
        return [url for batch in batches for url in batch["url"].to_pylist()]

    every = pushed(datasource.EqualTo(("weight",), 7.0), datasource.StringContains(("url",), "none"))
    assert len(every) == 32
    assert pushed(datasource.IsNotNull(("url",)), datasource.EqualTo(("url",), "urn:isbn:1")) == ["urn:isbn:1"]
    assert len(pushed(datasource.StringStartsWith(("url",), "https://example.com/a/"))) == 20
    assert len(pushed(datasource.Not(datasource.In(("host",), ("example.com",))))) == 4
    assert pushed(datasource.Not(datasource.In(("host",), ("example.com", None)))) != []
    assert len(pushed(datasource.GreaterThan(("last",), BEGIN + timedelta(hours=15)))) == 1
    assert len(pushed(datasource.EqualTo(("url", "url"), "x"))) == 32


@pytest.mark.usefixtures("pushing")
def test_spark_still_mixes_up_filters_of_two_reads(spark: "SparkSession", small: Small) -> None:
    """If this fails, Spark has fixed it: from this version on, tables can take its filters by default."""
    from pyspark import __version__

    if __version__.startswith("4.0."):
        pytest.skip("Spark 4.0 keeps its filters to itself")
    right = loaded(spark, small.paths)
    wrong = loaded(spark, small.paths, pushdown="true")
    both = [table.where("store = 'w0'").union(table.where("store = 'w1'")).count() for table in (right, wrong)]
    assert both[0] == right.count() == 32
    assert both[1] != both[0]
