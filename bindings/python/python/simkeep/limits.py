"""Limits, as constants.

- `URL_BYTES_MAX`: the maximum number of bytes of the URL of a page in UTF-8.
- `TIME_MIN` and `TIME_MAX`: the first and the last time of a visit.
- `DISTANCE_MAX`: the largest distance of a search, in bits.
- `HISTORY_WINDOW`: the number of versions of a page that a verdict considers.
"""

from ._simkeep import DISTANCE_MAX, HISTORY_WINDOW, TIME_MAX, TIME_MIN, URL_BYTES_MAX

__all__ = ["DISTANCE_MAX", "HISTORY_WINDOW", "TIME_MAX", "TIME_MIN", "URL_BYTES_MAX"]
