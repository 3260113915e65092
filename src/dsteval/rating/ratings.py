"""Ratings as they are kept: one (item, rater, rating) a line, CSV or JSON Lines, and the table of them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from dsteval.dialogue import canonical_id
from dsteval.errors import OptionError, Problems, ReadError, first_few, require
from dsteval.outcomes.table import Array
from dsteval.readers import Source
from dsteval.readers.base import fields, shown
from dsteval.readers.json_pairs import decode
from dsteval.results.result import finite

# Python's float takes more: 1_0 is 10. A comma is a decimal point, but 1,000 may be a thousand.
_NUMBER = re.compile(r"(?![+-]?[1-9]\d{0,2},\d{3}$)[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_MOST = 10**9


class Rating(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one rater said of one item. ``scale`` is ``low..high`` where it is known."""

    item: str
    rater: str
    rating: float
    scale: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Study:
    """What a study of ratings returns: its fields are its JSON."""

    def to_dict(self) -> dict[str, Any]:
        """The study as JSON has it, with infinity as the text ``inf``."""
        return dict(finite(asdict(self)))


class Scale(NamedTuple):
    """The least and the largest rating that may be given."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}"


def parse_scale(text: str) -> Scale:
    """The scale that a text like ``0..1`` names. Raises OptionError for another text.

    >>> parse_scale("1..5")
    Scale(low=1.0, high=5.0)
    """
    low, _, high = text.partition("..")
    try:
        scale = Scale(float(low), float(high))
    except ValueError:
        scale = Scale(math.nan, math.nan)
    require(-math.inf < scale.low < scale.high < math.inf, "scale", "LOW..HIGH, such as 0..1 or 1..5", repr(text))
    return scale


def read(path: str, rater: str = "", scale: Scale | None = None) -> tuple[list[Rating], list[Rating]]:
    """The ratings of a file, CSV (comma or semicolon) or JSON Lines, and the rows whose rating is empty (NaN).

    ``rater`` is who rated where the rows do not say. Raises ReadError for what is no rating, for one outside
    ``scale`` or outside the scale that its row names, all of them counted.
    """
    source = Source.open(path)
    problems, found = Problems(source.name), []
    for line, row in _rows(source):
        try:
            found.append(_rating(row, rater, scale))
        except ReadError as error:
            said = {"expected": error.expected, "found": error.found, "remedy": error.remedy}
            problems.add("", None, line=line, **said)
    problems.check(len(found), "rows")
    require(found, source.name, "rows with a rating", "none", ReadError)
    empty = [row for row in found if math.isnan(row.rating)]
    return [row for row in found if not math.isnan(row.rating)], empty


def kept(path: str) -> list[Rating]:
    """The ratings of a file that is to be written anew.

    Raises ReadError as ``read``, and where writing would lose something, as the turns of a rater's sheet.
    """
    ratings, empty = read(path)
    names = Rating.__struct_fields__
    others = dict.fromkeys(name for _, row in _rows(Source.open(path)) for name in row if name not in names)
    remedy = "Choose another file: this one holds more than ratings."
    require(not others, path, f"nothing but {', '.join(names)}", first_few(others), ReadError, remedy)
    require(not empty, path, "a rating in each row", f"{len(empty)} without one", ReadError, remedy)
    return ratings


_Row = Mapping[str, object]


def _rows(source: Source) -> Iterator[tuple[str, _Row]]:
    is_json = source.data.lstrip()[:1] == b"{"
    return _json_rows(source) if is_json else table_rows(source, "item", "rating")


def _json_rows(source: Source) -> Iterator[tuple[str, _Row]]:
    for number, line in enumerate(source.text_lines(), start=1):
        if line.strip():
            where = f"{source.name}, line {number}"
            value = decode(line.encode("utf-8", "surrogatepass"), where).value
            require(isinstance(value, Mapping), where, "a JSON object", shown(value), ReadError)
            row = fields(value, where)
            if lacking := [key for key in ("item", "rating") if key not in row]:
                raise ReadError(
                    where=where, expected="an item and a rating", found=f"no {lacking[0]}: {shown(value)}"
                )
            yield f"line {number}", row


def table_rows(source: Source, *needed: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a CSV file (comma or semicolon) by its column names, each with its line.

    Raises ReadError for a heading without the columns ``needed`` or with one twice, for rows of another length,
    and for broken quoting.
    """
    head = source.text_lines()[0]
    rows = source.cells("CSV", ";" if head.count(";") > head.count(",") else ",")
    heading = [name.strip() for name in next(rows, ("", []))[1]]
    expected = f"a header with {' and '.join(needed)}, each column once"
    usable = set(needed) <= set(heading) and len(set(heading)) == len(heading)
    require(usable, f"{source.name}, line 1", expected, ", ".join(heading[:8]), ReadError)
    for line, cells in rows:
        if any(map(str.strip, cells)):
            where = f"{source.name}, {line}"
            require(len(cells) == len(heading), where, f"{len(heading)} cells", len(cells), ReadError)
            yield line, dict(zip(heading, cells, strict=True))


def _rating(row: _Row, rater: str, scale: Scale | None) -> Rating:
    """What a row says, NaN where it has no rating. Raises ReadError for what is none."""
    told = {key: row.get(key) for key in ("item", "rater", "rating", "scale", "comment")}
    for key, value in told.items():
        plain = isinstance(value, str | int | float | None) and (key == "rating" or not isinstance(value, bool))
        # With a line break it is most likely rows that two stray quotes hold together.
        plain = plain and (key == "comment" or "\n" not in str(value))
        require(plain, "", f"a number or a one-line string as {key}", shown(value), ReadError)
    item, who, given, row_scale, comment = ("" if one is None else str(one).strip() for one in told.values())
    who = who or rater
    if not item or not who:
        remedy = "" if who else "Name the rater with NAME=PATH, or add a column 'rater' to the file."
        found = f"no {'rater' if item else 'item'}"
        raise ReadError(expected="an item and a rater", found=found, remedy=remedy)
    if not given:
        return Rating(item, who, math.nan)
    given = {"True": "1", "False": "0"}.get(given, given)  # JSON's true and false
    value = float(given.replace(",", ".")) if _NUMBER.fullmatch(given) else math.nan
    if not abs(value) <= _MOST:
        raise ReadError(expected=f"a number from {-_MOST} to {_MOST}", found=repr(given))
    try:
        limits = parse_scale(row_scale) if row_scale else scale
    except OptionError:
        raise ReadError(expected="a scale LOW..HIGH", found=repr(row_scale)) from None
    for limit in filter(None, (limits, scale)):
        if not limit.low <= value <= limit.high:
            raise ReadError(expected=f"a rating from {limit}", found=repr(given))
    return Rating(item, who, value, str(limits or ""), comment)


def combined(ratings: Iterable[Rating]) -> tuple[list[Rating], int]:
    """Each rating once, in order, and how many were there twice.

    Raises ReadError where a rater gave one item two ratings, or where ratings are on several scales.
    """
    kept: dict[tuple[str, str], Rating] = {}
    problems, given = Problems("ratings"), list(ratings)
    for one in given:
        first = kept.setdefault((canonical_id(one.item), one.rater), one)
        if first.rating != one.rating:
            line, found = f"item {one.item!r}, rater {one.rater!r}", f"{first.rating:g} and {one.rating:g}"
            remedy = "Remove the wrong one; no file was changed."
            problems.add("", None, line=line, expected="one rating per item and rater", found=found, remedy=remedy)
    problems.check(len(kept), "ratings")
    scales = sorted({one.scale for one in kept.values()} - {""})
    require(len(scales) < 2, "ratings", "one scale", ", ".join(scales), ReadError)
    return list(kept.values()), len(given) - len(kept)


def written(ratings: Sequence[Rating], path: str) -> bytes:
    """The ratings as CSV if the path ends in .csv, else as JSON Lines."""
    if Path(path).suffix.casefold() != ".csv":
        return b"".join(msgspec.json.encode(one) + b"\n" for one in ratings)
    rows = ((one.item, one.rater, repr(one.rating).removesuffix(".0"), one.scale, one.comment) for one in ratings)
    return csv_text(Rating.__struct_fields__, rows).encode()


def csv_text(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """CSV of a heading and rows."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([heading, *rows])
    return out.getvalue()


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as a table: ``values`` [items, raters], NaN where a rater has not rated an item."""

    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: Array

    @property
    def rated(self) -> int:
        """How many ratings there are."""
        return int((~np.isnan(self.values)).sum())

    @property
    def constant(self) -> bool:
        """Whether all ratings are one value, so that nothing can agree or disagree."""
        return len(np.unique(self.values[~np.isnan(self.values)])) < 2

    def of(self, items: Sequence[str]) -> Ratings:
        """The rows of these items, in their order, without the items that nobody rated.

        Raises ReadError for ratings of an item that is not among them, and where none is rated.
        """
        place = {canonical_id(item): number for number, item in enumerate(self.items)}
        known = set(map(canonical_id, items))
        unknown = [item for item in self.items if canonical_id(item) not in known]
        if unknown:
            extent = f"{len(unknown)} of {len(self.items)} items"
            found = f"unknown ones ({first_few(unknown)})"
            raise ReadError(where="ratings", expected="items that are in the file", found=found, extent=extent)
        rows = [place[key] for key in map(canonical_id, items) if key in place]
        return Ratings(tuple(self.items[row] for row in rows), self.raters, self.values[rows])


def table(ratings: Iterable[Rating]) -> Ratings:
    """The table of ratings, items and raters in the order of their names: draws do not depend on that of a file.

    Raises ReadError as ``combined``.

    >>> table([Rating("a", "anna", 1), Rating("b", "anna", 0), Rating("a", "ben", 1)]).values.tolist()
    [[1.0, 1.0], [0.0, nan]]
    """
    kept, _ = combined(ratings)
    items = dict(sorted({canonical_id(one.item): one.item for one in reversed(kept)}.items()))
    rows = {key: number for number, key in enumerate(items)}
    raters = {name: number for number, name in enumerate(sorted({one.rater for one in kept}))}
    values = np.full((len(rows), len(raters)), np.nan)
    for one in kept:
        values[rows[canonical_id(one.item)], raters[one.rater]] = one.rating
    return Ratings(tuple(items.values()), tuple(raters), values)
