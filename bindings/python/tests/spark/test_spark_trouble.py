"""Damage to stores and to their cached copies, and its limits."""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elsewhere import cache, pages, published, resolved, settings

import simkeep

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from simkeep.spark.cache import Cache

__all__ = ["cache", "settings"]


def test_damage_found_while_streaming_triggers_a_refetch(tmp_path: Path, cache: "Cache") -> None:
    from simkeep import partition
    from simkeep.spark import pinned

    there = published(tmp_path, "w1", pages=2000)
    (one,) = resolved(cache, there.uri)
    by_stream = 0
    size = there.files()[0].stat().st_size
    for place in range(size // 16, size, size // 8):
        assert pages(one) == 2000
        pinned._close_idle(0)
        (copy,) = Path(cache.folder or "").glob("*/files/*.seg")
        with open(copy, "r+b") as file:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 0x55]))
        try:
            with one.asked() as reader:
                list(partition.ranked("w1", reader))
        except pa.ArrowException as error:
            by_stream += 1
            assert any(copy.name in note for note in error.__notes__)
            assert not copy.exists()
        except simkeep.CorruptError:
            assert not copy.exists()
        else:
            # The damaged file was not needed.
            copy.unlink()
            pinned._close_idle(0)
    assert by_stream
    assert pages(one) == 2000


def test_damage_in_another_generation_does_not_affect_a_pinned_one(tmp_path: Path, cache: "Cache") -> None:
    from simkeep.spark import pinned

    there = published(tmp_path, "w1")
    (here,) = pinned.pinned(str(there.folder), 1, None)
    (elsewhere,) = resolved(cache, there.uri)
    (there.folder / "generations" / "0000000003").write_bytes(b"being carried here")
    assert pages(here) == pages(elsewhere) == 300
    assert pinned.pinned(str(there.folder), 1, None) == [here]
    pinned._close_idle(0)
    assert pages(here) == 300


def test_generation_stays_readable_after_refetch(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1")
    (one,) = resolved(cache, there.uri)
    local = cache.opened()
    wanted = (there.uri, one.generation, one.store, one.sequence)
    first = local.hold(*wanted, give_up=lambda: None)
    (copy,) = (first.folder / "files").iterdir()
    copy.unlink()
    local.hold(*wanted, give_up=lambda: None).close()
    assert not local._shrink(0)
    assert copy.exists()
    # Only a torn generation next to it is removed.
    (first.folder / "generations" / "0000000009").write_bytes(b"torn")
    with pytest.raises(simkeep.Error):
        local.hold(there.uri, 9, one.store, one.sequence, give_up=lambda: None)
    assert not local._shrink(0) and copy.exists()
    first.close()
    assert local._shrink(0) and not copy.exists()


def test_machine_errors_are_not_reported_as_store_damage(tmp_path: Path) -> None:
    from simkeep.spark.cache import Cache
    from simkeep.spark.sound import _checked

    there = published(tmp_path, "w1")
    open_to_all = tmp_path / "cache"
    open_to_all.mkdir()
    os.chmod(open_to_all, 0o777)
    (one,) = resolved(Cache(str(open_to_all), 1 << 30), there.uri)
    with pytest.raises(simkeep.IoError, match="other users can write to the cache"):
        list(_checked(one))
    (segment,) = there.files()
    os.chmod(segment, 0o600)
    segment.write_bytes(segment.read_bytes()[:-1] + b"x")
    here = one._replace(path=str(there.folder), cache=None)
    (checked,) = _checked(here)
    assert segment.name in checked["wrong"][0].as_py()


def test_ambiguous_store_names_are_rejected(tmp_path: Path) -> None:
    from simkeep.spark import pinned
    from simkeep.spark.remote import shown

    one = published(tmp_path, "w1")
    uris = [f"{one.uri}?a=1", f"{one.uri}?a=2"]
    with pytest.raises(ValueError, match="cannot be distinguished|name each store once"):
        pinned.pinned(uris, "latest", None)
    assert shown("s3://AKIA:/abcSECRET@bucket/w") == "s3://"
    assert shown("s3://AKIA:secret@bucket/w") == "s3://bucket/w"


def test_workers_with_wrong_or_missing_simkeep_fail_before_tasks_start(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weakref import WeakSet

    from simkeep.spark import Stores, checks

    there = published(tmp_path, "w1")
    # Forget the checks of other tests.
    monkeypatch.setattr(checks, "_SOUND", WeakSet())
    here = simkeep.__version__
    with monkeypatch.context() as patched:
        patched.setattr(simkeep, "__version__", "0.0.9")
        message = f"the driver has simkeep 0.0.9, but the Spark workers have simkeep {here}"
        with pytest.raises(RuntimeError, match=message):
            Stores(spark, there.folder)
    with monkeypatch.context() as patched:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
        patched.setattr(spark.sparkContext, "pythonExec", str(tmp_path / "bare" / "bin" / "python"))
        with pytest.raises(RuntimeError, match="cannot run simkeep: install .* that PYSPARK_PYTHON names .*Error:"):
            Stores(spark, there.folder)
    assert Stores(spark, there.folder).pinned[0].name == "w1"
