"""FnCTOD's output: {dialogue: [{"bspn", "bspn_gen", "turn_num", ...}, ...]}, both sides as belief spans.

``bspn_dict_gen`` is not the turn's: FnCTOD stores one object at all turns of a dialogue, so that in a finished
file each of them shows the last state.
"""

from dsteval.readers.belief_spans import SpanFormat

FNCTOD = SpanFormat(
    name="fnctod",
    about='FnCTOD output: {dialogue: [{"bspn": span, "bspn_gen": span, "bspn_dict_gen": {...}, ...}, ...]}',
    sign="lists of turns with 'bspn_gen' and 'bspn_dict_gen'",
    marks=("bspn_gen", "bspn_dict_gen"),
    expected="a turn with bspn, bspn_gen and a number as turn_num",
    layout="list",
    number="turn_num",
)
