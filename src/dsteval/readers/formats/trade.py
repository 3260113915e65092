"""TRADE's output: states as lists of 'domain-slot-value', both sides, as an object or as a fork's flat list.

Relatives of the first form name the prediction pred_bs_class or the like: any one key that starts with pred_bs.
"""

from dsteval.readers.base import Flattener
from dsteval.readers.json_format import JsonFormat

_ABOUT = "TRADE all_prediction: lists of domain-slot-value under turn_belief and pred_bs_ptr, or a flat list"

TRADE = JsonFormat(
    name="trade",
    about=_ABOUT,
    sign="turns with turn_belief and pred_bs_...",
    expected="an object with turn_belief and pred_bs_ptr",
    ref="turn_belief",
    pred="pred_bs*",
    written=Flattener.glued,
    also=JsonFormat(
        name="trade",
        about=_ABOUT,
        kind="list",
        sign="objects with belief_state and pred_belief_state",
        expected="an object with dialogue_idx, turn_idx, belief_state, pred_belief_state",
        id="dialogue_idx",
        number="turn_idx",
        ref="belief_state",
        pred="pred_belief_state",
        written=Flattener.glued,
    ),
)
