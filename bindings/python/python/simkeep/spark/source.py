"""The tables of stores as a Spark data source."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from simkeep import PrefixError, View

from . import filters as _filters
from .cache import BYTES, FOLDER, Cache
from .filters import Filter
from .hosts import host
from .pinned import Pinned, pinned
from .ranges import ALL, Range, cut, narrowed
from .tables import TABLES, rows, spark_schema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

TASKS = 8
"""The number of concurrent tasks, if the option is missing."""

_FEW = 1 << 14
"""The number of pages below which one task is enough."""

_OPTIONS = (
    *("table", "path", "paths", "stores", "generation", "epoch", "columns", "under", "filters", "tasks", "pushdown"),
    *(FOLDER, BYTES),
)
_KINDS = {"long": "bigint"}


def options(
    table: str,
    stores: Sequence[Pinned],
    *,
    under: str | None = None,
    columns: Sequence[str] | None = None,
    filters: Sequence[Sequence[Any]] | None = None,
    tasks: int = TASKS,
) -> dict[str, str]:
    """The options of a table of pinned stores. Raises errors for invalid columns and filters."""
    found = {"table": table, "stores": json.dumps([store.packed() for store in stores]), "tasks": str(tasks)}
    if under is not None:
        found["under"] = under
    if columns is not None:
        if isinstance(columns, str):
            raise TypeError('columns must be a list of names, such as ["url", "fingerprint"]')
        found["columns"] = ",".join(_columns(table, list(columns)))
    if filters is not None:
        found["filters"] = _filters.packed(_filters.checked(filters, TABLES[table]))
    return found


def _columns(table: str, names: list[str]) -> list[str]:
    known = TABLES[table].names
    for name in names:
        if name not in known:
            raise ValueError(f"columns: there is no column {name} in {table}; the columns are {', '.join(known)}")
        if names.count(name) > 1:
            raise ValueError(f"columns: {name} is named twice")
    if not names:
        raise ValueError(f"columns must not be empty; the columns of {table} are {', '.join(known)}")
    return names


class Source(DataSource):
    """The tables of published stores, for `spark.read.format("simkeep")`.

        spark.dataSource.register(Source)
        spark.read.format("simkeep").option("table", "pages").load("/crawl/w*/")

    The options are `table` (`pages` or `visits`); `generation` and `epoch`, as in `Stores`; `columns`, the columns to
    read, for example `url,fingerprint`; `under`, a prefix; `filters` in JSON, for example `[["host", "=",
    "example.com"]]`; `tasks`, the number of concurrent tasks; and `simkeep.cache.dir` and `simkeep.cache.bytes`, the
    folder and the size of the cache of fetched files on each machine.

    With the option `pushdown`, Spark's own filters also reduce the rows that are read. Use this option only for a
    `DataFrame` that is used once: Spark up to 4.3 applies the filters of the last use of a table to all other uses as
    well, so that these uses lack rows.
    """

    @classmethod
    def name(cls) -> str:
        """The name for `format`."""
        return "simkeep"

    def schema(self) -> str:
        """The columns of the table."""
        table, schema = self._table()
        names = self.options.get("columns")
        columns = schema.names if names is None else _columns(table, [of.strip() for of in names.split(",")])
        # Generations are resolved once, and passed to all readers.
        self._pinned = self._stores()
        return spark_schema(pa.schema([schema.field(column) for column in columns]))

    def reader(self, schema: "StructType") -> "TableReader":
        """Returns a reader for the columns of this schema."""
        table, known = self._table()
        columns = _columns(table, schema.names)
        types = dict(of.split(" ") for of in spark_schema(known).split(", "))
        for field in schema:
            wanted = _KINDS.get(types[field.name], types[field.name])
            if field.dataType.simpleString() != wanted:
                raise TypeError(f"the column {field.name} has the type {wanted}, not {field.dataType.simpleString()}")
        filters = _filters.unpacked(self.options.get("filters", "[]"), known)
        stores = getattr(self, "_pinned", None) or self._stores()
        kind = NarrowedReader if self._flag("pushdown") else TableReader
        return kind(table, stores, columns, filters, self.options.get("under"), self._count("tasks", TASKS))

    def _table(self) -> tuple[str, pa.Schema]:
        unknown = sorted(set(self.options) - set(_OPTIONS))
        if unknown:
            raise ValueError(f"there is no option {', '.join(unknown)}; the options are {', '.join(_OPTIONS)}")
        table = self.options.get("table", "pages")
        if table not in TABLES:
            raise ValueError(f"the option table must be {' or '.join(TABLES)}, not {table}")
        return table, TABLES[table]

    def _stores(self) -> list[Pinned]:
        given = self.options.get("stores")
        if given is not None:
            return [Pinned.unpacked(of) for of in json.loads(given)]
        paths = json.loads(self.options.get("paths", "[]"))
        if "path" in self.options:
            paths.append(self.options["path"])
        if not paths:
            raise ValueError('the path is missing: name published directories with load, for example load("/crawl/w*/")')
        generation: int | Literal["latest"] = "latest"
        if self.options.get("generation", "latest") != "latest":
            generation = self._count("generation", 0)
        # Settings of the session are not available in this process.
        cache = Cache.of(self.options.get(FOLDER), self.options.get(BYTES))
        return pinned(paths, generation, self.options.get("epoch"), cache=cache)

    def _count(self, option: str, default: int) -> int:
        given = self.options.get(option, str(default))
        if not (given.isascii() and given.isdigit() and 1 <= int(given) < 1 << 31):
            raise ValueError(f"the option {option} must be a whole number of at least 1, not {given}")
        return int(given)

    def _flag(self, option: str) -> bool:
        given = self.options.get(option, "false").lower()
        if given not in ("true", "false"):
            raise ValueError(f"the option {option} must be true or false, not {given}")
        return given == "true"


class TableReader(DataSourceReader):
    """Reads a table of stores, in tasks with about the same number of pages."""

    def __init__(
        self,
        table: str,
        stores: Sequence[Pinned],
        columns: list[str],
        filters: list[Filter],
        under: str | None,
        tasks: int,
    ) -> None:
        self._table, self._stores, self._columns = table, stores, columns
        self._filters, self._under, self._tasks = filters, under, tasks

    def partitions(self) -> list[InputPartition]:
        """Returns partitions: about two for each concurrent task at most, but at least one for each store."""
        most = 2 * self._tasks
        ranges = narrowed(self._filters)
        pieces = []
        for store in self._of_interest():
            if store.cache is not None:
                # Splitting would fetch a remote store to the driver, so a single task reads the whole store.
                pieces.append((store, list(ranges)))
                continue
            with store.asked() as reader:
                pieces.append((store, cut(ranges, self._borders(reader, ranges, most))))
        count = sum(len(of) for _, of in pieces)
        found = []
        for store, of in pieces:
            parts = len(of) if count <= most else max(-(-len(of) * most // count), 1)
            for part in range(min(parts, len(of))):
                mine = of[len(of) * part // parts : len(of) * (part + 1) // parts]
                found.append(InputPartition((store, mine)))
        # For an empty list, Spark would create a partition without a value.
        return found or [InputPartition(None)]

    def _borders(self, reader: View, ranges: list[Range], most: int) -> list[str]:
        """Returns URLs at which to cut the ranges of a store. Reads some pages spread over these ranges."""
        if ranges == ALL:
            return reader.split(-(-most // len(self._stores)), under=self._under)
        name = host(ranges[0].start or "") if len(ranges) == 1 else None
        if name is None or self._has_few(reader, ranges[0]):
            return []
        try:
            # A store may have all pages of a host.
            return reader.split(most, under=name)
        except PrefixError:
            # The host is not a valid prefix.
            return []

    def _has_few(self, reader: View, of: Range) -> bool:
        """Whether a range has so few pages that one task is enough."""
        with reader.scan(self._under, start=of.start, end=of.end) as pages:
            return sum(1 for _ in islice(pages, _FEW)) < _FEW

    def _of_interest(self) -> list[Pinned]:
        """The stores whose names pass the filters."""
        names = pa.array([store.name for store in self._stores])
        left = list(self._stores)
        for one in self._filters:
            if one.column == "store":
                wanted = set(names.filter(one.rows(names)).to_pylist())
                left = [store for store in left if store.name in wanted]
        return left

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Reads the rows of a task."""
        if partition.value is None:
            return
        store, ranges = partition.value
        with store.asked() as reader:
            for of in ranges:
                yield from rows(self._table, store.name, reader, self._columns, self._filters, self._under, of)


class NarrowedReader(TableReader):
    """A `TableReader` that Spark's own filters narrow."""

    def pushFilters(self, filters: list[Any]) -> list[Any]:
        """Uses the supported filters to reduce the rows that are read. Returns all filters, so that Spark applies
        them again.
        """
        of_spark = (_filters.of_spark(one, TABLES[self._table]) for one in filters)
        self._filters = [*self._filters, *(one for one in of_spark if one is not None)]
        return filters
