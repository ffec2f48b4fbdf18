"""Filters for rows of a table."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

_COMPARED: dict[str, Callable[[pa.Array, pa.Scalar], pa.Array]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_EQUAL = ("=", "!=", "in", "not in")
_ORDERED = ("=", "!=", "<", "<=", ">", ">=", "in", "not in")

# Fractions are left to Spark, which has its own order for NaN.
_OPERATORS: dict[pa.DataType, tuple[str, ...]] = {
    pa.string(): (*_EQUAL, "starts with"),
    pa.binary(): _EQUAL,
    pa.bool_(): ("=", "!="),
    pa.int32(): _ORDERED,
    pa.int64(): _ORDERED,
    pa.timestamp("us", "UTC"): _ORDERED,
}

_OF_SPARK = {
    "EqualTo": "=",
    "EqualNullSafe": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "In": "in",
    "StringStartsWith": "starts with",
}
_DENIED = {"EqualTo": "!=", "In": "not in"}


class Filter(NamedTuple):
    """A comparison of a column with a value. As in SQL, a comparison with null is not true."""

    column: str
    operator: str
    value: Any
    """The value to compare with; a list for `in` and `not in`."""

    def rows(self, column: pa.Array) -> pa.Array:
        """Evaluates the filter for each row: true, false or null."""
        if self.operator == "starts with":
            return pc.starts_with(column, self.value)
        if self.operator in _COMPARED:
            return _COMPARED[self.operator](column, pa.scalar(self.value, column.type))
        among = pc.is_in(column, pa.array(self.value, column.type))
        if self.operator == "not in":
            among = pc.invert(among)
        return pc.and_(among, pc.is_valid(column))


def checked(filters: Iterable[Sequence[Any]], schema: pa.Schema) -> list[Filter]:
    """Checks filters. Raises `ValueError` or `TypeError` for an invalid filter."""
    found = []
    for number, one in enumerate(filters):
        if isinstance(one, str) or not isinstance(one, Sequence) or len(one) != 3:
            raise TypeError(f"filters: item {number} must be (column, operator, value), not {one!r}")
        column, operator, value = one
        if column not in schema.names:
            raise ValueError(f"filters: there is no column {column}; the columns are {', '.join(schema.names)}")
        kind = schema.field(column).type
        operators = _OPERATORS.get(kind, ())
        if not operators:
            raise ValueError(f"filters cannot compare {column}, which has fractions: use where() instead")
        if operator not in operators:
            raise ValueError(f"filters: {column} can be compared by {', '.join(operators)}, not by {operator}")
        several = operator in ("in", "not in")
        if several and (isinstance(value, str | bytes) or not isinstance(value, Iterable)):
            raise TypeError(f"filters: {column} {operator} takes a list, not {type(value).__name__}")
        value = list(value) if several else value
        for each in value if several else [value]:
            what = _unfit(each, kind)
            if what:
                raise TypeError(f"filters: {column} must be compared with {what}")
        found.append(Filter(column, operator, value))
    return found


def _unfit(value: Any, kind: pa.DataType) -> str | None:
    """The reason why a column cannot be compared with this value."""
    if pa.types.is_timestamp(kind):
        if not isinstance(value, datetime) or value.tzinfo is None:
            return f"a datetime that has a time zone, not with {value!r}"
    elif pa.types.is_integer(kind):
        bits = kind.bit_width - 1
        if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits) <= value < 1 << bits:
            return f"a signed int of {kind.bit_width} bits, not with {value!r}"
    else:
        wanted = {pa.string(): str, pa.binary(): bytes, pa.bool_(): bool}[kind]
        if not isinstance(value, wanted):
            return f"{wanted.__name__}, not with {value!r}"
    return None


def packed(filters: list[Filter]) -> str:
    """Serializes filters as JSON."""
    return json.dumps(filters, default=_as_text)


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else bytes(value).hex()


def unpacked(text: str, schema: pa.Schema) -> list[Filter]:
    """Deserializes filters of `packed`. Times are in ISO 8601, binary values in hexadecimal."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ValueError(f"filters must be JSON, such as [[\"host\", \"=\", \"example.com\"]]: {error}") from error
    if not isinstance(given, list):
        raise TypeError("filters must be a list of [column, operator, value]")
    return checked([_read(one, schema) for one in given], schema)


def _read(one: Any, schema: pa.Schema) -> Any:
    if not isinstance(one, list) or len(one) != 3 or one[0] not in schema.names:
        return one
    kind = schema.field(one[0]).type
    read = datetime.fromisoformat if pa.types.is_timestamp(kind) else bytes.fromhex
    if not pa.types.is_timestamp(kind) and not pa.types.is_binary(kind):
        return one
    try:
        value = [read(each) for each in one[2]] if isinstance(one[2], list) else read(one[2])
    except (TypeError, ValueError) as error:
        raise ValueError(f"filters: {one[0]} {one[1]} {one[2]!r}: {error}") from error
    return [*one[:2], value]


def of_spark(given: Any, schema: pa.Schema) -> Filter | None:
    """Converts a filter of Spark, if it is supported. Spark itself applies the other filters."""
    names, denied = (_DENIED, given.child) if type(given).__name__ == "Not" else (_OF_SPARK, given)
    operator = names.get(type(denied).__name__)
    if operator is None or len(denied.attribute) != 1:
        return None
    value = denied.value
    if operator == "in":
        value = [each for each in value if each is not None]
    try:
        (found,) = checked([(denied.attribute[0], operator, value)], schema)
    except (TypeError, ValueError):
        return None
    return found
