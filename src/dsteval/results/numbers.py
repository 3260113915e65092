"""Numbers as people read them: one way to write a number, an interval and a p value.

Here and not in ``render``, since results write themselves as well (``str``, notebooks), and import nothing that is
higher. What is undefined is None, so that a table can show it its own way; minus zero is never shown.
"""

import math


def number(value: float | None, scale: int = 1, *, digits: int = 2, sign: bool = False) -> str | None:
    """A number times ``scale``, 100 for per cent; None where it is undefined.

    >>> number(0.5, 100), number(-0.00001, 100), number(-0.00001, 100, sign=True), number(None)
    ('50.00', '0.00', '+0.00', None)
    """
    if value is None or math.isnan(value):
        return None
    return f"{scale * value:{'+' if sign else ''}z.{digits}f}"


def interval(
    low: float | None, high: float | None, scale: int = 1, *, digits: int = 2, sign: bool = False, to: str = " .. "
) -> str | None:
    """Both ends of an interval; None where there is none.

    >>> interval(0.25, 0.5, 100), interval(-0.1, 0.00001, 100, sign=True, to=", "), interval(None, None)
    ('25.00 .. 50.00', '-10.00, +0.00', None)
    """
    if low is None or high is None:
        return None
    return f"{number(low, scale, digits=digits, sign=sign)}{to}{number(high, scale, digits=digits, sign=sign)}"


def p_value(p: float | None, *, short: bool = False, floor: float | None = None) -> str | None:
    """The p of a test with four digits, or with three; then one that is less than these can say is told as such.

    So is one at its ``floor``, the smallest that the number of resamples can tell.

    >>> p_value(0.03125), p_value(0.03125, short=True), p_value(0.0007, short=True), p_value(None)
    ('0.0312', '0.031', '<0.001', None)
    >>> p_value(0.002, floor=0.002), p_value(0.002, floor=0.001)
    ('<0.0020', '0.0020')
    """
    if p is not None and floor is not None and p <= floor * (1 + 1e-9) and not (short and p < 0.001):
        return f"<{number(p, digits=3 if short else 4)}"
    return "<0.001" if short and p is not None and p < 0.001 else number(p, digits=3 if short else 4)
