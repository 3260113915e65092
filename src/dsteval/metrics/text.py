"""The text form of a metric, taken apart and put together."""

import re

from dsteval.errors import MetricError, require

HEADINGS = {"SA": "SlotAccuracy", "#M1": "JGA", "#M2": "TurnMatch"}
"""What stands above a column of a table where that is not the metric's name, and the metric."""

_FORM = re.compile(r"([A-Za-z_]\w*)\s*+(?:\(([^()]*)\))?\s*+(?:@\s*+([^@\s]+))?")


def split(text: str) -> tuple[str, dict[str, str], float | None]:
    """Name, parameters and number of a metric's text.

    >>> split("FGA(variant=strict)@0.50")
    ('FGA', {'variant': 'strict'}, 0.5)
    """
    match = _FORM.fullmatch(text.strip())
    if not match:
        raise _malformed(text)
    parameters: dict[str, str] = {}
    for part in filter(None, (match[2] or "").split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise _malformed(text)
        require(key not in parameters, f"metric {text!r}", "each parameter once", f"{key!r} twice", MetricError)
        parameters[key] = value
    try:
        return match[1], parameters, None if match[3] is None else float(match[3])
    except ValueError:
        expected = "a number or inf after '@'"
        raise MetricError(where=f"metric {text!r}", expected=expected, found=repr(match[3])) from None


def _malformed(text: str) -> MetricError:
    if (name := HEADINGS.get(text.strip().upper())) is not None:
        return MetricError(f"Unknown metric {text!r}. Did you mean {name!r}? See: dsteval list metrics.")
    expected = "Name, Name@number or Name(key=value,...)@number"
    remedy = "For example FGA@0.5 or 'FGA(variant=strict)@0.5'."
    return MetricError(where=f"metric {text!r}", expected=expected, found=repr(text), remedy=remedy)


def join(name: str, parameters: tuple[tuple[str, str], ...], number: float | None) -> str:
    """The text of a metric: parameters in the order of their names, the number in its shortest form.

    >>> join("FGA", (("variant", "strict"),), 1.0)
    'FGA(variant=strict)@1'
    """
    inside = ",".join(f"{key}={value}" for key, value in parameters)
    text = f"{name}({inside})" if inside else name
    return text if number is None else f"{text}@{number_text(number)}"


def number_text(number: float) -> str:
    """A number in its shortest form that reads back the same.

    >>> number_text(1.0), number_text(0.25), number_text(float("inf"))
    ('1', '0.25', 'inf')
    """
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else str(number)
