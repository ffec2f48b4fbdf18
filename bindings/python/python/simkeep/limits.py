"""Limits, as constants.

- `URL_BYTES_MAX`: the most bytes that the URL of a page may have in UTF-8.
- `TIME_MIN` and `TIME_MAX`: the first and the last time of a visit.
- `DISTANCE_MAX`: the largest distance of a search, in bits.
- `HISTORY_WINDOW`: how many versions of a page a verdict looks back at.
"""

from ._simkeep import DISTANCE_MAX, HISTORY_WINDOW, TIME_MAX, TIME_MIN, URL_BYTES_MAX

__all__ = ["DISTANCE_MAX", "HISTORY_WINDOW", "TIME_MAX", "TIME_MIN", "URL_BYTES_MAX"]
