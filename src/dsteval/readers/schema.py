"""The services and slots that a schema.json lists."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import msgspec

from dsteval.dialogue import slot_of
from dsteval.errors import ReadError


class Schema(dict[str, dict[str, bool | None]]):
    """Service -> its slots, as 'service-slot' -> whether they are categorical; None where the schema does not say.

    ``possible`` are the values that it lists for a slot.
    """

    def __init__(self) -> None:
        super().__init__()
        self.possible: dict[str, list[str]] = {}


SchemaFile: TypeAlias = "str | PathLike[str] | Sequence[Any] | None"
"""A path to a schema.json, or its content."""


def schema_in(services: Any, name: str) -> Schema:
    """The schema that decoded JSON holds. Raises ReadError where it is none."""
    schema = Schema()
    try:
        for service in services:
            slots = service.get("slots", [])  # MultiWOZ 2.2 has services without
            flags = schema.setdefault(service["service_name"], {})
            for slot in slots:
                flag = slot.get("is_categorical")
                full_name = slot_of(service["service_name"], slot["name"])
                flags[full_name] = flag if isinstance(flag, bool) else None
                values = slot.get("possible_values")
                schema.possible[full_name] = [text for text in values or () if isinstance(text, str)]
    except (TypeError, KeyError, AttributeError):
        expected = "a schema (a list of services with service_name and slots, each slot with a name)"
        raise ReadError(where=name, expected=expected, found="a different structure") from None
    return schema


def schema_hash(schema: Mapping[str, Mapping[str, bool | None]]) -> str:
    """Six hexadecimal digits over a schema."""
    return hashlib.sha256(msgspec.json.encode(schema, order="sorted")).hexdigest()[:6]
