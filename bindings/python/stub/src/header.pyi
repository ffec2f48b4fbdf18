# Generated from the Rust sources by bindings/python/stub: CONTRIBUTING.md has the command.
import builtins
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from types import GenericAlias, TracebackType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    Never,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    Unpack,
    final,
    overload,
)

from typing_extensions import CapsuleType, disjoint_base

from . import _types
from ._types import Time
from ._words import (
    Band,
    Candidacy,
    Fate,
    LeaderChangeReason,
    OperationKind,
    OriginalBy,
    PropertyOutcome,
    Reason,
    RestateOutcome,
    Role,
    SameBy,
    Seen,
    Space,
    Stage,
    Verdict,
    VersionKind,
)

_AliasKind: TypeAlias = Literal[
    "host",
    "scheme",
    "www",
    "port",
    "escapes",
    "session",
    "slashes",
    "fragment",
    "empty-query",
    "parameter",
    "order",
    "index",
    "slash",
    "case",
]
_PriorityIndex: TypeAlias = Literal["value", "crawl-value", "harmonic"]
_Pseudocounts: TypeAlias = Literal["none", "unchanged", "both"]
_T_co = TypeVar("_T_co", covariant=True)
