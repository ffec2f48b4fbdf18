"""Which stores are whole: for those who go on without the others."""

import pyarrow as pa

import simkeep

from .pinned import Pinned, is_of_store
from .places import Batches, Places


def sound(places: Places, missing: dict[str, str]) -> Places:
    """The stores of which all files are there and whole. The others go to `missing`, with what is wrong.

    Each store is read once, by a task.
    """
    rows = places.run(_checked, "name string, wrong string").collect()
    wrong = {row.name: row.wrong for row in rows if row.wrong is not None}
    missing.update(wrong)
    left = tuple(store for store in places.pinned if store.name not in wrong)
    if not left:
        raise simkeep.NotAStoreError(f"no store is whole: {'; '.join(missing.values())}")
    return places._replace(pinned=left)


# What follows runs in tasks.


def _checked(store: Pinned) -> Batches:
    wrong = None
    try:
        store.check()
    except simkeep.Error as error:
        # What is wrong with a machine is not wrong with a store, and another run would not see it.
        if not is_of_store(error):
            raise
        wrong = str(error)
    columns = [pa.array([store.name]), pa.array([wrong], pa.string())]
    yield pa.record_batch(columns, names=["name", "wrong"])
