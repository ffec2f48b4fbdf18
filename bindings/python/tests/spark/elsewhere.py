"""Remote stores and a cache for them, made for tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from conftest import filled

import simkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from simkeep.spark.cache import Cache


class There(NamedTuple):
    """A store that is published at a URI."""

    folder: Path
    uri: str

    def files(self) -> list[Path]:
        return sorted((self.folder / "files").iterdir())


def published(folder: Path, name: str, pages: int = 300, start: int = 0) -> There:
    """Publishes a new store, or one more generation of it."""
    path, to = folder / "stores" / name, folder / "there" / name
    path.parent.mkdir(exist_ok=True)
    with simkeep.Store.open(path) if path.exists() else simkeep.Store.create(path) as store:
        filled(store, pages, start=start)
        store.publish(to, copy=True)
    return There(to, to.as_uri())


@pytest.fixture
def cache(tmp_path: Path) -> Iterator["Cache"]:
    """An empty cache."""
    from simkeep.spark import pinned
    from simkeep.spark.cache import Cache

    yield Cache(str(tmp_path / "cache"))
    # Open readers would stay open for later tests.
    pinned._close_idle(0)


def resolved(cache: "Cache", *uris: str, generation: Any = "latest") -> Any:
    from simkeep.spark.pinned import pinned

    return pinned(list(uris), generation, None, cache=cache)


def pages(pinned: Any) -> int:
    with pinned.asked() as reader:
        found: int = reader.stats().pages
    return found


def kept(cache: "Cache") -> dict[str, int]:
    """Returns the files of stores in the cache, and their sizes."""
    root = Path(cache.folder or "")
    return {str(path.relative_to(root)): path.stat().st_size for path in root.glob("*/*s/*")}


def size(there: There) -> int:
    return sum(path.stat().st_size for path in there.folder.glob("*s/*"))


@pytest.fixture
def settings(spark: "SparkSession", cache: "Cache") -> Iterator[None]:
    spark.conf.set("simkeep.cache.dir", cache.folder or "")
    yield
    for name in ("simkeep.cache.dir", "simkeep.cache.bytes"):
        spark.conf.unset(name)
