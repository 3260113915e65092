"""The input of MultiWOZ_Evaluation (mwzeval): a turn's number is its position. One side.

A file of responses without states is no DST output.
"""

from dsteval.readers.base import Sureness
from dsteval.readers.json_format import JsonFormat

MWZEVAL = JsonFormat(
    name="mwzeval",
    about='mwzeval input: {dialogue: [{"response": text, "state": {domain: {slot: value}}}, ...]}',
    sides="one",
    sign="dialogues that are lists of turns with 'state'",
    sureness=Sureness.GENERIC,
    unlike=frozenset({"bspn", "speaker", "bspn_gen"}),
    expected="a turn with a state",
    layout="list",
    state="state",
)
