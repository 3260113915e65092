"""Numbers for what states are made of, so that turns can be compared as arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import cached_property
from typing import TypeAlias

from dsteval.values.matchers import PreparedValue

State: TypeAlias = dict[str, PreparedValue]

Numbers: TypeAlias = list[int]
"""A state by the numbers of its slots with their values."""


class Vocabulary:
    """One number for every slot with a value that is compared, from 1 on; 0 stands for no value.

    ``values`` and ``slot_of`` tell by that number the value and the number of its slot, which is a place in
    ``slots``; ``plain`` whether the value is a single text.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, PreparedValue], int] = {}
        self._slots: dict[str, int] = {}
        self.slots: list[str] = []
        self.values: list[PreparedValue] = [""]
        self.slot_of = array("i", [-1])
        self.plain = array("b", [1])

    def number(self, slot: str, value: PreparedValue) -> int:
        """The number of a slot with a value."""
        number = self._numbers.setdefault((slot, value), len(self.values))
        if number == len(self.values):
            self.values.append(value)
            self.slot_of.append(self.slot(slot))
            self.plain.append(isinstance(value, str))
        return number

    def slot(self, name: str) -> int:
        """The number of a slot."""
        number = self._slots.setdefault(name, len(self.slots))
        if number == len(self.slots):
            self.slots.append(name)
        return number

    def slot_name(self, number: int) -> str:
        """The slot of a number."""
        return self.slots[self.slot_of[number]]

    def state(self, numbers: Iterable[int]) -> State:
        """The state that some numbers stand for."""
        return {self.slot_name(number): self.values[number] for number in numbers}

    def states(self, side: list[Numbers]) -> list[State]:
        """The states of one side; one that did not change is the same object."""
        states: list[State] = []
        before: Numbers | None = None
        for numbers in side:
            states.append(states[-1] if numbers is before else self.state(numbers))
            before = numbers
        return states


class Prepared:
    """Both sides of one dialogue as they are compared, a state per turn: by numbers of a vocabulary, or as states.

    A state that did not change is the same object.
    """

    def __init__(self, vocabulary: Vocabulary, ref: list[Numbers], pred: list[Numbers]) -> None:
        self.vocabulary = vocabulary
        self.numbers = ref, pred

    @cached_property
    def ref(self) -> list[State]:
        """The states of the reference."""
        return self.vocabulary.states(self.numbers[0])

    @cached_property
    def pred(self) -> list[State]:
        """The predicted states."""
        return self.vocabulary.states(self.numbers[1])
