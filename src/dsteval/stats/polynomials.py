"""Exact sign changes of an integer polynomial between 0 and 1.

A polynomial is a list of integers, that of x^0 first, without zeros at the end; [] is the zero polynomial.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

__all__ = ["Polynomial", "sign_changes", "trimmed"]

Polynomial: TypeAlias = list[int]

_BITS = 46  # roots are told to a relative 2^-46, 1.5e-14


def trimmed(polynomial: Polynomial) -> Polynomial:
    """The polynomial without zeros at the end, over the greatest common divisor of its coefficients.

    >>> trimmed([4, -6, 0])
    [2, -3]
    """
    length = len(polynomial)
    while length and not polynomial[length - 1]:
        length -= 1
    divisor = math.gcd(*polynomial[:length]) or 1
    return [c // divisor for c in polynomial[:length]]


def sign_changes(polynomial: Polynomial) -> list[Fraction]:
    """Where a polynomial changes its sign in the open interval from 0 to 1, rising, to a relative 2^-46.

    Zeros at which it only touches 0 are left out. Isolation is exact: a Sturm sequence of the product of all
    factors with odd multiplicity, on intervals that are halved. [] for the zero polynomial.

    >>> sign_changes([1, -6, 8])  # (1 - 2x)(1 - 4x)
    [Fraction(1, 4), Fraction(1, 2)]
    >>> sign_changes([1, -4, 4])  # (1 - 2x)^2
    []
    """
    inside = _without_ends(trimmed(polynomial))
    if _changes([(c > 0) - (c < 0) for c in inside]) == 0:  # Descartes: no positive root at all
        return []
    odd = _odd_part(inside)
    chain = _sturm(odd)
    roots = []
    open_intervals = [(0, 1, 0)]  # (low, high] over 2^power
    while open_intervals:
        low, high, power = open_intervals.pop()
        number = _variations(chain, low, power) - _variations(chain, high, power)
        if number == 1:
            roots.append(_refined(odd, low, high, power))
        elif number > 1:
            middle = low + high
            open_intervals += [(2 * low, middle, power + 1), (middle, 2 * high, power + 1)]
    return sorted(roots)


def _without_ends(polynomial: Polynomial) -> Polynomial:
    """The polynomial without its zeros at 0 and 1."""
    while polynomial and not polynomial[0]:
        polynomial = polynomial[1:]
    while polynomial and not sum(polynomial):
        polynomial = _divided(polynomial, [-1, 1])
    return polynomial


def _derivative(polynomial: Polynomial) -> Polynomial:
    return trimmed([power * c for power, c in enumerate(polynomial)][1:])


def _remainder(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    """The remainder times some number above 0, so that its sign is kept."""
    rest, size = list(dividend), len(divisor)
    lead, sign = abs(divisor[-1]), 1 if divisor[-1] > 0 else -1
    while len(rest) >= size:
        factor, shift = sign * rest[-1], len(rest) - size
        rest = [lead * c for c in rest]
        for place, c in enumerate(divisor):
            rest[shift + place] -= factor * c
        rest = trimmed(rest)
    return rest


def _divided(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    """The quotient of a division without remainder; both have no common divisor of their coefficients."""
    rest, quotient = list(dividend), []
    for shift in range(len(dividend) - len(divisor), -1, -1):
        factor = rest[shift + len(divisor) - 1] // divisor[-1]
        quotient.append(factor)
        for place, c in enumerate(divisor):
            rest[shift + place] -= factor * c
    return quotient[::-1]


def _common(one: Polynomial, other: Polynomial) -> Polynomial:
    """The greatest common divisor, up to its sign."""
    while other:
        one, other = other, _remainder(one, other)
    return trimmed(one)


def _odd_part(polynomial: Polynomial) -> Polynomial:
    """The product of the factors whose multiplicity is odd, each once (Yun's square-free factors)."""
    repeated = _common(polynomial, _derivative(polynomial))
    if len(repeated) == 1:
        return polynomial
    left, odd = _divided(polynomial, repeated), [1]
    multiplicity = 1
    while len(left) > 1:
        higher = _common(left, repeated)
        factor = _divided(left, higher)
        if multiplicity % 2:
            odd = _times(odd, factor)
        left, repeated = higher, _divided(repeated, higher)
        multiplicity += 1
    return odd


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    result = [0] * (len(one) + len(other) - 1)
    for place, c in enumerate(one):
        for shift, d in enumerate(other):
            result[place + shift] += c * d
    return result


def _sturm(polynomial: Polynomial) -> list[Polynomial]:
    chain = [polynomial, _derivative(polynomial)]
    while len(chain[-1]) > 1:
        chain.append([-c for c in _remainder(chain[-2], chain[-1])])
    return chain


def _sign(polynomial: Polynomial, number: int, power: int) -> int:
    """The sign of the polynomial at number / 2^power."""
    value, shift = 0, 0
    for c in reversed(polynomial):
        value = value * number + (c << shift)
        shift += power
    return (value > 0) - (value < 0)


def _changes(signs: list[int]) -> int:
    kept = [sign for sign in signs if sign]
    return sum(one != other for one, other in pairwise(kept))


def _variations(chain: list[Polynomial], number: int, power: int) -> int:
    return _changes([_sign(polynomial, number, power) for polynomial in chain])


def _refined(polynomial: Polynomial, low: int, high: int, power: int) -> Fraction:
    """The one root, a simple one, in (low, high] over 2^power."""
    after = _sign(polynomial, high, power)
    if not after:
        return Fraction(high, 2**power)
    while low >> _BITS < high - low:
        low, high, power = 2 * low, 2 * high, power + 1
        middle = (low + high) // 2
        here = _sign(polynomial, middle, power)
        if not here:
            return Fraction(middle, 2**power)
        low, high = (low, middle) if here == after else (middle, high)
    return Fraction(low + high, 2 ** (power + 1))
