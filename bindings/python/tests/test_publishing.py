"""Publishing a store, and reading published generations."""

import pickle
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import AT, DAY, OTHER, URL, filled

import simkeep


def test_generations_capture_states_of_the_store(store: simkeep.Store, tmp_path: Path) -> None:
    filled(store, 500)
    to = tmp_path / "published"
    first = store.publish(to)
    assert (first.generation, first.is_new, first.older, first.unsealed) == (1, True, (), 0)
    assert first.linked.files == 1 and first.linked.bytes > 0
    store.observe(URL, AT, fingerprint=5)
    second = store.publish(to, copy=True)
    assert (second.generation, second.older, second.copied.files, second.kept.files) == (2, (1,), 1, 1)
    assert not store.publish(to).is_new

    one, newest = simkeep.Reader.published(to, 1), simkeep.Reader.published(to)
    assert (one.generation, newest.generation) == (1, 2)
    assert one.latest(URL) is None and newest.latest(URL) is not None
    assert newest.near(5, k=0).near == store.near(5, k=0).near
    listed = simkeep.generations(to)
    assert [of.number for of in listed] == [1, 2]
    assert listed[1].sequence == 501 and listed[1].files.files == 2
    assert listed[0].store == listed[1].store and listed[0].written <= listed[1].written
    assert one.written == listed[0].written
    for of in listed:
        simkeep.check_generation(to, of.number)


def test_unpinned_reader_follows_new_generations(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    store.observe(URL, AT, fingerprint=5)
    store.publish(to)
    pinned, newest = simkeep.Reader.published(to, 1), simkeep.Reader.published(to)
    store.observe(OTHER, AT + DAY, fingerprint=6)
    store.publish(to, keep=1, grace=timedelta(0))
    assert (pinned.behind(), newest.behind()) == (1, 1)
    assert not pinned.refresh() and newest.refresh()
    assert (newest.generation, newest.behind()) == (2, 0)
    assert pinned.latest(OTHER) is None and newest.latest(OTHER) is not None
    # The removed generation is still open.
    assert pinned.latest(URL) is not None
    with pytest.raises(simkeep.IoError, match="generations/0000000001"):
        simkeep.Reader.published(to, 1)


def test_pickled_readers_reopen_the_same_generation(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    store.observe(URL, AT, fingerprint=5)
    store.publish(to)
    store.observe(OTHER, AT, fingerprint=6)
    store.publish(to)
    for reader, number in [
        (simkeep.Reader.published(to, 1), 1),
        (simkeep.Reader.published(to, plain_reads=True), 2),
    ]:
        again = pickle.loads(pickle.dumps(reader))
        assert again.generation == number and repr(again) == repr(reader)
        assert eval(repr(reader), {"simkeep": simkeep}).generation == number  # noqa: S307
    assert simkeep.Reader(store.path).generation is None
    asked = f"import simkeep; print(simkeep.Reader.published({str(to)!r}, 1).stats().pages)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_sealed_data_is_published_while_a_writer_is_open(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    store.observe(URL, AT, fingerprint=5)
    store.seal()
    store.observe(OTHER, AT, fingerprint=6)
    made = simkeep.publish(store.path, to)
    assert (made.sequence, made.unsealed) == (1, 1)


def test_older_generations_with_purged_pages_are_reported(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    store.observe(URL, AT, fingerprint=5)
    store.observe(OTHER, AT, fingerprint=6)
    store.publish(to)
    store.purge(URL)
    store.publish(to)
    assert simkeep.generations_with(to, URL) == (1,)
    assert simkeep.generations_with(to, under="nowhere.example") == ()
    made = store.publish(to, keep=1, grace=0)
    assert (made.removed, made.generation) == ((1,), 2)
    assert simkeep.generations_with(to, URL) == ()


def test_generation_lists_files_before_they_arrive(store: simkeep.Store, tmp_path: Path) -> None:
    to, alone = tmp_path / "published", tmp_path / "alone"
    filled(store, 500)
    store.publish(to)
    shutil.copytree(to / "generations", alone / "generations")
    (file,) = simkeep.generation_files(alone, 1)
    assert file.bytes == (to / file.name).stat().st_size
    (info,) = simkeep.generations(alone)
    with simkeep.Reader.published(to, 1) as reader:
        assert (list(info.epochs), info.near_epoch) == (reader.epochs(), reader.near_epoch)
        count = reader.fingerprints(info.near_epoch)
    # A file with a hole: only its ends have arrived.
    content = (to / file.name).read_bytes()
    (alone / "files").mkdir()
    (alone / file.name).write_bytes(content[:64] + bytes(file.bytes - 4160) + content[-4096:])
    assert simkeep.generation_fingerprints(alone, 1, info.near_epoch) == count == 500
    simkeep.check_generation(to, 1, file=file.name)
    with pytest.raises(simkeep.CorruptError, match=file.name):
        simkeep.check_generation(alone, 1, file=file.name)
    with pytest.raises(simkeep.InvalidArgumentError, match="generation 1 does not list the file LOCK"):
        simkeep.check_generation(to, 1, file="LOCK")
    with pytest.raises(TypeError, match="generation"):
        simkeep.generation_files(to, "1")  # type: ignore[arg-type]


def test_a_published_directory_is_read_like_a_store(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    store.observe(URL, AT, fingerprint=5)
    store.publish(to)
    assert simkeep.is_published(to) and not simkeep.is_published(store.path)
    with simkeep.Reader(to) as reader:
        assert (reader.generation, reader.incomplete) == (1, None)
        assert reader.latest(URL) is not None
        # The next generation is still being copied.
        (to / "generations" / "0000000002").write_bytes(b"simkgen")
        assert not reader.refresh()
        newer = reader.incomplete
        assert newer is not None and newer.generation == 2 and "0000000002" in newer.why
    (to / "generations" / "0000000002").unlink()
    with pytest.raises(simkeep.NotAStoreError, match="it contains published generations"):
        simkeep.Store.open(to)


def test_damaged_published_file_is_replaced_from_the_store(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    store.observe(URL, AT, fingerprint=5)
    first = store.publish(to, copy=True)
    assert (first.checked.files, first.unchecked.files, first.forgotten) == (1, 0, False)
    (segment,) = (to / "files").iterdir()
    whole = segment.read_bytes()
    segment.write_bytes(whole[:70] + bytes([whole[70] ^ 4]) + whole[71:])
    assert store.publish(to).unchecked.files == 1
    again = simkeep.publish(store.path, to, check_kept=True)
    assert (again.checked.files, again.replaced.files, again.is_new) == (1, 1, False)
    assert segment.read_bytes() == whole


def test_failed_publications_and_opens_raise_errors(store: simkeep.Store, tmp_path: Path) -> None:
    to = tmp_path / "published"
    with pytest.raises(simkeep.NotAStoreError, match="it contains no published generation"):
        simkeep.Reader.published(to)
    store.observe(URL, AT, fingerprint=5)
    with pytest.raises(ValueError, match="keep"):
        store.publish(to, keep=0)
    with pytest.raises(TypeError, match="generation"):
        simkeep.Reader.published(to, "1")  # type: ignore[arg-type]
    store.publish(to, copy=True)
    (segment,) = (to / "files").iterdir()
    whole = segment.read_bytes()
    middle = len(whole) // 2
    segment.write_bytes(whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :])
    with pytest.raises(simkeep.CorruptError) as raised:
        simkeep.check_generation(to, 1)
    assert raised.value.file == f"files/{segment.name}"
    segment.unlink()
    with pytest.raises(simkeep.IoError, match=segment.name):
        simkeep.check_generation(to, 1)
    with pytest.raises(simkeep.NotAStoreError, match="it is a store itself"):
        with simkeep.Store.create(tmp_path / "other") as other:
            other.publish(store.path)
    with pytest.raises(simkeep.AlreadyExistsError, match="it contains generations of the store"):
        with simkeep.Store.create(tmp_path / "another") as other:
            other.publish(to)
