"""What the add-on raises, and how texts of strangers are shown."""

from scrapy.exceptions import IgnoreRequest

__all__ = ["NotRequested", "SettingError", "Skipped", "shown"]

_SHOWN_MAX = 200


class SettingError(ValueError):
    """A setting, or an argument of the spider, cannot have the value that it has."""


class NotRequested(IgnoreRequest):
    """The page was visited so lately that it is not requested again: see `SIMKEEP_REVISIT_AFTER`."""


class Skipped(IgnoreRequest):
    """The callback is not called, as `SIMKEEP_SAME` or `SIMKEEP_NEAR` say."""


def shown(text: object) -> str:
    """A text that may come from anywhere, cut where it is long, with nothing that a terminal takes amiss."""
    whole = str(text)
    cut = whole[:_SHOWN_MAX]
    safe = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)
    return safe if len(whole) == len(cut) else f"{safe}..."
