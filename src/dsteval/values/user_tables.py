"""Files that a protocol cannot do without and that the user gives: variants of values, an ontology."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from dsteval.errors import OptionError, ProtocolError, ReadError, require
from dsteval.values.slots import canonical

Table: TypeAlias = "str | PathLike[str] | Mapping[str, Any]"
"""A path to a JSON file, or its content."""

USER_TABLES: dict[str, str] = {
    "variants": "the tool's list of value variants, a JSON object with label_maps",
    "ontology": "the data set's ontology, a JSON object of slots with their values",
}
"""What can be given, each under the name of its option."""


class UserTables:
    """The tables of a run. Asking for one that was not given raises ProtocolError, naming ``protocol``.

    ``classes`` are the ``class_types`` of the configuration given as variants, which TripPy's files count.
    """

    def __init__(self, protocol: str, variants: Table | None = None, ontology: Table | None = None) -> None:
        self.protocol = protocol
        self.hashes: dict[str, str] = {}
        given = (("variants", variants, _variants), ("ontology", ontology, _ontology))
        self.classes: tuple[str, ...] = ()
        self._tables = {name: self._read(name, table, shape) for name, table, shape in given if table is not None}

    @property
    def variants(self) -> dict[str, list[str]]:
        """Value -> its variants."""
        return self._needed("variants")

    @property
    def ontology(self) -> dict[str, frozenset[str]]:
        """Slot, in its canonical spelling -> the values it can have."""
        return self._needed("ontology")

    @property
    def listed(self) -> dict[str, frozenset[str]]:
        """The ontology, or nothing where none was given."""
        return self._tables.get("ontology", {})

    def _needed(self, name: str) -> dict[str, Any]:
        if name not in self._tables:
            where, remedy = f"protocol {self.protocol}", f"Give it with --{name} FILE."
            problem = f"needs {USER_TABLES[name]}"
            raise ProtocolError(problem, where=where, remedy=remedy)
        return self._tables[name]

    def _read(self, name: str, table: Any, shape: Any) -> dict[str, Any]:
        where, expected, value = f"--{name}", USER_TABLES[name], table
        if isinstance(table, str | PathLike):
            where = f"--{name} {table}"
            try:
                value = msgspec.json.decode(Path(table).read_bytes())
            except OSError as error:
                found = "no such file" if isinstance(error, FileNotFoundError) else "a file that cannot be read"
                raise ReadError(where=where, expected=expected, found=found) from None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise ReadError(
                    where=where,
                    expected=expected,
                    found=f"invalid JSON: {str(error).removeprefix('JSON is malformed: ')}",
                ) from None
        require(isinstance(value, Mapping), where, expected, type(value).__name__)
        content: dict[str, Any] = shape(value)
        is_map = name == "variants" and "label_maps" in value
        if not content and not (is_map and value["label_maps"] == {}):
            found = f"an object of {', '.join(value)[:60]!r}"
            found = "label_maps that are not all lists of strings" if is_map else found
            raise OptionError(where=where, expected=expected, found=found)
        hashed: Any = {key: sorted(values) for key, values in content.items()}
        if name == "variants" and _are_texts(value.get("class_types")):
            self.classes = tuple(value["class_types"])
            hashed = [hashed, self.classes]
        data = msgspec.json.encode(hashed, order="sorted")
        self.hashes[name] = hashlib.sha256(data).hexdigest()[:6]
        return content


def _are_texts(member: object) -> bool:
    return isinstance(member, list) and all(isinstance(text, str) for text in member)


def _lists(value: object) -> dict[str, list[str]]:
    """The members, lists of texts; nothing where one is anything else."""
    if not isinstance(value, Mapping) or not all(map(_are_texts, value.values())):
        return {}
    return {key: list(member) for key, member in value.items()}


def _variants(value: Mapping[str, Any]) -> dict[str, list[str]]:
    return _lists(value.get("label_maps", {} if "class_types" in value else value))


def _ontology(value: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    ontology: dict[str, frozenset[str]] = {}
    for slot, values in _lists(value).items():
        # MultiWOZ 2.0 and 2.1 write hotel-semi-area and hotel-book-people, 2.3 and 2.4 hotel-price range.
        name = canonical(slot.replace("-semi-", "-").replace("-book-", "-book "))
        ontology[name] = ontology.get(name, frozenset()).union(values)
    return ontology
