"""DSTC10 track 2, task 1: which slots count, and how lists of values are compared."""

from collections.abc import Sequence

from dsteval.values.tables import table


def slot_names() -> tuple[str, ...]:
    """The 19 slots that are scored, in the script's order and in our spelling.

    >>> slot_names()[0], slot_names()[-1], len(slot_names())
    ('restaurant-book people', 'attraction-area', 19)
    """
    names = (slot.partition(" ") for slot in table("dstc10")["slots"])
    return tuple(f"{domain}-{slot.removeprefix('semi ')}" for domain, _, slot in names)


def normalise(slot: str, value: str) -> str:
    """A value in lower case, and the words one to nine as digits where they are the whole value.

    >>> normalise("hotel-book people", "Two"), normalise("hotel-book people", "ten")
    ('2', 'ten')
    """
    value = value.lower()
    return str(table("dstc10")["digits"].get(value, value))


def list_score(ref: Sequence[str], pred: Sequence[str]) -> float:
    """F1 of a slot's list of predicted values; the slot is right where it is exactly 1.

    Each side is freed of repetitions as written, then normalised. With m the number of pairs of values that are
    equal, P = m / |pred| and R = m / |ref|. A list that says one value in two spellings makes two pairs, so R,
    and F1 with it, can exceed 1: the slot is wrong then. An empty list scores 0, also against an empty list.

    >>> list_score(["4"], ["four"]), list_score(["1"], ["1", "one"]), list_score([], [])
    (1.0, 1.3333333333333333, 0.0)

    Source: alexa/alexa-with-dstc10-track2-dataset task1/scripts/scores.py.
    """
    wanted = [normalise("", value) for value in set(ref)]
    given = [normalise("", value) for value in set(pred)]
    pairs = sum(value == other for value in wanted for other in given)
    if not pairs:
        return 0.0
    precision, recall = pairs / len(given), pairs / len(wanted)
    return 2 * precision * recall / (precision + recall)
