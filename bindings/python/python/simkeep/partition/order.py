"""Positions of rows in order."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def place_among_equals(groups: "NDArray[Any]") -> "NDArray[np.int64]":
    """The position of each element in its run of equal neighbours, counted from 0."""
    if not len(groups):
        return np.empty(0, np.int64)
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    lengths = np.diff(np.r_[begins, len(groups)])
    return np.arange(len(groups)) - np.repeat(begins, lengths)
