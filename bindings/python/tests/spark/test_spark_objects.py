"""Stores in an object store: a server on the loopback."""

import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from elsewhere import cache, resolved, settings
from published import Crawl

import simkeep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from simkeep.spark.cache import Cache

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")

__all__ = ["cache", "settings"]


def test_messages_hide_credentials_and_options_of_uris(cache: "Cache") -> None:
    from simkeep.spark.remote import shown

    for uri, expected in [
        ("s3://key:secret@bucket/a/w1/?endpoint_override=secret:1", "s3://bucket/a/w1"),
        ("S3A://bucket/a", "s3://bucket/a"),
        ("s3://key:sec/ret@bucket/a", "s3://"),
        ("s3://key:secret@bucket?region=secret", "s3://bucket"),
        ("hdfs://user@host:8020/a", "hdfs://host:8020/a"),
        ("abfs://data:secret@account.dfs.core.windows.net/a", "abfs://data@account.dfs.core.windows.net/a"),
        ("file:///a/w1", "file:///a/w1"),
    ]:
        assert shown(uri) == expected
    for uri in (
        "s3://key:secret@bucket/a?other=secret",
        "s3://key:sec/secret@bucket/w*?region=us-east-1",
        "ftp://key:secret@host/a?secret",
        "s3://key:secret@bucket/a?scheme=http&region=secret&endpoint_override=127.0.0.1:1&other=secret",
    ):
        with pytest.raises(Exception) as raised:
            resolved(cache, uri)
        printed = "".join(traceback.format_exception(raised.value))
        lines = [line for line in printed.splitlines() if not line.startswith("    ")]
        assert not any("secret" in line for line in lines), printed


def test_file_system_errors_are_reported_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    from simkeep.spark.remote import Remote

    uri = "s3://name:pass%2Fword@bucket/w1?endpoint_override=inside:9000"

    def failing(_: Remote) -> None:
        raise OSError(5, f"{uri} of name with pass/word or pass%2Fword at inside:9000 does not answer")

    monkeypatch.setattr(Remote, "_opened", property(failing))
    with pytest.raises(simkeep.IoError, match="s3://bucket/w1/files cannot be read: .*does not answer") as raised:
        Remote(uri).files("files")
    assert not re.search("word|name|inside", str(raised.value)), raised.value
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


@pytest.fixture(scope="session")
def bucket(crawl: Crawl, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serves the crawl from a local object store, and yields the query of its URIs."""
    try:
        import moto  # noqa: F401
        import moto.server  # noqa: F401
    except ImportError as error:
        what = f"there is no server for s3://: pip install 'moto[s3]' flask flask-cors ({error})"
        if os.environ.get("SPARK_NEEDED"):
            pytest.fail(what)
        pytest.skip(what)
    said = tmp_path_factory.mktemp("moto") / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with said.open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            for _ in range(600):
                if port := re.search(r"127\.0\.0\.1:(\d+)", said.read_text()):
                    break
                assert server.poll() is None, said.read_text()
                time.sleep(0.1)
            assert port is not None, "the server did not begin within a minute"
            query = f"?endpoint_override=127.0.0.1:{port[1]}&scheme=http&region=us-east-1"
            carried(crawl, f"s3://key:secret@crawl{query}&allow_bucket_creation=true")
            yield query
        finally:
            server.terminate()


def carried(crawl: Crawl, uri: str) -> None:
    """Copies published stores into an object store."""
    from pyarrow import fs

    there, base = fs.FileSystem.from_uri(uri)
    there.create_dir(base)
    for path in crawl.paths:
        for part in ("files", "generations"):
            fs.copy_files(str(path / part), f"{base}/{path.name}/{part}", fs.LocalFileSystem(), there)


def test_object_store_answers_like_a_directory(
    spark: "SparkSession", crawl: Crawl, bucket: str, settings: None, cache: "Cache"
) -> None:
    import numpy as np

    from simkeep.spark import Stores

    uri = f"s3a://key:secret@crawl/w*/{bucket}"
    local, stores = Stores(spark, crawl.paths), Stores(spark, uri)
    assert cache.fetched() == 0
    whole = sum(path.stat().st_size for of in crawl.paths for path in of.glob("*s/*"))
    assert [pinned.where for pinned in stores.pinned] == [f"s3://crawl/{path.name}" for path in crawl.paths]
    assert "secret" not in repr(stores.pinned)
    assert [pinned[2:7] for pinned in stores.pinned] == [pinned[2:7] for pinned in local.pinned]
    queries = np.random.default_rng(3).choice(crawl.fingerprints, 300)

    def near(stores: Stores) -> Any:
        by = [("query", "ascending"), ("distance", "ascending"), ("url", "ascending")]
        return stores.near(queries, k=3, limit=None).toArrow().sort_by(by)

    def pairs(stores: Stores) -> Any:
        return stores.pairs(3).toArrow().sort_by([("left", "ascending"), ("right", "ascending")])

    wanted = near(local), pairs(local)
    # First with an empty cache, then with a full one.
    assert near(stores) == wanted[0] and cache.fetched() == whole
    assert pairs(stores) == wanted[1] and cache.fetched() == whole
    again = Stores(spark, uri)
    assert near(again) == wanted[0] and cache.fetched() == whole
    # With space for one of four stores.
    room = whole // 3
    spark.conf.set("simkeep.cache.bytes", str(room))
    small = Stores(spark, uri)
    assert near(small) == wanted[0] and pairs(small) == wanted[1]
    fetched = cache.fetched()
    assert fetched > whole
    print(f"of {whole} bytes, {whole} were fetched cold, 0 warm, {fetched - whole} with room for {room}")


def test_object_store_damage_fails_the_job_and_is_named(
    spark: "SparkSession", crawl: Crawl, bucket: str, settings: None, cache: "Cache"
) -> None:
    from pyarrow import fs

    from simkeep.spark import Stores

    uri = f"s3://key:secret@other{bucket}&allow_bucket_creation=true"
    carried(crawl, uri)
    there, base = fs.FileSystem.from_uri(uri)
    stores = Stores(spark, uri.replace("@other", "@other/w[12]"))
    assert len(stores.pinned) == 2
    (path,) = (crawl.paths[1] / "files").iterdir()
    name, content = f"{base}/w1/files/{path.name}", bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    with there.open_output_stream(name) as file:
        file.write(bytes(content))
    with pytest.raises(Exception, match=path.name) as raised:
        stores.near([1]).collect()
    printed = "".join(traceback.format_exception(raised.value))
    assert f"s3://other/w1/files/{path.name} is damaged" in printed
    assert "The error is in the published store s3://other/w1, generation 1." in printed
    assert "secret" not in printed.replace("key:secret@other{bucket}", "") and "endpoint_override=1" not in printed
    there.delete_file(name)
    with pytest.raises(Exception, match=f"s3://other/w1/files/{path.name} does not exist"):
        stores.near([1]).collect()
    with pytest.raises(simkeep.IoError, match=f"s3://other/w1/files/{path.name} is missing, but generation 1 needs it"):
        Stores(spark, uri.replace("@other", "@other/w1"))
