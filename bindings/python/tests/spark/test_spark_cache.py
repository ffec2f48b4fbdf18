"""The local cache of remote stores."""

import os
import re
import shutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import AT, mixed
from elsewhere import cache, kept, pages, published, resolved, settings, size

import simkeep

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from simkeep.spark.cache import Cache

# Spark leaves sockets to the garbage collector, and warns of future versions.
pytestmark = pytest.mark.filterwarnings("default")

__all__ = ["cache", "settings"]


def test_published_files_are_fetched_once(tmp_path: Path, cache: "Cache") -> None:
    from simkeep.spark import pinned

    there = published(tmp_path, "w1")
    (one,) = resolved(cache, there.uri)
    with simkeep.Reader.published(there.folder) as reader:
        known = (reader.generation, reader.sequence, reader.near_epoch, reader.fingerprints(reader.near_epoch))
    assert (one.generation, one.sequence, one.epoch, one.fingerprints) == known
    assert (one.name, one.where) == ("w1", there.uri)
    # A file is fetched only when it is needed, and only once.
    assert cache.fetched() == 0
    assert [pages(one), pages(one)] == [300, 300]
    assert cache.fetched() == size(there)
    pinned._close_idle(0)
    assert pages(one) == 300 and cache.fetched() == size(there)
    with one.asked() as reader:
        assert reader.near(mixed(5), k=0).near[0].url == "https://5.example/5"
    by_name = {Path(path).name: Path(cache.folder or "", path) for path in kept(cache)}
    for path in there.folder.glob("*s/*"):
        assert by_name[path.name].read_bytes() == path.read_bytes()
    # A later generation fetches only its new files.
    later = published(tmp_path, "w1", start=300)
    (two,) = resolved(cache, there.uri)
    assert (pages(two), two.generation) == (600, 2)
    assert cache.fetched() == size(later)
    assert pages(one) == 300


def test_pinned_store_keeps_its_cache_when_packed(tmp_path: Path, cache: "Cache") -> None:
    from simkeep.spark import Pinned

    there = published(tmp_path, "w1")
    (elsewhere,) = resolved(cache, there.uri)
    (here,) = resolved(cache, str(there.folder))
    for pinned in (elsewhere, here):
        again = Pinned.unpacked(pinned.packed())
        assert again == pinned and hash(again) == hash(pinned) and type(again.cache) is type(pinned.cache)
    assert (here.cache, elsewhere.cache) == (None, cache)
    assert pages(here) == 300 and cache.fetched() == 0


def test_patterns_are_resolved_level_by_level(tmp_path: Path, cache: "Cache") -> None:
    for name in ("w1", "w2 a#b", "x1", ".w3"):
        published(tmp_path, name, pages=10)
    base = tmp_path.as_uri()
    found = resolved(cache, f"{base}/the*/w*/")
    assert [pinned.name for pinned in found] == ["w1", "w2%20a%23b"]
    assert [pages(pinned) for pinned in found] == [10, 10]
    assert [pinned.name for pinned in resolved(cache, f"{base}/there/[xy]1")] == ["x1"]
    assert [pinned.name for pinned in resolved(cache, f"{base}/there/.w*")] == [".w3"]
    with pytest.raises(FileNotFoundError, match="there/z.: there is no such directory"):
        resolved(cache, f"{base}/there/z*")
    with pytest.raises(simkeep.NotAStoreError, match="there/z: it contains no published generation"):
        resolved(cache, f"{base}/there/z")
    with pytest.raises(ValueError, match="there is no generation 7; the generations are 1"):
        resolved(cache, f"{base}/there/w1", generation=7)
    with pytest.raises(ValueError, match="is the same store as .*/w1: name each store once"):
        resolved(cache, f"{base}/there/w1", str(tmp_path / "there" / "w1"))


def test_undersized_cache_answers_and_evicts_least_recently_used(tmp_path: Path, cache: "Cache") -> None:
    stores = [published(tmp_path, f"w{number}", pages=2000) for number in range(4)]
    each = max(map(size, stores))
    two = cache._replace(bytes=2 * each + 1000)
    found = resolved(two, *(there.uri for there in stores))
    for number, pinned in enumerate(found):
        with pinned.asked() as reader:
            assert reader.stats().pages == 2000
            # Open but unused files were removed.
            assert sum(kept(two).values()) <= two.bytes, number
    assert two.fetched() == sum(map(size, stores))
    # The first two were removed. The least recently used goes first: now the third.
    before = two.fetched()
    assert pages(found[3]) + pages(found[2]) == 4000 and two.fetched() == before
    assert pages(found[0]) == 2000 and two.fetched() == before + size(stores[0])
    assert pages(found[2]) == 2000 and two.fetched() == before + size(stores[0])
    # None fits: each is there while it is in use, and removed afterwards.
    none = cache._replace(folder=str(tmp_path / "small"), bytes=10)
    for pinned in resolved(none, *(there.uri for there in stores)):
        with pinned.asked() as reader:
            assert reader.stats().pages == 2000
            assert sum(kept(none).values()) > none.bytes
        assert kept(none) == {}


def test_files_in_use_by_another_process_are_not_evicted(tmp_path: Path, cache: "Cache") -> None:
    one, other = published(tmp_path, "w1"), published(tmp_path, "w2")
    (pinned,) = resolved(cache, one.uri)
    script = (
        "import sys; from simkeep.spark import Pinned\n"
        "with Pinned.unpacked(sys.argv[1]).asked() as reader: print(reader.stats().pages, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, pinned.packed()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reading:
        assert reading.stdout is not None and reading.stdin is not None
        assert reading.stdout.readline() == "300\n"
        small = cache._replace(bytes=10)
        (second,) = resolved(small, other.uri)
        assert pages(second) == 300
        assert {Path(path).name for path in kept(small)} == {path.name for path in one.folder.glob("*s/*")}
        reading.kill()
    # Its lock was removed with it.
    assert pages(second) == 300
    assert kept(small) == {}


def test_unreferenced_files_are_evicted_first(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=2000)
    (pinned,) = resolved(cache, there.uri)
    assert pages(pinned) == 2000
    (folder,) = Path(cache.folder or "").glob("*-*")
    left = folder / "files" / "0123456789abcdef-0000000009-01234567.seg"
    left.write_bytes(bytes(5000))
    foreign = folder / "files" / "notes"
    foreign.write_bytes(bytes(10))
    others = Path(cache.folder or "") / "mine" / "files"
    others.mkdir(parents=True)
    (others / left.name).write_bytes(bytes(5000))
    other = published(tmp_path, "w2", pages=10)
    (second,) = resolved(cache._replace(bytes=size(there) + size(other) + 100), other.uri)
    assert pages(second) == 10
    assert not left.exists() and foreign.exists() and (others / left.name).exists()
    before = cache.fetched()
    assert pages(pinned) == 2000 and cache.fetched() == before


def test_concurrent_processes_fetch_each_file_once(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=2000)
    (pinned,) = resolved(cache, there.uri)
    # All have started when the first file arrives, which takes some time.
    script = (
        "import sys, time; from simkeep.spark import Pinned; from simkeep.spark.remote import Remote\n"
        "chunks = Remote.chunks\n"
        "Remote.chunks = lambda self, name: (time.sleep(0.5), chunks(self, name))[1]\n"
        "print('here', flush=True); sys.stdin.readline()\n"
        "with Pinned.unpacked(sys.argv[1]).asked() as reader: print(reader.stats().pages)"
    )
    command = [sys.executable, "-c", script, pinned.packed()]
    asking = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in asking:
        assert process.stdout is not None and process.stdout.readline() == "here\n"
    for process in asking:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0] for process in asking] == ["2000\n"] * 4
    assert cache.fetched() == size(there)


def flipped(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.unlink()
    path.write_bytes(content)


def test_damaged_downloads_are_reported_and_discarded(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=2000)
    (pinned,) = resolved(cache, there.uri)
    (segment,) = there.files()
    whole = segment.read_bytes()
    flipped(segment, len(whole) // 2)
    count = len(whole)
    for damaged, wrong in [
        (None, ""),
        (whole + b"x", f"expected {count} bytes, found more than {count}"),
        (whole[:-1], f"expected {count} bytes, found {count - 1}"),
        (b"", f"expected {count} bytes, found 0"),
    ]:
        if damaged is not None:
            segment.write_bytes(damaged)
        what = f"{there.uri}/files/{segment.name} is damaged: {wrong}"
        with pytest.raises(simkeep.CorruptError, match=what) as raised:
            pages(pinned)
        printed = "".join(traceback.format_exception(raised.value))
        assert f"The error is in the published store {there.uri}, generation 1." in printed
        assert raised.value.file == f"files/{segment.name}"
        assert kept(cache) == {}
    # A wrong size is detected before any task runs, and fails there.
    with pytest.raises(simkeep.CorruptError, match=f"files/{segment.name} is damaged: expected {len(whole)} bytes"):
        resolved(cache, there.uri)
    segment.unlink()
    with pytest.raises(simkeep.IoError, match=f"{there.uri}/files/{segment.name} does not exist"):
        pages(pinned)
    with pytest.raises(simkeep.IoError, match=f"files/{segment.name} is missing, but generation 1 needs it"):
        resolved(cache, there.uri)
    segment.write_bytes(whole)
    generation = there.folder / "generations" / "0000000001"
    torn = generation.read_bytes()[:-1]
    generation.unlink()
    generation.write_bytes(torn)
    for asked in (lambda: pages(pinned), lambda: resolved(cache, there.uri)):
        with pytest.raises(simkeep.CorruptError, match="generations/0000000001") as raised:
            asked()
        assert there.uri in "".join(raised.value.__notes__)
    assert kept(cache) == {}
    generation.unlink()
    with pytest.raises(simkeep.IoError, match=f"{there.uri}/generations/0000000001 does not exist"):
        pages(pinned)


def test_damage_near_a_segment_end_fails_before_tasks_run(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=5000)
    (segment,) = there.files()
    assert segment.stat().st_size > 2 * (64 << 10)
    flipped(segment, segment.stat().st_size - 100)
    with pytest.raises(simkeep.CorruptError, match=segment.name) as raised:
        resolved(cache, there.uri)
    assert there.uri in "".join(raised.value.__notes__)


def test_metadata_longer_than_the_first_read_is_found(
    tmp_path: Path, cache: "Cache", monkeypatch: pytest.MonkeyPatch
) -> None:
    from simkeep.spark import seen

    there = published(tmp_path, "w1", pages=5000)
    (known,) = resolved(cache, there.uri)
    monkeypatch.setattr(seen, "_TAIL", 100)
    (again,) = resolved(cache, there.uri)
    assert again.fingerprints == known.fingerprints == 5000


def test_incomplete_generation_is_skipped(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1")
    first = set(there.files())
    published(tmp_path, "w1", start=300)
    late = set(there.files()) - first
    for path in late:
        path.unlink()
    (pinned,) = resolved(cache, there.uri)
    assert (pinned.generation, pages(pinned)) == (1, 300)
    with pytest.raises(simkeep.IoError, match="generation 2 needs it"):
        resolved(cache, there.uri, generation=2)


def test_replaced_store_at_the_same_uri_is_detected(tmp_path: Path, cache: "Cache") -> None:
    from simkeep.spark import pinned

    there = published(tmp_path, "w1")
    (before,) = resolved(cache, there.uri)
    shutil.rmtree(there.folder)
    shutil.rmtree(tmp_path / "stores")
    published(tmp_path, "w1", pages=100)
    (after,) = resolved(cache, there.uri)
    assert pages(after) == 100
    with pytest.raises(simkeep.InvalidArgumentError, match="now belongs to another store or has other content: make a new Stores"):
        pages(before)
    # The same store, in another state under the same number.
    with simkeep.Store.open(tmp_path / "stores" / "w1") as store:
        store.observe("https://new.example/", AT, fingerprint=1)
        shutil.rmtree(there.folder)
        store.publish(there.folder)
    (last,) = resolved(cache, there.uri)
    pinned._close_idle(0)
    assert (last.generation, pages(last)) == (1, 101)
    with pytest.raises(simkeep.InvalidArgumentError, match="other content"):
        pages(after)


def test_damaged_cached_copy_is_reported_and_fetched_again(tmp_path: Path, cache: "Cache") -> None:
    from simkeep.spark import pinned

    there = published(tmp_path, "w1", pages=2000)
    (one,) = resolved(cache, there.uri)
    assert pages(one) == 2000
    pinned._close_idle(0)
    (segment,) = (Path(cache.folder or "") / path for path in kept(cache) if path.endswith(".seg"))
    whole = segment.read_bytes()
    for at in (9, len(whole) // 2):
        flipped(segment, at)
        with pytest.raises(simkeep.CorruptError, match=segment.name):
            one.check()
        one.check()
        assert segment.read_bytes() == whole
    # Cleaning temporary files, or a power failure, may leave any part of the cache.
    generation = segment.parent.parent / "generations" / "0000000001"
    for path, left in [(segment, whole[:-1]), (segment, None), (generation, b""), (generation, None)]:
        pinned._close_idle(0)
        path.unlink()
        if left is not None:
            path.write_bytes(left)
        one.check()
        assert pages(one) == 2000 and segment.read_bytes() == whole


def test_killed_fetch_leaves_no_trusted_files(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=2000)
    later = published(tmp_path, "w1", pages=2000, start=2000)
    (pinned,) = resolved(cache, there.uri)
    # The fetch stops after a number of files, in the middle of the next one, whose space is reserved.
    script = (
        "import sys, time; from simkeep.spark import Pinned; from simkeep.spark.remote import Remote\n"
        "chunks = Remote.chunks\n"
        "def slow(self, name):\n"
        "    for chunk in chunks(self, name):\n"
        "        yield chunk[: len(chunk) // 2]\n"
        "        if int(sys.argv[2]) == slow.count: print('now', flush=True); time.sleep(60)\n"
        "        slow.count += 1\n"
        "        yield chunk[len(chunk) // 2 :]\n"
        "slow.count = 0\n"
        "Remote.chunks = slow\n"
        "with Pinned.unpacked(sys.argv[1]).asked(): pass"
    )
    for stop, whole in [(0, 0), (1, 0), (2, 1)]:
        command = [sys.executable, "-c", script, pinned.packed(), str(stop)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as fetching:
            assert fetching.stdout is not None
            assert fetching.stdout.readline() == "now\n"
            fetching.kill()
        root = Path(cache.folder or "")
        assert len(list(root.glob("*/files/*"))) == whole and not list(root.glob("*/generations/*"))
        assert list(root.glob("*/new/*/*"))
    assert pages(pinned) == 4000
    assert not list(Path(cache.folder or "").glob("*/new"))
    assert sum(kept(cache).values()) == size(later) - (there.folder / "generations" / "0000000001").stat().st_size


def test_full_disk_raises_one_clear_error(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=5000)
    (pinned,) = resolved(cache, there.uri)
    script = (
        "import resource, sys; from simkeep.spark import Pinned\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "with Pinned.unpacked(sys.argv[1]).asked(): pass"
    )
    done = subprocess.run([sys.executable, "-c", script, pinned.packed()], capture_output=True, text=True, check=False)
    last = [line for line in done.stderr.splitlines() if line.startswith("simkeep.IoError")]
    count = there.files()[0].stat().st_size
    message = f"the cache {cache.folder} has no space for {count} bytes of {there.uri}: .*; free some space"
    assert len(last) == 1 and re.search(message, last[0]), done.stderr
    assert kept(cache) == {}
    # Without the limit, the same fetch succeeds.
    assert pages(pinned) == 5000


def test_cache_evicts_files_when_the_disk_is_full(
    tmp_path: Path, cache: "Cache", monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    there, other = published(tmp_path, "w1"), published(tmp_path, "w2")
    one, two = resolved(cache, there.uri, other.uri)
    assert pages(one) == 300
    allocate = os.posix_fallocate
    room = size(other) + 100

    def limited(file: int, at: int, count: int) -> None:
        if sum(kept(cache).values()) + count > room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        allocate(file, at, count)

    monkeypatch.setattr(os, "posix_fallocate", limited)
    assert pages(two) == 300
    assert {Path(path).name for path in kept(cache)} == {path.name for path in other.folder.glob("*s/*")}


def test_cache_writable_by_others_is_rejected(tmp_path: Path, cache: "Cache") -> None:
    there = published(tmp_path, "w1", pages=10)
    root = Path(cache.folder or "")
    (pinned,) = resolved(cache, there.uri)
    root.write_text("")
    with pytest.raises(simkeep.IoError, match=f"the cache {root} cannot be created.*simkeep.cache.dir"):
        pages(pinned)
    root.unlink()
    root.mkdir(mode=0o777)
    root.chmod(0o777)
    with pytest.raises(simkeep.IoError, match=f"other users can write to the cache {root}: run chmod 700 on it"):
        pages(pinned)
    root.rmdir()
    (tmp_path / "own").mkdir(mode=0o700)
    root.symlink_to(tmp_path / "own")
    assert pages(pinned) == 10
    if os.geteuid() == 0:
        os.chown(root, 12345, -1, follow_symlinks=False)
        with pytest.raises(simkeep.IoError, match="belongs to the user 12345"):
            pages(pinned._replace(name="again"))
        root.unlink()
        root.mkdir(mode=0o700)
        os.chown(root, 12345, -1)
        with pytest.raises(simkeep.IoError, match="belongs to the user 12345"):
            pages(pinned._replace(name="once more"))


def test_default_cache_is_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simkeep.spark import pinned
    from simkeep.spark.cache import Cache

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (one,) = resolved(Cache(), published(tmp_path, "w1", pages=10).uri)
    assert pages(one) == 10
    root = tmp_path / f"simkeep-cache-{os.geteuid()}"
    assert root.stat().st_mode & 0o777 == 0o700
    pinned._close_idle(0)


def test_file_names_outside_the_cache_are_rejected(
    tmp_path: Path, cache: "Cache", monkeypatch: pytest.MonkeyPatch
) -> None:
    there = published(tmp_path, "w1", pages=10)
    (pinned,) = resolved(cache, there.uri)
    for name in ("files/../../stray.seg", "/etc/passwd", "files/x.seg", "generations/0000000001", ""):
        named = (simkeep.PublishedFile(name, 3),)
        monkeypatch.setattr(simkeep, "generation_files", lambda *_, named=named: named)
        with pytest.raises(simkeep.CorruptError, match="generation 1 names"):
            pages(pinned)
        assert kept(cache) == {}


def test_settings_come_from_the_spark_session(spark: "SparkSession", settings: None, cache: "Cache") -> None:
    from simkeep.spark.cache import Cache

    assert Cache.of_session(spark) == cache
    for given, count in [("12345", 12345), ("64g", 64 << 30), ("10 MB", 10 << 20), ("1TiB", 1 << 40), ("0", 0)]:
        spark.conf.set("simkeep.cache.bytes", given)
        assert Cache.of_session(spark).bytes == count
    # spark-submit passes on no other options.
    spark.conf.set("spark.simkeep.cache.bytes", "7")
    assert Cache.of_session(spark).bytes == 7
    spark.conf.unset("spark.simkeep.cache.bytes")
    for given in ("", "-1", "many", "1.5g", "5x"):
        spark.conf.set("simkeep.cache.bytes", given)
        with pytest.raises(ValueError, match="simkeep.cache.bytes must be a number of bytes"):
            Cache.of_session(spark)
    spark.conf.unset("simkeep.cache.bytes")
    spark.conf.set("simkeep.cache.dir", "here")
    with pytest.raises(ValueError, match="simkeep.cache.dir must be an absolute path"):
        Cache.of_session(spark)
