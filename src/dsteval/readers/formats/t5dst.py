"""T5DST's output (Zero-Shot-DST, TransferQA, Prompter): lists of 'domain-slot-value', both sides.

Beside the turns stands ``domain``, the dialogue's first domain, not the one that is tested; it is not used.
"""

from dsteval.readers.base import Flattener
from dsteval.readers.json_format import JsonFormat

T5DST = JsonFormat(
    name="t5dst",
    about="T5DST prediction: {dialogue: {turns: {turn: {turn_belief, pred_belief}}}}, lists of domain-slot-value",
    sign="turns with turn_belief and pred_belief",
    expected="turn_belief and pred_belief",
    turns="turns",
    ref="turn_belief",
    pred="pred_belief",
    written=Flattener.glued,
)
