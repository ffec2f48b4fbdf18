"""The exceptions of the add-on, and the escaping of untrusted texts."""

from scrapy.exceptions import IgnoreRequest

__all__ = ["NotRequested", "SettingError", "Skipped", "shown"]

_SHOWN_MAX = 200


class SettingError(ValueError):
    """A setting, or an argument of the spider, has an invalid value."""


class NotRequested(IgnoreRequest):
    """The page was visited too recently to request it again; see `SIMKEEP_REVISIT_AFTER`."""


class Skipped(IgnoreRequest):
    """`SIMKEEP_SAME` or `SIMKEEP_NEAR` skips the callback."""


def shown(text: object) -> str:
    """Truncates an untrusted text, and escapes control characters, so that it is safe in a terminal."""
    whole = str(text)
    cut = whole[:_SHOWN_MAX]
    safe = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)
    return safe if len(whole) == len(cut) else f"{safe}..."
