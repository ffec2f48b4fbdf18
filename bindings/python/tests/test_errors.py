"""Errors as exceptions."""

import builtins
import errno
import pickle
from pathlib import Path

import pytest
from conftest import AT, TEXT, URL

import simkeep
from simkeep import _simkeep, _words


def test_every_kind_of_error_has_a_class() -> None:
    kinds = _simkeep._error_classes()
    assert len(kinds) > 30
    for kind, name in kinds.items():
        assert name is not None, f"the error {kind} needs a class: see error.rs and _errors.py"
        assert issubclass(getattr(simkeep, name), simkeep.Error)


def test_every_error_class_belongs_to_a_kind() -> None:
    used = set(_simkeep._error_classes().values())
    classes = {name for name in dir(simkeep) if name.endswith("Error") and name != "Error"}
    assert classes == used
    for name in classes:
        assert getattr(simkeep, name).__module__ == "simkeep"
        assert getattr(simkeep, name).__doc__


def test_enum_values_match_the_extension() -> None:
    words = {name: [member.value for member in getattr(simkeep, name)] for name in _words.__all__}
    assert words == _simkeep._words()


@pytest.mark.parametrize(
    ("name", "of_python"),
    [
        ("UrlError", ValueError),
        ("PrefixError", ValueError),
        ("TimeError", ValueError),
        ("AlreadyExistsError", FileExistsError),
        ("IoError", OSError),
    ],
)
def test_some_errors_derive_from_builtin_errors(name: str, of_python: type[Exception]) -> None:
    assert issubclass(getattr(simkeep, name), of_python)
    assert not hasattr(builtins, name)


def test_missing_and_existing_stores_raise_different_errors(tmp_path: Path) -> None:
    with pytest.raises(simkeep.NotAStoreError, match="not a simkeep store"):
        simkeep.Store.open(tmp_path / "none")
    with pytest.raises(simkeep.NotAStoreError):
        simkeep.Reader(tmp_path / "none")
    simkeep.Store.create(tmp_path / "one").close()
    with pytest.raises(simkeep.AlreadyExistsError):
        simkeep.Store.create(tmp_path / "one")


def test_a_second_writer_is_refused(store: simkeep.Store, path: Path) -> None:
    import os

    with pytest.raises(simkeep.LockedError, match="already open in this process") as raised:
        simkeep.Store.open(path)
    assert raised.value.pid == os.getpid()


def test_damage_names_file_and_offset(path: Path) -> None:
    with simkeep.Store.create(path) as store:
        store.observe(URL, AT, text=TEXT)
        store.seal()
    [segment] = (path / "segments").iterdir()
    damaged = bytearray(segment.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    segment.write_bytes(damaged)
    verified = simkeep.verify(path)
    assert not verified.is_sound and len(verified.flaws) == 1
    flaw = verified.flaws[0]
    assert flaw.file == f"segments/{segment.name}" and 0 < flaw.offset <= len(damaged)
    assert str(flaw).startswith(f"{flaw.file} is damaged at byte {flaw.offset}")
    damaged[-1] ^= 1
    segment.write_bytes(damaged)
    with pytest.raises(simkeep.CorruptError) as raised:
        simkeep.Store.open(path)
    assert raised.value.file == f"segments/{segment.name}" and raised.value.offset > 0
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.file, again.offset, str(again)) == (
        raised.value.file,
        raised.value.offset,
        str(raised.value),
    )


def test_system_errors_carry_errno(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(simkeep.Error) as raised:
        simkeep.Store.create(tmp_path / "file" / "store")
    assert isinstance(raised.value, simkeep.IoError)
    assert raised.value.errno in (errno.ENOTDIR, errno.ENOENT)
    assert str(raised.value).startswith("cannot ")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.errno, str(again)) == (raised.value.errno, str(raised.value))


def test_failed_load_names_the_observation_and_cause(store: simkeep.Store) -> None:
    rows = [simkeep.Observation(URL, AT, text=TEXT), simkeep.Observation("", AT, text=TEXT)]
    with pytest.raises(simkeep.LoadRejectedError) as raised:
        store.load(rows)
    assert raised.value.nth == 2
    assert isinstance(raised.value.__cause__, simkeep.UrlError)
    assert store.stats().sequence == 0


def test_calls_on_a_closed_store_raise(path: Path) -> None:
    store = simkeep.Store.create(path)
    stream = store.scan()
    store.close()
    store.close()
    assert store.closed and "closed" in repr(store)
    for call in (
        lambda: store.observe(URL, AT, text=TEXT),
        lambda: store.observe_batch([{"url": "bad row"}]),  # type: ignore[list-item]
        lambda: store.load([]),
        lambda: store.near(1, k=3),
        lambda: store.history(URL),
        lambda: store.scan(),
        store.stats,
        store.seal,
        store.merge,
        store.verify,
        store.snapshot,
    ):
        with pytest.raises(simkeep.ClosedError, match="closed"):
            call()
    # A stream that began before still works.
    assert list(stream) == []
