"""Checks stores, so that a query can continue without damaged stores."""

import pyarrow as pa

import simkeep

from .pinned import Pinned, is_of_store
from .places import Batches, Places


def sound(places: Places, missing: dict[str, str]) -> Places:
    """Returns the stores with complete and undamaged files. Adds the other stores to `missing`, with the error.

    A task reads each store once.
    """
    rows = places.run(_checked, "name string, wrong string").collect()
    wrong = {row.name: row.wrong for row in rows if row.wrong is not None}
    missing.update(wrong)
    left = tuple(store for store in places.pinned if store.name not in wrong)
    if not left:
        raise simkeep.NotAStoreError(f"no store is complete and undamaged: {'; '.join(missing.values())}")
    return places._replace(pinned=left)


# The functions below run in tasks.


def _checked(store: Pinned) -> Batches:
    wrong = None
    try:
        store.check()
    except simkeep.Error as error:
        # An error of the machine is not damage of the store. Such an error fails the task, and a retry may succeed.
        if not is_of_store(error):
            raise
        wrong = str(error)
    columns = [pa.array([store.name]), pa.array([wrong], pa.string())]
    yield pa.record_batch(columns, names=["name", "wrong"])
